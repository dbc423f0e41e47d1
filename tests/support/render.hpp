#pragma once

#include <string>

#include "import/loader.hpp"
#include "report/registry.hpp"

namespace sonde::test {

// What is printed for the request, or what is wrong with it.
inline std::string render(const TraceSet& traces, ReportRequest request) {
  const Result<const ReportView*> view = find_view(request);
  if (!view) return view.error().text();
  const Result<std::string> text = (*view)->render(traces, request);
  return text ? *text : text.error().text();
}

inline std::string render(const TraceSet& traces, const std::string& view,
                          const std::string& format, const std::string& sort = {}) {
  ReportRequest request;
  request.view = view;
  request.format = format;
  request.sort = sort;
  return render(traces, request);
}

// The same for a file.
inline std::string report(const std::string& path, const ReportRequest& request) {
  const Result<LoadedSet> loaded = load_traces({path});
  return loaded ? render(loaded->traces, request) : loaded.error().text();
}

}  // namespace sonde::test
