// Facts about the quality of the machine code, on processors of x86-64 that are named, so that they
// hold everywhere.
#include <gtest/gtest.h>

#include <algorithm>

#include "kernel.h"
#include "tenon/tir/ops.h"
#include "tests/common/assembly.h"

namespace tenon::codegen {
namespace {

using namespace tir;
using namespace testing;
using tenon::testing::count;
using tenon::testing::hottest_loop;

TargetFacts avx512_target() {
  TargetFacts facts;
  facts.triple = "x86_64-pc-linux-gnu";
  facts.cpu = "skylake-avx512";
  facts.vector_registers = vector_registers(facts);
  return facts;
}

/// C[rows, columns] += A[rows, depth] * B[depth, columns] with vectors of 16 lanes; `unrolled`
/// steps of the depth in a row.
struct RegisterTile {
  int rows, vectors, unrolled = 1;
  bool in_temporary = false;

  Stmt body(Kernel& k) const {
    const int width = 16 * vectors, depth = 256;
    const Buffer a = k.array({rows * depth}, Float(32)), b = k.array({depth * width}, Float(32)),
                 c = k.array({rows * width}, Float(32));
    IRBuilder ib;
    auto at = [&](Expr first) { return make_ramp(std::move(first), 1, 16); };
    Buffer tile =
        in_temporary ? ib.allocate(Float(32), {rows * width}, "tile", "global").buffer() : c;
    const Expr zero = make_broadcast(make_float(Float(32), 0), 16);
    ib.for_range(0, rows, "i", [&](Var i) {
      for (int v = 0; v < vectors; ++v) ib.emit(make_store(tile, zero, {at(i * width + v * 16)}));
    });
    ib.for_range(0, depth / unrolled, "k", [&](Var ko) {
      for (int u = 0; u < unrolled; ++u) {
        const Expr p = ko * unrolled + u;
        for (int r = 0; r < rows; ++r)
          for (int v = 0; v < vectors; ++v) {
            const Expr here = at(make_int(Int(32), r * width + v * 16));
            const Expr product = make_broadcast(make_load(a, {p + r * depth}), 16) *
                                 make_load(b, {at(p * width + v * 16)});
            ib.emit(make_store(tile, make_load(tile, {here}) + product, {here}));
          }
      }
    });
    if (in_temporary)
      ib.for_range(0, rows, "w", [&](Var i) {
        for (int v = 0; v < vectors; ++v)
          ib.emit(
              make_store(c, make_load(tile, {at(i * width + v * 16)}), {at(i * width + v * 16)}));
      });
    return ib.get();
  }

  std::vector<std::string> loop() const {
    Kernel k;
    const Stmt stmt = body(k);
    return hottest_loop(compile(k.module(stmt), avx512_target()).source("asm"));
  }
};

void expect_accumulators_in_registers(const RegisterTile& tile) {
  const std::vector<std::string> loop = tile.loop();
  EXPECT_EQ(count(loop, "vfmadd"), tile.rows * tile.vectors * tile.unrolled);
  EXPECT_EQ(count(loop, "rsp"), 0) << "something is spilled";
  const auto stores = std::ranges::count_if(loop, [](const std::string& l) {
    return l.find("vmov") != std::string::npos && l.ends_with(")");
  });
  EXPECT_EQ(stores, 0) << "accumulators are stored in the loop";
}

TEST(RegisterTile, in_the_output_stays_in_registers) {
  expect_accumulators_in_registers({.rows = 6, .vectors = 3});
  expect_accumulators_in_registers({.rows = 12, .vectors = 2});
  expect_accumulators_in_registers({.rows = 14, .vectors = 2});
}

TEST(RegisterTile, in_a_temporary_stays_in_registers) {
  expect_accumulators_in_registers({.rows = 6, .vectors = 3, .in_temporary = true});
  expect_accumulators_in_registers({.rows = 12, .vectors = 2, .in_temporary = true});
  expect_accumulators_in_registers({.rows = 14, .vectors = 2, .in_temporary = true});
}

TEST(RegisterTile, stays_in_registers_when_unrolled_far) {
  expect_accumulators_in_registers({.rows = 12, .vectors = 2, .unrolled = 16});
  expect_accumulators_in_registers(
      {.rows = 14, .vectors = 2, .unrolled = 16, .in_temporary = true});
}

TEST(Code, of_plain_loops_has_no_vectors_that_nobody_asked_for) {
  Kernel k;
  const Buffer a = k.array({4096}, Float(32)), c = k.array({4096}, Float(32));
  IRBuilder ib;
  ib.for_range(0, 4096, "i",
               [&](Var i) { ib.emit(make_store(c, make_load(a, {i}) * 3.0f + 1.0f, {i})); });
  for (int j = 0; j < 4; ++j) ib.emit(make_store(c, make_load(a, {j}) * 2.0f, {j}));
  const std::string text = compile(k.module(ib.get()), avx512_target()).source("ll");
  EXPECT_EQ(text.find(" x float>"), std::string::npos) << text;
}

TEST(Code, of_a_reduction_keeps_the_order_of_the_sum) {
  Kernel k;
  const Buffer a = k.array({4096}, Float(32)), c = k.array({1}, Float(32));
  IRBuilder ib;
  ib.for_range(0, 4096, "i",
               [&](Var i) { ib.emit(make_store(c, make_load(c, {0}) + make_load(a, {i}), {0})); });
  EXPECT_EQ(compile(k.module(ib.get()), avx512_target()).source("asm").find("vaddps"),
            std::string::npos);
}

TEST(Code, names_the_arguments_that_do_not_overlap) {
  Kernel k;
  const Buffer a = k.array({16}, Float(32)), c = k.array({16}, Float(32));
  IRBuilder ib;
  ib.for_range(0, 16, "i", [&](Var i) { ib.emit(make_store(c, make_load(a, {i}), {i})); });
  IRModule module = k.module(ib.get());
  const CompileOptions unoptimised{.opt_level = 0};
  EXPECT_NE(compile(module, avx512_target(), unoptimised)
                .source("ll")
                .find("ptr noalias align 4 dereferenceable(64)"),
            std::string::npos);
  module.functions.at("main").attrs.noalias = false;
  EXPECT_EQ(compile(module, avx512_target(), unoptimised).source("ll").find("noalias"),
            std::string::npos);
}

TEST(Code, of_parallel_bodies_lets_parameters_overlap_where_the_function_does) {
  Kernel k;
  const Buffer a = k.array({64}, Float(32)), c = k.array({64}, Float(32));
  IRBuilder ib;
  ib.for_range(0, 64, "i", [&](Var i) { ib.emit(make_store(c, make_load(a, {i}), {i})); },
               {.kind = ForKind::Parallel});
  IRModule module = k.module(ib.get());
  const CompileOptions unoptimised{.opt_level = 0};
  const auto body_takes = [&] {
    const std::string text = compile(module, avx512_target(), unoptimised).source("ll");
    const std::size_t start = text.find("_body(");
    return text.substr(start, text.find(')', start) - start);
  };
  EXPECT_NE(body_takes().find("noalias"), std::string::npos);
  module.functions.at("main").attrs.noalias = false;
  EXPECT_EQ(body_takes().find("noalias"), std::string::npos);
}

TEST(Code, of_ramps_is_made_of_vectors) {
  Kernel k;
  const Buffer a = k.array({64}, Float(32)), c = k.array({64}, Float(32));
  const std::string assembly =
      compile(k.module(make_store(c, make_load(a, {make_ramp(31, -1, 16)}), {make_ramp(0, 1, 16)})),
              avx512_target())
          .source("asm");
  EXPECT_NE(assembly.find("vpermps"), std::string::npos) << assembly;
}

TEST(Code, of_a_local_matrix_read_by_columns_transposes_in_registers) {
  for (const int side : {4, 8}) {
    Kernel k;
    const Buffer a = k.array({64}, Float(32)), c = k.array({64}, Float(32));
    IRBuilder ib;
    const Buffer tile = ib.allocate(Float(32), {side * side}, "tile", "local").buffer();
    for (int row = 0; row < side; ++row) {
      const Expr here = make_ramp(row * side, 1, side);
      ib.emit(make_store(tile, make_load(a, {here}), {here}));
    }
    for (int column = 0; column < side; ++column)
      ib.emit(make_store(c, make_load(tile, {make_ramp(column, side, side)}),
                         {make_ramp(column * side, 1, side)}));
    const std::string text = compile(k.module(ib.get()), avx512_target()).source("ll");
    EXPECT_EQ(text.find("alloca"), std::string::npos) << text;
  }
}

TEST(Code, without_optimisation_still_computes) {
  Kernel k;
  const Buffer a = k.array({64}, Float(32)), c = k.array({64}, Float(32));
  IRBuilder ib;
  ib.for_range(0, 64, "i", [&](Var i) { ib.emit(make_store(c, make_load(a, {i}) * 2.0f, {i})); });
  const Stmt body = ib.get();
  for (int level : {0, 1, 2}) {
    const auto input = runtime::NDArray::random({64}, Float(32)),
               output = runtime::NDArray::zeros({64}, Float(32));
    k.compile(body, host_target(), {.opt_level = level})(input, output);
    for (int n = 0; n < 64; ++n) EXPECT_EQ(output.data<float>()[n], input.data<float>()[n] * 2);
  }
}

TEST(Code, for_another_architecture_can_be_made_but_not_run) {
  TargetFacts arm;
  arm.triple = "aarch64-linux-gnu";
  arm.cpu = "neoverse-n1";
  Kernel k;
  const Buffer a = k.array({64}, Float(32)), c = k.array({64}, Float(32));
  IRBuilder ib;
  ib.for_range(0, 16, "i", [&](Var i) {
    const Expr lanes = make_ramp(i * 4, 1, 4);
    const Expr x = make_load(a, {lanes});
    ib.emit(make_store(c, fma(x, x, make_load(c, {lanes})), {lanes}));
  });
  const Artifact artifact = compile(k.module(ib.get()), arm);
  EXPECT_NE(artifact.source("asm").find("fmla"), std::string::npos);
  EXPECT_THROW(load(artifact), RuntimeError);
}

}  // namespace
}  // namespace tenon::codegen
