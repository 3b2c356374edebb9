// Functions as values: kept, copied, handed to other functions, made by them; and what is thrown
// inside.
#include <gtest/gtest.h>

#include <map>
#include <stdexcept>

#include "tenon/runtime/module_impl.h"
#include "tenon/runtime/spec.h"
#include "tests/runtime/errors.h"

namespace tenon::runtime {
namespace {

const ParamSpec kNumber = {"x", ScalarSpec{Int(64)}};
const ParamSpec kCell = {"cell",
                         ArraySpec{.dtype = Int(64), .shape = {}, .access = Access::ReadWrite}};

/// cell += amount * x.
Function adder(std::int64_t amount) {
  return Function(
      {.name = "add_" + std::to_string(amount), .symbol = "f", .params = {kCell, kNumber}},
      [amount](const TenonValue* args, auto...) -> std::int32_t {
        auto* cell = static_cast<std::int64_t*>(static_cast<DLTensor*>(args[0].p)->data);
        *cell += amount * args[1].i;
        return kTenonOk;
      });
}

/// Calls `inner` twice.
Function twice(Function inner) {
  return Function({.name = "twice", .symbol = "f", .params = {kCell, kNumber}},
                  [inner = std::move(inner)](const TenonValue* args, auto...) -> std::int32_t {
                    for (int n = 0; n < 2; ++n)
                      inner(static_cast<const DLTensor*>(args[0].p), args[1].i);
                    return kTenonOk;
                  });
}

struct FunctionValue : ::testing::Test {
  NDArray cell = NDArray::zeros({}, Int(64));
  std::int64_t value() const { return *cell.data<std::int64_t>(); }
};

TEST_F(FunctionValue, IsKeptCopiedAndReplaced) {
  std::map<std::string, Function> functions = {{"one", adder(1)}, {"ten", adder(10)}};
  const Function ten = functions.at("ten");
  functions.at("ten") = functions.at("one");
  ten(cell, 3);
  functions.at("ten")(cell, 3);
  EXPECT_EQ(value(), 33);
  EXPECT_EQ(ten.name(), "add_10");
}

TEST_F(FunctionValue, CallsOthersWhichCallOthers) {
  twice(twice(twice(adder(5))))(cell, 2);
  EXPECT_EQ(value(), 8 * 10);
}

TEST_F(FunctionValue, ChecksArgumentsAtEveryLevel) {
  // The outer one passes on what the inner one does not take.
  const Function wants_small =
      Function({.name = "small", .symbol = "f", .params = {kCell, {"x", ScalarSpec{Int(8)}}}},
               [](auto...) -> std::int32_t { return kTenonOk; });
  const std::string message = message_of([&] { twice(wants_small)(cell, 1000); });
  EXPECT_NE(message.find("`small`"), std::string::npos) << message;
  EXPECT_NE(message.find("1000"), std::string::npos) << message;
}

TEST_F(FunctionValue, LetsWhatIsThrownInsideThrough) {
  struct Payload : std::runtime_error {
    explicit Payload(int code) : std::runtime_error("payload"), code(code) {}
    int code;
  };
  const Function thrower({.name = "thrower", .symbol = "f", .params = {kCell, kNumber}},
                         [](const TenonValue* args, auto...) -> std::int32_t {
                           throw Payload(static_cast<int>(args[1].i));
                         });
  try {
    twice(twice(thrower))(cell, 42);
    FAIL() << "nothing arrived";
  } catch (const Payload& payload) {
    EXPECT_EQ(payload.code, 42);
  }
}

TEST_F(FunctionValue, PassesFailuresOnWithTheirMessage) {
  const Function failing({.name = "failing", .symbol = "f", .params = {kCell, kNumber}},
                         [](auto...) -> std::int32_t {
                           tenon_set_last_error("no more numbers");
                           return kTenonError;
                         });
  const std::string message = message_of([&] { twice(failing)(cell, 1); });
  EXPECT_NE(message.find("no more numbers"), std::string::npos) << message;
}

}  // namespace
}  // namespace tenon::runtime
