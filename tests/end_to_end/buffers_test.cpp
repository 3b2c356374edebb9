// Buffers: where they lie and how large they are.
#include <gtest/gtest.h>
#include <sys/mman.h>
#include <tenon/tenon.h>

#include <cmath>
#include <sstream>

#include "tenon/inspect/buffer_sizes.h"
#include "tests/common/refusal.h"
#include "tests/common/ways_to_run.h"

namespace tenon::testing {
namespace {

// ---- buffers that the user gives ----------------------------------------------------------------

// Buffers of the user's in place of those that lower makes: where and how the elements lie.

using runtime::NDArray;

/// Doubles an array that is declared so.
struct BoundBufferTest : ::testing::Test {
  Var n = te::size_var("n");
  NDArray memory = NDArray::random({64, 64}, Float(32));

  void doubles(std::vector<Expr> shape, tir::BufferOptions options, const NDArray& in,
               SourceLocation where = SourceLocation::current()) const {
    te::Tensor A = te::placeholder(shape, "A");
    te::Tensor C = te::compute(
        shape, [&](std::span<const Var> at) { return A(at) * 2.0f; }, "C");
    const tir::Buffer b = tir::decl_buffer(shape, Float(32), std::move(options));
    const runtime::Module mod =
        build(te::create_schedule(C), {b, C}, Target("llvm"), {.binds = {{A, b}}, .opt_level = 1});
    const NDArray out = NDArray::full(in.shape(), Float(32), NAN);
    mod["main"](in, out);
    std::vector<float> expected = in.to_vector<float>();
    for (float& element : expected) element *= 2;
    EXPECT_EQ(out.to_vector<float>(), expected) << where.line();
  }
};

TEST_F(BoundBufferTest, ElementsLieApart) {
  const NDArray apart = memory.view({8, 4}, {64, 2});
  doubles({8, 4}, {.strides = {64, 2}}, apart);
  doubles({8, 4}, {.strides = {te::var("s"), te::var("t")}}, apart);
  doubles({n, 4}, {.strides = {te::var("s"), 2}}, apart);
  const Var both("both");
  doubles({8, 8}, {.strides = {both, both}}, memory.view({8, 8}, {1, 1}));
}

TEST_F(BoundBufferTest, RowsMayBeOneRow) {
  doubles({n, 4}, {.kind = tir::BufferKind::AutoBroadcast}, memory.view({8, 4}, {0, 1}));
  doubles({n, 4}, {.kind = tir::BufferKind::AutoBroadcast}, memory.view({1, 4}, {0, 1}));
  doubles({n, 4}, {.kind = tir::BufferKind::AutoBroadcast}, memory.view({8, 4}, {64, 3}));
}

TEST_F(BoundBufferTest, StridesMayExceedInt32) {
  // The system provides only the pages that are written.
  constexpr std::int64_t kStride = std::int64_t{1} << 32;
  constexpr std::size_t kBytes = static_cast<std::size_t>(kStride) + 2;
  void* const pages = ::mmap(nullptr, kBytes, PROT_READ | PROT_WRITE,
                             MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
  ASSERT_NE(pages, MAP_FAILED);
  auto* const bytes = static_cast<std::int8_t*>(pages);
  bytes[0] = 1, bytes[1] = 2, bytes[kStride] = 3, bytes[kStride + 1] = 4;
  const NDArray in = NDArray::wrap(bytes, {2, 2}, {.strides = {{kStride, 1}}});
  const Var m = te::size_var("m");
  const te::Tensor A = te::placeholder({n, m}, "A", Int(8));
  const te::Tensor C = te::compute(
      {n, m}, [&](Var i, Var j) { return A(i, j) * 2; }, "C");
  for (const char* target : {"llvm", "c"}) {
    const NDArray out = NDArray::zeros({2, 2}, Int(8));
    build(te::create_schedule(C), {A, C}, Target(target))["main"](in, out);
    EXPECT_EQ(out.to_vector<std::int8_t>(), (std::vector<std::int8_t>{2, 4, 6, 8})) << target;
  }
  ::munmap(pages, kBytes);
}

TEST_F(BoundBufferTest, ElementsBeginFurtherOn) {
  const NDArray later = memory.view({8, 4}, {4, 1}, 64);
  doubles({8, 4}, {}, later);
  doubles({8, 4}, {.offset_factor = 16}, later);
  doubles({8, 4}, {.data_alignment = 4, .offset_factor = 1}, memory.view({8, 4}, {4, 1}, 4));
}

TEST_F(BoundBufferTest, MemoryHasTwoDimensions) {
  doubles({8, 4}, {.axis_separators = {1}}, memory.view({8, 4}, {4, 1}));
}

// ---- sizes of temporaries -----------------------------------------------------------------------

// Compares the memory that intermediate tensors need with the memory that they get.

struct TileTest : ::testing::Test {
  te::Tensor A = te::placeholder({64, 64}, "A");
  te::Tensor B = te::compute(
      {64, 64}, {"i", "j"}, [&](Var i, Var j) { return A(i, j) + 1.0f; }, "B");
  te::Tensor C = te::compute(
      {64, 64}, {"i", "j"}, [&](Var i, Var j) { return B(i, j) * 2.0f; }, "C");
  te::Schedule s = te::create_schedule(C);
  te::Stage::TileAxes tile = s[C].tile(s[C].axis(0), s[C].axis(1), 16, 8);

  void SetUp() override { s[B].compute_at(s[C], tile.y_outer); }
  std::string table() const {
    std::ostringstream out;
    out << buffer_sizes(s, {A, C});
    return out.str();
  }
};

TEST_F(TileTest, ATileIsNeededAndAllocated) {
  EXPECT_EQ(table(),
            "buffer  scope   required       allocated\n"
            "B       global  [16, 8] = 128  128\n");
}

TEST_F(TileTest, PaddedRowsTakeMoreThanIsNeeded) {
  // Rows of 8 elements, padded to 9: 16 of them.
  s[B].storage_align(s[B].axis(0), 8, 1);
  EXPECT_EQ(table(),
            "buffer  scope   required       allocated\n"
            "B       global  [16, 8] = 128  144\n");
}

TEST_F(TileTest, ADoubleBufferTakesTwiceWhatIsNeeded) {
  s[B].set_scope("local").double_buffer();
  EXPECT_EQ(table(),
            "buffer  scope  required       allocated\n"
            "B       local  [16, 8] = 128  256\n");
}

TEST_F(TileTest, AScopeThatFollowsFromThreadsIsNamed) {
  s[C].bind(tile.x_outer, te::thread_axis("blockIdx.x"));
  EXPECT_EQ(buffer_sizes(s, {A, C}).at(0).scope, tir::StorageScope::Shared);
}

TEST_F(TileTest, ArgumentsAreNotAllocated) { EXPECT_EQ(buffer_sizes(s, {A, B, C}).size(), 0u); }

// ---- memory outside of a parallel loop ----------------------------------------------------------

/// All iterations share it, although each of them fills it first.
TEST(ParallelMemory, IsSharedIfItIsAllocatedOutsideOfTheLoop) {
  const int count = 16;
  te::Tensor A = te::placeholder({count}, "A");
  te::Tensor B = te::extern_op(
      {count}, {A},
      [&](std::span<const tir::Buffer> ins, std::span<const tir::Buffer> outs) -> te::ExternResult {
        tir::IRBuilder ib;
        auto a = ib.buffer_ptr(ins[0]), b = ib.buffer_ptr(outs[0]);
        auto shared = ib.allocate(Float(32), {4}, "shared");
        ib.for_range(0, count, "i",
                     [&](Var i) {
                       ib.for_range(0, 4, "j", [&](Var j) { shared[j] = a[i]; });
                       b[i] = shared[0] + shared[3];
                     },
                     {.kind = ForKind::Parallel});
        return ib.get();
      },
      "B", {.dtype = Float(32)});
  EXPECT_TRUE(refuses<LowerError>(
      [&] {
        build(te::create_schedule(B), {A, B}, Target("llvm"));
      },
      {"parallel loop over `i`", "shared[", "give each iteration separate elements"}));
}

// ---- layouts ------------------------------------------------------------------------------------

// Stages whose memory has another layout: how they are computed and read.

/// Readers ask for columns before the first, behind a condition. Of the one column that there is, a
/// layout has one block, or moves it elsewhere: no iteration of another one sums it again. Where
/// the loops count from what is asked for, it is the one that they reach.
TEST(Layouts, ASingleColumnIsComputedOnceInEveryLayout) {
  const te::Var n = te::size_var("n");
  const te::Tensor A = te::placeholder({4, 6}, "A", Int(32));
  const te::IterVar k = te::reduce_axis({0, 6}, "k");
  const te::Tensor B = te::compute(
      {4, 1}, {"i", "j"}, [&](Var i, Var j) { return te::sum(A(i, k) + j, {k}); }, "B");
  const te::Tensor C = te::compute(
      {n}, {"i"},
      [&](Var i) { return tir::if_then_else(i <= 0, B(tir::floormod(i, 4), 0 - i), 1); }, "C");
  using Indices = std::vector<Expr>;
  const std::vector<te::IndexFunction<Indices>> maps = {
      [](Var i, Var j) -> Indices {
        return {tir::floordiv(j, 2), i, tir::floormod(j, 2)};
      },
      [](Var i, Var j) -> Indices {
        return {j, i};
      },
  };
  for (const te::IndexFunction<Indices>& map : maps) {
    for (const bool from_zero : {false, true}) {
      te::Schedule s = te::create_schedule(C);
      if (from_zero) s = s.normalize();
      const std::vector<te::IterVar> axes = s[B].transform_layout(map, {.pad = true});
      // The sum starts from zero in loops of its own.
      const te::IterVar sum = from_zero ? s[B].leaf_iter_vars().back() : k;
      s[B].reorder({sum, axes[0], axes[1]});
      EXPECT_EQ(compare_with_default(s, {A, C, n}), "") << from_zero;
    }
  }
}

TEST(Layouts, OfSymbolicExtentsArePadded) {
  const te::Var n = te::size_var("n");
  const te::Tensor A = te::placeholder({n, 6}, "A", Int(32));
  const te::Tensor B = te::compute(
      {n, 6}, {"i", "j"}, [&](Var i, Var j) { return A(i, j) * 2 + i; }, "B");
  const te::Tensor C = te::compute(
      {n, 6}, {"i", "j"}, [&](Var i, Var j) { return B(n - 1 - i, j) + j; }, "C");
  te::Schedule s = te::create_schedule(C);
  const std::vector<te::IterVar> axes = s[B].transform_layout(
      [](Var i, Var j) -> std::vector<Expr> {
        return {tir::floordiv(i, 4), j, tir::floormod(i, 4)};
      },
      {.pad = true});
  s[B].vectorize(axes[2]);
  EXPECT_EQ(compare_with_default(s, {A, C}, {.symbols = {1, 4, 7}}), "");
}

}  // namespace
}  // namespace tenon::testing
