#include "lower/passes.h"

#include <gtest/gtest.h>

#include <array>
#include <limits>

#include "tenon/interp/evaluate.h"
#include "tenon/lower/pipeline.h"
#include "tenon/support/error.h"
#include "tenon/tir/ops.h"
#include "tenon/tir/print.h"
#include "tenon/tir/walk.h"

namespace tenon::lowering {
namespace {

using namespace tir;

CommReducer sum() {
  const Var x("x"), y("y");
  return std::make_shared<const CommReducerNode>(
      CommReducerNode{{x}, {y}, {x + y}, {Expr(0)}, "sum"});
}

CommReducer least() {
  const Var x("x"), y("y");
  return std::make_shared<const CommReducerNode>(
      CommReducerNode{{x}, {y}, {min(x, y)}, {max_value(Int(32))}, "min"});
}

/// (index, value) of the first of the greatest values.
CommReducer argmax() {
  const Var i("i"), x("x"), j("j"), y("y");
  return std::make_shared<const CommReducerNode>(
      CommReducerNode{{i, x},
                      {j, y},
                      {select(x >= y, i, j), select(x >= y, x, y)},
                      {Expr(-1), min_value(Int(32))},
                      "argmax"});
}

/// `extents` threads reduce together, the last of them threadIdx.x; `groups` is the extent of
/// another thread axis, or of blocks if all thread axes are in use.
struct Case {
  std::vector<int> extents;
  int groups;

  int count() const {
    int product = 1;
    for (int extent : extents) product *= extent;
    return product;
  }
};

Buffer array(const std::string& name, int size) {
  return decl_buffer({Expr(size)}, Int(32), {.name = name});
}

Stmt allocated(const Buffer& buffer, const Stmt& body) {
  return make_stmt(Allocate{buffer->data, buffer->dtype, buffer->shape, make_true(), body});
}

/// Reduces values of each thread, and stores the totals of a group in `out`, from `first` on.
Stmt reduction(const CommReducer& reducer, const std::vector<Expr>& values,
               const std::vector<Expr>& axes, const Buffer& out, const Expr& first) {
  std::vector<Expr> args{make_int(UInt(32), static_cast<std::int64_t>(values.size()))};
  args.insert(args.end(), values.begin(), values.end());
  args.push_back(make_true());
  std::vector<Buffer> totals;
  for (std::size_t k = 0; k < values.size(); ++k) {
    totals.push_back(decl_buffer({Expr(1)}, Int(32), {.name = "total", .scope = "local"}));
    args.push_back(make_load(totals.back(), {Expr(0)}));
  }
  args.insert(args.end(), axes.begin(), axes.end());
  const Expr null = make_call(Handle(), Intrin::reinterpret, {make_int(UInt(64), 0)});
  std::vector<Stmt> steps{make_stmt(
      Attr{AttrKind::ReduceScope, reducer, "", null,
           make_evaluate(make_call(Handle(), Intrin::tvm_thread_allreduce, std::move(args)))})};
  for (std::size_t k = 0; k < totals.size(); ++k)
    steps.push_back(
        make_store(out, make_load(totals[k], {Expr(0)}), {first + static_cast<int>(k)}));
  Stmt body = make_seq(std::move(steps));
  for (const Buffer& total : totals) body = allocated(total, body);
  return body;
}

/// out[group*4 ..]: sum, min, index of the maximum, maximum.
PrimFunc program(const Case& c) {
  const Buffer in = array("A", c.count() * c.groups), out = array("B", c.groups * 4);
  static constexpr std::array kTags{"threadIdx.x", "threadIdx.y", "threadIdx.z"};
  const auto axis = [](const std::string& tag) {
    return IterVar(std::nullopt, Var(tag), IterKind::ThreadIndex, ThreadTag::parse(tag));
  };
  std::vector<std::pair<IterVar, int>> axes;
  Expr element(0);
  std::vector<Expr> reduced;
  const std::string group_tag =
      c.extents.size() < 3 ? kTags[c.extents.size()] : std::string("blockIdx.x");
  axes.emplace_back(axis(group_tag), c.groups);
  for (std::size_t k = 0; k < c.extents.size(); ++k) {
    axes.emplace_back(axis(kTags[c.extents.size() - 1 - k]), c.extents[k]);
    const Var& var = axes.back().first.var();
    element = element * c.extents[k] + var;
    reduced.push_back(var);
  }
  const Var& group = axes.front().first.var();
  const Expr value = make_load(in, {group * c.count() + element});
  Stmt body = make_seq({reduction(sum(), {value}, reduced, out, group * 4),
                        reduction(least(), {value}, reduced, out, group * 4 + 1),
                        reduction(argmax(), {element, value}, reduced, out, group * 4 + 2)});
  for (std::size_t k = axes.size(); k-- > 0;)
    body = make_stmt(Attr{AttrKind::ThreadExtent, axes[k].first, "", Expr(axes[k].second), body});
  const Var a("A", Handle()), b("B", Handle());
  return PrimFunc{.params = {a, b},
                  .buffers = {{a, in, in}, {b, out, out}},
                  .body = body,
                  .form = Form::Lowered};
}

std::vector<int> values_of(const Case& c) {
  std::vector<int> values;
  // Small, so that maxima are met more than once.
  for (int k = 0; k < c.count() * c.groups; ++k) values.push_back((k * 7 + k / 5) % 11 - 3);
  return values;
}

std::vector<int> run(const PrimFunc& func, const Case& c) {
  std::vector<int> in = values_of(c), out(static_cast<std::size_t>(c.groups) * 4, -99);
  const std::vector<HostValue> args{
      HostArray{in.data(), Int(32), {static_cast<std::int64_t>(in.size())}},
      HostArray{out.data(), Int(32), {static_cast<std::int64_t>(out.size())}}};
  evaluate(func, args, {.check_races = true});
  return out;
}

std::vector<int> expected(const Case& c) {
  const std::vector<int> in = values_of(c);
  std::vector<int> out;
  for (int g = 0; g < c.groups; ++g) {
    int total = 0, least = std::numeric_limits<int>::max(), at = -1, greatest = 0;
    for (int k = 0; k < c.count(); ++k) {
      const int value = in[static_cast<std::size_t>(g * c.count() + k)];
      total += value;
      least = std::min(least, value);
      if (at < 0 || value > greatest) at = k, greatest = value;
    }
    out.insert(out.end(), {total, least, at, greatest});
  }
  return out;
}

void check(int warp_size, std::size_t num_axes) {
  PipelineOptions options;
  options.passes.warp_size = warp_size;
  for (int extent = 1; extent <= 65; ++extent)
    for (int groups : {1, 3, 16}) {
      Case c{{extent}, groups};
      if (num_axes > 1) c.extents.insert(c.extents.begin(), 2);
      if (num_axes > 2) c.extents.insert(c.extents.begin(), 3);
      const PrimFunc lowered = run_passes(device_passes(), program(c), options);
      int left = 0;
      walk(lowered.body, [&](const Call& n) { left += n.is(Intrin::tvm_thread_allreduce); });
      ASSERT_EQ(left, 0);
      ASSERT_EQ(run(lowered, c), expected(c)) << extent << " threads, " << groups << " groups\n"
                                              << print_function(lowered);
    }
}

TEST(LowerThreadAllreduce, OneAxisInSharedMemory) { check(0, 1); }
TEST(LowerThreadAllreduce, TwoAxesInSharedMemory) { check(0, 2); }
TEST(LowerThreadAllreduce, ThreeAxesInSharedMemory) { check(0, 3); }
TEST(LowerThreadAllreduce, OneAxisInWarps) { check(32, 1); }
TEST(LowerThreadAllreduce, TwoAxesInWarps) { check(32, 2); }
TEST(LowerThreadAllreduce, ThreeAxesInWarps) { check(32, 3); }

int count_of(const PrimFunc& func, Intrin intrin) {
  int count = 0;
  walk(func.body, [&](const Call& n) { count += n.is(intrin); });
  return count;
}

TEST(LowerThreadAllreduce, WarpsOfOneReductionNeedOneBarrier) {
  PipelineOptions options;
  options.passes.warp_size = 32;
  PrimFunc func = program({{256}, 1});
  // Only the sum.
  const Stmt* s = &func.body;
  std::vector<const Attr*> nest;
  while (const Attr* n = s->as<Attr>()) nest.push_back(n), s = &n->body;
  Stmt body = s->as<Seq>()->stmts.front();
  for (std::size_t k = nest.size(); k-- > 0;)
    body = make_stmt(Attr{nest[k]->kind, nest[k]->subject, "", nest[k]->value, body});
  func.body = body;
  const PrimFunc lowered = run_passes(device_passes(), func, options);
  EXPECT_EQ(count_of(lowered, Intrin::tvm_storage_sync), 1) << print_function(lowered);
  // 5 steps among 32 lanes, 3 among the totals of 8 warps.
  EXPECT_EQ(count_of(lowered, Intrin::tvm_warp_shuffle_down), 8);
}

TEST(LowerThreadAllreduce, TheNumberOfThreadsIsConstant) {
  PrimFunc func = program({{8}, 1});
  const Var n("n");
  func.params.push_back(n);
  func.body = rewrite(func.body, [&](const Attr& attr, const Stmt&) -> std::optional<Stmt> {
    if (attr.kind != AttrKind::ThreadExtent || !is_constant_int(attr.value, 8)) return std::nullopt;
    return make_stmt(Attr{attr.kind, attr.subject, "", n, attr.body});
  });
  EXPECT_THROW(run_passes(device_passes(), func), LowerError);
}

}  // namespace
}  // namespace tenon::lowering
