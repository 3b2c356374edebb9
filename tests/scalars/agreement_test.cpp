// One meaning of every operator: folded constants, the interpreter, LLVM, C and OpenCL agree bit
// for bit, for one element and for vectors, for data and for constants in the code.
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <cstring>
#include <functional>
#include <limits>
#include <string>
#include <vector>

#include "tenon/codegen/c_like/compile.h"
#include "tenon/codegen/c_like/kernels.h"
#include "tenon/codegen/llvm/compile.h"
#include "tenon/codegen/llvm/processor.h"
#include "tenon/interp/evaluate.h"
#include "tenon/runtime/device_api.h"
#include "tenon/runtime/ndarray.h"
#include "tenon/tir/builder.h"
#include "tenon/tir/compare.h"
#include "tenon/tir/expr.h"
#include "tenon/tir/ops.h"
#include "tenon/tir/print.h"
#include "tenon/tir/stmt.h"
#include "tests/definition/number.h"

namespace tenon::testing {

// ---- operations ---------------------------------------------------------------------------------

// Every operator of every type, with operands among which are all special values: what folding,
// interpretation and generated code must agree on bit for bit.

/// An operator with the types of its operands. `apply` builds it without folding.
struct Operation {
  std::string name;
  std::vector<DataType> operands;
  DataType result;
  std::function<tir::Expr(const std::vector<tir::Expr>&)> apply;
  /// The second operand is not 0.
  bool divides = false;
};

using namespace tir;

std::vector<DataType> all_types() {
  return {Bool(),   Int(8),   Int(16),   Int(32),    Int(64),   UInt(8),  UInt(16),
          UInt(32), UInt(64), Float(16), BFloat(16), Float(32), Float(64)};
}

std::vector<Expr> special_integers(DataType type) {
  if (type.is_bool()) return {make_false(), make_true()};
  const std::int64_t least = integer_min(type), greatest = integer_max(type).value_or(-1);
  const std::int64_t middle = std::int64_t{1} << (type.bits - 2);
  std::vector<Expr> values;
  for (const std::int64_t value :
       {least, least + 1, std::int64_t{-2}, std::int64_t{-1}, std::int64_t{0}, std::int64_t{1},
        std::int64_t{2}, std::int64_t{3}, std::int64_t{7}, std::int64_t{-7},
        std::int64_t{type.bits - 1}, std::int64_t{type.bits}, std::int64_t{type.bits + 1},
        2 * (middle - 1) + 1, middle, 2 * (middle - 1) + 2, greatest - 1, greatest,
        // Halves between neighbouring float32s, bfloat16s and doubles.
        std::int64_t{0x1000001}, std::int64_t{0x1000003}, std::int64_t{0x4080000001},
        std::int64_t{0x4080000000}, (std::int64_t{1} << 53) + 1, (std::int64_t{1} << 53) + 3,
        std::int64_t{0x7fffffbfffffffff}, std::int64_t{0x4040000000000001}})
    values.push_back(make_int(type, value));
  return values;
}

std::vector<Expr> special_floats(DataType type) {
  const double infinite = std::numeric_limits<double>::infinity();
  std::vector<Expr> values;
  for (const double value :
       {0.0, 0.1, 0.5, 1.0, 1.5, 2.5, 3.0, 3.7, 127.0, 127.5, 128.0, 255.0, 255.9, 256.0, 32768.0,
        65504.0, 65519.0, 65535.5, 65536.0, 0x1p31 - 1, 0x1p31, 0x1p32 - 1, 0x1p32, 0x1p63, 0x1p64,
        0x1.fffffep30, 0x1.fffffffffffffp62, 0x1p24 + 1,
        // Halfway, and next to it by less than float32 tells.
        1 + 0x1p-11, 1 + 0x1p-11 + 0x1p-40, 1 + 0x1p-8, 1 + 0x1p-8 + 0x1p-40, 1 + 0x1p-24,
        1 + 0x1p-24 + 0x1p-50,
        // The ends of each format.
        0x1p-14, 0x1p-24, 0x1p-25, 0x1.8p-25, 0x1p-126, 0x1p-133, 0x1p-149, 0x1p-150, 0x1p-1022,
        0x1p-1074, 0x1.fffffep127, 0x1.ffffffp127, 0x1.fep127, 0x1.fffffffffffffp1023, infinite})
    for (const double sign : {1.0, -1.0}) values.push_back(make_float(type, sign * value));
  values.push_back(make_float(type, std::nan("")));
  return values;
}

Operation binary(BinaryOp op, DataType type) {
  const bool divides = op == BinaryOp::TruncDiv || op == BinaryOp::TruncMod ||
                       op == BinaryOp::FloorDiv || op == BinaryOp::FloorMod;
  return {std::string(to_string(op)),
          {type, type},
          is_comparison(op) ? Bool() : type,
          [op](const std::vector<Expr>& x) { return make_binary(op, x[0], x[1]); },
          divides && type.is_integral()};
}

Operation intrinsic(Intrin intrin, std::vector<DataType> operands, DataType result) {
  return {std::string(to_string(intrin)), std::move(operands), result,
          [intrin, result](const std::vector<Expr>& x) {
            return make_call(result.with_lanes(x[0].dtype().lanes), intrin, x);
          }};
}

/// The special values of the type, each once.
std::vector<Expr> special_values(DataType type) {
  std::vector<Expr> distinct;
  for (const Expr& e : type.is_floating() ? special_floats(type) : special_integers(type))
    if (std::ranges::none_of(distinct, [&](const Expr& x) { return structural_equal(x, e); }))
      distinct.push_back(e);
  return distinct;
}

std::vector<Operation> operations_on(DataType type) {
  std::vector<Operation> result;
  for (const BinaryOp op : {BinaryOp::Eq, BinaryOp::Ne, BinaryOp::Lt, BinaryOp::Le, BinaryOp::Gt,
                            BinaryOp::Ge, BinaryOp::Min, BinaryOp::Max})
    result.push_back(binary(op, type));
  if (type.is_bool()) {
    for (const BinaryOp op : {BinaryOp::And, BinaryOp::Or}) result.push_back(binary(op, type));
  } else {
    for (const BinaryOp op : {BinaryOp::Add, BinaryOp::Sub, BinaryOp::Mul, BinaryOp::TruncDiv,
                              BinaryOp::TruncMod, BinaryOp::FloorDiv, BinaryOp::FloorMod})
      result.push_back(binary(op, type));
  }
  if (type.is_integral()) {
    for (const Intrin intrin : {Intrin::bitwise_and, Intrin::bitwise_or, Intrin::bitwise_xor,
                                Intrin::shift_left, Intrin::shift_right})
      result.push_back(intrinsic(intrin, {type, type}, type));
    result.push_back(intrinsic(Intrin::bitwise_not, {type}, type));
    if (type.is_bool()) return result;
    result.push_back(intrinsic(Intrin::popcount, {type}, type));
    result.push_back(intrinsic(Intrin::clz, {type}, Int(32)));
    if (type.bits >= 16) result.push_back(intrinsic(Intrin::reinterpret, {type}, Float(type.bits)));
    return result;
  }
  result.push_back(binary(BinaryOp::Div, type));
  for (const Intrin intrin : {Intrin::floor, Intrin::ceil, Intrin::round, Intrin::trunc,
                              Intrin::nearbyint, Intrin::fabs, Intrin::sqrt})
    result.push_back(intrinsic(intrin, {type}, type));
  for (const Intrin intrin : {Intrin::isnan, Intrin::isinf, Intrin::isfinite})
    result.push_back(intrinsic(intrin, {type}, Bool()));
  for (const Intrin intrin : {Intrin::copysign, Intrin::fmod})
    result.push_back(intrinsic(intrin, {type, type}, type));
  result.push_back(intrinsic(Intrin::fma, {type, type, type}, type));
  result.push_back(intrinsic(Intrin::ldexp, {type, Int(32)}, type));
  result.push_back(intrinsic(Intrin::reinterpret, {type}, Int(type.bits)));
  return result;
}

/// Conversions to every other type, and through integers back to a floating type.
std::vector<Operation> conversions_of(DataType type) {
  std::vector<Operation> result;
  for (const DataType to : all_types())
    if (to != type)
      result.push_back({"to " + to.str(), {type}, to, [to](const std::vector<Expr>& x) {
                          return make_cast(to.with_lanes(x[0].dtype().lanes), x[0]);
                        }});
  if (!type.is_floating()) return result;
  // Compilers may take the two conversions for truncation, which keeps the sign of -0.5.
  for (const DataType through : {Int(8), Int(32), UInt(32), Int(64)})
    result.push_back({"through " + through.str(), {type}, type, [=](const std::vector<Expr>& x) {
                        const int lanes = x[0].dtype().lanes;
                        return make_cast(type.with_lanes(lanes),
                                         make_cast(through.with_lanes(lanes), x[0]));
                      }});
  // Numbers between bounds need no care, but NaN does.
  for (const DataType to : {Int(8), UInt(8), Int(32)})
    result.push_back({"bounded to " + to.str(), {type}, to, [to](const std::vector<Expr>& x) {
                        const DataType t = x[0].dtype();
                        const Expr low = make_float(t, to.is_int() ? -100 : 0);
                        const Expr whole = make_call(t, Intrin::round, {x[0]});
                        const Expr below = make_binary(BinaryOp::Min, make_float(t, 120), whole);
                        return make_cast(to.with_lanes(t.lanes),
                                         make_binary(BinaryOp::Max, below, low));
                      }});
  return result;
}

/// Tuples of operands: pairs of special values, all of them unless there are many, with third
/// operands among them. Their number is a multiple of 8.
std::vector<std::vector<Expr>> operands_of(const Operation& operation) {
  std::vector<std::vector<Expr>> choices;
  for (const DataType type : operation.operands) choices.push_back(special_values(type));
  if (operation.divides) std::erase_if(choices[1], [](const Expr& e) { return is_zero(e); });
  std::vector<std::vector<Expr>> tuples;
  constexpr std::size_t kMaxSeconds = 24;
  const std::size_t all = choices.size() > 1 ? choices[1].size() : 1;
  for (std::size_t a = 0; a < choices[0].size(); ++a)
    for (std::size_t b = 0; b < std::min(all, kMaxSeconds); ++b) {
      std::vector<Expr> tuple{choices[0][a]};
      // The second operands of one first operand are spread widely, and differ from those of the
      // next one.
      if (choices.size() > 1) tuple.push_back(choices[1][(a + b * 7) % all]);
      if (choices.size() > 2) tuple.push_back(choices[2][(a * 31 + b * 11) % choices[2].size()]);
      tuples.push_back(std::move(tuple));
    }
  while (tuples.size() % 8 != 0) tuples.push_back(tuples.front());
  return tuples;
}

/// The constants as elements of an array.
runtime::NDArray array_of(const std::vector<Expr>& constants, DataType type) {
  runtime::NDArray array =
      runtime::NDArray::zeros({static_cast<std::int64_t>(constants.size())}, type);
  auto* at = static_cast<std::byte*>(array.dl_tensor().data);
  for (const Expr& e : constants) {
    const FloatImm* real = e.as<FloatImm>();
    const Number number = real ? Number{0, real->value} : Number::of(e.as<IntImm>()->value);
    const std::uint64_t bits = bits_of(number, type);
    std::memcpy(at, &bits, static_cast<std::size_t>(type.bytes()));
    at += type.bytes();
  }
  return array;
}

bool is_nan(const char* bytes, DataType t) {
  if (!t.is_floating()) return false;
  if (t.bits == 64) return std::isnan(*reinterpret_cast<const double*>(bytes));
  if (t.bits == 32) return std::isnan(*reinterpret_cast<const float*>(bytes));
  return (*reinterpret_cast<const std::uint16_t*>(bytes) & 0x7fff) >
         (t.is_bfloat() ? 0x7f80 : 0x7c00);
}

bool is_zero_float(const char* bytes, DataType t) {
  if (!t.is_floating()) return false;
  if (t.bits == 64) return *reinterpret_cast<const double*>(bytes) == 0;
  if (t.bits == 32) return *reinterpret_cast<const float*>(bytes) == 0;
  return (*reinterpret_cast<const std::uint16_t*>(bytes) & 0x7fff) == 0;
}

/// Index of the first element whose bytes differ, where any NaN equals any other; -1 for none. With
/// `any_zero`, -0.0 equals 0.0.
std::int64_t first_difference(const runtime::NDArray& a, const runtime::NDArray& b, bool any_zero) {
  const DataType t = a.dtype();
  const auto bytes = static_cast<std::size_t>(t.bytes());
  const auto* x = static_cast<const char*>(a.dl_tensor().data);
  const auto* y = static_cast<const char*>(b.dl_tensor().data);
  for (std::int64_t n = 0; n < a.num_elements(); ++n, x += bytes, y += bytes) {
    if (std::memcmp(x, y, bytes) == 0 || (is_nan(x, t) && is_nan(y, t))) continue;
    if (any_zero && is_zero_float(x, t) && is_zero_float(y, t)) continue;
    return n;
  }
  return -1;
}

namespace {

Expr constant(DataType type, const std::variant<std::int64_t, double>& value) {
  if (const auto* number = std::get_if<double>(&value)) return make_float(type, *number);
  return make_int(type, std::get<std::int64_t>(value));
}

std::string text(const std::vector<Expr>& operands) {
  std::string result;
  for (const Expr& e : operands) result += (result.empty() ? "" : ", ") + print_expr(e);
  return result;
}

/// The sign of an extremum of zeros is unspecified.
bool is_extremum(const Operation& operation) {
  return operation.name == "min" || operation.name == "max";
}

/// A function that applies some operations to arrays of operands, and what it is called with.
struct Program {
  PrimFunc func{.params = {}, .buffers = {}, .body = make_nop()};
  std::vector<runtime::NDArray> arrays;
  /// The operation of each array; nullptr for operands.
  std::vector<const Operation*> results;
  std::vector<runtime::NDArray> expected;

  Buffer add(const runtime::NDArray& array, const Operation* result) {
    const std::string name = "a" + std::to_string(arrays.size());
    const Buffer declared =
        decl_buffer({make_int(Int(32), array.num_elements())}, array.dtype(), {.name = name});
    func.params.emplace_back(name, Handle());
    func.buffers.push_back(
        {.param = func.params.back(), .declared = declared, .buffer = flattened(declared)});
    arrays.push_back(array);
    results.push_back(result);
    return func.buffers.back().buffer;
  }
};

/// An operation with operands, and its values by the interpreter's arithmetic on constants.
struct Case {
  Operation operation;
  std::vector<std::vector<Expr>> tuples;
  std::vector<Expr> values;
};

const std::vector<Case>& all_cases() {
  static const std::vector<Case> all = [] {
    std::vector<Case> result;
    for (const DataType type : all_types())
      for (const auto& operations : {operations_on(type), conversions_of(type)})
        for (const Operation& operation : operations) {
          Case& c = result.emplace_back(operation, operands_of(operation));
          for (const std::vector<Expr>& tuple : c.tuples)
            c.values.push_back(constant(operation.result, evaluate(operation.apply(tuple))));
        }
    return result;
  }();
  return all;
}

/// Loops over the operands, `lanes` at a time.
void add_data(Program& program, const Case& c, int lanes) {
  const auto& [operation, tuples, values] = c;
  std::vector<Buffer> operands;
  for (std::size_t k = 0; k < operation.operands.size(); ++k) {
    std::vector<Expr> column;
    for (const auto& tuple : tuples) column.push_back(tuple[k]);
    operands.push_back(program.add(array_of(column, operation.operands[k]), nullptr));
  }
  program.expected.push_back(array_of(values, operation.result));
  const auto count = static_cast<int>(tuples.size());
  const Buffer out = program.add(runtime::NDArray::zeros({count}, operation.result), &operation);
  IRBuilder ib;
  ib.for_range(0, count / lanes, "i", [&](Var i) {
    const Expr at = lanes == 1 ? Expr(i) : make_ramp(i * lanes, 1, lanes);
    std::vector<Expr> loads;
    for (const Buffer& buffer : operands) loads.push_back(make_load(buffer, {at}));
    ib.emit(make_store(out, c.operation.apply(loads), {at}));
  });
  program.func.body = make_seq({program.func.body, ib.get()});
}

/// Stores of operations on constants, which the compilers behind the text fold; some of the
/// operands.
void add_constants(Program& program, const Case& c, std::size_t most) {
  const Operation& operation = c.operation;
  std::vector<std::vector<Expr>> tuples;
  std::vector<Expr> values;
  const std::size_t step = c.tuples.size() / most + 1;
  for (std::size_t n = 0; n < c.tuples.size(); n += step) {
    tuples.push_back(c.tuples[n]);
    values.push_back(c.values[n]);
  }
  program.expected.push_back(array_of(values, operation.result));
  const auto count = static_cast<std::int64_t>(tuples.size());
  const Buffer out = program.add(runtime::NDArray::zeros({count}, operation.result), &operation);
  std::vector<Stmt> stores{program.func.body};
  for (std::int64_t n = 0; n < count; ++n)
    stores.push_back(make_store(out, operation.apply(tuples[static_cast<std::size_t>(n)]),
                                {make_int(Int(32), n)}));
  program.func.body = make_seq(std::move(stores));
}

enum class Form : std::uint8_t { Scalars, Vectors, Constants };

/// Some operations a function, so that there are few of them and none is huge.
std::vector<Program> programs(Form form) {
  constexpr std::size_t kOperationsOfOne = 12;
  std::vector<Program> result;
  std::size_t count = 0;
  for (const Case& c : all_cases()) {
    if (count++ % kOperationsOfOne == 0) {
      result.emplace_back();
      result.back().func.attrs.global_symbol = "f" + std::to_string(result.size());
    }
    if (form == Form::Constants)
      add_constants(result.back(), c, 24);
    else
      add_data(result.back(), c, form == Form::Vectors ? 8 : 1);
  }
  return result;
}

IRModule module_of(const std::vector<Program>& programs) {
  IRModule module;
  for (const Program& program : programs)
    module.functions.emplace(program.func.attrs.global_symbol, program.func);
  return module;
}

void expect_results(const Program& program, const std::vector<runtime::NDArray>& arrays,
                    const std::string& where) {
  std::size_t next = 0;
  for (std::size_t n = 0; n < arrays.size(); ++n) {
    const Operation* operation = program.results[n];
    if (!operation) continue;
    const runtime::NDArray& expected = program.expected[next++];
    const std::int64_t at = first_difference(arrays[n], expected, is_extremum(*operation));
    if (at < 0) continue;
    const auto number = [&](const runtime::NDArray& array) {
      const DataType t = operation->result;
      return text_of(element_of(array.dl_tensor().data, at, t), t);
    };
    std::string operands;
    if (n >= operation->operands.size() && !program.results[n - 1])
      for (std::size_t k = 0; k < operation->operands.size(); ++k) {
        const runtime::NDArray& operand = program.arrays[n - operation->operands.size() + k];
        operands += " " + text_of(element_of(operand.dl_tensor().data, at, operand.dtype()),
                                  operand.dtype());
      }
    ADD_FAILURE() << where << ": " << operation->name << " of " << operation->operands[0].str()
                  << ", element " << at << " (of" << operands << "): " << number(arrays[n])
                  << " instead of " << number(expected);
  }
}

void expect_agreement(const std::vector<Program>& programs, const runtime::Module& code,
                      const std::string& where) {
  for (const Program& program : programs) {
    std::vector<runtime::NDArray> arrays;
    std::vector<runtime::Argument> args;
    for (const runtime::NDArray& array : program.arrays) {
      arrays.push_back(array.copy_to(cpu(0)));
      args.emplace_back(arrays.back());
    }
    code[program.func.attrs.global_symbol].call(args);
    expect_results(program, arrays, where);
  }
}

tir::TargetFacts host_facts() {
  const codegen::Processor& host = codegen::host_processor();
  tir::TargetFacts facts;
  facts.triple = host.triple;
  facts.cpu = host.name;
  facts.features = host.features;
  facts.vector_registers = codegen::vector_registers(facts);
  return facts;
}

tir::TargetFacts plain_facts() {
  tir::TargetFacts facts;
  facts.cpu = "x86-64";
  return facts;
}

std::string name_of(Form form) {
  return form == Form::Scalars ? "scalars" : form == Form::Vectors ? "vectors" : "constants";
}

TEST(Scalars, FoldedConstantsAreWhatTheInterpreterComputes) {
  for (const Case& c : all_cases())
    for (std::size_t n = 0; n < c.tuples.size(); ++n) {
      const Expr e = c.operation.apply(c.tuples[n]);
      std::optional<Expr> folded;
      if (const Binary* binary = e.as<Binary>()) folded = fold(binary->op, binary->a, binary->b);
      const Cast* conversion = e.as<Cast>();
      if (conversion && is_constant(conversion->value)) folded = cast(e.dtype(), conversion->value);
      if (!folded) continue;
      ASSERT_TRUE(structural_equal(*folded, c.values[n]))
          << print_expr(e) << " folds to " << print_expr(*folded) << " instead of "
          << print_expr(c.values[n]);
    }
}

TEST(Scalars, DivisionsByZeroAreNotFolded) {
  for (const BinaryOp op :
       {BinaryOp::TruncDiv, BinaryOp::TruncMod, BinaryOp::FloorDiv, BinaryOp::FloorMod})
    EXPECT_FALSE(is_constant(fold(op, make_int(Int(32), 7), make_int(Int(32), 0))));
}

/// number.h states the meanings a second time.
TEST(Scalars, TheInterpreterAgreesWithTheDefinition) {
  const auto number = [](const Expr& e) {
    const DataType t = e.dtype();
    if (t.is_floating()) return Number{0, std::get<double>(evaluate(e))};
    const auto whole = std::get<std::int64_t>(evaluate(e));
    return wrapped(t == UInt(64) ? static_cast<Whole>(static_cast<std::uint64_t>(whole)) : whole,
                   t);
  };
  std::int64_t judged = 0;
  for (const auto& [operation, tuples, values] : all_cases())
    for (std::size_t n = 0; n < tuples.size(); ++n) {
      const std::vector<Expr>& tuple = tuples[n];
      const Expr e = operation.apply(tuple);
      std::vector<Number> args;
      for (const Expr& operand : tuple) args.push_back(number(operand));
      std::optional<Number> defined;
      try {
        if (const Binary* n = e.as<Binary>())
          defined = combined(n->op, args[0], args[1], tuple[0].dtype());
        else if (const Cast* n = e.as<Cast>(); n && n->value.same_as(tuple[0]))
          defined = converted(args[0], tuple[0].dtype(), e.dtype());
        else if (const Call* n = e.as<Call>())
          defined = applied(std::get<Intrin>(n->callee), args, tuple[0].dtype(), e.dtype());
      } catch (const NoOpinion&) {
        // Stays undefined.
      }
      if (!defined) continue;
      ++judged;
      const Number found = number(values[n]);
      const Zeros zeros = is_extremum(operation) ? Zeros::Alike : Zeros::Signed;
      ASSERT_TRUE(same(found, *defined, e.dtype(), zeros))
          << operation.name << " of " << tuple[0].dtype().str() << " (" << text(tuple) << ") is "
          << text_of(found, e.dtype()) << ", by definition " << text_of(*defined, e.dtype());
    }
  EXPECT_GT(judged, 50'000);
}

class Generated : public ::testing::TestWithParam<Form> {};

TEST_P(Generated, InterpretedDataGivesWhatConstantsGive) {
  for (const Program& program : programs(GetParam())) {
    std::vector<runtime::NDArray> arrays;
    std::vector<HostValue> values;
    for (const runtime::NDArray& array : program.arrays) {
      arrays.push_back(array.copy_to(cpu(0)));
      values.emplace_back(HostArray{
          .data = arrays.back().dl_tensor().data, .dtype = array.dtype(), .shape = array.shape()});
    }
    evaluate(program.func, values);
    expect_results(program, arrays, "interpreted " + name_of(GetParam()));
  }
}

TEST_P(Generated, CodeOfLlvmAgreesWithTheInterpreter) {
  const std::vector<Program> all = programs(GetParam());
  for (const tir::TargetFacts& facts : {host_facts(), plain_facts()})
    expect_agreement(all, codegen::compile(module_of(all), facts, {}).load(),
                     "LLVM for " + facts.cpu + ", " + name_of(GetParam()));
}

TEST_P(Generated, CodeOfCAgreesWithTheInterpreter) {
  const std::vector<Program> all = programs(GetParam());
  for (const tir::TargetFacts& facts : {host_facts(), tir::TargetFacts{}})
    expect_agreement(all, codegen::compile_to_c({{module_of(all), facts}}, {.opt_level = 2}).load(),
                     "C for the processor `" + facts.cpu + "`, " + name_of(GetParam()));
}

TEST_P(Generated, KernelsOfOpenClAgreeWithTheInterpreter) {
  if (!opencl(0).exists()) GTEST_SKIP() << "no OpenCL device";
  if (GetParam() == Form::Constants)
    GTEST_SKIP() << "PoCL 3.1 jumps out of the last kernel, of products of float16 constants";
  const std::vector<Program> all = programs(GetParam());
  std::vector<PrimFunc> kernels;
  for (const Program& program : all) kernels.push_back(program.func);
  const codegen::KernelCode code =
      codegen::emit_kernels(kernels, {.kind = tir::TargetKind::OpenCl});
  const auto loaded =
      runtime::device_api(DeviceType::OpenCL)
          .load_kernels(0, {.kernels = code.specs, .source = code.text, .binary = {}});
  for (std::size_t k = 0; k < all.size(); ++k) {
    std::vector<runtime::NDArray> there, here;
    std::vector<TenonValue> handles;
    for (const runtime::NDArray& array : all[k].arrays) {
      there.push_back(array.copy_to(opencl(0)));
      handles.push_back({.p = there.back().dl_tensor().data});
    }
    loaded->launch(k, handles, {{1, 1, 1}, {1, 1, 1}, 0});
    for (const runtime::NDArray& array : there) here.push_back(array.copy_to(cpu(0)));
    expect_results(all[k], here, "OpenCL, " + name_of(GetParam()));
  }
}

INSTANTIATE_TEST_SUITE_P(Forms, Generated,
                         ::testing::Values(Form::Scalars, Form::Vectors, Form::Constants),
                         [](const auto& info) { return name_of(info.param); });

}  // namespace

}  // namespace tenon::testing
