// Checks block programs as loops: memory, guards, and threads. The TVM 0.9 texts of lowered block
// programs are in tests/golden.
#include "lower/passes.h"

#include <gtest/gtest.h>

#include "tenon/interp/evaluate.h"
#include "tenon/tir/block.h"
#include "tenon/tir/ops.h"
#include "tenon/tir/print.h"
#include "tenon/tir/verify.h"

namespace tenon::lowering {
namespace {

using namespace tir;

struct Program {
  Buffer a = decl_buffer({16, 16}, Int(32), {.name = "A", .scope = "global"});
  Buffer c = decl_buffer({16}, Int(32), {.name = "C", .scope = "global"});

  PrimFunc func(std::vector<Buffer> allocated, Stmt body) const {
    const Var ah("a", Handle()), ch("c", Handle());
    return {{ah, ch},
            {{ah, a, a}, {ch, c, c}},
            make_root_block(std::move(allocated), std::move(body)),
            {.global_symbol = "main"},
            Form::Blocks};
  }
};

Stmt loop(const Var& var, int extent, const Stmt& body) {
  return make_stmt(For{var, 0, extent, ForKind::Serial, body});
}
Stmt bound_loop(const Var& var, int extent, const char* tag, const Stmt& body) {
  return make_stmt(with_traits(For{var, 0, extent, ForKind::ThreadBinding, body},
                               {.thread = ThreadTag::parse(tag), .annotations = {}}));
}
BufferRegion element(const Buffer& buffer, const std::vector<Expr>& indices) {
  BufferRegion region{buffer, {}};
  for (const Expr& index : indices) region.region.push_back(Range::from_min_extent(index, 1));
  return region;
}
/// A block of one spatial iterator over 16, bound to the value.
Stmt block(const char* name, const Expr& value, const std::vector<BufferRegion>& reads,
           const std::vector<BufferRegion>& writes, const Var& vi, const Stmt& body,
           const Expr& predicate = make_true()) {
  return make_block({value}, predicate,
                    {.iters = {IterVar(Range(0, 16), vi, IterKind::DataParallel)},
                     .reads = reads,
                     .writes = writes,
                     .name = name,
                     .init = std::nullopt,
                     .body = body});
}

std::string loops(const PrimFunc& func) {
  for (const Violation& violation : verify(func, Form::Blocks))
    ADD_FAILURE() << violation.what << ": " << violation.where;
  const PrimFunc result = lower_blocks(func, {});
  for (const Violation& violation : verify(result, Form::MultiDimensional))
    ADD_FAILURE() << violation.what << ": " << violation.where;
  return print_legacy(result.body);
}

/// B[i] = A[i, 0] and C[i] = B[i], in one loop.
struct Chain : Program {
  Buffer b = decl_buffer({16}, Int(32), {.name = "B", .scope = "global"});
  Var i{"i"}, vi{"vi"}, vj{"vj"};
  Stmt producer = block("B", i, {element(a, {vi, 0})}, {element(b, {vi})}, vi,
                        make_store(b, make_load(a, {vi, Expr(0)}), {vi}));
  Stmt consumer = block("C", i, {element(b, {vj})}, {element(c, {vj})}, vj,
                        make_store(c, make_load(b, {vj}), {vj}));
};

TEST(LowerBlocks, ABufferIsWhereItsAccessesMeetAndNoLargerThanTheyNeed) {
  const Chain p;
  EXPECT_EQ(loops(p.func({p.b}, loop(p.i, 16, make_seq({p.producer, p.consumer})))),
            R"(for (i, 0, 16) {
  buffer_realize B([i, 1]) {
    B[i] = A[i, 0]
    C[i] = B[i]
  }
}
)");
}

TEST(LowerBlocks, ABufferOfTwoLoopsIsAroundBoth) {
  const Chain p;
  const Var j("j");
  const Stmt second = block("C", j, {element(p.b, {p.vj})}, {element(p.c, {p.vj})}, p.vj,
                            make_store(p.c, make_load(p.b, {p.vj}), {p.vj}));
  EXPECT_EQ(loops(p.func({p.b}, make_seq({loop(p.i, 16, p.producer), loop(j, 16, second)}))),
            R"(buffer_realize B([0, 16]) {
  for (i, 0, 16) {
    B[i] = A[i, 0]
  }
  for (j, 0, 16) {
    C[j] = B[j]
  }
}
)");
}

TEST(LowerBlocks, ABufferKeepsTheStridesThatAMatchedBufferDeclares) {
  for (const int stride : {16, 2}) {
    const Chain p;
    const Buffer b = decl_buffer({16, 16}, Int(32), {.name = "B", .scope = "global"});
    const Buffer w =
        decl_buffer({1, 2}, Int(32),
                    {.name = "W", .strides = {stride, 1}, .scope = "global", .offset_factor = 1});
    const BufferRegion part{b, {Range::from_min_extent(p.vj, 1), Range::from_min_extent(4, 2)}};
    const Stmt producer = block("B", p.i, {element(p.a, {p.vi, 4})}, {element(b, {p.vi, 4})}, p.vi,
                                make_store(b, make_load(p.a, {p.vi, Expr(4)}), {p.vi, Expr(4)}));
    const Stmt consumer =
        make_block({p.i}, {.iters = {IterVar(Range(0, 16), p.vj, IterKind::DataParallel)},
                           .reads = {part},
                           .writes = {element(p.c, {p.vj})},
                           .name = "C",
                           .init = std::nullopt,
                           .body = make_store(p.c, make_load(w, {Expr(0), Expr(0)}), {p.vj}),
                           .match_buffers = {{w, part}}});
    const std::string text = loops(p.func({b}, loop(p.i, 16, make_seq({producer, consumer}))));
    const std::string columns = stride == 16 ? "[0, 16]" : "[4, 2]";
    EXPECT_NE(text.find("buffer_realize B([i, 1], " + columns + ")"), std::string::npos) << text;
  }
}

/// B is matched with N, and its second row with M. A block writes an element of M, and then reads
/// one.
struct ChainThroughViews : Program {
  Buffer b = decl_buffer({2, 16}, Int(32), {.name = "B", .scope = "global"});
  Buffer n = decl_buffer({2, 16}, Int(32), {.name = "N", .scope = "global", .offset_factor = 1});
  Buffer m = decl_buffer({16}, Int(32), {.name = "M", .scope = "global", .offset_factor = 1});
  Var i{"i"}, vi{"vi"};

  /// Whether the memory of B is inside the loop over the block.
  bool is_inside(const Stmt& write, const Expr& read) const {
    const BufferRegion whole{b, whole_region(b->shape)};
    const Stmt body = make_seq({write, make_store(c, make_load(m, {read}), {vi})});
    const Stmt both =
        make_block({i}, {.iters = {IterVar(Range(0, 16), vi, IterKind::DataParallel)},
                         .reads = {element(a, {vi, 0})},
                         .writes = {whole, element(c, {vi})},
                         .name = "B",
                         .init = std::nullopt,
                         .body = body,
                         .match_buffers = {{n, whole}, {m, {n, {Range(1, 2), Range(0, 16)}}}}});
    const std::string text = loops(func({b}, loop(i, 16, both)));
    return text.find("for (i, 0, 16)") < text.find("buffer_realize B");
  }
};

TEST(LowerBlocks, AStoreThroughAMatchedBufferStoresOneElement) {
  const ChainThroughViews p;
  const Stmt write = make_store(p.m, make_load(p.a, {p.vi, Expr(0)}), {p.vi});
  EXPECT_TRUE(p.is_inside(write, p.vi));
  EXPECT_FALSE(p.is_inside(write, 0));
}

TEST(LowerBlocks, ACallStoresThePartOfAMatchedBufferThatItsBlockDeclares) {
  const ChainThroughViews p;
  const Stmt call =
      make_block({}, {.iters = {},
                      .reads = {},
                      .writes = {element(p.m, {p.vi})},
                      .name = "F",
                      .init = std::nullopt,
                      .body = make_evaluate(make_extern_call(Int(32), "f", {p.m->data, p.vi}))});
  EXPECT_TRUE(p.is_inside(call, p.vi));
  EXPECT_FALSE(p.is_inside(call, 0));
}

/// B[at] = A[at, 0] and C[at] = B[at], both under lets.
struct ChainUnderLets : Chain {
  Stmt producer_at(const Expr& at) const {
    return block("B", at, {element(a, {vi, 0})}, {element(b, {vi})}, vi,
                 make_store(b, make_load(a, {vi, Expr(0)}), {vi}));
  }
  Stmt consumer_at(const Expr& at) const {
    return block("C", at, {element(b, {vj})}, {element(c, {vj})}, vj,
                 make_store(c, make_load(b, {vj}), {vj}));
  }
};

TEST(LowerBlocks, ABufferOfOneLetIsInsideIt) {
  const ChainUnderLets p;
  const Var y("y");
  const Stmt both = make_seq({p.producer_at(y), p.consumer_at(y)});
  EXPECT_EQ(loops(p.func({p.b}, loop(p.i, 16, make_stmt(Let{y, 15 - p.i, both})))),
            R"(for (i, 0, 16) {
  let y = (15 - i)
  buffer_realize B([y, 1]) {
    B[y] = A[y, 0]
    C[y] = B[y]
  }
}
)");
}

TEST(LowerBlocks, ABoxContainsTheValuesOfTheLetsInside) {
  const ChainUnderLets p;
  const Var y("y"), z("z"), j("j");
  const Stmt first = make_stmt(Let{y, p.i * 4 + j, p.producer_at(y)}),
             second = make_stmt(Let{z, p.i * 4, p.consumer_at(z)});
  const std::string text =
      loops(p.func({p.b}, loop(p.i, 4, make_seq({loop(j, 4, first), second}))));
  EXPECT_NE(text.find("buffer_realize B([(i*4), 4])"), std::string::npos) << text;
}

TEST(LowerBlocks, SharedMemoryContainsTheValuesThatALetHasInAllThreads) {
  ChainUnderLets p;
  p.b = decl_buffer({16}, Int(32), {.name = "S", .scope = "shared"});
  const Var bx("bx"), tx("tx"), y("y");
  const Stmt both = make_stmt(Let{y, bx * 4 + tx, make_seq({p.producer_at(y), p.consumer_at(y)})});
  const std::string text =
      loops(p.func({p.b}, bound_loop(bx, 4, "blockIdx.x", bound_loop(tx, 4, "threadIdx.x", both))));
  EXPECT_NE(text.find("buffer_realize S([(blockIdx.x*4), 4])"), std::string::npos) << text;
}

TEST(LowerBlocks, ABoxDoesNotDependOnMemoryThatChangesInside) {
  const Chain p;
  const Buffer n = decl_buffer({1}, Int(32), {.name = "N", .scope = "global"});
  const Expr at = make_load(n, {Expr(0)});
  const Stmt body =
      make_seq({make_store(n, 0, {Expr(0)}), make_store(p.b, 5, {at}), make_store(n, 1, {Expr(0)}),
                make_store(p.b, 7, {at}), make_store(p.c, make_load(p.b, {Expr(0)}), {p.i})});
  const std::string text = loops(p.func({p.b, n}, loop(p.i, 16, body)));
  EXPECT_NE(text.find("buffer_realize B([0, 16])"), std::string::npos) << text;
}

TEST(LowerBlocks, ABufferKeepsItsValuesWhereAConditionIsEvaluatedAgain) {
  const Chain p;
  const Expr is_zero = make_load(p.c, {Expr(0)}) == 0;
  const auto guarded = [&](const Stmt& s) { return make_stmt(If{is_zero, s, std::nullopt}); };
  const Stmt body = make_seq({guarded(make_store(p.b, 5, {Expr(0)})), make_store(p.c, 0, {Expr(0)}),
                              guarded(make_store(p.c, make_load(p.b, {Expr(0)}), {p.i}))});
  const std::string text = loops(p.func({p.b}, loop(p.i, 16, body)));
  EXPECT_LT(text.find("buffer_realize B"), text.find("for (i, 0, 16)")) << text;
}

TEST(LowerBlocks, ABufferIsInsideTheLoopWhoseReaderHasAnotherConditionAsWell) {
  const Chain p;
  const Var j("j");
  const auto guarded = [&](const Expr& condition, const Stmt& s) {
    return make_stmt(If{condition, s, std::nullopt});
  };
  const Stmt body =
      make_seq({guarded(p.i < 9, p.producer), loop(j, 4, guarded(j < 3 && p.i < 9, p.consumer))});
  const std::string text = loops(p.func({p.b}, loop(p.i, 16, body)));
  EXPECT_GT(text.find("buffer_realize B"), text.find("for (i, 0, 16)")) << text;
}

/// The split's last part has a guard, which excludes no element that is read.
TEST(LowerBlocks, ABufferIsInsideTheLoopWhoseGuardedSplitFillsWhatIsRead) {
  const Chain p;
  const Var j("j"), k("k");
  const auto text = [&](const Expr& at, int end, const Expr& index, int count) {
    const Stmt store = make_store(p.b, make_load(p.a, {p.i, at}), {index});
    const Stmt filled = loop(j, 3, loop(k, 3, make_stmt(If{at < end, store, std::nullopt})));
    const Var r("r");
    const Stmt read = loop(r, count, make_store(p.c, make_load(p.b, {p.i + r}), {p.i}));
    return loops(p.func({p.b}, loop(p.i, 8, make_seq({filled, read}))));
  };
  const auto is_inside = [](const std::string& loops) {
    return loops.find("buffer_realize B") > loops.find("for (i, 0, 8)");
  };
  const Expr at = j * 3 + k;
  EXPECT_TRUE(is_inside(text(at, 8, p.i + at, 8)));
  EXPECT_FALSE(is_inside(text(at, 7, p.i + at, 8)));
  EXPECT_FALSE(is_inside(text(at, 8, p.i + j, 3)));
}

TEST(LowerBlocks, ABufferIsOutsideOfTheLoopWhoseStoresLeaveGapsThatAreRead) {
  const Chain p;
  const Var j("j"), r("r");
  const auto is_inside = [&](const Expr& index, int count) {
    const Stmt filled = loop(j, 4, make_store(p.b, make_load(p.a, {p.i, j}), {index}));
    const Stmt read = loop(r, count, make_store(p.c, make_load(p.b, {p.i + r}), {p.i}));
    const std::string text = loops(p.func({p.b}, loop(p.i, 8, make_seq({filled, read}))));
    return text.find("buffer_realize B") > text.find("for (i, 0, 8)");
  };
  EXPECT_TRUE(is_inside(p.i + j, 4));
  EXPECT_FALSE(is_inside(p.i + j * 2, 7));
}

TEST(LowerBlocks, ABufferIsOutsideOfTheLoopWhoseStoresFillADiagonal) {
  const Chain p;
  const Buffer square = decl_buffer({4, 4}, Int(32), {.name = "S", .scope = "global"});
  const Var j("j"), r("r"), q("q");
  const Stmt filled = loop(j, 4, make_store(square, make_load(p.a, {p.i, j}), {j, j}));
  const Stmt read = loop(r, 4, loop(q, 4, make_store(p.c, make_load(square, {r, q}), {p.i})));
  const std::string text = loops(p.func({square}, loop(p.i, 8, make_seq({filled, read}))));
  EXPECT_LT(text.find("buffer_realize S"), text.find("for (i, 0, 8)")) << text;
}

TEST(LowerBlocks, AnIteratorKeepsItsValueWhereTheBlockWritesWhatItReads) {
  const Chain p;
  const Expr value = floormod(make_load(p.c, {p.i}), 16);
  const Stmt moving =
      block("C", value, {element(p.c, {p.vj})}, {element(p.c, {p.vj}), element(p.a, {p.vj, 0})},
            p.vj, make_seq({make_store(p.c, 3, {p.vj}), make_store(p.a, 4, {p.vj, Expr(0)})}));
  EXPECT_EQ(loops(p.func({}, loop(p.i, 16, moving))), R"(for (i, 0, 16) {
  let vj = floormod(C[i], 16)
  C[vj] = 3
  A[vj, 0] = 4
}
)");
}

TEST(LowerBlocks, ThePredicateGuardsTheBlock) {
  const Chain p;
  const Stmt guarded = block("C", p.i * 3, {}, {element(p.c, {p.vj})}, p.vj,
                             make_store(p.c, 0, {p.vj}), p.i * 3 < 16);
  EXPECT_EQ(loops(p.func({}, loop(p.i, 6, guarded))),
            "for (i, 0, 6) {\n  if (((i*3) < 16)) {\n    C[(i*3)] = 0\n  }\n}\n");
}

/// C[i] += A[i, k] in a block with an init, and a block in the same loop over k that reads C.
struct RunningSum : Program {
  Buffer s = decl_buffer({16}, Int(32), {.name = "S", .scope = "global"});
  Var i{"i"}, k{"k"}, vi{"vi"}, vk{"vk"}, vj{"vj"};
  Stmt sum = make_block({i, k},
                        {.iters = {IterVar(Range(0, 16), vi, IterKind::DataParallel),
                                   IterVar(Range(0, 16), vk, IterKind::Reduce)},
                         .reads = {element(a, {vi, vk})},
                         .writes = {element(s, {vi})},
                         .name = "S",
                         .init = make_store(s, 0, {vi}),
                         .body = make_store(s, make_load(s, {vi}) + make_load(a, {vi, vk}), {vi})});
  Stmt reader = block("C", i, {element(s, {vj})}, {element(c, {vj})}, vj,
                      make_store(c, make_load(s, {vj}), {vj}));
};

TEST(LowerBlocks, AnInitRunsWhereTheReductionBegins) {
  const RunningSum p;
  EXPECT_EQ(loops(p.func({p.s}, loop(p.i, 16, make_seq({loop(p.k, 16, p.sum), p.reader})))),
            R"(for (i, 0, 16) {
  buffer_realize S([i, 1]) {
    for (k, 0, 16) {
      if ((k == 0)) {
        S[i] = 0
      }
      S[i] = (S[i] + A[i, k])
    }
    C[i] = S[i]
  }
}
)");
}

TEST(LowerBlocks, ASumIsOutsideOfTheLoopThatCarriesIt) {
  const RunningSum p;
  const std::string text =
      loops(p.func({p.s}, loop(p.i, 16, loop(p.k, 16, make_seq({p.sum, p.reader})))));
  EXPECT_LT(text.find("buffer_realize S([i, 1])"), text.find("for (k, 0, 16)")) << text;
}

TEST(LowerBlocks, ALoopThatRunsOnceIsItsBeginning) {
  const Chain p;
  const Stmt once = make_stmt(For{p.i, 3, 1, ForKind::Serial, p.producer});
  EXPECT_EQ(loops(p.func({p.b}, once)), "buffer_realize B([3, 1]) {\n  B[3] = A[3, 0]\n}\n");
}

TEST(LowerBlocks, ThreadsOfOneDimensionAreOneAxisAndShorterLoopsAreGuarded) {
  const Program p;
  const Var bx("bx"), tx("tx"), ty("ty"), vi("vi"), vj("vj");
  const Stmt wide = block("W", tx, {}, {element(p.c, {vi})}, vi, make_store(p.c, 0, {vi}));
  const Stmt narrow = block("N", ty, {}, {element(p.c, {vj})}, vj, make_store(p.c, 1, {vj}));
  EXPECT_EQ(loops(p.func({}, bound_loop(bx, 1, "blockIdx.x",
                                        make_seq({bound_loop(tx, 16, "threadIdx.x", wide),
                                                  bound_loop(ty, 4, "threadIdx.x", narrow)})))),
            R"(// attr [iter_var(blockIdx.x, range(min=0, ext=1), blockIdx.x)] thread_extent = 1
// attr [iter_var(threadIdx.x, range(min=0, ext=16), threadIdx.x)] thread_extent = 16
C[threadIdx.x] = 0
if (tir.likely((threadIdx.x < 4))) {
  C[threadIdx.x] = 1
}
)");
}

TEST(LowerBlocks, SharedMemoryHoldsWhatAllThreadsNeed) {
  const Program p;
  const Buffer s = decl_buffer({16}, Int(32), {.name = "S", .scope = "shared"});
  const Var bx("bx"), tx("tx"), vi("vi"), vj("vj");
  const Stmt fill = block("S", bx * 4 + tx, {element(p.a, {vi, 0})}, {element(s, {vi})}, vi,
                          make_store(s, make_load(p.a, {vi, Expr(0)}), {vi}));
  const Stmt use = block("C", bx * 4 + tx, {element(s, {vj})}, {element(p.c, {vj})}, vj,
                         make_store(p.c, make_load(s, {vj}), {vj}));
  const std::string text =
      loops(p.func({s}, bound_loop(bx, 4, "blockIdx.x",
                                   bound_loop(tx, 4, "threadIdx.x", make_seq({fill, use})))));
  EXPECT_NE(text.find("buffer_realize S([(blockIdx.x*4), 4])"), std::string::npos) << text;
}

TEST(LowerBlocks, PragmasOfLoopsAreAttributes) {
  const Chain p;
  const For plain{p.i, 0, 16, ForKind::Serial, p.producer};
  const Stmt noted = make_stmt(with_traits(
      plain, {.thread = {}, .annotations = {{"note", {Expr(1)}}, {"pragma_x", {Expr(2)}}}}));
  const std::string text = loops(p.func({p.b}, noted));
  EXPECT_EQ(text.substr(0, text.find('\n')), "// attr [i] pragma_x = 2");
  EXPECT_EQ(text.find("note"), std::string::npos);
}

TEST(LowerBlocks, TheLoopsComputeWhatTheBlocksCompute) {
  const RunningSum p;
  const PrimFunc func = p.func({p.s}, loop(p.i, 16, make_seq({loop(p.k, 16, p.sum), p.reader})));
  auto run = [](const PrimFunc& f) {
    std::vector<std::int32_t> in(256), out(16, -1);
    for (std::size_t n = 0; n < in.size(); ++n) in[n] = static_cast<std::int32_t>(n * n % 97);
    const std::vector<HostValue> args = {HostArray{in.data(), Int(32), {16, 16}},
                                         HostArray{out.data(), Int(32), {16}}};
    evaluate(f, args);
    return out;
  };
  PrimFunc made = lower_blocks(func, {});
  made.form = Form::MultiDimensional;
  EXPECT_EQ(run(made), run(func));
}

}  // namespace
}  // namespace tenon::lowering
