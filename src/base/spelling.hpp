#pragma once

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

namespace sonde {

// How many single-letter insertions, removals, replacements or swaps of neighbours turn `a` into
// `b`, upper and lower case being alike.
std::size_t edit_distance(std::string_view a, std::string_view b);

// The candidate that `word` most likely stands for; empty where none is near. A candidate that
// begins with `word` counts as near. The first of equally near ones wins.
std::string nearest_spelling(std::string_view word, const std::vector<std::string>& candidates);

// "unknown view 'sumary'; did you mean 'summary'?", or the list of all candidates where none is
// near.
std::string unknown_word(std::string_view what, std::string_view word,
                         const std::vector<std::string>& candidates);

}  // namespace sonde
