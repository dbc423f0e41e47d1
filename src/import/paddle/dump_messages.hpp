#pragma once

#include <string_view>

#include "import/paddle/assembler.hpp"

namespace sonde {

// The messages of Paddle's protobuf dump. Each function hands what it finds to the assembler and
// returns false where the bytes are no such message.
class DumpMessages {
 public:
  explicit DumpMessages(PaddleAssembler& assembler) : assembler_(assembler) {}

  bool read_host_node(std::string_view message, std::uint64_t thread);
  bool read_extra_info(std::string_view message);
  bool read_device(std::string_view message);

  std::uint64_t events() const { return events_; }

 private:
  bool take_times(std::uint64_t start, std::uint64_t end, PaddleSlice& slice);
  void add_host(std::string_view message, std::string_view event, std::uint64_t thread);
  void read_call_node(std::string_view message);
  void read_device_event(std::string_view message);
  void read_memory(std::string_view message);
  void read_supplement(std::string_view message, OperatorRow& row);
  LossLedger& losses() { return assembler_.builder().losses(); }

  PaddleAssembler& assembler_;
  std::uint64_t events_ = 0;
};

}  // namespace sonde
