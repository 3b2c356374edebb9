// Arrays, their elements of 16 bits, and the devices that they lie on.
#include "tenon/runtime/ndarray.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <limits>
#include <set>

#include "tenon/runtime/device.h"
#include "tenon/runtime/device_api.h"
#include "tenon/runtime/float16.h"
#include "tests/runtime/errors.h"

namespace tenon::runtime {
namespace {

// ---- arrays -------------------------------------------------------------------------------------

const std::vector<DataType> kTypes = {Bool(),    Int(8),    Int(16),    Int(32),     Int(64),
                                      UInt(8),   UInt(16),  UInt(32),   UInt(64),    Float(16),
                                      Float(32), Float(64), BFloat(16), Float(32, 4)};

TEST(NDArray, MemoryIsAlignedTo128BytesAndRowMajor) {
  for (std::int64_t n : {0, 1, 3, 1000}) {
    NDArray a = NDArray::empty({n, 3}, Float(32));
    EXPECT_EQ(reinterpret_cast<std::uintptr_t>(a.data<float>()) % 128, 0u);
    EXPECT_EQ(a.strides(), (NDArray::Shape{3, 1}));
    EXPECT_TRUE(a.is_compact());
  }
}

TEST(NDArray, KnowsWhatItWasMadeOf) {
  NDArray a = NDArray::zeros({2, 5}, Int(16));
  EXPECT_EQ(a.shape(), (NDArray::Shape{2, 5}));
  EXPECT_EQ(a.dtype(), Int(16));
  EXPECT_EQ(a.device(), cpu(0));
  EXPECT_EQ(a.ndim(), 2);
  EXPECT_EQ(a.num_elements(), 10);
  EXPECT_EQ(describe(a), "int16[2, 5]");
}

TEST(NDArray, RankZeroHasOneElement) {
  NDArray a = NDArray::full({}, Float(64), 2.5);
  EXPECT_EQ(a.num_elements(), 1);
  EXPECT_EQ(a.to_vector<double>(), std::vector<double>{2.5});
}

TEST(NDArray, CopiesOfTheHandleSeeTheSameElements) {
  NDArray a = NDArray::zeros({4}, Int(32));
  NDArray b = a;
  b.data<std::int32_t>()[2] = 7;
  EXPECT_EQ(a.data<std::int32_t>()[2], 7);
}

TEST(NDArray, FromTakesAnyContiguousRange) {
  const std::vector<int> values = {1, 2, 3, 4, 5, 6};
  EXPECT_EQ(NDArray::from(values, {2, 3}).to_vector<int>(), values);
  EXPECT_EQ(NDArray::from(std::span<const int>(values), {6}).dtype(), Int(32));
  const bool flags[] = {true, false, true};
  EXPECT_EQ(NDArray::from(flags, {3}).dtype(), Bool());
  EXPECT_EQ(message_of([&] {
              NDArray::from(values, {2, 2});
            }),
            "NDArray::from: 6 values for an array of shape [2, 2], which has 4");
}

TEST(NDArray, DataOfAnotherTypeIsAnErrorWithTheCallersLine) {
  NDArray a = NDArray::zeros({4}, Int(32));
  EXPECT_EQ(message_of([&] { (void)a.data<float>(); }),
            "data<T>(): the array is int32[4], its elements are no float32");
  EXPECT_THROW((void)a.data<std::uint32_t>(), RuntimeError);
  EXPECT_THROW((void)a.data<std::int64_t>(), RuntimeError);
  try {
    (void)a.data<double>();
  } catch (const RuntimeError& error) {
    EXPECT_NE(std::string(error.what()).find("(at ndarray_test.cpp:"), std::string::npos);
  }
}

TEST(NDArray, DataOfEveryTypeCanBeHad) {
  EXPECT_NO_THROW((void)NDArray::zeros({1}, Bool()).data<bool>());
  EXPECT_NO_THROW((void)NDArray::zeros({1}, Float(16)).data<Float16>());
  EXPECT_NO_THROW((void)NDArray::zeros({1}, BFloat(16)).data<BFloat16>());
  EXPECT_NO_THROW((void)NDArray::zeros({1}, UInt(64)).data<unsigned long long>());
  EXPECT_NO_THROW((void)NDArray::zeros({1}, Int(64)).data<const std::int64_t>());
  EXPECT_NO_THROW((void)NDArray::zeros({1}, Float(32, 4)).data<float>());
}

TEST(NDArray, ABoolIsAByte) {
  NDArray a = NDArray::full({3}, Bool(), 1);
  EXPECT_EQ(a.dl_tensor().dtype.code, kDLBool);
  EXPECT_EQ(a.dl_tensor().dtype.bits, 8);
  EXPECT_EQ(a.to_vector<bool>(), (std::vector<bool>{true, true, true}));
}

TEST(NDArray, ShapesThatCannotBeAreRefused) {
  EXPECT_EQ(message_of([] {
              NDArray::empty({3, -1}, Int(8));
            }),
            "array int8[3, -1]: an extent is negative");
  EXPECT_EQ(message_of([] {
              NDArray::empty({std::int64_t{1} << 40, std::int64_t{1} << 40}, Int(8));
            }),
            "array int8[1099511627776, 1099511627776]: its size does not fit 64 bits");
  EXPECT_EQ(message_of([] { NDArray::empty({std::int64_t{1} << 61}, Int(32)); }),
            "array int32[2305843009213693952]: its size does not fit 64 bits");
  EXPECT_EQ(message_of([] { NDArray::empty({std::int64_t{1} << 59}, Int(32)); }),
            "array int32[576460752303423488]: no memory for 2305843009213693952 bytes");
  EXPECT_EQ(message_of([] { NDArray::empty({4}, Handle()); }),
            "an array cannot have elements of type handle");
}

TEST(NDArray, FullConvertsToEveryType) {
  EXPECT_EQ(NDArray::full({2}, Int(8), -128).to_vector<std::int8_t>(),
            (std::vector<std::int8_t>{-128, -128}));
  EXPECT_EQ(NDArray::full({1}, UInt(64), 0x1p63).to_vector<std::uint64_t>().front(),
            std::uint64_t{1} << 63);
  EXPECT_TRUE(std::isnan(NDArray::full({1}, Float(32), NAN).to_vector<float>().front()));
  EXPECT_EQ(NDArray::full({1}, BFloat(16), 1.5).to_vector<BFloat16>().front().bits, 0x3fc0);
  EXPECT_EQ(message_of([] { NDArray::full({1}, UInt(8), 256); }), "full: 256 does not fit uint8");
  EXPECT_EQ(message_of([] { NDArray::full({1}, UInt(8), -1); }), "full: -1 does not fit uint8");
  EXPECT_EQ(message_of([] { NDArray::full({1}, Int(64), NAN); }), "full: nan does not fit int64");
}

TEST(NDArray, FullKeepsAll64BitsOfAnInteger) {
  constexpr std::int64_t kOdd = (std::int64_t{1} << 53) + 1;
  constexpr std::uint64_t kMax = std::numeric_limits<std::uint64_t>::max();
  EXPECT_EQ(NDArray::full({1}, Int(64), kOdd).to_vector<std::int64_t>().front(), kOdd);
  EXPECT_EQ(NDArray::full({1}, UInt(64), kMax).to_vector<std::uint64_t>().front(), kMax);
  EXPECT_EQ(message_of([] { NDArray::full({1}, Int(64), kMax); }),
            "full: 18446744073709551615 does not fit int64");
  EXPECT_EQ(message_of([] { NDArray::full({1}, UInt(64), 0x1p64); }),
            "full: 18446744073709551616 does not fit uint64");
  EXPECT_EQ(message_of([] { NDArray::full({1}, Float(16), 100000); }),
            "full: 100000 does not fit float16");
}

TEST(NDArray, RandomIsTheSameForTheSameSeedOnly) {
  for (DataType dtype : {Float(32), Float(64), Int(32), Float(16)}) {
    auto bytes = [](const NDArray& a) {
      const auto* data = static_cast<const char*>(a.dl_tensor().data);
      return std::string(data, static_cast<std::size_t>(a.num_elements() * a.dtype().bytes()));
    };
    NDArray a = NDArray::random({100}, dtype, {.seed = 7});
    EXPECT_EQ(bytes(a), bytes(NDArray::random({100}, dtype, {.seed = 7})));
    EXPECT_NE(bytes(a), bytes(NDArray::random({100}, dtype, {.seed = 8})));
    EXPECT_NE(bytes(NDArray::random({100}, dtype)), bytes(NDArray::random({100}, dtype)));
  }
}

template <class T>
void expect_uniform_below_one(DataType dtype) {
  double sum = 0, least = 1, most = 0;
  constexpr int n = 20000;
  for (T element : NDArray::random({n}, dtype, {.seed = 1}).to_vector<T>()) {
    const auto x = static_cast<double>(element);
    sum += x;
    least = std::min(least, x);
    most = std::max(most, x);
  }
  EXPECT_NEAR(sum / n, 0.5, 0.01) << dtype.str();
  EXPECT_GE(least, 0);
  EXPECT_LT(most, 1);
}

TEST(NDArray, RandomFloatsAreUniformBelowOne) {
  expect_uniform_below_one<float>(Float(32));
  expect_uniform_below_one<double>(Float(64));
  expect_uniform_below_one<Float16>(Float(16));
  expect_uniform_below_one<BFloat16>(BFloat(16));
}

TEST(NDArray, RandomIntegersAreSmall) {
  auto values = NDArray::random({5000}, Int(8), {.seed = 1}).to_vector<std::int8_t>();
  EXPECT_EQ(std::set<int>(values.begin(), values.end()).size(), 21u);
  EXPECT_EQ(*std::ranges::min_element(values), -10);
  EXPECT_EQ(*std::ranges::max_element(values), 10);
  auto natural = NDArray::random({5000}, UInt(32), {.seed = 1}).to_vector<std::uint32_t>();
  EXPECT_EQ(*std::ranges::max_element(natural), 10u);
}

TEST(NDArray, RandomWorksForEveryType) {
  for (DataType dtype : kTypes) EXPECT_EQ(NDArray::random({3, 2}, dtype).dtype(), dtype);
}

TEST(NDArray, CopyToAnArrayNeedsTheSameTypeAndShape) {
  NDArray a = NDArray::full({4}, Float(32), 3), b = NDArray::zeros({4}, Float(32));
  a.copy_to(b);
  EXPECT_EQ(b.to_vector<float>(), std::vector<float>(4, 3));
  EXPECT_EQ(message_of([&] { a.copy_to(NDArray::zeros({3}, Float(32))); }),
            "copy: arrays of the same type and shape are needed, got float32[4] to copy from and "
            "float32[3] to copy into");
  EXPECT_THROW(a.copy_to(NDArray::zeros({4}, Int(32))), RuntimeError);
}

TEST(NDArray, AViewWithStridesSeesTheSameMemory) {
  NDArray a = NDArray::from(std::vector<int>{0, 1, 2, 3, 4, 5}, {2, 3});
  NDArray transposed = a.view({3, 2}, {1, 3});
  EXPECT_FALSE(transposed.is_compact());
  EXPECT_EQ(transposed.to_vector<int>(), (std::vector<int>{0, 3, 1, 4, 2, 5}));
  NDArray reversed = a.view({6}, {-1}, 5 * sizeof(int));
  EXPECT_EQ(reversed.to_vector<int>(), (std::vector<int>{5, 4, 3, 2, 1, 0}));
  EXPECT_EQ(a.view({2}, {3}, 4).to_vector<int>(), (std::vector<int>{1, 4}));
  a.data<int>()[1] = 10;
  EXPECT_EQ(reversed.to_vector<int>()[4], 10);
}

TEST(NDArray, CopiesBetweenStridedViews) {
  NDArray a = NDArray::from(std::vector<int>{0, 1, 2, 3, 4, 5}, {2, 3});
  NDArray b = NDArray::zeros({12}, Int(32));
  a.copy_to(b.view({2, 3}, {1, 4}));
  EXPECT_EQ(b.to_vector<int>(), (std::vector<int>{0, 3, 0, 0, 1, 4, 0, 0, 2, 5, 0, 0}));
}

TEST(NDArray, AViewThatReachesOutsideIsRefused) {
  NDArray a = NDArray::zeros({6}, Int(32));
  for (auto [shape, strides, offset] : {std::tuple{NDArray::Shape{7}, NDArray::Shape{1}, 0},
                                        {NDArray::Shape{6}, NDArray::Shape{1}, 4},
                                        {NDArray::Shape{2}, NDArray::Shape{-1}, 0},
                                        {NDArray::Shape{2}, NDArray::Shape{6}, 0},
                                        {NDArray::Shape{1}, NDArray::Shape{1}, -4},
                                        {NDArray::Shape{3}, NDArray::Shape{INT64_MAX / 2}, 0}})
    EXPECT_THROW((void)a.view(shape, strides, offset), RuntimeError);
  EXPECT_EQ(
      message_of([&] { (void)a.view({7}, {1}); }),
      "view of shape [7], strides [1], byte offset 0: elements would lie outside the 24 bytes of the array");
  EXPECT_NO_THROW((void)a.view({0}, {1}, 24));
}

TEST(NDArray, DLPackRoundTripDoesNotCopy) {
  for (DataType dtype : kTypes) {
    NDArray a = NDArray::random({2, 3}, dtype);
    const void* data = a.dl_tensor().data;
    NDArray b = NDArray::from_dlpack(a.to_dlpack());
    EXPECT_EQ(b.dl_tensor().data, data);
    EXPECT_EQ(b.dtype(), dtype);
    EXPECT_EQ(b.shape(), a.shape());
    EXPECT_EQ(b.strides(), a.strides());
  }
}

TEST(NDArray, DLPackKeepsTheMemoryAlive) {
  DLManagedTensor* tensor = NDArray::full({1000}, Int(32), 5).to_dlpack();
  EXPECT_EQ(static_cast<const std::int32_t*>(tensor->dl_tensor.data)[999], 5);
  tensor->deleter(tensor);
}

TEST(NDArray, AForeignTensorIsGivenBackWithTheLastHandle) {
  static int deleted;  // the deleter takes no closure but the tensor
  deleted = 0;
  float values[] = {1, 2, 3, 4};
  std::int64_t shape[] = {2, 2};
  DLManagedTensor tensor = {};
  tensor.dl_tensor.data = values;
  tensor.dl_tensor.device = {kDLCPU, 0};
  tensor.dl_tensor.ndim = 2;
  tensor.dl_tensor.dtype = {kDLFloat, 32, 1};
  tensor.dl_tensor.shape = shape;
  tensor.deleter = [](DLManagedTensor*) { ++deleted; };
  {
    NDArray a = NDArray::from_dlpack(&tensor);
    EXPECT_EQ(a.data<float>(), values);
    EXPECT_EQ(a.strides(), (NDArray::Shape{2, 1}));
    NDArray column = a.view({2}, {2}, 4);
    a = NDArray::zeros({1}, Float(32));
    EXPECT_EQ(column.to_vector<float>(), (std::vector<float>{2, 4}));
    EXPECT_EQ(deleted, 0);
  }
  EXPECT_EQ(deleted, 1);
}

TEST(NDArray, ATensorOfAnUnknownTypeStaysWithTheCaller) {
  DLManagedTensor tensor = {};
  tensor.dl_tensor.dtype = {kDLComplex, 64, 1};
  tensor.deleter = [](DLManagedTensor*) { ADD_FAILURE() << "deleted"; };
  EXPECT_EQ(message_of([&] { NDArray::from_dlpack(&tensor); }),
            "no data type for DLPack's code 5 with 64 bits and 1 lanes");
  EXPECT_THROW(NDArray::from_dlpack(nullptr), RuntimeError);
}

TEST(NDArray, WrapsMemoryWithoutACopy) {
  std::vector<float> values = {1, 2, 3, 4, 5, 6};
  const NDArray a = NDArray::wrap(values.data(), {2, 3});
  EXPECT_EQ(a.data<float>(), values.data());
  EXPECT_EQ(a.dtype(), Float(32));
  EXPECT_EQ(a.strides(), (NDArray::Shape{3, 1}));
  values[4] = 50;
  EXPECT_EQ(a.to_vector<float>(), values);
}

TEST(NDArray, WrapsWithStridesWithinWhichViewsStay) {
  std::vector<std::int32_t> values = {1, 2, 3, 4, 5, 6};
  const NDArray column = NDArray::wrap(values.data() + 1, {2}, {.strides = {{3}}});
  EXPECT_EQ(column.to_vector<std::int32_t>(), (std::vector<std::int32_t>{2, 5}));
  EXPECT_EQ(column.view({4}, {1}).to_vector<std::int32_t>(),
            (std::vector<std::int32_t>{2, 3, 4, 5}));
  EXPECT_THROW(column.view({5}, {1}), RuntimeError);
  EXPECT_THROW(column.view({1}, {1}, -4), RuntimeError);
  const NDArray reversed = NDArray::wrap(values.data() + 5, {6}, {.strides = {{-1}}});
  EXPECT_EQ(reversed.to_vector<std::int32_t>(), (std::vector<std::int32_t>{6, 5, 4, 3, 2, 1}));
}

TEST(NDArray, ACopyToAnOverlappingViewStoresTheOldElements) {
  const std::vector<int> values = {1, 2, 3, 4, 5, 6, 7, 8, 9};
  NDArray a = NDArray::from(values, {9});
  a.view({3, 3}, {3, 1}).copy_to(a.view({3, 3}, {1, 3}));
  EXPECT_EQ(a.to_vector<int>(), (std::vector<int>{1, 4, 7, 2, 5, 8, 3, 6, 9}));
  a.view({8}, {1}).copy_to(a.view({8}, {1}, sizeof(int)));
  EXPECT_EQ(a.to_vector<int>(), (std::vector<int>{1, 1, 4, 7, 2, 5, 8, 3, 6}));
  a.view({9}, {1}).copy_to(a.view({9}, {-1}, 8 * sizeof(int)));
  EXPECT_EQ(a.to_vector<int>(), (std::vector<int>{6, 3, 8, 5, 2, 7, 4, 1, 1}));
}

TEST(NDArray, WrapsMemoryThatADeleterTakesBack) {
  static void* freed = nullptr;
  void* const memory = std::malloc(16);
  {
    const NDArray a = NDArray::wrap(memory, {16}, {.dtype = Int(8), .deleter = [](void* p) {
                                                     freed = p;
                                                     std::free(p);
                                                   }});
    const NDArray view = a.view({8}, {2});
    EXPECT_EQ(freed, nullptr);
  }
  EXPECT_EQ(freed, memory);
}

TEST(NDArray, WrapsVectorsOfThePointersType) {
  std::vector<float> values(8, 1.5f);
  EXPECT_EQ(NDArray::wrap(values.data(), {2}, {.dtype = Float(32, 4)}).to_vector<float>(), values);
}

TEST(NDArray, WhatCannotBeWrappedIsRefusedWithTheReason) {
  float value = 0;
  EXPECT_EQ(message_of([&] { NDArray::wrap(static_cast<float*>(nullptr), {2}); }),
            "NDArray::wrap: array float32[2] in no memory, the pointer is null");
  EXPECT_EQ(message_of([&] { NDArray::wrap(static_cast<void*>(&value), {1}); }),
            "NDArray::wrap: a pointer to void needs the type of the elements: {.dtype = ...}");
  EXPECT_EQ(message_of([&] { NDArray::wrap(&value, {1}, {.dtype = Int(32)}); }),
            "NDArray::wrap: the pointer is to float32, the elements are int32");
  EXPECT_EQ(message_of([&] {
              NDArray::wrap(&value, {1}, {.strides = {{1, 1}}});
            }),
            "NDArray::wrap: array float32[1] with 2 strides");
  void* const odd = reinterpret_cast<char*>(&value) + 1;
  EXPECT_EQ(message_of([&] { NDArray::wrap(odd, {1}, {.dtype = Int(16)}); }),
            "NDArray::wrap: array int16[1] in memory that is not aligned to its elements");
  EXPECT_EQ(NDArray::wrap(static_cast<float*>(nullptr), {0, 3}).num_elements(), 0);
}

TEST(NDArray, OnADeviceThatIsMissingIsRefusedWithTheReason) {
  if (cuda(0).exists()) GTEST_SKIP() << "there is a CUDA device here";
  const std::string message = message_of([] { NDArray::zeros({4}, Float(32), cuda(0)); });
  EXPECT_TRUE(message.starts_with("no array on cuda(0): ")) << message;
  EXPECT_THROW(NDArray::zeros({4}, Float(32)).copy_to(cuda(0)), RuntimeError);
}

// ---- elements of 16 bits ------------------------------------------------------------------------

// Every pattern of 16 bits is a number that both conversions must leave alone.
template <class Half>
void expect_round_trips() {
  for (int bits = 0; bits <= 0xffff; ++bits) {
    const Half half = Half::from_bits(static_cast<std::uint16_t>(bits));
    const auto value = static_cast<float>(half);
    if (std::isnan(value))
      ASSERT_TRUE(std::isnan(static_cast<float>(Half(value)))) << bits;
    else
      ASSERT_EQ(Half(value).bits, bits);
  }
}
TEST(Float16, EveryValueSurvivesARoundTrip) { expect_round_trips<Float16>(); }
TEST(BFloat16, EveryValueSurvivesARoundTrip) { expect_round_trips<BFloat16>(); }

// Between two neighbours, the nearer one wins, and of two equally near ones the even one.
template <class Half>
void expect_rounds_to_nearest_even(int largest_finite) {
  for (int bits = 0; bits < largest_finite; ++bits) {
    const double low = static_cast<double>(Half::from_bits(static_cast<std::uint16_t>(bits)));
    const double high = static_cast<double>(Half::from_bits(static_cast<std::uint16_t>(bits + 1)));
    const double middle = (low + high) / 2;
    ASSERT_EQ(Half(middle).bits, bits % 2 == 0 ? bits : bits + 1);
    ASSERT_EQ(Half(std::nextafter(middle, low)).bits, bits);
    ASSERT_EQ(Half(std::nextafter(middle, high)).bits, bits + 1);
    ASSERT_EQ(Half(-middle).bits, Half(middle).bits | 0x8000);
  }
}
TEST(Float16, RoundsToNearestEven) { expect_rounds_to_nearest_even<Float16>(0x7bff); }
TEST(BFloat16, RoundsToNearestEven) { expect_rounds_to_nearest_even<BFloat16>(0x7f7f); }

TEST(Float16, KnownValues) {
  EXPECT_EQ(Float16(1.0).bits, 0x3c00);
  EXPECT_EQ(Float16(-2.0).bits, 0xc000);
  EXPECT_EQ(Float16(65504.0).bits, 0x7bff);
  EXPECT_EQ(Float16(65519.0).bits, 0x7bff);
  EXPECT_EQ(Float16(65520.0).bits, 0x7c00);
  EXPECT_EQ(Float16(0x1p-24).bits, 0x0001);
  EXPECT_EQ(Float16(0x1p-26).bits, 0x0000);
  EXPECT_EQ(Float16(-0.0).bits, 0x8000);
  EXPECT_EQ(Float16(1e300).bits, 0x7c00);
  EXPECT_EQ(Float16(1e-300).bits, 0x0000);
}

TEST(BFloat16, KnownValues) {
  EXPECT_EQ(BFloat16(1.0).bits, 0x3f80);
  EXPECT_EQ(BFloat16(std::numeric_limits<float>::infinity()).bits, 0x7f80);
  EXPECT_EQ(BFloat16(std::numeric_limits<float>::max()).bits, 0x7f80);
  EXPECT_EQ(BFloat16(1.0 + 0x1p-8).bits, 0x3f80);
  EXPECT_EQ(BFloat16(1.0 + 3 * 0x1p-8).bits, 0x3f82);
}

// ---- devices ------------------------------------------------------------------------------------

TEST(Device, ThereIsOneCpu) {
  EXPECT_TRUE(tenon::cpu(0).exists());
  EXPECT_TRUE(cpu().exists());
  EXPECT_FALSE(cpu(1).exists());
  EXPECT_FALSE(cpu(-1).exists());
  EXPECT_EQ(cpu(1).why_missing(), "cpu(1) does not exist: there is 1 device of this kind");
}

TEST(Device, TextNamesKindAndNumber) {
  EXPECT_EQ(cpu(0).str(), "cpu(0)");
  EXPECT_EQ(cuda(3).str(), "cuda(3)");
  EXPECT_EQ(opencl(1).str(), "opencl(1)");
}

TEST(Device, AMissingDriverIsNamed) {
  for (auto [device, start] :
       {std::pair{cuda(0), "no CUDA driver found: libcuda.so.1 cannot be loaded"},
        std::pair{opencl(0), "no OpenCL found: libOpenCL.so.1 cannot be loaded"}}) {
    if (device.exists()) continue;
    if (device.why_missing().starts_with(device.str())) continue;  // a driver, but no device
    EXPECT_TRUE(device.why_missing().starts_with(start)) << device.why_missing();
    EXPECT_EQ(message_of([&] { device_api(device.type); }), device.why_missing());
  }
}

TEST(Device, AnUnknownKindDoesNotExist) {
  const Device unknown{static_cast<DeviceType>(12), 0};
  EXPECT_FALSE(unknown.exists());
  EXPECT_EQ(unknown.why_missing(), "this runtime has no driver for device type 12");
}

// On every device that there is, bytes come back as they went.
TEST(Device, ArraysGoThereAndBack) {
  for (Device device : {cpu(0), cuda(0), opencl(0)}) {
    if (!device.exists()) continue;
    NDArray host = NDArray::random({33, 7}, Int(32), {.seed = 3});
    NDArray there = host.copy_to(device);
    EXPECT_EQ(there.device(), device);
    NDArray twice = NDArray::zeros({33, 7}, Int(32), device);
    there.copy_to(twice);
    EXPECT_EQ(twice.to_vector<int>(), host.to_vector<int>()) << device.str();
    EXPECT_FALSE(device_api(device.type).device_name(device.id).empty());
    device_api(device.type).synchronize(device.id);
  }
}

}  // namespace
}  // namespace tenon::runtime
