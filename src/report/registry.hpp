#pragma once

#include <functional>
#include <string>
#include <vector>

#include "report/report.hpp"

namespace sonde {

// One view in one style: everything that the command line, help and completion know about it.
struct ReportView {
  std::string style;
  std::string name;
  std::string description;
  std::vector<std::string> sort_keys;  // the first is not always the default: see the view
  std::vector<std::string> groupings;
  std::vector<std::string> formats;  // the first is the default
  std::function<Result<std::string>(const TraceSet&, const ReportRequest&)> render;
  std::vector<std::string> other_sort_keys{};  // understood, but not offered
  bool both_directions = false;                // rows can be sorted in ascending order too
  bool combines = false;   // several views of its style may be asked for at once: "device,model"
  bool many_keys = false;  // several sort keys may be given at once: "time,name"
};

// The formats of a table; text is the default.
const std::vector<std::string>& all_formats();

// All views; the first of each style is its default.
const std::vector<ReportView>& report_views();

std::vector<std::string> style_names();
std::vector<std::string> view_names(const std::string& style);
// Over all styles and views, each once: what completion offers.
std::vector<std::string> all_view_names();
std::vector<std::string> all_sort_keys();

// The view that `request` names. Fills in defaults; wrong words are an Error of usage with the
// nearest right spelling or with what there is.
Result<const ReportView*> find_view(ReportRequest& request);

}  // namespace sonde
