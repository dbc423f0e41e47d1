#include "capture/python/objects_walk.hpp"

#include <stdlib.h>
#include <string.h>

#include "capture/memory/mapped_table.hpp"
#include "capture/python/hash_table.hpp"

// In all versions; not in all headers.
extern "C" std::size_t _PySys_GetSizeOf(PyObject* object);

namespace sonde::python {
namespace {

// Addresses, in the order in which they came, each once. In mappings, which leave nothing behind in
// the process when they go: its memory is what the next look at the peak is compared with.
class ObjectSet {
 public:
  ~ObjectSet() {
    for (std::size_t i = 0; i < count_; ++i) Py_DECREF(list_[i]);
    if (list_) munmap(list_, capacity_ * sizeof(PyObject*));
    places_.clear();
  }
  // Holds the object. False where there is no memory.
  bool add(PyObject* object) {
    const std::uint64_t hash = mix(reinterpret_cast<std::uint64_t>(object) >> 4);
    if (places_.find(hash, [&](const Place& place) { return place.object == object; })) return true;
    if ((count_ == capacity_ && !grow()) || !places_.add(hash, {0, object})) {
      complete_ = false;
      return false;
    }
    Py_INCREF(object);
    list_[count_++] = object;
    return true;
  }
  std::size_t size() const { return count_; }
  bool complete() const { return complete_; }
  PyObject* operator[](std::size_t i) const { return list_[i]; }

 private:
  struct Place {
    std::uint64_t hash;
    PyObject* object;
  };

  bool grow() {
    const std::size_t wanted = capacity_ ? capacity_ * 2 : 4096;
    void* const list = list_ ? mremap(list_, capacity_ * sizeof(PyObject*),
                                      wanted * sizeof(PyObject*), MREMAP_MAYMOVE)
                             : memory::map_memory(wanted * sizeof(PyObject*));
    if (!list || list == MAP_FAILED) return false;
    list_ = static_cast<PyObject**>(list);
    capacity_ = wanted;
    return true;
  }

  memory::MappedTable<Place> places_{};
  PyObject** list_ = nullptr;
  std::size_t count_ = 0;
  std::size_t capacity_ = 0;
  bool complete_ = true;
};

bool is_tracked(PyObject* object) {
  if (!PyObject_IS_GC(object)) return false;
  return PyObject_GC_IsTracked(object) != 0;
}

int visit_referent(PyObject* object, void* set) {
  // Tracked ones are in the list already, or are ours.
  if (!object || is_tracked(object)) return 0;
  return static_cast<ObjectSet*>(set)->add(object) ? 0 : -1;
}

bool add_referents(PyObject* object, ObjectSet& set) {
  const traverseproc traverse = Py_TYPE(object)->tp_traverse;
  // Of an object without the collector's head it would not be safe.
  if (!traverse || !PyObject_IS_GC(object)) return true;
  return traverse(object, visit_referent, &set) == 0;
}

// Everything that the collector tracks.
#if PY_VERSION_HEX >= 0x030C0000
int visit_tracked(PyObject* object, void* set) {
  if (PyFrame_Check(object)) return 1;
  return static_cast<ObjectSet*>(set)->add(object) ? 1 : 0;
}

bool add_tracked(ObjectSet& set) {
  PyUnstable_GC_VisitObjects(visit_tracked, &set);
  return set.complete();
}
#else
bool add_tracked(ObjectSet& set) {
  const Reference gc(PyImport_ImportModule("gc"));
  const Reference list(gc ? PyObject_CallMethod(gc.get(), "get_objects", nullptr) : nullptr);
  if (!list) {
    PyErr_Clear();
    return false;
  }
  const Py_ssize_t count = PyList_GET_SIZE(list.get());
  for (Py_ssize_t i = 0; i < count; ++i) {
    PyObject* const object = PyList_GET_ITEM(list.get(), i);
    if (object == list.get() || PyFrame_Check(object)) continue;
    if (!set.add(object)) return false;
  }
  return true;
}
#endif

// A type of a module that the program has imported; nullptr where it has not.
PyObject* type_of(const char* module_name, const char* name) {
  PyObject* const modules = PyImport_GetModuleDict();
  PyObject* const module = modules ? PyDict_GetItemString(modules, module_name) : nullptr;
  PyObject* const type = module ? PyObject_GetAttrString(module, name) : nullptr;
  PyErr_Clear();
  if (type && PyType_Check(type)) return type;
  Py_XDECREF(type);
  return nullptr;
}

bool is_one(PyObject* object, const Reference& type) {
  return type && PyObject_TypeCheck(object, reinterpret_cast<PyTypeObject*>(type.get()));
}

std::uint64_t size_of(PyObject* object) {
  const std::size_t size = _PySys_GetSizeOf(object);
  if (size != static_cast<std::size_t>(-1)) return size;
  // Its own __sizeof__ failed.
  PyErr_Clear();
  return static_cast<std::uint64_t>(Py_TYPE(object)->tp_basicsize);
}

// A number that a method of the object gives; 0 where it does not.
std::uint64_t number_from(PyObject* object, const char* method) {
  const Reference result(PyObject_CallMethod(object, method, nullptr));
  const unsigned long long number = result ? PyLong_AsUnsignedLongLong(result.get()) : 0;
  if (PyErr_Occurred()) {
    PyErr_Clear();
    return 0;
  }
  return number;
}

struct Storage {
  std::uint64_t hash;
  std::uint64_t address;
};

// The bytes behind a tensor, once for all tensors that share them.
std::uint64_t storage_of(PyObject* tensor, HashTable<Storage>& seen, const char*& where) {
  const Reference storage(PyObject_CallMethod(tensor, "untyped_storage", nullptr));
  if (!storage) {
    PyErr_Clear();
    return 0;
  }
  const Reference is_cpu(PyObject_GetAttrString(tensor, "is_cpu"));
  if (!is_cpu) PyErr_Clear();
  if (is_cpu && is_cpu.get() == Py_False) where = " (on a device)";
  const std::uint64_t address = number_from(storage.get(), "data_ptr");
  if (address == 0) return 0;
  const std::uint64_t hash = mix(address);
  if (seen.find(hash, [&](const Storage& other) { return other.address == address; })) return 0;
  seen.add(hash, {0, address});
  return number_from(storage.get(), "nbytes");
}

}  // namespace

ObjectSums::~ObjectSums() {
  for (std::size_t i = 0; i < count_; ++i) Py_DECREF(sums_[i].type);
  free(sums_);
}

TypeSum* ObjectSums::find(PyTypeObject* type, const char* addition) {
  for (std::size_t i = 0; i < count_; ++i) {
    if (sums_[i].type == type && sums_[i].addition == addition) return &sums_[i];
  }
  if (count_ == capacity_) {
    const std::size_t wanted = capacity_ ? capacity_ * 2 : 256;
    auto* const sums = static_cast<TypeSum*>(realloc(sums_, wanted * sizeof(TypeSum)));
    if (!sums) return nullptr;
    sums_ = sums;
    capacity_ = wanted;
  }
  Py_INCREF(type);
  sums_[count_] = {type, addition, 0, 0};
  return &sums_[count_++];
}

bool ObjectSums::walk() {
  const KeepError keep;
  ObjectSet set;
  if (!add_tracked(set)) return false;
  const Reference array(type_of("numpy", "ndarray"));
  const Reference tensor(type_of("torch", "Tensor"));
  // What is added here is walked as well: an untracked tuple has untracked items.
  for (std::size_t i = 0; i < set.size(); ++i) {
    PyObject* const object = set[i];
    if (!add_referents(object, set)) return false;
    if (!is_one(object, array)) continue;
    const Reference base(PyObject_GetAttrString(object, "base"));
    if (!base) PyErr_Clear();
    if (base && base.get() != Py_None && !is_tracked(base.get()) && !set.add(base.get())) {
      return false;
    }
  }
  // Types are few, and come in runs; the table is for the rest.
  struct Known {
    std::uint64_t hash;
    PyTypeObject* type;
    std::size_t sum;
  };
  HashTable<Known> types;
  HashTable<Storage> storages;
  bool complete = true;
  for (std::size_t i = 0; i < set.size() && complete; ++i) {
    PyObject* const object = set[i];
    std::uint64_t bytes = size_of(object);
    const char* where = "";
    if (is_one(object, tensor)) bytes += storage_of(object, storages, where);
    PyTypeObject* const type = Py_TYPE(object);
    TypeSum* sum = nullptr;
    if (*where) {
      sum = find(type, where);
    } else {
      const std::uint64_t hash = mix(reinterpret_cast<std::uint64_t>(type));
      const Known* const known =
          types.find(hash, [&](const Known& other) { return other.type == type; });
      sum = known ? &sums_[known->sum] : find(type, where);
      if (sum && !known) types.add(hash, {0, type, static_cast<std::size_t>(sum - sums_)});
    }
    if (!sum) {
      complete = false;
      break;
    }
    ++sum->count;
    sum->bytes += bytes;
  }
  types.clear();
  storages.clear();
  return complete;
}

bool ObjectSums::name_of(const TypeSum& sum, PyObject*& out) {
  auto* const type = reinterpret_cast<PyObject*>(sum.type);
  const Reference module(PyObject_GetAttrString(type, "__module__"));
  PyErr_Clear();
  const Reference name(PyObject_GetAttrString(type, "__qualname__"));
  PyErr_Clear();
  const bool whole = module && PyUnicode_Check(module.get()) && name && PyUnicode_Check(name.get());
  const Reference text(whole
                           ? PyUnicode_FromFormat("%U.%U%s", module.get(), name.get(), sum.addition)
                           : PyUnicode_FromFormat("%s%s", sum.type->tp_name, sum.addition));
  // Surrogates have no UTF-8.
  const Reference bytes(text ? PyUnicode_AsEncodedString(text.get(), "utf-8", "replace") : nullptr);
  PyErr_Clear();
  if (!bytes) return false;
  out = PyUnicode_DecodeUTF8(PyBytes_AS_STRING(bytes.get()), PyBytes_GET_SIZE(bytes.get()),
                             "replace");
  PyErr_Clear();
  return out != nullptr;
}

}  // namespace sonde::python
