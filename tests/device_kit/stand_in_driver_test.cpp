// Tests of the stand-in for CUDA's driver: each fault is reported, and the correct call is not.
#include <dlfcn.h>
#include <gtest/gtest.h>
#include <tenon/tenon.h>

#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <regex>
#include <thread>

#include "tenon/codegen/c_like/nvrtc.h"
#include "tenon/runtime/device_api.h"
#include "tenon/runtime/stream.h"
#include "tenon_test_paths.h"
#include "tests/opencl/add_one.h"

namespace tenon::testing {
namespace {

using runtime::NDArray;
using Address = unsigned long long;

constexpr int kSuccess = 0, kInvalidValue = 1, kNotInitialized = 3, kInvalidContext = 201,
              kNoBinary = 209, kInvalidPtx = 218, kPtxVersion = 222, kInvalidHandle = 400,
              kNotFound = 500, kNotReady = 600, kIllegalAddress = 700, kOutOfResources = 701,
              kMisaligned = 716;

/// Loads the stand-in before the runtime loads the driver. Both have the same SONAME, so that the
/// runtime gets this one; other programs name its folder in LD_LIBRARY_PATH.
void* stand_in() {
  static void* const library = [] {
    setenv("TENON_STAND_IN_DEVICES", "2", 1);
    return dlopen(TENON_BINARY_DIR "/device_kit/stand_in/libcuda.so.1", RTLD_NOW);
  }();
  return library;
}

template <class... Args>
int call(const char* name, Args... args) {
  auto* const function = reinterpret_cast<int (*)(Args...)>(dlsym(stand_in(), name));
  if (function == nullptr) throw std::runtime_error(std::string("there is no ") + name);
  return function(args...);
}

std::filesystem::path log_file() {
  static const std::filesystem::path file =
      std::filesystem::temp_directory_path() / ("stand_in." + std::to_string(getpid()));
  return file;
}

std::string read_log() {
  std::ifstream file(log_file());
  return {std::istreambuf_iterator<char>(file), {}};
}

/// Returns the faults since the previous call, without arguments and with `#` for addresses.
std::string faults(const std::string& kind = "fault") {
  std::string text;
  std::istringstream lines(read_log());
  for (std::string line; std::getline(lines, line);)
    if (line.starts_with(kind + ": ")) text += line + "\n";
  std::filesystem::remove(log_file());
  text = std::regex_replace(text, std::regex("0x[0-9a-f]+"), "#");
  text = std::regex_replace(text, std::regex(kind + ": (\\w+)\\([^)]*\\): "), "$1: ");
  return text;
}

// Reads `a` by vectors of four and `b` by elements, and writes `c`. Has 8 KiB of shared memory.
constexpr const char* kAdd = R"(
.version 8.0
.target sm_80
.address_size 64

.visible .entry add(
  .param .u64 add_a,
  .param .u64 .ptr .global .align 4 add_b,
  .param .u64 add_c,
  .param .u64 add_n
)
.maxntid 256, 1, 1
{
  .reg .b32   %r<6>;
  .reg .b64   %rd<12>;
  .shared .align 4 .b8 tile[8192];
  ld.param.u64   %rd1, [add_a];
  ld.param.u64   %rd2, [add_b];
  ld.param.u64   %rd3, [add_c];
  ld.param.u64   %rd9, [add_n];
  cvta.to.global.u64   %rd4, %rd1;
  cvta.to.global.u64   %rd5, %rd2;
  cvta.to.global.u64   %rd6, %rd3;
  mov.u32   %r1, %tid.x;
  mul.wide.u32   %rd7, %r1, 16;
  add.s64   %rd8, %rd4, %rd7;
  add.s64   %rd10, %rd5, %rd9;
  add.s64   %rd11, %rd6, %rd9;
  ld.global.v4.u32   {%r2, %r3, %r4, %r5}, [%rd8];
  ld.global.u32   %r3, [%rd10];
  add.s32   %r2, %r2, %r3;
  st.global.u32   [%rd11], %r2;
  ret;
}

.visible .entry nothing()
{
  ret;
}
)";

struct Extents {
  unsigned grid[3] = {1, 1, 1}, block[3] = {64, 1, 1};
  unsigned shared = 0;
};

class StandIn : public ::testing::Test {
 protected:
  void SetUp() override {
    ASSERT_NE(stand_in(), nullptr) << dlerror();
    setenv("TENON_STAND_IN_LOG", log_file().c_str(), 1);
    ASSERT_EQ(call("cuInit", 0u), kSuccess);
    for (int n = 0; n < 2; ++n)
      ASSERT_EQ(call("cuDevicePrimaryCtxRetain", &contexts[n], n), kSuccess);
    ASSERT_EQ(call("cuCtxSetCurrent", contexts[0]), kSuccess);
    ASSERT_EQ(call("cuModuleLoadData", &module, static_cast<const void*>(kAdd)), kSuccess);
    ASSERT_EQ(call("cuModuleGetFunction", &add, module, "add"), kSuccess);
    for (Address* place : {&a, &b, &c}) *place = allocate(kBytes);
    faults();
  }
  void TearDown() override {
    EXPECT_EQ(call("cuCtxSetCurrent", contexts[0]), kSuccess);
    for (const Address place : {a, b, c})
      if (place != 0) call("cuMemFree_v2", place);
    if (module != nullptr) call("cuModuleUnload", module);
    for (int n = 0; n < 2; ++n) call("cuDevicePrimaryCtxRelease_v2", n);
    EXPECT_EQ(faults(), "");
    unsetenv("TENON_STAND_IN_LOG");
  }

  static Address allocate(std::size_t size) {
    Address address = 0;
    EXPECT_EQ(call("cuMemAlloc_v2", &address, size), kSuccess);
    return address;
  }

  int launch(Extents e = {}, void* stream = nullptr) { return launch(a, b, c, e, stream); }
  int launch(Address first, Address second, Address third, Extents e = {}, void* stream = nullptr) {
    std::int64_t n = 4;
    void* parameters[] = {&first, &second, &third, &n};
    return launch_with(parameters, e, stream);
  }
  int launch_with(void** parameters, Extents e = {}, void* stream = nullptr) {
    return call("cuLaunchKernel", add, e.grid[0], e.grid[1], e.grid[2], e.block[0], e.block[1],
                e.block[2], e.shared, stream, parameters, static_cast<void**>(nullptr));
  }

  static void* make_stream() {
    void* stream = nullptr;
    EXPECT_EQ(call("cuStreamCreate", &stream, 1u), kSuccess);
    return stream;
  }

  static constexpr std::size_t kBytes = 4096;
  void* contexts[2] = {};
  void* module = nullptr;
  void* add = nullptr;
  Address a = 0, b = 0, c = 0;
};

TEST(StandInDeathTest, ReportsCallsBeforeInitialization) {
  unsetenv("TENON_STAND_IN_LOG");
  int count = 0;
  EXPECT_EXIT(
      std::_Exit(call("cuDeviceGetCount", &count)), ::testing::ExitedWithCode(kNotInitialized),
      "fault: cuDeviceGetCount\\(\\): cuInit was not called \\[CUDA_ERROR_NOT_INITIALIZED\\]");
}

TEST_F(StandIn, AcceptsARightLaunch) {
  EXPECT_EQ(launch(), kSuccess);
  EXPECT_EQ(launch({.grid = {2147483647, 65535, 65535}, .block = {4, 1, 64}}), kSuccess);
  EXPECT_EQ(faults(), "");
}

TEST_F(StandIn, ReportsMissingParameters) {
  EXPECT_EQ(launch_with(nullptr), kInvalidValue);
  EXPECT_EQ(faults(),
            "cuLaunchKernel: kernel `add`: kernelParams is NULL, and the kernel takes 4 "
            "[CUDA_ERROR_INVALID_VALUE]\n");
  void* parameters[] = {&a, &b, nullptr, &c};
  EXPECT_EQ(launch_with(parameters), kInvalidValue);
  EXPECT_EQ(faults(),
            "cuLaunchKernel: kernel `add`: kernelParams[2] is #, where the host has no 8 bytes "
            "[CUDA_ERROR_INVALID_VALUE]\n");
}

TEST_F(StandIn, ReportsParametersThatAreNotPointers) {
  EXPECT_EQ(launch(a, b, 12345), kIllegalAddress);
  EXPECT_EQ(faults(),
            "cuLaunchKernel: kernel `add`: parameter 2 # lies in no memory of a device "
            "[CUDA_ERROR_ILLEGAL_ADDRESS]\n");
  EXPECT_EQ(launch(a, reinterpret_cast<Address>(this), c), kIllegalAddress);
  EXPECT_EQ(faults(),
            "cuLaunchKernel: kernel `add`: parameter 1 # is an address of the host's "
            "[CUDA_ERROR_ILLEGAL_ADDRESS]\n");
}

TEST_F(StandIn, ReportsSharedMemoryBeyondTheLimit) {
  constexpr unsigned kStatic = 8192, kPlain = 48 * 1024 - kStatic, kMax = 227 * 1024 - kStatic;
  EXPECT_EQ(launch({.shared = kPlain}), kSuccess);
  EXPECT_EQ(faults(), "");
  EXPECT_EQ(launch({.shared = kPlain + 4}), kInvalidValue);
  EXPECT_EQ(
      faults(),
      "cuLaunchKernel: kernel `add`: 40964 bytes of dynamic shared memory in addition to 8192 "
      "bytes of static: more than 40960 bytes of dynamic were not asked for with "
      "cuFuncSetAttribute [CUDA_ERROR_INVALID_VALUE]\n");
  EXPECT_EQ(call("cuFuncSetAttribute", add, 8, static_cast<int>(kMax)), kSuccess);
  EXPECT_EQ(launch({.shared = kMax}), kSuccess);
  EXPECT_EQ(faults(), "");
  EXPECT_EQ(call("cuFuncSetAttribute", add, 8, static_cast<int>(kMax + 4)), kInvalidValue);
  EXPECT_EQ(faults(),
            "cuFuncSetAttribute: a block has at most 232448 bytes of shared memory, and the kernel "
            "`add` has 8192 bytes of static [CUDA_ERROR_INVALID_VALUE]\n");
}

TEST_F(StandIn, ReportsThreadsWithoutAContext) {
  int with = -1, without = -1;
  std::thread([&] {
    without = call("cuCtxSynchronize");
    call("cuCtxSetCurrent", contexts[0]);
    with = call("cuCtxSynchronize");
  }).join();
  EXPECT_EQ(without, kInvalidContext);
  EXPECT_EQ(with, kSuccess);
  EXPECT_EQ(faults(),
            "cuCtxSynchronize: the calling thread has no current context "
            "[CUDA_ERROR_INVALID_CONTEXT]\n");
}

TEST_F(StandIn, ReportsTheContextOfAnotherDevice) {
  EXPECT_EQ(call("cuCtxSetCurrent", contexts[1]), kSuccess);
  const Address there = allocate(kBytes);
  void* const stream = make_stream();
  EXPECT_EQ(launch(), kInvalidHandle);
  EXPECT_EQ(faults(),
            "cuLaunchKernel: the kernel `add` belongs to another context than the current one "
            "[CUDA_ERROR_INVALID_HANDLE]\n");
  EXPECT_EQ(call("cuCtxSetCurrent", contexts[0]), kSuccess);
  EXPECT_EQ(launch({}, stream), kInvalidHandle);
  EXPECT_EQ(faults(),
            "cuLaunchKernel: the stream belongs to another context than the current one "
            "[CUDA_ERROR_INVALID_HANDLE]\n");
  EXPECT_EQ(launch(a, there, c), kIllegalAddress);
  EXPECT_EQ(faults(),
            "cuLaunchKernel: kernel `add`: parameter 1 # is memory of another context "
            "[CUDA_ERROR_ILLEGAL_ADDRESS]\n");
  EXPECT_EQ(call("cuCtxSetCurrent", contexts[1]), kSuccess);
  EXPECT_EQ(call("cuStreamDestroy_v2", stream), kSuccess);
  EXPECT_EQ(call("cuMemFree_v2", there), kSuccess);
}

TEST_F(StandIn, ReportsUseAfterFree) {
  EXPECT_EQ(call("cuMemFree_v2", b), kSuccess);
  EXPECT_EQ(faults(), "");
  EXPECT_EQ(launch(), kIllegalAddress);
  EXPECT_EQ(faults(),
            "cuLaunchKernel: kernel `add`: parameter 1 # lies in memory of 4096 bytes at #, which "
            "was freed [CUDA_ERROR_ILLEGAL_ADDRESS]\n");
  EXPECT_EQ(call("cuMemcpy", a, b, kBytes), kInvalidValue);
  EXPECT_EQ(faults(),
            "cuMemcpy: the source # lies in memory of 4096 bytes at #, which was freed "
            "[CUDA_ERROR_INVALID_VALUE]\n");
  EXPECT_EQ(call("cuMemFree_v2", b), kInvalidValue);
  EXPECT_EQ(faults(),
            "cuMemFree_v2: the address # lies in memory of 4096 bytes at #, which was freed "
            "[CUDA_ERROR_INVALID_VALUE]\n");
  b = 0;
}

TEST_F(StandIn, ReportsPartsThatAreFreed) {
  EXPECT_EQ(call("cuMemFree_v2", a + 256), kInvalidValue);
  EXPECT_EQ(faults(),
            "cuMemFree_v2: # is not the beginning of the memory of 4096 bytes at # "
            "[CUDA_ERROR_INVALID_VALUE]\n");
}

TEST_F(StandIn, ReportsCopiesBeyondTheEnd) {
  std::vector<char> from(kBytes + 1, 'x'), to(kBytes + 1);
  EXPECT_EQ(call("cuMemcpyHtoD_v2", a, static_cast<const void*>(from.data()), kBytes), kSuccess);
  EXPECT_EQ(call("cuMemcpyDtoH_v2", static_cast<void*>(to.data()), a, kBytes), kSuccess);
  EXPECT_EQ(to[kBytes - 1], 'x');
  EXPECT_EQ(faults(), "");
  EXPECT_EQ(call("cuMemcpyDtoH_v2", static_cast<void*>(to.data()), a, kBytes + 1), kInvalidValue);
  EXPECT_EQ(faults(),
            "cuMemcpyDtoH_v2: the source # lies in memory of 4096 bytes at #, and 4097 bytes from "
            "there end 1 bytes beyond it [CUDA_ERROR_INVALID_VALUE]\n");
  EXPECT_EQ(call("cuMemcpy", a + 2048, b, kBytes), kInvalidValue);
  EXPECT_EQ(faults(),
            "cuMemcpy: the destination # lies in memory of 4096 bytes at #, and 4096 bytes from "
            "there end 2048 bytes beyond it [CUDA_ERROR_INVALID_VALUE]\n");
}

TEST_F(StandIn, ReportsWrongOrderOfStreams) {
  void *const first = make_stream(), *const second = make_stream();
  // Both only read `a` and `b`.
  const Address d = allocate(kBytes);
  EXPECT_EQ(launch({}, first), kSuccess);
  EXPECT_EQ(launch(a, b, d, {}, second), kSuccess);
  EXPECT_EQ(faults(), "");
  EXPECT_EQ(launch(c, b, d, {}, second), kInvalidValue);
  EXPECT_EQ(
      faults(),
      "cuLaunchKernel: kernel `add`: wrong stream order: parameter 0 at # may be in use by the "
      "kernel `add` in another stream, which nothing in this stream waits for "
      "[CUDA_ERROR_INVALID_VALUE]\n");
  std::vector<char> host(kBytes);
  const auto to = reinterpret_cast<Address>(host.data());
  EXPECT_EQ(call("cuMemcpy", to, c, kBytes), kInvalidValue);
  EXPECT_EQ(faults(),
            "cuMemcpy: wrong stream order: the source at # may be in use by the kernel `add` in "
            "another stream, which nothing in this stream waits for [CUDA_ERROR_INVALID_VALUE]\n");
  // An event orders the streams.
  void* event = nullptr;
  EXPECT_EQ(call("cuEventCreate", &event, 2u), kSuccess);
  EXPECT_EQ(call("cuEventRecord", event, first), kSuccess);
  EXPECT_EQ(call("cuStreamWaitEvent", second, event, 0u), kSuccess);
  EXPECT_EQ(call("cuEventDestroy_v2", event), kSuccess);
  EXPECT_EQ(launch(c, b, d, {}, second), kSuccess);
  // So does the host.
  EXPECT_EQ(call("cuStreamSynchronize", second), kSuccess);
  EXPECT_EQ(call("cuMemcpy", to, c, kBytes), kSuccess);
  EXPECT_EQ(faults(), "");
  EXPECT_EQ(call("cuMemFree_v2", d), kSuccess);
  for (void* stream : {first, second}) EXPECT_EQ(call("cuStreamDestroy_v2", stream), kSuccess);
}

TEST_F(StandIn, ReportsMisalignedPointers) {
  EXPECT_EQ(launch(a + 16, b + 4, c + 4), kSuccess);
  EXPECT_EQ(faults(), "");
  EXPECT_EQ(launch(a + 8, b, c), kMisaligned);
  EXPECT_EQ(
      faults(),
      "cuLaunchKernel: kernel `add`: parameter 0 # is not a multiple of the 16 bytes that the "
      "kernel accesses at once [CUDA_ERROR_MISALIGNED_ADDRESS]\n");
  EXPECT_EQ(launch(a, b + 2, c), kMisaligned);
  EXPECT_EQ(faults(),
            "cuLaunchKernel: kernel `add`: parameter 1 # is not a multiple of the 4 bytes that the "
            "kernel accesses at once [CUDA_ERROR_MISALIGNED_ADDRESS]\n");
}

TEST_F(StandIn, ReportsWrongGrids) {
  EXPECT_EQ(launch({.grid = {1, 0, 1}}), kInvalidValue);
  EXPECT_EQ(faults(), "cuLaunchKernel: kernel `add`: gridDim.y is 0 [CUDA_ERROR_INVALID_VALUE]\n");
  EXPECT_EQ(launch({.grid = {1, 1, 65536}}), kInvalidValue);
  EXPECT_EQ(faults(),
            "cuLaunchKernel: kernel `add`: gridDim.z is 65536, at most 65535 is possible "
            "[CUDA_ERROR_INVALID_VALUE]\n");
}

TEST_F(StandIn, ReportsWrongBlocks) {
  EXPECT_EQ(launch({.block = {1, 1, 65}}), kInvalidValue);
  EXPECT_EQ(faults(),
            "cuLaunchKernel: kernel `add`: blockDim.z is 65, at most 64 is possible "
            "[CUDA_ERROR_INVALID_VALUE]\n");
  EXPECT_EQ(launch({.block = {1024, 2, 1}}), kInvalidValue);
  EXPECT_EQ(faults(),
            "cuLaunchKernel: kernel `add`: a block of 2048 threads, at most 1024 are possible "
            "[CUDA_ERROR_INVALID_VALUE]\n");
  EXPECT_EQ(launch({.block = {257, 1, 1}}), kOutOfResources);
  EXPECT_EQ(faults(),
            "cuLaunchKernel: kernel `add`: a block of 257 threads, the kernel was compiled for at "
            "most 256 [CUDA_ERROR_LAUNCH_OUT_OF_RESOURCES]\n");
}

TEST_F(StandIn, ReportsImagesThatDoNotSuitTheDevice) {
  void* other = nullptr;
  const auto load = [&](const std::string& image) {
    return call("cuModuleLoadData", &other, static_cast<const void*>(image.c_str()));
  };
  const std::string right = kAdd;
  const auto with = [&](const std::string& old, const std::string& now) {
    return std::string(right).replace(right.find(old), old.size(), now);
  };
  EXPECT_EQ(load(with("sm_80", "sm_90a")), kSuccess);
  EXPECT_EQ(call("cuModuleUnload", other), kSuccess);
  EXPECT_EQ(faults(), "");
  EXPECT_EQ(load(with("sm_80", "sm_100")), kInvalidPtx);
  EXPECT_EQ(faults(),
            "cuModuleLoadData: the PTX is for sm_100, the device is sm_90 "
            "[CUDA_ERROR_INVALID_PTX]\n");
  EXPECT_EQ(load(with("sm_80", "sm_80a")), kInvalidPtx);
  EXPECT_EQ(faults(),
            "cuModuleLoadData: the PTX is for sm_80a, the device is sm_90 "
            "[CUDA_ERROR_INVALID_PTX]\n");
  EXPECT_EQ(load(with("8.0", "9.1")), kPtxVersion);
  EXPECT_EQ(faults(),
            "cuModuleLoadData: the PTX is of version 9.1, the driver knows up to 9.0 "
            "[CUDA_ERROR_UNSUPPORTED_PTX_VERSION]\n");
}

TEST_F(StandIn, ReportsKernelsThatAreNotThere) {
  void* kernel = nullptr;
  EXPECT_EQ(call("cuModuleGetFunction", &kernel, module, "nothing"), kSuccess);
  EXPECT_EQ(call("cuModuleGetFunction", &kernel, module, "sub"), kNotFound);
  EXPECT_EQ(faults(),
            "cuModuleGetFunction: the module has no kernel of this name [CUDA_ERROR_NOT_FOUND]\n");
}

TEST_F(StandIn, ReportsUnloadedModules) {
  EXPECT_EQ(call("cuModuleUnload", module), kSuccess);
  EXPECT_EQ(faults(), "");
  EXPECT_EQ(launch(), kInvalidHandle);
  EXPECT_EQ(faults(),
            "cuLaunchKernel: the module of the kernel `add` was unloaded "
            "[CUDA_ERROR_INVALID_HANDLE]\n");
  EXPECT_EQ(call("cuModuleUnload", module), kInvalidHandle);
  EXPECT_EQ(faults(), "cuModuleUnload: the module was unloaded [CUDA_ERROR_INVALID_HANDLE]\n");
  module = nullptr;
}

TEST_F(StandIn, ReportsDestroyedStreams) {
  void* const stream = make_stream();
  EXPECT_EQ(launch({}, stream), kSuccess);
  EXPECT_EQ(call("cuStreamDestroy_v2", stream), kSuccess);
  EXPECT_EQ(faults(), "");
  EXPECT_EQ(launch({}, stream), kInvalidHandle);
  EXPECT_EQ(faults(), "cuLaunchKernel: the stream was destroyed [CUDA_ERROR_INVALID_HANDLE]\n");
  EXPECT_EQ(call("cuCtxSynchronize"), kSuccess);
}

TEST_F(StandIn, ReportsTimesThatNobodyWaitedFor) {
  void *start = nullptr, *stop = nullptr;
  float time = -1;
  for (void** event : {&start, &stop}) EXPECT_EQ(call("cuEventCreate", event, 0u), kSuccess);
  EXPECT_EQ(call("cuEventElapsedTime", &time, start, stop), kInvalidHandle);
  EXPECT_EQ(faults(),
            "cuEventElapsedTime: one of the events was never recorded "
            "[CUDA_ERROR_INVALID_HANDLE]\n");
  for (void* event : {start, stop})
    EXPECT_EQ(call("cuEventRecord", event, static_cast<void*>(nullptr)), kSuccess);
  EXPECT_EQ(call("cuEventElapsedTime", &time, start, stop), kNotReady);
  EXPECT_EQ(faults(),
            "cuEventElapsedTime: nobody has waited for one of the events [CUDA_ERROR_NOT_READY]\n");
  EXPECT_EQ(call("cuEventSynchronize", stop), kSuccess);
  EXPECT_EQ(call("cuEventElapsedTime", &time, start, stop), kSuccess);
  EXPECT_GE(time, 0);
  for (void* event : {start, stop}) EXPECT_EQ(call("cuEventDestroy_v2", event), kSuccess);
}

using StandInDeathTestF = StandIn;

TEST_F(StandInDeathTestF, DoesNotLetTheHostReadDeviceMemory) {
  EXPECT_DEATH(static_cast<void>(*reinterpret_cast<volatile char*>(a)), "");
}

TEST_F(StandInDeathTestF, KeepsFailingAfterAnInvalidAddress) {
  const auto run = [&] {
    setenv("TENON_STAND_IN_STICKY", "1", 1);
    EXPECT_EQ(launch(a, b, 12345), kIllegalAddress);
    EXPECT_EQ(launch(), kIllegalAddress);
    std::_Exit(call("cuCtxSynchronize") == kIllegalAddress && !HasFailure() ? 0 : 1);
  };
  EXPECT_EXIT(run(), ::testing::ExitedWithCode(0), "");
  EXPECT_NE(faults(), "");
}

TEST_F(StandInDeathTestF, ReportsAtTheEndWhatIsLeft) {
  EXPECT_EXIT(std::exit(0), ::testing::ExitedWithCode(0), "");
  const std::string text = read_log();
  EXPECT_NE(text.find("leak: 3 allocations with 12288 bytes were not freed\n"
                      "leak: 1 modules were not unloaded\ncalls: "),
            std::string::npos)
      << text;
  EXPECT_NE(text.find(" cuMemAlloc_v2 "), std::string::npos) << text;
  faults();
}

// ---- Machine code ---------------------------------------------------------------------------

/// The kernel `mix`, compiled by NVRTC; nullopt if NVRTC is not installed.
std::optional<std::string> compiled(const std::string& arch, bool as_ptx) {
  codegen::KernelCode code{.device = DeviceType::Cuda, .text = R"(
extern "C" __global__ void __launch_bounds__(128)
mix(const float4* __restrict__ a, const float* b, float* c, long long n, unsigned char m) {
  __shared__ float4 tile[64];
  tile[threadIdx.x & 63] = a[threadIdx.x];
  __syncthreads();
  const float4 t = tile[(threadIdx.x ^ m) & 63];
  for (long long i = 0; i < n; ++i)
    c[threadIdx.x * n + i] = t.x + t.y + t.z + t.w + b[threadIdx.x + i];
})"};
  codegen::compile_cuda(code, arch);
  if (code.binary.empty()) return std::nullopt;
  return as_ptx ? code.ptx : code.binary;
}

/// Launches `mix` in place of `add`.
class MachineCodeOnStandIn : public StandIn, public ::testing::WithParamInterface<bool> {
 protected:
  void SetUp() override {
    StandIn::SetUp();
    const auto image = compiled("sm_90", GetParam());
    if (!image) GTEST_SKIP() << "libnvrtc.so is not here";
    EXPECT_EQ(call("cuModuleUnload", module), kSuccess);
    EXPECT_EQ(call("cuModuleLoadData", &module, static_cast<const void*>(image->c_str())),
              kSuccess);
    EXPECT_EQ(call("cuModuleGetFunction", &add, module, "mix"), kSuccess);
  }
  int run(Address first, Address second, Address third, void* stream = nullptr) {
    std::int64_t n = 4;
    unsigned char m = 1;
    void* parameters[] = {&first, &second, &third, &n, &m};
    return launch_with(parameters, {}, stream);
  }
  int attribute(int number) {
    int value = -1;
    EXPECT_EQ(call("cuFuncGetAttribute", &value, number, add), kSuccess);
    return value;
  }
};

INSTANTIATE_TEST_SUITE_P(Cubin, MachineCodeOnStandIn, ::testing::Values(false));
INSTANTIATE_TEST_SUITE_P(Ptx, MachineCodeOnStandIn, ::testing::Values(true));

TEST_P(MachineCodeOnStandIn, IsReadForWhatALaunchNeeds) {
  EXPECT_EQ(run(a, b, c), kSuccess);
  EXPECT_EQ(faults(), "");
  EXPECT_EQ(attribute(0), 128);
  EXPECT_EQ(attribute(1), 1024);
  EXPECT_EQ(attribute(8), 47 * 1024);
  EXPECT_EQ(attribute(6), 90);
  if (!GetParam()) {
    EXPECT_GT(attribute(4), 8);
  }
  EXPECT_EQ(launch_with(nullptr), kInvalidValue);
  EXPECT_EQ(faults(),
            "cuLaunchKernel: kernel `mix`: kernelParams is NULL, and the kernel takes 5 "
            "[CUDA_ERROR_INVALID_VALUE]\n");
}

TEST_P(MachineCodeOnStandIn, IsReadForWhatEachPointerNeeds) {
  EXPECT_EQ(run(a + 16, b + 4, c + 4), kSuccess);
  EXPECT_EQ(faults(), "");
  EXPECT_EQ(run(a + 8, b, c), kMisaligned);
  EXPECT_EQ(
      faults(),
      "cuLaunchKernel: kernel `mix`: parameter 0 # is not a multiple of the 16 bytes that the "
      "kernel accesses at once [CUDA_ERROR_MISALIGNED_ADDRESS]\n");
  EXPECT_EQ(run(a, b + 2, c), kMisaligned);
  EXPECT_EQ(run(a, b, c + 2), kMisaligned);
  EXPECT_NE(faults(), "");
}

TEST_P(MachineCodeOnStandIn, IsReadForWhatItWrites) {
  void *const first = make_stream(), *const second = make_stream();
  const Address d = allocate(kBytes);
  EXPECT_EQ(run(a, b, c, first), kSuccess);
  EXPECT_EQ(run(a, b, d, second), kSuccess);
  EXPECT_EQ(faults(), "");
  EXPECT_EQ(run(a, d, c, second), kInvalidValue);
  EXPECT_EQ(run(a, d, b, second), kInvalidValue);
  EXPECT_EQ(run(c, b, d, second), kInvalidValue);
  EXPECT_NE(faults(), "");
  EXPECT_EQ(call("cuCtxSynchronize"), kSuccess);
  EXPECT_EQ(run(c, d, a, second), kSuccess);
  EXPECT_EQ(faults(), "");
  EXPECT_EQ(call("cuMemFree_v2", d), kSuccess);
  for (void* stream : {first, second}) EXPECT_EQ(call("cuStreamDestroy_v2", stream), kSuccess);
}

TEST_F(StandIn, ReportsMachineCodeForAnotherArchitecture) {
  for (const char* arch : {"sm_80", "sm_90", "sm_90a"}) {
    const auto image = compiled(arch, false);
    if (!image) GTEST_SKIP() << "libnvrtc.so is not here";
    void* other = nullptr;
    const bool suits = std::string(arch) != "sm_80";
    EXPECT_EQ(call("cuModuleLoadData", &other, static_cast<const void*>(image->c_str())),
              suits ? kSuccess : kNoBinary)
        << arch;
    if (suits) {
      EXPECT_EQ(call("cuModuleUnload", other), kSuccess);
    }
  }
  EXPECT_NE(
      faults("refused").find("cuModuleLoadData: the machine code is for sm_80, the device is sm_90 "
                             "[CUDA_ERROR_NO_BINARY_FOR_GPU]\n"),
      std::string::npos);
}

// ---- The runtime on it ----------------------------------------------------------------------

/// Whether NVRTC is installed.
bool has_compiler() {
  const Add add(64);
  try {
    return !compile(add.s, {add.A, add.B, add.C}, Target("cuda -arch=sm_90"), {.name = "f"})
                .source("ptx")
                .empty();
  } catch (const RuntimeError&) {
    return false;
  }
}

class RuntimeOnStandIn : public StandIn {
 protected:
  void SetUp() override {
    StandIn::SetUp();
    ASSERT_EQ(cuda(0).why_missing(), "");
  }

  static runtime::DeviceApi& api() { return runtime::device_api(DeviceType::Cuda); }

  /// The kernels of kAdd.
  static std::unique_ptr<runtime::LoadedKernels> load_add() {
    static const std::vector<runtime::KernelSpec> specs = {
        {.name = "add", .params = {Handle(), Handle(), Handle(), Int(64)}}};
    return api().load_kernels(0, {.kernels = specs, .source = "", .binary = {}, .portable = kAdd});
  }

  static std::vector<TenonValue> values(const std::vector<void*>& pointers) {
    std::vector<TenonValue> values(4);
    for (std::size_t n = 0; n < 3; ++n) values[n].p = pointers[n];
    values[3].i = 0;
    return values;
  }
};

std::string refusal(const std::function<void()>& run) {
  try {
    run();
  } catch (const RuntimeError& error) {
    return error.what();
  }
  return "";
}

TEST_F(RuntimeOnStandIn, CopiesArraysWithoutAFault) {
  EXPECT_EQ(cuda(2).why_missing(), "cuda(2) does not exist: there are 2 devices of this kind");
  const NDArray host = NDArray::random({33, 7}, Float(32));
  const NDArray there = host.copy_to(cuda(0)), elsewhere = there.copy_to(cuda(1));
  const NDArray back = elsewhere.copy_to(cpu(0));
  for (int n = 0; n < 33 * 7; ++n) EXPECT_EQ(back.data<float>()[n], host.data<float>()[n]);
  EXPECT_EQ(NDArray::empty({0, 4}, Float(32), cuda(0)).copy_to(cpu(0)).shape(),
            (std::vector<std::int64_t>{0, 4}));
  EXPECT_EQ(faults(), "");
}

TEST_F(RuntimeOnStandIn, UsesStreamsAndTimersWithoutAFault) {
  const auto kernels = load_add();
  const auto address = [](Address place) { return reinterpret_cast<void*>(place); };
  const runtime::Stream first(cuda(0)), second(cuda(0));
  {
    const runtime::UseStream use(first);
    kernels->launch(0, values({address(a), address(b), address(c)}), {{1, 1, 1}, {64, 1, 1}, 0});
  }
  second.wait_for(first);
  {
    const runtime::UseStream use(second);
    const double seconds = api().seconds_of(0, [&] {
      kernels->launch(0, values({address(c), address(b), address(a)}),
                      {{1, 1, 1}, {64, 1, 1}, 100 * 1024});
    });
    EXPECT_GE(seconds, 0);
  }
  first.synchronize();
  runtime::synchronize(cuda(0));
  EXPECT_EQ(faults(), "");
}

TEST_F(RuntimeOnStandIn, RunsABuiltModuleWithoutAFault) {
  if (!has_compiler()) GTEST_SKIP() << "libnvrtc.so is not here";
  {
    const Add add(1024);
    const runtime::Module module = add.build_for("cuda -arch=sm_90");
    const NDArray x = NDArray::random({1024}, Float(32), cuda(0));
    const NDArray y = NDArray::empty({1024}, Float(32), cuda(0));
    module["add"](x, x, y);
    y.copy_to(cpu(0));
    // On another thread, which has no current context yet.
    std::thread([&] { module["add"](y, x, NDArray::empty({1024}, Float(32), cuda(0))); }).join();
  }
  EXPECT_EQ(faults(), "");
}

TEST_F(RuntimeOnStandIn, LoadsPtxWhereTheMachineCodeIsForAnotherArchitecture) {
  if (!has_compiler()) GTEST_SKIP() << "libnvrtc.so is not here";
  const Add add(1024);
  const NDArray x = NDArray::random({1024}, Float(32), cuda(0));
  const NDArray y = NDArray::empty({1024}, Float(32), cuda(0));
  add.build_for("cuda -arch=sm_80")["add"](x, x, y);
  EXPECT_EQ(faults("refused"),
            "cuModuleLoadData: the machine code is for sm_80, the device is sm_90 "
            "[CUDA_ERROR_NO_BINARY_FOR_GPU]\n");
  add.build_for("cuda -arch=sm_90a")["add"](x, x, y);
  EXPECT_EQ(faults(), "");
}

TEST_F(RuntimeOnStandIn, IsRefusedCodeForALaterArchitecture) {
  if (!has_compiler()) GTEST_SKIP() << "libnvrtc.so is not here";
  const Add add(1024);
  const NDArray x = NDArray::random({1024}, Float(32), cuda(0));
  const NDArray y = NDArray::empty({1024}, Float(32), cuda(0));
  EXPECT_NE(refusal([&] {
              add.build_for("cuda -arch=sm_100")["add"](x, x, y);
            }).find("CUDA: loading kernels failed"),
            std::string::npos);
  EXPECT_EQ(faults(),
            "cuModuleLoadData: the PTX is for sm_100, the device is sm_90 "
            "[CUDA_ERROR_INVALID_PTX]\n");
}

/// 8 KiB that a kernel has of its own count.
TEST_F(RuntimeOnStandIn, AsksForMoreSharedMemoryThanABlockHasUnasked) {
  const auto kernels = load_add();
  const auto arguments =
      values({reinterpret_cast<void*>(a), reinterpret_cast<void*>(b), reinterpret_cast<void*>(c)});
  for (const std::size_t bytes : {std::size_t{44} << 10, std::size_t{40} << 10})
    kernels->launch(0, arguments, {{1, 1, 1}, {64, 1, 1}, bytes});
  EXPECT_EQ(faults(), "");
  EXPECT_EQ(refusal([&] {
              kernels->launch(0, arguments, {{1, 1, 1}, {64, 1, 1}, std::size_t{1} << 32});
            }),
            "CUDA: launching the kernel `add` with 4294967296 bytes of shared memory, more than a "
            "device has");
  kernels->launch(0, arguments, {{1, 1, 1}, {64, 1, 1}, std::size_t{50} << 10});
  EXPECT_EQ(faults(), "");
}

TEST_F(RuntimeOnStandIn, IsRefusedExtentsThatNoDeviceHas) {
  const auto kernels = load_add();
  const auto arguments =
      values({reinterpret_cast<void*>(a), reinterpret_cast<void*>(b), reinterpret_cast<void*>(c)});
  const auto run = [&](const runtime::LaunchSize& size) {
    return refusal([&] { kernels->launch(0, arguments, size); });
  };
  EXPECT_EQ(run({{1, 65535, 1}, {256, 1, 1}, 0}), "");
  EXPECT_EQ(faults(), "");
  EXPECT_EQ(run({{1, 65536, 1}, {256, 1, 1}, 0}),
            "CUDA: launching the kernel `add` failed: invalid argument");
  EXPECT_EQ(faults(),
            "cuLaunchKernel: kernel `add`: gridDim.y is 65536, at most 65535 is possible "
            "[CUDA_ERROR_INVALID_VALUE]\n");
  EXPECT_EQ(run({{1, 1, 1}, {512, 1, 1}, 0}),
            "CUDA: launching the kernel `add` failed: too many resources requested for launch");
  EXPECT_EQ(faults(),
            "cuLaunchKernel: kernel `add`: a block of 512 threads, the kernel was compiled for at "
            "most 256 [CUDA_ERROR_LAUNCH_OUT_OF_RESOURCES]\n");
  EXPECT_EQ(run({{1, 1, 1}, {64, 1, 1}, 300 * 1024}),
            "CUDA: asking for dynamic shared memory failed: invalid argument");
  EXPECT_EQ(faults(),
            "cuFuncSetAttribute: a block has at most 232448 bytes of shared memory, and the kernel "
            "`add` has 8192 bytes of static [CUDA_ERROR_INVALID_VALUE]\n");
}

TEST_F(RuntimeOnStandIn, IsRefusedMemoryThatIsGone) {
  const auto kernels = load_add();
  void* gone = nullptr;
  {
    const NDArray array = NDArray::empty({1024}, Float(32), cuda(0));
    gone = array.dl_tensor().data;
    kernels->launch(0, values({gone, gone, reinterpret_cast<void*>(c)}),
                    {{1, 1, 1}, {64, 1, 1}, 0});
  }
  EXPECT_EQ(faults(), "");
  EXPECT_EQ(refusal([&] {
              kernels->launch(0, values({gone, gone, reinterpret_cast<void*>(c)}),
                              {{1, 1, 1}, {64, 1, 1}, 0});
            }),
            "CUDA: launching the kernel `add` failed: an illegal memory access was encountered");
  EXPECT_EQ(faults(),
            "cuLaunchKernel: kernel `add`: parameter 0 # lies in memory of 4096 bytes at #, which "
            "was freed [CUDA_ERROR_ILLEGAL_ADDRESS]\n");
}

TEST_F(RuntimeOnStandIn, IsReportedWhereItsStreamsDoNotWait) {
  const auto kernels = load_add();
  const runtime::Stream first(cuda(0)), second(cuda(0));
  const NDArray array = NDArray::empty({1024}, Float(32), cuda(0));
  {
    const runtime::UseStream use(first);
    kernels->launch(
        0, values({reinterpret_cast<void*>(a), reinterpret_cast<void*>(b), array.dl_tensor().data}),
        {{1, 1, 1}, {64, 1, 1}, 0});
  }
  const runtime::UseStream use(second);
  EXPECT_EQ(refusal([&] { array.copy_to(cpu(0)); }), "CUDA: copying failed: invalid argument");
  EXPECT_EQ(faults(),
            "cuMemcpyAsync: wrong stream order: the source at # may be in use by the kernel `add` "
            "in another stream, which nothing in this stream waits for "
            "[CUDA_ERROR_INVALID_VALUE]\n");
  second.wait_for(first);
  EXPECT_EQ(refusal([&] { array.copy_to(cpu(0)); }), "");
  EXPECT_EQ(faults(), "");
}

}  // namespace
}  // namespace tenon::testing
