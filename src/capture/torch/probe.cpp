#include "capture/torch/probe.hpp"

#include <string.h>
#include <sys/uio.h>
#include <unistd.h>

namespace sonde::capture::torch {
namespace {

// As many bytes as there are; memory that is not there ends it.
std::size_t read_memory(const void* from, void* to, std::size_t bytes) {
  const iovec local{to, bytes};
  const iovec remote{const_cast<void*>(from), bytes};
  const ssize_t got = process_vm_readv(getpid(), &local, 1, &remote, 1, 0);
  return got > 0 ? static_cast<std::size_t>(got) : 0;
}

template <class T>
T value_at(const char* bytes, std::size_t offset) {
  T value;
  memcpy(&value, bytes + offset, sizeof value);
  return value;
}

}  // namespace

void Probe::take(const void* record) {
  if (step_ < 0) return;
  const int step = step_;
  step_ = -1;
  taken_[step] = read_memory(record, picture_[step], kBytes);
  // A page that is not there may lie behind a small object.
  if (taken_[step] == 0) taken_[step] = read_memory(record, picture_[step], kBytes / 2);
  if (step != Check) return;
  // What pointers lead to lives only while the operator runs.
  for (std::size_t at = 0; at + 16 <= taken_[step]; at += 8) {
    const auto pointer = value_at<const char*>(picture_[step], at);
    if (value_at<std::uint64_t>(picture_[step], at + 8) != 1 || !pointer) continue;
    Value value{};
    if (read_memory(pointer, &value, sizeof value) == sizeof value && value.tag == kTensorTag) {
      input_ = value;
    }
  }
}

bool Probe::find_sequence(Places& places) const {
  const std::size_t end = taken_[First] < taken_[Second] ? taken_[First] : taken_[Second];
  std::size_t found = 0;
  for (std::size_t at = 0; at + 8 <= end && at + 8 <= taken_[WithoutGradient]; at += 8) {
    const auto first = value_at<std::int64_t>(picture_[First], at);
    const auto second = value_at<std::int64_t>(picture_[Second], at);
    const auto without = value_at<std::int64_t>(picture_[WithoutGradient], at);
    if (first < 0 || second != first + 1 || without != -1) continue;
    if (found != 0) return false;
    found = at;
  }
  places.sequence = found;
  return found != 0;
}

std::int64_t Probe::second_sequence(const Places& places) const {
  return value_at<std::int64_t>(picture_[Second], places.sequence);
}

bool Probe::check_name(const char* expected, const Functions& functions,
                       const Places& places) const {
  if (functions.name) return true;
  if (places.sequence < kNameBeforeSequence || taken_[First] == 0) return false;
  const char* const at = picture_[First] + places.sequence;
  if (value_at<char>(at, 0 - kNameKindBeforeSequence) != 1) return false;
  // The schema of an operator lives as long as the operator is registered.
  const auto schema = value_at<const char*>(at, 0 - kNameBeforeSequence);
  const char* text = nullptr;
  char name[64] = {};
  if (read_memory(schema, &text, sizeof text) != sizeof text) return false;
  if (read_memory(text, name, strlen(expected) + 1) == 0) return false;
  return strcmp(name, expected) == 0;
}

bool Probe::check_inputs(const void* tensor, Places& places) const {
  const std::size_t at = places.sequence + 8;
  if (at + 16 > taken_[Check] || input_.payload != tensor || input_.tag != kTensorTag) return false;
  if (value_at<std::uint64_t>(picture_[Check], at + 8) != 1) return false;
  places.inputs = at;
  return true;
}

bool Probe::find_sizes(const void* tensor, Places& places) {
  alignas(8) char bytes[512];
  const std::size_t got = read_memory(tensor, bytes, sizeof bytes);
  constexpr std::int64_t kKnown[4] = {3, 3, 5, 7};
  std::size_t found = 0;
  for (std::size_t at = 8; at + sizeof kKnown <= got; at += 8) {
    if (memcmp(bytes + at, kKnown, sizeof kKnown) != 0) continue;
    if (found != 0) return false;
    found = at;
  }
  places.sizes = found;
  return found != 0;
}

}  // namespace sonde::capture::torch
