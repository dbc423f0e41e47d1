#include "base/json_writer.hpp"
#include "report/document_formats.hpp"

namespace sonde {
namespace {

void write(JsonWriter& json, const Facts& facts) {
  json.begin_object();
  for (const Fact& fact : facts) {
    json.key(fact.key);
    write_json(json, fact.value);
  }
  json.end_object();
}

void write(JsonWriter& json, const AdviceList& list) {
  json.begin_array();
  for (const Advice& advice : list) {
    json.begin_object();
    json.member("id", advice.id);
    json.member("weight", advice_weight_name(advice.weight));
    json.member("headline", advice.headline);
    json.member("why", advice.why);
    json.member("action", advice.action);
    json.key("measures");
    json.begin_object();
    for (const auto& [name, value] : advice.measures) json.member(name, value);
    json.end_object();
    json.key("subjects");
    json.begin_array();
    for (const std::string& subject : advice.subjects) json.value(subject);
    json.end_array();
    json.end_object();
  }
  json.end_array();
}

void write(JsonWriter& json, const std::vector<Loss>& losses) {
  json.begin_array();
  for (const Loss& loss : losses) {
    json.begin_object();
    json.member("path", loss.path);
    json.member("name", loss.entry.name);
    json.member("severity", severity_name(loss.entry.severity));
    json.member("sentence", loss.entry.sentence);
    json.member("count", loss.entry.count);
    json.key("first_offset");
    if (loss.entry.first_offset == LossLedger::kNoOffset) {
      json.value(nullptr);
    } else {
      json.value(loss.entry.first_offset);
    }
    json.member("example", loss.entry.example);
    json.end_object();
  }
  json.end_array();
}

void write_members(JsonWriter& json, const Document& document) {
  json.member("run", document.run);
  for (const Block& block : document.blocks) {
    json.key(block.id);
    if (const Facts* facts = std::get_if<Facts>(&block.content)) write(json, *facts);
    if (const Table* table = std::get_if<Table>(&block.content)) write_json(json, *table);
    if (const AdviceList* list = std::get_if<AdviceList>(&block.content)) write(json, *list);
  }
  json.key("notes");
  json.begin_array();
  for (const std::string& note : document_notes(document)) json.value(note);
  json.end_array();
  json.key("losses");
  write(json, document.losses);
}

}  // namespace

std::string documents_json(const std::vector<Document>& documents) {
  JsonWriter json(JsonWriter::Layout::Indented);
  json.begin_object();
  if (!documents.empty()) json.member("view", documents.front().view);
  if (documents.size() == 1) {
    write_members(json, documents.front());
  } else {
    json.key("runs");
    json.begin_array();
    for (const Document& document : documents) {
      json.begin_object();
      write_members(json, document);
      json.end_object();
    }
    json.end_array();
  }
  json.end_object();
  return json.take() + "\n";
}

}  // namespace sonde
