#include "import/xplane/allocation_writer.hpp"

#include <algorithm>
#include <string>

#include "base/flat_map.hpp"

namespace sonde {

void AllocationWriter::add(const EventType& type, const EventFacts& facts, Nanos time,
                           TrackId track) {
  Allocation allocation;
  allocation.time = time;
  allocation.track = track;
  allocation.address = static_cast<std::uint64_t>(facts.address);
  allocation.pool = facts.allocator.valid() ? facts.allocator
                    : facts.index_on_host != kNoNumber
                        ? builder_.intern(std::to_string(facts.index_on_host))
                        : StringId();
  allocation.tag = facts.tf_op;
  allocation.total_allocated = facts.allocated;
  allocation.total_reserved = facts.reserved;
  const std::string_view pool = builder_.text(allocation.pool);
  const bool on_device =
      facts.index_on_host != kNoNumber || pool.starts_with("GPU") || pool.starts_with("TPU");
  allocation.device_type = on_device ? 1 : 0;
  allocation.device = facts.index_on_host >= 0 && facts.index_on_host <= INT32_MAX && on_device
                          ? static_cast<std::int32_t>(facts.index_on_host)
                          : -1;
  const std::uint64_t key = mix_bits(allocation.address) ^ allocation.pool.value;
  if (type.name_class == NameClass::Allocation) {
    allocation.bytes =
        facts.allocation == kNoNumber ? 0 : std::max<std::int64_t>(0, facts.allocation);
    allocated_.set(key, allocation.bytes);
  } else {
    const std::int64_t* known = allocated_.find(key);
    const std::int64_t bytes = facts.allocation > 0 ? facts.allocation : known ? *known : 0;
    allocation.bytes = -bytes;
  }
  if (builder_.takes(Point::Allocation, time)) builder_.add_allocation(allocation);
}

}  // namespace sonde
