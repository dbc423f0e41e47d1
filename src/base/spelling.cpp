#include "base/spelling.hpp"

#include <fmt/format.h>

#include <algorithm>

namespace sonde {
namespace {

// Longer words come from a mistake that no suggestion can mend, and would cost quadratic time.
constexpr std::size_t kLongestWord = 64;

char lower(char c) { return c >= 'A' && c <= 'Z' ? static_cast<char>(c - 'A' + 'a') : c; }

bool begins_with(std::string_view text, std::string_view prefix) {
  if (prefix.empty() || prefix.size() > text.size()) return false;
  return std::equal(prefix.begin(), prefix.end(), text.begin(),
                    [](char a, char b) { return lower(a) == lower(b); });
}

}  // namespace

std::size_t edit_distance(std::string_view a, std::string_view b) {
  const std::size_t columns = b.size() + 1;
  std::vector<std::size_t> before(columns);
  std::vector<std::size_t> previous(columns);
  std::vector<std::size_t> current(columns);
  for (std::size_t j = 0; j < columns; ++j) previous[j] = j;
  for (std::size_t i = 1; i <= a.size(); ++i) {
    current[0] = i;
    for (std::size_t j = 1; j < columns; ++j) {
      const bool same = lower(a[i - 1]) == lower(b[j - 1]);
      current[j] =
          std::min({previous[j] + 1, current[j - 1] + 1, previous[j - 1] + (same ? 0 : 1)});
      if (i > 1 && j > 1 && lower(a[i - 1]) == lower(b[j - 2]) &&
          lower(a[i - 2]) == lower(b[j - 1])) {
        current[j] = std::min(current[j], before[j - 2] + 1);
      }
    }
    std::swap(before, previous);
    std::swap(previous, current);
  }
  return previous[b.size()];
}

std::string nearest_spelling(std::string_view word, const std::vector<std::string>& candidates) {
  if (word.empty() || word.size() > kLongestWord) return {};
  std::string best;
  // Short words are near to everything.
  std::size_t best_distance = 1 + (word.size() <= 2   ? 0
                                   : word.size() <= 4 ? 1
                                                      : std::max<std::size_t>(2, word.size() / 3));
  for (const std::string& candidate : candidates) {
    if (candidate.size() > kLongestWord) continue;
    std::size_t distance = edit_distance(word, candidate);
    if (distance > 1 && word.size() > 2 && begins_with(candidate, word)) distance = 1;
    // A word of which nothing is left is no misspelling.
    if (distance >= std::max(word.size(), candidate.size())) continue;
    if (distance < best_distance) {
      best_distance = distance;
      best = candidate;
    }
  }
  return best;
}

std::string unknown_word(std::string_view what, std::string_view word,
                         const std::vector<std::string>& candidates) {
  std::string message = fmt::format("unknown {} '{}'", what, word);
  const std::string near = nearest_spelling(word, candidates);
  if (!near.empty()) return message + fmt::format("; did you mean '{}'?", near);
  if (candidates.empty()) return message;
  message += "; there is ";
  for (std::size_t i = 0; i < candidates.size(); ++i) message += (i ? ", " : "") + candidates[i];
  return message;
}

}  // namespace sonde
