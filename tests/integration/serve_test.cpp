#include <gtest/gtest.h>
#include <httplib.h>
#include <simdjson.h>
#include <unistd.h>
#include <zlib.h>

#include <atomic>
#include <filesystem>
#include <fstream>
#include <future>
#include <sstream>
#include <thread>

#include "server/events_appender.hpp"
#include "server/http_server.hpp"
#include "server/routes.hpp"

namespace sonde {
namespace {

namespace fs = std::filesystem;

const std::string kSmall = std::string(SONDE_TEST_DATA) + "/tb_small/run1/worker0.pt.trace.json";
const std::string kPrefix(kTensorboardPrefix);

std::string read_file(const std::string& path) {
  std::ifstream in(path, std::ios::binary);
  std::ostringstream out;
  out << in.rdbuf();
  return out.str();
}

void write_gzip(const std::string& path, const std::string& text) {
  gzFile file = gzopen(path.c_str(), "wb");
  gzwrite(file, text.data(), static_cast<unsigned>(text.size()));
  gzclose(file);
}

std::string golden_line(std::size_t line) {
  std::ifstream in(std::string(SONDE_TEST_DATA) + "/../golden/tb_small.jsonl");
  std::string text;
  for (std::size_t i = 0; i <= line; ++i) std::getline(in, text);
  return text;
}

// A log folder of its own, with two runs, and beside it a trace that must never be served.
class LogFolder {
 public:
  LogFolder() {
    std::string pattern = (fs::temp_directory_path() / "sonde-serve-XXXXXX").string();
    base_ = mkdtemp(pattern.data());
    fs::create_directories(base_ / "logs/run1");
    fs::create_directories(base_ / "logs/deep/run <b>2");
    fs::create_directories(base_ / "secret");
    fs::copy_file(kSmall, base_ / "logs/run1/worker0.pt.trace.json");
    write_gzip((base_ / "logs/deep/run <b>2/worker1.pt.trace.json.gz").string(), read_file(kSmall));
    fs::copy_file(kSmall, base_ / "secret/secret.pt.trace.json");
    fs::create_symlink(base_ / "secret/secret.pt.trace.json",
                       base_ / "logs/run1/linked.pt.trace.json");
    fs::create_directory_symlink(base_ / "secret", base_ / "logs/linked");
  }
  ~LogFolder() {
    std::error_code ignored;
    fs::remove_all(base_, ignored);
  }
  std::string path() const { return (base_ / "logs").string(); }
  fs::path base() const { return base_; }

 private:
  fs::path base_;
};

// A real server on a free port, for the life of the object.
class RunningServer {
 public:
  explicit RunningServer(const std::string& folder) {
    ServeOptions options;
    options.log_folder = folder;
    options.port = 0;
    options.stop = stop_;
    std::promise<int> port;
    options.listening = [&](int p, const std::string&) { port.set_value(p); };
    thread_ = std::thread([this, options] { result_ok_ = serve(options).ok(); });
    port_ = port.get_future().get();
  }
  ~RunningServer() {
    stop_.stop();
    thread_.join();
    EXPECT_TRUE(result_ok_);
  }
  int port() const { return port_; }

  httplib::Result get(const std::string& path, const httplib::Headers& headers = {}) const {
    httplib::Client client("127.0.0.1", port_);
    client.set_read_timeout(60);
    client.set_url_encode(false);  // the tests send what they say, byte by byte
    return client.Get(path, headers);
  }

 private:
  ServerStop stop_;
  std::thread thread_;
  int port_ = 0;
  bool result_ok_ = false;
};

class Serve : public testing::Test {
 protected:
  LogFolder folder_;
  RunningServer server_{folder_.path()};

  void expect(const std::string& path, int status, const std::string& body) {
    const auto got = server_.get(path);
    ASSERT_TRUE(got) << path;
    EXPECT_EQ(got->status, status) << path;
    EXPECT_TRUE(got->body == body) << path << ": " << got->body.substr(0, 300);
  }
  void expect_error(const std::string& path, int status, const std::string& part) {
    const auto got = server_.get(path);
    ASSERT_TRUE(got) << path;
    EXPECT_EQ(got->status, status) << path;
    simdjson::dom::parser parser;
    simdjson::dom::element document;
    ASSERT_FALSE(parser.parse(got->body).get(document)) << got->body;
    std::string_view error;
    ASSERT_FALSE(document["error"].get(error)) << got->body;
    EXPECT_NE(error.find(part), std::string_view::npos) << error;
  }
};

TEST_F(Serve, ListsRunsWorkersAndViews) {
  expect(kPrefix + "runs", 200, R"(["deep/run <b>2", "run1"])");
  expect(kPrefix + "workers?run=run1", 200, R"(["worker0"])");
  expect(kPrefix + "workers?run=deep%2Frun%20%3Cb%3E2", 200, R"(["worker1"])");
  expect(kPrefix + "views?run=run1&worker=worker0", 200,
         R"(["Overview", "Operator", "Kernel", "Trace"])");
}

TEST_F(Serve, AnswersEqualTheStyle) {
  const std::string which = "?run=run1&worker=worker0";
  expect(kPrefix + "overview" + which, 200, golden_line(0));
  expect(kPrefix + "operation" + which + "&group_by=Operation", 200, golden_line(1));
  expect(kPrefix + "operation/table" + which, 200, golden_line(2));
  expect(kPrefix + "kernel/table" + which + "&group_by=Kernel", 200, golden_line(3));
  expect(kPrefix + "kernel" + which, 200, golden_line(4));
  expect(kPrefix + "kernel/table" + which, 200, golden_line(7));
  expect(kPrefix + "operation/stack" + which + "&op_name=aten%3A%3Amm", 200, golden_line(8));
  expect(kPrefix + "operation/stack" + which +
             "&group_by=OperationAndInputShape&op_name=aten::mm&input_shape=[[32,%2064],%20[64,%"
             "2016]]",
         200, golden_line(9));
  // The same from a packed file, and a second time from memory.
  const std::string packed = "?run=deep/run+%3Cb%3E2&worker=worker1";
  expect(kPrefix + "overview" + packed, 200, golden_line(0));
  expect(kPrefix + "overview" + packed, 200, golden_line(0));
}

TEST_F(Serve, TraceHasCounters) {
  for (const std::string& which : {std::string("?run=run1&worker=worker0"),
                                   std::string("?run=deep/run%20%3Cb%3E2&worker=worker1")}) {
    const auto got = server_.get(kPrefix + "trace" + which);
    ASSERT_TRUE(got);
    ASSERT_EQ(got->status, 200);
    simdjson::dom::parser original_parser;
    simdjson::dom::parser parser;
    const simdjson::dom::array before = original_parser.load(kSmall)["traceEvents"].get_array();
    const simdjson::dom::array after = parser.parse(got->body)["traceEvents"].get_array();
    ASSERT_GT(after.size(), before.size());
    for (std::size_t i = 0; i < before.size(); ++i) {
      ASSERT_EQ(simdjson::minify(before.at(i)), simdjson::minify(after.at(i)));
    }
    // The window is 25 … 3080 us (the last step is left out): 30 buckets of 100 us for each GPU,
    // and the closing zero.
    ASSERT_EQ(after.size(), before.size() + 2 * 31);
    EXPECT_EQ(simdjson::minify(after.at(before.size()).value()),
              R"({"ph":"C","name":"GPU 0 Utilization","pid":0,"ts":1610366662000025,)"
              R"("args":{"GPU Utilization":0.0}})");
    EXPECT_EQ(simdjson::minify(after.at(before.size() + 2).value()),
              R"({"ph":"C","name":"GPU 0 Utilization","pid":0,"ts":1610366662000225,)"
              R"("args":{"GPU Utilization":0.95}})");
    EXPECT_EQ(simdjson::minify(after.at(before.size() + 61).value()),
              R"({"ph":"C","name":"GPU 1 Utilization","pid":1,"ts":1610366662003025,)"
              R"("args":{"GPU Utilization":0}})");
  }
}

TEST_F(Serve, UnknownThingsAre404AndSayWhatThereIs) {
  expect_error(kPrefix + "overview?run=nope&worker=worker0", 404, "'run1'");
  expect_error(kPrefix + "overview?run=run1&worker=nope", 404, "'worker0'");
  expect_error(kPrefix + "memory?run=run1&worker=worker0", 404, "operation/table");
  expect_error("/etc/passwd", 404, "no route");
  expect_error(kPrefix, 404, "no route");
  expect_error(kPrefix + "operation/stack?run=run1&worker=worker0&op_name=no::op", 404, "no::op");
}

TEST_F(Serve, MissingOrWrongParametersAre400) {
  expect_error(kPrefix + "overview", 400, "'run'");
  expect_error(kPrefix + "overview?run=run1", 400, "'worker'");
  expect_error(kPrefix + "workers", 400, "'run'");
  expect_error(kPrefix + "operation/stack?run=run1&worker=worker0", 400, "'op_name'");
  expect_error(kPrefix + "operation?run=run1&worker=worker0&group_by=Shape", 400, "group_by");
}

TEST_F(Serve, NothingOutsideOfTheFolder) {
  for (const char* run : {"..", "../secret", "..%2Fsecret", "%2e%2e%2fsecret",
                          "%252e%252e%252fsecret", "run1/../../secret", "/etc", "../../etc",
                          "linked", ".", "run1%00", "run1/", "run1%0d%0aX:y"}) {
    for (const char* worker : {"secret", "passwd", "worker0"}) {
      const auto got = server_.get(kPrefix + "trace?run=" + std::string(run) + "&worker=" + worker);
      ASSERT_TRUE(got) << run;
      EXPECT_EQ(got->status, 404) << run << " " << worker << " " << got->body.substr(0, 200);
    }
  }
  for (const char* worker :
       {"linked", "../run1/worker0", "../../secret/secret", "worker0.pt.trace.json"}) {
    const auto got = server_.get(kPrefix + "trace?run=run1&worker=" + worker);
    ASSERT_TRUE(got);
    EXPECT_EQ(got->status, 404) << worker;
  }
  for (const char* path :
       {"/../secret/secret.pt.trace.json", "/%2e%2e/secret", "/run1/worker0.pt.trace.json",
        "//etc/passwd", "/data/plugin/pytorch_profiler/../../../../etc/passwd"}) {
    const auto got = server_.get(path);
    ASSERT_TRUE(got) << path;
    EXPECT_EQ(got->status, 404) << path;
  }
}

TEST_F(Serve, AFileThatBecomesALinkIsNotFollowed) {
  expect(kPrefix + "workers?run=run1", 200, R"(["worker0"])");
  const fs::path file = folder_.base() / "logs/run1/worker0.pt.trace.json";
  fs::remove(file);
  fs::create_symlink(folder_.base() / "secret/secret.pt.trace.json", file);
  expect_error(kPrefix + "overview?run=run1&worker=worker0", 404, "gone");
  expect_error(kPrefix + "trace?run=run1&worker=worker0", 404, "gone");
}

TEST_F(Serve, NewRunsAppear) {
  expect(kPrefix + "runs", 200, R"(["deep/run <b>2", "run1"])");
  fs::create_directories(folder_.base() / "logs/run3");
  fs::copy_file(kSmall, folder_.base() / "logs/run3/w.pt.trace.json");
  expect(kPrefix + "runs", 200, R"(["deep/run <b>2", "run1", "run3"])");
  expect(kPrefix + "overview?run=run3&worker=w", 200, golden_line(0));
}

TEST_F(Serve, ForeignHostNamesAreRefused) {
  const std::string path = kPrefix + "runs";
  const std::string port = ":" + std::to_string(server_.port());
  for (const std::string& host : {"localhost" + port, "127.0.0.1" + port, "LOCALHOST" + port,
                                  "[::1]" + port, std::string("localhost")}) {
    const auto got = server_.get(path, {{"Host", host}});
    ASSERT_TRUE(got);
    EXPECT_EQ(got->status, 200) << host;
  }
  for (const std::string& host :
       {"evil.example" + port, "127.0.0.1.evil.example" + port, "localhost.evil.example" + port,
        std::string("192.168.0.1"), "[::2]" + port, std::string("127.0.0.1:80:80")}) {
    const auto got = server_.get(path, {{"Host", host}});
    ASSERT_TRUE(got);
    EXPECT_EQ(got->status, 403) << host;
  }
}

TEST_F(Serve, OnlyGetIsKnown) {
  httplib::Client client("127.0.0.1", server_.port());
  const auto posted = client.Post(kPrefix + "runs", "x=1", "text/plain");
  ASSERT_TRUE(posted);
  EXPECT_EQ(posted->status, 405);
  const auto head = client.Head(kPrefix + "runs");
  ASSERT_TRUE(head);
  EXPECT_EQ(head->status, 200);
  EXPECT_TRUE(head->body.empty());
}

TEST_F(Serve, TheFirstPageListsTheRoutes) {
  const auto got = server_.get("/");
  ASSERT_TRUE(got);
  EXPECT_EQ(got->status, 200);
  EXPECT_EQ(got->get_header_value("X-Content-Type-Options"), "nosniff");
  for (const char* route : {"runs", "overview", "kernel/table", "trace"}) {
    EXPECT_NE(got->body.find(kPrefix + route), std::string::npos) << route;
  }
}

TEST_F(Serve, ManyAtOnce) {
  std::vector<std::thread> threads;
  std::atomic<int> good{0};
  const std::string expected = golden_line(0);
  for (int t = 0; t < 8; ++t) {
    threads.emplace_back([&] {
      for (int i = 0; i < 5; ++i) {
        const auto got = server_.get(kPrefix + "overview?run=run1&worker=worker0");
        if (got && got->status == 200 && got->body == expected) ++good;
      }
    });
  }
  for (std::thread& thread : threads) thread.join();
  EXPECT_EQ(good, 40);
}

TEST_F(Serve, ATakenPortIsAnError) {
  ServeOptions options;
  options.log_folder = folder_.path();
  options.port = server_.port();
  const Result<int> result = serve(options);
  ASSERT_FALSE(result);
  EXPECT_EQ(result.error().code, ErrorCode::IoError);
}

TEST(ServeStart, AMissingFolderIsAnError) {
  ServeOptions options;
  options.log_folder = "/no/such/folder";
  options.port = 0;
  const Result<int> result = serve(options);
  ASSERT_FALSE(result);
  EXPECT_EQ(result.error().code, ErrorCode::NotFound);
}

TEST(ServeStart, AStopBeforeTheStartCounts) {
  const LogFolder folder;
  ServeOptions options;
  options.log_folder = folder.path();
  options.port = 0;
  options.stop.stop();
  EXPECT_TRUE(serve(options));
}

TEST(ServeStart, AnEmptyFolderHasNoRuns) {
  const LogFolder folder;
  fs::create_directories(folder.base() / "empty");
  TensorboardService service((folder.base() / "empty").string());
  EXPECT_EQ(service.handle({kPrefix + "runs", {}}).body, "[]");
  EXPECT_EQ(service.handle({kPrefix + "workers", {{"run", "x"}}}).status, 404);
}

std::string append(const std::string& text, const std::string& events, std::size_t chunk) {
  std::string out;
  EventsAppender appender(events, [&](std::string_view piece) {
    out += piece;
    return true;
  });
  for (std::size_t at = 0; at < text.size(); at += chunk) appender.feed(text.substr(at, chunk));
  appender.finish();
  return out;
}

TEST(EventsAppender, PutsEventsAtTheEndOfTheArray) {
  for (const std::size_t chunk : {std::size_t{1}, std::size_t{3}, std::size_t{4096}}) {
    const auto check = [&](const std::string& text, const std::string& expected) {
      EXPECT_EQ(append(text, "NEW", chunk), expected);
    };
    check(R"({"a": [1], "traceEvents": [{"x": "]}\""}], "b": [2]})",
          R"({"a": [1], "traceEvents": [{"x": "]}\""}, NEW], "b": [2]})");
    check(R"({"traceEvents": []})", R"({"traceEvents": [NEW]})");
    check(R"([{"ts": 1}])", R"([{"ts": 1}, NEW])");
    check(R"({"x": {"traceEvents": [1]}, "traceEvents": [2]})",
          R"({"x": {"traceEvents": [1]}, "traceEvents": [2, NEW]})");
    // Not closed: closed here. A comma at the end stays one.
    check(R"([{"ts": 1})", R"([{"ts": 1}, NEW])");
    check(R"([{"ts": 1},)", R"([{"ts": 1},NEW])");
    check(R"({"traceEvents": [{"ts": 1})", R"({"traceEvents": [{"ts": 1}, NEW]})");
    // Broken off within an event, or no events at all: as it is.
    check(R"([{"ts": 1}, {"na)", R"([{"ts": 1}, {"na)");
    check(R"({"b": 1})", R"({"b": 1})");
    check("", "");
  }
  EXPECT_EQ(append("[1]", "", 100), "[1]");
}

}  // namespace
}  // namespace sonde
