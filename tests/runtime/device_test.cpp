#include "tenon/runtime/device.h"

#include <gtest/gtest.h>

#include "tenon/runtime/device_api.h"
#include "tenon/runtime/ndarray.h"
#include "tests/runtime/errors.h"

namespace tenon::runtime {
namespace {

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
