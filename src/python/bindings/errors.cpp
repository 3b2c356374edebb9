#include "bindings/errors.h"

#include <array>
#include <string_view>

#include "bindings/location.h"
#include "tenon/support/error.h"

namespace nb = nanobind;

namespace tenon::python {

namespace {

/// The Python exception classes, in the order of ErrorKind.
enum ErrorKind { kError, kType, kSchedule, kBound, kLower, kTarget, kRuntime, kInternal, kKinds };
std::array<PyObject*, kKinds> classes{};

/// Returns the message as a Python string. Invalid UTF-8 is escaped, because messages may quote
/// file names or the output of a compiler.
PyObject* text_of(std::string_view message) {
  return PyUnicode_DecodeUTF8(message.data(), static_cast<Py_ssize_t>(message.size()),
                              "backslashreplace");
}

void raise(ErrorKind kind, const Error& raised) {
  // Adds the user's line if the error has no location, because not all functions have a location
  // parameter.
  const Error error = raised.where() ? raised : Error(raised.what(), here());
  PyObject* what = text_of(error.what());
  if (what == nullptr) return;
  PyObject* instance = PyObject_CallOneArg(classes[kind], what);
  Py_DECREF(what);
  if (instance == nullptr) return;
  PyObject* text = text_of(error.sentence());
  PyObject* file =
      error.where() ? PyUnicode_DecodeFSDefault(error.where()->file_name()) : Py_NewRef(Py_None);
  PyObject* line =
      error.where() ? PyLong_FromUnsignedLong(error.where()->line()) : Py_NewRef(Py_None);
  if (text == nullptr || file == nullptr || line == nullptr ||
      PyObject_SetAttrString(instance, "sentence", text) != 0 ||
      PyObject_SetAttrString(instance, "file", file) != 0 ||
      PyObject_SetAttrString(instance, "line", line) != 0)
    PyErr_Clear();
  Py_XDECREF(text);
  Py_XDECREF(file);
  Py_XDECREF(line);
  PyErr_SetObject(classes[kind], instance);
  Py_DECREF(instance);
}

void translate(const std::exception_ptr& error, void*) {
  try {
    std::rethrow_exception(error);
  } catch (const TypeError& e) {
    raise(kType, e);
  } catch (const ScheduleError& e) {
    raise(kSchedule, e);
  } catch (const BoundError& e) {
    raise(kBound, e);
  } catch (const LowerError& e) {
    raise(kLower, e);
  } catch (const TargetError& e) {
    raise(kTarget, e);
  } catch (const RuntimeError& e) {
    raise(kRuntime, e);
  } catch (const InternalError& e) {
    raise(kInternal, e);
  } catch (const Error& e) {
    raise(kError, e);
  }
}

}  // namespace

nb::handle schedule_error_class() { return classes[kSchedule]; }

void set_python_error(const std::exception_ptr& error) noexcept {
  try {
    try {
      translate(error, nullptr);
    } catch (nb::python_error& e) {
      e.restore();
    } catch (nb::builtin_exception& e) {
      PyErr_SetString(
          e.type() == nb::exception_type::type_error ? PyExc_TypeError : PyExc_ValueError,
          e.what());
    } catch (const std::bad_alloc&) {
      PyErr_NoMemory();
    } catch (const std::exception& e) {
      PyErr_SetString(PyExc_RuntimeError, e.what());
    }
  } catch (...) {
    PyErr_SetString(PyExc_SystemError, "an unknown exception");
  }
}

void bind_errors(PyModule& m) {
  auto add = [&](ErrorKind kind, const char* name, const char* doc, PyObject* also) {
    nb::object bases;
    if (kind == kError) {
      bases = nb::borrow(PyExc_Exception);
    } else if (also != nullptr) {
      bases = nb::make_tuple(nb::handle(classes[kError]), nb::handle(also));
    } else {
      bases = nb::borrow(classes[kError]);
    }
    const std::string qualified = std::string("tenon.") + name;
    classes[kind] = PyErr_NewExceptionWithDoc(qualified.c_str(), doc, bases.ptr(), nullptr);
    if (classes[kind] == nullptr) throw nb::python_error();
    m.attr(name) = nb::handle(classes[kind]);
  };
  add(kError, "Error",
      "The base of all errors. `sentence` is the message without the location, `file` and `line` "
      "are the user's location or None.",
      nullptr);
  for (const char* attribute : {"sentence", "file", "line"})
    nb::handle(classes[kError]).attr(attribute) = nb::none();
  add(kType, "TypeError", "A type or literal that does not match, or a wrong number of indices.",
      PyExc_TypeError);
  add(kSchedule, "ScheduleError", "An illegal use of a primitive. The schedule is unchanged.",
      nullptr);
  add(kBound, "BoundError",
      "A range that cannot be inferred, or an access that is provably out of bounds.", nullptr);
  add(kLower, "LowerError", "A loop program that cannot be lowered.", nullptr);
  add(kTarget, "TargetError",
      "An unknown target, option or processor, or a target that this build does not support.",
      nullptr);
  add(kRuntime, "RuntimeError", "A wrong argument, or a failure at run time.", PyExc_RuntimeError);
  add(kInternal, "InternalError", "A bug in the compiler.", nullptr);
  nb::register_exception_translator(translate);
}

}  // namespace tenon::python
