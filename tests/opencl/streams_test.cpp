// Streams: what a thread starts in one runs in order, and others are waited for where that is said.
#include <tenon/runtime/c_api.h>

#include <thread>

#include "add_one.h"

namespace tenon::testing {
namespace {

using runtime::NDArray;
using runtime::Stream;
using runtime::UseStream;

constexpr int kCount = 4096;

/// B = the sum of A 2,000 times over: long enough that a copy which does not wait comes too early.
struct Slow {
  te::Tensor A = te::placeholder({kCount}, "A", Int(32)), B;
  runtime::Module module;

  Slow()
      : B(make(A)), module([&] {
          te::Schedule s = te::create_schedule(B);
          auto [block, thread] = s[B].split(s[B].axis(0), 64);
          s[B].bind(block, te::thread_axis("blockIdx.x"));
          s[B].bind(thread, te::thread_axis("threadIdx.x"));
          return build(s, {A, B}, Target("opencl"), {.name = "slow"});
        }()) {}

  static te::Tensor make(const te::Tensor& A) {
    const te::IterVar k = te::reduce_axis({0, 2000}, "k");
    return te::compute(
        {kCount}, {"i"}, [&](Var i) { return te::sum(A(floormod(i + k * 7, kCount)), {k}); }, "B");
  }

  void start_in(const Stream& stream, const NDArray& a, const NDArray& b) const {
    const UseStream use(stream);
    module["slow"](a, b);
  }

  static NDArray filled(int value) {
    const std::vector<std::int32_t> values(kCount, value);
    return NDArray::from(std::span<const std::int32_t>(values), {kCount}).copy_to(opencl(0));
  }
  static NDArray empty() { return filled(0); }
  static std::vector<std::int32_t> expected(int value, int times) {
    unsigned result = static_cast<unsigned>(value);
    for (int n = 0; n < times; ++n) result *= 2000;
    return std::vector<std::int32_t>(kCount, static_cast<std::int32_t>(result));
  }
};

class Streams : public OpenCl {};

TEST_F(Streams, RunWhatIsStartedInThemInOrder) {
  const Slow p;
  const Stream stream(opencl(0));
  const UseStream use(stream);
  const NDArray a = Slow::filled(3), b = Slow::empty(), c = Slow::empty();
  p.module["slow"](a, b);
  p.module["slow"](b, c);
  p.module["slow"](c, b);
  EXPECT_EQ(b.to_vector<std::int32_t>(), Slow::expected(3, 3));
}

TEST_F(Streams, AreDoneWhenSynchronizeReturns) {
  const Slow p;
  const Stream stream(opencl(0));
  const NDArray a = Slow::filled(5), b = Slow::empty();
  p.start_in(stream, a, b);
  stream.synchronize();
  // Read in the device's own stream, which waits for nothing in the other.
  EXPECT_EQ(b.to_vector<std::int32_t>(), Slow::expected(5, 1));
}

TEST_F(Streams, WaitForOthersWhereThatIsSaid) {
  const Slow p;
  const Stream first(opencl(0)), second(opencl(0));
  const NDArray a = Slow::filled(7), b = Slow::empty(), c = Slow::empty();
  p.start_in(first, a, b);
  second.wait_for(first);
  p.start_in(second, b, c);
  second.synchronize();
  EXPECT_EQ(c.to_vector<std::int32_t>(), Slow::expected(7, 2));
}

TEST_F(Streams, OfOneDeviceAreAllDoneWhenThatIsSynchronized) {
  const Slow p;
  const Stream first(opencl(0)), second(opencl(0));
  const NDArray a = Slow::filled(2), b = Slow::empty(), c = Slow::empty();
  p.start_in(first, a, b);
  p.start_in(second, a, c);
  runtime::synchronize(opencl(0));
  EXPECT_EQ(b.to_vector<std::int32_t>(), Slow::expected(2, 1));
  EXPECT_EQ(c.to_vector<std::int32_t>(), Slow::expected(2, 1));
}

TEST_F(Streams, AreSetForTheCallingThreadAndItsScope) {
  EXPECT_FALSE(runtime::current_stream(opencl(0)));
  const Stream outer(opencl(0)), inner(opencl(0));
  {
    const UseStream use(outer);
    {
      const UseStream again(inner);
      EXPECT_EQ(runtime::current_stream(opencl(0)), inner);
    }
    EXPECT_EQ(runtime::current_stream(opencl(0)), outer);
    std::thread([] { EXPECT_FALSE(runtime::current_stream(opencl(0))); }).join();
  }
  EXPECT_FALSE(runtime::current_stream(opencl(0)));
}

TEST_F(Streams, OfSeveralThreadsCompute) {
  const Slow p;
  std::vector<std::thread> threads;
  for (int n = 1; n <= 3; ++n)
    threads.emplace_back([&p, n] {
      const Stream stream(opencl(0));
      const UseStream use(stream);
      const NDArray a = Slow::filled(n), b = Slow::empty();
      p.module["slow"](a, b);
      EXPECT_EQ(b.to_vector<std::int32_t>(), Slow::expected(n, 1));
    });
  for (std::thread& thread : threads) thread.join();
}

TEST_F(Streams, AreTimedByThemselves) {
  const Slow p;
  const Stream stream(opencl(0));
  const UseStream use(stream);
  const NDArray a = Slow::filled(1), b = Slow::empty();
  EXPECT_GT(p.module["slow"].time_evaluator(opencl(0), {.number = 2})(a, b).mean, 0);
}

std::string refusal(const std::function<void()>& run) {
  try {
    run();
  } catch (const RuntimeError& error) {
    return error.what();
  }
  return "nothing is refused";
}

TEST(StreamErrors, ACpuHasNone) {
  const std::string text = refusal([] { Stream(cpu(0)); });
  EXPECT_TRUE(text.starts_with(
      "this kind of device has no streams; a call on it is complete when it returns"))
      << text;
  EXPECT_NE(text.find("streams_test.cpp"), std::string::npos) << text;
}

TEST(StreamErrors, ACProgramGivesAPlaceForTheHandle) {
  EXPECT_NE(tenon_stream_create(kDLOpenCL, 0, nullptr), kTenonOk);
  EXPECT_STREQ(tenon_last_error(), "tenon_stream_create is given no place to put the stream: NULL");
}

TEST_F(Streams, OfADeviceThatDoesNotExistAreRefused) {
  const std::string text = refusal([] { Stream(opencl(100)); });
  EXPECT_TRUE(text.starts_with(
      "a stream of opencl(100) cannot be made: opencl(100) does not exist: there "))
      << text;
}

TEST_F(Streams, BelongToTheirDevice) {
  const Stream stream(opencl(0));
  EXPECT_EQ(refusal([&] { runtime::set_stream(opencl(1), stream); }),
            "a stream of opencl(0) does not belong to opencl(1)");
}

TEST_F(Streams, AreThereForCPrograms) {
  const Slow p;
  const NDArray a = Slow::filled(4), b = Slow::empty(), c = Slow::empty();
  TenonStream first = nullptr, second = nullptr;
  ASSERT_EQ(tenon_stream_create(kDLOpenCL, 0, &first), kTenonOk) << tenon_last_error();
  ASSERT_EQ(tenon_stream_create(kDLOpenCL, 0, &second), kTenonOk) << tenon_last_error();
  ASSERT_EQ(tenon_set_stream(kDLOpenCL, 0, first), kTenonOk) << tenon_last_error();
  p.module["slow"](a, b);
  ASSERT_EQ(tenon_set_stream(kDLOpenCL, 0, second), kTenonOk) << tenon_last_error();
  ASSERT_EQ(tenon_stream_wait(second, first), kTenonOk) << tenon_last_error();
  p.module["slow"](b, c);
  // The thread goes on with a stream that is freed.
  ASSERT_EQ(tenon_stream_free(second), kTenonOk) << tenon_last_error();
  EXPECT_EQ(c.to_vector<std::int32_t>(), Slow::expected(4, 2));
  ASSERT_EQ(tenon_set_stream(kDLOpenCL, 0, nullptr), kTenonOk) << tenon_last_error();
  ASSERT_EQ(tenon_synchronize(kDLOpenCL, 0, first), kTenonOk) << tenon_last_error();
  ASSERT_EQ(tenon_stream_free(first), kTenonOk) << tenon_last_error();
  EXPECT_NE(tenon_set_stream(kDLOpenCL, 0, first), kTenonOk);
  EXPECT_STREQ(tenon_last_error(), "the stream does not exist; it was freed or never created");
  EXPECT_EQ(tenon_synchronize(kDLOpenCL, 0, nullptr), kTenonOk) << tenon_last_error();
}

}  // namespace
}  // namespace tenon::testing
