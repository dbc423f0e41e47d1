#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>

#include "base/spelling.hpp"
#include "base/split.hpp"
#include "report/registry.hpp"
#include "report/styles/pstats.hpp"

// What a request may say, and what is wrong where it says anything else.

namespace sonde {
namespace {

Error wrong_usage(std::string reason) {
  Error error;
  error.code = ErrorCode::UsageError;
  error.reason = std::move(reason);
  return error;
}

std::string join(const std::vector<std::string>& words) {
  std::string out;
  for (const std::string& word : words) out += (out.empty() ? "" : ", ") + word;
  return out;
}

bool contains(const std::vector<std::string>& words, const std::string& word) {
  return std::find(words.begin(), words.end(), word) != words.end();
}

// Checks one option against what the view offers.
Result<bool> check_word(const ReportView& view, const std::string& what, const std::string& word,
                        const std::vector<std::string>& offered) {
  if (word.empty() || contains(offered, word)) return true;
  const std::string where = fmt::format("view '{}' of style '{}'", view.name, view.style);
  if (offered.empty()) return wrong_usage(fmt::format("{} has no {}", where, what));
  std::string reason = unknown_word(what, word, offered);
  // A suggestion alone would hide what else this view offers.
  if (reason.find("did you mean") != std::string::npos) return wrong_usage(std::move(reason));
  return wrong_usage(fmt::format("unknown {} '{}'; {} has {}", what, word, where, join(offered)));
}

// "device,model": each must be a view of the style, and the style one that prints several. Gives
// the view that takes the list.
Result<std::string> check_view_list(const ReportRequest& request,
                                    const std::vector<std::string>& names) {
  const std::vector<ReportView>& views = report_views();
  const auto first = std::find_if(views.begin(), views.end(), [&](const ReportView& view) {
    return view.style == request.style && view.combines;
  });
  if (first == views.end()) {
    return wrong_usage(
        fmt::format("style '{}' prints one view at a time, not '{}'", request.style, request.view));
  }
  for (const std::string& name : split(request.view, ',')) {
    if (!contains(names, name)) return wrong_usage(unknown_word("view", name, names));
    if (name == first->name && name == "summary") {
      return wrong_usage(fmt::format("view '{}' holds all the others; ask for it alone", name));
    }
  }
  return first->name;
}

// Options that only some views have.
Result<bool> check_view_options(const ReportRequest& request) {
  const auto only_for = [&](bool given, const char* options,
                            const std::string& view) -> Result<bool> {
    if (!given || request.view == view) return true;
    return wrong_usage(
        fmt::format("{} for view '{}', not for view '{}'", options, view, request.view));
  };
  Result<bool> checked = only_for(!request.file.empty(), "--file is", "source");
  if (checked) {
    checked = only_for(!request.snapshot.empty() || !request.against.empty(),
                       "--snapshot and --against are", "objects");
  }
  if (checked) checked = only_for(!request.op_name.empty(), "--operator is", "operation/stack");
  return checked;
}

// Options that only some styles have.
Result<bool> check_options(const ReportRequest& request) {
  const auto only_for = [&](bool given, const char* options,
                            const std::vector<std::string>& styles) -> Result<bool> {
    if (!given || contains(styles, request.style)) return true;
    return wrong_usage(fmt::format("{} for style {}, not for style '{}'", options,
                                   fmt::format("'{}'", fmt::join(styles, "' and '")),
                                   request.style));
  };
  Result<bool> checked = only_for(request.thread_sep || !request.op_detail.empty(),
                                  "--thread-sep and --op-detail are", {"paddle"});
  if (checked) {
    checked = only_for(!request.time_unit.empty(), "--time-unit is", {"paddle", "line_profiler"});
  }
  if (checked) checked = only_for(request.strip_dirs, "--strip-dirs is", {"pstats"});
  if (checked) {
    checked = only_for(request.precision.has_value(), "--precision is", {"memory_profiler"});
  }
  if (checked) checked = only_for(request.skip_zero, "--skip-zero is", {"line_profiler"});
  if (checked) checked = only_for(!request.restrictions.empty(), "--restrict is", {"pstats"});
  for (const std::string& word : request.restrictions) {
    if (checked) checked = check_pstats_restriction(word);
  }
  return checked;
}

}  // namespace

Result<const ReportView*> find_view(ReportRequest& request) {
  const std::vector<std::string> names = view_names(request.style);
  if (names.empty()) return wrong_usage(unknown_word("style", request.style, style_names()));
  if (request.view.empty()) request.view = names.front();
  std::string wanted = request.view;
  if (request.view.find(',') != std::string::npos) {
    Result<std::string> listed = check_view_list(request, names);
    if (!listed) return listed.error();
    wanted = *listed;
  }
  const auto view = std::find_if(
      report_views().begin(), report_views().end(),
      [&](const ReportView& v) { return v.style == request.style && v.name == wanted; });
  if (view == report_views().end()) {
    if (contains(all_view_names(), request.view)) {
      return wrong_usage(fmt::format("style '{}' has no view '{}'; it has {}", request.style,
                                     request.view, join(names)));
    }
    return wrong_usage(unknown_word("view", request.view, names));
  }
  if (request.format.empty()) request.format = view->formats.front();
  if (contains(all_formats(), request.format) && !contains(view->formats, request.format)) {
    return wrong_usage(fmt::format("style '{}' is written as {} only, not as {}", view->style,
                                   join(view->formats), request.format));
  }
  Result<bool> checked = check_word(*view, "format", request.format, view->formats);
  for (const std::string& key :
       view->many_keys ? split(request.sort, ',') : std::vector{request.sort}) {
    if (checked && !contains(view->other_sort_keys, key)) {
      checked = check_word(*view, "sort key", key, view->sort_keys);
    }
  }
  if (checked) checked = check_word(*view, "grouping", request.group_by, view->groupings);
  if (checked && request.ascending && !view->both_directions) {
    checked = wrong_usage(
        fmt::format("view '{}' of style '{}' has no ascending order", view->name, view->style));
  }
  if (checked) checked = check_options(request);
  if (checked) checked = check_view_options(request);
  if (!checked) return checked.error();
  return &*view;
}

}  // namespace sonde
