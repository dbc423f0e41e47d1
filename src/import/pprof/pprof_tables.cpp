#include "import/pprof/pprof_tables.hpp"

#include <protozero/pbf_reader.hpp>

namespace sonde {
namespace {

std::string_view view_of(protozero::data_view data) { return {data.data(), data.size()}; }

// A field that is not what it should be is passed over.
template <class Visit>
void each_field(protozero::pbf_reader message, Visit visit) {
  while (message.next()) visit(message);
}

bool is_number(const protozero::pbf_reader& field) {
  return field.wire_type() == protozero::pbf_wire_type::varint;
}
bool is_bytes(const protozero::pbf_reader& field) {
  return field.wire_type() == protozero::pbf_wire_type::length_delimited;
}

PprofTables::ValueType value_type(protozero::pbf_reader message) {
  PprofTables::ValueType out;
  each_field(message, [&](protozero::pbf_reader& field) {
    if (!is_number(field)) return field.skip();
    const std::int64_t number = field.get_int64();
    if (field.tag() == 1) out.type = number;
    if (field.tag() == 2) out.unit = number;
  });
  return out;
}

void add_location(protozero::pbf_reader message, PprofTables& out) {
  std::uint64_t id = 0;
  PprofTables::Location location;
  location.first_line = static_cast<std::uint32_t>(out.lines.size());
  each_field(message, [&](protozero::pbf_reader& field) {
    if (is_bytes(field) && field.tag() == 4) {
      PprofTables::Line line;
      each_field(field.get_message(), [&](protozero::pbf_reader& part) {
        if (!is_number(part)) return part.skip();
        const std::uint64_t number = part.get_uint64();
        if (part.tag() == 1) line.function = number;
        if (part.tag() == 2) line.line = static_cast<std::int64_t>(number);
      });
      out.lines.push_back(line);
      return;
    }
    if (!is_number(field)) return field.skip();
    const std::uint64_t number = field.get_uint64();
    if (field.tag() == 1) id = number;
    if (field.tag() == 2) location.mapping = number;
    if (field.tag() == 3) location.address = number;
  });
  location.line_count = static_cast<std::uint32_t>(out.lines.size()) - location.first_line;
  out.locations[id] = location;
}

void add_function(protozero::pbf_reader message, PprofTables& out) {
  std::uint64_t id = 0;
  PprofTables::Function function;
  each_field(message, [&](protozero::pbf_reader& field) {
    if (!is_number(field)) return field.skip();
    const std::uint64_t number = field.get_uint64();
    if (field.tag() == 1) id = number;
    if (field.tag() == 2) function.name = static_cast<std::int64_t>(number);
    if (field.tag() == 3) function.system_name = static_cast<std::int64_t>(number);
    if (field.tag() == 4) function.file = static_cast<std::int64_t>(number);
  });
  out.functions[id] = function;
}

void add_mapping(protozero::pbf_reader message, PprofTables& out) {
  std::uint64_t id = 0;
  std::int64_t file = 0;
  each_field(message, [&](protozero::pbf_reader& field) {
    if (!is_number(field)) return field.skip();
    const std::uint64_t number = field.get_uint64();
    if (field.tag() == 1) id = number;
    if (field.tag() == 5) file = static_cast<std::int64_t>(number);
  });
  out.mappings[id] = file;
}

void read_message_field(protozero::pbf_reader& field, PprofTables& out) {
  switch (field.tag()) {
    case 1:
      out.types.push_back(value_type(field.get_message()));
      return;
    case 2:
      out.samples.push_back(view_of(field.get_view()));
      return;
    case 3:
      return add_mapping(field.get_message(), out);
    case 4:
      return add_location(field.get_message(), out);
    case 5:
      return add_function(field.get_message(), out);
    case 6:
      out.strings.push_back(view_of(field.get_view()));
      return;
    case 11:
      out.period_type = value_type(field.get_message());
      return;
    default:
      field.skip();
  }
}

void read_number_field(protozero::pbf_reader& field, PprofTables& out) {
  const std::int64_t number = field.get_int64();
  if (field.tag() == 9) out.time_nanos = number;
  if (field.tag() == 10) out.duration_nanos = number;
  if (field.tag() == 12) out.period = number;
  if (field.tag() == 13) out.comments.push_back(number);
}

// A list of numbers, packed or one by one.
template <class Number>
void take_numbers(protozero::pbf_reader& field, std::vector<Number>& out) {
  if (is_number(field)) {
    out.push_back(static_cast<Number>(field.get_uint64()));
  } else if (is_bytes(field)) {
    for (const std::uint64_t number : field.get_packed_uint64()) {
      out.push_back(static_cast<Number>(number));
    }
  } else {
    field.skip();
  }
}

void read_label(protozero::pbf_reader message, const PprofTables& tables, PprofSample& out) {
  std::string_view key;
  std::int64_t text = 0;
  std::int64_t number = 0;
  each_field(message, [&](protozero::pbf_reader& field) {
    if (!is_number(field)) return field.skip();
    const std::int64_t value = field.get_int64();
    if (field.tag() == 1) key = tables.text(value);
    if (field.tag() == 2) text = value;
    if (field.tag() == 3) number = value;
  });
  if (key == "thread id" || key == "thread_id") {
    out.thread_id = number;
  } else if (key == "thread name" || key == "thread" || key == "thread_name") {
    out.thread_name = tables.text(text);
  } else if (key == "pid" || key == "process_id") {
    out.pid = number;
  } else {
    ++out.other_labels;
  }
}

}  // namespace

bool read_pprof_tables(std::string_view message, PprofTables& out) {
  try {
    each_field(protozero::pbf_reader(message.data(), message.size()),
               [&](protozero::pbf_reader& field) {
                 if (is_bytes(field)) {
                   if (field.tag() == 13) {
                     take_numbers(field, out.comments);
                   } else {
                     read_message_field(field, out);
                   }
                 } else if (is_number(field)) {
                   read_number_field(field, out);
                 } else {
                   field.skip();
                 }
               });
    return true;
  } catch (const protozero::exception&) {
    return false;
  }
}

bool read_pprof_sample(std::string_view message, const PprofTables& tables, PprofSample& out) {
  out.locations.clear();
  out.values.clear();
  out.thread_id = out.pid = 0;
  out.thread_name = {};
  out.other_labels = 0;
  try {
    each_field(protozero::pbf_reader(message.data(), message.size()),
               [&](protozero::pbf_reader& field) {
                 if (field.tag() == 1) return take_numbers(field, out.locations);
                 if (field.tag() == 2) return take_numbers(field, out.values);
                 if (field.tag() == 3 && is_bytes(field))
                   return read_label(field.get_message(), tables, out);
                 field.skip();
               });
    return true;
  } catch (const protozero::exception&) {
    return false;
  }
}

}  // namespace sonde
