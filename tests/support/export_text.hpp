#pragma once

#include <gtest/gtest.h>

#include <string>

#include "export/exporter.hpp"

namespace sonde::test {

struct Exported {
  std::string text;
  ExportNotes notes;
  std::string error;  // empty where all went well
};

// What an exporter writes, in memory.
inline Exported export_text(std::string_view format, const Trace& trace, std::string weight = {},
                            std::string title = "test") {
  const Exporter* exporter = find_exporter(format);
  Exported out;
  if (exporter == nullptr || exporter->write == nullptr) {
    ADD_FAILURE() << "no exporter " << format;
    return out;
  }
  StringSink sink;
  BufferedOutput output(sink);
  Result<ExportNotes> notes =
      exporter->write({trace, std::move(title), std::move(weight), 1200}, output);
  if (!notes) {
    out.error = notes.error().text();
    return out;
  }
  if (const std::optional<Error> error = output.finish()) out.error = error->text();
  out.notes = *notes;
  out.text = sink.text();
  return out;
}

}  // namespace sonde::test
