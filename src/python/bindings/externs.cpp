// The bindings of scans, extern operations and tensor intrinsics, and conversions between
// operations and functions.
#include "bindings/te.h"
#include "bindings/tir.h"
#include "tenon/te/analysis.h"
#include "tenon/te/auto_inline.h"
#include "tenon/te/intrin.h"
#include "tenon/te/operation.h"
#include "tenon/te/operation_kind.h"
#include "tenon/te/prim_func.h"
#include "tenon/tir/builder.h"

namespace tenon::python {

using te::Operation;
using te::Tensor;
using tir::Buffer;
using tir::Expr;
using tir::IterVar;
using tir::Operand;
using tir::Stmt;
using tir::Var;

namespace {

nb::list to_list(std::span<const Buffer> buffers) {
  nb::list list;
  for (const Buffer& each : buffers) list.append(each);
  return list;
}

/// Converts the result of a Python function to a statement. The result may be a statement, a
/// statement node, or a call, which becomes a statement that evaluates it.
Stmt statement_of(nb::handle result, const std::string& what) {
  if (const Stmt * stmt; nb::try_cast(result, stmt, false) && stmt) return *stmt;
  if (const std::optional<Operand> call = to_operand(result))
    return tir::make_evaluate(call->alone());
  if (Stmt stmt = tir::make_nop(); nb::try_cast(result, stmt)) return stmt;
  throw TypeError(what + ": expected a statement or a call, got " + nb::inst_name(result).c_str(),
                  here());
}

/// Converts the result of a Python function to the body of an intrinsic. The result may be a
/// statement, a tuple (body, reset, update), or a TensorIntrinBody.
te::TensorIntrinBody intrinsic_body(nb::handle result) {
  if (const te::TensorIntrinBody * body; nb::try_cast(result, body, false) && body) return *body;
  const std::string what = "decl_tensor_intrin: the body";
  te::TensorIntrinBody body;
  if (PyTuple_Check(result.ptr()) || PyList_Check(result.ptr())) {
    const auto items = nb::cast<std::vector<nb::object>>(result);
    if (items.empty() || items.size() > 3)
      throw TypeError(what + " must return (body, reset, update), got " +
                          std::to_string(items.size()) + " items",
                      here());
    std::optional<Stmt>* parts[] = {&body.body, &body.reset, &body.update};
    for (std::size_t n = 0; n < items.size(); ++n)
      if (!items[n].is_none()) *parts[n] = statement_of(items[n], what);
    return body;
  }
  body.body = statement_of(result, what);
  return body;
}

/// A context manager: sets the default tag of the operations that are declared in its `with` block.
struct TagScope {
  std::string tag;
  std::shared_ptr<te::TagScope> open = nullptr;
};

nb::object extern_op(nb::handle shape, const std::vector<Tensor>& inputs, const nb::callable& body,
                     const std::string& name, const std::optional<OneOrMore<DTypeLike>>& dtype,
                     const std::optional<std::vector<Buffer>>& input_buffers,
                     const std::optional<std::vector<Buffer>>& output_buffers,
                     const std::string& tag) {
  // If `shape` is a list of shapes, the operation has several outputs.
  std::vector<Operands> shapes;
  OneOrMore<Operand> one;
  const bool is_list = !nb::try_cast(shape, one);
  if (is_list && !nb::try_cast(shape, shapes))
    throw nb::type_error("extern_op: shape must be a shape or a list of shapes");
  if (!is_list) shapes.push_back(one.items);
  te::ExternOptions options{
      .input_buffers = input_buffers, .output_buffers = output_buffers, .tag = tag};
  if (dtype && dtype->items.size() == 1) {
    options.dtype = dtype->items.front();
  } else if (dtype) {
    options.dtypes.assign(dtype->items.begin(), dtype->items.end());
  }
  std::vector<std::vector<Expr>> extents;
  for (const Operands& each : shapes) extents.push_back(to_exprs(each));
  return one_or_list(te::extern_multi(
                         extents, inputs,
                         [&](std::span<const Buffer> ins, std::span<const Buffer> outs) {
                           return te::ExternResult(statement_of(body(to_list(ins), to_list(outs)),
                                                                "extern_op `" + name + "`"));
                         },
                         name, options, here()),
                     is_list);
}

void bind_intrinsics(PyModule& te) {
  PyClass<te::TensorIntrinBody>(te, "TensorIntrinBody")
      .def(
          "__init__",
          [](te::TensorIntrinBody* self, const std::optional<Stmt>& body,
             const std::optional<Stmt>& reset, const std::optional<Stmt>& update) {
            new (self) te::TensorIntrinBody{body, reset, update};
          },
          "body"_a = nb::none(), "reset"_a = nb::none(), "update"_a = nb::none());
  PyClass<te::TensorIntrinCall>(te, "TensorIntrinCall");
  PyClass<te::TensorIntrin>(te, "TensorIntrin",
                            "A hardware operation: what it computes and the code that invokes it.")
      .def_prop_ro("name", &te::TensorIntrin::name)
      .def_prop_ro("op", [](const te::TensorIntrin& i) { return i.node().op; })
      .def_prop_ro("inputs", [](const te::TensorIntrin& i) { return i.node().inputs; })
      .def_prop_ro("buffers", [](const te::TensorIntrin& i) { return i.node().buffers; })
      .def(
          "__call__",
          [](const te::TensorIntrin& intrin, const nb::args& inputs,
             const OneOrMore<IterVar>& reduce_axis, const Operands& scalars) {
            return intrin(items_of<te::TensorRegion>(inputs, "expected regions such as A[i, 0:16]"),
                          {.reduce_axis = reduce_axis.items, .scalars = to_exprs(scalars)}, here());
          },
          "inputs"_a, "reduce_axis"_a = nb::tuple(), "scalars"_a = nb::tuple(),
          "Applies the intrinsic to regions of tensors, as the body of a tensor_compute.");
  te.def(
      "decl_tensor_intrin",
      [](const OperationLike& op, const nb::callable& body, nb::handle binds,
         const std::string& name, const std::vector<Var>& scalar_params,
         int default_offset_factor) {
        return te::decl_tensor_intrin(
            to_operation(op),
            [&](std::span<const Buffer> ins, std::span<const Buffer> outs) {
              if (scalar_params.empty()) return intrinsic_body(body(to_list(ins), to_list(outs)));
              return intrinsic_body(body(to_list(ins), to_list(outs), scalar_params));
            },
            {.binds = pairs_from<Tensor, Buffer>(
                 binds, "decl_tensor_intrin: binds must be a dict of tensors to buffers"),
             .name = name,
             .scalar_params = scalar_params,
             .default_offset_factor = default_offset_factor},
            here());
      },
      "op"_a, "body"_a, "binds"_a = nb::none(), "name"_a = "tensor_intrin",
      "scalar_params"_a = std::vector<Var>(), "default_offset_factor"_a = 1,
      "Declares an intrinsic. `body(ins, outs)` returns a statement, (body, reset, update) or a "
      "TensorIntrinBody.");
  te.def(
      "tensor_compute",
      [](const OneOrMore<Operand>& shape, const nb::callable& body, const std::string& name,
         const std::string& tag,
         const std::optional<std::vector<std::string>>& axes) -> nb::object {
        const std::vector<std::string> names =
            axes ? *axes : Parameters::of(body).axis_names(shape.items.size());
        const std::vector<Tensor> outputs = te::tensor_compute_multi(
            to_exprs(shape.items), names,
            [&](std::span<const Var> vars) {
              nb::object result = call_with(body, vars);
              const te::TensorIntrinCall* call = nullptr;
              if (!nb::try_cast(result, call, false) || call == nullptr)
                throw TypeError("tensor_compute `" + name +
                                    "`: the body must return a call of an intrinsic, got " +
                                    nb::inst_name(result).c_str(),
                                here());
              return *call;
            },
            name, tag, here());
        return one_or_list(outputs, outputs.size() > 1);
      },
      "shape"_a, "body"_a, "name"_a = "tensor_compute", "tag"_a = "", "axes"_a = nb::none(),
      "Makes an operation that applies an intrinsic at every point of the axes of `body`.");
}

}  // namespace

void bind_externs(PyModule& te) {
  te.def(
      "scan",
      [](const OneOrMore<Tensor>& init, const OneOrMore<Tensor>& update,
         const OneOrMore<Tensor>& state, const OneOrMore<Tensor>& inputs, const std::string& name) {
        return one_or_list(
            te::scan(init.items, update.items, state.items, inputs.items, name, here()),
            state.items.size() > 1);
      },
      "init"_a, "update"_a, "state"_a, "inputs"_a = nb::tuple(), "name"_a = "scan",
      "Declares a scan, which computes the whole history of a state; of several states, if lists "
      "are given.");
  te.def(
      "extern_op", &extern_op, "shape"_a, "inputs"_a, "body"_a, "name"_a = "extern",
      "dtype"_a = nb::none(), "input_buffers"_a = nb::none(), "output_buffers"_a = nb::none(),
      "tag"_a = "",
      "Declares an operation of hand-written statements. `body(ins, outs)` takes the buffers and "
      "returns a statement or a call. A list of shapes makes several outputs.");
  te.attr("extern_multi") = te.attr("extern_op");
  bind_intrinsics(te);
  PyClass<TagScope>(te, "TagScope")
      .def("__enter__",
           [](TagScope& scope) { scope.open = std::make_shared<te::TagScope>(scope.tag, here()); })
      .def("__exit__", [](TagScope& scope, const nb::args&) { scope.open = nullptr; });
  te.def(
      "tag_scope", [](const std::string& tag) { return TagScope{tag}; }, "tag"_a,
      "A default tag for the operations declared in a `with` block.");
  te.def(
      "create_prim_func",
      [](const std::vector<te::FunctionArgument>& arguments, const std::string& name,
         nb::handle binds, bool blocks) {
        return te::create_prim_func(
            arguments,
            {.name = name,
             .binds = pairs_from<Tensor, Buffer>(
                 binds, "create_prim_func: binds must be a dict of tensors to buffers"),
             .blocks = blocks},
            here());
      },
      "arguments"_a, nb::kw_only(), "name"_a = "main", "binds"_a = nb::none(), "blocks"_a = true,
      "Makes a function that computes `arguments`: a block program, or default loops.");
  te.def("extern_primfunc", with_line(te::extern_primfunc), "inputs"_a, "func"_a,
         "name"_a = "extern_primfunc");
  te.def("scan_body", with_line(te::scan_body), "scan"_a);
  te.def("scan_fixed_axes", with_line(te::scan_fixed_axes), "scan"_a,
         "Returns the axes along which the columns of a scan are independent.");
  te.def(
      "post_dfs_order",
      [](const OneOrMore<Operation>& outputs) { return te::post_dfs_order(outputs.items); },
      "outputs"_a, "Returns the operations and all that they depend on, inputs first.");
  te.def("is_elementwise", &te::is_elementwise, "op"_a);
  te.def("is_broadcast", &te::is_broadcast, "op"_a);
  te.def("is_injective", &te::is_injective, "op"_a);
  te.def("auto_inline_elementwise", with_line(te::auto_inline_elementwise), "schedule"_a,
         "Inlines untouched elementwise stages and returns their operations.");
  te.def("auto_inline_broadcast", with_line(te::auto_inline_broadcast), "schedule"_a);
  te.def("auto_inline_injective", with_line(te::auto_inline_injective), "schedule"_a);
}

}  // namespace tenon::python
