#pragma once

#include <cstddef>
#include <cstdint>

#include "trace/tables/writer.hpp"

namespace sonde::python {

// The recording of this process: the recorder's file and the tables beside it.
//
// Law of this folder: nothing but the C library, the recorder and the interpreter that loads it; no
// exceptions. Everything is called with the interpreter's lock held, unless it says otherwise.

// What everything that was written belongs to. Another number after each start, and in a forked
// child: numbers of texts, codes and frames that were given out before are void then.
extern std::uint32_t generation;

// Begins to record; nothing where it records already. `folder` nullptr: where SONDE_RUN_DIR says.
// nullptr, or what went wrong, for the user.
const char* start_session(const char* folder);
void stop_session();
bool session_runs();

// Tables alone, beside a recording that somebody else began and ends. Nothing where there are some;
// a session that is started later goes on with them. nullptr, or what went wrong.
const char* start_tables();
void stop_tables();

// Where rows go. In a forked child this makes its files, at the first use. Not open (rows are
// nullptr then) where nothing records. Needs no interpreter lock.
tables::Writer& writer();

// What is to be said of the recording. Later ones of the same key replace earlier ones.
void add_property(const char* key, const char* value);
// As above, and of those of forked children as well. The texts stay where they are.
void add_inherited_property(const char* key, const char* value);

// The number of a text, the same for the same text; 0 where there is no room. Needs no interpreter
// lock.
std::uint32_t text_id(const char* text, std::size_t size);

// Called in a forked child, where only the calling thread is left, with void numbers: drop what
// belongs to the parent. It may not use the interpreter.
using ForkHandler = void (*)();
void at_fork_in_child(ForkHandler handler);

}  // namespace sonde::python
