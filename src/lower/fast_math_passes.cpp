#include "tenon/lower/fast_math_passes.h"

#include <array>

#include "lower/passes/reassociate_accumulations.h"

namespace tenon::lowering {

namespace {

constexpr std::array kFastMath = {
    Pass{"reassociate-accumulations", reassociate_accumulations, tir::Form::Lowered,
         tir::Form::Lowered,
         "before loops that keep their order are vectorised, which are those that are left",
         [](const PipelineOptions& options) {
           const auto& registers = options.passes.vector_registers;
           return registers && registers->bits > 0;
         }},
};

}  // namespace

std::span<const Pass> fast_math_passes() { return kFastMath; }

}  // namespace tenon::lowering
