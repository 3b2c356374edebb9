// OpenCL's driver, loaded at run time: no OpenCL header or library is needed to build. The
// declarations follow version 1.2 of the specification.
#pragma once

#include <cstdint>
#include <string>

#include "runtime/core/dynamic_library.h"

namespace tenon::runtime::opencl_driver {

using Result = std::int32_t;
using Platform = void*;
using DeviceId = void*;
using Context = void*;
using Queue = void*;
using Memory = void*;
using Program = void*;
using Kernel = void*;
using Event = void*;
using Bits = std::uint64_t;

constexpr Bits kAnyDevice = 0xFFFFFFFF;
constexpr std::uint32_t kDeviceName = 0x102B;
constexpr std::uint32_t kDeviceVersion = 0x102F;
constexpr std::uint32_t kDeviceExtensions = 0x1030;
constexpr std::uint32_t kSubgroupSizeOfLaunch = 0x2033;
constexpr std::uint32_t kSingleFloatConfig = 0x101B;
constexpr Bits kRoundsDivisions = 1 << 7;
constexpr std::uint32_t kBuildLog = 0x1183;
constexpr Bits kReadWrite = 1;
constexpr std::uint32_t kBlocking = 1;
constexpr Bits kTakesTimes = 1 << 1;
constexpr std::uint32_t kEndOfCommand = 0x1283;
constexpr Result kDeviceNotFound = -1;
constexpr Result kPlatformNotFound = -1001;

struct Driver {
  DynamicLibrary library{"libOpenCL.so.1", DynamicLibrary::Lifetime::OfTheProcess};

  using GetPlatformIds = Result(std::uint32_t, Platform*, std::uint32_t*);
  GetPlatformIds* get_platform_ids = library.function<GetPlatformIds>("clGetPlatformIDs");
  using GetDeviceIds = Result(Platform, Bits, std::uint32_t, DeviceId*, std::uint32_t*);
  GetDeviceIds* get_device_ids = library.function<GetDeviceIds>("clGetDeviceIDs");
  using GetDeviceInfo = Result(DeviceId, std::uint32_t, std::size_t, void*, std::size_t*);
  GetDeviceInfo* get_device_info = library.function<GetDeviceInfo>("clGetDeviceInfo");
  using CreateContext = Context(const std::intptr_t*, std::uint32_t, const DeviceId*, void*, void*,
                                Result*);
  CreateContext* create_context = library.function<CreateContext>("clCreateContext");
  using CreateQueue = Queue(Context, DeviceId, Bits, Result*);
  CreateQueue* create_queue = library.function<CreateQueue>("clCreateCommandQueue");
  using ReleaseQueue = Result(Queue);
  ReleaseQueue* release_queue = library.function<ReleaseQueue>("clReleaseCommandQueue");
  ReleaseQueue* retain_queue = library.function<ReleaseQueue>("clRetainCommandQueue");
  using Flush = Result(Queue);
  Flush* flush = library.function<Flush>("clFlush");
  using CreateBuffer = Memory(Context, Bits, std::size_t, void*, Result*);
  CreateBuffer* create_buffer = library.function<CreateBuffer>("clCreateBuffer");
  using ReleaseMemory = Result(Memory);
  ReleaseMemory* release_memory = library.function<ReleaseMemory>("clReleaseMemObject");
  using Read = Result(Queue, Memory, std::uint32_t, std::size_t, std::size_t, void*, std::uint32_t,
                      const void*, void*);
  Read* read = library.function<Read>("clEnqueueReadBuffer");
  using Write = Result(Queue, Memory, std::uint32_t, std::size_t, std::size_t, const void*,
                       std::uint32_t, const void*, void*);
  Write* write = library.function<Write>("clEnqueueWriteBuffer");
  using Copy = Result(Queue, Memory, Memory, std::size_t, std::size_t, std::size_t, std::uint32_t,
                      const void*, void*);
  Copy* copy = library.function<Copy>("clEnqueueCopyBuffer");
  using Finish = Result(Queue);
  Finish* finish = library.function<Finish>("clFinish");
  using CreateProgram = Program(Context, std::uint32_t, const char* const*, const std::size_t*,
                                Result*);
  CreateProgram* create_program = library.function<CreateProgram>("clCreateProgramWithSource");
  using BuildProgram = Result(Program, std::uint32_t, const DeviceId*, const char*, void*, void*);
  BuildProgram* build_program = library.function<BuildProgram>("clBuildProgram");
  using GetBuildInfo = Result(Program, DeviceId, std::uint32_t, std::size_t, void*, std::size_t*);
  GetBuildInfo* get_build_info = library.function<GetBuildInfo>("clGetProgramBuildInfo");
  using ReleaseProgram = Result(Program);
  ReleaseProgram* release_program = library.function<ReleaseProgram>("clReleaseProgram");
  using CreateKernel = Kernel(Program, const char*, Result*);
  CreateKernel* create_kernel = library.function<CreateKernel>("clCreateKernel");
  using ReleaseKernel = Result(Kernel);
  ReleaseKernel* release_kernel = library.function<ReleaseKernel>("clReleaseKernel");
  using SetArgument = Result(Kernel, std::uint32_t, std::size_t, const void*);
  SetArgument* set_argument = library.function<SetArgument>("clSetKernelArg");
  using Launch = Result(Queue, Kernel, std::uint32_t, const std::size_t*, const std::size_t*,
                        const std::size_t*, std::uint32_t, const void*, void*);
  Launch* launch = library.function<Launch>("clEnqueueNDRangeKernel");
  using EnqueueMarker = Result(Queue, std::uint32_t, const Event*, Event*);
  EnqueueMarker* enqueue_marker = library.function<EnqueueMarker>("clEnqueueMarkerWithWaitList");
  EnqueueMarker* enqueue_barrier = library.function<EnqueueMarker>("clEnqueueBarrierWithWaitList");
  using GetSubgroups = Result(Kernel, DeviceId, std::uint32_t, std::size_t, const void*,
                              std::size_t, void*, std::size_t*);
  /// Null before OpenCL 2.1.
  GetSubgroups* get_subgroups =
      reinterpret_cast<GetSubgroups*>(library.find("clGetKernelSubGroupInfo"));
  using GetTimes = Result(Event, std::uint32_t, std::size_t, void*, std::size_t*);
  GetTimes* get_times = library.function<GetTimes>("clGetEventProfilingInfo");
  using ReleaseEvent = Result(Event);
  ReleaseEvent* release_event = library.function<ReleaseEvent>("clReleaseEvent");
};

/// Throws RuntimeError with the failed operation and the meaning of the result.
void check(Result result, const std::string& what);
/// Returns a text property of a device.
std::string text_of(const Driver& driver, DeviceId device, std::uint32_t what);

}  // namespace tenon::runtime::opencl_driver
