// The bindings of data types, variables, axes, operators and mathematical functions.
#include <array>

#include "bindings/arguments.h"
#include "bindings/tir.h"
#include "tenon/tir/expr.h"
#include "tenon/tir/print.h"

namespace tenon::python {

using tir::Expr;
using tir::IterVar;
using tir::Operand;
using tir::Range;
using tir::Var;

namespace {

template <class T>
std::size_t identity_hash(const T* address) {
  return std::hash<const void*>()(address) >> 4;
}

/// Defines the operators of a Python class whose objects convert to expressions.
template <class Class>
void bind_operators(Class& type) {
  using Op = const Operand&;
  const auto op = nb::is_operator();
  // The object may be either operand.
  auto arithmetic = [&](const std::string& name, auto f) {
    type.def(("__" + name + "__").c_str(), [=](Op a, Op b) { return f(a, b); }, op);
    type.def(("__r" + name + "__").c_str(), [=](Op b, Op a) { return f(a, b); }, op);
  };
  arithmetic("add", [](Op a, Op b) { return a + b; });
  arithmetic("sub", [](Op a, Op b) { return a - b; });
  arithmetic("mul", [](Op a, Op b) { return a * b; });
  arithmetic("truediv", [](Op a, Op b) { return a / b; });
  arithmetic("floordiv", tir::floordiv);
  arithmetic("mod", tir::floormod);
  arithmetic("pow", tir::pow);
  arithmetic("and", [](Op a, Op b) { return a & b; });
  arithmetic("or", [](Op a, Op b) { return a | b; });
  arithmetic("xor", [](Op a, Op b) { return a ^ b; });
  arithmetic("lshift", [](Op a, Op b) { return a << b; });
  arithmetic("rshift", [](Op a, Op b) { return a >> b; });
  type.def(
          "__lt__", [](Op a, Op b) { return a < b; }, op)
      .def(
          "__le__", [](Op a, Op b) { return a <= b; }, op)
      .def(
          "__gt__", [](Op a, Op b) { return a > b; }, op)
      .def(
          "__ge__", [](Op a, Op b) { return a >= b; }, op)
      .def(
          "__eq__", [](Op a, Op b) { return a == b; }, op,
          nb::sig("def __eq__(self, arg: object, /) -> Expr"))
      .def(
          "__ne__", [](Op a, Op b) { return a != b; }, op,
          nb::sig("def __ne__(self, arg: object, /) -> Expr"))
      .def("__neg__", [](Op a) { return -a; })
      .def("__pos__", [](Op a) { return a.alone(); })
      .def("__invert__", [](Op a) { return ~a; })
      .def("__abs__", [](Op a) { return tir::abs(a); })
      .def("__floor__", [](Op a) { return tir::floor(a); })
      .def("__ceil__", [](Op a) { return tir::ceil(a); })
      .def("__trunc__", [](Op a) { return tir::trunc(a); })
      .def("__round__", [](Op a) { return tir::round(a); })
      .def(
          "equal", [](Op a, Op b) { return a == b; }, "other"_a)
      .def(
          "astype", [](Op a, const DTypeLike& type) { return tir::cast(type, a); }, "dtype"_a,
          "Returns cast(dtype, self).");
}

/// Returns the truth value of an expression. Python requests it in `if`, `and`, `not` and
/// containers. Only constants have a truth value, and comparisons of two variables by `==` or `!=`,
/// which test whether they are the same variable. The comparisons allow variables to be found in
/// lists and dictionaries.
bool truth_of(const Expr& e) {
  if (const std::optional<std::int64_t> value = tir::constant_int(e)) return *value != 0;
  if (const auto* constant = e.as<tir::FloatImm>()) return constant->value != 0;
  if (const auto* compared = e.as<tir::Binary>())
    if ((compared->op == tir::BinaryOp::Eq || compared->op == tir::BinaryOp::Ne) &&
        compared->a.as<tir::VarNode>() && compared->b.as<tir::VarNode>())
      return compared->a.same_as(compared->b) == (compared->op == tir::BinaryOp::Eq);
  throw TypeError("`" + tir::print_expr(e) +
                      "` has no truth value while the program is built; use tenon.all, tenon.any, "
                      "tenon.if_then_else or tenon.select, and same_as for identity",
                  here());
}

/// Returns the value of a constant as a Python number. Throws TypeError for any other expression.
nb::object number_of(const Expr& e, const char* what) {
  if (const auto* integer = e.as<tir::IntImm>()) {
    if (e.dtype().is_uint() && integer->value < 0)
      return nb::steal(PyLong_FromUnsignedLongLong(static_cast<std::uint64_t>(integer->value)));
    return nb::int_(integer->value);
  }
  if (const auto* constant = e.as<tir::FloatImm>()) return nb::float_(constant->value);
  if (const auto* text = e.as<tir::StringImm>()) return nb::str(text->value.c_str());
  throw TypeError("`" + tir::print_expr(e) + "` is not a constant and has no " + what, here());
}

using Unary = Expr (*)(const Operand&);
using BinaryFunction = Expr (*)(const Operand&, const Operand&);

void bind_maths(PyModule& m) {
  auto unary = [&](const char* name, Unary f) { m.def(name, f, "x"_a); };
  unary("exp", tir::exp);
  unary("exp2", tir::exp2);
  unary("exp10", tir::exp10);
  unary("log", tir::log);
  unary("log2", tir::log2);
  unary("log10", tir::log10);
  unary("log1p", tir::log1p);
  unary("sqrt", tir::sqrt);
  unary("rsqrt", tir::rsqrt);
  unary("sin", tir::sin);
  unary("cos", tir::cos);
  unary("tan", tir::tan);
  unary("sinh", tir::sinh);
  unary("cosh", tir::cosh);
  unary("tanh", tir::tanh);
  unary("asin", tir::asin);
  unary("acos", tir::acos);
  unary("atan", tir::atan);
  unary("asinh", tir::asinh);
  unary("acosh", tir::acosh);
  unary("atanh", tir::atanh);
  unary("erf", tir::erf);
  unary("sigmoid", tir::sigmoid);
  unary("floor", tir::floor);
  unary("ceil", tir::ceil);
  unary("round", tir::round);
  unary("trunc", tir::trunc);
  unary("nearbyint", tir::nearbyint);
  unary("abs", tir::abs);
  unary("isnan", tir::isnan);
  unary("isinf", tir::isinf);
  unary("isfinite", tir::isfinite);
  unary("popcount", tir::popcount);
  unary("clz", tir::clz);
  unary("likely", tir::likely);
  unary("logical_not", [](const Operand& a) { return !a; });
  auto binary = [&](const char* name, BinaryFunction f) { m.def(name, f, "a"_a, "b"_a); };
  binary("pow", tir::pow);
  binary("atan2", tir::atan2);
  binary("hypot", tir::hypot);
  binary("copysign", tir::copysign);
  binary("nextafter", tir::nextafter);
  binary("ldexp", tir::ldexp);
  binary("fmod", tir::fmod);
  binary("div", tir::div);
  binary("floordiv", tir::floordiv);
  binary("floormod", tir::floormod);
  binary("truncdiv", tir::truncdiv);
  binary("truncmod", tir::truncmod);
  binary("ceildiv", tir::ceildiv);
  binary("min", tir::min);
  binary("max", tir::max);
  m.def("fma", &tir::fma, "x"_a, "y"_a, "z"_a);
  m.def("if_then_else", &tir::if_then_else, "condition"_a, "a"_a, "b"_a);
  m.def("select", &tir::select, "condition"_a, "a"_a, "b"_a);
  auto fold = [&](const char* name, Expr (*combine)(const Operand&, const Operand&), bool empty) {
    m.def(
        name,
        [=](const nb::args& conditions) {
          std::optional<Expr> result;
          for (nb::handle each : conditions) {
            const auto condition =
                argument_as<Operand>(each, std::string(name) + ": expected conditions");
            result = result ? combine(*result, condition) : combine(condition, Operand(!empty));
          }
          return result ? *result : Operand(!empty).alone();
        },
        "conditions"_a);
  };
  fold(
      "all", [](const Operand& a, const Operand& b) { return a && b; }, false);
  fold(
      "any", [](const Operand& a, const Operand& b) { return a || b; }, true);
  m.def(
      "cast", [](const DTypeLike& type, const Operand& e) { return tir::cast(type, e); }, "dtype"_a,
      "value"_a, "Converts the value to the type.");
  m.def(
      "reinterpret",
      [](const DTypeLike& type, const Operand& e) { return tir::reinterpret(type, e); }, "dtype"_a,
      "value"_a);
  m.def(
      "make_const",
      [](const DTypeLike& type, const std::variant<nb::float_, Operand>& value) {
        const DataType dtype = type;
        if (const auto* number = std::get_if<nb::float_>(&value))
          return tir::make_const(dtype, static_cast<double>(*number), here());
        const Expr constant = std::get<Operand>(value).alone();
        if (const auto* integer = constant.as<tir::IntImm>()) {
          if (constant.dtype().is_bool())
            return tir::make_const(dtype, integer->value != 0, here());
          if (constant.dtype().is_uint())
            return tir::make_const(dtype, static_cast<std::uint64_t>(integer->value), here());
          return tir::make_const(dtype, integer->value, here());
        }
        if (const auto* floating = constant.as<tir::FloatImm>())
          return tir::make_const(dtype, floating->value, here());
        throw TypeError("make_const: `" + tir::print_expr(constant) + "` is not a number", here());
      },
      "dtype"_a, "value"_a);
  m.def("min_value", with_line(tir::min_value), "dtype"_a);
  m.def("max_value", with_line(tir::max_value), "dtype"_a);
  m.def("infinity", with_line(tir::infinity), "dtype"_a);
}

/// Converts the arguments of a call: expressions, numbers and strings.
std::vector<Expr> call_arguments(const nb::args& args) {
  constexpr const char* kArguments = "expected expressions, numbers and UTF-8 texts as arguments";
  std::vector<Expr> values;
  for (nb::handle each : args) {
    if (nb::isinstance<nb::str>(each)) {
      values.push_back(tir::make_string(argument_as<std::string>(each, kArguments)));
    } else {
      values.push_back(argument_as<Operand>(each, kArguments).alone());
    }
  }
  return values;
}

/// Maximum number of arguments of an intrinsic that is called from Python.
constexpr std::size_t kMaxIntrinsicArguments = 24;

Expr call_intrinsic(DataType type, tir::Intrin intrin, const std::vector<Expr>& args) {
  using Call = Expr (*)(DataType, tir::Intrin, const std::vector<Expr>&);
  static constexpr auto kCalls = []<std::size_t... N>(std::index_sequence<N...>) {
    return std::array<Call, sizeof...(N)>{
        [](DataType result, tir::Intrin callee, const std::vector<Expr>& list) {
          return [&]<std::size_t... I>(std::index_sequence<I...>) {
            return tir::call_intrin_list({result, here()}, callee, {tir::Argument(list[I])...});
          }
          (std::make_index_sequence<N>());
        }...};
  }
  (std::make_index_sequence<kMaxIntrinsicArguments + 1>());
  if (args.size() > kMaxIntrinsicArguments)
    throw TypeError("call_intrin: an intrinsic takes at most " +
                        std::to_string(kMaxIntrinsicArguments) + " arguments, got " +
                        std::to_string(args.size()),
                    here());
  return kCalls[args.size()](type, intrin, args);
}

void bind_calls(PyModule& m) {
  m.def(
      "call_extern",
      [](const DTypeLike& type, const std::string& name, const nb::args& args) {
        if (name.empty()) throw TypeError("call_extern: the name is empty", here());
        return tir::make_extern_call(type, name, call_arguments(args), false);
      },
      "dtype"_a, "name"_a, "args"_a);
  m.def(
      "call_pure_extern",
      [](const DTypeLike& type, const std::string& name, const nb::args& args) {
        if (name.empty()) throw TypeError("call_pure_extern: the name is empty", here());
        return tir::make_extern_call(type, name, call_arguments(args), true);
      },
      "dtype"_a, "name"_a, "args"_a, "Calls a C function without side effects.");
  m.def(
      "call_intrin",
      [](const DTypeLike& type, const std::string& name, const nb::args& args) {
        std::string_view plain = name;
        if (plain.starts_with("tir.")) plain.remove_prefix(4);
        const std::optional<tir::Intrin> intrin = tir::find_intrin(plain);
        if (!intrin) throw TypeError("call_intrin: there is no intrinsic `" + name + "`", here());
        return call_intrinsic(type, *intrin, call_arguments(args));
      },
      "dtype"_a, "name"_a, "args"_a, "Calls an intrinsic by its printed name, such as \"exp\".");
}

}  // namespace

void bind_types(PyModule& m) {
  PyClass<DataType>(m, "DataType", "The type of an element, or of a vector of elements.")
      .def(
          "__init__", [](DataType* self, const DTypeLike& type) { new (self) DataType(type); },
          "text"_a)
      .def_static(
          "parse", [](const std::string& text) { return DataType::parse(text, here()); }, "text"_a)
      .def_ro("bits", &DataType::bits)
      .def_ro("lanes", &DataType::lanes)
      .def("str", &DataType::str)
      .def_prop_ro("is_int", &DataType::is_int)
      .def_prop_ro("is_uint", &DataType::is_uint)
      .def_prop_ro("is_float", &DataType::is_float)
      .def_prop_ro("is_bfloat", &DataType::is_bfloat)
      .def_prop_ro("is_floating", &DataType::is_floating)
      .def_prop_ro("is_integral", &DataType::is_integral)
      .def_prop_ro("is_bool", &DataType::is_bool)
      .def_prop_ro("is_handle", &DataType::is_handle)
      .def_prop_ro("is_vector", &DataType::is_vector)
      .def("element", &DataType::element)
      .def("with_lanes", &DataType::with_lanes, "lanes"_a)
      .def("bytes", &DataType::bytes)
      .def_prop_ro(
          "dtype",
          [](const DataType& type) {
            return nb::module_::import_("numpy").attr("dtype")(type.str());
          },
          "The type of NumPy, which lets NumPy's functions accept this type. Python TypeError if "
          "NumPy has no such type.")
      .def(
          "__eq__",
          [](const DataType& a, const DTypeLike& b) {
            return std::holds_alternative<DataType>(b.value)
                       ? a == std::get<DataType>(b.value)
                       : a.str() == std::get<std::string>(b.value);
          },
          nb::is_operator(), nb::sig("def __eq__(self, arg: object, /) -> bool"))
      .def("__hash__", [](const DataType& a) { return nb::hash(nb::str(a.str().c_str())); })
      .def_text(&DataType::str);
  m.def("Float", with_line(Float), "bits"_a = 32, "lanes"_a = 1);
  m.def("BFloat", with_line(BFloat), "bits"_a = 16, "lanes"_a = 1);
  m.def("Int", with_line(Int), "bits"_a = 32, "lanes"_a = 1);
  m.def("UInt", with_line(UInt), "bits"_a = 32, "lanes"_a = 1);
  m.def("Bool", with_line(Bool), "lanes"_a = 1);
  m.def("Handle", &Handle);
}

void bind_expressions(PyModule& m) {
  PyClass<Expr> expr(m, "Expr",
                     "An expression. Python numbers take the type of the expression that they "
                     "meet; `/` is for floats, `//` and `%` round towards minus infinity.");
  PyClass<Var, Expr> var(m, "Var", "A variable, distinguished by identity, not by name.");
  PyClass<IterVar> axis(m, "IterVar");
  PyClass<Range> range(m, "Range", "A half-open range [begin, end).");

  expr.def(
          "__init__", [](Expr* self, const Operand& value) { new (self) Expr(value.alone()); },
          "value"_a)
      .def_prop_ro("dtype", &Expr::dtype)
      .def_prop_ro(
          "node", [](const Expr& e) { return node_of(e); },
          "The node as an object of its kind: IntImm, Binary, Call, Load, ...")
      .def(
          "same_as", [](const Expr& a, const Operand& b) { return a.same_as(b.alone()); },
          "other"_a, "Whether both are the same expression, by identity.")
      .def("__bool__", &truth_of)
      .def("__int__",
           [](const Expr& e) {
             return nb::steal(PyNumber_Long(number_of(e, "integer value").ptr()));
           })
      .def("__float__", [](const Expr& e) { return nb::cast<double>(number_of(e, "float value")); })
      .def("__hash__", [](const Expr& e) { return identity_hash(&e.node()); })
      .def_prop_ro(
          "value", [](const Expr& e) { return number_of(e, "value"); },
          "The value of a constant; TypeError for any other expression.")
      .def_text([](const Expr& e) { return tir::print_expr(e); });
  bind_operators(expr);

  var.def(
         "__init__",
         [](Var* self, const std::string& name, const DTypeLike& type) {
           new (self) Var(Name(name), DataType(type));
         },
         "name"_a, "dtype"_a = DTypeLike{Int(32)})
      // If a variable is a part of another object, such as a shape, Python sees it as an Expr. It
      // can be converted back.
      .def(
          "__init__",
          [](Var* self, const Expr& e) {
            if (!e.as<tir::VarNode>()) throw nb::next_overload();
            new (self) Var(Var::of(e));
          },
          "variable"_a)
      .def_prop_ro("name", &Var::name);
  nb::implicitly_convertible<Expr, Var>();

  axis.def_prop_ro("var", &IterVar::var)
      .def_prop_ro("name", &IterVar::name)
      .def_prop_ro(
          "dom", [](const IterVar& a) { return a.dom(); },
          "The domain; None if it is still to be inferred.")
      .def_prop_ro("kind", [](const IterVar& a) { return std::string(to_string(a.kind())); })
      .def_prop_ro("thread",
                   [](const IterVar& a) {
                     return a.thread() ? std::optional(a.thread()->str()) : std::nullopt;
                   })
      .def_prop_ro("dtype", [](const IterVar& a) { return a.var().dtype(); })
      .def("same_as", &IterVar::same_as, "other"_a)
      .def("__hash__", [](const IterVar& a) { return identity_hash(&a.var().node()); })
      .def_text([](const IterVar& a) { return tir::print_legacy(a); });
  bind_operators(axis);

  range
      .def(
          "__init__",
          [](Range* self, const Operand& begin, const std::optional<Operand>& end) {
            new (self) Range(end ? Range(begin.alone(), end->alone(), here())
                                 : Range(Expr(0), begin.alone(), here()));
          },
          "begin"_a, "end"_a = nb::none())
      .def_static(
          "from_min_extent",
          [](const Operand& min, const Operand& extent) {
            return Range::from_min_extent(min.alone(), extent.alone());
          },
          "min"_a, "extent"_a)
      .def_ro("min", &Range::min)
      .def_ro("extent", &Range::extent)
      .def_text([](const Range& r) { return tir::print_legacy(r); });

  bind_maths(m);
  bind_calls(m);
}

}  // namespace tenon::python
