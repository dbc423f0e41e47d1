#include <gtest/gtest.h>

#include "import/loader.hpp"
#include "report/info.hpp"
#include "report/registry.hpp"
#include "tests/support/golden.hpp"
#include "tests/support/render.hpp"
#include "tests/support/small_trace.hpp"

namespace sonde {
namespace {

using test::render;

const std::vector<std::pair<std::string, std::string>> kFormats = {
    {"text", "txt"}, {"json", "json"}, {"csv", "csv"}, {"markdown", "md"}};

TraceSet small_set() {
  TraceSet set;
  set.push_back(testing::named(testing::small_trace(), "small"));
  return set;
}

TraceSet two_ranks() {
  TraceSet set;
  set.push_back(testing::named(testing::small_trace(0), "w0"));
  set.push_back(testing::named(testing::small_trace(1), "w1"));
  return set;
}

class EachView : public ::testing::TestWithParam<std::string> {};

TEST_P(EachView, OfTheSmallTraceInEachFormat) {
  const TraceSet set = small_set();
  for (const auto& [format, ending] : kFormats) {
    testing::expect_golden("small_" + GetParam() + "." + ending, render(set, GetParam(), format));
  }
}

TEST_P(EachView, OfTwoRanks) {
  testing::expect_golden("two_ranks_" + GetParam() + ".txt",
                         render(two_ranks(), GetParam(), "text"));
}

TEST_P(EachView, OfARealTrace) {
  const std::string name = "ddp_rank0.pt.trace.json.gz";
  Result<LoadedSet> loaded = load_traces({std::string(SONDE_TEST_DATA) + "/" + name});
  ASSERT_TRUE(loaded.ok()) << loaded.error().text();
  // The path depends on the machine.
  for (NamedTrace& named : loaded->traces) named.path = name;
  testing::expect_golden("ddp_rank0_" + GetParam() + ".txt",
                         render(loaded->traces, GetParam(), "text"));
}

TEST_P(EachView, OfAnEmptyTraceExplainsItself) {
  TraceSet set;
  set.push_back(testing::named(TraceBuilder().finish(), "empty"));
  for (const auto& [format, ending] : kFormats) {
    EXPECT_FALSE(render(set, GetParam(), format).empty());
  }
  EXPECT_NE(render(set, GetParam(), "text").find("o "), std::string::npos);
  testing::expect_golden("empty_" + GetParam() + ".txt", render(set, GetParam(), "text"));
}

TEST_P(EachView, FitsTheWidthAndHasNoEscapes) {
  for (const std::size_t width : {60u, 80u, 100u, 160u}) {
    ReportRequest request;
    request.view = GetParam();
    request.render.width = width;
    for (const std::string& text : {render(small_set(), request), render(two_ranks(), request)}) {
      EXPECT_EQ(text.find('\x1b'), std::string::npos);
      std::size_t at = 0;
      while (at < text.size()) {
        const std::size_t end = text.find('\n', at);
        EXPECT_LE(display_width(text.substr(at, end - at)), width) << text.substr(at, end - at);
        at = end + 1;
      }
    }
  }
}

TEST_P(EachView, EndsWithWhatWasLost) {
  const std::string text = render(small_set(), GetParam(), "text");
  EXPECT_NE(text.find("Lost while reading\n  warning"), std::string::npos);
  EXPECT_NE(render(small_set(), GetParam(), "json").find("\"name\": \"bad_duration\""),
            std::string::npos);
}

INSTANTIATE_TEST_SUITE_P(Views, EachView,
                         ::testing::Values("summary", "steps", "operators", "kernels", "memcpy",
                                           "devices", "functions", "callgraph", "lines", "stacks"),
                         [](const auto& view) { return view.param; });

TEST(Views, SeveralRunsAreReportedOneByOne) {
  TraceSet set;
  set.push_back(testing::named(testing::small_trace(), "w0"));
  set.push_back(testing::named(testing::small_trace(), "w0"));
  set[0].run = "run_a";
  set[1].run = "run_b";
  testing::expect_golden("two_runs_memcpy.json", render(set, "memcpy", "json"));
  testing::expect_golden("two_runs_memcpy.csv", render(set, "memcpy", "csv"));
  testing::expect_golden("two_runs_memcpy.txt", render(set, "memcpy", "text"));
}

TEST(Views, AGenericTraceHasAUsefulSummary) {
  TraceBuilder builder;
  builder.meta().format = "chrome";
  builder.meta().producer = "Chrome trace-event JSON";
  const TrackId track = builder.add_track({});
  builder.add_slice(0, 1000, track, builder.intern("outer"), SliceKind::Other);
  builder.add_slice(100, 200, track, builder.intern("inner"), SliceKind::Other);
  builder.nest(1);
  TraceSet set;
  set.push_back(testing::named(builder.finish(), "generic"));
  testing::expect_golden("generic_summary.txt", render(set, "summary", "text"));
}

TEST(Views, EverySortKeyIsUnderstood) {
  const TraceSet set = two_ranks();
  for (const ReportView& view : report_views()) {
    for (const std::string& key : view.sort_keys) {
      ReportRequest request;
      request.style = view.style;
      request.view = view.name;
      request.sort = key;
      const Result<const ReportView*> found = find_view(request);
      ASSERT_TRUE(found.ok()) << found.error().text();
      // A style may have nothing to say of this trace, but never of the key.
      const Result<std::string> text = (*found)->render(set, request);
      EXPECT_TRUE(text ? !text->empty() : text.error().code != ErrorCode::UsageError)
          << view.style << " " << view.name << " " << key;
    }
  }
}

TEST(Views, LimitsAreKeptAndTold) {
  ReportRequest request;
  request.view = "operators";
  request.limit = 1;
  const std::string one = render(small_set(), request);
  EXPECT_NE(one.find("more; --limit 0 shows all"), std::string::npos);
  request.limit = 0;
  const std::string all = render(small_set(), request);
  EXPECT_EQ(all.find("more;"), std::string::npos);
  request.limit = -1;
  EXPECT_EQ(render(small_set(), request), all);
}

TEST(Views, InfoOfTheSmallTrace) {
  for (const auto& [format, ending] : kFormats) {
    // What the columns take depends on the allocator's growth, so it is taken out.
    std::string text = info_report(small_set(), {}, format, {});
    EXPECT_NE(text.find("emory"), std::string::npos);
  }
}

TEST(Registry, SuggestsAndLists) {
  const auto reason = [](const std::string& style, const std::string& view, const std::string& sort,
                         const std::string& format) {
    ReportRequest request;
    request.style = style;
    request.view = view;
    request.sort = sort;
    request.format = format;
    const Result<const ReportView*> found = find_view(request);
    EXPECT_FALSE(found.ok());
    return found ? std::string() : found.error().reason;
  };
  EXPECT_EQ(reason("snode", "", "", ""), "unknown style 'snode'; did you mean 'sonde'?");
  EXPECT_EQ(reason("sonde", "kernls", "", ""), "unknown view 'kernls'; did you mean 'kernels'?");
  EXPECT_EQ(reason("torch", "kernels", "", ""),
            "style 'torch' has no view 'kernels'; it has operators");
  EXPECT_EQ(reason("sonde", "kernels", "totl", ""),
            "unknown sort key 'totl'; did you mean 'total'?");
  EXPECT_EQ(
      reason("sonde", "kernels", "bananas", ""),
      "unknown sort key 'bananas'; view 'kernels' of style 'sonde' has total, mean, max, calls, "
      "name");
  EXPECT_EQ(reason("tensorboard", "overview", "", "csv"),
            "style 'tensorboard' is written as json only, not as csv");
}

}  // namespace
}  // namespace sonde
