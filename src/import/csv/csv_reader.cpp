#include "import/csv/csv_reader.hpp"

#include <memory>

namespace sonde {

void CsvReader::append(char c) {
  if (field_.size() < kMaxField) field_ += c;
}

bool CsvReader::end_field() {
  if (fields_.size() < kMaxFields) fields_.push_back(field_);
  field_.clear();
  return true;
}

Result<bool> CsvReader::next() {
  enum class State { FieldStart, Plain, Quoted, QuoteInQuoted };
  for (;;) {
    fields_.clear();
    field_.clear();
    row_offset_ = bytes_.consumed();
    State state = State::FieldStart;
    bool any = false;
    for (;;) {
      Result<int> byte = bytes_.take();
      if (!byte) return byte.error();
      if (*byte < 0) {
        ended_in_quotes_ = state == State::Quoted;
        if (!any) return false;
        return end_field();
      }
      const char c = static_cast<char>(*byte);
      if (state == State::Quoted) {
        if (c == '"')
          state = State::QuoteInQuoted;
        else
          append(c);
        continue;
      }
      if (state == State::QuoteInQuoted && c == '"') {
        append(c);
        state = State::Quoted;
        continue;
      }
      if (c == '\n' || c == '\r') {
        if (any) return end_field();
        row_offset_ = bytes_.consumed();
        continue;
      }
      any = true;
      if (c == ',') {
        end_field();
        state = State::FieldStart;
      } else if (c == '"' && state == State::FieldStart) {
        state = State::Quoted;
      } else {
        append(c);
        state = State::Plain;
      }
    }
  }
}

std::vector<std::string> csv_header(std::string_view head) {
  if (head.starts_with("\xEF\xBB\xBF")) head.remove_prefix(3);
  const std::size_t end = head.find('\n');
  if (end == std::string_view::npos) return {};
  const auto source = make_plain_source(make_memory_reader(head.substr(0, end)), {});
  CsvReader reader(*source);
  Result<bool> row = reader.next();
  return row && *row ? reader.fields() : std::vector<std::string>();
}

}  // namespace sonde
