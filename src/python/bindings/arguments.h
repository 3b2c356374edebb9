// Types for the arguments of Python functions. Each type has a nanobind caster that accepts several
// kinds of Python objects. A binding thereby shows what it accepts, and nanobind reports which
// argument does not match:
//
//    stage.def("split", [](const te::Stage& s, const te::IterVar& axis, const tir::Operand& factor) {...});
//
//  A function that needs only the user's line in addition to its arguments is bound with_line:
//
//    stage.def("bind", with_line(&te::Stage::bind), "axis"_a, "thread"_a);
//
//  An operand is an expression, an axis, a rank-0 tensor, a Python number or a NumPy scalar. A data
//  type is a DataType, its text, or a NumPy dtype.
#pragma once

#include <nanobind/nanobind.h>
#include <nanobind/stl/map.h>
#include <nanobind/stl/optional.h>
#include <nanobind/stl/pair.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/tuple.h>
#include <nanobind/stl/variant.h>
#include <nanobind/stl/vector.h>

#include <functional>
#include <map>
#include <optional>
#include <sstream>
#include <string>
#include <tuple>
#include <type_traits>
#include <variant>
#include <vector>

#include "bindings/documentation.h"
#include "bindings/location.h"
#include "tenon/te/operation.h"
#include "tenon/tir/ops.h"

namespace nb = nanobind;
using namespace nb::literals;

/// Returns the C++ object of a Python object of the class of T. Throws Python's TypeError for an
/// object that is not initialized, because only its `__new__` was called.
template <class T>
const T& instance(nb::handle object) {
  if (!nb::inst_ready(object)) throw nb::type_error("the object is not initialized");
  return *nb::inst_ptr<T>(object);
}

namespace tenon::python {

/// A data type as users can give it: a DataType or its text.
struct DTypeLike {
  std::variant<DataType, std::string> value = DataType();
  /// Returns the data type. Throws TypeError, with the user's line, if the text is not a data type.
  operator DataType() const {
    if (const auto* type = std::get_if<DataType>(&value)) return *type;
    return DataType::parse(std::get<std::string>(value), here());
  }
};

/// A list of operands.
using Operands = std::vector<tir::Operand>;

/// A list, for which users can also give a single item.
template <class T>
struct OneOrMore {
  std::vector<T> items;
};

/// A range as users can give it: a Range, or a pair (begin, end).
struct RangeLike {
  std::variant<tir::Range, std::pair<tir::Operand, tir::Operand>> value;
  /// Throws TypeError, with the user's line, if the ends are not integers.
  operator tir::Range() const;
};

std::vector<tir::Expr> to_exprs(const Operands& operands);

/// Converts a Python object to an operand. Nullopt if the object is not an operand, or if it is an
/// integer that does not fit 64 bits.
std::optional<tir::Operand> to_operand(nb::handle object);
/// Returns the name of an object's class. The module is included unless the class is built in:
/// "numpy.ndarray", "int".
std::string class_name(nb::handle object);
/// Whether an object is a boolean scalar of NumPy. Such an object is neither a bool nor an int.
bool is_numpy_bool(nb::handle object);
/// Whether an object has `__float__`.
bool has_float(nb::handle object);
/// Convert an object with `__index__` to an int, and an object with `__float__` to a number. Throw
/// what the object's method raises.
nb::object to_int(nb::handle object);
double to_double(nb::handle object);
/// Returns the value of a Python int. Nullopt if it does not fit 64 bits.
std::optional<std::variant<long long, unsigned long long>> value_of_int(nb::handle integer);
/// Converts a Python object to a data type. Nullopt if the object does not name one.
std::optional<DTypeLike> to_dtype(nb::handle object);
std::optional<RangeLike> to_range(nb::handle object);

/// Returns a Python TypeError, which has no location.
inline nb::builtin_exception type_error(const std::string& text) {
  return nb::type_error(text.c_str());
}

/// Limits the recursion depth when nested values are converted. Throws Python's RecursionError,
/// whose message contains `where`.
class RecursionGuard {
 public:
  explicit RecursionGuard(const char* where) {
    if (Py_EnterRecursiveCall(where) != 0) throw nb::python_error();
  }
  ~RecursionGuard() { Py_LeaveRecursiveCall(); }
  RecursionGuard(const RecursionGuard&) = delete;
  RecursionGuard& operator=(const RecursionGuard&) = delete;
};

/// Describes an object that cannot be converted to T: its class, or its value if it is an int that
/// T cannot hold.
template <class T>
std::string describe_refused(nb::handle object) {
  if constexpr (std::integral<T> && !std::same_as<T, bool>)
    if (PyLong_Check(object.ptr()))
      return nb::cast<std::string>(nb::str(object)) + ", which is not in " +
             std::to_string(std::numeric_limits<T>::min()) + " to " +
             std::to_string(std::numeric_limits<T>::max());
  return class_name(object);
}

/// Converts an argument that nanobind has not converted. Throws Python's TypeError, whose message
/// contains `expected` and describes the object.
template <class T>
T argument_as(nb::handle object, const std::string& expected) {
  try {
    return nb::cast<T>(object);
  } catch (const nb::cast_error&) {
    throw type_error(expected + ", got " + describe_refused<T>(object));
  }
}

/// Converts the arguments `*args` to a list. They are either the items of the list, or one sequence
/// of the items. Throws Python's TypeError, whose message begins with `what`.
template <class T>
std::vector<T> items_of(const nb::args& args, const char* what) {
  const bool is_sequence =
      args.size() == 1 && !nb::isinstance<T>(args[0]) && PySequence_Check(args[0].ptr());
  std::vector<T> items;
  for (nb::handle object : nb::handle(is_sequence ? args[0].ptr() : args.ptr())) {
    if (!nb::isinstance<T>(object))
      throw type_error(std::string(what) + ", got " + nb::inst_name(object).c_str());
    items.push_back(nb::cast<T>(object));
  }
  return items;
}

/// The parameter of a Python function for a parameter of a C++ function.
template <class T, class Plain = std::remove_cvref_t<T>>
using PythonParameter = std::conditional_t<
    std::is_same_v<Plain, Name>, const std::string&,
    std::conditional_t<std::is_same_v<Plain, DataType>, const DTypeLike&,
                       std::conditional_t<std::is_same_v<Plain, tir::Range>, const RangeLike&, T>>>;

/// Implements with_line for the parameters 0 to N, which are all but the last one.
template <class... Params, class F, std::size_t... N>
auto with_line_of(F f, std::index_sequence<N...>) {
  return [f](PythonParameter<std::tuple_element_t<N, std::tuple<Params...>>>... args) {
    return std::invoke(f, std::forward<decltype(args)>(args)..., here());
  };
}

/// Returns a C++ function, whose last parameter is the user's line, as a function that Python calls
/// without that parameter.
template <class Result, class... Params>
auto with_line(Result (*f)(Params...)) {
  return with_line_of<Params...>(f, std::make_index_sequence<sizeof...(Params) - 1>());
}
template <class Class, class Result, class... Params>
auto with_line(Result (Class::*f)(Params...)) {
  return with_line_of<Class&, Params...>(f, std::make_index_sequence<sizeof...(Params)>());
}
template <class Class, class Result, class... Params>
auto with_line(Result (Class::*f)(Params...) const) {
  return with_line_of<const Class&, Params...>(f, std::make_index_sequence<sizeof...(Params)>());
}

/// Returns the text that `<<` prints for a value.
std::string text_of(const auto& value) {
  std::ostringstream out;
  out << value;
  return out.str();
}

}  // namespace tenon::python

namespace nanobind::detail {

/// A nanobind caster for a type without a default value. `Convert` converts the supported Python
/// objects.
template <class T, std::optional<T> (*Convert)(handle)>
struct converting_caster {
  using Value = T;
  template <class U>
  using Cast = movable_cast_t<U>;
  template <class U>
  static constexpr bool can_cast() {
    return true;
  }
  bool from_python(handle source, uint32_t, cleanup_list*) noexcept {
    value = Convert(source);
    return value.has_value();
  }
  explicit operator T*() { return &*value; }
  explicit operator T&() { return *value; }
  explicit operator T&&() { return std::move(*value); }
  std::optional<T> value;
};

template <>
struct type_caster<tenon::tir::Operand>
    : converting_caster<tenon::tir::Operand, tenon::python::to_operand> {
  static constexpr auto Name = const_name("Expr | IterVar | Tensor | int | float | bool");
};

template <>
struct type_caster<tenon::python::DTypeLike>
    : converting_caster<tenon::python::DTypeLike, tenon::python::to_dtype> {
  static constexpr auto Name = const_name("DataType | str");
  static handle from_cpp(const tenon::python::DTypeLike& type, rv_policy policy,
                         cleanup_list* cleanup) {
    return make_caster<tenon::DataType>::from_cpp(static_cast<tenon::DataType>(type), policy,
                                                  cleanup);
  }
};

template <>
struct type_caster<tenon::python::RangeLike>
    : converting_caster<tenon::python::RangeLike, tenon::python::to_range> {
  static constexpr auto Name = const_name("Range | tuple[Expr | int, Expr | int]");
};

template <class T>
struct type_caster<tenon::python::OneOrMore<T>> {
  NB_TYPE_CASTER(tenon::python::OneOrMore<T>, make_caster<T>::Name +
                                                  const_name(" | collections.abc.Sequence[") +
                                                  make_caster<T>::Name + const_name("]"))
  bool from_python(handle source, uint32_t flags, cleanup_list* cleanup) noexcept {
    value.items.clear();
    make_caster<T> one;
    if (!source.is_none() && one.from_python(source, flags_for_local_caster<T>(flags), cleanup)) {
      value.items.push_back(one.operator cast_t<T>());
      return true;
    }
    make_caster<std::vector<T>> many;
    if (!many.from_python(source, flags, cleanup)) return false;
    value.items = std::move(many.value);
    return true;
  }
};

}  // namespace nanobind::detail
