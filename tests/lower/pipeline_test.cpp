#include "tenon/lower/pipeline.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <map>
#include <sstream>

#include "pass_text.h"
#include "tenon/tir/ops.h"
#include "tenon/tir/print.h"
#include "tenon/tir/stmt.h"

namespace tenon::lowering {
namespace {

using namespace tir;
using test::normalized;

/// B = A + 1 through a temporary of one row, multi-dimensional.
PrimFunc two_stages() {
  const Buffer a = decl_buffer({16, 8}, Float(32), {.name = "A"}),
               b = decl_buffer({16, 8}, Float(32), {.name = "B"});
  const Buffer t = decl_buffer({16, 8}, Float(32), {.name = "T"});
  const Var i("i"), j("j"), k("j");
  auto row = [](const Var& var, ForKind kind, Stmt body) {
    return make_stmt(For{var, 0, 8, kind, std::move(body)});
  };
  Stmt body = make_seq({row(j, ForKind::Serial, make_store(t, a({i, j}) + 1.0f, {i, j})),
                        row(k, ForKind::Vectorized, make_store(b, t({i, k}), {i, k}))});
  body = make_stmt(Realize{t, {Range::from_min_extent(i, 1), Range(0, 8)}, make_true(), body});
  body = make_stmt(For{i, 0, 16, ForKind::Serial, body});
  const Var pa("A", Handle()), pb("B", Handle());
  return {.params = {pa, pb}, .buffers = {{pa, a, a}, {pb, b, b}}, .body = body};
}

TEST(Pipeline, FromSchedulesFormToTheKnownText) {
  EXPECT_EQ(test::body_text(run_pipeline(two_stages(), {.simple_mode = true})), normalized(R"(
allocate(T: Pointer(global float32), float32, [8]), storage_scope = global;
for (i: int32, 0, 16) {
  for (j: int32, 0, 8) {
    T_1: Buffer(T, float32, [8], [], align=32)[j] = (A[((i*8) + j)] + 1f32)
  }
  B[ramp((i*8), 1, 8)] = T_1[ramp(0, 1, 8)]
}
)"));
}

std::vector<std::span<const Pass>> all_tables() {
  return {block_passes(),     lowering_passes(), host_passes(),
          fast_math_passes(), device_passes(),   kernel_passes()};
}

TEST(Pipeline, ANameMeansOnePass) {
  std::map<std::string_view, decltype(Pass::run)> passes;
  for (const std::span<const Pass> table : all_tables())
    for (const Pass& pass : table)
      EXPECT_EQ(passes.emplace(pass.name, pass.run).first->second, pass.run) << pass.name;
}

/// Whether a pass of that name is in the rows.
bool has_pass(std::span<const Pass> rows, std::string_view name) {
  return std::ranges::any_of(rows, [&](const Pass& pass) { return pass.name == name; });
}

TEST(Pipeline, PassesStandBeforeAndAfterThoseThatTheirReasonsName) {
  for (const std::span<const Pass> table : all_tables())
    for (std::size_t n = 0; n < table.size(); ++n) {
      EXPECT_FALSE(table[n].reason.empty()) << table[n].name;
      std::istringstream words{std::string(table[n].reason)};
      for (std::string word, name; words >> word;) {
        if (word != "before" && word != "after") continue;
        words >> name;
        while (name.ends_with(',') || name.ends_with(':') || name.ends_with(';')) name.pop_back();
        EXPECT_TRUE(has_pass(word == "before" ? table.subspan(n + 1) : table.first(n), name))
            << table[n].name << ": " << table[n].reason;
      }
    }
}

const Pass& pass_of(std::string_view name) {
  for (const Pass& pass : lowering_passes())
    if (pass.name == name) return pass;
  throw std::out_of_range(std::string(name));
}

/// Whether the pass is run on such a body, A and B being arrays of 1024 numbers.
bool concerns(std::string_view pass, const std::string& body) {
  const PrimFunc func = test::parse_function(test::function_text(body));
  return pass_of(pass).concerns(func, {});
}

// The known programs, on which all passes are run, have none of these.
TEST(Pipeline, PassesConcernWhatTheyTakeAway) {
  EXPECT_TRUE(concerns("unroll-loops", "for (i: int32, 0, 0) {\nB[i] = 1f32\n}\n"));
  EXPECT_FALSE(concerns("unroll-loops", "for (i: int32, 0, 8) {\nB[i] = 1f32\n}\n"));
  EXPECT_TRUE(concerns("unroll-loops", "for (i: int32, 0, 8) \"unroll\" {\nB[i] = 1f32\n}\n"));
  EXPECT_TRUE(concerns("narrow-index-types", "for (i: int64, 0i64, 8i64) {\nB[i] = 1f32\n}\n"));
  EXPECT_FALSE(concerns("narrow-index-types", "for (i: int32, 0, 8) {\nB[i] = 1f32\n}\n"));
  EXPECT_FALSE(concerns("legalize-bfloat16", "B[0] = A[0]\n"));
  const Buffer b = decl_buffer({8}, BFloat(16), {.name = "B"});
  const Var pb("B", Handle()), memory("M", PointerType{Float(32), std::nullopt});
  const Stmt mark = make_stmt(
      Attr{AttrKind::DoubleBufferWrite, Expr(memory), "", 1, make_evaluate(make_string("fill"))});
  const PrimFunc marked = {.params = {pb}, .buffers = {{pb, b, b}}, .body = mark};
  EXPECT_TRUE(pass_of("inject-double-buffers").concerns(marked, {}));
  EXPECT_TRUE(pass_of("legalize-bfloat16").concerns(marked, {}));
}

TEST(Pipeline, EachPassIsReportedOnce) {
  std::vector<std::string> reported, expected;
  PipelineOptions options{.simple_mode = true, .passes = {.disable_cse = true}};
  options.passes.on_pass = [&](const PassOptions::PassReport& report) {
    reported.emplace_back(report.pass);
  };
  run_pipeline(two_stages(), options);
  for (const Pass& pass : lowering_passes())
    if (pass.name != "partition-loops" && pass.name != "eliminate-common-subexpressions" &&
        (!pass.enabled || pass.enabled(options)))
      expected.emplace_back(pass.name);
  EXPECT_EQ(reported, expected);
}

PrimFunc forget_a_loop(const PrimFunc& func, const PassOptions&) {
  PrimFunc result = func;
  result.body = func.body.as<For>()->body;
  return result;
}

PrimFunc fail(const PrimFunc&, const PassOptions&) { throw std::out_of_range("nowhere"); }

PrimFunc refuse(const PrimFunc&, const PassOptions&) {
  throw LowerError("vectorize of loop `i`: no");
}

TEST(Pipeline, AMalformedResultNamesThePassAndKeepsTheTexts) {
  const Pass broken{"forget-a-loop", forget_a_loop, Form::MultiDimensional, Form::MultiDimensional,
                    "breaks"};
  try {
    run_passes({&broken, 1}, two_stages(), {});
    FAIL() << "no error";
  } catch (const PassFailure& e) {
    EXPECT_EQ(e.pass, "forget-a-loop");
    EXPECT_NE(std::string(e.what()).find("forget-a-loop"), std::string::npos);
    EXPECT_NE(e.before.find("for (i"), std::string::npos);
    EXPECT_EQ(e.after.find("for (i"), std::string::npos);
  }
}

// The seed's 20_set_store_predicate asks for a thread that is not there, and prints.
TEST(Pipeline, AProgramThatIsWrongByItselfIsNotThePassesFault) {
  PrimFunc func = two_stages();
  func.body = make_stmt(If{Var("threadIdx.x") == 0, func.body, std::nullopt});
  const std::string text = test::body_text(run_pipeline(func, {.simple_mode = true}));
  EXPECT_NE(text.find("threadIdx.x: int32 == 0"), std::string::npos) << text;
}

PrimFunc read_another_thread(const PrimFunc& func, const PassOptions&) {
  PrimFunc result = func;
  result.body = make_stmt(If{Var("threadIdx.x") == 0, func.body, std::nullopt});
  return result;
}

// The variable has the name of the excused one, but differs from it.
TEST(Pipeline, AnotherUndefinedVariableIsThePassesFault) {
  PrimFunc func = two_stages();
  func.body = make_stmt(If{Var("threadIdx.x") == 0, func.body, std::nullopt});
  const Pass broken{"read-another-thread", read_another_thread, Form::MultiDimensional,
                    Form::MultiDimensional, "breaks"};
  EXPECT_THROW(run_passes({&broken, 1}, func), PassFailure);
}

PrimFunc keep(const PrimFunc& func, const PassOptions&) { return func; }

PrimFunc add_to_result(const PrimFunc& func, const PassOptions&) {
  PrimFunc result = func;
  result.body = make_seq({func.body, make_store(func.buffers[1].buffer, 0.0f, {0, 0})});
  return result;
}

/// The passes make one malformed function; who is at fault, as asked and with which options.
std::string pass_at_fault(std::initializer_list<decltype(Pass::run)> runs,
                          const PassOptions& options) {
  std::vector<Pass> rows;
  static constexpr std::array kNames = {"first", "second", "third"};
  for (const auto& run : runs)
    rows.push_back({kNames[rows.size()], run, Form::MultiDimensional, Form::MultiDimensional, "-"});
  try {
    run_passes(rows, two_stages(), {.passes = options});
  } catch (const PassFailure& e) {
    return e.pass;
  } catch (const LowerError&) {
    return "the user";
  }
  return "";
}

TEST(Pipeline, TheFirstPassWhoseResultIsMalformedIsAtFault) {
  EXPECT_EQ(pass_at_fault({keep, forget_a_loop, add_to_result}, {}), "second");
  EXPECT_EQ(pass_at_fault({keep, forget_a_loop, add_to_result}, {.verify = false}), "");
}

// The failure of a pass on a malformed function does not concern that pass, nor the user's program.
TEST(Pipeline, APassThatFailsOnAMalformedFunctionIsNotAtFault) {
  EXPECT_EQ(pass_at_fault({forget_a_loop, fail}, {}), "first");
  EXPECT_EQ(pass_at_fault({forget_a_loop, refuse}, {}), "first");
  EXPECT_EQ(pass_at_fault({add_to_result, fail}, {}), "second");
  EXPECT_EQ(pass_at_fault({add_to_result, refuse}, {}), "the user");
}

PrimFunc leave_one_store(const PrimFunc& func, const PassOptions&) {
  PrimFunc result = func;
  result.body = make_store(func.buffers[1].buffer, 0.0f, {0, 0});
  return result;
}

TEST(Pipeline, VerifyEachPassFindsRepairedViolations) {
  EXPECT_EQ(pass_at_fault({forget_a_loop, leave_one_store}, {}), "");
  EXPECT_EQ(pass_at_fault({forget_a_loop, leave_one_store}, {.verify_each_pass = true}), "first");
}

TEST(Pipeline, PassesAreReportedOnceWhereTheyRunAgain) {
  const Pass rows[] = {
      {"keep", keep, Form::MultiDimensional, Form::MultiDimensional, "-"},
      {"forget-a-loop", forget_a_loop, Form::MultiDimensional, Form::MultiDimensional, "-"}};
  int reported = 0;
  PipelineOptions options;
  options.passes.on_pass = [&](const PassOptions::PassReport&) { ++reported; };
  EXPECT_THROW(run_passes(rows, two_stages(), options), PassFailure);
  EXPECT_EQ(reported, 2);
}

TEST(Pipeline, TheFormIsThatOfTheLastPass) {
  const Pass rows[] = {{"keep", keep, Form::MultiDimensional, Form::MultiDimensional, "first"},
                       {"keep", keep, Form::MultiDimensional, Form::Lowered, "last"}};
  const PassOptions trusting{.verify = false};
  EXPECT_EQ(run_passes({rows, 1}, two_stages()).form, Form::MultiDimensional);
  EXPECT_EQ(run_passes(rows, two_stages(), {.passes = trusting}).form, Form::Lowered);
  EXPECT_EQ(run_pipeline(two_stages(), {}).form, Form::Lowered);
}

TEST(Pipeline, APassRefusesAnotherFormThanItTakes) {
  const Pass row{"keep", keep, Form::Flat, Form::Flat, "takes what is flat"};
  try {
    run_passes({&row, 1}, two_stages());
    FAIL() << "no error";
  } catch (const PassFailure& e) {
    EXPECT_NE(std::string(e.what()).find("takes a function that is flat"), std::string::npos)
        << e.what();
  }
}

TEST(Pipeline, EveryRowTakesWhatTheOneBeforeGives) {
  Form form = Form::MultiDimensional;
  for (const auto passes : {lowering_passes(), host_passes(), device_passes()}) {
    for (const Pass& pass : passes) {
      EXPECT_EQ(pass.takes, form) << pass.name;
      form = pass.gives;
    }
    EXPECT_EQ(form, Form::Lowered);
  }
}

TEST(Pipeline, AFaultOfOursNamesThePass) {
  const Pass broken{"fail", fail, Form::MultiDimensional, Form::Flat, "breaks"};
  EXPECT_THROW(run_passes({&broken, 1}, two_stages(), {}), PassFailure);
}

TEST(Pipeline, AMistakeOfTheUsersPassesThrough) {
  const Pass broken{"refuse", refuse, Form::MultiDimensional, Form::Flat, "breaks"};
  try {
    run_passes({&broken, 1}, two_stages(), {});
    FAIL() << "no error";
  } catch (const LowerError& e) {
    EXPECT_STREQ(e.what(), "vectorize of loop `i`: no");
  }
}

}  // namespace
}  // namespace tenon::lowering
