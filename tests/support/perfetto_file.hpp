#pragma once

#include <cstdint>
#include <functional>
#include <protozero/pbf_writer.hpp>
#include <string>
#include <string_view>
#include <vector>

namespace sonde::test {

// Writes a Perfetto trace packet by packet.
class PerfettoFile {
 public:
  using Fill = std::function<void(protozero::pbf_writer&)>;

  static std::string message(const Fill& fill) {
    std::string out;
    protozero::pbf_writer writer(out);
    fill(writer);
    return out;
  }

  PerfettoFile& packet(const Fill& fill) {
    protozero::pbf_writer trace(bytes_);
    trace.add_message(1, message(fill));
    return *this;
  }

  PerfettoFile& track(std::uint64_t uuid, const Fill& fill) {
    return packet([&](protozero::pbf_writer& p) {
      p.add_message(60, message([&](protozero::pbf_writer& t) {
                      t.add_uint64(1, uuid);
                      fill(t);
                    }));
    });
  }
  PerfettoFile& process(std::uint64_t uuid, std::int32_t pid, std::string_view name) {
    return track(uuid, [&](protozero::pbf_writer& t) {
      t.add_message(3, message([&](protozero::pbf_writer& p) {
                      p.add_int32(1, pid);
                      p.add_string(6, name.data(), name.size());
                    }));
    });
  }
  PerfettoFile& thread(std::uint64_t uuid, std::uint64_t parent, std::int32_t pid, std::int32_t tid,
                       std::string_view name) {
    return track(uuid, [&](protozero::pbf_writer& t) {
      t.add_uint64(5, parent);
      t.add_message(4, message([&](protozero::pbf_writer& p) {
                      p.add_int32(1, pid);
                      p.add_int32(2, tid);
                      p.add_string(5, name.data(), name.size());
                    }));
    });
  }
  PerfettoFile& named_track(std::uint64_t uuid, std::uint64_t parent, std::string_view name) {
    return track(uuid, [&](protozero::pbf_writer& t) {
      if (parent != 0) t.add_uint64(5, parent);
      t.add_string(2, name.data(), name.size());
    });
  }

  // type: 1 begin, 2 end, 3 instant, 4 counter.
  PerfettoFile& event(std::uint64_t time, std::uint64_t track, int type, std::string_view name = {},
                      const Fill& fill = {}, std::string_view category = {}) {
    return packet([&](protozero::pbf_writer& p) {
      p.add_uint64(8, time);
      p.add_uint32(10, 1);
      p.add_message(11, message([&](protozero::pbf_writer& e) {
                      e.add_enum(9, type);
                      e.add_uint64(11, track);
                      if (!name.empty()) e.add_string(23, name.data(), name.size());
                      if (!category.empty()) e.add_string(22, category.data(), category.size());
                      if (fill) fill(e);
                    }));
    });
  }
  PerfettoFile& slice(std::uint64_t begin, std::uint64_t end, std::uint64_t track,
                      std::string_view name, std::string_view category = {},
                      const Fill& fill = {}) {
    event(begin, track, 1, name, fill, category);
    return event(end, track, 2);
  }

  // An annotation of the event at work.
  static void annotate(protozero::pbf_writer& event, std::string_view key, const Fill& value) {
    event.add_message(4, message([&](protozero::pbf_writer& a) {
                        a.add_string(10, key.data(), key.size());
                        value(a);
                      }));
  }

  const std::string& bytes() const { return bytes_; }

 private:
  std::string bytes_;
};

}  // namespace sonde::test
