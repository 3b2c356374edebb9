#include "bindings/location.h"

#include <cstring>
#include <map>
#include <unordered_map>

namespace tenon::python {

namespace {

/// The object that a std::source_location of libstdc++ and libc++ points to. The type of its
/// pointer is private, so that the bits are copied.
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

/// The lines of one Python file that were asked for, with the text that they point to.
struct File {
  std::string name;
  bool is_of_package = false;
  std::map<int, LocationRecord> lines = {};
};

std::string& package_folder() {
  static std::string folder;
  return folder;
}

/// Returns the record of a file by the identity of its name object, which is kept alive.
File& file_of(PyObject* name) {
  static auto& files = *new std::unordered_map<PyObject*, File>();
  auto [entry, is_new] = files.try_emplace(name);
  if (is_new) {
    Py_INCREF(name);
    const char* text = PyUnicode_AsUTF8(name);
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
  PyFrameObject* frame = PyEval_GetFrame();  // borrowed
  Py_XINCREF(frame);
  while (frame != nullptr) {
    PyCodeObject* code = PyFrame_GetCode(frame);
    File& file = file_of(code->co_filename);
    Py_DECREF(code);
    if (!file.is_of_package) {
      const int line = PyFrame_GetLineNumber(frame);
      Py_DECREF(frame);
      return location_in(file, line);
    }
    PyFrameObject* caller = PyFrame_GetBack(frame);
    Py_DECREF(frame);
    frame = caller;
  }
  static File& unknown = *new File{"<python>"};
  return location_in(unknown, 0);
}

}  // namespace tenon::python
