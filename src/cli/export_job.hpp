#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "cli/cut_options.hpp"
#include "cli/options.hpp"
#include "export/exporter.hpp"

namespace sonde {

// What export, convert and cut have in common: read, cut, write in another format.
struct ExportJob {
  std::vector<std::string> paths;
  std::string format;  // an exporter's name; empty: by the name of the output
  std::string view;    // of a report, for csv and json
  std::string output;
  std::string weight;
  std::int64_t width = 1200;
  CutOptions cut;

  void define_output(Options& options);
  void define_format(Options& options, const std::string& flags);
  void define_looks(Options& options);

  // Returns the exit status; `command` is for messages.
  int run(const std::string& command);

 private:
  Result<NamedFormat> find_format() const;
};

// "chrome, perfetto, …", and a line for each format with what it is and how its files end.
std::vector<std::string> exporter_names();
std::string exporters_text();

}  // namespace sonde
