// Schedules of block programs, traces and tensor intrinsics.
#include "tenon/s_tir/schedule.h"

#include "bindings/arguments.h"
#include "bindings/s_tir.h"
#include "bindings/te.h"
#include "tenon/s_tir/reducers.h"
#include "tenon/s_tir/script.h"
#include "tenon/tir/block.h"
#include "tenon/tir/make.h"

namespace tenon::python {

using s_tir::BlockOrLoop;
using s_tir::BlockRV;
using s_tir::ExprRV;
using s_tir::LoopRV;
using s_tir::Schedule;
using s_tir::Trace;

namespace {

using Loops = std::vector<LoopRV>;
using Target = std::variant<BlockRV, LoopRV>;
/// A factor of a split: a number, a sampled number, or None for the factor to infer.
using FactorLike = std::variant<std::int64_t, ExprRV>;

BlockOrLoop target_of(const Target& target) {
  return std::visit([](const auto& rv) { return BlockOrLoop(rv); }, target);
}

s_tir::Factors factors_of(const std::vector<std::optional<FactorLike>>& list) {
  std::vector<s_tir::Factor> factors;
  for (const auto& each : list) {
    if (!each) {
      factors.emplace_back(std::nullopt);
    } else if (const auto* number = std::get_if<std::int64_t>(&*each)) {
      factors.emplace_back(*number);
    } else {
      factors.emplace_back(std::get<ExprRV>(*each));
    }
  }
  return {std::move(factors)};
}

/// Converts `*args` that are loops, or one sequence of them.
Loops loops_of(const nb::args& args) { return items_of<LoopRV>(args, "expected loops"); }

template <class Handle>
void bind_handle(nb::module_& m, const char* name, const char* doc) {
  nb::class_<Handle>(m, name, doc)
      .def_prop_ro("number", &Handle::number)
      .def(
          "__eq__", [](const Handle& a, const Handle& b) { return a.number() == b.number(); },
          nb::is_operator(), nb::sig("def __eq__(self, arg: object, /) -> bool"))
      .def("__hash__", &Handle::number)
      .def("__repr__", [name](const Handle& rv) {
        return std::string(name) + "(" + std::to_string(rv.number()) + ")";
      });
}

s_tir::AnnotationValue annotation_of(nb::handle value) {
  if (nb::isinstance<ExprRV>(value)) return nb::cast<ExprRV>(value);
  if (PyBool_Check(value.ptr())) return nb::cast<bool>(value);
  if (PyLong_Check(value.ptr())) return nb::cast<std::int64_t>(value);
  if (PyFloat_Check(value.ptr())) return nb::cast<double>(value);
  if (PyUnicode_Check(value.ptr())) return nb::cast<std::string>(value);
  if (nb::isinstance<tir::Expr>(value)) {
    const auto e = nb::cast<tir::Expr>(value);
    if (const auto number = tir::constant_int(e)) {
      if (e.dtype().is_bool()) return *number != 0;
      return *number;
    }
  }
  throw TypeError(std::string("an annotation is a number, a text or a sampled number, got ") +
                      nb::inst_name(value).c_str(),
                  here());
}

s_tir::IndexMap index_map_of(nb::handle map, std::size_t rank) {
  if (nb::isinstance<s_tir::IndexMap>(map)) return nb::cast<s_tir::IndexMap>(map);
  if (!PyCallable_Check(map.ptr()))
    throw TypeError(std::string("transform_layout takes an IndexMap or a function, got ") +
                        nb::inst_name(map).c_str(),
                    here());
  const Parameters parameters = Parameters::of(map);
  const std::vector<std::string> names = parameters.axis_names(rank);
  if (names.empty())
    throw TypeError("transform_layout: the number of indices of the function is not known", here());
  std::vector<tir::Var> from;
  for (const std::string& name : names) from.emplace_back(Name(name));
  const nb::object result = call_with(nb::cast<nb::callable>(nb::borrow(map)), from);
  return {from, body_result(result, "transform_layout").exprs};
}

void bind_queries(nb::class_<Schedule>& schedule) {
  schedule
      .def(
          "__init__",
          [](Schedule* self, const tir::IRModule& module, std::uint64_t seed) {
            new (self) Schedule(module, {.seed = seed}, here());
          },
          "mod"_a, "seed"_a = 0)
      .def_prop_ro("mod", &Schedule::mod)
      .def_prop_ro("trace", &Schedule::trace)
      .def("copy", &Schedule::copy)
      .def(
          "get_block",
          [](Schedule& s, const std::string& name, const std::string& func_name) {
            return s.get_block(name, func_name, here());
          },
          "name"_a, "func_name"_a = "main")
      .def(
          "get_loops", [](Schedule& s, BlockRV block) { return s.get_loops(block, here()); },
          "block"_a)
      .def(
          "get_child_blocks",
          [](Schedule& s, const Target& parent) {
            return s.get_child_blocks(target_of(parent), here());
          },
          "parent"_a)
      .def(
          "get_producers", [](Schedule& s, BlockRV b) { return s.get_producers(b, here()); },
          "block"_a)
      .def(
          "get_consumers", [](Schedule& s, BlockRV b) { return s.get_consumers(b, here()); },
          "block"_a)
      .def(
          "get", [](const Schedule& s, ExprRV value) { return s.get(value, here()); }, "value"_a)
      .def(
          "get", [](const Schedule& s, LoopRV loop) { return tir::make_stmt(s.get(loop, here())); },
          "loop"_a)
      .def(
          "get",
          [](const Schedule& s, BlockRV block) { return tir::make_stmt(s.get(block, here())); },
          "block"_a, "Returns the sampled number, the loop, or the realization of the block.");
  schedule
      .def(
          "sample_perfect_tile",
          [](Schedule& s, LoopRV loop, int n, int max_innermost_factor,
             const std::optional<std::vector<std::int64_t>>& decision) {
            return s.sample_perfect_tile(
                loop, {.n = n, .max_innermost_factor = max_innermost_factor, .decision = decision},
                here());
          },
          "loop"_a, "n"_a, "max_innermost_factor"_a = 16, "decision"_a = nb::none())
      .def(
          "sample_categorical",
          [](Schedule& s, const std::vector<std::int64_t>& candidates,
             const std::vector<double>& probs, const std::optional<int>& decision) {
            return s.sample_categorical(candidates, probs, {.decision = decision}, here());
          },
          "candidates"_a, "probs"_a, "decision"_a = nb::none())
      .def(
          "sample_compute_location",
          [](Schedule& s, BlockRV block, const std::optional<int>& decision) {
            return s.sample_compute_location(block, {.decision = decision}, here());
          },
          "block"_a, "decision"_a = nb::none());
}

void bind_loops(nb::class_<Schedule>& schedule) {
  schedule
      .def(
          "split",
          [](Schedule& s, LoopRV loop, const std::vector<std::optional<FactorLike>>& factors,
             bool preserve_unit_iters, bool disable_predication) {
            return s.split(loop, factors_of(factors),
                           {.preserve_unit_iters = preserve_unit_iters,
                            .disable_predication = disable_predication},
                           here());
          },
          "loop"_a, "factors"_a, "preserve_unit_iters"_a = true, "disable_predication"_a = false)
      .def(
          "fuse",
          [](Schedule& s, const nb::args& loops, bool preserve_unit_iters) {
            return s.fuse(loops_of(loops), {.preserve_unit_iters = preserve_unit_iters}, here());
          },
          "loops"_a, "preserve_unit_iters"_a = true)
      .def("reorder",
           [](Schedule& s, const nb::args& loops) { s.reorder(loops_of(loops), here()); })
      .def(
          "parallel", [](Schedule& s, LoopRV loop) { s.parallel(loop, here()); }, "loop"_a)
      .def(
          "vectorize", [](Schedule& s, LoopRV loop) { s.vectorize(loop, here()); }, "loop"_a)
      .def(
          "unroll", [](Schedule& s, LoopRV loop) { s.unroll(loop, here()); }, "loop"_a)
      .def(
          "bind",
          [](Schedule& s, LoopRV loop, const std::string& thread_axis) {
            s.bind(loop, thread_axis, here());
          },
          "loop"_a, "thread_axis"_a);
}

void bind_storage(nb::class_<Schedule>& schedule) {
  schedule
      .def(
          "cache_read",
          [](Schedule& s, BlockRV block, int index, const std::string& scope) {
            return s.cache_read(block, index, scope, here());
          },
          "block"_a, "read_buffer_index"_a, "storage_scope"_a)
      .def(
          "cache_write",
          [](Schedule& s, BlockRV block, int index, const std::string& scope) {
            return s.cache_write(block, index, scope, here());
          },
          "block"_a, "write_buffer_index"_a, "storage_scope"_a)
      .def(
          "set_scope",
          [](Schedule& s, BlockRV block, int index, const std::string& scope) {
            s.set_scope(block, index, scope, here());
          },
          "block"_a, "buffer_index"_a, "storage_scope"_a)
      .def(
          "storage_align",
          [](Schedule& s, BlockRV block, int buffer_index, int axis, int factor, int offset) {
            s.storage_align(
                block,
                {.buffer_index = buffer_index, .axis = axis, .factor = factor, .offset = offset},
                here());
          },
          "block"_a, "buffer_index"_a = 0, "axis"_a = 0, "factor"_a = 1, "offset"_a = 0)
      .def(
          "transform_layout",
          [](Schedule& s, BlockRV block, int buffer_index, const std::string& type,
             nb::handle index_map) {
            const tir::BlockRealize realize = s.get(block, here());
            const auto& regions = type == "write" ? realize.block->writes : realize.block->reads;
            const auto at = static_cast<std::size_t>(buffer_index);
            const std::size_t rank = at < regions.size() ? regions[at].region.size() : 0;
            s.transform_layout(block, buffer_index, type, index_map_of(index_map, rank), here());
          },
          "block"_a, "buffer_index"_a, "buffer_index_type"_a, "index_map"_a)
      .def(
          "compute_at",
          [](Schedule& s, BlockRV block, LoopRV loop, bool preserve_unit_loops, int index) {
            s.compute_at(block, loop, {.preserve_unit_loops = preserve_unit_loops, .index = index},
                         here());
          },
          "block"_a, "loop"_a, "preserve_unit_loops"_a = false, "index"_a = -1)
      .def(
          "reverse_compute_at",
          [](Schedule& s, BlockRV block, LoopRV loop, bool preserve_unit_loops, int index) {
            s.reverse_compute_at(
                block, loop, {.preserve_unit_loops = preserve_unit_loops, .index = index}, here());
          },
          "block"_a, "loop"_a, "preserve_unit_loops"_a = false, "index"_a = -1)
      .def(
          "compute_inline", [](Schedule& s, BlockRV block) { s.compute_inline(block, here()); },
          "block"_a)
      .def(
          "reverse_compute_inline",
          [](Schedule& s, BlockRV block) { s.reverse_compute_inline(block, here()); }, "block"_a);
}

void bind_blocks(nb::class_<Schedule>& schedule) {
  schedule
      .def(
          "decompose_reduction",
          [](Schedule& s, BlockRV block, LoopRV loop) {
            return s.decompose_reduction(block, loop, here());
          },
          "block"_a, "loop"_a)
      .def(
          "merge_reduction",
          [](Schedule& s, BlockRV init, BlockRV update) {
            s.merge_reduction(init, update, here());
          },
          "init"_a, "update"_a)
      .def(
          "rfactor",
          [](Schedule& s, LoopRV loop, int factor_axis) {
            return s.rfactor(loop, factor_axis, here());
          },
          "loop"_a, "factor_axis"_a = 0)
      .def(
          "blockize", [](Schedule& s, LoopRV loop) { return s.blockize(loop, here()); }, "loop"_a)
      .def(
          "tensorize",
          [](Schedule& s, const Target& target, const std::string& intrin) {
            s.tensorize(target_of(target), intrin, here());
          },
          "block_or_loop"_a, "tensor_intrin"_a)
      .def(
          "annotate",
          [](Schedule& s, const Target& target, const std::string& key, nb::handle value) {
            s.annotate(target_of(target), key, annotation_of(value), here());
          },
          "block_or_loop"_a, "ann_key"_a, "ann_val"_a)
      .def(
          "unannotate",
          [](Schedule& s, const Target& target, const std::string& key) {
            s.unannotate(target_of(target), key, here());
          },
          "block_or_loop"_a, "ann_key"_a)
      .def("enter_postproc", &Schedule::enter_postproc)
      .def(
          "apply_trace",
          [](Schedule& s, const Trace& trace, bool draw_anew) {
            s.apply_trace(trace, {.draw_anew = draw_anew}, here());
          },
          "trace"_a, "draw_anew"_a = false);
}

}  // namespace

void bind_s_tir(nb::module_& parent) {
  nb::module_ m = parent.def_submodule("s_tir", "Block programs: schedules, traces, scripts.");
  bind_handle<BlockRV>(m, "BlockRV", "A block of a schedule.");
  bind_handle<LoopRV>(m, "LoopRV", "A loop of a schedule.");
  bind_handle<ExprRV>(m, "ExprRV", "A sampled number.");
  nb::class_<Trace>(m, "Trace", "The steps of a schedule, as text that can be parsed and replayed.")
      .def(
          "simplified",
          [](const Trace& trace, bool remove_postproc) {
            return trace.simplified(remove_postproc);
          },
          "remove_postproc"_a = false)
      .def(
          "text",
          [](const Trace& trace, bool modern) {
            return trace.text(modern ? s_tir::TraceStyle::V17 : s_tir::TraceStyle::V09);
          },
          "modern"_a = false)
      .def("json", &Trace::json)
      .def(
          "__eq__", [](const Trace& a, const Trace& b) { return a == b; }, nb::is_operator(),
          nb::sig("def __eq__(self, arg: object, /) -> bool"))
      .def("__str__", [](const Trace& trace) { return trace.text(); })
      .def("__repr__", [](const Trace& trace) { return trace.text(); });
  m.def(
      "parse_trace", [](const std::string& text) { return s_tir::parse_trace(text); }, "text"_a);
  nb::class_<s_tir::IndexMap>(m, "IndexMap", "A change of a buffer's layout.")
      .def(nb::init<std::vector<tir::Var>, std::vector<tir::Expr>>(), "indices"_a, "result"_a)
      .def_static(
          "parse", [](const std::string& text) { return s_tir::IndexMap::parse(text); }, "text"_a)
      .def_prop_ro("initial_indices", &s_tir::IndexMap::from)
      .def_prop_ro("final_indices", &s_tir::IndexMap::to)
      .def("__str__", [](const s_tir::IndexMap& map) { return map.text(); });
  nb::class_<Schedule> schedule(
      m, "Schedule", "The current block program and the trace of the steps that led to it.");
  bind_queries(schedule);
  bind_loops(schedule);
  bind_storage(schedule);
  bind_blocks(schedule);
  m.def(
      "register_tensor_intrin",
      [](const std::string& name, const tir::PrimFunc& description,
         const tir::PrimFunc& implementation, bool override_existing) {
        s_tir::register_tensor_intrin(name, description, implementation,
                                      {.override_existing = override_existing}, here());
      },
      "name"_a, "description"_a, "implementation"_a, "override_existing"_a = false);
}

}  // namespace tenon::python
