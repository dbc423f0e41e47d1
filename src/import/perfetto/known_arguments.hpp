#pragma once

#include <optional>
#include <span>
#include <string_view>

#include "import/perfetto/annotations.hpp"
#include "trace/builder.hpp"

namespace sonde::perfetto_import {

// What the categories of an event, joined by commas, say about its kind; Other where nothing.
SliceKind kind_of(std::string_view categories, std::string_view name);

// Takes Sonde's own word for a kind ("sonde.kernel") off the end of the categories.
std::optional<SliceKind> take_own_kind(std::string_view& categories);

// The rows of one slice, filled from the arguments that have a place there.
struct SliceRows {
  OperatorRow op;
  LaunchRow launch;
  DeviceRow device;
  CollectiveRow collective;
  PythonRow python;
  OperatorInputs inputs;
  bool has_op = false;
  bool has_collective = false;
  bool has_python = false;

  // True where the argument went into a row and needs no keeping.
  bool take(SliceKind kind, const PendingArgument& argument, const TraceBuilder& builder);
};

}  // namespace sonde::perfetto_import
