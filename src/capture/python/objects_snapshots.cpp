#include <time.h>

#include <atomic>

#include "capture/python/hash_table.hpp"
#include "capture/python/memory_library.hpp"
#include "capture/python/memory_resident.hpp"
#include "capture/python/module.hpp"
#include "capture/python/objects_walk.hpp"
#include "capture/python/session.hpp"
#include "sonde/sonde.h"

// The objects by type: when asked, at the start, at the end, and when the process's memory has
// passed its last peak by a twentieth.

namespace sonde::python {
namespace {

constexpr std::int64_t kLookNanos = 5'000'000;
constexpr double kHigher = 1.05;
// Snapshots of the peak take no more than a tenth of the time.
constexpr std::int64_t kRest = 10;

// The peak has one snapshot, which is written anew when the peak moves.
struct PeakType {
  std::uint64_t hash;
  std::uint32_t name;  // text
  tables::ObjectTypeRow* row;
};

std::uint32_t snapshots = 0;
std::uint32_t snapshots_generation = 0;
tables::SnapshotRow* peak = nullptr;
std::uint64_t peak_bytes = 0;  // of its objects
HashTable<PeakType> peak_types;
bool keeps_objects = false;

// For look().
std::atomic<bool> asked{false};
std::atomic<std::int64_t> highest{0};
std::atomic<std::int64_t> next_look{0};

std::int64_t now_nanos() {
  timespec time{};
  clock_gettime(CLOCK_MONOTONIC_COARSE, &time);
  return std::int64_t{time.tv_sec} * 1'000'000'000 + time.tv_nsec;
}

void begin_generation() {
  if (snapshots_generation == generation) return;
  snapshots_generation = generation;
  snapshots = 0;
  peak = nullptr;
  peak_bytes = 0;
  peak_types.clear();
}

std::uint32_t text_of(PyObject* text) {
  Py_ssize_t size = 0;
  const char* const bytes = PyUnicode_AsUTF8AndSize(text, &size);
  if (!bytes) PyErr_Clear();
  return bytes ? text_id(bytes, static_cast<std::size_t>(size)) : 0;
}

void add_peak_type(std::uint32_t snapshot, std::uint32_t name, const TypeSum& sum) {
  const std::uint64_t hash = mix(name);
  const PeakType* const known =
      peak_types.find(hash, [&](const PeakType& other) { return other.name == name; });
  if (known) {
    // Two types may have one name.
    known->row->count += sum.count;
    known->row->bytes += sum.bytes;
    return;
  }
  tables::ObjectTypeRow* const row = writer().add(
      tables::Table::ObjectType, tables::ObjectTypeRow{snapshot, name, sum.count, sum.bytes});
  if (row) peak_types.add(hash, {0, name, row});
}

// Adds to the counts of types of the same name.
bool add_to_answer(PyObject* answer, PyObject* name, const TypeSum& sum) {
  std::uint64_t count = sum.count;
  std::uint64_t bytes = sum.bytes;
  PyObject* const known = PyDict_GetItem(answer, name);
  if (known) {
    count += PyLong_AsUnsignedLongLong(PyTuple_GET_ITEM(known, 0));
    bytes += PyLong_AsUnsignedLongLong(PyTuple_GET_ITEM(known, 1));
  }
  const Reference pair(Py_BuildValue("(KK)", static_cast<unsigned long long>(count),
                                     static_cast<unsigned long long>(bytes)));
  return pair && PyDict_SetItem(answer, name, pair.get()) == 0;
}

// Into the tables, and into `answer` where there is one. False where there was no memory.
bool take_snapshot(std::uint32_t label, bool of_peak, PyObject* answer) {
  const OwnMemory own;
  ObjectSums sums;
  if (!sums.walk()) return false;
  begin_generation();
  std::uint64_t bytes = 0;
  for (const TypeSum& sum : sums) bytes += sum.bytes;
  // Memory that was given up between the look and this moment may still be the process's.
  if (of_peak && peak && bytes <= peak_bytes) return true;
  if (of_peak) peak_bytes = bytes;
  std::uint32_t id = 0;
  if (of_peak && peak) {
    id = peak->id;
    peak->time = sonde_ticks();
    peak_types.for_each([](const PeakType& type) { type.row->count = type.row->bytes = 0; });
  } else {
    const tables::SnapshotRow row{++snapshots, label, sonde_ticks()};
    tables::SnapshotRow* const added = writer().add(tables::Table::Snapshot, row);
    id = added ? row.id : 0;
    if (of_peak) peak = added;
  }
  for (const TypeSum& sum : sums) {
    PyObject* text = nullptr;
    if (!ObjectSums::name_of(sum, text)) continue;
    const Reference name(text);
    if (answer && !add_to_answer(answer, text, sum)) return false;
    const std::uint32_t name_id = id ? text_of(text) : 0;
    if (name_id == 0) continue;
    if (of_peak) {
      add_peak_type(id, name_id, sum);
    } else {
      writer().add(tables::Table::ObjectType,
                   tables::ObjectTypeRow{id, name_id, sum.count, sum.bytes});
    }
  }
  return true;
}

// At a moment when the interpreter allows it. No collection: what is garbage now is part of the
// peak, and finalizers run when the program's own collections want them to.
int take_peak(void*) {
  asked.store(false);
  if (!keeps_objects || !session_runs()) return 0;
  const KeepError keep;
  const std::int64_t start = now_nanos();
  take_snapshot(text_id("peak", 4), true, nullptr);
  PyErr_Clear();
  // With what the snapshot itself has left behind.
  highest.store(resident_bytes());
  const std::int64_t end = now_nanos();
  next_look.store(end + kLookNanos + (end - start) * kRest);
  return 0;
}

// Inside of an allocation, on any thread. There is no thread that looks: Python warns programs that
// fork with more than one.
void look() {
  if (asked.load(std::memory_order_relaxed)) return;
  const std::int64_t now = now_nanos();
  if (now < next_look.load(std::memory_order_relaxed)) return;
  const auto limit = static_cast<std::int64_t>(static_cast<double>(highest.load()) * kHigher);
  next_look.store(now + kLookNanos);
  if (resident_bytes() <= limit || asked.exchange(true)) return;
  if (Py_AddPendingCall(take_peak, nullptr) != 0) asked.store(false);
}

bool start_looking() {
  if (!hold_allocators()) return false;
  memory_library()->set_look(look);
  memory_library()->watch(true);
  return true;
}

void stop_looking() {
  memory_library()->set_look(nullptr);
  memory_library()->watch(false);
  release_allocators();
}

void begin_anew_in_child() {
  peak = nullptr;
  peak_types.clear();
  asked.store(false);
  forget_resident_file();
}

void finish_objects() {
  if (!keeps_objects) return;
  keeps_objects = false;
  stop_looking();
  const KeepError keep;
  PyGC_Collect();
  take_snapshot(text_id("end", 3), false, nullptr);
  PyErr_Clear();
}

PyObject* snapshot_objects(PyObject*, PyObject* arguments) {
  PyObject* label = nullptr;
  if (!PyArg_ParseTuple(arguments, "U:snapshot_objects", &label)) return nullptr;
  PyGC_Collect();
  PyObject* const answer = PyDict_New();
  if (!answer) return nullptr;
  const std::uint32_t text = session_runs() ? text_of(label) : 0;
  if (take_snapshot(text, false, answer)) return answer;
  Py_DECREF(answer);
  return PyErr_Occurred() ? nullptr : PyErr_NoMemory();
}

PyObject* start_objects(PyObject*, PyObject*) {
  if (!session_runs()) {
    PyErr_SetString(PyExc_RuntimeError, "sonde: nothing is recorded: call start() first");
    return nullptr;
  }
  if (keeps_objects) Py_RETURN_NONE;
  PyGC_Collect();
  if (!take_snapshot(text_id("start", 5), false, nullptr)) return PyErr_NoMemory();
  if (!start_looking()) {
    PyErr_SetString(PyExc_OSError,
                    "sonde: libsonde_memory.so was not found beside libsonde.so; install it again");
    return nullptr;
  }
  keeps_objects = true;
  highest.store(resident_bytes());
  at_stop(finish_objects);
  at_fork_in_child(begin_anew_in_child);
  Py_RETURN_NONE;
}

PyObject* stop_objects(PyObject*, PyObject*) {
  finish_objects();
  Py_RETURN_NONE;
}

}  // namespace

PyMethodDef object_methods[] = {
    {"snapshot_objects", snapshot_objects, METH_VARARGS,
     "snapshot_objects(label): the objects by type now, as {type: (count, bytes)}; also written to "
     "the recording."},
    {"start_objects", start_objects, METH_NOARGS,
     "Takes a snapshot now (\"start\"), at the peak of the process's memory (\"peak\") and when "
     "the "
     "recording ends (\"end\")."},
    {"stop_objects", stop_objects, METH_NOARGS, "Takes the snapshot \"end\" now, and no more."},
    {nullptr, nullptr, 0, nullptr}};

}  // namespace sonde::python
