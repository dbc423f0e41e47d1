// Does with sonde::Benchmark what its input says, one word after the other, on a clock that the
// input sets; prints what it prints. The Python twin does the same and must print the same.
//
//   clock SECONDS | begin | read | read_end | step | samples N | pause | resume | info | end

#include <sonde/benchmark.hpp>

#include <cstdio>
#include <cstring>
#include <iostream>
#include <string>

namespace {

double now = 0;
double clock_of_input() { return now; }

}  // namespace

int main(int argc, char** argv) {
  using Rule = sonde::Benchmark::Rule;
  const bool paddle = argc > 1 && std::strcmp(argv[1], "paddle") == 0;
  sonde::Benchmark benchmark(paddle ? Rule::Paddle : Rule::Exact, clock_of_input);
  std::string word;
  while (std::cin >> word) {
    if (word == "clock") std::cin >> now;
    if (word == "begin") benchmark.begin();
    if (word == "read") benchmark.begin_read();
    if (word == "read_end") benchmark.end_read();
    if (word == "step") benchmark.step();
    if (word == "samples") {
      double samples = 0;
      std::cin >> samples;
      benchmark.step(samples);
    }
    if (word == "pause") benchmark.pause();
    if (word == "resume") benchmark.resume();
    if (word == "info") std::printf("info%s\n", benchmark.step_info("images").c_str());
    if (word == "end") benchmark.end();
    const sonde::Benchmark::Step& last = benchmark.last();
    std::printf("%.17g %.17g %.17g\n", last.reader_cost, last.batch_cost, last.ips);
  }
}
