#include "runtime/arrays/argument_checker.h"

#include <algorithm>

#include "runtime/arrays/layout.h"
#include "tenon/runtime/ndarray.h"
#include "tenon/support/match.h"

namespace tenon::runtime {

ArgumentChecker::ArgumentChecker(FunctionSpec spec) : spec_(std::move(spec)) {
  for (const ParamSpec& param : spec_.params) {
    Param numbered;
    if (const auto* array = std::get_if<ArraySpec>(&param.type)) {
      numbered.dtype = to_dlpack(array->dtype);
      dimensions_ += array->shape.size();
      for (const Size& size : array->shape) numbered.shape.push_back(number(size));
      if (const auto extents = constant_extents(array->shape))
        numbered.elements = count_elements(*extents);
      if (array->strides)
        for (const Size& size : *array->strides) numbered.strides.push_back(number(size));
    }
    params_.push_back(std::move(numbered));
  }
  for (std::size_t i = 0; i < params_.size(); ++i) {
    const auto* scalar = std::get_if<ScalarSpec>(&spec_.params[i].type);
    if (scalar != nullptr && scalar->dtype.is_integral())
      params_[i].symbol = find_symbol(spec_.params[i].name);
  }
  for (const ParamSpec& param : spec_.params)
    if (std::optional<KnownArray> known = known_array(param))
      known_arrays_.push_back(*std::move(known));
  if (known_arrays_.size() != params_.size()) known_arrays_.clear();
}

int ArgumentChecker::find_symbol(const std::string& name) const {
  auto found = std::ranges::find(symbols_, name, &Symbol::name);
  return found == symbols_.end() ? -1 : static_cast<int>(found - symbols_.begin());
}

ArgumentChecker::NumberedSize ArgumentChecker::number(const Size& size) {
  using Kind = NumberedSize::Kind;
  return match(
      size,
      [](std::int64_t n) {
        return NumberedSize{Kind::Constant, n};
      },
      [&](const Symbol& symbol) {
        int index = find_symbol(symbol.name);
        if (index < 0) {
          index = static_cast<int>(symbols_.size());
          symbols_.push_back(symbol);
        }
        int& bits = symbols_[static_cast<std::size_t>(index)].bits;
        bits = std::min(bits, symbol.bits);
        return NumberedSize{Kind::Symbol, index};
      },
      [](AnySize) {
        return NumberedSize{Kind::Any, 0};
      });
}

}  // namespace tenon::runtime
