// Every operation, on the values where types differ: the C code gives the interpreter's bytes.
#include "batch.h"
#include "tenon/support/float16.h"
#include "tenon/tir/ops.h"

namespace tenon::codegen {
namespace {

using namespace tir;
using namespace testing;
using runtime::NDArray;

const std::vector<DataType> kIntegers{Int(8),  Int(16),  Int(32),  Int(64),
                                      UInt(8), UInt(16), UInt(32), UInt(64)};
const std::vector<DataType> kFloats{Float(16), BFloat(16), Float(32), Float(64)};

void put(NDArray& array, std::int64_t n, std::int64_t value) {
  const auto bytes = static_cast<std::size_t>(array.dtype().bytes());
  std::memcpy(static_cast<char*>(array.dl_tensor().data) + static_cast<std::size_t>(n) * bytes,
              &value, bytes);
}

void put(NDArray& array, std::int64_t n, double value) {
  const DataType t = array.dtype();
  std::int64_t bits = 0;
  if (t.bits == 64) bits = std::bit_cast<std::int64_t>(value);
  if (t.bits == 32) bits = std::bit_cast<std::int32_t>(static_cast<float>(value));
  if (t.bits == 16) bits = t.is_bfloat() ? BFloat16(value).bits : Float16(value).bits;
  put(array, n, bits);
}

/// The ends of the type and what lies around zero.
std::vector<std::int64_t> integers(DataType t) {
  std::vector<std::int64_t> values;
  for (std::int64_t v = -3; v <= 9; ++v) values.push_back(wrap(v, t));
  const std::int64_t least = integer_min(t), most = integer_max(t).value_or(-1);
  for (std::int64_t v : {least, least + 1, most, most - 1, most / 2, std::int64_t{100}})
    values.push_back(wrap(v, t));
  return values;
}

std::vector<double> floats() {
  const double infinity = std::numeric_limits<double>::infinity();
  return {0.0,        -0.0,       1.0,
          -1.0,       0.1,        -2.5,
          3.5,        1e-7,       65504.0,
          65519.0,    65520.0,    1e5,
          -3e38,      3.4e38,     1e-40,
          1.00390625, 1.01171875, 5e-8,
          infinity,   -infinity,  std::numeric_limits<double>::quiet_NaN()};
}

/// All pairs, filled up to whole vectors of eight.
template <class T>
std::vector<NDArray> pairs(DataType t, const std::vector<T>& values, bool without_zero = false) {
  std::vector<std::pair<T, T>> list;
  for (const T& x : values)
    for (const T& y : values)
      if (!without_zero || y != T{}) list.emplace_back(x, y);
  while (list.size() % 8 != 0) list.emplace_back(T{1}, T{1});
  const auto count = static_cast<std::int64_t>(list.size());
  std::vector<NDArray> arrays{NDArray::zeros({count}, t), NDArray::zeros({count}, t)};
  for (std::int64_t n = 0; n < count; ++n) {
    put(arrays[0], n, list[static_cast<std::size_t>(n)].first);
    put(arrays[1], n, list[static_cast<std::size_t>(n)].second);
  }
  return arrays;
}

template <class T>
NDArray all(DataType t, std::vector<T> values) {
  while (values.size() % 8 != 0) values.push_back(T{1});
  NDArray array = NDArray::zeros({static_cast<std::int64_t>(values.size())}, t);
  for (std::size_t n = 0; n < values.size(); ++n)
    put(array, static_cast<std::int64_t>(n), values[n]);
  return array;
}

void add_operator(Batch& batch, BinaryOp op, const std::vector<NDArray>& inputs) {
  const DataType t = inputs[0].dtype();
  for (int lanes : {1, 8})
    batch.add_map(t.str() + " " + std::string(to_string(op)), inputs,
                  is_comparison(op) ? Bool() : t, lanes,
                  [op](const auto& x) { return make_binary(op, x[0], x[1]); });
}

constexpr BinaryOp kComparisons[] = {BinaryOp::Eq, BinaryOp::Ne, BinaryOp::Lt,
                                     BinaryOp::Le, BinaryOp::Gt, BinaryOp::Ge};

TEST(Semantics, IntegersWrapAndDivideAsInterpreted) {
  Batch batch;
  for (const DataType t : kIntegers) {
    const auto inputs = pairs(t, integers(t)), divisible = pairs(t, integers(t), true);
    for (BinaryOp op : {BinaryOp::Add, BinaryOp::Sub, BinaryOp::Mul, BinaryOp::Min, BinaryOp::Max})
      add_operator(batch, op, inputs);
    for (BinaryOp op :
         {BinaryOp::FloorDiv, BinaryOp::FloorMod, BinaryOp::TruncDiv, BinaryOp::TruncMod})
      add_operator(batch, op, divisible);
    for (BinaryOp op : kComparisons) add_operator(batch, op, inputs);
  }
  batch.expect_as_interpreted();
}

TEST(Semantics, SumsOfProductsWrapWithoutStepsBetween) {
  Batch batch;
  for (const DataType t : kIntegers)
    batch.add_map(t.str(), pairs(t, integers(t)), t, 1, [](const auto& x) {
      return x[0] * x[1] + (x[0] - x[1] * x[1]) * make_int(x[0].dtype(), 77);
    });
  batch.expect_as_interpreted();
}

TEST(Semantics, DivisionByConstants) {
  Batch batch;
  for (const DataType t : kIntegers)
    for (std::int64_t divisor : {1, 3, 8, -1, -8, -7}) {
      if (divisor < 0 && t.is_uint()) continue;
      for (BinaryOp op :
           {BinaryOp::FloorDiv, BinaryOp::FloorMod, BinaryOp::TruncDiv, BinaryOp::TruncMod})
        batch.add_map(t.str() + " by " + std::to_string(divisor), {all(t, integers(t))}, t, 1,
                      [=](const auto& x) { return make_binary(op, x[0], make_int(t, divisor)); });
    }
  batch.expect_as_interpreted();
}

TEST(Semantics, ADivisionByZeroEndsNothing) {
  Kernel kernel;
  const Buffer a = kernel.array({1}, Int(32)), b = kernel.array({4}, Int(32));
  IRBuilder ib;
  int n = 0;
  for (BinaryOp op :
       {BinaryOp::FloorDiv, BinaryOp::FloorMod, BinaryOp::TruncDiv, BinaryOp::TruncMod})
    ib.emit(make_store(b, make_binary(op, 7, make_load(a, {0})), {n++}));
  IRModule module;
  module.functions.emplace("f", kernel.function(ib.get(), "f"));
  compile_to_c({{module, {}}})
      .load()["f"](NDArray::zeros({1}, Int(32)), NDArray::zeros({4}, Int(32)));
}

TEST(Semantics, FloatsRoundAfterEveryOperation) {
  Batch batch;
  for (const DataType t : kFloats) {
    const auto inputs = pairs(t, floats());
    for (BinaryOp op :
         {BinaryOp::Add, BinaryOp::Sub, BinaryOp::Mul, BinaryOp::Div, BinaryOp::Min, BinaryOp::Max})
      add_operator(batch, op, inputs);
    for (BinaryOp op : kComparisons) add_operator(batch, op, inputs);
    if (t.bits == 16)
      batch.add_map(t.str() + " a * b + a", inputs, t, 8,
                    [](const auto& x) { return x[0] * x[1] + x[0]; });
  }
  batch.expect_as_interpreted();
}

TEST(Semantics, ConversionsOfFloats) {
  Batch batch;
  for (const DataType from : kFloats) {
    const NDArray input = all(from, floats());
    for (const DataType to : kFloats)
      for (int lanes : {1, 8})
        batch.add_map(from.str() + " to " + to.str(), {input}, to, lanes,
                      [&](const auto& x) { return make_cast(to.with_lanes(lanes), x[0]); });
    batch.add_map(from.str() + " to bool", {input}, Bool(), 1,
                  [](const auto& x) { return make_cast(Bool(), x[0]); });
    for (const DataType to : kIntegers)
      batch.add_map(from.str() + " to " + to.str(),
                    {all(from, std::vector<double>{0.0, 0.99, 1.5, 99.9, 100.0, 127.0})}, to, 1,
                    [&](const auto& x) { return make_cast(to, x[0]); });
  }
  batch.add_map("large to uint64", {all(Float(64), std::vector<double>{0x1p63, 0x1.8p63, 1e15})},
                UInt(64), 1, [](const auto& x) { return make_cast(UInt(64), x[0]); });
  batch.expect_as_interpreted();
}

TEST(Semantics, ConversionsOfIntegers) {
  Batch batch;
  for (const DataType from : kIntegers) {
    std::vector<std::int64_t> values = integers(from);
    if (from.bits == 64)
      for (std::int64_t v : {(std::int64_t{1} << 53) + 1, std::int64_t{129} << 55})
        values.push_back(v);
    const NDArray input = all(from, values);
    for (const auto& types : {kIntegers, kFloats, std::vector<DataType>{Bool()}})
      for (const DataType to : types)
        for (int lanes : {1, 8})
          batch.add_map(from.str() + " to " + to.str(), {input}, to, lanes,
                        [&](const auto& x) { return make_cast(to.with_lanes(lanes), x[0]); });
  }
  batch.expect_as_interpreted();
}

TEST(Semantics, AnInt64IsRoundedToBfloat16Once) {
  // Half-way between two bfloat16 and one more, which a float64 does not hold.
  Kernel kernel;
  const Buffer a = kernel.array({1}, Int(64)), b = kernel.array({1}, BFloat(16));
  IRModule module;
  module.functions.emplace(
      "f", kernel.function(make_store(b, make_cast(BFloat(16), make_load(a, {0})), {0}), "f"));
  NDArray input = NDArray::zeros({1}, Int(64)), output = NDArray::zeros({1}, BFloat(16));
  put(input, 0, (std::int64_t{257} << 52) + 1);
  compile_to_c({{module, {}}}).load()["f"](input, output);
  EXPECT_EQ(*static_cast<const std::uint16_t*>(output.dl_tensor().data), BFloat16(0x1.02p60).bits);
}

TEST(Semantics, Bits) {
  Batch batch;
  for (const DataType t : kIntegers) {
    const auto inputs = pairs(t, integers(t));
    for (const Intrin intrin : {Intrin::bitwise_and, Intrin::bitwise_or, Intrin::bitwise_xor})
      batch.add_map(t.str() + " " + std::string(to_string(intrin)), inputs, t, 1,
                    [&](const auto& x) {
                      return make_call(t, intrin, {x[0], x[1]});
                    });
    for (const Intrin intrin : {Intrin::shift_left, Intrin::shift_right})
      for (int by : {0, 1, t.bits - 1})
        batch.add_map(t.str() + " shift", {inputs[0]}, t, 1, [&](const auto& x) {
          return make_call(t, intrin, {x[0], make_int(t, by)});
        });
    for (const Intrin intrin : {Intrin::shift_left, Intrin::shift_right})
      batch.add_map(t.str() + " constant shifted", {inputs[0]}, t, 1, [&](const auto& x) {
        return make_call(t, intrin, {make_int(t, 109), x[0]});
      });
    batch.add_map(t.str() + " ~", {inputs[0]}, t, 1,
                  [&](const auto& x) { return make_call(t, Intrin::bitwise_not, {x[0]}); });
    for (const Intrin intrin : {Intrin::popcount, Intrin::clz})
      batch.add_map(t.str() + " " + std::string(to_string(intrin)), {inputs[0]}, Int(32), 1,
                    [&](const auto& x) { return make_call(Int(32), intrin, {x[0]}); });
  }
  batch.expect_as_interpreted();
}

TEST(Semantics, ConstantsHaveTheWidthOfTheirType) {
  Batch batch;
  const NDArray input = all(Int(64), integers(Int(64)));
  batch.add_map("sum", {input}, Int(64), 1, [](const auto& x) {
    const Expr large = make_int(Int(64), 2147483647);
    return select(x[0] < make_int(Int(64), 0), large, make_int(Int(64), 5)) + large;
  });
  batch.expect_as_interpreted();
}

TEST(Semantics, Reinterpretations) {
  Batch batch;
  const std::vector<std::pair<DataType, DataType>> types{
      {Float(32), Int(32)},  {Float(32), UInt(32)}, {Float(64), Int(64)},
      {Float(64), UInt(64)}, {Float(16), UInt(16)}, {BFloat(16), Int(16)}};
  std::vector<double> values = floats();
  values.pop_back();  // Any NaN is like another, but not its bits.
  for (const auto& [from, to] : types) {
    batch.add_map(from.str() + " as " + to.str(), {all(from, values)}, to, 1,
                  [&](const auto& x) { return make_call(to, Intrin::reinterpret, {x[0]}); });
    batch.add_map(to.str() + " as " + from.str(),
                  {all(to, std::vector<std::int64_t>{0, 1, 5, 0x3f80, 0x1234})}, from, 1,
                  [&](const auto& x) { return make_call(from, Intrin::reinterpret, {x[0]}); });
  }
  batch.expect_as_interpreted();
}

// ---- vectors ----

NDArray counted(std::int64_t count) {
  NDArray array = NDArray::zeros({count}, Int(32));
  for (std::int64_t n = 0; n < count; ++n) put(array, n, n * 7 % 64);
  return array;
}

/// One store into 64 elements that are there already.
void add_store(Batch& batch, const std::string& what, const Expr& index_of_store,
               const std::function<Expr(const Buffer& a, const Buffer& b)>& value) {
  Kernel kernel;
  const Buffer a = kernel.array({64}, Int(32)), b = kernel.array({64}, Int(32));
  batch.add(what, kernel, make_store(b, value(a, b), {index_of_store}), {counted(64), counted(64)});
}

TEST(Vectors, AllLanesAreReadBeforeTheFirstIsStored) {
  Batch batch;
  const Expr lanes = make_ramp(4, 1, 8);
  const auto load = [](const Buffer& x, const Expr& at) { return make_load(x, {at}); };
  add_store(batch, "shifted by one", lanes,
            [&](const Buffer&, const Buffer& b) { return load(b, make_ramp(3, 1, 8)); });
  add_store(batch, "backwards", lanes,
            [&](const Buffer&, const Buffer& b) { return load(b, make_ramp(11, -1, 8)); });
  add_store(batch, "a lane for all", lanes, [&](const Buffer&, const Buffer& b) {
    return make_broadcast(load(b, 5), 8) + load(b, lanes);
  });
  add_store(batch, "added to one element", make_broadcast(9, 8),
            [&](const Buffer& a, const Buffer& b) {
              return load(b, make_broadcast(9, 8)) + load(a, lanes);
            });
  add_store(batch, "added in place", lanes, [&](const Buffer& a, const Buffer& b) {
    return load(b, lanes) + load(a, make_ramp(0, 3, 8));
  });
  batch.expect_as_interpreted();
}

TEST(Vectors, PositionsFromMemoryAreReadBeforeTheFirstStore) {
  Batch batch;
  Kernel kernel;
  const Buffer a = kernel.array({64}, Int(32)), b = kernel.array({64}, Int(32));
  batch.add("scattered", kernel,
            make_store(b, make_load(a, {make_ramp(0, 1, 8)}), {make_load(b, {make_ramp(0, 1, 8)})}),
            {counted(64), counted(64)});
  batch.expect_as_interpreted();
}

TEST(Vectors, ShufflesPickLanes) {
  Batch batch;
  const Expr lanes = make_ramp(0, 1, 8);
  add_store(batch, "interleaved", lanes, [&](const Buffer& a, const Buffer& b) {
    const Expr x = make_load(a, {make_ramp(8, 1, 4)}), y = make_load(b, {make_ramp(20, 2, 4)});
    return make_shuffle({x, y}, {0, 4, 1, 5, 2, 6, 3, 7});
  });
  add_store(batch, "bound, then reversed", lanes, [&](const Buffer& a, const Buffer& b) {
    const Var v("v", Int(32, 8));
    return make_let(v, make_load(a, {lanes}) * make_load(b, {lanes}),
                    make_shuffle({v}, {7, 6, 5, 4, 3, 2, 1, 0}));
  });
  batch.expect_as_interpreted();
}

TEST(Vectors, AreElementsOfBuffersToo) {
  Batch batch;
  Kernel kernel;
  const Buffer a = kernel.array({16}, Float(32, 4)), b = kernel.array({16}, Float(32, 4));
  IRBuilder ib;
  ib.for_range(0, 16, "i", [&](Var i) {
    ib.emit(
        make_store(b, make_load(a, {15 - i}) + make_broadcast(make_float(Float(32), 1.5), 4), {i}));
  });
  NDArray input = NDArray::zeros({16}, Float(32, 4));
  for (int n = 0; n < 64; ++n)
    static_cast<float*>(input.dl_tensor().data)[n] = static_cast<float>(n);
  batch.add("reversed", kernel, ib.get(), {input, NDArray::zeros({16}, Float(32, 4))});
  batch.expect_as_interpreted();
}

// ---- what is evaluated ----

TEST(Choices, EvaluateOneSideOnly) {
  Batch batch;
  Kernel kernel;
  const Buffer a = kernel.array({8}, Int(32)), b = kernel.array({8}, Int(32));
  IRBuilder ib;
  // A let in the guarded side must not be computed where the guard does not hold.
  ib.for_range(0, 8, "i", [&](Var i) {
    const Var v("v");
    const Expr inside = i < 4;
    const Expr far = make_load(a, {floormod(i, 4) + 1'000'000 * cast(Int(32), !inside)});
    ib.emit(make_store(b,
                       make_call(Int(32), Intrin::if_then_else,
                                 {inside, make_let(v, far, Expr(v) * v), make_int(Int(32), -1)}),
                       {i}));
  });
  NDArray input = NDArray::zeros({8}, Int(32));
  for (std::int64_t n = 0; n < 8; ++n) put(input, n, n + 2);
  batch.add("if_then_else", kernel, ib.get(), {input, NDArray::zeros({8}, Int(32))});
  batch.expect_as_interpreted();
}

}  // namespace
}  // namespace tenon::codegen
