// Every probe prints what the reference's record says, or what is right instead.
#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>
#include <set>

#include "probes.h"
#include "tenon/tir/stmt.h"
#include "tenon_test_paths.h"

namespace tenon::probes {
namespace {

// ---- every probe --------------------------------------------------------------------------------

// Every probe prints what the reference's record says, or what is right instead.

class RecordedProbe : public testing::TestWithParam<Probe> {};

std::string changed(std::string text, const ChangedText& expected) {
  for (const auto& [theirs, ours] : expected.changes) {
    std::size_t at = text.find(theirs);
    EXPECT_NE(at, std::string::npos) << "the record has no \"" << theirs << "\"";
    for (; at != std::string::npos; at = text.find(theirs, at + ours.size()))
      text.replace(at, theirs.size(), ours);
  }
  return text;
}

/// The line of a source file of these tests.
std::string source_line(const SourceLocation& where) {
  const std::filesystem::path file = std::filesystem::path(TENON_SOURCE_DIR) / "tests" / "golden" /
                                     std::filesystem::path(where.file_name()).filename();
  std::ifstream in(file);
  std::string line;
  for (unsigned n = 0; n < where.line(); ++n)
    if (!std::getline(in, line)) return "";
  return line;
}

void expect_refusal(const Probe& probe, const Refused& expected) {
  try {
    const std::string text = probe.print();
    FAIL() << "was not refused, but printed\n" << text;
  } catch (const std::exception& e) {
    EXPECT_TRUE(expected.is(e)) << "no " << expected.error_class << ": " << e.what();
    for (std::string_view mention : expected.mentions)
      EXPECT_NE(std::string_view(e.what()).find(mention), std::string_view::npos)
          << mention << " is not in: " << e.what();
    const auto* error = dynamic_cast<const Error*>(&e);
    ASSERT_TRUE(error && error->where()) << "names no line: " << e.what();
    EXPECT_NE(source_line(*error->where()).find(expected.line), std::string::npos)
        << e.what() << "\nnames the line: " << source_line(*error->where());
  }
}

TEST_P(RecordedProbe, PrintsItsText) {
  const Probe& probe = GetParam();
  const std::optional<std::string> record = recorded(probe.name);
  ASSERT_TRUE(record) << "no such heading";
  if (const auto* refusal = std::get_if<Refused>(&probe.expected))
    return expect_refusal(probe, *refusal);
  std::string expected = *record;
  if (const auto* own = std::get_if<OwnText>(&probe.expected))
    expected = normalized(std::string(own->text));
  if (const auto* changes = std::get_if<ChangedText>(&probe.expected))
    expected = changed(changes->of.empty() ? *record : recorded(changes->of).value(), *changes);
  std::string actual;
  try {
    actual = normalized(probe.print());
  } catch (const std::exception& e) {
    actual = std::string("error: ") + e.what() + "\n";
  }
  EXPECT_EQ(actual, expected);
}

TEST(RecordedProbe, EveryRecordHasAProbeOrAReason) {
  std::set<std::string_view> known;
  for (const Probe& probe : all_probes()) known.insert(probe.name);
  for (const LeftOut& record : left_out())
    EXPECT_TRUE(known.insert(record.name).second) << record.name;
  for (const std::string& name : recorded_names()) EXPECT_TRUE(known.contains(name)) << name;
}

std::string test_name(const testing::TestParamInfo<Probe>& info) {
  std::string name;
  for (char c : info.param.name) name += std::isalnum(static_cast<unsigned char>(c)) ? c : '_';
  return std::to_string(info.index) + "_" + name;
}

INSTANTIATE_TEST_SUITE_P(All, RecordedProbe, testing::ValuesIn(all_probes()), test_name);

// ---- texts of single nodes and steps ------------------------------------------------------------

// Expressions, statements, operations and steps of lower, printed one by one, against the lines of
// the records.

using namespace tir;

std::string record_of(const std::string& file) {
  std::ifstream in(std::string(TENON_GOLDEN_DIR) + "/probes/" + file + ".txt");
  std::ostringstream text;
  text << in.rdbuf();
  return normalized(text.str());
}

/// The text stands in the record.
void expect_recorded(const std::string& file, const std::string& text) {
  const std::string lines = normalized(text);
  EXPECT_NE(record_of(file).find(lines.substr(0, lines.size() - 1)), std::string::npos)
      << text << "\nis not in the record " << file;
}

/// With the types of variables where they first occur.
std::string annotated(const Expr& e) {
  std::string text = print_stmt(make_evaluate(e));
  while (text.ends_with('\n')) text.pop_back();
  return text;
}

TEST(RecordedForm, OfAnExpressionInBothPrinters) {
  Var x = te::var("x"), n = te::size_var("n");
  const Expr e = floordiv(x * 2 + n, 3);
  expect_recorded("q2", annotated(e) + " | " + print_legacy(e));
  expect_recorded("q2", "STMT " + print_legacy(e) + " | " + print_legacy(e));
}

TEST(RecordedForm, OfConstants) {
  expect_recorded("q2", annotated(make_true()) + " " + print_legacy(make_true()) + " " +
                            print_legacy(make_const(Float(64), 1.0)) + " " +
                            print_legacy(make_const(Float(16), 1.0)) + " " +
                            print_legacy(make_const(Int(64), 3)));
  Var x = te::var("x");
  // The reference prints 1.516: a bfloat16 has no letter of its own there.
  expect_recorded("q2", " " + annotated(make_const(Int(8, 4), 1)) + " " +
                            annotated(make_const(Float(32, 4), 1.5)) + " " +
                            annotated(make_shuffle({x, x}, {0, 1})));
  EXPECT_EQ(annotated(make_const(BFloat(16), 1.5)), "1.5bf16");
}

TEST(RecordedForm, OfAxes) {
  expect_recorded("q2", printed(te::reduce_axis({0, 4}, "k")) + " | " +
                            printed(te::thread_axis({0, 4}, "threadIdx.x")) + " | " +
                            printed(te::thread_axis("vthread")));
}

TEST(RecordedForm, OfVectorsCallsAndLets) {
  Var x = te::var("x");
  expect_recorded("q2", print_legacy(make_cast(Int(8), x)) + " " +
                            print_legacy(make_broadcast(x, 4)) + " " +
                            print_legacy(make_ramp(x, 1, 4)) + " " +
                            print_legacy(exp(make_const(Float(32), 1.0))) + " " +
                            print_legacy(make_let(x, 1, x + 1)));
}

TEST(RecordedForm, OfStatementsByHand) {
  expect_recorded(
      "q2", print_legacy(make_stmt(
                Attr{AttrKind::ThreadExtent, te::thread_axis("threadIdx.x"), "", 4, make_nop()})));
  IRBuilder ib;
  auto a = ib.allocate(Float(32), {8}, "a", "local");
  ib.for_range(0, 8, "i",
               [&](Var i) {
                 ib.if_scope(i < 3, [&] { a[i] = 1.0f; });
                 ib.else_scope([&] { a[i] = 2.0f; });
               },
               {.kind = ForKind::Parallel});
  expect_recorded("q2", print_legacy(ib.get()));
}

TEST(RecordedForm, OfATensor) {
  expect_recorded("q2",
                  printed(te::placeholder({4}, "A")) + " " + printed(te::placeholder({4}, "A")));
}

TEST(RecordedForm, OfAReductionAndItsOperation) {
  te::Tensor X = te::placeholder({16, 16}, "X");
  te::Tensor Y = te::compute(
      {16, 16}, {"i", "j"}, [&](Var i, Var j) { return X(i, j) + 1.0f; }, "Y");
  te::IterVar k = te::reduce_axis({0, 16}, "k");
  te::Tensor Z = te::compute(
      {16, 16}, {"i", "j"}, [&](Var i, Var j) { return te::sum(Y(i, k) * Y(j, k), {k}); }, "Z");
  expect_recorded("p7", print_legacy(Z.op().body()[0]));
  expect_recorded("p7", printed(Z) + " " + printed(Z.op()));
}

/// Y = X + 1 and Z = 2 Y, as in p9.
struct Steps {
  te::Tensor X = te::placeholder({16, 16}, "X");
  te::Tensor Y = te::compute(
      {16, 16}, {"i", "j"}, [this](Var i, Var j) { return X(i, j) + 1.0f; }, "Y");
  te::Tensor Z = te::compute(
      {16, 16}, {"i", "j"}, [this](Var i, Var j) { return Y(i, j) * 2.0f; }, "Z");
};

TEST(RecordedForm, OfALoweredBody) {
  Steps steps;
  const IRModule module = lower(te::create_schedule({steps.Y}), {steps.X, steps.Y});
  expect_recorded("p9", print_legacy(module.functions.at("main").body));
}

TEST(RecordedForm, OfTheLoopsBeforeAnyPass) {
  Steps steps;
  te::Schedule s = te::create_schedule({steps.Z}).normalize();
  std::string text = print_legacy(te::schedule_ops(s, te::infer_bound(s)));
  // The record has tensors where these loops already have buffers.
  for (const auto& [ours, theirs] :
       {std::pair("buffer_realize", "producer_realize"), std::pair("] = (", "] =(")})
    for (std::size_t at; (at = text.find(ours)) != std::string::npos;)
      text.replace(at, std::string(ours).size(), theirs);
  expect_recorded("p9", text);
}

/// Unrolled to the end, each of the 256 stores is a line.
TEST(RecordedForm, OfUnrollingEverything) {
  Steps steps;
  const std::string text = text_of(
      te::create_schedule({steps.Y}), {steps.X, steps.Y},
      {.passes = {
           .noalias = false,
           .unroll = {.auto_max_step = 1000, .auto_max_depth = 2, .explicit_unroll = true}}});
  // The record counts the empty line at the end too.
  const auto lines = std::count(text.begin(), text.end(), '\n') + 1;
  const std::size_t second = text.find('\n') + 1;
  expect_recorded(
      "p9", std::to_string(lines) + " " + text.substr(second, text.find('\n', second) - second));
}

}  // namespace
}  // namespace tenon::probes
