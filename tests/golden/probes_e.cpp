// Probes of errors: tensors, primitives, operators, builds.
#include "probes.h"

#include "tenon/tir/stmt.h"

namespace tenon::probes {
namespace {

// ---- e1 -----------------------------------------------------------------------------------------

// Misuse of tensors, of the primitives and of operators. What C++ itself refuses to compile is in
// left_out().
namespace e1 {

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

std::vector<Probe> probes() {
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

}  // namespace e1

// ---- e2 -----------------------------------------------------------------------------------------

// Scans and extern operations that do not fit, intrinsics that match or do not, groups.
namespace e2 {

// ---- scan ---------------------------------------------------------------------------------------

struct ScanOptions {
  int init_columns = 16;
  bool one_more_step = false;
  DataType dtype = Float(32);
  bool two_states = false;
};

std::string scan(ScanOptions options) {
  Var m = te::size_var("m");
  te::Tensor X = te::placeholder({m, 16}, "X");
  te::Tensor state =
      te::placeholder({options.one_more_step ? m + 1 : Expr(m), 16}, "placeholder", options.dtype);
  te::Tensor init =
      te::compute({1, options.init_columns}, {"t", "i"}, [&](Var, Var i) { return X(0, i); });
  te::Tensor update = te::compute({m, 16}, {"t", "i"}, [&](Var t, Var i) {
    return options.dtype == Float(32) ? state(t - 1, i) + X(t, i) : X(t, i);
  });
  if (!options.two_states) return printed(te::scan(init, update, state));
  return printed(te::scan({init}, {update}, {state, state}).at(0));
}

std::string scan_ok() { return scan({}); }
std::string scan_count() { return scan({.two_states = true}); }
std::string scan_dtype() { return scan({.dtype = Float(64)}); }
std::string scan_trailing() { return scan({.init_columns = 17}); }
std::string scan_state_shape() { return scan({.one_more_step = true}); }

// ---- extern -------------------------------------------------------------------------------------

Expr call_x(std::span<const tir::Buffer>, std::span<const tir::Buffer> outs) {
  return call_extern(Int(32), "x", outs[0]->data);
}

std::string extern_no_dtype() { return printed(te::extern_op({16}, {}, call_x)); }

std::string extern_inbuf() {
  te::Tensor A = te::placeholder({16}, "A");
  std::vector<tir::Buffer> none;
  return printed(te::extern_op({16}, {A}, call_x, "extern", {.input_buffers = none}));
}

// ---- intrinsics on data -------------------------------------------------------------------------

struct PlusOne {
  std::vector<Expr> shape = {16};
  int offset_factor = 1;
};

te::TensorIntrinBody call_f(std::span<const tir::Buffer> ins, std::span<const tir::Buffer> outs) {
  return {.body = tir::make_evaluate(
              call_extern(Int(32), "f", ins[0].access_ptr("r"), outs[0].access_ptr("w")))};
}

te::TensorIntrin plus_one(PlusOne options = {}) {
  te::Tensor a = te::placeholder(options.shape, "a");
  te::Tensor c = te::compute(
      options.shape, [&](std::span<const Var> i) { return a(i) + 1.0f; }, "c");
  tir::Buffer Ab = tir::decl_buffer(a.shape(), a.dtype(),
                                    {.name = "Ab", .offset_factor = options.offset_factor});
  tir::Buffer Cb = tir::decl_buffer(c.shape(), c.dtype(),
                                    {.name = "Cb", .offset_factor = options.offset_factor});
  return te::decl_tensor_intrin(c.op(), call_f, {.binds = {{a, Ab}, {c, Cb}}});
}

std::string intrin_composed() {
  te::Tensor a = te::placeholder({16}, "a");
  te::Tensor b = te::compute({16}, {"i"}, [&](Var i) { return a(i) * 2.0f; });
  te::Tensor c = te::compute({16}, {"i"}, [&](Var i) { return b(i); });
  te::decl_tensor_intrin(c.op(), call_f);
  return "accepted";
}

struct Tensorized {
  float added = 1.0f;
  int axis = 1;
  int split = 0;
};

std::string tensorized(const te::TensorIntrin& intrin, Tensorized options = {}) {
  te::Tensor P = te::placeholder({8, 16}, "P");
  te::Tensor D = te::compute(
      {8, 16}, {"i", "j"}, [&](Var i, Var j) { return P(i, j) + options.added; }, "D");
  te::Schedule s = te::create_schedule({D});
  te::IterVar axis = s[D].axis(options.axis);
  if (options.split) axis = s[D].split(axis, options.split).inner;
  s[D].tensorize(axis, intrin);
  return text_of(s, {P, D});
}

std::string tz_ok() { return tensorized(plus_one()); }
std::string tz_mismatch_body() { return tensorized(plus_one(), {.added = 2.0f}); }
std::string tz_mismatch_shape() { return tensorized(plus_one(), {.split = 8}); }
std::string tz_strided_no_strides() {
  return tensorized(plus_one({.shape = {16, 16}}), {.axis = 0});
}
std::string tz_2d() { return tensorized(plus_one({.shape = {8, 4}}), {.split = 4}); }
std::string tz_no_offset_factor() { return tensorized(plus_one({.offset_factor = 0})); }

// ---- intrinsics of a reduction ------------------------------------------------------------------

struct Parts {
  bool body = true, reset = true, update = true;
};

te::TensorIntrin row_sum(Parts parts) {
  te::Tensor a = te::placeholder({16}, "a");
  te::IterVar k = te::reduce_axis({0, 16}, "k");
  te::Tensor c = te::compute(
      {1}, {"_"}, [&](Var) { return te::sum(a(k), {k}); }, "c");
  auto view = [](const te::Tensor& t, std::string name) {
    return tir::decl_buffer(t.shape(), t.dtype(),
                            {.name = std::move(name), .strides = {1}, .offset_factor = 1});
  };
  auto code = [&](std::span<const tir::Buffer> ins, std::span<const tir::Buffer> outs) {
    auto call = [](const char* name, auto... args) {
      return tir::make_evaluate(call_extern(Int(32), name, args...));
    };
    te::TensorIntrinBody all;
    if (parts.body) all.body = call("body", ins[0].access_ptr("r"), outs[0].access_ptr("w"));
    if (parts.reset) all.reset = call("reset", outs[0].access_ptr("w"));
    if (parts.update) all.update = call("upd", ins[0].access_ptr("r"), outs[0].access_ptr("rw"));
    return all;
  };
  return te::decl_tensor_intrin(c.op(), code, {.binds = {{a, view(a, "Ab")}, {c, view(c, "Cb")}}});
}

std::string reduced(Parts parts) {
  te::Tensor Q = te::placeholder({8, 64}, "Q");
  te::IterVar k = te::reduce_axis({0, 64}, "k");
  te::Tensor D = te::compute(
      {8}, {"i"}, [&](Var i) { return te::sum(Q(i, k), {k}); }, "D");
  te::Schedule s = te::create_schedule({D});
  auto [ko, ki] = s[D].split(s[D].reduce_axis(0), 16);
  s[D].tensorize(ki, row_sum(parts));
  return body_of(s, {Q, D});
}

std::string ret_3() { return reduced({}); }
std::string ret_2() { return reduced({.reset = false}); }
std::string ret_4() { return reduced({.body = false}); }
std::string ret_1() { return reduced({.reset = false, .update = false}); }

// ---- groups -------------------------------------------------------------------------------------

struct Chain {
  te::Tensor A = te::placeholder({16}, "A");
  te::Tensor B = te::compute(
      {16}, {"i"}, [this](Var i) { return A(i) + 1.0f; }, "B");
  te::Tensor C = te::compute(
      {16}, {"i"}, [this](Var i) { return B(i) + 1.0f; }, "C");
  te::Tensor D = te::compute(
      {16}, {"i"}, [this](Var i) { return C(i) + 1.0f; }, "D");
  te::Schedule s = te::create_schedule({D});
};

std::string group_intersect() {
  Chain c;
  c.s.create_group({c.C}, {c.A});
  c.s.create_group({c.D}, {c.B});
  return "accepted";
}

std::string group_compute_at() {
  Chain c;
  c.s.create_group({c.C}, {c.A});
  c.s[c.B].compute_at(c.s[c.D], c.D.op().axis(0));
  return "accepted";
}

std::vector<Probe> probes() {
  return {
      {"e2: scan ok", scan_ok},
      {"e2: scan count", scan_count, type_error({"init", "update", "state", "2"}, "te::scan(")},
      {"e2: scan dtype", scan_dtype, type_error({"float32", "float64"}, "te::scan(")},
      {"e2: scan trailing", scan_trailing, type_error({"17", "16"}, "te::scan(")},
      {"e2: scan state shape", scan_state_shape, type_error({"m"}, "te::scan(")},
      {"e2: extern no dtype", extern_no_dtype, type_error({"dtype"}, "te::extern_op(")},
      {"e2: extern inbuf", extern_inbuf, type_error({"buffers", "1", "0"}, "te::extern_op(")},
      {"e2: intrin composed", intrin_composed,
       type_error({"placeholder"}, "te::decl_tensor_intrin(")},
      {"e2: tz ok", tz_ok},
      {"e2: tz mismatch body", tz_mismatch_body,
       schedule_error({"`D`", "`j`", "2f", "1f"}, ".tensorize(")},
      {"e2: tz mismatch shape", tz_mismatch_shape,
       schedule_error({"`D`", "`j.inner`", "16", "8"}, ".tensorize(")},
      {"e2: tz strided no strides", tz_strided_no_strides,
       schedule_error({"`D`", "`i`", "16", "8"}, ".tensorize(")},
      {"e2: tz 2d", tz_2d, schedule_error({"`D`", "`j.inner`", "8", "1"}, ".tensorize(")},
      {"e2: tz no offset factor", tz_no_offset_factor,
       schedule_error({"`D`", "`j`", "offset"}, ".tensorize(")},
      {"e2: ret 3", ret_3},
      {"e2: ret 2", ret_2},
      {"e2: ret 4", ret_4},
      {"e2: ret 1", ret_1, schedule_error({"`D`", "update"}, ".tensorize(")},
      {"e2: group intersect", group_intersect, schedule_error({"group"}, ".create_group({c.D}")},
      {"e2: group compute_at", group_compute_at,
       schedule_error({"`B`", "`D`", "group"}, ".compute_at(")},
  };
}

}  // namespace e2

// ---- e3 -----------------------------------------------------------------------------------------

// Programs that are built run, and refuse arguments that do not fit.
namespace e3 {

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

std::vector<Probe> probes() {
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

}  // namespace e3

}  // namespace

std::vector<Probe> probes_of_e() {
  std::vector<Probe> all;
  for (const auto& part : {e1::probes(), e2::probes(), e3::probes()})
    all.insert(all.end(), part.begin(), part.end());
  return all;
}

}  // namespace tenon::probes
