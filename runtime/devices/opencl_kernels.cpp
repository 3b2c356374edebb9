#include "runtime/devices/opencl_kernels.h"

#include <algorithm>
#include <mutex>
#include <vector>

#include "tenon/support/error.h"

namespace tenon::runtime::opencl_driver {

namespace {

/// A scalar argument. Its bytes are at the start.
union ScalarBytes {
  std::int64_t integer;
  float single;
  double real;
};

ScalarBytes bytes_of(const TenonValue& value, DataType type) {
  if (type == Float(32)) return {.single = static_cast<float>(value.f)};
  if (type == Float(64)) return {.real = value.f};
  return {.integer = value.i};  // on a little-endian host, the first bytes are the lowest
}

class OpenClKernels : public LoadedKernels {
 public:
  OpenClKernels(const Driver& driver, Context context, DeviceId device, QueueOfThread queue,
                const KernelImage& image)
      : driver_(driver),
        device_(device),
        queue_(queue),
        specs_(image.kernels.begin(), image.kernels.end()) {
    try {
      check_extensions(image.source);
      build(context, device, image.source);
      for (const KernelSpec& spec : specs_) {
        Result result = 0;
        kernels_.push_back(driver_.create_kernel(program_, spec.name.c_str(), &result));
        check(result, "making the kernel `" + spec.name + "`");
      }
    } catch (...) {
      release();
      throw;
    }
  }
  ~OpenClKernels() override { release(); }

  void launch(std::size_t kernel, std::span<const TenonValue> args,
              const LaunchSize& size) override {
    const KernelSpec& spec = specs_[kernel];
    // The arguments are state of the kernel object until the launch is queued.
    const std::lock_guard lock(mutex_);
    Kernel handle = kernels_[kernel];
    std::uint32_t position = 0;
    const auto set = [&](std::size_t bytes, const void* data) {
      check(driver_.set_argument(handle, position, bytes, data),
            "setting argument " + std::to_string(position + 1) + " of kernel `" + spec.name + "`");
      ++position;
    };
    for (std::size_t n = 0; n < args.size(); ++n) {
      const DataType type = spec.params[n];
      const ScalarBytes bytes = bytes_of(args[n], type);
      if (type.is_handle()) {
        set(sizeof(Memory), &args[n].p);
      } else {
        set(static_cast<std::size_t>(type.bytes()), &bytes);
      }
    }
    if (spec.has_dynamic_shared) set(std::max<std::size_t>(size.dynamic_shared_bytes, 1), nullptr);
    std::size_t all[3];
    for (int d = 0; d < 3; ++d) all[d] = size.blocks[d] * size.threads[d];
    if (spec.subgroup_size > 0) check_subgroups(handle, spec, size);
    check(driver_.launch(queue_(), handle, 3, nullptr, all, size.threads, 0, nullptr, nullptr),
          "launching the kernel `" + spec.name + "` with blocks of " +
              std::to_string(size.threads[0]) + " x " + std::to_string(size.threads[1]) + " x " +
              std::to_string(size.threads[2]) + " threads");
  }

 private:
  /// The source declares the extensions that it needs in its first lines.
  void check_extensions(std::string_view source) const {
    constexpr std::string_view kBefore = "#pragma OPENCL EXTENSION ";
    const std::string there = " " + text_of(driver_, device_, kDeviceExtensions) + " ";
    for (std::size_t at = source.find(kBefore); at != std::string_view::npos;
         at = source.find(kBefore, at + 1)) {
      const std::size_t begin = at + kBefore.size();
      const std::string name(source.substr(begin, source.find(' ', begin) - begin));
      if (there.find(" " + name + " ") == std::string::npos)
        throw RuntimeError("OpenCL: these kernels need the extension " + name + ", which `" +
                           text_of(driver_, device_, kDeviceName) + "` does not have");
    }
  }

  void check_subgroups(Kernel kernel, const KernelSpec& spec, const LaunchSize& size) const {
    std::size_t threads = 0;
    Result result = 0;
    if (driver_.get_subgroups != nullptr)
      result = driver_.get_subgroups(kernel, device_, kSubgroupSizeOfLaunch, sizeof(size.threads),
                                     size.threads, sizeof(threads), &threads, nullptr);
    check(result, "asking for the size of sub-groups");
    if (threads != static_cast<std::size_t>(spec.subgroup_size))
      throw RuntimeError("OpenCL: the kernel `" + spec.name + "` requires sub-groups of " +
                         std::to_string(spec.subgroup_size) + " threads; those of `" +
                         text_of(driver_, device_, kDeviceName) + "` have " +
                         std::to_string(threads) + " (target key -subgroup-size)");
  }

  /// Sub-groups require OpenCL 2.
  std::string language(std::string_view source) const {
    if (source.find("cl_khr_subgroup") == std::string_view::npos) return "-cl-std=CL1.2";
    const std::string version = text_of(driver_, device_, kDeviceVersion);
    return version.starts_with("OpenCL 3") ? "-cl-std=CL3.0" : "-cl-std=CL2.0";
  }

  void build(Context context, DeviceId device, std::string_view source) {
    const char* text = source.data();
    const std::size_t length = source.size();
    Result result = 0;
    program_ = driver_.create_program(context, 1, &text, &length, &result);
    check(result, "making a program");
    // Requests correctly rounded divisions and square roots, as on other targets, if the device
    // supports them.
    Bits floats = 0;
    driver_.get_device_info(device, kSingleFloatConfig, sizeof(floats), &floats, nullptr);
    std::string options = language(source);
    if ((floats & kRoundsDivisions) != 0) options += " -cl-fp32-correctly-rounded-divide-sqrt";
    result = driver_.build_program(program_, 1, &device, options.c_str(), nullptr, nullptr);
    if (result == 0) return;
    std::size_t size = 0;
    driver_.get_build_info(program_, device, kBuildLog, 0, nullptr, &size);
    std::string log(size, '\0');
    driver_.get_build_info(program_, device, kBuildLog, size, log.data(), nullptr);
    throw RuntimeError("OpenCL: compiling kernels failed with error " + std::to_string(result) +
                       ":\n" + std::string(log.c_str()));
  }

  void release() {
    for (Kernel kernel : kernels_)
      if (kernel != nullptr) driver_.release_kernel(kernel);
    if (program_ != nullptr) driver_.release_program(program_);
  }

  const Driver& driver_;
  DeviceId device_;
  QueueOfThread queue_;
  std::vector<KernelSpec> specs_;
  Program program_ = nullptr;
  std::vector<Kernel> kernels_;
  std::mutex mutex_;
};

}  // namespace

std::unique_ptr<LoadedKernels> load_opencl_kernels(const Driver& driver, Context context,
                                                   DeviceId device, QueueOfThread queue,
                                                   const KernelImage& image) {
  return std::make_unique<OpenClKernels>(driver, context, device, queue, image);
}

}  // namespace tenon::runtime::opencl_driver
