// Checks traces as text and as JSON: TVM 0.9 texts in both directions, and errors of other texts.
#include "tenon/s_tir/trace.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>

#include "tenon/s_tir/trace_steps.h"
#include "tenon/support/error.h"

namespace tenon::s_tir {
namespace {

const char* const kFirstPage = R"(b0 = sch.get_block(name="Y", func_name="mm_relu")
l1, l2, l3 = sch.get_loops(block=b0)
l4, l5 = sch.split(loop=l2, factors=[None, 4], preserve_unit_iters=True)
sch.reorder(l4, l3, l5)
b6 = sch.get_block(name="C", func_name="mm_relu")
sch.reverse_compute_at(block=b6, loop=l4, preserve_unit_loops=False)
b7 = sch.decompose_reduction(block=b0, loop=l3))";

const char* const kFirstPageLater = R"(# from tvm import tir
def apply_trace(sch: tir.Schedule) -> None:
  b0 = sch.get_block(name="Y", func_name="mm_relu")
  l1, l2, l3 = sch.get_loops(block=b0)
  l4, l5 = sch.split(loop=l2, factors=[None, 4], preserve_unit_iters=True, disable_predication=False)
  sch.reorder(l4, l3, l5)
  b6 = sch.get_block(name="C", func_name="mm_relu")
  sch.reverse_compute_at(block=b6, loop=l4, preserve_unit_loops=False, index=-1)
  b7 = sch.decompose_reduction(block=b0, loop=l3))";

const char* const kFirstPageJson = R"([[["GetBlock", [], ["Y", "mm_relu"], ["b0"]], )"
                                   R"(["GetLoops", ["b0"], [], ["l1", "l2", "l3"]], )"
                                   R"(["Split", ["l2", "None", 4], [1], ["l4", "l5"]], )"
                                   R"(["Reorder", ["l4", "l3", "l5"], [], []], )"
                                   R"(["GetBlock", [], ["C", "mm_relu"], ["b6"]], )"
                                   R"(["ReverseComputeAt", ["b6", "l4"], [0], []], )"
                                   R"(["DecomposeReduction", ["b0", "l3"], [], ["b7"]]], []])";

const char* const kSampled = R"(b0 = sch.get_block(name="C", func_name="main")
l1, l2, l3 = sch.get_loops(block=b0)
v4, v5 = sch.sample_perfect_tile(loop=l2, n=2, max_innermost_factor=16, decision=[8, 16])
l6, l7 = sch.split(loop=l2, factors=[v4, v5], preserve_unit_iters=True)
sch.reorder(l1, l6, l3, l7)
b8 = sch.decompose_reduction(block=b0, loop=l3))";

const char* const kSampledJson =
    R"([[["GetBlock", [], ["C", "main"], ["b0"]], )"
    R"(["GetLoops", ["b0"], [], ["l1", "l2", "l3"]], )"
    R"(["SamplePerfectTile", ["l2"], [2, 16], ["v4", "v5"]], )"
    R"(["Split", ["l2", "v4", "v5"], [1], ["l6", "l7"]], )"
    R"(["Reorder", ["l1", "l6", "l3", "l7"], [], []], )"
    R"(["DecomposeReduction", ["b0", "l3"], [], ["b8"]]], [[2, [8, 16]]]])";

TEST(Trace, PrintsWhatItWasParsedFrom) {
  EXPECT_EQ(parse_trace(kFirstPage).text(), kFirstPage);
  EXPECT_EQ(parse_trace(kSampled).text(), kSampled);
}

TEST(Trace, TheLaterFormHasAHeaderAndTheArgumentsThatCameSince) {
  EXPECT_EQ(parse_trace(kFirstPage).text(TraceStyle::V17), kFirstPageLater);
}

TEST(Trace, TheLaterFormIsTheSameTrace) {
  EXPECT_EQ(parse_trace(kFirstPageLater), parse_trace(kFirstPage));
}

TEST(Trace, AnEmptyTraceInTheLaterFormPasses) {
  EXPECT_EQ(Trace{}.text(TraceStyle::V17),
            "# from tvm import tir\ndef apply_trace(sch: tir.Schedule) -> None:\n  pass");
  EXPECT_EQ(parse_trace(Trace{}.text(TraceStyle::V17)), Trace{});
}

TEST(Trace, JsonListsInputsAttributesAndDecisionsApart) {
  EXPECT_EQ(parse_trace(kFirstPage).json(), kFirstPageJson);
  EXPECT_EQ(parse_trace(kSampled).json(), kSampledJson);
}

TEST(Trace, JsonIsTheSameTrace) {
  EXPECT_EQ(parse_trace(kFirstPageJson), parse_trace(kFirstPage));
  EXPECT_EQ(parse_trace(kSampledJson), parse_trace(kSampled));
}

TEST(Trace, TextsAmongTheInputsKeepTheirQuotesInJson) {
  const Trace trace = parse_trace(
      "b0 = sch.get_block(name=\"C\", func_name=\"main\")\n"
      "sch.annotate(block_or_loop=b0, ann_key=\"key\", ann_val=\"text\")");
  EXPECT_EQ(trace.json(), R"([[["GetBlock", [], ["C", "main"], ["b0"]], )"
                          R"(["Annotate", ["b0", "\"text\""], ["key"], []]], []])");
  EXPECT_EQ(parse_trace(trace.json()), trace);
}

TEST(Trace, JsonKeepsWhatIsNotedAsItIs) {
  for (const char* const value :
       {"\"a \\\"text\\\" of \\\\ and \\n\"", "\"None\"", "True", "False", "1", "0.5"}) {
    const Trace trace =
        parse_trace(std::string("b0 = sch.get_block(name=\"C\", func_name=\"main\")\n"
                                "sch.annotate(block_or_loop=b0, ann_key=\"key\", ann_val=") +
                    value + ")");
    EXPECT_EQ(parse_trace(trace.json()), trace) << trace.json();
  }
}

TEST(Trace, FloatsKeepTheirTypeAndTheirSign) {
  for (const double value : {1.0, -0.0, 1e300, 0.1}) {
    Trace trace = parse_trace(
        "b0 = sch.get_block(name=\"C\", func_name=\"main\")\n"
        "sch.annotate(block_or_loop=b0, ann_key=\"key\", ann_val=1)");
    trace.steps[1].arguments[2] = TraceValue{value};
    for (const std::string& text : {trace.text(), trace.json()}) {
      const double* again = std::get_if<double>(&parse_trace(text).steps[1].arguments[2].value);
      ASSERT_TRUE(again) << text;
      EXPECT_EQ(std::signbit(*again), std::signbit(value)) << text;
      EXPECT_EQ(*again, value) << text;
    }
  }
}

TEST(Trace, JsonKeepsTheNameNone) {
  const Trace trace = parse_trace("b0 = sch.get_block(name=\"None\", func_name=\"main\")");
  EXPECT_EQ(parse_trace(trace.json()), trace);
}

TEST(Trace, JsonEscapesWhatItCannotHold) {
  Trace trace = parse_trace(
      "b0 = sch.get_block(name=\"C\", func_name=\"main\")\n"
      "sch.annotate(block_or_loop=b0, ann_key=\"key\", ann_val=\"text\")");
  trace.steps[1].arguments[1] = TraceValue{std::string("a\tkey\x01")};
  trace.steps[1].arguments[2] = TraceValue{std::string("a\tvalue\x01")};
  const std::string json = trace.json();
  EXPECT_TRUE(std::all_of(json.begin(), json.end(), [](char c) { return c >= ' '; })) << json;
  EXPECT_EQ(parse_trace(json), trace) << json;
}

TEST(Trace, AListOfOneIsTakenApartWithAComma) {
  const char* const text =
      "b0 = sch.get_block(name=\"C\", func_name=\"main\")\n"
      "l1, = sch.get_loops(block=b0)\n"
      "b2, = sch.get_child_blocks(l1)\n"
      "sch.get_consumers(block=b2)\n"
      "l3 = sch.fuse(l1, preserve_unit_iters=True)";
  EXPECT_EQ(parse_trace(text).text(), text);
}

TEST(Trace, SimplificationDropsWhatNothingUses) {
  const Trace trace = parse_trace(
      "b0 = sch.get_block(name=\"A\", func_name=\"main\")\n"
      "b1 = sch.get_block(name=\"B\", func_name=\"main\")\n"
      "l2, l3 = sch.get_loops(block=b0)\n"
      "l4, l5 = sch.get_loops(block=b1)\n"
      "v6, v7 = sch.sample_perfect_tile(loop=l4, n=2, max_innermost_factor=16, decision=[1, 2])\n"
      "sch.unroll(loop=l3)");
  EXPECT_EQ(trace.simplified().text(),
            "b0 = sch.get_block(name=\"A\", func_name=\"main\")\n"
            "l1, l2 = sch.get_loops(block=b0)\n"
            "sch.unroll(loop=l2)");
}

TEST(Trace, SimplificationDropsWhatATunerDidAfterwards) {
  const Trace trace = parse_trace(
      "b0 = sch.get_block(name=\"A\", func_name=\"main\")\n"
      "sch.compute_inline(block=b0)\n"
      "sch.enter_postproc()\n"
      "b1 = sch.get_block(name=\"B\", func_name=\"main\")\n"
      "sch.unannotate(block_or_loop=b1, ann_key=\"key\")");
  EXPECT_EQ(trace.simplified(true).steps.size(), 2u);
  EXPECT_EQ(trace.simplified(false).steps.size(), 5u);
}

std::string complaint(const std::string& text) {
  try {
    parse_trace(text);
  } catch (const TypeError& error) {
    return error.sentence();
  }
  return "accepted";
}

TEST(Trace, ANameThatNoStepGivesIsRefusedWithItsPlace) {
  EXPECT_EQ(complaint("b0 = sch.get_block(name=\"C\", func_name=\"main\")\n"
                      "sch.unroll(loop=l7)"),
            "trace, line 2, column 17: no step above gives `l7`");
}

TEST(Trace, AnUnknownPrimitiveIsRefusedWithItsPlace) {
  EXPECT_EQ(complaint("sch.magic()"), "trace, line 1, column 5: no primitive is called `magic`");
}

TEST(Trace, AMissingArgumentIsRefused) {
  EXPECT_EQ(complaint("b0 = sch.get_block(name=\"C\")"),
            "trace, line 1, column 1: get_block: argument `func_name` is missing");
}

TEST(Trace, AnArgumentThatThereIsNotIsRefused) {
  EXPECT_EQ(complaint("b0 = sch.get_block(name=\"C\", func_name=\"main\", x=1)"),
            "trace, line 1, column 48: get_block has no argument `x`");
}

TEST(Trace, WhatIsNoJsonIsRefusedWithItsPlace) {
  EXPECT_NE(complaint("[[[\"GetBlock\", [], [\"C\", \"main\"]").find("line 1, column 33"),
            std::string::npos)
      << complaint("[[[\"GetBlock\", [], [\"C\", \"main\"]");
}

TEST(Trace, WhatIsNoTraceInJsonIsRefusedWithItsStep) {
  const auto of_steps = [](const std::string& steps) {
    return complaint("[[[\"GetBlock\", [], [\"C\", \"main\"], [\"b0\"]], " + steps + "], []]");
  };
  EXPECT_EQ(of_steps("[\"Magic\", [], [], []]"), "trace, step 2: no step is called `Magic`");
  EXPECT_EQ(of_steps("[\"Unroll\", [\"l7\"], [], []]"), "trace, step 2: no step before gives `l7`");
  EXPECT_EQ(of_steps("[\"Unroll\", [], [], []]"),
            "trace, step 2: unroll: argument `loop` is missing");
  EXPECT_EQ(of_steps("[\"Unroll\", [\"b0\", \"b0\"], [], []]"),
            "trace, step 2: unroll has no further argument");
  EXPECT_EQ(of_steps("7"),
            "trace, step 2: its kind and lists of inputs, attributes and outputs are expected");
  EXPECT_EQ(complaint("[[], [[0, [1, 2]]]]"),
            "trace: a decision is for step 0, which does not "
            "exist");
}

TEST(Trace, ADecisionThatNamesAVariableIsRefused) {
  EXPECT_EQ(complaint(R"([[["GetBlock", [], ["C", "main"], ["b0"]],
                           ["GetLoops", ["b0"], [], ["l1"]],
                           ["SamplePerfectTile", ["l1"], [2, 64], ["v2", "v3"]]],
                          [[2, "v2"]]])"),
            "trace: no step before gives `v2`");
}

TEST(Trace, ListsOfManyListsAreRefused) {
  const std::string deep = std::string(100000, '[') + std::string(100000, ']');
  EXPECT_NE(complaint("b0 = sch.get_block(name=" + deep + ")").find("nested too deep"),
            std::string::npos);
  EXPECT_NE(complaint("[[[\"GetBlock\", [], [" + deep + "], []]], []]").find("nested too deep"),
            std::string::npos);
}

TEST(Trace, JsonThatIsNestedTooDeepIsRefused) {
  constexpr std::size_t kDeep = 2000000;
  const std::string deep = std::string(kDeep, '[') + std::string(kDeep, ']');
  EXPECT_EQ(complaint("[[], [[0, " + deep + "]]]"), "trace: lists are nested too deep");
  EXPECT_EQ(complaint(deep), "trace: lists are nested too deep");
}

TEST(Trace, LoopsAreGivenOneByOneOrAsAList) {
  EXPECT_EQ(complaint("b0 = sch.get_block(name=\"C\", func_name=\"main\")\n"
                      "l1, l2 = sch.get_loops(block=b0)\nl3 = sch.fuse(loops=l1, l2)"),
            "trace, line 3, column 25: fuse takes its loops one by one or as one list");
}

TEST(Trace, NumbersThatNoTypeHoldsAreRefused) {
  EXPECT_NE(complaint("[[[\"GetBlock\",[],[\"X\",\"main\"],[\"b0\"]],"
                      "[\"Annotate\",[\"b0\",1e400],[\"k\"],[]]],[]]")
                .find("1e400"),
            std::string::npos);
  EXPECT_EQ(complaint("b0 = sch.get_block(name=\"C\", func_name=18446744073709551616)"),
            "trace, line 1, column 40: `18446744073709551616` is not an integer of 64 bits");
}

TEST(Trace, StringsHaveTheEscapesOfPython) {
  const Trace trace = parse_trace(
      "b0 = sch.get_block(name=\"C\", func_name=\"main\")\n"
      "sch.annotate(block_or_loop=b0, ann_key='a\\tkey\\xff', ann_val=\"\\x41\\u00E9\\\\\")");
  EXPECT_EQ(trace.steps[1].arguments[1], TraceValue{std::string("a\tkeyÿ")});
  EXPECT_EQ(trace.steps[1].arguments[2], TraceValue{std::string("Aé\\")});
}

TEST(Trace, LinesEndInsideBracketsToo) {
  EXPECT_EQ(complaint("b0 = sch.get_block(name=\"C\",\n func_name=\"main\")"),
            "trace, line 1, column 29: expected a value, got the end of the line");
}

TEST(Trace, TextAfterAnIndexOfAnIndexMapIsRefused) {
  EXPECT_NE(complaint("b0 = sch.get_block(name=\"C\", func_name=\"main\")\n"
                      "sch.transform_layout(block=b0, buffer_index=0, buffer_index_type=\"read\", "
                      "index_map=lambda i, j: (i j, j))")
                .find("expected the end, got `j`"),
            std::string::npos);
}

std::string complaint_of_map(const std::string& map) {
  return complaint(
      "b0 = sch.get_block(name=\"C\", func_name=\"main\")\n"
      "sch.transform_block_layout(block=b0, index_map=" +
      map + ")");
}

TEST(Trace, AnIndexMapInJsonIsParsed) {
  EXPECT_EQ(complaint(R"x([[["GetBlock",[],["B","main"],["b0"]],)x"
                      R"x(["TransformBlockLayout",["b0"],["lambda i0: (i7,)"],[]]],[]])x"),
            "trace, step 2: script, line 1, column 1: `i7` is not defined");
}

TEST(Trace, OnlyStepsThatSampleHaveDecisions) {
  EXPECT_EQ(complaint(R"([[["GetBlock",[],["B","main"],["b0"]]],[[0,[3]]]])"),
            "trace: a decision is for step 0, which makes none");
}

TEST(Trace, AnIndexMapGivesIntegers) {
  EXPECT_EQ(complaint_of_map("lambda i: (1.5,)"),
            "trace, line 2, column 48: `1.5` is a float32; an index map gives integers");
}

TEST(Trace, TheVariablesOfAnIndexMapAreNames) {
  EXPECT_NE(complaint_of_map("lambda \"a\", j: (a, j)").find("expected a variable, got \"a\""),
            std::string::npos);
}

TEST(Trace, TextWithoutAnEndIsRefused) {
  EXPECT_EQ(complaint("b0 = sch.get_block(name=\"C"),
            "trace, line 1, column 25: a text without an end");
}

}  // namespace
}  // namespace tenon::s_tir
