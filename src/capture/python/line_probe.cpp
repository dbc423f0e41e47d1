#include "capture/python/line_probe.hpp"

#if PY_VERSION_HEX >= 0x030B0000 && PY_VERSION_HEX < 0x030C0000

#include "capture/python/session.hpp"
#include "capture/python/trace_hook.hpp"

namespace sonde::python {
namespace {

struct Probe {
  PyObject_HEAD LineTable* table;
  tables::LineRow* row;  // nullptr: not recorded
  std::int32_t line;
  std::uint32_t epoch;  // that the row was looked up in
};

constexpr std::uint32_t kNever = ~std::uint32_t{0};

// Another number for each recording; rows of another one are void.
std::uint32_t epoch = 0;
std::uint32_t latest_epoch = 0;

PyTypeObject probe_type{};
PyNumberMethods as_number{};
PySequenceMethods as_sequence{};

void drop_probe(PyObject* object) {
  release_table(reinterpret_cast<Probe*>(object)->table);
  PyObject_Free(object);
}

void find_row(Probe& probe) {
  const KeepError keep;
  probe.row = is_recorded(*probe.table) ? line_row(*probe.table, probe.line) : nullptr;
  probe.epoch = epoch;
}

// The frame has no activation on top: it was at work before the recording, or frames did not end in
// their order. Or it is traced without need.
__attribute__((noinline)) LineActivation* own_activation(LineThread& thread, LineTable& table) {
  PyThreadState* const state = PyThreadState_Get();
  const void* const frame = state->cframe->current_frame;
  quiet_thread(state);
  if (LineActivation* const found = find_activation(thread, frame, sonde_ticks())) {
    found->table = &table;
    return found;
  }
  return push_frame(thread, frame, table) ? thread.top : nullptr;
}

void count(tables::LineRow& row, LineActivation& activation) {
  ++row.hits;
  // The same line once more: its time goes on.
  if (activation.row == &row) return;
  const std::uint64_t now = sonde_ticks();
  if (activation.row) activation.row->ticks += now - activation.start;
  activation.row = &row;
  activation.start = now;
}

// A probe that has not run in this recording, or a frame that is not the one on top.
__attribute__((noinline)) int record_anew(Probe& probe) {
  LineThread* const thread = epoch != 0 ? line_thread() : nullptr;
  if (!thread) return 1;
  if (probe.epoch != epoch) find_row(probe);
  if (!probe.row) {
    probe.epoch = kNever;  // comes here again: what is recorded may be chosen anew
    return 1;
  }
  LineActivation* activation = thread->top;
  if (activation->table != probe.table) activation = own_activation(*thread, *probe.table);
  if (activation) count(*probe.row, *activation);
  return 1;
}

// At each line of recorded code: nothing here saves a register, or asks what the epoch tells.
int record(PyObject* object) {
  Probe& probe = *reinterpret_cast<Probe*>(object);
  LineThread* const thread = own_line_thread;
  if (__builtin_expect(probe.epoch != epoch || !thread, 0)) return record_anew(probe);
  LineActivation& activation = *thread->top;
  if (__builtin_expect(activation.table != probe.table, 0)) return record_anew(probe);
  count(*probe.row, activation);
  return 1;
}

// At the beginning of a handler: `place` is where the exception was raised, or raised first. As
// maybe_call_line_trace() of the interpreter decides.
int record_after(PyObject* object, PyObject* place) {
  const _PyInterpreterFrame* const frame = PyThreadState_Get()->cframe->current_frame;
  const long unit = PyLong_AsLong(place);
  const bool is_new_line =
      unit <= frame->f_code->_co_firsttraceable ||
      PyCode_Addr2Line(frame->f_code, static_cast<int>(unit * sizeof(_Py_CODEUNIT))) !=
          reinterpret_cast<Probe*>(object)->line;
  if (is_new_line || _PyInterpreterFrame_LASTI(frame) < unit) record(object);
  return 1;
}

void begin_anew_in_child() {
  if (epoch != 0) epoch = ++latest_epoch;
}

}  // namespace

bool prepare_probes() {
  as_number.nb_bool = record;
  as_sequence.sq_contains = record_after;
  probe_type.tp_as_number = &as_number;
  probe_type.tp_as_sequence = &as_sequence;
  if (!ready_type(probe_type, "sonde._agent.LineProbe", sizeof(Probe), drop_probe)) return false;
  at_fork_in_child(begin_anew_in_child);
  return true;
}

PyObject* new_probe(LineTable& table, std::int32_t line) {
  Probe* const probe = PyObject_New(Probe, &probe_type);
  if (!probe) return nullptr;
  probe->table = &table;
  ++table.references;
  probe->row = nullptr;
  probe->line = line;
  probe->epoch = kNever;
  return reinterpret_cast<PyObject*>(probe);
}

bool is_probe(PyObject* object) { return Py_TYPE(object) == &probe_type; }

void turn_probes_on() { epoch = ++latest_epoch; }
void turn_probes_off() { epoch = 0; }

}  // namespace sonde::python

#endif
