#include "capture/python/codes.hpp"

#include <pthread.h>
#include <string.h>

#include "capture/python/hash_table.hpp"
#include "capture/python/line_table.hpp"
#include "capture/python/session.hpp"

namespace sonde::python {

Py_ssize_t code_slot = -1;

namespace {

// A builtin's definition. Extensions make and free definitions as they like: a new one at an old
// address has another name or function.
struct Native {
  std::uint64_t hash;
  PyMethodDef* definition;
  const char* name;
  PyCFunction function;
  char* text;
  std::uint32_t id;
};

// Code that is compiled again and again, at the same place from the same text, is one code.
struct KnownCode {
  std::uint64_t hash;
  tables::CodeRow row;
  Py_hash_t bytecode;
};

struct Frame {
  std::uint64_t hash;
  std::uint32_t caller;
  std::uint32_t code;
  std::int32_t line;
  std::uint32_t id;
};

HashTable<Native> natives;
HashTable<KnownCode> codes;
HashTable<Frame> frames;
std::uint32_t frame_count = 0;
std::uint32_t code_count = 0;
std::uint32_t known_generation = 0;
pthread_mutex_t frame_lock = PTHREAD_MUTEX_INITIALIZER;

int set_extra(PyObject* code, void* value) {
#if PY_VERSION_HEX >= 0x030C0000
  return PyUnstable_Code_SetExtra(code, code_slot, value);
#else
  return _PyCode_SetExtra(code, code_slot, value);
#endif
}

// What was given out for an earlier recording is void.
void begin_generation() {
  if (known_generation == generation) return;
  natives.for_each([](const Native& native) { free(native.text); });
  natives.clear();
  codes.clear();
  code_count = 0;
  known_generation = generation;
}

void begin_frames_in_child() {
  frame_lock = PTHREAD_MUTEX_INITIALIZER;
  frames.clear();
  frame_count = 0;
}

// Surrogates and what else has no UTF-8 become question marks.
std::uint32_t text_of(PyObject* object) {
  if (!object || !PyUnicode_Check(object)) return 0;
  Py_ssize_t size = 0;
  if (const char* const text = PyUnicode_AsUTF8AndSize(object, &size)) {
    return text_id(text, static_cast<std::size_t>(size));
  }
  PyErr_Clear();
  const Reference bytes(PyUnicode_AsEncodedString(object, "utf-8", "replace"));
  if (!bytes) {
    PyErr_Clear();
    return 0;
  }
  return text_id(PyBytes_AS_STRING(bytes.get()),
                 static_cast<std::size_t>(PyBytes_GET_SIZE(bytes.get())));
}

std::uint32_t flags_of(const PyCodeObject* code) {
  std::uint32_t flags = 0;
  if (code->co_flags & CO_GENERATOR) flags |= tables::kGenerator;
  if (code->co_flags & CO_COROUTINE) flags |= tables::kCoroutine;
  if (code->co_flags & CO_ASYNC_GENERATOR) flags |= tables::kAsyncGenerator;
  return flags;
}

Py_hash_t bytecode_hash(PyCodeObject* code) {
#if PY_VERSION_HEX >= 0x030B0000
  const Reference bytes(PyCode_GetCode(code));
  const Py_hash_t hash = bytes ? PyObject_Hash(bytes.get()) : -1;
#else
  const Py_hash_t hash = PyObject_Hash(code->co_code);
#endif
  if (hash == -1) PyErr_Clear();
  return hash;
}

// The number of the row, which is added where it is new; 0 where there is no room.
std::uint32_t add_code(tables::CodeRow row, Py_hash_t bytecode) {
  const std::uint64_t hash =
      mix(mix(std::uint64_t{row.name} << 32 | row.file) ^
          static_cast<std::uint32_t>(row.first_line) ^ static_cast<std::uint64_t>(bytecode));
  const KnownCode* const known = codes.find(hash, [&](const KnownCode& other) {
    return other.bytecode == bytecode && other.row.name == row.name &&
           other.row.qualified_name == row.qualified_name && other.row.file == row.file &&
           other.row.first_line == row.first_line && other.row.flags == row.flags;
  });
  if (known) return known->row.id;
  row.id = ++code_count;
  if (!writer().add(tables::Table::Code, row)) return 0;
  codes.add(hash, {0, row, bytecode});
  return row.id;
}

// cProfile's name of a builtin: the representation of the method as its type has it.
PyObject* native_name(PyMethodDef* definition, PyObject* self, PyObject* module) {
  if (!self) {
    if (module && PyUnicode_Check(module)) {
      if (!PyUnicode_CompareWithASCIIString(module, "builtins")) module = nullptr;
      if (module) return PyUnicode_FromFormat("<%U.%s>", module, definition->ml_name);
    } else if (module && PyModule_Check(module)) {
      const Reference owner(PyModule_GetNameObject(module));
      if (!owner) PyErr_Clear();
      if (owner && PyUnicode_CompareWithASCIIString(owner.get(), "builtins")) {
        return PyUnicode_FromFormat("<%U.%s>", owner.get(), definition->ml_name);
      }
    }
    return PyUnicode_FromFormat("<%s>", definition->ml_name);
  }
  const Reference name(PyUnicode_FromString(definition->ml_name));
  if (name) {
    PyObject* const method = _PyType_Lookup(Py_TYPE(self), name.get());
    if (method) {
      Py_INCREF(method);
      PyObject* const text = PyObject_Repr(method);
      Py_DECREF(method);
      if (text) return text;
    }
  }
  PyErr_Clear();
  if (module && PyUnicode_Check(module)) {
    return PyUnicode_FromFormat("<built-in method %S.%s>", module, definition->ml_name);
  }
  return PyUnicode_FromFormat("<built-in method %s>", definition->ml_name);
}

std::uint64_t hash_of(const PyMethodDef* definition) {
  return mix(reinterpret_cast<std::uint64_t>(definition));
}

const Native* find_native(const PyMethodDef* definition) {
  return natives.find(hash_of(definition), [&](const Native& other) {
    return other.definition == definition && other.name == definition->ml_name &&
           other.function == definition->ml_meth;
  });
}

}  // namespace

const char* prepare_codes() {
  if (code_slot >= 0) return nullptr;
#if PY_VERSION_HEX >= 0x030C0000
  code_slot = PyUnstable_Eval_RequestCodeExtraIndex(nullptr);
#else
  code_slot = _PyEval_RequestCodeExtraIndex(nullptr);
#endif
  if (code_slot < 0) return "the interpreter has no room for numbers in code objects";
  const Reference probe(reinterpret_cast<PyObject*>(PyCode_NewEmpty("probe", "probe", 1)));
  void* const value = &code_slot;
  if (!probe || set_extra(probe.get(), value) != 0 ||
      code_mark(reinterpret_cast<PyCodeObject*>(probe.get())) !=
          reinterpret_cast<std::uint64_t>(value)) {
    PyErr_Clear();
    code_slot = -1;
    return "this interpreter keeps the data of code objects in an unknown way";
  }
  at_fork_in_child(begin_frames_in_child);
  return nullptr;
}

std::uint32_t code_id(PyCodeObject* code) {
  const std::uint64_t mark = code_mark(code);
  if (mark >> 32 == (kMarkBit >> 32 | generation)) return static_cast<std::uint32_t>(mark);
  const KeepError keep;
  if (PyCodeObject* const own = own_code(code); own != code) {
    const std::uint32_t id = code_id(own);
    set_extra(reinterpret_cast<PyObject*>(code), reinterpret_cast<void*>(code_mark(own)));
    PyErr_Clear();
    return id;
  }
  begin_generation();
  tables::CodeRow row{};
  row.name = text_of(code->co_name);
#if PY_VERSION_HEX >= 0x030B0000
  row.qualified_name = text_of(code->co_qualname);
#endif
  row.file = text_of(code->co_filename);
  row.first_line = code->co_firstlineno;
  row.flags = flags_of(code);
  row.id = add_code(row, bytecode_hash(code));
  const std::uint64_t value = kMarkBit | std::uint64_t{generation} << 32 | row.id;
  if (set_extra(reinterpret_cast<PyObject*>(code), reinterpret_cast<void*>(value)) != 0) {
    PyErr_Clear();
  }
  return row.id;
}

std::uint32_t native_code_id(PyMethodDef* definition, PyObject* self, PyObject* module) {
  begin_generation();
  if (const Native* const known = find_native(definition)) return known->id;
  const KeepError keep;
  const Reference name(native_name(definition, self, module));
  if (!name) PyErr_Clear();
  tables::CodeRow row{};
  row.id = ++code_count;
  row.name = text_of(name.get());
  row.file = text_id("~", 1);
  row.flags = tables::kNativeFunction;
  if (!writer().add(tables::Table::Code, row)) row.id = 0;
  const char* const text = name ? PyUnicode_AsUTF8(name.get()) : nullptr;
  if (!text) PyErr_Clear();
  natives.add(hash_of(definition), {0, definition, definition->ml_name, definition->ml_meth,
                                    text ? strdup(text) : nullptr, row.id});
  return row.id;
}

std::uint32_t native_code_id(PyObject* callable) {
  if (!PyCFunction_Check(callable)) return 0;
  const auto* const function = reinterpret_cast<const PyCFunctionObject*>(callable);
  return native_code_id(function->m_ml, function->m_self, function->m_module);
}

const char* native_text(const PyMethodDef* definition) {
  const Native* const native = find_native(definition);
  return native && native->text ? native->text : "";
}

std::uint32_t frame_id(std::uint32_t caller, std::uint32_t code, std::int32_t line) {
  const std::uint64_t hash =
      mix(mix(std::uint64_t{caller} << 32 | code) ^ static_cast<std::uint32_t>(line));
  pthread_mutex_lock(&frame_lock);
  static std::uint32_t frames_generation = 0;
  if (frames_generation != generation) {
    frames.clear();
    frame_count = 0;
    frames_generation = generation;
  }
  const Frame* const known = frames.find(hash, [&](const Frame& other) {
    return other.caller == caller && other.code == code && other.line == line;
  });
  std::uint32_t id = known ? known->id : 0;
  if (!known) {
    const tables::FrameRow row{frame_count + 1, caller, code, line};
    if (writer().add(tables::Table::Frame, row)) {
      id = ++frame_count;
      frames.add(hash, {0, caller, code, line, id});
    }
  }
  pthread_mutex_unlock(&frame_lock);
  return id;
}

}  // namespace sonde::python
