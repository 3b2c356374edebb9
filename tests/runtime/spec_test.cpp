#include "tenon/runtime/spec.h"

#include <gtest/gtest.h>

#include "tests/runtime/errors.h"

namespace tenon::runtime {
namespace {

std::vector<FunctionSpec> example() {
  ArraySpec a{.dtype = Float(32), .shape = {1024, Symbol{"n", 32}, AnySize{}}, .alignment = 64};
  ArraySpec b{.dtype = BFloat(16, 4),
              .shape = {8, Symbol{"n \"odd\\\n", 64}},
              .strides = std::vector<Size>{Symbol{"s0"}, 1},
              .access = Access::ReadWrite,
              .device = DeviceType::Cuda,
              .zero_byte_offset = true,
              .index_bits = 32};
  ArraySpec rank_zero{.dtype = Bool(), .access = Access::Write};
  return {{.name = "matmul", .symbol = "matmul", .params = {{"A", a}, {"B", b}, {"S", rank_zero}}},
          {.name = "two words",
           .symbol = "two_words",
           .params = {{"n", ScalarSpec{Int(64)}}, {"p", ScalarSpec{Handle()}}}},
          {.name = "nothing", .symbol = "nothing"}};
}

TEST(Spec, TheManifestIsReadableText) {
  EXPECT_EQ(to_manifest(example()),
            R"(tenon-manifest 1
function "matmul" "matmul"
array "A" read float32 [ 1024 "n":32 ? ] compact align 64 device 1 offset any index 64
array "B" readwrite bfloat16x4 [ 8 "n \"odd\\\n":64 ] [ "s0":32 1 ] align 1 device 2 offset zero index 32
array "S" write bool [ ] compact align 1 device 1 offset any index 64
function "two words" "two_words"
scalar "n" int64
scalar "p" handle
function "nothing" "nothing"
)");
}

TEST(Spec, TheManifestParsesBackToTheSame) {
  EXPECT_EQ(parse_manifest(to_manifest(example())), example());
}

TEST(Spec, NamesMayHaveZeroBytes) {
  const std::string name("a\0b\\", 4);
  const std::vector<FunctionSpec> functions = {{.name = name, .symbol = "f"}};
  const std::string manifest = to_manifest(functions);
  EXPECT_EQ(manifest.find('\0'), std::string::npos);
  EXPECT_EQ(parse_manifest(manifest).front().name, name);
}

TEST(Spec, AManifestWithoutFunctionsIsOne) {
  EXPECT_TRUE(parse_manifest("tenon-manifest 1\n").empty());
}

TEST(Spec, WhatIsNoManifestIsRefusedWithItsLine) {
  EXPECT_EQ(
      message_of([] { parse_manifest("tenon-manifest 9\n"); }),
      "a module's manifest cannot be read: the line `tenon-manifest 9` is not `tenon-manifest 1`");
  EXPECT_EQ(message_of([] { parse_manifest(""); }),
            "a module's manifest cannot be read: the line `` is not `tenon-manifest 1`");
}

// Cutting the text of a manifest at any place, or changing any byte, gives a manifest or an error,
// never a crash.
TEST(Spec, DamagedTextIsAnErrorOrAManifest) {
  const std::string text = to_manifest(example());
  for (std::size_t i = 0; i < text.size(); ++i) {
    for (char c : {' ', '"', '\n', '9', 'x', '\\', '\0'}) {
      std::string damaged = text;
      damaged[i] = c;
      for (const std::string& candidate : {damaged, text.substr(0, i)}) {
        try {
          parse_manifest(candidate);
        } catch (const RuntimeError&) {
        }
      }
    }
  }
}

TEST(Spec, MessagesWriteParametersAsTypes) {
  const auto functions = example();
  EXPECT_EQ(describe(functions[0].params[0]), "float32[1024, n, ?]");
  EXPECT_EQ(describe(functions[0].params[2]), "bool[]");
  EXPECT_EQ(describe(functions[1].params[0]), "int64");
}

}  // namespace
}  // namespace tenon::runtime
