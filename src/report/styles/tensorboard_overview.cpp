#include <array>

#include "analysis/gpu_utilization.hpp"
#include "analysis/steps.hpp"
#include "analysis/tensorboard_advice.hpp"
#include "report/styles/tensorboard_parts.hpp"

namespace sonde::tensorboard {
namespace {

std::string_view role_name(StepRole role) {
  switch (role) {
    case StepRole::Kernel:
      return "Kernel";
    case StepRole::Memcpy:
      return "Memcpy";
    case StepRole::Memset:
      return "Memset";
    case StepRole::Communication:
      return "Communication";
    case StepRole::Runtime:
      return "Runtime";
    case StepRole::DataLoader:
      return "DataLoader";
    case StepRole::CpuOp:
      return "CPU Exec";
    case StepRole::Other:
      return "Other";
  }
  return "";
}

bool is_shown(StepRole role, bool has_device) { return has_device || role >= StepRole::DataLoader; }

// The plugin names Communication before Memset in the columns, but has the values the other way
// round in the rows. Byte for byte compatibility keeps it so.
constexpr std::array<StepRole, kStepRoleCount> kColumnOrder = {
    StepRole::Kernel,  StepRole::Memcpy,     StepRole::Communication, StepRole::Memset,
    StepRole::Runtime, StepRole::DataLoader, StepRole::CpuOp,         StepRole::Other,
};

double percent(double part, double whole) {
  return whole > 0 ? python_round(100 * part / whole, 2) : 0;
}

std::string tooltip(const Step& step, StepRole role) {
  const Nanos cost = step.cost[role];
  std::string out = "<div class=\"visualization-tooltip\" style=\"white-space: nowrap;\">Step ";
  out += escape_html(step.name);
  out += "<br>Total: " + microseconds_text(step.total()) + "us<br><b>";
  out += role_name(role);
  out += ": " + microseconds_text(cost) + "us</b><br>Percentage: ";
  // Part and whole as integers, so that one division rounds once.
  out += python_float(percent(static_cast<double>(cost), static_cast<double>(step.total())));
  out += "%</div>";
  return out;
}

void write_steps(JsonWriter& json, const StepBreakdown& breakdown) {
  json.key("steps");
  json.begin_object();
  json.key("columns");
  json.begin_array();
  write_column(json, "string", "Step");
  for (const StepRole role : kColumnOrder) {
    if (!is_shown(role, breakdown.has_device)) continue;
    write_column(json, "number", role_name(role));
    json.begin_object();
    json.member("type", "string");
    json.member("role", "tooltip");
    json.key("p");
    json.begin_object();
    json.member("html", "true");
    json.end_object();
    json.end_object();
  }
  json.end_array();
  json.key("rows");
  json.begin_array();
  for (const Step& step : breakdown.steps) {
    json.begin_array();
    json.value(step.name);
    for (const StepRole role : kStepRoles) {
      if (!is_shown(role, breakdown.has_device)) continue;
      write_microseconds(json, step.cost[role]);
      json.value(tooltip(step, role));
    }
    json.end_array();
  }
  json.end_array();
  json.end_object();
}

void write_performance(JsonWriter& json, const StepBreakdown& breakdown) {
  const double total = breakdown.average_total_us();
  json.key("performance");
  json.begin_array();
  json.begin_object();
  json.member("name", "Average Step Time");
  json.member("description", "");
  json.member("value", python_round(total));
  json.member("extra", 100);
  json.key("children");
  json.begin_array();
  for (const StepRole role : kStepRoles) {
    if (!is_shown(role, breakdown.has_device)) continue;
    const double average = breakdown.average_us(role);
    json.begin_object();
    json.member("name", role_name(role));
    json.member("description", "");
    json.member("value", python_round(average));
    json.member("extra", percent(average, total));
    json.end_object();
  }
  json.end_array();
  json.end_object();
  json.end_array();
}

// "0", "0and 1", "0, 1and 2": the plugin has no blank before "and".
std::string join_devices(const std::vector<std::int32_t>& devices) {
  std::string out;
  for (std::size_t i = 0; i < devices.size(); ++i) {
    if (i > 0) out += i + 1 == devices.size() ? "and " : ", ";
    out += std::to_string(devices[i]);
  }
  return out;
}

std::string link(std::string_view url, std::string_view text) {
  std::string out = "<a href =\"";
  out += url;
  out += "\" target=\"_blank\">";
  out += text;
  return out + "</a>";
}

std::string advice_text(const TensorboardAdvice& advice) {
  const std::string devices = join_devices(advice.devices);
  const std::string gpus = "GPU " + devices + (devices.size() == 1 ? " has " : " have ");
  switch (advice.rule) {
    case TensorboardRule::DataLoading:
      return "This run has high time cost on input data loading. " +
             python_float(python_round(advice.value * 100, 1)) +
             "% of the step time is in DataLoader. You could try to set num_workers on "
             "DataLoader's construction and enable multi-processes on data loading. Reference: " +
             link("https://pytorch.org/docs/stable/data.html#single-and-multi-process-data-loading",
                  "Single- and Multi-process Data Loading");
    case TensorboardRule::LowUtilization:
      return gpus +
             "low utilization: no kernel runs for more than half of the time. A larger batch "
             "gives the device more work for each launch.";
    case TensorboardRule::LowSmEfficiency:
      return gpus +
             "low estimated SM efficiency: kernels run, but their grids fill only a part of the "
             "multiprocessors. Larger batches or fewer, bigger kernels help.";
    case TensorboardRule::LowOccupancy:
      return gpus +
             "low estimated achieved occupancy: few warps are active on each multiprocessor. Look "
             "at the registers and the shared memory that the longest kernels use.";
  }
  return "";
}

void write_recommendations(JsonWriter& json, const StepBreakdown& breakdown,
                           const std::vector<GpuUtilization>& gpus) {
  std::string items;
  for (const TensorboardAdvice& advice : tensorboard_advice(breakdown, gpus)) {
    items += "<li>" + advice_text(advice) + "</li>";
  }
  if (items.empty()) items = "<li>N/A</li>";
  json.member("recommendations", "<ul>" + items + "</ul>");
}

void write_environments(JsonWriter& json, const StepBreakdown& breakdown,
                        const std::vector<GpuUtilization>& gpus, std::size_t workers) {
  const auto entry = [&](const std::string& title, const std::string& value) {
    json.begin_object();
    json.member("title", title);
    json.member("value", value);
    json.end_object();
  };
  const auto percent_text = [](double value) {
    return python_float(python_round(value, 2)) + " %";
  };
  json.key("environments");
  json.begin_array();
  entry("Number of Worker(s)", std::to_string(workers));
  entry("Device Type", breakdown.has_device ? "GPU" : "CPU");
  for (const GpuUtilization& gpu : gpus) {
    const std::string of = " of GPU" + std::to_string(gpu.device);
    entry("GPU Utilization" + of, percent_text(gpu.utilization * 100));
    if (gpu.sm_efficiency > 0) {
      entry("Est. SM Efficiency" + of, percent_text(gpu.sm_efficiency * 100));
    }
    if (gpu.occupancy > 0) entry("Est. Achieved Occupancy" + of, percent_text(gpu.occupancy));
  }
  json.end_array();
}

}  // namespace

std::string overview(const Trace& trace, const TensorboardRequest& request) {
  const OpTree tree(trace);
  const StepBreakdown breakdown = break_down_steps(trace, tree, HostCollectives::AreOperators);
  const std::vector<GpuUtilization> gpus = gpu_utilization(trace, breakdown.window());
  JsonWriter json;
  json.begin_object();
  write_steps(json, breakdown);
  write_performance(json, breakdown);
  write_recommendations(json, breakdown, gpus);
  write_environments(json, breakdown, gpus, request.workers);
  json.end_object();
  return json.take();
}

}  // namespace sonde::tensorboard
