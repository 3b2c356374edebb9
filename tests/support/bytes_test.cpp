#include "tenon/support/bytes.h"

#include <gtest/gtest.h>

namespace tenon {
namespace {

TEST(Bytes, NumbersAndTextsAreReadAsWritten) {
  const std::vector<std::uint64_t> numbers = {0, 1, 127, 128, 16383, 16384, ~0ull};
  const std::vector<std::string> texts = {"", "a", std::string("\0\xff", 2), std::string(300, 'x')};
  ByteWriter out;
  for (const std::uint64_t number : numbers) out.number(number);
  for (const std::string& text : texts) out.text(text);
  ByteReader in(out.bytes());
  for (const std::uint64_t number : numbers) EXPECT_EQ(in.number(), number);
  for (const std::string& text : texts) EXPECT_EQ(in.text(), text);
  EXPECT_EQ(in.number(), std::nullopt);
}

TEST(Bytes, ATextCutShortIsNotRead) {
  ByteWriter out;
  out.text("matmul");
  const std::string bytes = out.bytes();
  for (std::size_t size = 0; size < bytes.size(); ++size)
    EXPECT_EQ(ByteReader(std::string_view(bytes).substr(0, size)).text(), std::nullopt);
}

TEST(Bytes, ANumberOfMoreThan64BitsIsNotRead) {
  const std::string bytes(11, '\xff');
  EXPECT_EQ(ByteReader(bytes).number(), std::nullopt);
}

}  // namespace
}  // namespace tenon
