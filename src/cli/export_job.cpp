#include "cli/export_job.hpp"

#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstdio>
#include <cstring>
#include <filesystem>
#include <map>

#include "base/spelling.hpp"
#include "cli/command.hpp"
#include "cli/output.hpp"
#include "cli/output_file.hpp"
#include "cli/progress.hpp"
#include "cli/reading.hpp"
#include "cli/usage.hpp"
#include "import/piece.hpp"
#include "report/registry.hpp"
#include "trace/selection.hpp"

namespace sonde {
namespace {

// Reads one file after the other and keeps of each what the cut takes.
Result<TraceSet> read_pieces(const ExportJob& job) {
  Progress progress;
  LoadOptions options;
  options.progress = [&progress](const LoadProgress& state) { progress.update(state); };
  TraceSet pieces;
  std::vector<Error> skipped;
  std::string ranks;
  std::string processes;
  for (const std::string& path : job.paths) {
    Result<std::vector<TraceFile>> files = find_trace_files(path);
    if (!files) {
      skipped.push_back(files.error());
      continue;
    }
    for (TraceFile& file : *files) {
      bool has_none = false;  // of what is asked for
      ChooseFilter choose;
      if (job.cut.picks()) {
        choose = [&](const std::vector<Selection::Step>& steps) {
          Result<TraceFilter> filter = job.cut.filter(steps);
          has_none = !filter;
          if (filter) return filter;
          Error error = filter.error();
          error.path = file.path == "-" ? "standard input" : file.path;
          if (error.code == ErrorCode::UsageError) error.code = ErrorCode::NoTraces;
          return Result<TraceFilter>(error);
        };
      }
      const auto of_rank = [&](const TraceMeta& meta) {
        return job.cut.rank == CutOptions::kAnyRank || meta.rank == job.cut.rank;
      };
      Result<Piece> piece = load_piece(file.path, choose, options, of_rank);
      if (!piece && has_none) {
        progress.finish();
        return piece.error();
      }
      if (!piece) {
        skipped.push_back(piece.error());
        continue;
      }
      if (!piece->wanted) {
        const std::int64_t rank = piece->trace.meta().rank;
        if (rank >= 0) ranks += (ranks.empty() ? "" : ", ") + std::to_string(rank);
        continue;
      }
      if (!job.cut.process.empty() && !is_process(piece->trace, file.worker, job.cut.process)) {
        processes += (processes.empty() ? "" : ", ") + file.worker;
        continue;
      }
      pieces.push_back({file.run, file.worker, file.path, std::move(piece->trace)});
    }
  }
  progress.finish();
  if (pieces.empty() && !skipped.empty() && ranks.empty() && processes.empty()) {
    return skipped.front();
  }
  if (pieces.empty() && !processes.empty()) {
    return Error{ErrorCode::NoTraces,
                 "no process '" + job.cut.process + "'",
                 job.paths.empty() ? std::string() : job.paths.front(),
                 {},
                 "there are " + processes};
  }
  if (pieces.empty()) {
    return Error{ErrorCode::NoTraces,
                 "no trace of rank " + std::to_string(job.cut.rank),
                 job.paths.empty() ? std::string() : job.paths.front(),
                 {},
                 ranks.empty() ? "no trace tells its rank" : "there are ranks " + ranks};
  }
  for (const Error& error : skipped) print_warning("left out " + error.text());
  return pieces;
}

// What stands in front of the names of processes: nothing where no two traces share one.
std::vector<std::string> labels_of(const TraceSet& traces) {
  std::map<std::pair<std::int64_t, std::string_view>, std::size_t> owners;
  bool shared = false;
  for (std::size_t i = 0; i < traces.size(); ++i) {
    for (const Track& track : traces[i].trace.tracks()) {
      const auto key = std::pair(track.pid, traces[i].trace.text(track.process));
      shared = shared || owners.try_emplace(key, i).first->second != i;
    }
  }
  std::vector<std::string> labels(traces.size());
  for (std::size_t i = 0; shared && i < traces.size(); ++i) {
    const std::int64_t rank = traces[i].trace.meta().rank;
    labels[i] = rank >= 0 ? "rank " + std::to_string(rank) : traces[i].worker;
  }
  return labels;
}

// A view's table instead of the trace itself.
int write_view(const ExportJob& job, const std::string& command, const std::string& format) {
  ReportRequest request;
  request.view = job.view;
  request.format = format;
  const Result<const ReportView*> view = find_view(request);
  if (!view) return report_failure(view.error(), command);
  const Result<TraceSet> traces = read_pieces(job);
  if (!traces) return report_failure(traces.error(), command);
  const Result<std::string> text = (*view)->render(*traces, request);
  if (!text) return report_failure(text.error(), command);
  if (format == "csv") warn_of_losses(*traces);
  return write_output(*text, job.output);
}

bool is_bare(const NamedTrace& named) {
  const Trace& trace = named.trace;
  return trace.slice_count() == 0 && trace.markers().empty() && trace.counters().empty() &&
         trace.allocations().empty() && trace.samples().empty() && trace.call_profile().empty() &&
         trace.process_memory().empty();
}

// What a format of stacks cannot have, of what there is.
std::string beyond_stacks(const Trace& trace) {
  std::string list;
  const auto add = [&](bool there, const char* what) {
    if (there) list += (list.empty() ? "" : ", ") + std::string(what);
  };
  add(trace.slice_count() > 0, "times");
  add(!trace.arguments().empty() || !trace.shared_arguments().empty() || !trace.operators().empty(),
      "arguments");
  add(!trace.counters().empty(), "counters");
  add(!trace.markers().empty(), "markers");
  add(trace.flows().size() + trace.launch_to_device().size() > 0, "arrows");
  return list.empty() ? list : "only stacks are written, no " + list;
}

std::optional<Error> copy_file(const std::string& path, ByteSink& sink) {
  std::FILE* file = std::fopen(path.c_str(), "rbe");
  if (file == nullptr) return Error{ErrorCode::IoError, std::strerror(errno), path, {}, {}};
  std::string part(1 << 20, '\0');
  std::optional<Error> error;
  while (!error) {
    const std::size_t got = std::fread(part.data(), 1, part.size(), file);
    if (got == 0) break;
    error = sink.write({part.data(), got});
  }
  std::fclose(file);
  return error ? error : sink.finish();
}

// A database that is packed goes through a file of its own, which is gone afterwards.
Result<ExportNotes> write_packed_file(const Exporter& exporter, const ExportInput& input,
                                      Packing packing, ByteSink& sink, const std::string& beside) {
  const Result<std::unique_ptr<OutputFile>> database = OutputFile::open(beside);
  if (!database) return database.error();
  Result<ExportNotes> notes = exporter.write_file(input, (*database)->scratch());
  std::optional<Error> error;
  if (notes) error = copy_file((*database)->scratch(), *make_packer(packing, sink));
  if (error) return *error;
  return notes;
}

Result<ExportNotes> write_trace(const NamedFormat& format, const ExportInput& input,
                                OutputFile& output, bool& reader_left) {
  FileSink file(output.file(), output.shown());
  const Exporter& exporter = *format.exporter;
  Result<ExportNotes> notes = ExportNotes{};
  if (exporter.write_file != nullptr && format.packing == Packing::None) {
    notes = exporter.write_file(input, output.scratch());
    if (!notes) {
      Error error = notes.error();
      if (error.path == output.scratch()) error.path = output.shown();
      return error;
    }
  } else if (exporter.write_file != nullptr) {
    notes = write_packed_file(exporter, input, format.packing, file, output.scratch());
  } else {
    const std::unique_ptr<ByteSink> packer = make_packer(format.packing, file);
    BufferedOutput out(*packer);
    notes = exporter.write(input, out);
    if (!notes) return notes;
    if (std::optional<Error> error = out.finish()) {
      reader_left = file.reader_left();
      return *error;
    }
  }
  return notes;
}

}  // namespace

std::vector<std::string> exporter_names() {
  std::vector<std::string> names;
  for (const Exporter& exporter : exporters()) names.emplace_back(exporter.name);
  return names;
}

std::string exporters_text() {
  std::string out;
  for (const Exporter& exporter : exporters()) {
    if (!out.empty()) out += "\n\n";
    out += std::string(exporter.name) + ": " + std::string(exporter.description) + ". Files:";
    for (const std::string_view ending : exporter.endings) out += " *" + std::string(ending);
    if (exporter.name == "callgrind") out += " callgrind.out.*";
  }
  return out;
}

void ExportJob::define_output(Options& options) {
  Option& option = options.text(output, "-o,--output", "FILE",
                                "write to this file; .gz or .zst behind its name packs it");
  option.hint = ValueHint::File;
  option.default_text = "standard output";
}

void ExportJob::define_format(Options& options, const std::string& flags) {
  Option& option = options.text(format, flags, "FORMAT", "what to write");
  option.choices = exporter_names();
  option.only_choices = true;
  option.default_text = "as the name of the output says";
}

void ExportJob::define_looks(Options& options) {
  Option& weights = options.text(weight, "--weight", "WEIGHT",
                                 "what stacks are weighed by: time, memory, samples, or a type of "
                                 "samples of the file: wall, cpu, gil and idle of a Python run, "
                                 "alloc_space, inuse_space and peak_space of its memory");
  weights.choices = {"time", "memory", "samples", "wall", "cpu", "gil", "idle"};
  weights.default_text = "the best that the trace has";
  Option& pixels = options.integer(width, "--width", "PIXELS", "how wide a flame graph is");
  pixels.lowest = 200;
  pixels.highest = 20'000;
  pixels.default_text = "1200";
}

Result<NamedFormat> ExportJob::find_format() const {
  const NamedFormat by_name = format_of_name(output);
  if (!format.empty()) {
    const Exporter* exporter = find_exporter(format);
    if (exporter == nullptr) return usage_error(unknown_word("format", format, exporter_names()));
    Packing packing = Packing::None;
    // A profile of pprof is packed in itself, whatever its name.
    if (format != "pprof" && output.ends_with(".gz")) packing = Packing::Gzip;
    if (output.ends_with(".zst")) packing = Packing::Zstd;
    return NamedFormat{exporter, packing};
  }
  if (by_name.exporter != nullptr) return by_name;
  if (is_standard_output(output))
    return usage_error("say what to write: --to FORMAT, or a name with -o");
  std::string known;
  for (const Exporter& exporter : exporters())
    known += (known.empty() ? "" : ", ") + std::string(exporter.endings.front());
  return usage_error("'" + output + "' does not tell a format; known are " + known);
}

int ExportJob::run(const std::string& command) {
  const Result<NamedFormat> found = find_format();
  if (!found) return report_failure(found.error(), command);
  const Exporter& exporter = *found->exporter;
  if (const Result<bool> good = cut.check(); !good) return report_failure(good.error(), command);
  const bool table = exporter.name == "csv" || exporter.name == "json";
  if (!view.empty() && !table)
    return report_failure(usage_error("--view is for the formats csv and json"), command);
  if (!weight.empty() && !exporter.stacks)
    return report_failure(usage_error("--weight is for formats of stacks, not for '" +
                                      std::string(exporter.name) + "'"),
                          command);
  if (!view.empty()) {
    if (found->packing != Packing::None)
      return report_failure(usage_error("a report is not packed; leave out .gz or .zst"), command);
    return write_view(*this, command, std::string(exporter.name));
  }
  const bool terminal = is_standard_output(output) && ::isatty(STDOUT_FILENO) == 1;
  if (terminal && (exporter.binary || found->packing != Packing::None))
    return report_failure(usage_error("format '" + std::string(exporter.name) +
                                      "' is binary; give it a file with -o FILE"),
                          command);
  if (exporter.write_file != nullptr && is_standard_output(output))
    return report_failure(
        usage_error("format '" + std::string(exporter.name) + "' needs a file: -o FILE"), command);

  Result<TraceSet> traces = read_pieces(*this);
  if (!traces) return report_failure(traces.error(), command);
  warn_of_losses(*traces);
  if (cut.picks() && std::all_of(traces->begin(), traces->end(), is_bare)) {
    print_warning(
        "nothing lies in the piece that was asked for; 'sonde info' tells how long a trace is and "
        "what it holds");
  }
  std::optional<Trace> merged;
  if (traces->size() > 1) {
    std::vector<const Trace*> parts;
    for (const NamedTrace& trace : *traces) parts.push_back(&trace.trace);
    merged = merge_traces(parts, labels_of(*traces));
  }
  const std::string title = traces->size() > 1
                                ? std::filesystem::path(paths.front()).filename().string()
                                : traces->front().worker;
  const ExportInput input{merged ? *merged : traces->front().trace, title, weight, width};

  Result<std::unique_ptr<OutputFile>> file = OutputFile::open(output);
  if (!file) return report_failure(file.error(), command);
  if (exporter.write_file != nullptr && (*file)->scratch().empty())
    return report_failure(
        usage_error("format '" + std::string(exporter.name) + "' needs an ordinary file"), command);
  bool reader_left = false;
  Result<ExportNotes> notes = write_trace(*found, input, **file, reader_left);
  if (!notes) {
    if (reader_left && is_standard_output(output)) return kExitOk;
    return report_failure(notes.error(), command);
  }
  if (std::optional<Error> error = (*file)->commit()) return report_failure(*error, command);
  const std::string lacking = beyond_stacks(input.trace);
  if (exporter.stacks && exporter.name != "speedscope" && exporter.name != "heatmap" &&
      !lacking.empty())
    notes->push_back(lacking);
  if (!notes->empty()) {
    std::string line(exporter.name);
    for (std::size_t i = 0; i < notes->size(); ++i) line += (i ? "; " : ": ") + (*notes)[i];
    print_note(line);
  }
  return kExitOk;
}

}  // namespace sonde
