#pragma once

#include <cstdint>
#include <string_view>

#include "trace/kind.hpp"

namespace sonde {

// What a category of a Kineto trace stands for, in all eras of the format.
struct KinetoCategory {
  SliceKind kind = SliceKind::Other;
  bool known = false;
  bool annotation = false;  // written by record_function, not by an operator
};

// Case does not matter: "Kernel" of 1.8 and "kernel" of today are one.
KinetoCategory kineto_category(std::string_view category);

// Names that make a host operator or range something more special; `kind` where they do not.
SliceKind kineto_kind_by_name(SliceKind kind, std::string_view name);

}  // namespace sonde
