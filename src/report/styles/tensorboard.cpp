#include "report/styles/tensorboard.hpp"

#include <algorithm>

#include "base/markup.hpp"
#include "report/styles/tensorboard_parts.hpp"

namespace sonde {
namespace tensorboard {

std::string microseconds_text(Nanos time) {
  if (time % 1000 == 0) return std::to_string(time / 1000);
  return python_float(to_microseconds(time));
}

void write_microseconds(JsonWriter& json, Nanos time) { json.raw(microseconds_text(time)); }

void write_column(JsonWriter& json, std::string_view type, std::string_view name) {
  json.begin_object();
  json.member("type", type);
  json.member("name", name);
  json.end_object();
}

std::string escape_html(std::string_view text) {
  std::string out;
  for (const char c : text) {
    if (const std::string_view entity = markup_entity(c); !entity.empty()) {
      out += entity;
    } else {
      out += c;
    }
  }
  return out;
}

std::string python_list_text(std::string_view json) {
  if (json.empty() || json == "null") return "None";
  std::string out;
  for (std::size_t i = 0; i < json.size(); ++i) {
    const char c = json[i];
    if (c == '"') {
      // Python shows a text in single quotes; escapes inside stay as they are.
      std::size_t end = i + 1;
      while (end < json.size() && json[end] != '"') end += json[end] == '\\' ? 2 : 1;
      end = std::min(end, json.size());
      out += '\'';
      out += json.substr(i + 1, end - i - 1);
      out += '\'';
      i = end;
    } else if (c == ',') {
      out += ", ";
    } else if (json.substr(i).starts_with("null")) {
      out += "None";
      i += 3;
    } else if (json.substr(i).starts_with("true")) {
      out += "True";
      i += 3;
    } else if (json.substr(i).starts_with("false")) {
      out += "False";
      i += 4;
    } else if (c != ' ' && c != '\n' && c != '\t' && c != '\r') {
      out += c;
    }
  }
  return out;
}

}  // namespace tensorboard

namespace {

Error unknown(std::string what, const std::string& value, std::string known) {
  return {ErrorCode::UsageError,
          "unknown " + std::move(what) + " '" + value + "'",
          {},
          {},
          "known: " + std::move(known)};
}

// True for the second of two choices. Empty means the first.
Result<bool> second_choice(const std::string& value, const char* first, const char* second) {
  if (value.empty() || value == first) return false;
  if (value == second) return true;
  return unknown("group_by", value, std::string(first) + ", " + second);
}

}  // namespace

const std::vector<std::string_view>& tensorboard_view_names() {
  static const std::vector<std::string_view> kNames = {
      "overview", "operation", "operation/table", "operation/stack", "kernel", "kernel/table"};
  return kNames;
}

Result<std::string> tensorboard_view(const Trace& trace, const TensorboardRequest& request) {
  const std::string& view = request.view;
  if (view == "overview") return tensorboard::overview(trace, request);
  if (view == "kernel") return tensorboard::kernel_pie(trace);
  if (view.starts_with("operation")) {
    const Result<bool> by_shape =
        second_choice(request.group_by, "Operation", "OperationAndInputShape");
    if (!by_shape) return by_shape.error();
    if (view == "operation") return tensorboard::operation_pie(trace, *by_shape);
    if (view == "operation/table") return tensorboard::operation_table(trace, *by_shape);
    if (view == "operation/stack") return tensorboard::operation_stack(trace, request, *by_shape);
  }
  if (view == "kernel/table") {
    const Result<bool> by_op = second_choice(request.group_by, "Kernel", "KernelNameAndOpName");
    if (!by_op) return by_op.error();
    return *by_op ? tensorboard::kernel_operator_table(trace) : tensorboard::kernel_table(trace);
  }
  std::string known;
  for (const std::string_view name : tensorboard_view_names()) {
    if (!known.empty()) known += ", ";
    known += name;
  }
  return unknown("view", view, known);
}

Result<std::string> tensorboard_view(const NamedTrace& trace, const TensorboardRequest& request) {
  return tensorboard_view(trace.trace, request);
}

}  // namespace sonde
