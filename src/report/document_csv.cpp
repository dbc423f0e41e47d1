#include <fmt/format.h>

#include <algorithm>

#include "report/document_formats.hpp"

namespace sonde {
namespace {

void add(Table& out, const std::string& section, const Cell& row, const std::string& column,
         const Cell& value) {
  out.rows.push_back({section, row, column, value});
}

void add(Table& out, const std::string& section, const Table& table) {
  for (const std::vector<Cell>& row : table.rows) {
    // The first column names the row.
    for (std::size_t c = 1; c < row.size(); ++c) {
      add(out, section, row[0], table.columns[c].key, row[c]);
    }
  }
}

// Every block as rows of section, row, column and value.
Table long_form(const Document& document) {
  Table out;
  out.columns = {{.key = "section"}, {.key = "row"}, {.key = "column"}, {.key = "value"}};
  for (const Block& block : document.blocks) {
    if (const Table* table = std::get_if<Table>(&block.content)) add(out, block.id, *table);
    if (const Facts* facts = std::get_if<Facts>(&block.content)) {
      for (const Fact& fact : *facts) add(out, block.id, Cell(), fact.key, fact.value);
    }
    if (const AdviceList* list = std::get_if<AdviceList>(&block.content)) {
      for (const Advice& advice : *list) {
        add(out, block.id, advice.id, "weight", std::string(advice_weight_name(advice.weight)));
        add(out, block.id, advice.id, "headline", advice.headline);
        for (const auto& [name, value] : advice.measures) {
          add(out, block.id, advice.id, name, value);
        }
      }
    }
  }
  for (const Loss& loss : document.losses) {
    add(out, "losses", loss.entry.name, "count", static_cast<std::int64_t>(loss.entry.count));
  }
  return out;
}

Table main_table(const Document& document) {
  const auto block = std::find_if(document.blocks.begin(), document.blocks.end(),
                                  [&](const Block& b) { return b.id == document.csv_block; });
  if (block == document.blocks.end()) return long_form(document);
  return std::get<Table>(block->content);
}

}  // namespace

std::string documents_csv(const std::vector<Document>& documents) {
  if (documents.size() == 1) return render_csv(main_table(documents.front()));
  Table all;
  for (const Document& document : documents) {
    Table table = main_table(document);
    // Runs may differ in their columns, so each is placed by its key.
    if (all.columns.empty()) all.columns.push_back({.key = "run"});
    std::vector<std::size_t> place;
    for (const Column& column : table.columns) {
      auto at = std::find_if(all.columns.begin(), all.columns.end(),
                             [&](const Column& c) { return c.key == column.key; });
      if (at == all.columns.end()) at = all.columns.insert(all.columns.end(), column);
      place.push_back(static_cast<std::size_t>(at - all.columns.begin()));
    }
    for (std::vector<Cell>& row : table.rows) {
      std::vector<Cell> cells(all.columns.size());
      cells[0] = document.run;
      for (std::size_t c = 0; c < row.size(); ++c) cells[place[c]] = std::move(row[c]);
      all.rows.push_back(std::move(cells));
    }
  }
  return render_csv(all);
}

}  // namespace sonde
