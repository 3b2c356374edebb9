// Default tags for all operations declared in a scope, for library code.
//
//   {
//     te::TagScope convolution("conv2d");
//     te::Tensor P = te::compute(...);               // P.op().tag() is "conv2d"
//   }
//
// A scope applies to the thread that opens it, until it is destroyed. It affects compute,
// compute_multi, extern_op, extern_multi, scan and tensor_compute. An explicit `.tag` takes
// precedence. Operations created by primitives (cache_write, rfactor) inherit the tag of their
// origin.
#pragma once

#include "tenon/support/error.h"
#include "tenon/support/name.h"
#include "tenon/support/shared.h"

namespace tenon::te {

class TagScope {
 public:
  /// Opens the scope. ScheduleError if the thread has an open scope, because tags do not nest.
  explicit TagScope(const Name& tag, SourceLocation where = SourceLocation::current());
  TagScope(const TagScope&) = delete;
  TagScope& operator=(const TagScope&) = delete;

 private:
  Shared<const std::string> tag_;
};

}  // namespace tenon::te
