#include "bindings/rooms.h"

#include "bindings/tir.h"
#include "tenon/s_tir/reducers.h"
#include "tenon/s_tir/script.h"
#include "tenon/s_tir/tensor_intrin.h"
#include "tenon/tir/block.h"
#include "tenon/tir/print.h"

namespace tenon::python {

using s_tir::BlockRV;
using s_tir::ExprRV;
using s_tir::LoopRV;
using s_tir::Schedule;
using tir::Expr;
using tir::Var;

namespace {

using BlockOrLoop = std::variant<BlockRV, LoopRV>;

s_tir::BlockOrLoop to_target(const BlockOrLoop& target) {
  if (const auto* block = std::get_if<BlockRV>(&target)) return *block;
  return std::get<LoopRV>(target);
}

s_tir::Factors to_factors(
    const std::vector<std::optional<std::variant<ExprRV, std::int64_t>>>& list) {
  std::vector<s_tir::Factor> factors;
  for (const auto& each : list) {
    if (!each) {
      factors.emplace_back(std::nullopt);
    } else if (const auto* sampled = std::get_if<ExprRV>(&*each)) {
      factors.emplace_back(*sampled);
    } else {
      factors.emplace_back(std::get<std::int64_t>(*each));
    }
  }
  return s_tir::Factors(std::move(factors));
}

s_tir::ScriptStyle to_style(const std::string& style) {
  if (style == "v09") return s_tir::ScriptStyle::V09;
  if (style == "modern") return s_tir::ScriptStyle::Modern;
  throw TypeError("style must be \"v09\" or \"modern\", got \"" + style + "\"", here());
}

s_tir::TraceStyle to_trace_style(const std::string& style) {
  if (style == "v09") return s_tir::TraceStyle::V09;
  if (style == "v17") return s_tir::TraceStyle::V17;
  throw TypeError("style must be \"v09\" or \"v17\", got \"" + style + "\"", here());
}

s_tir::AnnotationValue to_annotation(nb::handle value) {
  if (value.ptr() == Py_True || value.ptr() == Py_False) return value.ptr() == Py_True;
  if (is_numpy_bool(value)) return PyObject_IsTrue(value.ptr()) == 1;
  if (PyIndex_Check(value.ptr())) {
    std::int64_t number = 0;
    if (nb::try_cast(to_int(value), number)) return number;
    throw TypeError("annotate: " + std::string(nb::str(value).c_str()) + " does not fit int64",
                    here());
  }
  if (PyUnicode_Check(value.ptr()))
    return argument_as<std::string>(value, "annotate: expected a UTF-8 text");
  if (const ExprRV * sampled; nb::try_cast(value, sampled, false) && sampled) return *sampled;
  if (has_float(value) && !PySequence_Check(value.ptr())) return to_double(value);
  throw type_error(
      std::string("annotate: expected an int, a sampled value, a bool, a float or a str, got ") +
      nb::inst_name(value).c_str());
}

s_tir::IndexMap to_index_map(const nb::callable& map, const std::string& what) {
  const Parameters parameters = Parameters::of(map);
  if (!parameters.names || !parameters.variadic.empty())
    throw TypeError(what + ": the map must be a function with one parameter per dimension", here());
  std::vector<Var> from;
  for (std::size_t n = 0; n < parameters.names->size(); ++n)
    from.emplace_back(Name("i" + std::to_string(n)));
  std::vector<Expr> to = body_result(call_with(map, from), what).first;
  return {std::move(from), std::move(to)};
}

void bind_handles(PyModule& s_tir) {
  auto handle = [&]<class RV>(PyClass<RV> type, const char* letter) {
    type.def_prop_ro("number", &RV::number)
        .def_equality([](const RV& a, const RV& b) { return a.number() == b.number(); })
        .def("__hash__", [](const RV& rv) { return rv.number(); })
        .def("__repr__", [=](const RV& rv) { return letter + std::to_string(rv.number()); });
  };
  handle(PyClass<BlockRV>(s_tir, "BlockRV", "A handle of a block."), "b");
  handle(PyClass<LoopRV>(s_tir, "LoopRV", "A handle of a loop."), "l");
  handle(PyClass<ExprRV>(s_tir, "ExprRV", "A handle of a sampled number."), "v");
}

void bind_queries(PyClass<Schedule>& sch) {
  sch.def(
         "__init__",
         [](Schedule* self, const std::variant<tir::IRModule, tir::PrimFunc>& mod,
            std::uint64_t seed) {
           const auto* func = std::get_if<tir::PrimFunc>(&mod);
           tir::IRModule module =
               func ? tir::IRModule{{{func->attrs.global_symbol.empty() ? "main"
                                                                        : func->attrs.global_symbol,
                                      *func}}}
                    : std::get<tir::IRModule>(mod);
           new (self) Schedule(std::move(module), {.seed = seed}, here());
         },
         "mod"_a, "seed"_a = 0)
      .def_prop_ro("mod", [](const Schedule& s) { return s.mod(); })
      .def_prop_ro("trace", [](const Schedule& s) { return s.trace(); })
      .def("copy", &Schedule::copy)
      .def("get_block", with_line(&Schedule::get_block), "name"_a, "func_name"_a = "main")
      .def("get_loops", with_line(&Schedule::get_loops), "block"_a,
           "The loops around a block, outermost first.")
      .def(
          "get_child_blocks",
          [](Schedule& s, const BlockOrLoop& parent) {
            return s.get_child_blocks(to_target(parent), here());
          },
          "parent"_a)
      .def("get_producers", with_line(&Schedule::get_producers), "block"_a)
      .def("get_consumers", with_line(&Schedule::get_consumers), "block"_a)
      .def(
          "get", [](const Schedule& s, ExprRV v) { return s.get(v, here()); }, "rv"_a,
          "The sampled number, loop or block that a handle refers to now.")
      .def(
          "get", [](const Schedule& s, LoopRV l) { return s.get(l, here()); }, "rv"_a)
      .def(
          "get", [](const Schedule& s, BlockRV b) { return *s.get(b, here()).block; }, "rv"_a)
      .def_text([](const Schedule& s) { return s_tir::print_script(s.mod()); });
}

void bind_sampling(PyClass<Schedule>& sch) {
  sch.def(
         "sample_perfect_tile",
         [](Schedule& s, LoopRV loop, int n, int max_innermost_factor,
            const std::optional<std::vector<std::int64_t>>& decision) {
           return s.sample_perfect_tile(
               loop, {.n = n, .max_innermost_factor = max_innermost_factor, .decision = decision},
               here());
         },
         "loop"_a, "n"_a = 2, "max_innermost_factor"_a = 16, "decision"_a = nb::none())
      .def(
          "sample_categorical",
          [](Schedule& s, const std::vector<std::int64_t>& candidates,
             const std::vector<double>& probs, std::optional<int> decision) {
            return s.sample_categorical(candidates, probs, {.decision = decision}, here());
          },
          "candidates"_a, "probs"_a, "decision"_a = nb::none())
      .def(
          "sample_compute_location",
          [](Schedule& s, BlockRV block, std::optional<int> decision) {
            return s.sample_compute_location(block, {.decision = decision}, here());
          },
          "block"_a, "decision"_a = nb::none());
}

void bind_block_loops(PyClass<Schedule>& sch) {
  constexpr const char* kLoops = "expected loops, or one list of loops";
  sch.def(
         "split",
         [](Schedule& s, LoopRV loop,
            const std::vector<std::optional<std::variant<ExprRV, std::int64_t>>>& factors,
            bool preserve_unit_iters, bool disable_predication) {
           return s.split(loop, to_factors(factors),
                          {.preserve_unit_iters = preserve_unit_iters,
                           .disable_predication = disable_predication},
                          here());
         },
         "loop"_a, "factors"_a, nb::kw_only(), "preserve_unit_iters"_a = true,
         "disable_predication"_a = false,
         "Splits a loop. Factors are integers, sampled values, or None for the rest.")
      .def(
          "fuse",
          [=](Schedule& s, const nb::args& loops, bool preserve_unit_iters) {
            return s.fuse(items_of<LoopRV>(loops, kLoops),
                          {.preserve_unit_iters = preserve_unit_iters}, here());
          },
          "loops"_a, "preserve_unit_iters"_a = true)
      .def(
          "reorder",
          [=](Schedule& s, const nb::args& loops) {
            s.reorder(items_of<LoopRV>(loops, kLoops), here());
          },
          "loops"_a)
      .def(
          "add_unit_loop",
          [](Schedule& s, const BlockOrLoop& target) {
            return s.add_unit_loop(to_target(target), here());
          },
          "block_or_loop"_a)
      .def("parallel", with_line(&Schedule::parallel), "loop"_a)
      .def("vectorize", with_line(&Schedule::vectorize), "loop"_a)
      .def("unroll", with_line(&Schedule::unroll), "loop"_a)
      .def("bind", with_line(&Schedule::bind), "loop"_a, "thread_axis"_a);
}

void bind_block_memory(PyClass<Schedule>& sch) {
  sch.def("cache_read", with_line(&Schedule::cache_read), "block"_a, "read_buffer_index"_a,
          "storage_scope"_a)
      .def("cache_write", with_line(&Schedule::cache_write), "block"_a, "write_buffer_index"_a,
           "storage_scope"_a)
      .def("reindex", with_line(&Schedule::reindex), "block"_a, "buffer_index"_a,
           "buffer_index_type"_a)
      .def("set_scope", with_line(&Schedule::set_scope), "block"_a, "buffer_index"_a,
           "storage_scope"_a)
      .def(
          "storage_align",
          [](Schedule& s, BlockRV block, int buffer_index, int axis, int factor, int offset) {
            s.storage_align(
                block,
                {.buffer_index = buffer_index, .axis = axis, .factor = factor, .offset = offset},
                here());
          },
          "block"_a, "buffer_index"_a, "axis"_a, "factor"_a, "offset"_a)
      .def(
          "transform_layout",
          [](Schedule& s, BlockRV block, int buffer_index, const std::string& buffer_index_type,
             const nb::callable& index_map) {
            s.transform_layout(block, buffer_index, buffer_index_type,
                               to_index_map(index_map, "transform_layout"), here());
          },
          "block"_a, "buffer_index"_a, "buffer_index_type"_a, "index_map"_a)
      .def(
          "transform_block_layout",
          [](Schedule& s, BlockRV block, const nb::callable& index_map) {
            s.transform_block_layout(block, to_index_map(index_map, "transform_block_layout"),
                                     here());
          },
          "block"_a, "index_map"_a);
}

void bind_block_places(PyClass<Schedule>& sch) {
  sch.def(
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
      .def("compute_inline", with_line(&Schedule::compute_inline), "block"_a)
      .def("reverse_compute_inline", with_line(&Schedule::reverse_compute_inline), "block"_a)
      .def("decompose_reduction", with_line(&Schedule::decompose_reduction), "block"_a, "loop"_a)
      .def("merge_reduction", with_line(&Schedule::merge_reduction), "init"_a, "update"_a)
      .def("rfactor", with_line(&Schedule::rfactor), "loop"_a, "factor_axis"_a = 0)
      .def("blockize", with_line(&Schedule::blockize), "loop"_a)
      .def(
          "tensorize",
          [](Schedule& s, const BlockOrLoop& target, const std::string& tensor_intrin) {
            s.tensorize(to_target(target), tensor_intrin, here());
          },
          "block_or_loop"_a, "tensor_intrin"_a)
      .def(
          "annotate",
          [](Schedule& s, const BlockOrLoop& target, const std::string& key, nb::handle value) {
            s.annotate(to_target(target), key, to_annotation(value), here());
          },
          "block_or_loop"_a, "ann_key"_a, "ann_val"_a)
      .def(
          "unannotate",
          [](Schedule& s, const BlockOrLoop& target, const std::string& key) {
            s.unannotate(to_target(target), key, here());
          },
          "block_or_loop"_a, "ann_key"_a)
      .def("enter_postproc", &Schedule::enter_postproc)
      .def(
          "apply_trace",
          [](Schedule& s, const s_tir::Trace& trace, bool draw_anew) {
            s.apply_trace(trace, {.draw_anew = draw_anew}, here());
          },
          "trace"_a, nb::kw_only(), "draw_anew"_a = false,
          "Applies the steps of a trace; samples again with `draw_anew`.");
}

}  // namespace

void bind_s_tir(PyModule& s_tir) {
  bind_handles(s_tir);
  PyClass<s_tir::Trace>(s_tir, "Trace")
      .def(
          "simplified",
          [](const s_tir::Trace& t, bool remove_postproc) { return t.simplified(remove_postproc); },
          "remove_postproc"_a = false)
      .def(
          "text",
          [](const s_tir::Trace& t, const std::string& style) {
            return t.text(to_trace_style(style));
          },
          "style"_a = "v09")
      .def("json", &s_tir::Trace::json)
      .def_equality([](const s_tir::Trace& a, const s_tir::Trace& b) { return a == b; })
      .def_text([](const s_tir::Trace& t) { return t.text(); });
  PyClass<Schedule> schedule(
      s_tir, "Schedule", "A schedule of a block program: the program and the trace of its steps.");
  bind_queries(schedule);
  bind_sampling(schedule);
  bind_block_loops(schedule);
  bind_block_memory(schedule);
  bind_block_places(schedule);
  s_tir.def(
      "parse_trace", [](const std::string& text) { return s_tir::parse_trace(text); }, "text"_a,
      "Parses the text or the JSON of a trace.");
  s_tir.def(
      "parse_script", [](const std::string& text) { return s_tir::parse_script(text); }, "text"_a,
      "Parses TVMScript: a class of functions, or one function.");
  s_tir.def(
      "print_script",
      [](const tir::IRModule& module, const std::string& style) {
        return s_tir::print_script(module, to_style(style));
      },
      "value"_a, "style"_a = "v09", "Prints TVMScript as TVM 0.9 does, or as later versions do.");
  s_tir.def(
      "print_script",
      [](const tir::PrimFunc& func, const std::string& style) {
        return s_tir::print_script(func, to_style(style));
      },
      "value"_a, "style"_a = "v09");
  s_tir.def("print_script", nb::overload_cast<const tir::Stmt&>(&s_tir::print_script), "value"_a);
  s_tir.def("print_script", nb::overload_cast<const Expr&>(&s_tir::print_script), "value"_a);
  s_tir.def(
      "register_tensor_intrin",
      [](const std::string& name, const tir::PrimFunc& description,
         const tir::PrimFunc& implementation, bool override_existing) {
        s_tir::register_tensor_intrin(name, description, implementation,
                                      {.override_existing = override_existing}, here());
      },
      "name"_a, "description"_a, "implementation"_a, nb::kw_only(), "override_existing"_a = false,
      "Registers an intrinsic for `tensorize`.");
  s_tir.def(
      "find_tensor_intrin",
      [](const std::string& name) -> std::optional<std::pair<tir::PrimFunc, tir::PrimFunc>> {
        const auto found = s_tir::find_tensor_intrin(name);
        if (!found) return std::nullopt;
        return std::pair(found->description, found->implementation);
      },
      "name"_a, "Returns (description, implementation); None if it is not registered.");
  s_tir.def("tensor_intrin_names", &s_tir::tensor_intrin_names);
}

}  // namespace tenon::python
