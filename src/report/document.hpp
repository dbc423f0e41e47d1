#pragma once

#include <span>
#include <string>
#include <variant>
#include <vector>

#include "analysis/advice.hpp"
#include "report/table.hpp"
#include "trace/trace_set.hpp"

namespace sonde {

// One line of "Label   value".
struct Fact {
  std::string key;    // snake_case with its unit, for JSON
  std::string label;  // for people
  Cell value;
  CellType type = CellType::Text;
  std::string shown;  // for people, where it says more than the value
};

using Facts = std::vector<Fact>;
using AdviceList = std::vector<Advice>;

// A part of a report: one subject under one heading.
struct Block {
  std::string id;     // key in JSON, name of the section in CSV
  std::string title;  // heading for people
  std::variant<Facts, Table, AdviceList> content;
  std::string when_empty;          // stands in place of a table without rows
  std::vector<std::string> notes;  // sentences below
};

struct Loss {
  std::string path;
  LossLedger::Entry entry;
};

// What a view says about one run, not yet in any format.
struct Document {
  std::string view;
  std::string run;
  std::string title;
  std::vector<Block> blocks;
  std::string csv_block;  // the table that CSV has; empty: all blocks as section,row,column,value
  std::vector<Loss> losses;
};

// Everything that was lost while reading `traces`.
std::vector<Loss> collect_losses(std::span<const NamedTrace> traces);
// "12 events had a negative duration (12 times, first at byte 1234)".
std::string loss_sentence(const LossLedger::Entry& entry);

// All documents of a report, one per run, as text | markdown | csv | json; `format` is one of
// these.
std::string render_documents(const std::vector<Document>& documents, const std::string& format,
                             const RenderOptions& options);

}  // namespace sonde
