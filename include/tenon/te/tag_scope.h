// Tags for everything that is declared within a scope: library code says once what its operations
// are.
//
//   {
//     te::TagScope convolution("conv2d");
//     te::Tensor P = te::compute(...);               // P.op().tag() is "conv2d"
//   }
//
// A scope serves the thread that opens it, until it is destroyed. It reaches compute,
// compute_multi, extern_op, extern_multi, scan and tensor_compute; an operation's own `.tag` wins.
// What primitives make of an operation (cache_write, rfactor) has the operation's tag, whatever
// scope is open.
#pragma once

#include "tenon/support/error.h"
#include "tenon/support/name.h"
#include "tenon/support/shared.h"

namespace tenon::te {

class TagScope {
 public:
  /// ScheduleError while another scope of the thread is open: tags do not nest.
  explicit TagScope(const Name& tag, SourceLocation where = SourceLocation::current());
  TagScope(const TagScope&) = delete;
  TagScope& operator=(const TagScope&) = delete;

 private:
  Shared<const std::string> tag_;
};

}  // namespace tenon::te
