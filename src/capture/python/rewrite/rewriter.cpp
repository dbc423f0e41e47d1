#include "capture/python/rewrite/rewriter.hpp"

#if PY_VERSION_HEX >= 0x030B0000 && PY_VERSION_HEX < 0x030C0000

#define Py_BUILD_CORE 1
#include <internal/pycore_code.h>
#undef Py_BUILD_CORE

#include "capture/python/line_probe.hpp"
#include "capture/python/rewrite/assembler.hpp"

namespace sonde::python {
namespace {

constexpr int kMaxLines = 1 << 20;

// The constants, and one probe for each line that has any behind them. nullptr without memory.
PyObject* constants_with_probes(PyCodeObject* code, LineTable& table, const CodeBody& body,
                                const LineEdges& edges, ProbeConstants& probes) {
  int first = -1;
  int last = -1;
  for (int i = 0; i < body.instructions.count(); ++i) {
    if (!edges.edges[i].probe) continue;
    const int line = body.instructions[i].location.line;
    first = first < 0 || line < first ? line : first;
    last = line > last ? line : last;
  }
  if (last - first >= kMaxLines) return nullptr;
  probes.first_line = first;
  probes.index.fill(static_cast<std::size_t>(last - first) + 1, -1);
  Buffer<int> lines;
  if (probes.index.failed()) return nullptr;
  const Py_ssize_t own = PyTuple_GET_SIZE(code->co_consts);
  for (int i = 0; i < body.instructions.count(); ++i) {
    if (!edges.edges[i].probe) continue;
    int& index = probes.index[body.instructions[i].location.line - first];
    if (index >= 0) continue;
    index = static_cast<int>(own) + lines.count();
    lines.push(body.instructions[i].location.line);
  }
  if (lines.failed()) return nullptr;
  PyObject* const constants = PyTuple_New(own + lines.count());
  if (!constants) return nullptr;
  for (Py_ssize_t i = 0; i < own; ++i) {
    PyObject* const constant = PyTuple_GET_ITEM(code->co_consts, i);
    Py_INCREF(constant);
    PyTuple_SET_ITEM(constants, i, constant);
  }
  for (int i = 0; i < lines.count(); ++i) {
    PyObject* const probe = new_probe(table, lines[i]);
    if (!probe) {
      Py_DECREF(constants);
      return nullptr;
    }
    PyTuple_SET_ITEM(constants, own + i, probe);
  }
  // Constants are in no cycle: the collector need not look at them, nor count them.
  PyObject_GC_UnTrack(constants);
  return constants;
}

PyObject* bytes_of(const Buffer<unsigned char>& buffer) {
  return PyBytes_FromStringAndSize(reinterpret_cast<const char*>(buffer.data()),
                                   static_cast<Py_ssize_t>(buffer.size()));
}

PyCodeObject* make_copy(PyCodeObject* code, LineTable& table) {
  CodeBody body;
  LineEdges edges;
  ProbeConstants probes;
  Assembly assembly;
  if (!read_code(code, body) || !find_line_edges(code, body, edges)) return nullptr;
  const Reference constants(constants_with_probes(code, table, body, edges, probes));
  if (!constants || !assemble(code, body, edges, probes, assembly)) return nullptr;
  const Reference bytecode(bytes_of(assembly.code));
  const Reference locations(bytes_of(assembly.locations));
  const Reference handlers(bytes_of(assembly.handlers));
  if (!bytecode || !locations || !handlers) return nullptr;
  _PyCodeConstructor parts{};
  parts.filename = code->co_filename;
  parts.name = code->co_name;
  parts.qualname = code->co_qualname;
  parts.flags = code->co_flags;
  parts.code = bytecode.get();
  parts.firstlineno = code->co_firstlineno;
  parts.linetable = locations.get();
  parts.consts = constants.get();
  parts.names = code->co_names;
  parts.localsplusnames = code->co_localsplusnames;
  parts.localspluskinds = code->co_localspluskinds;
  parts.argcount = code->co_argcount;
  parts.posonlyargcount = code->co_posonlyargcount;
  parts.kwonlyargcount = code->co_kwonlyargcount;
  parts.stacksize = code->co_stacksize + edges.more_stack;
  parts.exceptiontable = handlers.get();
  return _PyCode_Validate(&parts) == 0 ? _PyCode_New(&parts) : nullptr;
}

}  // namespace

PyCodeObject* copy_with_probes(PyCodeObject* code, LineTable& table) {
  const KeepError keep;
  PyCodeObject* const copy = make_copy(code, table);
  PyErr_Clear();
  return copy;
}

}  // namespace sonde::python

#endif
