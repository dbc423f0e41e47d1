#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "analysis/advice.hpp"
#include "base/format.hpp"

// The rules that give_advice() goes through, and what several of them say with.
namespace sonde::advice {

using MaybeAdvice = std::optional<Advice>;

// Of the host: what it does instead of feeding the device.
MaybeAdvice data_loading(const AdviceInput& input);
MaybeAdvice low_utilization(const AdviceInput& input);
MaybeAdvice host_waits(const AdviceInput& input);
// Of the traffic between memories and machines.
MaybeAdvice pageable_copies(const AdviceInput& input);
MaybeAdvice copies_in_the_way(const AdviceInput& input);
MaybeAdvice exposed_communication(const AdviceInput& input);
// Of the kernels themselves.
MaybeAdvice short_kernels(const AdviceInput& input);
MaybeAdvice low_occupancy(const AdviceInput& input);
MaybeAdvice unused_tensor_cores(const AdviceInput& input);

// Shares of the step time from which on something is worth a word, and worth it loudly.
inline constexpr double kNoticeable = 0.05;
inline constexpr double kLarge = 0.20;

inline AdviceWeight weight_of(double share) {
  if (share >= kLarge) return AdviceWeight::High;
  return share >= kNoticeable ? AdviceWeight::Medium : AdviceWeight::Low;
}

inline std::string percent(double share) { return format_percent(100 * share); }

inline std::string duration(double nanos) { return format_duration(nanos); }
inline std::string duration(Nanos nanos) { return format_duration(static_cast<double>(nanos)); }

inline double ratio(double part, double whole) { return whole > 0 ? part / whole : 0; }
inline double ratio(Nanos part, Nanos whole) {
  return ratio(static_cast<double>(part), static_cast<double>(whole));
}

// Names of kernels can be longer than a page.
inline std::string short_name(std::string_view name) {
  constexpr std::size_t kLongest = 60;
  if (name.size() <= kLongest) return std::string(name);
  return std::string(name.substr(0, kLongest - 3)) + "...";
}

inline std::string step_word(const AdviceInput& input) {
  return input.steps.has_steps ? "average step" : "recording";
}

}  // namespace sonde::advice
