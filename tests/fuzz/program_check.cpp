#include "tests/fuzz/program_check.h"

#include "tenon/tir/expr.h"

namespace tenon::fuzz {

namespace {

constexpr std::int64_t kSize = 7;
constexpr std::int64_t kStepLimit = 5'000'000;

}  // namespace

ProgramCheck::ProgramCheck(const tir::PrimFunc& definition, testing::Data data) : data_(data) {
  testing::ProgramDefinition program;
  for (const tir::Var& param : definition.params) {
    if (const tir::BufferParam* buffer = definition.buffer_of(param)) {
      parameters_.emplace_back(buffer->buffer);
    } else {
      parameters_.emplace_back(param);
      program.bind(param, testing::Number::of(kSize));
    }
  }
  const testing::Arguments given = arguments();
  std::size_t n = 0;
  for (const LowerArgument& parameter : parameters_) {
    const tir::Buffer* buffer = std::get_if<tir::Buffer>(&parameter);
    if (!buffer) continue;
    const testing::Arguments::Array& array = *given.arrays[n++];
    // Sizes that are variables of the buffer alone.
    for (const Expr& extent : (*buffer)->shape)
      if (extent.as<tir::VarNode>()) program.bind(Var::of(extent), testing::Number::of(kSize));
    std::shared_ptr<testing::BufferMemory> memory = program.bind(*buffer);
    for (std::size_t e = 0; e < memory->elements.size(); ++e)
      memory->elements[e] =
          testing::element_of(array.data(), static_cast<std::int64_t>(e), array.dtype);
    expected_.push_back(std::move(memory));
  }
  program.run(definition.body);
}

testing::Arguments ProgramCheck::arguments() const {
  return testing::make_arguments(parameters_, {.symbol = kSize, .data = data_});
}

std::string ProgramCheck::compare(const testing::Arguments& found) const {
  for (std::size_t n = 0; n < expected_.size(); ++n) {
    const testing::Arguments::Array& array = *found.arrays[n];
    for (std::size_t e = 0; e < expected_[n]->elements.size(); ++e) {
      const testing::Number& right = *expected_[n]->elements[e];
      const testing::Number value =
          testing::element_of(array.data(), static_cast<std::int64_t>(e), array.dtype);
      if (testing::same(right, value, array.dtype)) continue;
      return array.name + "[" + std::to_string(e) + "]: expected " +
             testing::text_of(right, array.dtype) + ", got " + testing::text_of(value, array.dtype);
    }
    if (std::string damage = array.damage(); !damage.empty()) return array.name + ": " + damage;
  }
  return "";
}

std::string ProgramCheck::interpreted(const tir::PrimFunc& func) const {
  const testing::Arguments found = arguments();
  tir::evaluate(func, found.values, {.step_limit = kStepLimit});
  return compare(found);
}

std::string ProgramCheck::compiled(const tir::PrimFunc& func, const Target& target) const {
  tir::PrimFunc named = func;
  named.attrs.global_symbol = "main";
  const runtime::Module module = build(tir::IRModule{{{"main", named}}}, target);
  const testing::Arguments found = arguments();
  testing::run_compiled(module["main"], found);
  return compare(found);
}

}  // namespace tenon::fuzz
