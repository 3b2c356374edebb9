// Checks of the runtime on a device: memory, copies, streams, timers and errors.
#include <array>
#include <functional>
#include <map>
#include <thread>

#include "tenon/runtime/device_api.h"
#include "tenon/runtime/module.h"
#include "tenon/runtime/stream.h"
#include "tests/device_kit/check.h"
#include "tests/device_kit/table_rows.h"

namespace tenon::device_kit {

namespace {

using runtime::NDArray;

constexpr std::int64_t kElements = kSmall;

/// C = A + B.
struct Sum {
  explicit Sum(const CheckOptions& options)
      : add(runtime::Module::load(options.kernels + "/table_add_small.so")["main"]),
        a(NDArray::full({kElements}, Float(32), 1, options.device)),
        b(NDArray::full({kElements}, Float(32), 2, options.device)),
        c(NDArray::zeros({kElements}, Float(32), options.device)) {}

  std::string wrong_unless(float expected) const {
    const std::vector<float> all = c.to_vector<float>();
    for (std::size_t n = 0; n < all.size(); ++n)
      if (all[n] != expected)
        return "element " + std::to_string(n) + " is " + std::to_string(all[n]) + ", not " +
               std::to_string(expected);
    return "";
  }

  runtime::Function add;
  NDArray a, b, c;
};

std::string copies(const CheckOptions& options) {
  for (const std::int64_t n :
       {std::int64_t{0}, std::int64_t{1}, std::int64_t{3}, (std::int64_t{1} << 20) + 1}) {
    const NDArray here = NDArray::random({n}, Int(8), {.seed = 1});
    const NDArray there = here.copy_to(options.device), again = there.copy_to(options.device);
    if (again.to_vector<std::int8_t>() != here.to_vector<std::int8_t>())
      return std::to_string(n) + " bytes came back as others";
  }
  const NDArray there =
      NDArray::from(std::array{1.0f, 2.0f, 3.0f, 4.0f}, {4}).copy_to(options.device);
  const NDArray part = there.view({2}, {1}, 8);
  NDArray::from(std::array{7.0f, 8.0f}, {2}).copy_to(part);
  if (there.to_vector<float>() != std::vector{1.0f, 2.0f, 7.0f, 8.0f})
    return "a copy to the middle of an array went elsewhere";
  return "";
}

std::string no_such_memory(const CheckOptions& options) {
  try {
    static_cast<void>(NDArray::empty({std::int64_t{1} << 44}, Int(8), options.device));
  } catch (const RuntimeError& error) {
    // The device is still usable.
    return copies(options);
  }
  return "16 TiB were given";
}

std::string launches(const CheckOptions& options) {
  const Sum sum(options);
  sum.add(sum.a, sum.b, sum.c);
  return options.numbers ? sum.wrong_unless(3) : "";
}

std::string arguments(const CheckOptions& options) {
  const Sum sum(options);
  const NDArray here = NDArray::zeros({kElements}, Float(32));
  try {
    sum.add(here, sum.b, sum.c);
  } catch (const RuntimeError&) {
    return "";
  }
  return "an array of the host was taken for one of the device";
}

/// Two streams take turns; each reads the result of the other.
std::string streams(const CheckOptions& options) {
  const Sum sum(options);
  const runtime::Stream first(options.device), second(options.device);
  runtime::synchronize(options.device);
  constexpr int kRounds = 20;
  for (int n = 0; n < kRounds; ++n) {
    {
      const runtime::UseStream use(first);
      sum.add(sum.a, sum.b, sum.c);
    }
    second.wait_for(first);
    {
      const runtime::UseStream use(second);
      sum.add(sum.c, sum.b, sum.a);
    }
    first.wait_for(second);
  }
  first.synchronize();
  // a grows by 4 per round, and c is a of the previous round plus 2.
  return options.numbers ? sum.wrong_unless(1 + 4 * (kRounds - 1) + 2) : "";
}

std::string copies_wait_for_their_stream(const CheckOptions& options) {
  const Sum sum(options);
  runtime::synchronize(options.device);
  const runtime::Stream stream(options.device);
  const runtime::UseStream use(stream);
  for (int n = 0; n < 20; ++n) sum.add(sum.a, sum.b, sum.c);
  return options.numbers ? sum.wrong_unless(3) : "";
}

std::string clock(const CheckOptions& options) {
  const Sum sum(options);
  const runtime::Timing timing =
      sum.add.time_evaluator(options.device, {.number = 20, .repeat = 5})(sum.a, sum.b, sum.c);
  const double most = options.device.type == DeviceType::Cuda ? 0.02 : 10;
  if (options.numbers && (timing.median < 1e-6 || timing.median > most))
    return "a sum of " + std::to_string(kElements) + " numbers took " +
           std::to_string(timing.median) + " s";
  return "";
}

std::string threads(const CheckOptions& options) {
  const runtime::Function add =
      runtime::Module::load(options.kernels + "/table_add_small.so")["main"];
  std::array<std::string, 4> wrong;
  std::vector<std::thread> all;
  for (std::size_t t = 0; t < wrong.size(); ++t)
    all.emplace_back([&, t] {
      try {
        const float own = static_cast<float>(t);
        const NDArray a = NDArray::full({kElements}, Float(32), own, options.device);
        const NDArray c = NDArray::zeros({kElements}, Float(32), options.device);
        const runtime::Stream stream(options.device);
        runtime::synchronize(options.device);
        const runtime::UseStream use(stream);
        for (int n = 0; n < 4; ++n) add(a, a, c);
        for (const float x : c.to_vector<float>())
          if (options.numbers && x != 2 * own) wrong[t] = "a thread found another one's numbers";
      } catch (const RuntimeError& error) {
        wrong[t] = error.what();
      }
    });
  for (std::thread& thread : all) thread.join();
  for (const std::string& what : wrong)
    if (!what.empty()) return what;
  return "";
}

std::string modules(const CheckOptions& options) {
  for (int n = 0; n < 30; ++n) {
    const Sum sum(options);
    sum.add(sum.a, sum.b, sum.c);
  }
  return launches(options);
}

const std::map<std::string, std::function<std::string(const CheckOptions&)>>& all() {
  static const std::map<std::string, std::function<std::string(const CheckOptions&)>> checks = {
      {"runtime_arguments", arguments},
      {"runtime_clock", clock},
      {"runtime_copies", copies},
      {"runtime_copies_wait_for_their_stream", copies_wait_for_their_stream},
      {"runtime_launches", launches},
      {"runtime_modules", modules},
      {"runtime_no_such_memory", no_such_memory},
      {"runtime_streams", streams},
      {"runtime_threads", threads}};
  return checks;
}

}  // namespace

std::vector<std::string> runtime_checks() {
  std::vector<std::string> names;
  for (const auto& [name, check] : all()) names.push_back(name);
  return names;
}

std::string run_runtime_check(const CheckOptions& options, const std::string& name) {
  return all().at(name)(options);
}

}  // namespace tenon::device_kit
