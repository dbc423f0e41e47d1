#include <algorithm>
#include <array>

#include "export/chrome/chrome.hpp"
#include "export/exporter.hpp"
#include "export/heatmap/heatmap.hpp"
#include "export/model/csv.hpp"
#include "export/model/json.hpp"
#include "export/perfetto/perfetto.hpp"
#include "export/sqlite/sqlite.hpp"
#include "export/stacks/callgrind.hpp"
#include "export/stacks/collapsed.hpp"
#include "export/stacks/dot.hpp"
#include "export/stacks/flamegraph.hpp"
#include "export/stacks/pprof.hpp"
#include "export/stacks/pstats.hpp"
#include "export/stacks/speedscope.hpp"
#include "export/vprof/vprof.hpp"

namespace sonde {
namespace {

constexpr bool kBinary = true;
constexpr bool kText = false;
constexpr bool kStacks = true;
constexpr bool kWhole = false;

const std::array kExporters = {
    Exporter{"chrome",
             "trace-event JSON for chrome://tracing, Perfetto, HTA, TensorBoard",
             {".json"},
             kText,
             kWhole,
             write_chrome},
    Exporter{"perfetto",
             "Perfetto's binary trace for ui.perfetto.dev",
             {".pftrace", ".perfetto-trace", ".perfetto"},
             kBinary,
             kWhole,
             write_perfetto},
    Exporter{"collapsed",
             "one line for each stack, for flamegraph.pl, speedscope, inferno",
             {".folded", ".collapsed"},
             kText,
             kStacks,
             write_collapsed},
    Exporter{"flamegraph",
             "an interactive picture of all stacks, for a browser",
             {".svg"},
             kText,
             kStacks,
             write_flamegraph},
    Exporter{"speedscope",
             "for speedscope.app",
             {".speedscope.json", ".speedscope"},
             kText,
             kStacks,
             write_speedscope},
    Exporter{"pprof", "for the pprof tool", {".pb.gz", ".pprof"}, kBinary, kStacks, write_pprof},
    Exporter{"callgrind",
             "for KCachegrind and callgrind_annotate",
             {".callgrind"},
             kText,
             kStacks,
             write_callgrind},
    Exporter{"pstats",
             "for Python's pstats, SnakeViz",
             {".prof", ".pstats"},
             kBinary,
             kStacks,
             write_pstats},
    Exporter{"dot", "a call graph for Graphviz", {".dot", ".gv"}, kText, kStacks, write_dot},
    Exporter{"vprof", "for vprof's viewer", {".vprof.json"}, kText, kStacks, write_vprof},
    Exporter{"heatmap",
             "a page of the source with time, hits and memory of each line, for a browser",
             {".html"},
             kText,
             kStacks,
             write_heatmap},
    Exporter{"csv",
             "everything as one table; with --view, a report's table",
             {".csv"},
             kText,
             kWhole,
             write_model_csv},
    Exporter{"json",
             "everything as JSON; with --view, a report",
             {".model.json"},
             kText,
             kWhole,
             write_model_json},
    Exporter{"sqlite",
             "a database with ready queries",
             {".sqlite", ".sqlite3", ".db"},
             kBinary,
             kWhole,
             nullptr,
             write_sqlite},
};

const Exporter* by_ending(std::string_view name) {
  const Exporter* best = nullptr;
  std::size_t length = 0;
  for (const Exporter& exporter : kExporters) {
    for (const std::string_view ending : exporter.endings) {
      if (name.size() <= ending.size() || !name.ends_with(ending) || ending.size() <= length)
        continue;
      best = &exporter;
      length = ending.size();
    }
  }
  return best;
}

}  // namespace

std::span<const Exporter> exporters() { return kExporters; }

const Exporter* find_exporter(std::string_view name) {
  const auto found = std::find_if(kExporters.begin(), kExporters.end(),
                                  [&](const Exporter& exporter) { return exporter.name == name; });
  return found == kExporters.end() ? nullptr : &*found;
}

NamedFormat format_of_name(std::string_view path) {
  const std::size_t slash = path.rfind('/');
  std::string_view name = slash == path.npos ? path : path.substr(slash + 1);
  if (const Exporter* exporter = by_ending(name)) return {exporter, Packing::None};
  Packing packing = Packing::None;
  if (name.ends_with(".gz")) {
    packing = Packing::Gzip;
    name.remove_suffix(3);
  } else if (name.ends_with(".zst")) {
    packing = Packing::Zstd;
    name.remove_suffix(4);
  }
  // Callgrind's own habit is a beginning: "callgrind.out.1234".
  if (name.starts_with("callgrind.out")) return {find_exporter("callgrind"), packing};
  return {packing == Packing::None ? nullptr : by_ending(name), packing};
}

}  // namespace sonde
