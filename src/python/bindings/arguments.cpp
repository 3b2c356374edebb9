#include "bindings/arguments.h"

namespace tenon::python {

namespace {

/// Returns the value of a Python integer, or of another object with `__index__`.
std::optional<tir::Operand> operand_of_integer(nb::handle object) {
  const auto value = value_of_int(to_int(object));
  if (!value) return std::nullopt;
  return std::visit([](auto number) { return tir::Operand(number, here()); }, *value);
}

}  // namespace

std::string class_name(nb::handle object) {
  const nb::handle type = object.type();
  const auto module = nb::cast<std::string>(nb::str(nb::getattr(type, "__module__", nb::none())));
  const auto name = nb::cast<std::string>(nb::str(type.attr("__name__")));
  return module == "builtins" ? name : module + "." + name;
}

bool is_numpy_bool(nb::handle object) {
  const std::string name = class_name(object);
  return name == "numpy.bool" || name == "numpy.bool_";
}

bool has_float(nb::handle object) {
  return PyType_GetSlot(Py_TYPE(object.ptr()), Py_nb_float) != nullptr;
}

nb::object to_int(nb::handle object) {
  nb::object integer = nb::steal(PyNumber_Index(object.ptr()));
  if (!integer.is_valid()) throw nb::python_error();
  return integer;
}

double to_double(nb::handle object) {
  const double value = PyFloat_AsDouble(object.ptr());
  if (value == -1 && PyErr_Occurred()) throw nb::python_error();
  return value;
}

std::optional<std::variant<long long, unsigned long long>> value_of_int(nb::handle integer) {
  int overflow = 0;
  const long long value = PyLong_AsLongLongAndOverflow(integer.ptr(), &overflow);
  if (overflow == 0) return value;
  const unsigned long long above = overflow > 0 ? PyLong_AsUnsignedLongLong(integer.ptr()) : 0;
  if (overflow > 0 && !PyErr_Occurred()) return above;
  PyErr_Clear();
  return std::nullopt;
}

std::optional<tir::Operand> to_operand(nb::handle object) {
  try {
    if (object.ptr() == Py_True || object.ptr() == Py_False)
      return tir::Operand(object.ptr() == Py_True, here());
    if (PyLong_Check(object.ptr())) return operand_of_integer(object);
    if (PyFloat_Check(object.ptr())) return tir::Operand(to_double(object), here());
    if (const tir::Expr * expr; nb::try_cast(object, expr, false) && expr)
      return tir::Operand(*expr, here());
    if (const tir::IterVar * axis; nb::try_cast(object, axis, false) && axis)
      return tir::Operand(*axis, here());
    if (const te::Tensor * tensor; nb::try_cast(object, tensor, false) && tensor)
      return tensor->ndim() == 0 ? std::optional(tir::Operand((*tensor)(here()), here()))
                                 : std::nullopt;
    if (is_numpy_bool(object)) return tir::Operand(PyObject_IsTrue(object.ptr()) == 1, here());
    if (PyIndex_Check(object.ptr())) return operand_of_integer(object);
    if (has_float(object) && !PySequence_Check(object.ptr()))
      return tir::Operand(to_double(object), here());
  } catch (const std::exception&) {
    PyErr_Clear();
  }
  return std::nullopt;
}

std::vector<tir::Expr> to_exprs(const Operands& operands) {
  std::vector<tir::Expr> exprs;
  exprs.reserve(operands.size());
  for (const tir::Operand& each : operands) exprs.push_back(each.alone());
  return exprs;
}

std::optional<DTypeLike> to_dtype(nb::handle object) {
  if (const DataType * type; nb::try_cast(object, type, false) && type) return DTypeLike{*type};
  PyObject* text = nullptr;
  if (PyUnicode_Check(object.ptr())) {
    text = Py_NewRef(object.ptr());
  } else {
    // A NumPy dtype has the attribute `name`. A NumPy scalar type is a class, so its name is
    // `__name__`.
    const char* attribute = PyType_Check(object.ptr()) ? "__name__" : "name";
    if (!PyType_Check(object.ptr()) && !PyObject_HasAttrString(object.ptr(), "itemsize"))
      return std::nullopt;
    text = PyObject_GetAttrString(object.ptr(), attribute);
  }
  const char* utf8 =
      text && PyUnicode_Check(text) ? PyUnicode_AsUTF8AndSize(text, nullptr) : nullptr;
  std::optional<DTypeLike> type;
  if (utf8) type = DTypeLike{std::string(utf8)};
  Py_XDECREF(text);
  PyErr_Clear();
  return type;
}

std::optional<RangeLike> to_range(nb::handle object) {
  if (const tir::Range * range; nb::try_cast(object, range, false) && range)
    return RangeLike{*range};
  if (!PyTuple_Check(object.ptr()) && !PyList_Check(object.ptr())) return std::nullopt;
  if (PySequence_Size(object.ptr()) != 2) return std::nullopt;
  PyObject* ends[] = {PySequence_GetItem(object.ptr(), 0), PySequence_GetItem(object.ptr(), 1)};
  std::optional<RangeLike> range;
  if (ends[0] && ends[1]) {
    std::optional<tir::Operand> begin = to_operand(ends[0]), end = to_operand(ends[1]);
    if (begin && end) range = RangeLike{std::pair(*begin, *end)};
  }
  Py_XDECREF(ends[0]);
  Py_XDECREF(ends[1]);
  PyErr_Clear();
  return range;
}

RangeLike::operator tir::Range() const {
  if (const auto* range = std::get_if<tir::Range>(&value)) return *range;
  const auto& [begin, end] = std::get<std::pair<tir::Operand, tir::Operand>>(value);
  return tir::Range(begin.alone(), end.alone(), here());
}

}  // namespace tenon::python
