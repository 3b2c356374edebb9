#include <cstdlib>
#include <cstring>
#include <string>

#include "runtime/core/memory.h"
#include "runtime/devices/device_apis.h"
#include "tenon/support/error.h"

namespace tenon::runtime {

namespace {

class CpuApi : public DeviceApi {
 public:
  int device_count() override { return 1; }
  std::string device_name(int) override { return "this machine's processors"; }

  void* allocate(int, std::uint64_t nbytes, std::uint64_t alignment) override {
    void* data = allocate_aligned(nbytes, alignment);
    if (data == nullptr) throw RuntimeError("no memory for " + std::to_string(nbytes) + " bytes");
    return data;
  }
  void release(int, void* data) noexcept override { std::free(data); }

  void copy(const DLTensor& from, const DLTensor& to, std::uint64_t nbytes) override {
    std::memmove(static_cast<char*>(to.data) + to.byte_offset,
                 static_cast<const char*>(from.data) + from.byte_offset, nbytes);
  }
  void synchronize(int) override {}
};

}  // namespace

std::unique_ptr<DeviceApi> make_cpu_api() { return std::make_unique<CpuApi>(); }

}  // namespace tenon::runtime
