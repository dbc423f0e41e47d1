#pragma once

// Shared by the files of the TensorBoard style; not for use outside of them.

#include <string>
#include <string_view>

#include "base/json_writer.hpp"
#include "base/result.hpp"
#include "report/styles/tensorboard.hpp"
#include "trace/trace.hpp"

namespace sonde::tensorboard {

// The plugin counts in microseconds. Whole ones are integers, others the shortest decimal.
std::string microseconds_text(Nanos time);
void write_microseconds(JsonWriter& json, Nanos time);
inline double to_microseconds(Nanos time) { return static_cast<double>(time) / 1000; }

// {"type": "string", "name": NAME}
void write_column(JsonWriter& json, std::string_view type, std::string_view name);

std::string escape_html(std::string_view text);

// What Python prints for a list read from `json`: "[[2,3],null]" -> "[[2, 3], None]". Without a
// list ("" or an invalid id's text) it is "None".
std::string python_list_text(std::string_view json);

std::string overview(const Trace& trace, const TensorboardRequest& request);
std::string operation_pie(const Trace& trace, bool by_shape);
std::string operation_table(const Trace& trace, bool by_shape);
Result<std::string> operation_stack(const Trace& trace, const TensorboardRequest& request,
                                    bool by_shape);
std::string kernel_pie(const Trace& trace);
std::string kernel_table(const Trace& trace);
std::string kernel_operator_table(const Trace& trace);

}  // namespace sonde::tensorboard
