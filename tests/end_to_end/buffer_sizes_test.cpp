// Compares the memory that intermediate tensors need with the memory that they get.
#include "tenon/inspect/buffer_sizes.h"

#include <gtest/gtest.h>
#include <tenon/tenon.h>

#include <sstream>

namespace tenon {
namespace {

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

}  // namespace
}  // namespace tenon
