#include "tenon/lower/fast_math_passes.h"

#include <array>

#include "lower/passes/fold_float_identities.h"
#include "lower/passes/reassociate_accumulations.h"
#include "lower/passes/remove_no_ops.h"

namespace tenon::lowering {

namespace {

constexpr std::array kFastMath = {
    Pass{
        "fold-float-identities", fold_float_identities, tir::Form::Lowered, tir::Form::Lowered,
        "on unrolled loops, whose constants are known; before sums are vectorised, which have less "
        "to add then"},
    Pass{"remove-no-ops", remove_no_ops, tir::Form::Lowered, tir::Form::Lowered,
         "loops of stores that turned out to change nothing"},
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
