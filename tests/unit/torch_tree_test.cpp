#include "analysis/torch_tree.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <random>

#include "analysis/torch_sum.hpp"

namespace sonde {
namespace {

constexpr std::uint32_t kNone = TorchEvent::kNone;

TorchEvent event(double start, double end, std::uint32_t key = 0, std::uint32_t thread = 0) {
  TorchEvent event;
  event.start = start;
  event.end = end;
  event.key = key;
  event.thread = TrackId(thread);
  return event;
}

std::vector<std::uint32_t> parents(std::vector<TorchEvent> events) {
  nest_torch_events(events);
  std::vector<std::uint32_t> result;
  for (const TorchEvent& e : events) result.push_back(e.parent);
  return result;
}

TEST(TorchTree, InnermostEventThatHoldsAnotherWholeIsItsParent) {
  EXPECT_EQ(parents({event(0, 10), event(1, 9), event(2, 3), event(3, 4), event(9, 10)}),
            (std::vector<std::uint32_t>{kNone, 0, 1, 1, 0}));
}

TEST(TorchTree, PartlyOverlappingEventIsKeptWithoutThatParent) {
  EXPECT_EQ(parents({event(0, 10), event(1, 5), event(4, 6)}),
            (std::vector<std::uint32_t>{kNone, 0, 0}));
  EXPECT_EQ(parents({event(0, 5), event(4, 6)}), (std::vector<std::uint32_t>{kNone, kNone}));
}

TEST(TorchTree, EventsOfOtherThreadsAndOfDevicesAndAsynchronousOnesDoNotNest) {
  TorchEvent device = event(1, 2);
  device.device = true;
  TorchEvent async = event(1, 2);
  async.async = true;
  EXPECT_EQ(parents({event(0, 10), device, async, event(1, 2, 0, 1)}),
            (std::vector<std::uint32_t>{kNone, kNone, kNone, kNone}));
}

TEST(TorchTree, OnlyChildOfTheSameNameIsFoldedAndGivesItsDeviceTime) {
  std::vector<TorchEvent> events = {event(0, 10, 1), event(1, 9, 1), event(2, 8, 1), event(3, 4, 2),
                                    event(5, 6, 1)};
  events[0].kernels = 100;
  events[2].kernels = 7;
  nest_torch_events(events);
  fold_torch_duplicates(events);
  ASSERT_EQ(events.size(), 3u);
  EXPECT_EQ(events[0].kernels, 7);  // replaced, not added
  EXPECT_EQ(events[1].parent, 0u);
  EXPECT_EQ(events[2].parent, 0u);  // one of two children: it stays
}

TEST(TorchTree, ChildrenAndOwnPartsAddUp) {
  std::vector<TorchEvent> events = {event(0, 10), event(1, 3), event(4, 8), event(5, 6)};
  events[0].kernels = 1;
  events[1].kernels = 2;
  events[3].kernels = 4;
  events[0].cpu_bytes = 10;
  events[2].cpu_bytes = 30;
  nest_torch_events(events);
  const TorchTotals totals(events, true);
  const TorchNumbers top = totals.numbers(0);
  EXPECT_EQ(top.cpu, 10);
  EXPECT_EQ(top.self_cpu, 4);
  EXPECT_EQ(top.device, 7);
  EXPECT_EQ(top.self_device, 1);
  EXPECT_EQ(top.cpu_bytes, 10);
  EXPECT_EQ(top.self_cpu_bytes, -20);
  EXPECT_EQ(totals.numbers(2).self_cpu, 3);
  EXPECT_EQ(TorchTotals(events, false).numbers(0).device, 0);
}

TEST(TorchTree, AsynchronousEventHasATotalButNothingOfItsOwn) {
  std::vector<TorchEvent> events = {event(0, 10)};
  events[0].async = true;
  events[0].cpu_bytes = 5;
  const TorchNumbers numbers = TorchTotals(events, true).numbers(0);
  EXPECT_EQ(numbers.cpu, 10);
  EXPECT_EQ(numbers.self_cpu, 0);
  EXPECT_EQ(numbers.cpu_bytes, 5);
  EXPECT_EQ(numbers.self_cpu_bytes, 0);
}

TEST(TorchTree, DepthOfAMillionNeedsNoStackOfCalls) {
  constexpr int kDepth = 1'000'000;
  std::vector<TorchEvent> events;
  for (int i = 0; i < kDepth; ++i) {
    events.push_back(event(i, 2.0 * kDepth - i, static_cast<std::uint32_t>(i % 2)));
  }
  events.back().kernels = 3;
  nest_torch_events(events);
  fold_torch_duplicates(events);
  EXPECT_EQ(events.size(), static_cast<std::size_t>(kDepth));
  EXPECT_EQ(TorchTotals(events, true).numbers(0).device, 3);
}

// Folds as PyTorch does it: pass after pass over explicit lists of children, until nothing changes.
std::vector<TorchEvent> fold_by_passes(std::vector<TorchEvent> events) {
  std::vector<std::vector<std::uint32_t>> children(events.size());
  std::vector<bool> gone(events.size(), false);
  for (std::uint32_t i = 0; i < events.size(); ++i) {
    if (events[i].parent != kNone) children[events[i].parent].push_back(i);
  }
  for (bool changed = true; changed;) {
    changed = false;
    for (std::uint32_t i = 0; i < events.size(); ++i) {
      const std::uint32_t parent = events[i].parent;
      if (gone[i] || parent == kNone) continue;
      if (events[parent].key != events[i].key || children[parent].size() != 1) continue;
      children[parent] = children[i];
      events[parent].kernels = events[i].kernels;
      for (const std::uint32_t child : children[i]) events[child].parent = parent;
      gone[i] = true;
      changed = true;
    }
  }
  std::vector<std::uint32_t> place(events.size(), kNone);
  std::vector<TorchEvent> kept;
  for (std::uint32_t i = 0; i < events.size(); ++i) {
    if (gone[i]) continue;
    place[i] = static_cast<std::uint32_t>(kept.size());
    kept.push_back(events[i]);
  }
  for (TorchEvent& e : kept) e.parent = e.parent == kNone ? kNone : place[e.parent];
  return kept;
}

TEST(TorchTree, OnePassFoldsAsManyPassesDo) {
  std::mt19937 random(11);
  const auto pick = [&](int low, int high) {
    return std::uniform_int_distribution<int>(low, high)(random);
  };
  for (int round = 0; round < 500; ++round) {
    std::vector<TorchEvent> events;
    for (int i = pick(0, 25); i > 0; --i) {
      const int start = pick(0, 15);
      events.push_back(event(start, start + pick(0, 15), static_cast<std::uint32_t>(pick(0, 1)),
                             static_cast<std::uint32_t>(pick(0, 1))));
      events.back().kernels = i;
    }
    std::stable_sort(events.begin(), events.end(), [](const TorchEvent& a, const TorchEvent& b) {
      return a.start != b.start ? a.start < b.start : a.end > b.end;
    });
    nest_torch_events(events);
    const std::vector<TorchEvent> expected = fold_by_passes(events);
    fold_torch_duplicates(events);
    ASSERT_EQ(events.size(), expected.size());
    for (std::size_t i = 0; i < events.size(); ++i) {
      EXPECT_EQ(events[i].start, expected[i].start);
      EXPECT_EQ(events[i].parent, expected[i].parent);
      EXPECT_EQ(events[i].kernels, expected[i].kernels);
    }
  }
}

TEST(PythonSum, KeepsWhatPlainAdditionLoses) {
  PythonSum sum;
  double plain = 0;
  for (const double x : {1e16, 1.0, -1e16}) {
    sum.add(x);
    plain += x;
  }
  EXPECT_EQ(plain, 0);
  EXPECT_EQ(sum.value(), 1);
}

}  // namespace
}  // namespace sonde
