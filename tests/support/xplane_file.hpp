#pragma once

#include <cstdint>
#include <map>
#include <protozero/pbf_writer.hpp>
#include <string>
#include <vector>

namespace sonde::test {

// Writes XPlane profiles for tests, as the profilers do: lines before the names that they use.
class XPlane {
 public:
  struct Stat {
    std::string name;
    enum class Type { Integer, Unsigned, Real, Text, Reference, Bytes } type = Type::Integer;
    std::int64_t integer = 0;
    double real = 0;
    std::string text;
  };
  static Stat integer(std::string name, std::int64_t value) {
    return {std::move(name), Stat::Type::Integer, value, 0, {}};
  }
  static Stat big(std::string name, std::uint64_t value) {
    return {std::move(name), Stat::Type::Unsigned, static_cast<std::int64_t>(value), 0, {}};
  }
  static Stat real(std::string name, double value) {
    return {std::move(name), Stat::Type::Real, 0, value, {}};
  }
  static Stat text(std::string name, std::string value) {
    return {std::move(name), Stat::Type::Text, 0, 0, std::move(value)};
  }
  static Stat reference(std::string name, std::string value) {
    return {std::move(name), Stat::Type::Reference, 0, 0, std::move(value)};
  }

  explicit XPlane(std::string name) : name_(std::move(name)) {}

  XPlane& line(std::int64_t id, const std::string& name, std::int64_t timestamp_ns = 0) {
    lines_.emplace_back();
    protozero::pbf_writer writer(lines_.back());
    writer.add_int64(1, id);
    writer.add_string(2, name);
    writer.add_int64(3, timestamp_ns);
    return *this;
  }

  XPlane& event(const std::string& name, std::int64_t offset_ps, std::int64_t duration_ps,
                const std::vector<Stat>& stats = {}) {
    std::string message;
    protozero::pbf_writer writer(message);
    writer.add_int64(1, event_id(name));
    writer.add_int64(2, offset_ps);
    if (duration_ps != 0) writer.add_int64(3, duration_ps);
    for (const Stat& stat : stats) writer.add_message(4, stat_message(stat));
    protozero::pbf_writer(lines_.back()).add_message(4, message);
    return *this;
  }

  // A short name and statistics that all events of that name have.
  XPlane& describe(const std::string& name, const std::string& display_name,
                   const std::vector<Stat>& stats = {}) {
    event_id(name);
    display_[name] = display_name;
    for (const Stat& stat : stats) shared_[name] += sub_message(5, stat_message(stat));
    return *this;
  }

  XPlane& plane_stat(const Stat& stat) {
    plane_stats_ += sub_message(6, stat_message(stat));
    return *this;
  }

  // The plane as a field of an XSpace.
  std::string field() {
    std::string plane;
    protozero::pbf_writer writer(plane);
    writer.add_string(2, name_);
    for (const std::string& line : lines_) writer.add_message(3, line);
    for (const auto& [name, id] : events_) {
      std::string metadata;
      protozero::pbf_writer fields(metadata);
      fields.add_int64(1, id);
      fields.add_string(2, name);
      if (!display_[name].empty()) fields.add_string(4, display_[name]);
      metadata += shared_[name];
      writer.add_message(4, entry(id, metadata));
    }
    for (const auto& [name, id] : stats_) {
      std::string metadata;
      protozero::pbf_writer fields(metadata);
      fields.add_int64(1, id);
      fields.add_string(2, name);
      writer.add_message(5, entry(id, metadata));
    }
    plane += plane_stats_;
    return sub_message(1, plane);
  }

 private:
  static std::string sub_message(protozero::pbf_tag_type tag, const std::string& message) {
    std::string out;
    protozero::pbf_writer(out).add_message(tag, message);
    return out;
  }
  static std::string entry(std::int64_t id, const std::string& value) {
    std::string out;
    protozero::pbf_writer writer(out);
    writer.add_int64(1, id);
    writer.add_message(2, value);
    return out;
  }
  std::int64_t event_id(const std::string& name) {
    return events_.try_emplace(name, static_cast<std::int64_t>(events_.size() + 1)).first->second;
  }
  std::int64_t stat_id(const std::string& name) {
    return stats_.try_emplace(name, static_cast<std::int64_t>(stats_.size() + 1)).first->second;
  }
  std::string stat_message(const Stat& stat) {
    std::string out;
    protozero::pbf_writer writer(out);
    writer.add_int64(1, stat_id(stat.name));
    switch (stat.type) {
      case Stat::Type::Real:
        writer.add_double(2, stat.real);
        break;
      case Stat::Type::Unsigned:
        writer.add_uint64(3, static_cast<std::uint64_t>(stat.integer));
        break;
      case Stat::Type::Integer:
        writer.add_int64(4, stat.integer);
        break;
      case Stat::Type::Text:
        writer.add_string(5, stat.text);
        break;
      case Stat::Type::Bytes:
        writer.add_bytes(6, stat.text);
        break;
      case Stat::Type::Reference:
        writer.add_uint64(7, static_cast<std::uint64_t>(stat_id(stat.text)));
        break;
    }
    return out;
  }

  std::string name_;
  std::vector<std::string> lines_;
  std::map<std::string, std::int64_t> events_;
  std::map<std::string, std::int64_t> stats_;
  std::map<std::string, std::string> display_;
  std::map<std::string, std::string> shared_;
  std::string plane_stats_;
};

}  // namespace sonde::test
