#include "bindings/location.h"

#include <nanobind/nanobind.h>

#include <cstring>
#include <map>
#include <string_view>
#include <utility>

namespace nb = nanobind;

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

/// The folder of the package, with a slash at the end. Empty until it is set.
std::string& package_folder() {
  static std::string folder;
  return folder;
}

/// Returns the text of a file's name, which is valid as long as `name`.
const char* text_of(PyObject* name) {
  const char* text = PyUnicode_AsUTF8AndSize(name, nullptr);
  if (text == nullptr) PyErr_Clear();
  return text != nullptr ? text : "<unknown>";
}

bool is_of_package(PyObject* file) {
  return !package_folder().empty() && std::string_view(text_of(file)).starts_with(package_folder());
}

/// Returns the location of a line of a file. Its record is found by the identity of the file's
/// name, which is kept alive.
SourceLocation location_in(PyObject* file, int line) {
  static auto& records = *new std::map<std::pair<PyObject*, int>, LocationRecord>();
  const auto [entry, is_new] = records.try_emplace({file, line});
  if (is_new) {
    Py_INCREF(file);
    entry->second = {text_of(file), "", static_cast<unsigned>(line), 0};
  }
  return location_of(entry->second);
}

}  // namespace

void set_package_folder(const std::string& folder) { package_folder() = folder + "/"; }

SourceLocation here() {
  // Accesses these members by name, because the stable ABI has no functions for them.
  static PyObject* const file_name = PyUnicode_InternFromString("co_filename");
  static PyObject* const caller = PyUnicode_InternFromString("f_back");
  nb::object frame = nb::borrow(reinterpret_cast<PyObject*>(PyEval_GetFrame()));
  while (frame.is_valid() && !frame.is_none()) {
    auto* const typed = reinterpret_cast<PyFrameObject*>(frame.ptr());
    const nb::object code = nb::steal(reinterpret_cast<PyObject*>(PyFrame_GetCode(typed)));
    const nb::object file = nb::steal(PyObject_GetAttr(code.ptr(), file_name));
    if (!is_of_package(file.ptr())) return location_in(file.ptr(), PyFrame_GetLineNumber(typed));
    frame = nb::steal(PyObject_GetAttr(frame.ptr(), caller));
  }
  static PyObject* const unknown = PyUnicode_InternFromString("<python>");
  return location_in(unknown, 0);
}

}  // namespace tenon::python
