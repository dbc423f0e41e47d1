#pragma once

#include <cstddef>
#include <cstdint>

#include "capture/cuda/cupti_abi.hpp"
#include "trace/cupti_file.hpp"

// The parts of libsonde_cuda and what they know of each other. The driver loads the library into
// the program (CUDA_INJECTION64_PATH) and calls InitializeInjection() of injection.cpp.
//
// The law of src/capture holds: nothing but the C library and libsonde, no exceptions, no
// allocation but mmap, nothing that prints or ends the process. Whatever fails, the program runs on
// as it would have, and the file says why there is nothing in it.

namespace sonde::capture::cuda {

// What is thought of a CUPTI that was found.
enum class Verdict { Good, TryAnother, GiveUp };

// finder.cpp: CUPTI lies in many places. Tries the candidates one after the other: `use` is called
// with the functions and the path, until it says something else than TryAnother. Whether it said
// Good.
bool find_cupti(Verdict (*use)(const Cupti& functions, const char* path));
bool find_driver(Driver& functions);
bool torch_is_loaded();
// Torch, JAX, TensorFlow, Paddle: whose own profiler would find CUPTI taken.
bool framework_is_loaded();

// store.cpp: the file. All of it may be called from any thread.
int open_store(const char* path, std::uint64_t max_bytes, bool keep_last);  // 0, or an errno
cupti::FileHeader& header();  // a page of nothing until the store is open
bool store_is_open();
// A piece for CUPTI to fill, 8-byte aligned and zero; nullptr where the limit is reached.
std::uint8_t* lend(std::size_t* bytes);
void take_back(std::uint8_t* piece, std::size_t used, std::uint64_t records);
bool belongs_to_store(const std::uint8_t* piece);
// Room for a name entry, in one piece; nullptr where there is none.
char* append_name(std::size_t bytes);
// For the helper thread: makes room ahead of the need.
void prepare_room();
bool room_is_short();
// Bytes of records that CUPTI has returned so far.
std::uint64_t returned_bytes();
void close_store();
// In a forked child: its writes stay its own.
void separate_store();

// names.cpp
// The id of a text that CUPTI shows by its address; 0 where it cannot be kept.
std::uint32_t name_id(const char* text);
// Writes the name of a function once.
void note_function(const Cupti& functions, Domain domain, std::uint32_t function);

// records.cpp: what is done with a full buffer: names are kept, sizes measured. Returns the number
// of records.
std::uint64_t digest(const Cupti& functions, std::uint8_t* buffer, std::size_t used);
// Whether a record of the helper's own call has come since the last question.
bool heard_own_call();

// calls.cpp: whether a function of CUDA, named as CUPTI does, does something that a profile shows.
bool is_worth_a_record(const char* function);

// Whether it has a device do something: kernels, copies, sets, graphs.
bool launches_work(const char* function);

// places.cpp: where in the program calls are made, by CUPTI's callbacks. CUPTI has room for one
// subscriber: it is kept only where an agent can tell places, and where no tool in the program is
// to be expected.
bool places_wanted();
bool holds_places();
void keep_places(const Cupti& functions, Subscriber subscriber);
void drop_places();
void on_callback(void* user, std::uint32_t domain, std::uint32_t function, const void* data);

// activity.cpp: CUPTI's side.
Verdict begin_collecting(const Cupti& functions, const char* path);
void resume_collecting();
void stop_collecting();
// Whether calls of the helper's own are recorded at all.
bool hears_own_calls();
void flush(bool forced);
// Takes the subscription for places, or gives it back, as it is wanted now.
void renew_places();
// True, and its name in the header, where another tool is subscribed.
bool other_tool_present();

// helper.cpp: the recorder's own thread.
bool start_helper();
void wake_helper();
void stop_helper();
// Another tool is about to use CUPTI, and says so; and it has done with it.
void yield_to(const char* tool);
void take_over_again();

// devices.cpp: false while the driver is not ready to tell.
bool note_devices(const Driver& functions);

void set_reason(const char* text);

}  // namespace sonde::capture::cuda
