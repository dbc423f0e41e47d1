#include "export/heatmap/heatmap.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "analysis/source_costs.hpp"
#include "base/format.hpp"
#include "export/heatmap/heatmap_page.hpp"
#include "export/text_forms.hpp"

namespace sonde {
namespace {

class PageWriter {
 public:
  PageWriter(const ExportInput& input, const SourceCosts& costs, BufferedOutput& output,
             ExportNotes& notes)
      : input_(input), costs_(costs), output_(output), out_(output.buffer()), notes_(notes) {}

  void write() {
    out_ += "<!DOCTYPE html>\n<html lang=\"en\">\n<head>\n<meta charset=\"utf-8\">\n";
    // Whatever a name of the trace may hold: nothing is loaded, no other script runs.
    out_ +=
        "<meta http-equiv=\"Content-Security-Policy\" content=\"default-src 'none'; style-src "
        "'unsafe-inline'; script-src 'unsafe-inline'\">\n";
    out_ += "<meta name=\"viewport\" content=\"width=device-width\">\n<title>";
    append_xml_text(out_, "Heat map of " + input_.title);
    out_ += "</title>\n<style>";
    out_ += kHeatmapStyle;
    out_ += "</style>\n</head>\n<body class=\"";
    out_ += first_class();
    out_ += "\">\n";
    write_list();
    out_ += "<main>\n";
    write_buttons();
    for (std::size_t i = 0; i < costs_.files.size() && !output_.failed(); ++i) write_file(i);
    out_ += "</main>\n<script>";
    out_ += kHeatmapScript;
    out_ += "</script>\n</body>\n</html>\n";
    if (without_source_ > 0) {
      notes_.push_back("files whose source is not on this machine, shown without its text: " +
                       std::to_string(without_source_));
    }
  }

 private:
  std::string_view first_class() const {
    return costs_.has_cost ? "time" : costs_.has_memory ? "memory" : "device";
  }

  std::string cost_text(double cost) const {
    if (costs_.cost.unit == "ns") return format_duration(cost);
    if (costs_.cost.unit == "bytes") return format_bytes(cost);
    return format_real(cost);
  }
  std::string hits_text(std::int64_t hits) const {
    return costs_.hits_are_samples ? format_plural(hits, "sample", "samples")
                                   : format_plural(hits, "hit", "hits");
  }

  void write_list() {
    out_ += "<nav>\n<h1>";
    append_xml_text(out_, input_.title);
    out_ += "</h1>\n<ol>\n";
    double most = 0;
    for (const SourceFile& file : costs_.files) most = std::max(most, measure(file));
    for (std::size_t i = 0; i < costs_.files.size(); ++i) {
      const SourceFile& file = costs_.files[i];
      out_ += fmt::format("<li><a href=\"#f{}\" style=\"--s: {:.4f}\">", i,
                          most > 0 ? measure(file) / most : 0);
      append_xml_text(out_, file.file);
      out_ += "<small>";
      std::string facts;
      if (costs_.has_cost) facts = cost_text(file.cost) + ", " + hits_text(file.hits);
      if (costs_.has_memory && file.allocated > 0) {
        facts += (facts.empty() ? "" : ", ") + format_bytes(static_cast<double>(file.allocated)) +
                 " allocated";
      }
      if (costs_.has_device && file.device > 0) {
        facts += (facts.empty() ? "" : ", ") + format_duration(static_cast<double>(file.device)) +
                 " on the GPU";
      }
      append_xml_text(out_, facts);
      out_ += "</small></a></li>\n";
    }
    out_ += "</ol>\n</nav>\n";
  }

  double measure(const SourceFile& file) const {
    if (costs_.has_cost) return file.cost;
    return static_cast<double>(costs_.has_memory ? file.allocated : file.device);
  }

  void write_buttons() {
    out_ += "<div class=\"by\">\n";
    const auto button = [&](std::string_view by, std::string_view label, bool pressed) {
      out_ +=
          fmt::format("<button type=\"button\" data-by=\"{}\" aria-pressed=\"{}\">{}</button>\n",
                      by, pressed, label);
    };
    if (costs_.has_cost) {
      button("time", "Time", true);
      button("hits", costs_.hits_are_samples ? "Samples" : "Hits", false);
    }
    if (costs_.has_memory) button("memory", "Memory", !costs_.has_cost);
    if (costs_.has_device) button("device", "GPU", !costs_.has_cost && !costs_.has_memory);
    out_ += "</div>\n<p>";
    std::string about;
    if (costs_.has_cost && costs_.with_calls) {
      about = "The time of a line includes what it called. ";
    } else if (costs_.has_cost && costs_.hits_are_samples) {
      about = "Times are estimated from samples taken in the line itself. ";
    }
    about += "Colours are shares of the dearest line of a file.";
    append_xml_text(out_, about);
    out_ += "</p>\n";
  }

  void write_file(std::size_t index) {
    const SourceFile& file = costs_.files[index];
    double most_cost = 0;
    std::int64_t most_hits = 0;
    std::int64_t most_memory = 0;
    std::int64_t most_device = 0;
    for (const SourceLine& line : file.lines) {
      most_cost = std::max(most_cost, line.cost);
      most_hits = std::max(most_hits, line.hits);
      most_memory = std::max(most_memory, line.allocated);
      most_device = std::max(most_device, line.device);
    }
    const auto share = [](double part, double whole) {
      return whole > 0 ? std::clamp(part / whole, 0.0, 1.0) : 0.0;
    };
    out_ += fmt::format("<section id=\"f{}\">\n<h2>", index);
    append_xml_text(out_, file.file);
    out_ += "</h2>\n";
    const std::vector<std::string> source = read_source(file.file);
    if (source.empty()) {
      ++without_source_;
      out_ += "<p>The source is not on the machine where this page was made.</p>\n";
    }
    out_ += "<table>\n<thead><tr><th>Line</th>";
    if (costs_.has_cost) {
      out_ += costs_.hits_are_samples ? "<th>Samples</th>" : "<th>Hits</th>";
      out_ += costs_.cost.unit == "ns" ? "<th>Time</th>" : "<th>Cost</th>";
      out_ += "<th>Share</th>";
    }
    if (costs_.has_memory) out_ += "<th>Allocated</th><th>At peak</th>";
    if (costs_.has_device) out_ += "<th>GPU</th><th>GPU total</th>";
    out_ += "<th>Source</th></tr></thead>\n<tbody>\n";
    const auto write_line = [&](const SourceLine& line) {
      const auto at = static_cast<std::size_t>(line.line) - 1;
      if (line.hits > 0 || line.cost > 0 || line.allocated > 0 || line.device > 0) {
        out_ += fmt::format(
            "<tr style=\"--t: {:.3f}; --h: {:.3f}; --m: {:.3f}{}\"><td>{}</td>",
            share(line.cost, most_cost),
            share(static_cast<double>(line.hits), static_cast<double>(most_hits)),
            share(static_cast<double>(line.allocated), static_cast<double>(most_memory)),
            costs_.has_device
                ? fmt::format("; --d: {:.3f}", share(static_cast<double>(line.device),
                                                     static_cast<double>(most_device)))
                : std::string(),
            line.line);
      } else {
        out_ += fmt::format("<tr><td>{}</td>", line.line);
      }
      const auto cell = [&](bool there, const std::string& text) {
        out_ += "<td>";
        if (there) append_xml_text(out_, text);
        out_ += "</td>";
      };
      if (costs_.has_cost) {
        cell(line.hits > 0, format_count(line.hits));
        cell(line.cost > 0, cost_text(line.cost));
        cell(line.cost > 0 && costs_.whole > 0, format_percent(100 * line.cost / costs_.whole));
      }
      if (costs_.has_memory) {
        cell(line.allocated > 0, format_bytes(static_cast<double>(line.allocated)));
        cell(line.peak > 0, format_bytes(static_cast<double>(line.peak)));
      }
      if (costs_.has_device) {
        cell(line.device > 0, format_duration(static_cast<double>(line.device)));
        cell(line.device_total > 0, format_duration(static_cast<double>(line.device_total)));
      }
      cell(at < source.size(), at < source.size() ? source[at] : std::string());
      out_ += "</tr>\n";
      output_.settle();
    };
    if (source.empty()) {
      for (const SourceLine& line : file.lines) write_line(line);
    } else {
      auto next = file.lines.begin();
      for (std::size_t i = 0; i < source.size() && !output_.failed(); ++i) {
        const auto number = static_cast<std::int32_t>(i + 1);
        while (next != file.lines.end() && next->line < number) ++next;
        SourceLine nothing;
        nothing.line = number;
        write_line(next != file.lines.end() && next->line == number ? *next : nothing);
      }
    }
    out_ += "</tbody>\n</table>\n</section>\n";
  }

  const ExportInput& input_;
  const SourceCosts& costs_;
  BufferedOutput& output_;
  std::string& out_;
  ExportNotes& notes_;
  std::size_t without_source_ = 0;
};

}  // namespace

Result<ExportNotes> write_heatmap(const ExportInput& input, BufferedOutput& out) {
  const SourceCosts costs = source_costs(input.trace, input.weight);
  if (costs.files.empty()) {
    return Error{ErrorCode::Unsupported,
                 "the trace knows nothing of lines of source",
                 {},
                 {},
                 "record a run with 'sonde run --python line'"};
  }
  ExportNotes notes;
  PageWriter(input, costs, out, notes).write();
  return notes;
}

}  // namespace sonde
