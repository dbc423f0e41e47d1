#include "analysis/torch_memory.hpp"

#include <algorithm>

namespace sonde {
namespace {

// c10::DeviceType
constexpr std::int32_t kCpu = 0;
constexpr std::int32_t kCuda = 1;
constexpr std::int32_t kMkldnn = 2;
constexpr std::int32_t kIdeep = 5;
constexpr std::int32_t kHip = 6;
constexpr std::int32_t kXpu = 12;
constexpr std::int32_t kPrivateUse1 = 20;

// Sums of absurd records wrap around.
std::int64_t add(std::int64_t a, std::int64_t b) {
  return static_cast<std::int64_t>(static_cast<std::uint64_t>(a) + static_cast<std::uint64_t>(b));
}

std::int64_t subtract(std::int64_t a, std::int64_t b) {
  return static_cast<std::int64_t>(static_cast<std::uint64_t>(a) - static_cast<std::uint64_t>(b));
}

}  // namespace

TorchBytes torch_bytes(const Allocation& record) {
  switch (record.device_type) {
    case kCpu:
    case kMkldnn:
    case kIdeep:
      return {record.bytes, 0};
    case kCuda:
    case kHip:
    case kXpu:
    case kPrivateUse1:
      return {0, record.bytes};
    default:
      return {};
  }
}

TorchMemory::TorchMemory(const std::vector<Allocation>& records) {
  for (std::uint32_t i = 0; i < records.size(); ++i) {
    (records[i].out_of_memory ? out_of_memory_ : order_).push_back(i);
  }
  const auto earlier = [&](std::uint32_t a, std::uint32_t b) {
    return records[a].time != records[b].time ? records[a].time < records[b].time : a < b;
  };
  std::sort(order_.begin(), order_.end(), earlier);
  std::sort(out_of_memory_.begin(), out_of_memory_.end(), earlier);

  times_.reserve(order_.size());
  before_.reserve(order_.size() + 1);
  before_.push_back({});
  for (const std::uint32_t i : order_) {
    const TorchBytes bytes = torch_bytes(records[i]);
    times_.push_back(records[i].time);
    before_.push_back(
        {add(before_.back().cpu, bytes.cpu), add(before_.back().device, bytes.device)});
  }
  claims_.assign(order_.size() + 1, 0);
}

TorchBytes TorchMemory::claim(Nanos start, Nanos end) {
  const auto first = std::lower_bound(times_.begin(), times_.end(), start) - times_.begin();
  const auto last = std::upper_bound(times_.begin(), times_.end(), end) - times_.begin();
  if (last <= first) return {};
  const auto from = static_cast<std::size_t>(first);
  const auto to = static_cast<std::size_t>(last);
  ++claims_[from];
  --claims_[to];
  return {subtract(before_[to].cpu, before_[from].cpu),
          subtract(before_[to].device, before_[from].device)};
}

std::vector<std::uint32_t> TorchMemory::unclaimed() const {
  std::vector<std::uint32_t> result;
  std::int64_t open = 0;
  for (std::size_t i = 0; i < order_.size(); ++i) {
    open += claims_[i];
    if (open == 0) result.push_back(order_[i]);
  }
  return result;
}

}  // namespace sonde
