// The bindings of schedules and stages with their primitives.
#include "bindings/te.h"
#include "tenon/te/infer_bound.h"
#include "tenon/te/schedule_ops.h"
#include "tenon/tir/print.h"

namespace tenon::python {

using te::Schedule;
using te::Stage;
using te::Tensor;
using tir::Expr;
using tir::IterVar;
using tir::Operand;

namespace {

constexpr const char* kAxes = "expected axes, or one list of axes";

void bind_loops(PyClass<Stage>& stage) {
  stage
      .def(
          "split",
          [](const Stage& s, const IterVar& axis, const std::optional<Operand>& factor,
             const std::optional<Operand>& nparts) {
            if (factor.has_value() == nparts.has_value())
              throw ScheduleError("split of axis `" + axis.name() + "` of stage `" + s.name() +
                                      "`: give either factor or nparts",
                                  here());
            auto [outer, inner] =
                factor ? s.split(axis, *factor, here()) : s.split_by_nparts(axis, *nparts, here());
            return std::pair(outer, inner);
          },
          "axis"_a, "factor"_a = nb::none(), "nparts"_a = nb::none(),
          "Splits a loop into an outer and an inner one: by `factor`, the iterations of the inner "
          "loop, or by `nparts`, those of the outer one. Returns (outer, inner).")
      .def(
          "split_by_nparts",
          [](const Stage& s, const IterVar& axis, const Operand& nparts) {
            auto [outer, inner] = s.split_by_nparts(axis, nparts, here());
            return std::pair(outer, inner);
          },
          "axis"_a, "nparts"_a)
      .def(
          "fuse",
          [](const Stage& s, const nb::args& axes) {
            return s.fuse(items_of<IterVar>(axes, kAxes), here());
          },
          "axes"_a)
      .def(
          "tile",
          [](const Stage& s, const IterVar& x, const IterVar& y, const Operand& x_factor,
             const Operand& y_factor) {
            auto [xo, yo, xi, yi] = s.tile(x, y, x_factor, y_factor, here());
            return std::tuple(xo, yo, xi, yi);
          },
          "x"_a, "y"_a, "x_factor"_a, "y_factor"_a,
          "Splits both loops and reorders them to (x_outer, y_outer, x_inner, y_inner).")
      .def(
          "reorder",
          [](const Stage& s, const nb::args& order) {
            return s.reorder(items_of<IterVar>(order, kAxes), here());
          },
          "order"_a)
      .def("bind", with_line(&Stage::bind), "axis"_a, "thread"_a)
      .def(
          "pragma",
          [](const Stage& s, const IterVar& axis, const std::string& key,
             const std::variant<std::string, Operand>& value) {
            if (const auto* text = std::get_if<std::string>(&value))
              return s.pragma(axis, key, te::PragmaValue(*text), here());
            return s.pragma(axis, key, te::PragmaValue(std::get<Operand>(value).alone()), here());
          },
          "axis"_a, "key"_a, "value"_a = 1)
      .def("prefetch", with_line(&Stage::prefetch), "tensor"_a, "axis"_a, "offset"_a)
      .def("tensorize", with_line(&Stage::tensorize), "axis"_a, "intrin"_a,
           "Replaces the loop and those inside it by an intrinsic.")
      .def("vectorize", with_line(&Stage::vectorize), "axis"_a,
           "Runs the iterations as lanes of a vector.")
      .def("unroll", with_line(&Stage::unroll), "axis"_a, "Repeats the body for each iteration.")
      .def("parallel", with_line(&Stage::parallel), "axis"_a, "Runs the iterations in parallel.")
      .def("round_up", with_line(&Stage::round_up), "axis"_a,
           "Lets a non-output compute overrun the axis to its consumers' tile size.")
      .def("shift_inwards", with_line(&Stage::shift_inwards), "axis"_a,
           "Moves the last tile of a non-output compute inwards, so that it has no tail.");
}

void bind_storage(PyClass<Stage>& stage) {
  stage
      .def("compute_at", with_line(&Stage::compute_at), "parent"_a, "axis"_a,
           "Attaches the stage to a loop of `parent`.")
      .def("set_scope", with_line(&Stage::set_scope), "scope"_a,
           "Sets the memory of the output, such as \"shared\".")
      .def("set_store_predicate", with_line(&Stage::set_store_predicate), "condition"_a,
           "Restricts the stores to where the condition holds.")
      .def(
          "env_threads",
          [](const Stage& s, const nb::args& threads) {
            return s.env_threads(items_of<IterVar>(threads, kAxes), here());
          },
          "threads"_a, "Adds thread axes around a whole scan.")
      .def("storage_align", with_line(&Stage::storage_align), "axis"_a, "factor"_a, "offset"_a,
           "Pads the stride of a dimension so that stride % factor == offset.")
      .def("bound", with_line(&Stage::bound), "axis"_a, "range"_a)
      .def(
          "transform_layout",
          [](const Stage& s, const nb::callable& map, bool pad) {
            const std::string what = "transform_layout of stage `" + s.name() + "`";
            Parameters::of(map).check_count(s.op(here()).output(0, here()).shape().size(), what);
            return s.transform_layout(
                [&](std::span<const tir::Var> vars) {
                  return body_result(call_with(map, vars), what).first;
                },
                te::LayoutOptions{.pad = pad}, here());
          },
          "map"_a, nb::kw_only(), "pad"_a = false,
          "Changes the layout of the output by a bijective map of its indices. Returns the new "
          "axes.")
      .def("compute_inline", with_line(&Stage::compute_inline),
           "Computes the stage where it is read.")
      .def("compute_root", with_line(&Stage::compute_root),
           "Computes the stage before its consumers.")
      .def("double_buffer", with_line(&Stage::double_buffer),
           "Fills one copy while another one is read.")
      .def("rolling_buffer", with_line(&Stage::rolling_buffer),
           "Keeps what the next iteration reads again.")
      .def("autotune_loops", with_line(&Stage::autotune_loops),
           "Lets the compiler interchange, jam and vectorize the stage's serial loops.");
}

}  // namespace

void bind_schedules(PyModule& te) {
  PyClass<Stage> stage(te, "Stage", "How to compute one operation.");
  PyClass<Schedule> schedule(te, "Schedule", "How to compute a graph of operations.");

  stage.def_prop_ro("op", with_line(&Stage::op))
      .def_prop_ro("origin_op", with_line(&Stage::origin_op))
      .def_prop_ro(
          "axis", [](const Stage& s) { return Axes{s.op(here()).axis()}; },
          "The data axes of the stage's current operation.")
      .def_prop_ro(
          "reduce_axis", [](const Stage& s) { return Axes{s.op(here()).reduce_axis()}; },
          "The reduction axes of the stage's current operation.")
      .def_prop_ro("scan_axis", with_line(&Stage::scan_axis))
      .def_prop_ro("leaf_iter_vars", with_line(&Stage::leaf_iter_vars))
      .def_prop_ro("all_iter_vars", with_line(&Stage::all_iter_vars))
      .def_prop_ro("is_group", &Stage::is_group)
      .def_prop_ro("group", &Stage::group)
      .def_prop_ro("name", &Stage::name)
      .def("same_as", &Stage::same_as, "other"_a)
      .def_equality(&Stage::same_as)
      .def("__hash__", [](const Stage& s) { return std::hash<std::string>()(s.name()); })
      .def("__repr__", [](const Stage& s) { return "stage(" + s.name() + ")"; });
  bind_loops(stage);
  bind_storage(stage);

  schedule
      .def(
          "__getitem__",
          [](const Schedule& s, const OperationLike& key) {
            return s[te::StageKey(to_operation(key), here())];
          },
          "key"_a, "The stage of a tensor or an operation.")
      .def(
          "cache_read",
          [](const Schedule& s, const Tensor& tensor, const std::string& scope,
             const OneOrMore<OperationLike>& readers) {
            return s.cache_read(tensor, scope, to_operations(readers), here());
          },
          "tensor"_a, "scope"_a, "readers"_a,
          "Makes `readers` read a copy of `tensor` in `scope`. Returns the copy.")
      .def(
          "cache_write",
          [](const Schedule& s, const Tensor& tensor, const std::string& scope) {
            return s.cache_write(tensor, scope, here());
          },
          "tensor"_a, "scope"_a,
          "Computes the operation into `scope`; the old stage becomes a copy from there. Returns the "
          "cache tensor, or one per tensor of a list.")
      .def(
          "cache_write",
          [](const Schedule& s, const std::vector<Tensor>& tensors, const std::string& scope) {
            return s.cache_write(tensors, scope, here());
          },
          "tensors"_a, "scope"_a)
      .def(
          "rfactor",
          [](const Schedule& s, const Tensor& tensor, const IterVar& axis,
             int factor_axis) -> nb::object {
            if (tensor.op().num_outputs() == 1)
              return nb::cast(s.rfactor(tensor, axis, factor_axis, here()));
            std::vector<Tensor> outputs;
            for (int n = 0; n < tensor.op().num_outputs(); ++n)
              outputs.push_back(tensor.op().output(n, here()));
            return nb::cast(s.rfactor(outputs, axis, factor_axis, here()));
          },
          "tensor"_a, "axis"_a, "factor_axis"_a = 0,
          "Factors a reduction: makes one reduction loop a data axis of a new operation. Returns the "
          "factored tensor, or a list for an operation of several outputs.")
      .def(
          "rfactor",
          [](const Schedule& s, const std::vector<Tensor>& tensors, const IterVar& axis,
             int factor_axis) { return s.rfactor(tensors, axis, factor_axis, here()); },
          "tensors"_a, "axis"_a, "factor_axis"_a = 0)
      .def(
          "create_group",
          [](const Schedule& s, const OneOrMore<Tensor>& outputs, const OneOrMore<Tensor>& inputs,
             bool include_inputs) {
            return s.create_group(outputs.items, inputs.items, include_inputs, here());
          },
          "outputs"_a, "inputs"_a, "include_inputs"_a = false)
      .def("normalize", with_line(&Schedule::normalize))
      .def("copy", &Schedule::copy)
      .def_prop_ro("stages", &Schedule::stages, "The stages, producers before consumers.")
      .def_prop_ro("outputs", &Schedule::outputs)
      .def_prop_ro("warnings", &Schedule::warnings)
      .def("print_loops", with_line(&Schedule::print_loops))
      .def("__repr__", with_line(&Schedule::print_loops));

  te.def(
      "create_schedule",
      [](const OneOrMore<OperationLike>& outputs) {
        return te::create_schedule(to_operations(outputs), here());
      },
      "outputs"_a, "Makes a schedule with a stage for every operation reached.");
  te.def("axis_separator", &te::axis_separator,
         "The marker of a boundary between physical dimensions in transform_layout.");

  PyClass<te::Bounds>(te, "Bounds", "The range of every axis of a schedule.")
      .def(
          "__getitem__", [](const te::Bounds& bounds, const IterVar& axis) { return bounds[axis]; },
          "axis"_a)
      .def(
          "get",
          [](const te::Bounds& bounds, const IterVar& axis) {
            const tir::Range* range = bounds.find(axis);
            return range ? std::optional(*range) : std::nullopt;
          },
          "axis"_a, "The range of the axis; None if it does not belong to the schedule.")
      .def("__contains__", [](const te::Bounds& bounds,
                              const IterVar& axis) { return bounds.find(axis) != nullptr; })
      .def("__repr__", [](const te::Bounds& bounds) { return text_of(bounds); });
  te.def(
      "infer_bound", [](const Schedule& s) { return te::infer_bound(s, here()); }, "schedule"_a,
      "Infers the range of every axis.");
  te.def(
      "schedule_ops",
      [](const Schedule& s, const te::Bounds& bounds) {
        return te::schedule_ops(s, bounds, here());
      },
      "schedule"_a, "bounds"_a, "Generates the loops of the schedule.");
}

}  // namespace tenon::python
