#include "topi/ops/inline_maps.h"

#include <algorithm>

#include "tenon/te/auto_inline.h"
#include "tenon/te/operation_kind.h"

namespace tenon::topi::gpu {

void inline_maps(const te::Schedule& s, const char* function, const te::Tensor& out,
                 const std::vector<te::Operation>& operations, const SourceLocation& where) {
  const auto is_in = [](const std::vector<te::Operation>& all, const te::Operation& op) {
    return std::ranges::any_of(all, [&](const te::Operation& other) { return other.same_as(op); });
  };
  std::vector<te::Operation> left = operations, seen;
  while (!left.empty()) {
    const te::Operation op = left.back();
    left.pop_back();
    for (const te::Tensor& input : op.inputs()) {
      const te::Operation& producer = input.op();
      if (producer.as<te::Placeholder>() || is_in(operations, producer) || is_in(seen, producer))
        continue;
      if (!te::is_injective(producer))
        throw ScheduleError(
            std::string(function) + " of `" + out.name() + "`: stage `" + producer.name() +
                "`, which it reads, is not an elementwise map and cannot be inlined; build it as "
                "a separate function and pass its result",
            where);
      s[producer].compute_inline();
      seen.push_back(producer);
      left.push_back(producer);
    }
  }
}

}  // namespace tenon::topi::gpu
