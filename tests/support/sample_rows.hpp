#pragma once

#include <cstring>
#include <filesystem>
#include <map>
#include <string>
#include <vector>

#include "tests/support/files.hpp"
#include "trace/tables/format.hpp"

namespace sonde::test {

// The samples of a .tables file, read plainly.
struct SampleRows {
  struct Frame {
    std::string name;
    std::string file;
    int line = 0;
    bool native = false;
  };
  struct Sample {
    tables::SampleRow row{};
    std::vector<Frame> frames;  // innermost first
  };

  std::map<std::string, std::string> properties;
  std::map<std::uint32_t, std::string> threads;
  std::vector<Sample> samples;
  std::uint32_t pid = 0;
  bool clean_end = false;

  explicit SampleRows(const std::filesystem::path& path) {
    const std::string bytes = read_bytes(path);
    tables::FileHeader header{};
    if (bytes.size() < sizeof header) return;
    std::memcpy(&header, bytes.data(), sizeof header);
    pid = header.pid;
    clean_end = header.clean_end == 1;
    std::map<std::uint32_t, std::string> texts;
    std::map<std::uint32_t, tables::CodeRow> codes;
    std::map<std::uint32_t, tables::FrameRow> frames;
    std::vector<tables::PropertyRow> property_rows;
    std::vector<tables::ThreadRow> thread_rows;
    std::vector<tables::SampleRow> sample_rows;
    for (std::uint64_t i = 1; i <= header.blocks; ++i) {
      const std::size_t start = i * tables::kBlockBytes;
      tables::BlockHeader block{};
      if (start + tables::kBlockBytes > bytes.size()) break;
      std::memcpy(&block, bytes.data() + start, sizeof block);
      if (block.magic != tables::kBlockMagic) continue;
      const char* at = bytes.data() + start + sizeof block;
      const auto each = [&](auto row, auto use) {
        for (std::uint32_t k = 0; k < block.rows; ++k) {
          std::memcpy(&row, at + k * block.row_bytes, sizeof row);
          use(row);
        }
      };
      switch (block.table) {
        case tables::Table::Text:
          for (std::size_t used = 0; used < block.rows;) {
            tables::TextEntry entry{};
            std::memcpy(&entry, at + used, sizeof entry);
            texts[entry.id] = std::string(at + used + sizeof entry, entry.size);
            used += sizeof entry + (entry.size + 7) / 8 * 8;
          }
          break;
        case tables::Table::Property:
          each(tables::PropertyRow{}, [&](const auto& row) { property_rows.push_back(row); });
          break;
        case tables::Table::Thread:
          each(tables::ThreadRow{}, [&](const auto& row) { thread_rows.push_back(row); });
          break;
        case tables::Table::Code:
          each(tables::CodeRow{}, [&](const auto& row) { codes[row.id] = row; });
          break;
        case tables::Table::Frame:
          each(tables::FrameRow{}, [&](const auto& row) { frames[row.id] = row; });
          break;
        case tables::Table::Sample:
          each(tables::SampleRow{}, [&](const auto& row) { sample_rows.push_back(row); });
          break;
        default:
          break;
      }
    }
    for (const auto& row : property_rows) properties[texts[row.key]] = texts[row.value];
    for (const auto& row : thread_rows) threads[row.thread] = texts[row.name];
    for (const auto& row : sample_rows) {
      Sample sample;
      sample.row = row;
      for (std::uint32_t frame = row.frame; frame != 0; frame = frames[frame].caller) {
        const tables::CodeRow& code = codes[frames[frame].code];
        sample.frames.push_back({texts[code.name], texts[code.file], frames[frame].line,
                                 (code.flags & tables::kNativeFrame) != 0});
      }
      samples.push_back(std::move(sample));
    }
  }

  // Wall time of samples with this function anywhere in the stack, ns.
  double wall_in(const std::string& name) const {
    double out = 0;
    for (const Sample& sample : samples) {
      for (const Frame& frame : sample.frames) {
        if (frame.name != name) continue;
        out += static_cast<double>(sample.row.wall_ns);
        break;
      }
    }
    return out;
  }
};

}  // namespace sonde::test
