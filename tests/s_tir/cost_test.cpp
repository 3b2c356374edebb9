// Measures the cost of primitives: 20 of each on a function of 500 blocks. `--gtest_filter=*Cost*`
// prints a line for each.
#include <gtest/gtest.h>

#include <functional>

#include "tenon/s_tir/schedule.h"
#include "tenon/s_tir/script.h"
#include "tests/common/processor_time.h"

namespace tenon::s_tir {
namespace {

constexpr int kBlocks = 500, kSteps = 20;

bool is_reduction(int n) { return n % 5 == 4; }
std::string name_of(int n) { return n + 1 == kBlocks ? "Z" : "B" + std::to_string(n); }

/// A chain of blocks, each of which reads what the one before it writes; every fifth sums rows.
tir::IRModule chain() {
  std::string text =
      "# from tvm.script import tir as T\n@tvm.script.ir_module\nclass Module:\n    @T.prim_func\n"
      "    def main(A: T.Buffer[(64, 64), \"float32\"], Z: T.Buffer[(64, 64), \"float32\"]) -> "
      "None:\n";
  for (int n = 0; n + 1 < kBlocks; ++n)
    text += "        " + name_of(n) + " = T.alloc_buffer([64, 64], dtype=\"float32\")\n";
  for (int n = 0; n < kBlocks; ++n) {
    const std::string from = n == 0 ? "A" : name_of(n - 1), to = name_of(n);
    const std::string block = "            with T.block(\"" + to + "\"):\n                ";
    if (is_reduction(n))
      text += "        for i, j, k in T.grid(64, 64, 64):\n" + block +
              "vi, vj, vk = T.axis.remap(\"SSR\", [i, j, k])\n                with T.init():\n"
              "                    " +
              to + "[vi, vj] = T.float32(0)\n                " + to + "[vi, vj] = " + to +
              "[vi, vj] + " + from + "[vi, vk]\n";
    else
      text += "        for i, j in T.grid(64, 64):\n" + block +
              "vi, vj = T.axis.remap(\"SS\", [i, j])\n                " + to +
              "[vi, vj] = " + from + "[vi, vj] + T.float32(1)\n";
  }
  return parse_script(text);
}

/// Blocks and loops of the chain, by number.
struct Chain {
  Schedule& sch;
  BlockRV block(int n) const { return sch.get_block(name_of(n)); }
  LoopRV loop(int n, std::size_t at) const { return sch.get_loops(block(n))[at]; }
};

struct Row {
  const char* primitive;
  std::function<void(const Chain&, int)> step;
  /// The number of the first block among 25; of an elementwise one unless said.
  int first = 1;
  /// Preparation that is not timed.
  std::function<void(const Chain&, int)> before = nullptr;
};

std::vector<Row> rows() {
  const auto decompose = [](const Chain& c, int n) {
    c.sch.decompose_reduction(c.block(n), c.loop(n, 2));
  };
  return {
      {"get_block", [](const Chain& c, int n) { c.block(n); }},
      {"get_loops", [](const Chain& c, int n) { c.sch.get_loops(c.block(n)); }},
      {"get_child_blocks",
       [](const Chain& c, int) { c.sch.get_child_blocks(c.sch.get_block("root")); }},
      {"get_producers", [](const Chain& c, int n) { c.sch.get_producers(c.block(n)); }},
      {"get_consumers", [](const Chain& c, int n) { c.sch.get_consumers(c.block(n)); }},
      {"split",
       [](const Chain& c, int n) {
         c.sch.split(c.loop(n, 1), {std::nullopt, 8});
       }},
      {"fuse", [](const Chain& c, int n) { c.sch.fuse(c.sch.get_loops(c.block(n))); }},
      {"reorder",
       [](const Chain& c, int n) {
         c.sch.reorder({c.loop(n, 1), c.loop(n, 0)});
       }},
      {"add_unit_loop", [](const Chain& c, int n) { c.sch.add_unit_loop(c.block(n)); }},
      {"parallel", [](const Chain& c, int n) { c.sch.parallel(c.loop(n, 0)); }},
      {"vectorize", [](const Chain& c, int n) { c.sch.vectorize(c.loop(n, 1)); }},
      {"unroll", [](const Chain& c, int n) { c.sch.unroll(c.loop(n, 1)); }},
      {"bind", [](const Chain& c, int n) { c.sch.bind(c.loop(n, 0), "blockIdx.x"); }},
      {"cache_read", [](const Chain& c, int n) { c.sch.cache_read(c.block(n), 0, "local"); }},
      {"cache_write", [](const Chain& c, int n) { c.sch.cache_write(c.block(n), 0, "local"); }},
      {"reindex", [](const Chain& c, int n) { c.sch.reindex(c.block(n), 0, "read"); }},
      {"set_scope", [](const Chain& c, int n) { c.sch.set_scope(c.block(n), 0, "local"); }},
      {"storage_align",
       [](const Chain& c, int n) { c.sch.storage_align(c.block(n), {.factor = 8}); }},
      {"transform_layout",
       [](const Chain& c, int n) {
         c.sch.transform_layout(c.block(n), 0, "write", [](tir::Var i, tir::Var j) {
           return std::vector<tir::Expr>{j, i};
         });
       }},
      {"transform_block_layout",
       [](const Chain& c, int n) {
         c.sch.transform_block_layout(c.block(n), [](tir::Var i, tir::Var j) {
           return std::vector<tir::Expr>{j, i};
         });
       }},
      {"compute_at", [](const Chain& c, int n) { c.sch.compute_at(c.block(n), c.loop(n + 1, 0)); }},
      {"reverse_compute_at",
       [](const Chain& c, int n) { c.sch.reverse_compute_at(c.block(n + 1), c.loop(n, 0)); }},
      {"compute_inline", [](const Chain& c, int n) { c.sch.compute_inline(c.block(n)); }},
      {"reverse_compute_inline",
       [](const Chain& c, int n) { c.sch.reverse_compute_inline(c.block(n + 1)); }},
      {"decompose_reduction", decompose, 4},
      {"merge_reduction",
       [](const Chain& c, int n) {
         c.sch.merge_reduction(c.sch.get_block(name_of(n) + "_init"),
                               c.sch.get_block(name_of(n) + "_update"));
       },
       4, decompose},
      {"rfactor", [](const Chain& c, int n) { c.sch.rfactor(c.loop(n, 2)); }, 4},
      {"blockize", [](const Chain& c, int n) { c.sch.blockize(c.loop(n, 1)); }},
      {"tensorize", [](const Chain& c, int n) { c.sch.tensorize(c.loop(n, 0), "add_one"); }},
      {"annotate",
       [](const Chain& c, int n) { c.sch.annotate(c.block(n), "note", std::int64_t{1}); }},
      {"unannotate", [](const Chain& c, int n) { c.sch.unannotate(c.block(n), "note"); }, 1,
       [](const Chain& c, int n) { c.sch.annotate(c.block(n), "note", std::int64_t{1}); }},
      {"sample_perfect_tile",
       [](const Chain& c, int n) { c.sch.sample_perfect_tile(c.loop(n, 0)); }},
      {"sample_categorical",
       [](const Chain& c, int) {
         c.sch.sample_categorical({1, 2}, {0.5, 0.5});
       }},
      {"sample_compute_location",
       [](const Chain& c, int n) { c.sch.sample_compute_location(c.block(n)); }},
  };
}

void register_intrinsic() {
  const tir::PrimFunc add_one = parse_script(R"(
@T.prim_func
def main(A: T.Buffer[(64, 64), "float32"], B: T.Buffer[(64, 64), "float32"]) -> None:
    for i, j in T.grid(64, 64):
        with T.block("add_one"):
            vi, vj = T.axis.remap("SS", [i, j])
            B[vi, vj] = A[vi, vj] + T.float32(1)
)")
                                    .functions.begin()
                                    ->second;
  register_tensor_intrin("add_one", add_one, add_one, {.override_existing = true});
}

class Cost : public ::testing::TestWithParam<std::size_t> {};

TEST_P(Cost, TwentyOnFiveHundredBlocksTakeLessThanFiftyMilliseconds) {
  static const tir::IRModule mod = chain();
  static const std::vector<Row> all = rows();
  const Row& row = all[GetParam()];
  register_intrinsic();
  constexpr double kLimit = 0.05;
  const double least = testing::least_seconds(kLimit, [&] {
    Schedule sch(mod);
    const Chain c{sch};
    const auto block = [&](int step) { return row.first + 25 * (step % 20); };
    for (int step = 0; row.before && step < kSteps; ++step) row.before(c, block(step));
    const double start = testing::processor_seconds();
    for (int step = 0; step < kSteps; ++step) row.step(c, block(step));
    return testing::processor_seconds() - start;
  });
  std::cout << "  " << row.primitive << ": " << least * 1e3 << " ms\n";
  EXPECT_LT(least, kLimit);
}

INSTANTIATE_TEST_SUITE_P(Primitives, Cost, ::testing::Range(std::size_t{0}, rows().size()),
                         [](const auto& info) {
                           return std::string(rows()[info.param].primitive);
                         });

}  // namespace
}  // namespace tenon::s_tir
