// The bindings of tensors, operations, reductions and tensor intrinsics.
#include "bindings/te.h"
#include "tenon/te/operation_kind.h"
#include "tenon/te/reduce.h"
#include "tenon/tir/print.h"

namespace tenon::python {

using te::Operation;
using te::Tensor;
using tir::Expr;
using tir::IterVar;
using tir::Operand;
using tir::Var;

// ---- bodies -------------------------------------------------------------------------------------

Parameters Parameters::of(nb::handle function) {
  Parameters parameters;
  // The first parameter of a bound method is `self`, which Python passes itself.
  const bool is_method = class_name(function) == "method";
  nb::object plain = is_method ? function.attr("__func__") : nb::borrow(function);
  if (class_name(plain) != "function") return parameters;
  nb::object code = plain.attr("__code__");
  const auto names = nb::cast<nb::tuple>(code.attr("co_varnames"));
  const auto count = nb::cast<std::size_t>(code.attr("co_argcount"));
  const auto keywords = nb::cast<std::size_t>(code.attr("co_kwonlyargcount"));
  const auto flags = nb::cast<int>(code.attr("co_flags"));
  constexpr int kVariadic = 4;  // the flag inspect.CO_VARARGS: the function has a parameter `*args`
  parameters.names.emplace();
  for (std::size_t n = is_method ? 1 : 0; n < count; ++n)
    parameters.names->push_back(nb::cast<std::string>(names[n]));
  if ((flags & kVariadic) != 0)
    parameters.variadic = nb::cast<std::string>(names[count + keywords]);
  return parameters;
}

std::vector<std::string> Parameters::axis_names(std::size_t rank) const {
  if (!names) return {};
  std::vector<std::string> result = *names;
  if (!variadic.empty())
    for (std::size_t n = result.size(), first = n; n < rank; ++n)
      result.push_back(variadic + std::to_string(n - first));
  return result;
}

void Parameters::check_count(std::size_t count, const std::string& what) const {
  if (!names || (variadic.empty() ? names->size() == count : names->size() <= count)) return;
  auto number = [](std::size_t n, const char* noun) {
    return std::to_string(n) + " " + noun + (n == 1 ? "" : "s");
  };
  throw TypeError(what + ": the body takes " + number(names->size(), "variable") +
                      ", but the shape has " + number(count, "dimension"),
                  here());
}

te::Operation to_operation(const OperationLike& operation) {
  if (const auto* tensor = std::get_if<Tensor>(&operation)) return tensor->op();
  return std::get<Operation>(operation);
}

std::vector<Operation> to_operations(const OneOrMore<OperationLike>& operations) {
  std::vector<Operation> list;
  for (const OperationLike& each : operations.items) list.push_back(to_operation(each));
  return list;
}

nb::object call_with(const nb::callable& function, std::span<const Var> vars) {
  nb::list args;
  for (const Var& var : vars) args.append(var);
  return function(*args);
}

/// Returns the items of a list or tuple, and true; or a tuple of any other object alone, and false.
static std::pair<nb::object, bool> items_of_result(nb::handle result) {
  if (PyList_Check(result.ptr()) || PyTuple_Check(result.ptr())) return {nb::borrow(result), true};
  return {nb::make_tuple(result), false};
}

std::pair<std::vector<Expr>, bool> body_result(nb::handle result, const std::string& what) {
  const auto [items, is_list] = items_of_result(result);
  std::vector<Expr> exprs;
  for (nb::handle item : items) {
    const std::optional<Operand> operand = to_operand(item);
    if (!operand)
      throw TypeError(what + ": the body must return an expression, or a list of them, got " +
                          nb::inst_name(item).c_str(),
                      here());
    exprs.push_back(operand->alone());
  }
  return {std::move(exprs), is_list};
}

namespace {

/// Returns the start of an error message: "compute `C`".
std::string quoted(const char* function, const std::string& name) {
  return std::string(function) + " `" + name + "`";
}

nb::object compute(const Operands& shape, const nb::callable& body, const std::string& name,
                   const std::string& tag, const std::map<std::string, std::string>& attrs,
                   const std::optional<std::vector<std::string>>& axes) {
  const std::string what = quoted("compute", name);
  const Parameters parameters = Parameters::of(body);
  parameters.check_count(shape.size(), what);
  const std::vector<std::string> names = axes ? *axes : parameters.axis_names(shape.size());
  bool is_list = false;
  auto call = [&](std::span<const Var> vars) {
    std::vector<Expr> exprs;
    std::tie(exprs, is_list) = body_result(call_with(body, vars), what);
    return exprs;
  };
  const te::ComputeOptions options{.tag = tag, .attrs = attrs};
  const std::vector<Tensor> tensors =
      names.empty() ? te::compute_multi(to_exprs(shape), call, name, options, here())
                    : te::compute_multi(to_exprs(shape), names, call, name, options, here());
  return one_or_list(tensors, is_list);
}

/// A tensor of which only the first indices are given, as in `A[i]` of `A[i][j]`.
struct TensorSlice {
  Tensor tensor;
  std::vector<Expr> indices;
};

/// Implements `tensor[key]`: reads an element, a partial index or a region. `before`: the indices
/// that were given before.
nb::object index_tensor(const Tensor& tensor, std::vector<Expr> before, nb::handle key) {
  std::vector<nb::object> items;
  if (PyTuple_Check(key.ptr())) {
    for (nb::handle each : key) items.push_back(nb::borrow(each));
  } else {
    items.push_back(nb::borrow(key));
  }
  bool is_region = false;
  for (const nb::object& each : items) is_region = is_region || PySlice_Check(each.ptr());
  auto operand = [&](nb::handle item, const char* what) {
    const std::optional<Operand> index = to_operand(item);
    if (!index)
      throw TypeError(std::string(what) + " of `" + tensor.name() +
                          "` must be an expression, an axis or an integer, got " +
                          nb::inst_name(item).c_str(),
                      here());
    return index->alone();
  };
  if (is_region) {
    std::vector<te::Slice> slices;
    for (const Expr& index : before) slices.emplace_back(index, here());
    for (const nb::object& each : items) {
      if (!PySlice_Check(each.ptr())) {
        slices.emplace_back(operand(each, "an index"), here());
        continue;
      }
      nb::object start = each.attr("start"), stop = each.attr("stop"), step = each.attr("step");
      if (!step.is_none() && !(nb::isinstance<nb::int_>(step) && step.equal(nb::int_(1))))
        throw TypeError("a slice of `" + tensor.name() + "` must have step 1", here());
      const std::size_t dimension = slices.size();
      Expr begin = start.is_none() ? Expr(0) : operand(start, "the begin of a slice");
      if (stop.is_none() && dimension >= tensor.shape().size())
        throw TypeError("`" + tensor.name() + "` has " + std::to_string(tensor.ndim()) +
                            " dimensions, got more indices",
                        here());
      Expr end = stop.is_none() ? tensor.shape()[dimension] : operand(stop, "the end of a slice");
      slices.emplace_back(tir::Range(begin, end, here()));
    }
    return nb::cast(tensor.region(std::move(slices), here()));
  }
  for (const nb::object& each : items) before.push_back(operand(each, "an index"));
  if (before.size() < tensor.shape().size())
    return nb::cast(TensorSlice{tensor, std::move(before)});
  return nb::cast(tensor(before, here()));
}

/// Returns the options of a reduction: its condition and its initial values.
te::ReduceOptions reduce_options(const std::optional<Operand>& where,
                                 const std::optional<OneOrMore<Operand>>& init) {
  te::ReduceOptions options;
  if (where) options.where = where->alone();
  if (init) options.init.assign(init->items.begin(), init->items.end());
  return options;
}

template <class AxisList>
void bind_reduction(PyModule& te, const char* name,
                    Expr (*reduce)(const Operand&, AxisList, te::ReduceOptions), const char* doc) {
  te.def(
      name,
      [=](const Operand& source, const OneOrMore<IterVar>& axis,
          const std::optional<Operand>& where, const std::optional<OneOrMore<Operand>>& init) {
        return reduce(source, axis.items, reduce_options(where, init));
      },
      "expr"_a, "axis"_a, nb::kw_only(), "where"_a = nb::none(), "init"_a = nb::none(), doc);
}

void bind_reductions(PyModule& te) {
  using List = const std::vector<IterVar>&;
  bind_reduction(te, "sum", te::sum, "Sums over reduction axes.");
  bind_reduction(te, "prod", te::prod, "Multiplies over reduction axes.");
  bind_reduction<List>(te, "min", te::min,
                       "The minimum over reduction axes, or of two expressions.");
  bind_reduction<List>(te, "max", te::max,
                       "The maximum over reduction axes, or of two expressions.");
  bind_reduction<List>(te, "all", te::all, "The conjunction over reduction axes.");
  bind_reduction<List>(te, "any", te::any, "The disjunction over reduction axes.");
  te.def("min", &tir::min, "a"_a, "b"_a);
  te.def("max", &tir::max, "a"_a, "b"_a);

  PyClass<te::Reducer>(te, "Reducer")
      .def(
          "__call__",
          [](const te::Reducer& reducer, nb::handle source, const OneOrMore<IterVar>& axis,
             const std::optional<Operand>& where, const std::optional<OneOrMore<Operand>>& init) {
            const auto [sources, is_list] = body_result(source, "a reducer");
            const std::vector<Expr> result =
                reducer(sources, axis.items, reduce_options(where, init), here());
            return one_or_list(result, is_list);
          },
          "source"_a, "axis"_a, nb::kw_only(), "where"_a = nb::none(), "init"_a = nb::none(),
          "Reduces a tuple to one component per source, or a single expression.");
  te.def(
      "comm_reducer",
      [](const nb::callable& combine, const nb::callable& identity, const std::string& name) {
        auto list = [name](nb::handle result, std::size_t count, const char* function) {
          std::vector<Expr> exprs = body_result(result, quoted("reducer", name)).first;
          if (exprs.size() != count)
            throw TypeError(quoted("reducer", name) + ": " + function + " must return " +
                                std::to_string(count) + " values, got " +
                                std::to_string(exprs.size()),
                            here());
          return exprs;
        };
        // The functions of a reducer with one component take variables. If there are several
        // components, they take tuples.
        auto packed = [](std::span<const Var> vars) -> nb::object {
          if (vars.size() == 1) return nb::cast(vars[0]);
          return nb::tuple(nb::cast(std::vector<Var>(vars.begin(), vars.end())));
        };
        return te::comm_reducer(
            [=](std::span<const Var> x, std::span<const Var> y) {
              return list(combine(packed(x), packed(y)), x.size(), "the combination");
            },
            [=](std::span<const DataType> types) {
              nb::list args;
              for (const DataType& type : types) args.append(type);
              // Number literals get the types of the components.
              std::vector<Expr> values;
              const auto [items, is_list] = items_of_result(identity(*args));
              for (nb::handle item : items) {
                const std::optional<Operand> operand = to_operand(item);
                if (!operand || values.size() >= types.size())
                  throw TypeError(quoted("reducer", name) +
                                      ": the identity must return one value per component",
                                  here());
                values.push_back(operand->beside(types[values.size()]));
              }
              return values;
            },
            name, here());
      },
      "combine"_a, "identity"_a, "name"_a = "reduce",
      "Makes a reducer. `combine(x, y)` takes two variables, or two tuples of them, and returns the "
      "combination; `identity(*dtypes)` returns the neutral element.");
}

}  // namespace

void bind_operations(PyModule& te) {
  PyClass<Axes>(te, "Axes", "Axes in order: `axes[0]` or `axes(0)`.")
      .def("__len__", [](const Axes& axes) { return axes.items.size(); })
      .def(
          "__getitem__",
          [](const Axes& axes, Py_ssize_t n) {
            const auto size = static_cast<Py_ssize_t>(axes.items.size());
            const Py_ssize_t index = n < 0 ? n + size : n;
            if (index < 0 || index >= size)
              throw nb::index_error(
                  ("axis " + std::to_string(n) + " of " + std::to_string(size)).c_str());
            return axes.items[static_cast<std::size_t>(index)];
          },
          "n"_a)
      .def(
          "__getitem__",
          [](const Axes& axes, const nb::slice& slice) {
            auto [start, stop, step, length] = slice.compute(axes.items.size());
            std::vector<IterVar> part;
            for (std::size_t n = 0; n < length; ++n, start += step)
              part.push_back(axes.items[static_cast<std::size_t>(start)]);
            return part;
          },
          "n"_a)
      .def(
          "__call__",
          [](const Axes& axes, int n) {
            if (n < 0 || static_cast<std::size_t>(n) >= axes.items.size())
              throw TypeError("axis " + std::to_string(n) + " does not exist: there are " +
                                  std::to_string(axes.items.size()),
                              here());
            return axes.items[static_cast<std::size_t>(n)];
          },
          "n"_a)
      .def("__repr__", [](const Axes& axes) {
        std::string text = "[";
        for (const IterVar& each : axes.items)
          text += (text.size() > 1 ? ", " : "") + tir::print_legacy(each);
        return text + "]";
      });

  PyClass<Tensor> tensor(te, "Tensor", "One output of an operation.");
  PyClass<Operation> operation(te, "Operation",
                               "A definition of what to compute, or an input. Immutable.");
  PyClass<TensorSlice>(te, "TensorSlice", "A tensor with the first of its indices.")
      .def("__getitem__", [](const TensorSlice& slice, nb::handle key) {
        return index_tensor(slice.tensor, slice.indices, key);
      });
  PyClass<te::TensorRegion>(te, "TensorRegion")
      .def_ro("tensor", &te::TensorRegion::tensor)
      .def_ro("ranges", &te::TensorRegion::ranges);

  tensor.def_prop_ro("shape", [](const Tensor& t) { return nb::tuple(nb::cast(t.shape())); })
      .def_prop_ro("dtype", &Tensor::dtype)
      .def_prop_ro("name", &Tensor::name)
      .def_prop_ro("op", &Tensor::op)
      .def_prop_ro("value_index", &Tensor::value_index)
      .def_prop_ro("ndim", &Tensor::ndim)
      .def("same_as", &Tensor::same_as, "other"_a)
      .def("__call__",
           [](const Tensor& t, const nb::args& indices) -> nb::object {
             if (indices.size() == 0) return nb::cast(t(here()));
             return index_tensor(t, {}, indices);
           })
      .def(
          "__getitem__", [](const Tensor& t, nb::handle key) { return index_tensor(t, {}, key); },
          "indices"_a)
      .def_equality(&Tensor::same_as)
      .def("__hash__",
           [](const Tensor& t) {
             return std::hash<const void*>()(t.op().get()) +
                    static_cast<std::size_t>(t.value_index());
           })
      .def("__repr__", [](const Tensor& t) { return text_of(t); });
  tensor.attr("__iter__") = nb::none();

  operation.def_prop_ro("name", &Operation::name)
      .def_prop_ro("tag", &Operation::tag)
      .def_prop_ro("axis", [](const Operation& op) { return Axes{op.axis()}; })
      .def_prop_ro("reduce_axis", [](const Operation& op) { return Axes{op.reduce_axis()}; })
      .def_prop_ro("scan_axis", with_line(&Operation::scan_axis))
      .def_prop_ro("inputs", &Operation::inputs)
      .def_prop_ro("num_outputs", &Operation::num_outputs)
      .def_prop_ro("body", &Operation::body)
      .def_prop_ro("attrs", &Operation::attrs)
      .def("output", with_line(&Operation::output), "n"_a)
      .def("same_as", &Operation::same_as, "other"_a)
      .def_equality(&Operation::same_as)
      .def("__hash__", [](const Operation& op) { return std::hash<const void*>()(op.get()); })
      .def("__repr__", [](const Operation& op) { return text_of(op); });

  te.def(
      "placeholder",
      [](const OneOrMore<Operand>& shape, const std::string& name, const DTypeLike& dtype) {
        return te::placeholder(to_exprs(shape.items), name, dtype, here());
      },
      "shape"_a, "name"_a = "placeholder", "dtype"_a = DTypeLike{Float(32)});
  te.def(
      "constant_input",
      [](const OneOrMore<Operand>& shape, const std::string& name, const DTypeLike& dtype) {
        return te::constant_input(to_exprs(shape.items), name, dtype, here());
      },
      "shape"_a, "name"_a = "constant", "dtype"_a = DTypeLike{Float(32)});
  te.def(
      "compute",
      [](const OneOrMore<Operand>& shape, const nb::callable& body, const std::string& name,
         const std::string& tag, const std::map<std::string, std::string>& attrs,
         const std::optional<std::vector<std::string>>& axes) {
        return compute(shape.items, body, name, tag, attrs, axes);
      },
      "shape"_a, "body"_a, "name"_a = "compute", "tag"_a = "",
      "attrs"_a = std::map<std::string, std::string>(), "axes"_a = nb::none(),
      "Declares a compute operation. `body` takes one variable per dimension and returns the "
      "element there; its parameter names are the axis names unless `axes` gives them. A body that "
      "returns a list makes one output per item, and a list of tensors is returned.");
  te.def("reduce_axis", with_line(te::reduce_axis), "range"_a, "name"_a = "rv",
         "Makes a reduction axis over the half-open range.");
  te.def(
      "thread_axis",
      [](const std::string& tag, const std::string& name) {
        return te::thread_axis(tag, name, here());
      },
      "tag"_a, "name"_a = "", "Makes a thread axis such as \"threadIdx.x\".");
  te.def(
      "thread_axis",
      [](const std::optional<RangeLike>& range, const std::string& tag, const std::string& name) {
        return range ? te::thread_axis(*range, tag, name, here())
                     : te::thread_axis(tag, name, here());
      },
      "range"_a.none(), "tag"_a, "name"_a = "");
  te.def(
      "var", [](const std::string& name, const DTypeLike& type) { return Var(Name(name), type); },
      "name"_a = "tindex", "dtype"_a = DTypeLike{Int(32)}, "Makes a variable, such as a size.");
  te.def("size_var", with_line(te::size_var), "name"_a = "size", "dtype"_a = DTypeLike{Int(32)});
  bind_reductions(te);
}

}  // namespace tenon::python
