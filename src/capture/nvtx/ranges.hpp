#pragma once

#include <cstddef>
#include <cstdint>

#include "capture/nvtx/nvtx_abi.hpp"
#include "capture/nvtx/payload_abi.hpp"
#include "sonde/sonde.h"

// What the handlers of libsonde_nvtx do. The law of src/capture holds here as well.

namespace sonde::capture::nvtx {

// A domain of the program; nullptr in NVTX's calls stands for the default one.
struct Domain {
  sonde_domain domain;
  std::uint32_t number;
};

// A registered string.
struct Text {
  std::uint32_t name;
  char text[1];
};

// text.cpp: memory that stays, from mmap; nullptr where there is none.
void* keep(std::size_t bytes);
// UTF-8 of a wide text into `out`, cut where it is too long.
void narrow(const wchar_t* wide, char* out, std::size_t size);
inline constexpr std::size_t kLongestText = 4096;

// domains.cpp
Domain* default_domain();
Domain* make_domain(const char* name);
Text* register_text(const char* text);
void name_category(const Domain& domain, std::uint32_t category, const char* name);
// nullptr where it has none.
const char* category_name(const Domain& domain, std::uint32_t category);

// What an event says of itself. `name` is the id of its text.
struct Event {
  std::uint32_t name;
  std::uint32_t category;
  std::uint32_t color;
  bool has_color;
  PayloadType payload_type;
  std::uint64_t payload;
  // What its extended payloads say; nullptr: nothing. Valid during the call.
  const sonde_arguments* extended;
};
// `extended`: room for the arguments of its payloads.
Event read_event(const Domain& domain, const EventAttributes* attributes,
                 sonde_arguments* extended);
// The event of a list of payloads without attributes.
Event read_payloads(const Domain& domain, const PayloadData* payloads, std::size_t count,
                    sonde_arguments* extended);
Event named(const char* text);
Event named(const wchar_t* text);

// ranges.cpp
int push(Domain* domain, const Event& event);
int pop(const Domain* domain);
int pop_with(const Domain* domain, const PayloadData* payloads, std::size_t count);
std::uint64_t start(Domain* domain, const Event& event);
void end(std::uint64_t range);
void end_with(const Domain* domain, std::uint64_t range, const PayloadData* payloads,
              std::size_t count);
void mark(Domain* domain, const Event& event);
// The ranges that the exiting thread, and the program, left open.
void close_open_ranges();

}  // namespace sonde::capture::nvtx
