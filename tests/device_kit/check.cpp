#include "tests/device_kit/check.h"

#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <cmath>
#include <cstdio>
#include <cstring>
#include <map>
#include <set>

#include "tenon/runtime/device_api.h"
#include "tenon/runtime/module.h"
#include "tests/device_kit/case_file.h"
#include "tests/device_kit/elements.h"
#include "tests/device_kit/results.h"

namespace tenon::device_kit {

namespace {

using runtime::NDArray;
using Clock = std::chrono::steady_clock;

constexpr int kNoDevice = 3;
/// Time limits of a case. OpenCL drivers compile its kernels within it, unrolled loops for minutes.
constexpr unsigned kTimeoutSeconds = 20, kOpenClTimeoutSeconds = 300;
/// Guard bytes after an array.
constexpr std::size_t kGuard = 256;

double since(Clock::time_point start) {
  return std::chrono::duration<double>(Clock::now() - start).count();
}

std::byte guard_byte(std::size_t n) { return std::byte(static_cast<unsigned char>(n * 37 + 11)); }

/// An array on the device, followed by guard bytes.
class Array {
 public:
  Array(const CaseArgument& argument, const std::vector<std::byte>& bytes, Device device)
      : argument_(argument), type_(DataType::parse(argument.dtype)), device_(device) {
    const auto* first = bytes.data() + argument.offset;
    const auto size = static_cast<std::size_t>(argument.bytes);
    here_.assign(first, first + size);
    expected_.assign(first + size, first + 2 * size);
    for (std::size_t n = 0; n < kGuard; ++n) here_.push_back(guard_byte(n));
    tensor_ = {.data = api().allocate(device.id, here_.size(), 0),
               .device = {static_cast<DLDeviceType>(device.type), device.id},
               .ndim = static_cast<std::int32_t>(argument.shape.size()),
               .dtype = runtime::to_dlpack(type_),
               .shape = const_cast<std::int64_t*>(argument.shape.data()),
               .strides = argument.strides.empty()
                              ? nullptr
                              : const_cast<std::int64_t*>(argument.strides.data()),
               .byte_offset = 0};
    api().copy(here(), tensor_, here_.size());
  }
  Array(const Array&) = delete;
  Array& operator=(const Array&) = delete;
  ~Array() { api().release(device_.id, tensor_.data); }

  const DLTensor* tensor() const { return &tensor_; }

  std::string difference(const CaseSpec& spec, bool compare_numbers) {
    api().copy(tensor_, here(), here_.size());
    for (std::size_t n = 0; n < kGuard; ++n)
      if (here_[expected_.size() + n] != guard_byte(n))
        return argument_.name + ": written " + std::to_string(n) + " bytes past its end";
    if (!compare_numbers) return "";
    const DataType element = type_.element();
    const auto size = static_cast<std::size_t>(element.bytes());
    for (std::size_t n = 0; n * size < expected_.size(); ++n) {
      const std::byte *right = &expected_[n * size], *found = &here_[n * size];
      if (!same(right, found, element, spec.tolerance, spec.zeros_alike))
        return argument_.name + "[" + std::to_string(n) + "]: expected " + text(right, element) +
               ", got " + text(found, element);
    }
    return "";
  }

 private:
  runtime::DeviceApi& api() const { return runtime::device_api(device_.type); }
  /// Returns the array on the host.
  DLTensor here() {
    DLTensor tensor = tensor_;
    tensor.data = here_.data();
    tensor.device = {kDLCPU, 0};
    return tensor;
  }

  const CaseArgument& argument_;
  DataType type_;
  Device device_;
  std::vector<std::byte> here_, expected_;
  DLTensor tensor_ = {};
};

struct Item {
  std::string name, group;
};

std::vector<Item> items(const CheckOptions& options) {
  std::vector<Item> all;
  const auto add = [&](const std::string& name, const std::string& group) {
    const bool is_chosen = (options.groups.empty() || options.groups.contains(group)) &&
                           name.find(options.only) != std::string::npos;
    if (is_chosen) all.push_back({name, group});
  };
  for (const std::string& name : runtime_checks()) add(name, "runtime");
  for (const std::string& name : tutorial_names(options.kernels)) add(name, "tutorials");
  for (const std::string& name : case_names(options.kernels))
    add(name, read_case(options.kernels, name).group);
  return all;
}

/// Runs in the child process. Exits after an error, which may have broken the device's context.
void run_items(const CheckOptions& options, const std::vector<Item>& pending, Results& results) {
  for (const Item& item : pending) {
    results.add({{"case", item.name}, {"group", item.group}, {"status", "started"}});
    alarm(options.device.type == DeviceType::Cuda ? kTimeoutSeconds : kOpenClTimeoutSeconds);
    const auto start = Clock::now();
    std::string status = "right", what;
    try {
      what = item.group == "runtime"     ? run_runtime_check(options, item.name)
             : item.group == "tutorials" ? run_tutorial(options, item.name)
                                         : run_case(options, item.name);
      if (!what.empty()) status = "wrong";
    } catch (const std::exception& error) {
      status = "error", what = error.what();
      // The checked refusal of a size that only the call, or only the device, knows.
      const bool is_too_large = what.find("; the target has at most ") != what.npos ||
                                what.find("` allows at most ") != what.npos;
      if (is_too_large) status = "skipped";
    }
    alarm(0);
    results.add({{"case", item.name},
                 {"group", item.group},
                 {"status", status},
                 {"seconds", since(start)},
                 {"what", what}});
    if (status == "error") _exit(0);
  }
  _exit(0);
}

}  // namespace

std::string run_case(const CheckOptions& options, const std::string& name) {
  const CaseSpec spec = read_case(options.kernels, name);
  const std::vector<std::byte> bytes = read_case_bytes(options.kernels, name);
  const runtime::Module module = runtime::Module::load(options.kernels + "/" + name + ".so");
  const runtime::Function function = module["main"];
  for (const CaseCall& call : spec.calls) {
    std::vector<std::unique_ptr<Array>> arrays;
    std::vector<runtime::Argument> args;
    for (const CaseArgument& argument : call.arguments) {
      if (argument.is_array) {
        arrays.push_back(std::make_unique<Array>(argument, bytes, options.device));
        args.emplace_back(arrays.back()->tensor());
      } else if (DataType::parse(argument.dtype).is_floating()) {
        args.emplace_back(argument.real);
      } else {
        args.emplace_back(argument.integer);
      }
    }
    function.call(args);
    runtime::device_api(options.device.type).synchronize(options.device.id);
    for (const auto& array : arrays)
      if (std::string wrong = array->difference(spec, options.numbers); !wrong.empty())
        return wrong;
  }
  return "";
}

int check(const CheckOptions& options) {
  const auto start = Clock::now();
  const std::vector<Item> all = items(options);
  for (bool is_first = true;; is_first = false) {
    Results results(options.results);
    std::map<std::string, std::string> status;
    std::map<std::string, int> starts;
    for (const nlohmann::json& line : results.lines()) {
      status[line["case"]] = line["status"];
      starts[line["case"]] += line["status"] == "started";
    }
    std::vector<Item> pending;
    for (const Item& item : all) {
      const auto found = status.find(item.name);
      const bool is_started = found != status.end() && found->second == "started";
      // An earlier run may have been killed in the middle of an innocent case, but hardly twice in
      // the same one.
      if (found == status.end() || (is_started && is_first && starts[item.name] == 1)) {
        pending.push_back(item);
      } else if (is_started) {
        results.add({{"case", item.name},
                     {"group", item.group},
                     {"status", "crashed"},
                     {"what", "the process ended in it"}});
        status[item.name] = "crashed";
      }
    }
    if (pending.empty() || since(start) > options.seconds) {
      const bool is_right = std::ranges::all_of(
          status, [](const auto& s) { return s.second == "right" || s.second == "skipped"; });
      return is_right && pending.empty() ? 0 : 1;
    }
    // The parent never loads the driver: its state does not survive a fork.
    const pid_t child = fork();
    if (child < 0) throw RuntimeError("no process can be started");
    if (child == 0) {
      prctl(PR_SET_PDEATHSIG, SIGKILL);
      if (std::string missing = options.device.why_missing(); !missing.empty()) {
        std::fprintf(stderr, "%s\n", missing.c_str());
        _exit(kNoDevice);
      }
      run_items(options, pending, results);
    }
    int ended = 0;
    while (waitpid(child, &ended, WNOHANG) != child) {
      if (since(start) > options.seconds) {
        kill(child, SIGKILL);
        waitpid(child, &ended, 0);
        return 1;
      }
      usleep(20'000);
    }
    if (WIFEXITED(ended) && WEXITSTATUS(ended) == kNoDevice) return kNoDevice;
  }
}

}  // namespace tenon::device_kit
