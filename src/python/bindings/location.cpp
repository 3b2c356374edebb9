#include "bindings/location.h"

#include <cstring>
#include <map>
#include <unordered_map>

namespace tenon::python {

namespace {

/// The layout of the object to which a std::source_location points in libstdc++ and libc++. The
/// bits of the pointer are copied, because its type is private.
struct LocationRecord {
  const char* file;
  const char* function;
  unsigned line;
  unsigned column;
};
static_assert(sizeof(SourceLocation) == sizeof(LocationRecord*));
static_assert(std::is_trivially_copyable_v<SourceLocation>);

SourceLocation location_of(const LocationRecord& record) {
  SourceLocation location;
  const LocationRecord* address = &record;
  std::memcpy(static_cast<void*>(&location), &address, sizeof address);
  return location;
}

/// A Python file, with the location records of the lines that have been requested.
struct File {
  std::string name;
  bool is_of_package = false;
  std::map<int, LocationRecord> lines = {};
};

std::string& package_folder() {
  static std::string folder;
  return folder;
}

/// Returns the record of a Python file. It is found by the identity of the file's name object,
/// which is kept alive.
File& file_of(PyObject* name) {
  static auto& files = *new std::unordered_map<PyObject*, File>();
  auto [entry, is_new] = files.try_emplace(name);
  if (is_new) {
    Py_INCREF(name);
    const char* text = PyUnicode_AsUTF8AndSize(name, nullptr);
    if (text == nullptr) PyErr_Clear();
    entry->second.name = text != nullptr ? text : "<unknown>";
    entry->second.is_of_package =
        !package_folder().empty() && entry->second.name.starts_with(package_folder());
  }
  return entry->second;
}

SourceLocation location_in(File& file, int line) {
  auto [entry, is_new] = file.lines.try_emplace(line);
  if (is_new) entry->second = {file.name.c_str(), "", static_cast<unsigned>(line), 0};
  return location_of(entry->second);
}

}  // namespace

void set_package_folder(const std::string& folder) { package_folder() = folder + "/"; }

SourceLocation here() {
  // Accesses these members by name, because the stable ABI has no functions for them.
  static PyObject* const file_name = PyUnicode_InternFromString("co_filename");
  static PyObject* const caller = PyUnicode_InternFromString("f_back");
  PyObject* frame = Py_XNewRef(reinterpret_cast<PyObject*>(PyEval_GetFrame()));
  while (frame != nullptr && frame != Py_None) {
    auto* const typed = reinterpret_cast<PyFrameObject*>(frame);
    auto* const code = reinterpret_cast<PyObject*>(PyFrame_GetCode(typed));
    PyObject* const name = PyObject_GetAttr(code, file_name);
    Py_DECREF(code);
    File& file = file_of(name);
    Py_DECREF(name);
    if (!file.is_of_package) {
      const int line = PyFrame_GetLineNumber(typed);
      Py_DECREF(frame);
      return location_in(file, line);
    }
    PyObject* const next = PyObject_GetAttr(frame, caller);
    Py_DECREF(frame);
    frame = next;
  }
  Py_XDECREF(frame);
  static File& unknown = *new File{"<python>"};
  return location_in(unknown, 0);
}

}  // namespace tenon::python
