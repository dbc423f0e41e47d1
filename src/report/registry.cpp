#include "report/registry.hpp"

#include <algorithm>

#include "report/styles/framework_views.hpp"
#include "report/styles/python_views.hpp"
#include "report/views/callgraph.hpp"
#include "report/views/devices.hpp"
#include "report/views/framework_ops.hpp"
#include "report/views/functions.hpp"
#include "report/views/hlo_ops.hpp"
#include "report/views/input_pipeline.hpp"
#include "report/views/kernel_stats.hpp"
#include "report/views/kernels.hpp"
#include "report/views/launches.hpp"
#include "report/views/lines.hpp"
#include "report/views/memcpy.hpp"
#include "report/views/memory.hpp"
#include "report/views/memory_lines.hpp"
#include "report/views/memory_profile.hpp"
#include "report/views/modules.hpp"
#include "report/views/objects.hpp"
#include "report/views/operators.hpp"
#include "report/views/overview.hpp"
#include "report/views/profile_choice.hpp"
#include "report/views/source.hpp"
#include "report/views/stacks.hpp"
#include "report/views/steps.hpp"
#include "report/views/summary.hpp"

namespace sonde {
namespace {

// Whether the traces have what the request names; run before the view is built.
using CheckRequest = Result<bool> (*)(RunTraces, const ReportRequest&);

ReportView sonde_view(std::string name, std::string description, std::vector<std::string> sort_keys,
                      std::vector<std::string> groupings, BuildDocument build,
                      CheckRequest check = nullptr, std::vector<std::string> other_sort_keys = {}) {
  return {
      "sonde",
      std::move(name),
      std::move(description),
      std::move(sort_keys),
      std::move(groupings),
      all_formats(),
      [build, check](const TraceSet& traces, const ReportRequest& request) -> Result<std::string> {
        if (check != nullptr) {
          if (Result<bool> good = check(traces, request); !good) return good.error();
        }
        return report_documents(traces, request, build);
      },
      std::move(other_sort_keys)};
}

std::vector<ReportView> make_views() {
  std::vector<ReportView> views;
  views.push_back(
      sonde_view("summary", "where the time went and what to do about it", {}, {}, summary_view));
  views.push_back(sonde_view("steps", "each step and what its time went to", steps_sort_keys(), {},
                             steps_view));
  views.push_back(sonde_view("operators", "framework operators with their CPU and GPU time",
                             operators_sort_keys(), {"input_shape", "stack"}, operators_view));
  views.push_back(sonde_view("kernels", "GPU kernels", kernels_sort_keys(), {}, kernels_view));
  views.push_back(sonde_view("memcpy", "copies and memsets with their bandwidth",
                             memcpy_sort_keys(), {}, memcpy_view));
  views.push_back(
      sonde_view("modules", "host and device time by module of the network",
                 {"device_total", "device_self", "host_total", "host_self", "calls", "name"}, {},
                 modules_view));
  views.push_back(sonde_view("launches", "how long device work waited, and how much was queued", {},
                             {}, launches_view));
  views.push_back(sonde_view("devices", "GPUs, streams and host threads", devices_sort_keys(), {},
                             devices_view));
  views.push_back(sonde_view("functions", "functions with their calls and their time",
                             functions_sort_keys(), {}, functions_view, check_functions,
                             {"tottime", "time", "cumulative", "cumtime", "ncalls", "pcalls",
                              "filename", "module", "line"}));
  views.push_back(sonde_view("callgraph", "who calls each function, and whom it calls",
                             callgraph_sort_keys(), {}, callgraph_view, check_functions));
  views.push_back(sonde_view("lines", "lines of source with their hits and time", lines_sort_keys(),
                             {}, lines_view, check_lines));
  views.push_back(sonde_view("source", "one file of source, with what each line cost",
                             source_sort_keys(), {}, source_view, check_source));
  views.push_back(sonde_view("memory", "the memory of processes over time, and its peak",
                             {"peak", "last", "name"}, {}, memory_view));
  views.push_back(sonde_view("memory-lines", "allocations by line of source",
                             memory_lines_sort_keys(), {}, memory_lines_view));
  views.push_back(sonde_view("objects", "objects by type, at a moment and between two",
                             objects_sort_keys(), {}, objects_view, check_objects));
  views.push_back(sonde_view("stacks", "the heaviest call stacks", {}, {}, stacks_view));
  views.push_back(sonde_view("overview", "step time and its parts, as XProf divides it", {}, {},
                             overview_view));
  views.push_back(sonde_view("input-pipeline",
                             "what the steps waited for, and who made their input", {}, {},
                             input_pipeline_view));
  views.push_back(sonde_view("framework-ops", "operators of TensorFlow or JAX on host and device",
                             framework_ops_sort_keys(), {}, framework_ops_view));
  views.push_back(sonde_view("hlo-ops", "operations of compiled programs (XLA)",
                             hlo_ops_sort_keys(), {}, hlo_ops_view));
  views.push_back(sonde_view("kernel-stats", "kernels by launch: grid, registers, tensor cores",
                             kernel_stats_sort_keys(), {}, kernel_stats_view));
  views.push_back(sonde_view("memory-profile", "allocators, their peak and what was alive then", {},
                             {}, memory_profile_view));
  for (ReportView& view : framework_style_views()) views.push_back(std::move(view));
  for (ReportView& view : python_style_views()) views.push_back(std::move(view));
  return views;
}

void add_new(std::vector<std::string>& into, const std::vector<std::string>& words) {
  for (const std::string& word : words) {
    if (std::find(into.begin(), into.end(), word) == into.end()) into.push_back(word);
  }
}

}  // namespace

const std::vector<std::string>& all_formats() {
  static const std::vector<std::string> kFormats = {"text", "json", "csv", "markdown"};
  return kFormats;
}

const std::vector<ReportView>& report_views() {
  static const std::vector<ReportView> kViews = make_views();
  return kViews;
}

std::vector<std::string> style_names() {
  std::vector<std::string> out;
  for (const ReportView& view : report_views()) add_new(out, {view.style});
  return out;
}

std::vector<std::string> view_names(const std::string& style) {
  std::vector<std::string> out;
  for (const ReportView& view : report_views()) {
    if (view.style == style) out.push_back(view.name);
  }
  return out;
}

std::vector<std::string> all_view_names() {
  std::vector<std::string> out;
  for (const ReportView& view : report_views()) add_new(out, {view.name});
  return out;
}

std::vector<std::string> all_sort_keys() {
  std::vector<std::string> out;
  for (const ReportView& view : report_views()) add_new(out, view.sort_keys);
  return out;
}

}  // namespace sonde
