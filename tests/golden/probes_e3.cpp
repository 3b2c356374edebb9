// Programs that are built run, and refuse arguments that do not fit.
#include "probes.h"

namespace tenon::probes {
namespace {

using runtime::NDArray;

/// 0, 1, 2, ...
NDArray counted(std::int64_t size, DataType dtype = Float(32)) {
  NDArray array = NDArray::zeros({size}, dtype);
  if (dtype == Float(32))
    for (std::int64_t n = 0; n < size; ++n) array.data<float>()[n] = static_cast<float>(n);
  return array;
}

/// C = A + B over n elements.
struct Vadd {
  Var n = te::var("n");
  te::Tensor A = te::placeholder({n}, "A"), B = te::placeholder({n}, "B");
  te::Tensor C = te::compute(
      {n}, {"i"}, [this](Var i) { return A(i) + B(i); }, "C");
  runtime::Module f = build(te::create_schedule({C}), {A, B, C}, Target("llvm"), {.name = "vadd"});
  NDArray a = counted(8), b = counted(8), c = counted(8);
};

std::string count() {
  Vadd v;
  v.f["vadd"](v.a, v.b);
  return "accepted";
}

std::string type() {
  Vadd v;
  v.f["vadd"](v.a, v.b, 3);
  return "accepted";
}

std::string dtype() {
  Vadd v;
  v.f["vadd"](v.a, v.b, counted(8, Float(64)));
  return "accepted";
}

std::string shape() {
  Vadd v;
  v.f["vadd"](v.a, v.b, counted(7));
  return "accepted";
}

std::string ndim() {
  Vadd v;
  v.f["vadd"](v.a, v.b, NDArray::zeros({8, 1}, Float(32)));
  return "accepted";
}

std::string alignment_view() {
  Vadd v;
  v.f["vadd"](v.a, v.b, NDArray::from_dlpack(v.c.to_dlpack()));
  std::string values;
  for (float value : v.c.to_vector<float>())
    values += (values.empty() ? "" : " ") + std::to_string(static_cast<int>(value));
  return values;
}

std::string get_function() {
  Vadd v;
  v.f["nope"];
  return "accepted";
}

std::string entry() { return Vadd().f.entry_name(); }
std::string bad_fmt() { return Vadd().f.get_source("zz"); }

/// Doubled, of 16 elements; and scaled by a number given at the call.
struct Doubled {
  te::Tensor D = te::placeholder({16}, "D");
  te::Tensor E = te::compute(
      {16}, {"i"}, [this](Var i) { return D(i) * 2.0f; }, "E");
  Var v = te::var("v");
  te::Tensor F = te::compute(
      {16}, {"i"}, [this](Var i) { return D(i) * v.astype(Float(32)); }, "F");
  runtime::Function doubled() {
    return build(te::create_schedule({E}), {D, E}, Target("llvm"), {.name = "g"})["g"];
  }
  runtime::Function scaled() {
    return build(te::create_schedule({F}), {D, v, F}, Target("llvm"), {.name = "h"})["h"];
  }
};

std::string const_shape() {
  Doubled d;
  d.doubled()(counted(8), counted(16));
  return "accepted";
}

std::string scalar_float() {
  Doubled d;
  d.scaled()(counted(16), 2.5, counted(16));
  return "accepted";
}

std::string scalar_ok() {
  Doubled d;
  NDArray result = counted(16);
  d.scaled()(counted(16), 2, result);
  return std::to_string(static_cast<int>(result.data<float>()[15]));
}

std::string scalar_arr() {
  Doubled d;
  d.scaled()(counted(16), counted(16), counted(16));
  return "accepted";
}

std::string unbound_var() {
  Doubled d;
  build(te::create_schedule({d.F}), {d.D, d.F});
  return "accepted";
}

std::string copyfrom_shape() {
  counted(4).copy_to(counted(3));
  return "accepted";
}

std::string target_bad() { return Target("foo").str(); }

std::string two_functions() {
  Doubled d;
  tir::IRModule module = lower(te::create_schedule({d.E}), {d.D, d.E}, {.name = "z1"});
  module.functions.merge(lower(te::create_schedule({d.E}), {d.D, d.E}, {.name = "a1"}).functions);
  return printed(module);
}

struct Grid {
  te::Tensor P = te::placeholder({8, 8}, "P");
  te::Tensor Q = te::compute(
      {8, 8}, {"i", "j"}, [this](Var i, Var j) { return P(i, j) + 1.0f; }, "Q");
  te::Schedule s = te::create_schedule({Q});
  std::string last_element() {
    NDArray p = NDArray::zeros({8, 8}, Float(32)), q = NDArray::zeros({8, 8}, Float(32));
    build(s, {P, Q})["main"](p, q);
    return std::to_string(static_cast<int>(q.data<float>()[63]));
  }
};

std::string nested_parallel() {
  Grid grid;
  grid.s[grid.Q].parallel(grid.Q.op().axis(0)).parallel(grid.Q.op().axis(1));
  return grid.last_element();
}

std::string unknown_pragma() {
  Grid grid;
  grid.s[grid.Q].pragma(grid.Q.op().axis(0), "foo_bar", 3);
  return grid.last_element();
}

std::string stride_pattern_outside() {
  Grid grid;
  grid.s[grid.Q].pragma(grid.Q.op().axis(0), "parallel_stride_pattern");
  return grid.last_element();
}

std::string threads_on_llvm() {
  Grid grid;
  grid.s[grid.Q].bind(grid.Q.op().axis(0), te::thread_axis("threadIdx.x"));
  build(grid.s, {grid.P, grid.Q});
  return "accepted";
}

}  // namespace

std::vector<Probe> probes_of_e3() {
  const auto runtime_error = [](std::vector<std::string_view> mentions, std::string_view line) {
    return refused<RuntimeError>("RuntimeError", std::move(mentions), line);
  };
  const auto target_error = [](std::vector<std::string_view> mentions, std::string_view line) {
    return refused<TargetError>("TargetError", std::move(mentions), line);
  };
  constexpr std::string_view kRuns = "the record has no values";
  return {
      {"e3: count", count, runtime_error({"vadd", "3", "2"}, "v.f[\"vadd\"](v.a, v.b)")},
      {"e3: type", type, runtime_error({"vadd", "C"}, "v.b, 3)")},
      {"e3: dtype", dtype, runtime_error({"C", "float32", "float64"}, "Float(64)")},
      {"e3: shape", shape, runtime_error({"C", "n", "8", "7"}, "counted(7)")},
      {"e3: ndim", ndim, runtime_error({"C", "1", "2"}, "{8, 1}")},
      {"e3: const shape", const_shape, runtime_error({"D", "16", "8"}, "")},
      {"e3: scalar float", scalar_float, runtime_error({"v", "int32"}, "")},
      {"e3: scalar ok", scalar_ok, OwnText{"30\n", kRuns}},
      {"e3: scalar arr", scalar_arr, runtime_error({"v", "int32"}, "")},
      {"e3: unbound var", unbound_var, lower_error({"`v`"}, "build(")},
      {"e3: get_function", get_function, runtime_error({"nope", "vadd"}, "v.f[\"nope\"]")},
      {"e3: entry", entry, OwnText{"vadd\n", "a module names its first function"}},
      {"e3: bad fmt", bad_fmt, runtime_error({"zz", "ll", "asm"}, "get_source(")},
      {"e3: nd copyfrom shape", copyfrom_shape, runtime_error({"4", "3"}, "copy_to(")},
      {"e3: target bad", target_bad, target_error({"foo", "llvm", "cuda"}, "Target(\"foo\")")},
      {"e3: two functions", two_functions},
      {"e3: alignment view", alignment_view, OwnText{"0 2 4 6 8 10 12 14\n", kRuns}},
      {"e3: nested parallel", nested_parallel,
       OwnText{"1\n", "the reference's thread pool knows no nested loops"}},
      {"e3: unknown pragma", unknown_pragma, OwnText{"1\n", kRuns}},
      {"e3: stride pattern outside", stride_pattern_outside,
       lower_error({"parallel_stride_pattern", "parallel_launch_point"}, "build(")},
      {"e3: threads on llvm", threads_on_llvm,
       target_error({"threadIdx.x", "`i`", "`Q`"}, ".bind(")},
  };
}

}  // namespace tenon::probes
