// A loop that reads and trains, timed step by step: the summary of sonde::Benchmark.
//
//   benchmark [steps] [batch]
//   sonde run -- benchmark        # the same, with the three numbers of each step as counters

#include <sonde/benchmark.hpp>

#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <vector>

namespace {

std::vector<double> load(int batch, int step) {
  SONDE_DATA_LOADER("load");
  std::vector<double> values(static_cast<std::size_t>(batch) * 64);
  for (std::size_t i = 0; i < values.size(); ++i)
    values[i] = std::sin(static_cast<double>(i) + step);
  return values;
}

double train(const std::vector<double>& values) {
  SONDE_FORWARD("train");
  double sum = 0;
  for (int round = 0; round < 50; ++round) {
    for (const double value : values) sum += std::sqrt(std::fabs(value + round));
  }
  return sum;
}

}  // namespace

int main(int argc, char** argv) {
  const int steps = argc > 1 ? std::atoi(argv[1]) : 30;
  const int batch = argc > 2 ? std::atoi(argv[2]) : 32;
  sonde::Benchmark benchmark;
  sonde::Steps marks;
  double sum = 0;
  benchmark.begin();
  for (int step = 0; step < steps; ++step) {
    marks.next();
    std::vector<double> values;
    {
      const auto reading = benchmark.read();
      values = load(batch, step);
    }
    sum += train(values);
    benchmark.step(batch);
    if (step % 10 == 9) std::printf("step %d%s\n", step, benchmark.step_info("images").c_str());
  }
  benchmark.end();
  return std::isfinite(sum) ? 0 : 1;
}
