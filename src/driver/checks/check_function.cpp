#include "tenon/driver/check_function.h"

#include <algorithm>

#include "tenon/support/error.h"
#include "tenon/tir/buffer.h"
#include "tenon/tir/verify.h"

namespace tenon {

namespace {

/// Checks the parameters and the arrays among them.
void check_parameters(const tir::PrimFunc& func, const std::string& what) {
  for (const tir::BufferParam& array : func.buffers) {
    const std::string text = what + "array `" + array.declared->name + "`";
    const auto places =
        std::count_if(func.params.begin(), func.params.end(),
                      [&](const tir::Var& param) { return param.same_as(array.param); });
    if (places == 0)
      throw LowerError(text + " stands for `" + array.param.name() + "`, which is no parameter");
    if (func.buffer_of(array.param) != &array)
      throw LowerError(text + ": parameter `" + array.param.name() +
                       "` stands for another array as well");
    if (!array.param.dtype().is_handle())
      throw LowerError(text + ": parameter `" + array.param.name() + "` must be a handle, is " +
                       array.param.dtype().str());
  }
}

}  // namespace

void check_function(const tir::PrimFunc& func, const std::string& name) {
  const std::string what = "function `" + name + "`: ";
  check_parameters(func, what);
  const std::vector<tir::Violation> violations = tir::verify(func, func.form);
  if (violations.empty()) return;
  throw LowerError(what + violations.front().what + " (" + violations.front().where + ")" +
                   (violations.size() == 1
                        ? ""
                        : "; and " + std::to_string(violations.size() - 1) + " more violations"));
}

}  // namespace tenon
