#include "tenon/codegen/c_names.h"

#include <gtest/gtest.h>

namespace tenon::codegen {
namespace {

TEST(CNames, NoKeywordOfEitherLanguageIsOne) {
  for (const char* word : {"int", "restrict", "asm", "class", "decltype", "co_await", "wchar_t",
                           "static_assert", "thread_local", "and_eq", "reinterpret_cast"})
    EXPECT_FALSE(is_c_name(word)) << word;
}

TEST(CNames, AParameterCalledLikeAKeywordGetsAnotherName) {
  const runtime::FunctionSpec function{
      .name = "f", .symbol = "f", .params = {{.name = "decltype", .type = runtime::ScalarSpec{}}}};
  EXPECT_EQ(c_parameter_names(function), std::vector<std::string>{"p_decltype"});
}

}  // namespace
}  // namespace tenon::codegen
