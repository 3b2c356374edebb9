// Misuse of tensors, of the primitives and of operators. What C++ itself refuses to compile is in
// left_out().
#include "probes.h"

namespace tenon::probes {
namespace {

/// B = A + 1, and C = the sums of its rows.
struct Rows {
  te::Tensor A = te::placeholder({16, 16}, "A");
  te::IterVar k = te::reduce_axis({0, 16}, "k");
  te::Tensor B = te::compute(
      {16, 16}, {"i", "j"}, [this](Var i, Var j) { return A(i, j) + 1.0f; }, "B");
  te::Tensor C = te::compute(
      {16}, {"i"}, [this](Var i) { return te::sum(B(i, k), {k}); }, "C");
  te::Schedule s = te::create_schedule({C});
  te::Schedule of_b = te::create_schedule({B});
};

// ---- tensors ------------------------------------------------------------------------------------

std::string index_count() {
  Rows r;
  return printed(r.A(1, 2, 3) + 0);
}

std::string call_index_count() {
  Rows r;
  return printed(r.A(1));
}

std::string tensor_slice_dtype_idx() {
  Rows r;
  return printed(r.A(1.5, 2));
}

std::string nested_reduce() {
  Rows r;
  return printed(
      te::compute({16}, {"i"}, [&](Var i) { return te::sum(r.B(i, r.k), {r.k}) + 1.0f; }));
}

std::string mixed_reduce_tuple() {
  Rows r;
  auto both = [&](Var i) { return std::vector<Expr>{te::sum(r.B(i, r.k), {r.k}), r.A(i, i)}; };
  return printed(te::compute_multi({16}, {"i"}, both).at(0));
}

std::string reduce_over_data_par_axis() {
  Rows r;
  return printed(
      te::compute({16}, {"i"}, [&](Var i) { return te::sum(r.B(i, r.k), {r.B.op().axis(0)}); }));
}

std::string reduce_no_axis() {
  Rows r;
  return printed(te::sum(r.B(0, 0), {}));
}

std::string nonint_shape() { return printed(te::placeholder({2.5})); }

// ---- loops --------------------------------------------------------------------------------------

std::string split_twice() {
  Rows r;
  r.s[r.C].split(r.C.op().axis(0), 2);
  r.s[r.C].split(r.C.op().axis(0), 3);
  return "accepted";
}

std::string split_foreign() {
  Rows r;
  r.s[r.C].split(r.B.op().axis(0), 2);
  return "accepted";
}

std::string split_0() {
  Rows r;
  r.s[r.C].split(r.C.op().axis(0), 0);
  return text_of(r.s, {r.A, r.C});
}

std::string split_neg() {
  Rows r;
  r.s[r.C].split(r.C.op().axis(0), -2);
  return text_of(r.s, {r.A, r.C});
}

std::string fuse_nonconsec() {
  Rows r;
  te::IterVar i = r.B.op().axis(0), j = r.B.op().axis(1);
  auto [outer, inner] = r.of_b[r.B].split(i, 4);
  r.of_b[r.B].fuse({outer, j});
  return "accepted";
}

std::string fuse_data_reduce() {
  Rows r;
  r.s[r.C].fuse({r.C.op().axis(0), r.C.op().reduce_axis(0)});
  std::string text;
  for (const te::IterVar& axis : r.s[r.C].leaf_iter_vars())
    text += (text.empty() ? "" : ", ") + printed(axis);
  return "[" + text + "]";
}

std::string reorder_dup() {
  Rows r;
  te::IterVar i = r.B.op().axis(0);
  r.of_b[r.B].reorder({i, i});
  return "accepted";
}

std::string bind_thread_to_nonthread() {
  Rows r;
  r.s[r.C].bind(r.C.op().axis(0), r.C.op().reduce_axis(0));
  return "accepted";
}

std::string vectorize_reduce() {
  Rows r;
  r.s[r.C].vectorize(r.C.op().reduce_axis(0));
  return "accepted";
}

/// B = A + 1 over m elements.
struct Symbolic {
  Var m = te::var("m");
  te::Tensor A = te::placeholder({m}, "A");
  te::Tensor B = te::compute({m}, {"i"}, [this](Var i) { return A(i) + 1.0f; });
  te::Schedule s = te::create_schedule({B});
};

std::string vectorize_symbolic() {
  auto [m, A, B, s] = Symbolic();
  s[B].vectorize(B.op().axis(0));
  return text_of(s, {A, B});
}

std::string unroll_symbolic() {
  auto [m, A, B, s] = Symbolic();
  s[B].unroll(B.op().axis(0));
  return text_of(s, {A, B});
}

std::string parallel_reduce() {
  Rows r;
  r.s[r.C].parallel(r.C.op().reduce_axis(0));
  return text_of(r.s, {r.A, r.C});
}

// ---- where stages are computed and stored -------------------------------------------------------

std::string compute_at_foreign_axis() {
  Rows r;
  r.s[r.B].compute_at(r.s[r.C], r.B.op().axis(0));
  return "accepted";
}

std::string compute_at_self() {
  Rows r;
  r.s[r.B].compute_at(r.s[r.B], r.B.op().axis(0));
  return text_of(r.s, {r.A, r.C});
}

std::string inline_output() {
  Rows r;
  r.s[r.C].compute_inline();
  return text_of(r.s, {r.A, r.C});
}

std::string inline_reduce() {
  Rows r;
  te::Tensor D = te::compute(
      {16}, {"i"}, [&](Var i) { return r.C(i) * 2.0f; }, "D");
  te::Schedule s = te::create_schedule({D});
  s[r.C].compute_inline();
  return text_of(s, {r.A});
}

std::string env_threads_compute() {
  Rows r;
  r.s[r.C].env_threads({te::thread_axis("threadIdx.x")});
  return "accepted";
}

std::string double_buffer_output() {
  Rows r;
  r.s[r.C].double_buffer();
  return "accepted";
}

std::string set_scope_output() {
  Rows r;
  r.s[r.C].set_scope("shared");
  return text_of(r.s, {r.A, r.C});
}

std::string compute_at_placeholder() {
  Rows r;
  r.s[r.A].compute_at(r.s[r.C], r.C.op().axis(0));
  return text_of(r.s, {r.A, r.C});
}

// ---- rewrites of the graph ----------------------------------------------------------------------

std::string rfactor_data_axis() {
  Rows r;
  r.s.rfactor(r.C, r.C.op().axis(0));
  return "accepted";
}

std::string rfactor_fa() {
  Rows r;
  r.s.rfactor(r.C, r.C.op().reduce_axis(0), 5);
  return "accepted";
}

std::string rfactor_nonreduce() {
  Rows r;
  r.s.rfactor(r.B, r.B.op().axis(0));
  return "accepted";
}

std::string cache_read_not_reader() {
  Rows r;
  r.s.cache_read(r.C, "shared", {r.B});
  return "accepted";
}

std::string cache_write_placeholder() {
  Rows r;
  r.s.cache_write(r.A, "local");
  return "accepted";
}

std::string missing_arg_lower() {
  Rows r;
  return text_of(r.s, {r.C});
}

// ---- operators ----------------------------------------------------------------------------------

std::string pow_int() { return printed(pow(te::var("x"), 2)); }
std::string exp_int() { return printed(exp(te::var("x"))); }
std::string if_then_else_cond() { return printed(if_then_else(te::var("x"), 1, 2)); }
std::string select_mismatch() { return printed(select(te::var("x") < 1, 1, 2.0)); }
std::string int_over_int() { return printed(te::var("x") / te::var("y")); }
std::string shift() { return printed(te::var("x") << 40); }
std::string shift_f() { return printed(make_const(Float(32), 1.0) << 1); }
std::string mod_float() { return printed(make_const(Float(32), 1.0) % make_const(Float(32), 2.0)); }
std::string div_zero() { return printed(floordiv(te::var("x"), 0)); }
std::string const_div_zero() { return printed(floordiv(make_const(Int(32), 1), 0)); }
std::string const_int_overflow() { return printed(make_const(Int(8), 300)); }
std::string var_eq() { return te::var("x").same_as(te::var("x")) ? "True" : "False"; }

}  // namespace

std::vector<Probe> probes_of_e1() {
  return {
      {"e1: index count", index_count, type_error({"A"}, "r.A(1, 2, 3)")},
      {"e1: call index count", call_index_count, type_error({"A"}, "r.A(1)")},
      {"e1: tensor slice dtype idx", tensor_slice_dtype_idx, type_error({"A"}, "r.A(1.5, 2)")},
      {"e1: nested reduce", nested_reduce, type_error({}, "+ 1.0f")},
      {"e1: mixed reduce tuple", mixed_reduce_tuple, type_error({}, "compute_multi")},
      {"e1: reduce over data par axis", reduce_over_data_par_axis, type_error({"`i`"}, "te::sum")},
      {"e1: reduce no axis", reduce_no_axis, type_error({}, "te::sum")},
      {"e1: split twice", split_twice, schedule_error({"`i`", "`C`"}, "axis(0), 3)")},
      {"e1: split foreign", split_foreign, schedule_error({"`i`", "`C`"}, ".split(")},
      {"e1: split 0", split_0, schedule_error({"`i`", "`C`", "0"}, ".split(")},
      {"e1: split neg", split_neg, schedule_error({"`i`", "`C`", "-2"}, ".split(")},
      {"e1: fuse nonconsec", fuse_nonconsec, schedule_error({"`i.outer`", "`j`", "`B`"}, ".fuse(")},
      {"e1: fuse data+reduce", fuse_data_reduce},
      {"e1: reorder dup", reorder_dup, schedule_error({"`i`", "`B`"}, ".reorder(")},
      {"e1: bind thread to nonthread", bind_thread_to_nonthread,
       schedule_error({"`i`", "`C`", "`k`"}, ".bind(")},
      {"e1: compute_at foreign axis", compute_at_foreign_axis,
       schedule_error({"`i`", "`B`", "`C`"}, ".compute_at(")},
      {"e1: compute_at self", compute_at_self, schedule_error({"`B`"}, ".compute_at(")},
      {"e1: inline output", inline_output, schedule_error({"`C`"}, ".compute_inline(")},
      {"e1: inline reduce", inline_reduce, schedule_error({"`C`"}, ".compute_inline(")},
      {"e1: vectorize reduce", vectorize_reduce, schedule_error({"`k`", "`C`"}, ".vectorize(")},
      {"e1: vectorize symbolic", vectorize_symbolic,
       schedule_error({"`i`", "`compute`"}, ".vectorize(")},
      {"e1: unroll symbolic", unroll_symbolic, schedule_error({"`i`", "`compute`"}, ".unroll(")},
      {"e1: parallel reduce", parallel_reduce},
      {"e1: rfactor data axis", rfactor_data_axis, schedule_error({"`i`", "`C`"}, ".rfactor(")},
      {"e1: rfactor fa", rfactor_fa, schedule_error({"`k`", "`C`", "5"}, ".rfactor(")},
      {"e1: rfactor nonreduce", rfactor_nonreduce, schedule_error({"`B`"}, ".rfactor(")},
      {"e1: cache_read not reader", cache_read_not_reader,
       schedule_error({"`C`", "`B`"}, ".cache_read(")},
      {"e1: cache_write placeholder", cache_write_placeholder,
       schedule_error({"`A`"}, ".cache_write(")},
      {"e1: env_threads compute", env_threads_compute, schedule_error({"`C`"}, ".env_threads(")},
      {"e1: double_buffer output", double_buffer_output,
       schedule_error({"`C`"}, ".double_buffer(")},
      {"e1: set_scope output", set_scope_output, schedule_error({"`C`"}, ".set_scope(")},
      {"e1: compute_at placeholder", compute_at_placeholder},
      {"e1: missing arg lower", missing_arg_lower, schedule_error({"`A`"}, "text_of(")},
      {"e1: nonint shape", nonint_shape, type_error({"2.5"}, "te::placeholder(")},
      {"e1: pow int", pow_int, type_error({"pow", "int32"}, "pow(")},
      {"e1: exp int", exp_int, type_error({"exp", "int32"}, "exp(")},
      {"e1: if_then_else cond", if_then_else_cond, type_error({"int32"}, "if_then_else(")},
      {"e1: select mismatch", select_mismatch,
       OwnText{"select((x: int32 < 1), 1f32, 2f32)\n",
               "operands are promoted, as those of operators are"}},
      {"e1: int / int", int_over_int,
       type_error({"floordiv", "floormod", "truncdiv", "truncmod"}, " / ")},
      {"e1: shift", shift, type_error({"40"}, " << 40")},
      {"e1: shift f", shift_f, type_error({"float32"}, " << 1")},
      {"e1: mod float", mod_float, type_error({"floormod", "truncmod"}, " % ")},
      {"e1: div zero", div_zero, type_error({"zero"}, "floordiv(")},
      {"e1: const div zero", const_div_zero, type_error({"zero"}, "floordiv(")},
      {"e1: const int overflow", const_int_overflow, type_error({"300", "int8"}, "make_const(")},
      {"e1: var eq", var_eq},
  };
}

}  // namespace tenon::probes
