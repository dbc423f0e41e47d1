#pragma once

#include <string>
#include <string_view>

#include "export/byte_sink.hpp"
#include "export/text_forms.hpp"
#include "trace/trace.hpp"

namespace sonde {

// Writes named lists of objects as the members of one, a line for each object, as they come.
class JsonRows {
 public:
  explicit JsonRows(BufferedOutput& output) : output_(output), out_(output.buffer()) {}

  void list(std::string_view name) {
    out_ += ",\n\"";
    out_ += name;
    out_ += "\": [";
    first_row_ = true;
  }
  void end_list() { out_ += "\n]"; }
  void begin() {
    out_ += first_row_ ? "\n{" : ",\n{";
    first_row_ = false;
    first_member_ = true;
  }
  void end() {
    out_ += '}';
    output_.settle();
  }
  void key(std::string_view name) {
    out_ += first_member_ ? "\"" : ", \"";
    first_member_ = false;
    out_ += name;
    out_ += "\": ";
  }
  void number(std::string_view name, std::int64_t value) {
    if (value == kNoNumber) return;
    key(name);
    append_integer(out_, value);
  }
  void real(std::string_view name, double value) {
    key(name);
    append_real(out_, value);
  }
  void text(std::string_view name, std::string_view value) {
    key(name);
    append_json_text(out_, value);
  }

 protected:
  BufferedOutput& output_;
  std::string& out_;
  bool first_row_ = true;
  bool first_member_ = true;
};

}  // namespace sonde
