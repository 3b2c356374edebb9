// Scans and extern operations that do not fit, intrinsics that match or do not, groups.
#include "probes.h"
#include "tenon/tir/stmt.h"

namespace tenon::probes {
namespace {

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

}  // namespace

std::vector<Probe> probes_of_e2() {
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

}  // namespace tenon::probes
