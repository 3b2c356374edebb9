#include "bindings/errors.h"

#include <string_view>

#include "bindings/location.h"
#include "tenon/support/error.h"

namespace nb = nanobind;

namespace tenon::python {

namespace {

/// The Python exception class of a C++ exception class.
template <class CppError>
PyObject* error_class = nullptr;

/// Returns the message as a Python string. Invalid UTF-8 is escaped, because messages may quote
/// file names or the output of a compiler.
PyObject* text_of(std::string_view message) {
  return PyUnicode_DecodeUTF8(message.data(), static_cast<Py_ssize_t>(message.size()),
                              "backslashreplace");
}

void raise(PyObject* type, const Error& raised) {
  // Adds the user's line if the error has no location, because not all functions have a location
  // parameter.
  const Error error = raised.where() ? raised : Error(raised.what(), here());
  PyObject* what = text_of(error.what());
  if (what == nullptr) return;
  PyObject* instance = PyObject_CallOneArg(type, what);
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
  PyErr_SetObject(type, instance);
  Py_DECREF(instance);
}

void translate(const std::exception_ptr& error, void*) {
  try {
    std::rethrow_exception(error);
  } catch (const TypeError& e) {
    raise(error_class<TypeError>, e);
  } catch (const ScheduleError& e) {
    raise(error_class<ScheduleError>, e);
  } catch (const BoundError& e) {
    raise(error_class<BoundError>, e);
  } catch (const LowerError& e) {
    raise(error_class<LowerError>, e);
  } catch (const TargetError& e) {
    raise(error_class<TargetError>, e);
  } catch (const RuntimeError& e) {
    raise(error_class<RuntimeError>, e);
  } catch (const InternalError& e) {
    raise(error_class<InternalError>, e);
  } catch (const Error& e) {
    raise(error_class<Error>, e);
  }
}

}  // namespace

nb::handle schedule_error_class() { return error_class<ScheduleError>; }

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
  auto add = [&](PyObject*& type, const char* name, const char* doc, const nb::object& bases) {
    const std::string qualified = std::string("tenon.") + name;
    type = PyErr_NewExceptionWithDoc(qualified.c_str(), doc, bases.ptr(), nullptr);
    if (type == nullptr) throw nb::python_error();
    m.attr(name) = nb::handle(type);
  };
  add(error_class<Error>, "Error",
      "The base of all errors. `sentence` is the message without the location, `file` and `line` "
      "are the user's location or None.",
      nb::borrow(PyExc_Exception));
  const nb::object base = nb::borrow(error_class<Error>);
  for (const char* attribute : {"sentence", "file", "line"}) base.attr(attribute) = nb::none();
  add(error_class<TypeError>, "TypeError",
      "A type or literal that does not match, or a wrong number of indices.",
      nb::make_tuple(base, nb::handle(PyExc_TypeError)));
  add(error_class<ScheduleError>, "ScheduleError",
      "An illegal use of a primitive. The schedule is unchanged.", base);
  add(error_class<BoundError>, "BoundError",
      "A range that cannot be inferred, or an access that is provably out of bounds.", base);
  add(error_class<LowerError>, "LowerError", "A loop program that cannot be lowered.", base);
  add(error_class<TargetError>, "TargetError",
      "An unknown target, option or processor, or a target that this build does not support.",
      base);
  add(error_class<RuntimeError>, "RuntimeError", "A wrong argument, or a failure at run time.",
      nb::make_tuple(base, nb::handle(PyExc_RuntimeError)));
  add(error_class<InternalError>, "InternalError", "A bug in the compiler.", base);
  nb::register_exception_translator(translate);
}

}  // namespace tenon::python
