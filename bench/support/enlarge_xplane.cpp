#include "support/enlarge_xplane.hpp"

#include <algorithm>
#include <fstream>
#include <iterator>
#include <protozero/pbf_reader.hpp>
#include <protozero/pbf_writer.hpp>

namespace sonde::bench {
namespace {

// How long one copy lasts: enough for any profile that is repeated here.
constexpr std::int64_t kRoundNanos = 200'000'000'000;

// The line with its timestamp moved.
std::string later(protozero::data_view line, std::int64_t nanos) {
  std::string out;
  protozero::pbf_writer writer(out);
  protozero::pbf_reader reader(line);
  std::int64_t timestamp = 0;
  while (reader.next()) {
    switch (reader.tag()) {
      case 3:
        timestamp = reader.get_int64();
        break;
      case 2:
      case 4:
      case 11:
        writer.add_bytes(reader.tag(), std::string(reader.get_view()));
        break;
      default:
        writer.add_int64(reader.tag(), reader.get_int64());
    }
  }
  writer.add_int64(3, timestamp + nanos);
  return out;
}

}  // namespace

Result<std::uint64_t> enlarge_xplane(const std::string& in, const std::string& out,
                                     std::uint64_t bytes) {
  std::ifstream file(in, std::ios::binary);
  const std::string space{std::istreambuf_iterator<char>(file), std::istreambuf_iterator<char>()};
  if (space.empty()) return Error{ErrorCode::NotFound, "cannot read", in, {}, {}};
  std::uint64_t line_bytes = 0;
  std::ofstream result(out, std::ios::binary);
  std::uint64_t written = 0;
  try {
    for (protozero::pbf_reader planes(space); planes.next(1);) {
      for (protozero::pbf_reader plane = planes.get_message(); plane.next();) {
        if (plane.tag() == 3)
          line_bytes += plane.get_view().size();
        else
          plane.skip();
      }
    }
    const std::uint64_t rounds =
        std::max<std::uint64_t>(1, bytes / std::max<std::uint64_t>(1, line_bytes));
    for (protozero::pbf_reader planes(space); planes.next(1);) {
      std::string head;
      std::string lines;
      protozero::pbf_writer head_writer(head);
      for (protozero::pbf_reader plane = planes.get_message(); plane.next();) {
        if (plane.tag() == 1) {
          head_writer.add_int64(1, plane.get_int64());
        } else if (plane.tag() == 3) {
          const protozero::data_view line = plane.get_view();
          protozero::pbf_writer writer(lines);
          for (std::uint64_t i = 0; i < rounds; ++i)
            writer.add_message(3, later(line, static_cast<std::int64_t>(i) * kRoundNanos));
        } else {
          head_writer.add_bytes(plane.tag(), std::string(plane.get_view()));
        }
      }
      std::string tag;
      protozero::pbf_writer writer(tag);
      writer.add_bytes(1, std::string());
      tag.pop_back();  // the length follows
      for (std::uint64_t size = head.size() + lines.size();; size >>= 7) {
        tag += static_cast<char>((size & 0x7F) | (size > 0x7F ? 0x80 : 0));
        if (size <= 0x7F) break;
      }
      for (const std::string* part : {&tag, &head, &lines}) {
        result << *part;
        written += part->size();
      }
    }
  } catch (const protozero::exception&) {
    return Error{ErrorCode::BrokenInput, "not an XPlane profile", in, {}, {}};
  }
  result.flush();
  if (!result) return Error{ErrorCode::IoError, "cannot write", out, {}, {}};
  return written;
}

}  // namespace sonde::bench
