#include "tenon/codegen/symbol_names.h"

#include <gtest/gtest.h>

namespace tenon::codegen {
namespace {

TEST(SymbolNames, are_such_as_c_can_declare) {
  SymbolNames names;
  EXPECT_EQ(names.packed("matmul"), "matmul_packed");
  EXPECT_EQ(names.packed("mat-mul.2"), "mat_mul_2_packed");
  EXPECT_EQ(names.packed("2d"), "_2d_packed");
  EXPECT_EQ(names.packed("relu", "lib_"), "lib_relu_packed");
}

TEST(SymbolNames, of_one_module_differ) {
  SymbolNames names;
  EXPECT_EQ(names.packed("a-b"), "a_b_packed");
  EXPECT_EQ(names.packed("a.b"), "a_b_1_packed");
  EXPECT_EQ(names.packed("a b"), "a_b_2_packed");
}

}  // namespace
}  // namespace tenon::codegen
