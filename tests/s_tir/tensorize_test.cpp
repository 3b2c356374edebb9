// tensorize: what is replaced, what is refused, and that the numbers stay the same.
#include <gtest/gtest.h>

#include "tenon/s_tir/func_builder.h"
#include "tenon/s_tir/schedule.h"
#include "tenon/s_tir/script.h"
#include "tenon/s_tir/tensor_intrin.h"
#include "tenon/tir/verify.h"
#include "tests/common/block_intrinsics.h"
#include "tests/s_tir/interpreted.h"
#include "tests/s_tir/refusal.h"

namespace tenon::s_tir {
namespace {

class TensorizedProduct : public ::testing::Test {
 protected:
  static void SetUpTestSuite() { testing::register_tile_product("product_4x4", 4, 4, 4); }

  /// Tiles of 4x4x4; the first loop of the tile.
  LoopRV tiled(Schedule& own) {
    const auto loops = own.get_loops(own.get_block("C", name));
    const auto i = own.split(loops[0], {std::nullopt, 4});
    const auto j = own.split(loops[1], {std::nullopt, 4});
    const auto k = own.split(loops[2], {std::nullopt, 4});
    own.reorder({i[0], j[0], k[0], i[1], j[1], k[1]});
    return i[1];
  }

  const tir::PrimFunc& before() const { return mod.functions.begin()->second; }
  const tir::PrimFunc& after() const { return sch.mod().functions.begin()->second; }

  tir::IRModule mod = parse_script(testing::kSmallProduct);
  std::string name = mod.functions.begin()->first;
  Schedule sch{mod};
};

TEST_F(TensorizedProduct, ComputesTheSame) {
  sch.tensorize(tiled(sch), "product_4x4");
  EXPECT_TRUE(tir::verify(after(), tir::Form::Blocks).empty());
  EXPECT_EQ(first_other_result(before(), after()), "");
}

TEST_F(TensorizedProduct, TheImplementationStandsWhereTheLoopsWere) {
  sch.tensorize(tiled(sch), "product_4x4");
  const std::string text = print_script(sch.mod());
  EXPECT_NE(text.find("with T.block(\"lanes\")"), std::string::npos) << text;
  EXPECT_NE(text.find("T.match_buffer(A[vi_o * 4 : vi_o * 4 + 4, vk_o * 4 : vk_o * 4 + 4], [4, 4]"),
            std::string::npos)
      << text;
  EXPECT_EQ(text.find("with T.block(\"C\")"), std::string::npos) << text;
}

TEST_F(TensorizedProduct, ABlockThatIsBlockizedAlready) {
  const BlockRV outer = sch.blockize(tiled(sch));
  sch.tensorize(outer, "product_4x4");
  EXPECT_EQ(first_other_result(before(), after()), "");
}

TEST_F(TensorizedProduct, AnUpdateWhoseInitIsABlockOfItsOwn) {
  const BlockRV C = sch.get_block("C", name);
  const LoopRV loop = tiled(sch);
  sch.decompose_reduction(C, sch.get_loops(C)[2]);
  sch.tensorize(loop, "product_4x4");
  EXPECT_EQ(first_other_result(before(), after()), "");
}

TEST_F(TensorizedProduct, TwoUsesInOneFunctionHaveVariablesOfTheirOwn) {
  FuncBuilder f;
  auto A = f.param({4, 4}, "A"), B = f.param({4, 4}, "B");
  for (const char* result : {"C", "D"}) {
    auto to = f.param({4, 4}, result);
    f.grid({4, 4, 4}, {"i", "j", "k"}, [&](Var i, Var j, Var k) {
      f.block(result, f.remap("SSR", {i, j, k}, {"vi", "vj", "vk"}), [&](Var vi, Var vj, Var vk) {
        f.init([&] { to[{vi, vj}] = 0.0f; });
        to[{vi, vj}] = to[{vi, vj}] + A[{vi, vk}] * B[{vk, vj}];
      });
    });
  }
  tir::IRModule twice;
  twice.functions.emplace("main", f.get());
  Schedule own(twice);
  for (const char* result : {"C", "D"})
    own.tensorize(own.get_loops(own.get_block(result))[0], "product_4x4");
  const tir::PrimFunc& func = own.mod().functions.at("main");
  EXPECT_TRUE(tir::verify(func, tir::Form::Blocks).empty());
  EXPECT_EQ(first_other_result(twice.functions.at("main"), func), "");
}

TEST_F(TensorizedProduct, TheTraceIsReplayed) {
  sch.tensorize(tiled(sch), "product_4x4");
  const std::string trace = sch.trace().text();
  EXPECT_NE(trace.find(", tensor_intrin=\"product_4x4\")"), std::string::npos) << trace;
  Schedule again(mod);
  again.apply_trace(parse_trace(trace));
  EXPECT_EQ(print_script(again.mod()), print_script(sch.mod()));
  EXPECT_EQ(parse_trace(sch.trace().json()), sch.trace());
}

TEST_F(TensorizedProduct, TheScriptIsReadBack) {
  sch.tensorize(tiled(sch), "product_4x4");
  const std::string text = print_script(sch.mod());
  EXPECT_EQ(print_script(parse_script(text)), text);
}

TEST_F(TensorizedProduct, ACacheOfAnotherScopeThanTheIntrinsicsIsRefused) {
  sch.tensorize(tiled(sch), "product_4x4");
  const BlockRV outer = sch.get_block("C_o", name);
  EXPECT_NE(refusal([&] {
              sch.cache_write(outer, 0, "local");
            }).find("of scope \"global\", not \"local\""),
            std::string::npos);
  sch.cache_write(outer, 0, "global");
  EXPECT_EQ(first_other_result(before(), after()), "");
}

/// The cache is allocated inside the loop, once for all its threads.
TEST_F(TensorizedProduct, ACacheThatAllThreadsWouldShareIsRefused) {
  sch.tensorize(tiled(sch), "product_4x4");
  sch.bind(sch.get_loops(sch.get_block("C_o", name))[1], "threadIdx.x");
  const BlockRV lanes = sch.get_block("lanes", name);
  const std::string sentence = refusal([&] { sch.cache_read(lanes, 1, "global"); });
  EXPECT_NE(sentence.find("all threads of `threadIdx.x` share this memory"), std::string::npos)
      << sentence;
  const BlockRV cache = sch.cache_read(lanes, 1, "local");
  EXPECT_EQ(first_other_result(before(), after()), "");
  EXPECT_NE(refusal([&] { sch.set_scope(cache, 0, "global"); }), "");
}

/// The outer block's init fills its tile once, its body runs for every part of the sum.
TEST_F(TensorizedProduct, AnInitDoesNotMoveIntoTheBody) {
  sch.tensorize(sch.blockize(tiled(sch)), "product_4x4");
  const BlockRV init = sch.get_block("C_init", name);
  const LoopRV inner = sch.get_loops(sch.get_block("lanes", name)).back();
  EXPECT_NE(refusal([&] {
              sch.reverse_compute_at(init, inner);
            }).find("one is in the init of block `C_o`"),
            std::string::npos);
}

TEST_F(TensorizedProduct, AnInitIsNotCachedByItself) {
  sch.tensorize(sch.blockize(tiled(sch)), "product_4x4");
  const BlockRV init = sch.get_block("C_init", name);
  EXPECT_NE(refusal([&] {
              sch.cache_write(init, 0, "global");
            }).find("block `C_init` is in the init of block `C_o`; cache what that block writes"),
            std::string::npos);
}

TEST_F(TensorizedProduct, AnotherExtentIsRefused) {
  testing::register_tile_product("product_4x4x2", 4, 4, 2);
  const LoopRV loop = tiled(sch);
  const std::string sentence = refusal([&] { sch.tensorize(loop, "product_4x4x2"); });
  EXPECT_NE(sentence.find("the loops have different ranges"), std::string::npos) << sentence;
}

TEST_F(TensorizedProduct, AnotherStatementIsNamed) {
  FuncBuilder f;
  auto A = f.param({4, 4}, "A"), B = f.param({4, 4}, "B"), C = f.param({4, 4}, "C");
  f.grid({4, 4, 4}, {"i", "j", "k"}, [&](Var i, Var j, Var k) {
    f.block("update", f.remap("SSR", {i, j, k}, {"vi", "vj", "vk"}), [&](Var vi, Var vj, Var vk) {
      C[{vi, vj}] = C[{vi, vj}] + A[{vi, vk}] * B[{vj, vk}];
    });
  });
  const tir::PrimFunc transposed = f.get();
  register_tensor_intrin("transposed", transposed, transposed, {.override_existing = true});
  const LoopRV loop = tiled(sch);
  const std::string before_it = print_script(sch.mod());
  const std::string sentence = refusal([&] { sch.tensorize(loop, "transposed"); });
  EXPECT_NE(sentence.find("index 0 of `B` does not run as that of `B`"), std::string::npos)
      << sentence;
  EXPECT_EQ(print_script(sch.mod()), before_it);
}

TEST_F(TensorizedProduct, ANameThatIsNotRegisteredIsRefused) {
  const LoopRV loop = tiled(sch);
  EXPECT_NE(refusal([&] {
              sch.tensorize(loop, "nothing");
            }).find("no tensor intrinsic is called `nothing`; there are "),
            std::string::npos);
}

TEST(TensorIntrins, PartsOfOneIntrinsicHaveTheSameBuffers) {
  EXPECT_THROW(register_tensor_intrin("uneven", testing::tile_product(4, 4, 4),
                                      testing::tile_product(4, 4, 2)),
               TypeError);
}

}  // namespace
}  // namespace tenon::s_tir
