// Checks te/operation.h alone: operation_kind.h is not included here.
#include "tenon/te/operation.h"

#include <gtest/gtest.h>

namespace tenon::testing {
namespace {

template <class T>
constexpr bool kMayBeAskedFor = requires(te::Operation op) {
  op.as<T>();
};

TEST(OperationHeader, AKindIsAskedForWhereItIsDefinedOnly) {
  struct Kind {};
  EXPECT_FALSE(kMayBeAskedFor<te::Compute>);
  EXPECT_TRUE(kMayBeAskedFor<Kind>);
}

}  // namespace
}  // namespace tenon::testing
