#include "tenon/lower/pipeline.h"

#include <algorithm>
#include <array>
#include <chrono>
#include <tuple>
#include <unordered_set>

#include "lower/checks/barrier_hazards.h"
#include "lower/passes.h"
#include "tenon/arith/simplifier_memory.h"
#include "tenon/tir/print.h"
#include "tenon/tir/stmt.h"

namespace tenon::lowering {

using tir::Form;
using tir::PrimFunc;

using tir::AttrKind;
using tir::Content;
using tir::content_of;
using tir::ForKind;
using tir::kContentOf;

namespace {

bool widens_vectors(const PipelineOptions& options) {
  const auto& registers = options.passes.vector_registers;
  return registers && registers->bits > 0;
}

bool keeps_sums(const PipelineOptions& options) {
  return widens_vectors(options) && options.passes.vector_registers->for_sums > 0;
}

bool is_text(const PipelineOptions& options) { return options.simple_mode; }
bool is_not_text(const PipelineOptions& options) { return !options.simple_mode; }

// Conditions on the contents of a function. A pass has no effect unless its condition holds
// (Pass::concerns).

/// Whether the function's body has content of this kind.
template <Content kContent>
bool has(const PrimFunc& func, const PassOptions&) {
  return contains(func.body, kContent);
}

bool has_guard_or_division(const PrimFunc& func, const PassOptions&) {
  return contains(func.body, Content::Order) || contains(func.body, Content::FloorDiv) ||
         contains<tir::Not>(func.body);
}

bool has_bfloat16(const PrimFunc& func, const PassOptions&) {
  return contains(func.body, Content::BFloat16) ||
         std::ranges::any_of(func.params,
                             [](const tir::Var& param) { return param.dtype().is_bfloat(); }) ||
         std::ranges::any_of(func.buffers, [](const tir::BufferParam& array) {
           return array.buffer->dtype.is_bfloat();
         });
}

/// Whether some loop must or may be unrolled, or has no iterations.
bool may_unroll(const PrimFunc& func, const PassOptions& options) {
  return contains(func.body, ForKind::Unrolled) || contains(func.body, AttrKind::Pragma) ||
         contains(func.body, Content::EmptyLoop) || options.unroll.auto_max_step > 0 ||
         options.unroll.auto_max_extent > 0;
}

/// Whether some memory is double-buffered, or a statement is marked as filling such memory.
bool has_double_buffer(const PrimFunc& func, const PassOptions&) {
  return contains(func.body, Content::DoubleBuffer) ||
         contains(func.body, AttrKind::DoubleBufferWrite);
}

constexpr std::array kBlocks = {
    Pass{"lower-blocks", lower_blocks, Form::Blocks, Form::MultiDimensional,
         "all other passes work on loops and buffers, without blocks"},
};

constexpr std::array kLowering = {
    Pass{"check-accesses", check_accesses, Form::MultiDimensional, Form::MultiDimensional,
         "before flatten-storage: accesses still have tensors and one index per dimension; not in "
         "TVM 0.9 text",
         [](const PipelineOptions& options) {
           return options.instrument_bounds && !options.simple_mode;
         }},
    Pass{"inject-rolling-buffers", inject_rolling_buffers, Form::MultiDimensional,
         Form::MultiDimensional,
         "before flatten-storage: a window moves along dimensions; before inject-prefetch, whose "
         "addresses are final",
         nullptr, has<Content::RollingBuffer>},
    Pass{"inject-prefetch", inject_prefetch, Form::MultiDimensional, Form::MultiDimensional,
         "before flatten-storage, which flattens the addresses", nullptr,
         has<kContentOf<tir::Prefetch>>},
    Pass{"bind-loop-ranges", bind_loop_ranges, Form::MultiDimensional, Form::MultiDimensional,
         "before rebase-loops, simplify and partition-loops, which repeat ranges inside of loops; "
         "not in TVM 0.9 text",
         is_not_text},
    Pass{
        "rebase-loops", rebase_loops, Form::MultiDimensional, Form::MultiDimensional,
        "before flatten-storage and before simplify, which add up the constants of indices; not in "
        "TVM 0.9 text",
        is_not_text},
    Pass{"flatten-storage", flatten_storage, Form::MultiDimensional, Form::Flat,
         "all passes below work on memory and flat indices"},
    Pass{"fold-added-zeros", fold_added_zeros, Form::Flat, Form::Flat,
         "before simplify, which then sees the operands; in TVM 0.9 text only", is_text},
    Pass{"legalize-bfloat16", legalize_bfloat16, Form::Flat, Form::Flat,
         "before simplify, which folds the conversions; in TVM 0.9 text only", is_text,
         has_bfloat16},
    Pass{"narrow-index-types", narrow_index_types, Form::Flat, Form::Flat,
         "before simplify, which then works in the final types", nullptr, has<Content::Int64>},
    Pass{"simplify", simplify, Form::Flat, Form::Flat,
         "before partition-loops, which reads guards and indices in canonical form"},
    Pass{"partition-loops", partition_loops, Form::Flat, Form::Flat,
         "before vectorize-loops, which makes a guarded loop serial; not in TVM 0.9 text",
         is_not_text},
    Pass{"part-lane-buffers", part_lane_buffers, Form::Flat, Form::Flat,
         "before vectorize-loops, which removes the loops whose lanes own memory; in TVM 0.9 text "
         "only",
         is_text, has<content_of(ForKind::Vectorized)>},
    Pass{"vectorize-loops", vectorize_loops, Form::Flat, Form::Flat,
         "after partition-loops, which removes guards; before rewrite-storage, which plans the "
         "memory of lanes",
         is_not_text, has<content_of(ForKind::Vectorized)>},
    Pass{"vectorize-loops-as-text", vectorize_loops_as_text, Form::Flat, Form::Flat,
         "before rewrite-storage; in TVM 0.9 text only, where an if_then_else that differs between "
         "lanes is a loop",
         is_text, has<content_of(ForKind::Vectorized)>},
    Pass{"inject-virtual-threads", inject_virtual_threads, Form::Flat, Form::Flat,
         "after vectorize-loops, whose lanes are not threads; before rewrite-storage, because it "
         "multiplies memory",
         nullptr, has<content_of(AttrKind::VirtualThread)>},
    Pass{"inject-double-buffers", inject_double_buffers, Form::Flat, Form::Flat,
         "after inject-virtual-threads, whose copies are filled together; before rewrite-storage, "
         "because it doubles memory",
         nullptr, has_double_buffer},
    Pass{"rewrite-storage", rewrite_storage, Form::Flat, Form::Flat,
         "before unroll-loops, whose copies hide lifetimes",
         [](const PipelineOptions& options) { return !options.passes.disable_storage_rewrite; },
         has<kContentOf<tir::Allocate>>},
    Pass{"vectorize-elements", vectorize_elements, Form::Flat, Form::Flat,
         "after rewrite-storage, whose blocks may join memory of several types; in TVM 0.9 text "
         "only",
         [](const PipelineOptions& options) {
           return options.simple_mode && !options.passes.disable_storage_rewrite;
         },
         has<kContentOf<tir::Allocate>>},
    Pass{"unroll-loops", unroll_loops, Form::Flat, Form::Lowered,
         "before simplify, which folds the constants of the copies", nullptr, may_unroll},
    Pass{"renormalize-splits", renormalize_splits, Form::Lowered, Form::Lowered,
         "before simplify, which then shares the terms of guards and indices", nullptr,
         has_guard_or_division},
    Pass{"simplify", simplify, Form::Lowered, Form::Lowered,
         "after vectorize-loops and after unroll-loops, whose results it folds"},
    Pass{"remove-no-ops", remove_no_ops, Form::Lowered, Form::Lowered,
         "after simplify, which leaves empty branches and loops"},
    Pass{"rewrite-unsafe-selects", rewrite_unsafe_selects, Form::Lowered, Form::Lowered,
         "after vectorize-loops, which needs selects, and after simplify, which proves some away",
         nullptr, has<kContentOf<tir::Select>>},
    Pass{"hoist-ifs", hoist_ifs, Form::Lowered, Form::Lowered,
         "after unroll-loops and after simplify: loops and conditions are final", nullptr,
         has<kContentOf<tir::If>>},
    Pass{"simplify", simplify, Form::Lowered, Form::Lowered,
         "after hoist-ifs, whose conditions decide others"},
    Pass{"remove-no-ops", remove_no_ops, Form::Lowered, Form::Lowered,
         "after simplify, for the last time"},
    Pass{"fold-added-zeros", fold_added_zeros, Form::Lowered, Form::Lowered,
         "after simplify, which finds more zeros; in TVM 0.9 text only", is_text},
    Pass{
        "instrument-bounds", instrument_bounds, Form::Lowered, Form::Lowered,
        "after hoist-ifs: accesses are final; before eliminate-common-subexpressions, which shares "
        "its conditions",
        [](const PipelineOptions& options) { return options.instrument_bounds; }},
    Pass{"eliminate-common-subexpressions", eliminate_common_subexpressions, Form::Lowered,
         Form::Lowered, "after simplify and after hoist-ifs, which would separate what it joined",
         [](const PipelineOptions& options) {
           return !options.simple_mode && !options.passes.disable_cse;
         }},
    Pass{"eliminate-common-subexpressions-as-text", eliminate_common_subexpressions_as_text,
         Form::Lowered, Form::Lowered,
         "after simplify; in TVM 0.9 text only, where divisions leave the choices that guard them",
         [](const PipelineOptions& options) {
           return options.simple_mode && !options.passes.disable_cse;
         }},
};

constexpr std::array kHost = {
    Pass{"combine-products", combine_products, Form::Lowered, Form::Lowered,
         "before split-wide-vectors and before pack-stores, which change the stores of a tile"},
    Pass{"split-wide-vectors", split_wide_vectors, Form::Lowered, Form::Lowered,
         "before privatize-buffers, widen-vectors and tile-registers, which then see its loops too",
         widens_vectors},
    Pass{"pack-stores", pack_stores, Form::Lowered, Form::Lowered,
         "before auto-vectorize, to which the stores of an unrolled loop look scattered",
         widens_vectors},
    Pass{"tighten-loop-bounds", tighten_loop_bounds, Form::Lowered, Form::Lowered,
         "before auto-vectorize, which does not vectorize a guarded body"},
    Pass{"auto-vectorize", auto_vectorize, Form::Lowered, Form::Lowered,
         "before privatize-buffers, widen-vectors and tile-registers, which work on vectors",
         widens_vectors},
    Pass{"privatize-buffers", privatize_buffers, Form::Lowered, Form::Lowered,
         "before widen-vectors and before tile-registers, which need independent iterations",
         widens_vectors},
    Pass{"widen-vectors", widen_vectors, Form::Lowered, Form::Lowered,
         "before tile-registers, which counts whole registers", widens_vectors},
    Pass{"tile-registers", tile_registers, Form::Lowered, Form::Lowered,
         "before lower-intrinsics: proofs need floor divisions", keeps_sums},
    Pass{"guard-choices", guard_choices, Form::Lowered, Form::Lowered,
         "after auto-vectorize and after widen-vectors, which create choices and ignore faults"},
    Pass{"interleave-lanes", interleave_lanes, Form::Lowered, Form::Lowered,
         "after widen-vectors and after tile-registers, for which dense vectors are simpler; after "
         "guard-choices, whose sides are loaded lane by lane",
         widens_vectors, has<kContentOf<tir::Ramp>>},
    Pass{"prefetch-panels", prefetch_panels, Form::Lowered, Form::Lowered,
         "after tile-registers: a prefetch inside would keep it from a loop; before "
         "lower-intrinsics, since it needs floor divisions"},
    Pass{"lower-intrinsics", lower_intrinsics, Form::Lowered, Form::Lowered,
         "after tile-registers and after interleave-lanes: proofs need floor divisions"},
    Pass{"widen-index-types", widen_index_types, Form::Lowered, Form::Lowered,
         "after lower-intrinsics: proofs take indices for integers without bounds"},
};

constexpr std::array kFastMath = {
    Pass{"fold-float-identities", fold_float_identities, Form::Lowered, Form::Lowered,
         "before reassociate-accumulations, which then has fewer terms"},
    Pass{"remove-no-ops", remove_no_ops, Form::Lowered, Form::Lowered,
         "after fold-float-identities, which leaves stores without an effect"},
    Pass{"reassociate-accumulations", reassociate_accumulations, Form::Lowered, Form::Lowered,
         "all host passes keep the order of additions", widens_vectors},
};

constexpr std::array kDevice = {
    Pass{"hoist-thread-axes", hoist_thread_axes, Form::Lowered, Form::Lowered,
         "before lower-warp-memory and before synchronize-threads, which need all threads"},
    Pass{"lower-warp-memory", lower_warp_memory, Form::Lowered, Form::Lowered,
         "after hoist-thread-axes, since each warp has its part; before synchronize-threads, since "
         "the threads of a warp share it"},
    Pass{"lower-thread-allreduce", lower_thread_allreduce, Form::Lowered, Form::Lowered,
         "before synchronize-threads: its steps communicate through shared memory"},
    Pass{"inject-async-copies", inject_async_copies, Form::Lowered, Form::Lowered,
         "after lower-warp-memory and after lower-thread-allreduce, which allocate shared memory; "
         "before synchronize-threads, since it places its own barriers",
         [](const PipelineOptions& options) { return options.passes.has_async_copies; }},
    Pass{"synchronize-threads", synchronize_threads, Form::Lowered, Form::Lowered,
         "after lower-thread-allreduce: shared memory that a later pass moved would need barriers"},
};

/// The passes of kernels. Lanes of a kernel are threads, so no pass vectorizes loops. The schedule
/// decides what a thread keeps in registers (cache_write).
constexpr std::array kKernel = {
    Pass{"split-wide-vectors", split_wide_vectors, Form::Lowered, Form::Lowered,
         "before lower-intrinsics: no vector is wider than the 128 bits that a device loads"},
    Pass{"lower-intrinsics", lower_intrinsics, Form::Lowered, Form::Lowered,
         "the code generator has no intrinsic that is a composition of others"},
    Pass{"widen-index-types", widen_index_types, Form::Lowered, Form::Lowered,
         "after lower-intrinsics: proofs take indices for integers without bounds"},
};

std::string text_of(const std::vector<tir::Violation>& violations) {
  std::string text = "the result is malformed: ";
  for (std::size_t n = 0; n < violations.size() && n < 3; ++n)
    text += (n ? "; " : "") + violations[n].what + " (" + violations[n].where + ")";
  if (violations.size() > 3) text += "; and " + std::to_string(violations.size() - 3) + " more";
  return text;
}

PrimFunc run_pass(const Pass& pass, const PrimFunc& func, const PassOptions& options) {
  try {
    return pass.run(func, options);
  } catch (const InternalError& e) {
    throw PassFailure(std::string(pass.name), e.what(), tir::print_function(func));
  } catch (const Error&) {
    throw;
  } catch (const std::exception& e) {
    throw PassFailure(std::string(pass.name), e.what(), tir::print_function(func));
  }
}

[[noreturn]] void fail(const Pass& pass, const std::vector<tir::Violation>& violations,
                       const PrimFunc& before, const PrimFunc& after) {
  throw PassFailure(std::string(pass.name), text_of(violations), tir::print_function(before),
                    tir::print_function(after));
}

using VarSet = std::unordered_set<const tir::ExprNode*>;

/// Returns the variables that are already undefined before the first pass, such as a thread that
/// the schedule names but does not bind. `lower` accepts such programs, but the code generators
/// refuse them.
VarSet undefined_vars(const PrimFunc& func) {
  VarSet vars;
  for (const tir::Violation& violation : tir::verify(func, func.form))
    if (violation.undefined) vars.insert(&violation.undefined->node());
  return vars;
}

/// Whether both functions are the same in everything that passes and `verify` inspect.
bool same_function(const PrimFunc& before, const PrimFunc& after) {
  const auto same_array = [](const tir::BufferParam& a, const tir::BufferParam& b) {
    return a.param.same_as(b.param) && a.declared.same_as(b.declared) && a.buffer.same_as(b.buffer);
  };
  const auto same_var = [](const tir::Var& a, const tir::Var& b) { return a.same_as(b); };
  return before.form == after.form && before.body.same_as(after.body) &&
         std::ranges::equal(before.params, after.params, same_var) &&
         std::ranges::equal(before.buffers, after.buffers, same_array);
}

bool comes_again(const Pass& pass, std::span<const Pass> later) {
  return std::ranges::any_of(later, [&](const Pass& other) { return other.run == pass.run; });
}

/// Checks the result of a pass, except for uses of variables in `undefined`.
void check(const Pass& pass, const PrimFunc& before, const PrimFunc& after,
           const VarSet& undefined) {
  if (same_function(before, after)) return;
  std::vector<tir::Violation> violations = tir::verify(after, pass.gives);
  std::erase_if(violations, [&](const tir::Violation& violation) {
    return violation.undefined && undefined.contains(&violation.undefined->node());
  });
  if (!violations.empty()) fail(pass, violations, before, after);
}

/// Checks the barriers with an analysis that is independent of the pass that placed them.
void check_barriers(const Pass& pass, const PrimFunc& before, const PrimFunc& after) {
  const auto violations = find_barrier_hazards(after);
  if (!violations.empty()) fail(pass, violations, before, after);
}

std::string_view name_of(Form form) {
  switch (form) {
    case Form::Blocks:
      return "a block program";
    case Form::MultiDimensional:
      return "multi-dimensional";
    case Form::Flat:
      return "flat";
    case Form::Lowered:
      return "lowered";
  }
  internal_error("a form without a name");
}

void check_form(const Pass& pass, const PrimFunc& func) {
  if (func.form == pass.takes) return;
  throw PassFailure(std::string(pass.name),
                    "it takes a function that is " + std::string(name_of(pass.takes)) +
                        ", and this one is " + std::string(name_of(func.form)),
                    tir::print_function(func));
}

/// Throws LowerError for an option out of its range, naming the option and the range.
void check_options(const PassOptions& options) {
  const tir::VectorRegisters registers = options.vector_registers.value_or(tir::VectorRegisters{});
  for (const auto& [name, value, least] :
       {std::tuple("unroll.auto_max_step", options.unroll.auto_max_step, 0),
        std::tuple("unroll.auto_max_depth", options.unroll.auto_max_depth, 0),
        std::tuple("unroll.auto_max_extent", options.unroll.auto_max_extent, 0),
        std::tuple("unroll.max_statements", options.unroll.max_statements, 1),
        std::tuple("partition.max_growth", options.partition.max_growth, 1),
        std::tuple("vector_registers.bits", registers.bits, 0),
        std::tuple("vector_registers.for_sums", registers.for_sums, 0)})
    if (value < least)
      throw LowerError(std::string("option passes.") + name + " is " + std::to_string(least) +
                       " or more, got " + std::to_string(value));
  const int split = options.double_buffer_split;
  if (split != 0 && split != 1 && split % 2 != 0)
    throw LowerError("double buffers: the loop can be split by 0, 1 or an even number, got " +
                     std::to_string(split));
}

PrimFunc run_in_order(std::span<const Pass> passes, PrimFunc func, const PipelineOptions& options,
                      bool checks_each_pass) {
  const PassOptions& how = options.passes;
  const arith::SimplifierMemory memory;
  const VarSet undefined = checks_each_pass ? undefined_vars(func) : VarSet();
  // Passes with a function that they left unchanged. If such a pass occurs again in the table, it
  // is skipped for the same function.
  std::vector<std::pair<PassFunction*, PrimFunc>> settled;
  for (std::size_t n = 0; n < passes.size(); ++n) {
    const Pass& pass = passes[n];
    check_form(pass, func);
    if (pass.enabled && !pass.enabled(options)) continue;
    if (pass.concerns && !pass.concerns(func, how)) {
      func.form = pass.gives;
      if (how.on_pass) how.on_pass({pass.name, func, func, 0});
      continue;
    }
    const auto start = std::chrono::steady_clock::now();
    const bool is_settled = std::ranges::any_of(settled, [&](const auto& entry) {
      return entry.first == pass.run && same_function(entry.second, func);
    });
    PrimFunc result = is_settled ? func : run_pass(pass, func, how);
    const std::chrono::duration<double> time = std::chrono::steady_clock::now() - start;
    result.form = pass.gives;
    if (comes_again(pass, passes.subspan(n + 1)) && same_function(func, result))
      settled.emplace_back(pass.run, result);
    if (checks_each_pass) check(pass, func, result, undefined);
    if (how.verify && pass.name == "synchronize-threads") check_barriers(pass, func, result);
    if (how.on_pass) how.on_pass({pass.name, func, result, time.count()});
    func = std::move(result);
  }
  return func;
}

}  // namespace

std::span<const Pass> block_passes() { return kBlocks; }

std::span<const Pass> lowering_passes() { return kLowering; }

std::span<const Pass> host_passes() { return kHost; }

std::span<const Pass> fast_math_passes() { return kFastMath; }

std::span<const Pass> device_passes() { return kDevice; }

std::span<const Pass> kernel_passes() { return kKernel; }

PassOptions options_of_kernels(PassOptions options) {
  options.vector_registers = tir::VectorRegisters{.bits = 128, .count = 64, .for_sums = 0};
  return options;
}

PrimFunc run_passes(std::span<const Pass> passes, PrimFunc func, const PipelineOptions& options) {
  PipelineOptions how = options;
  how.passes.keep_buffer_sizes |= options.instrument_bounds;
  check_options(how.passes);
  if (!how.passes.verify) return run_in_order(passes, std::move(func), how, false);
  if (how.passes.verify_each_pass) return run_in_order(passes, std::move(func), how, true);
  // Verifying only the final result costs a fraction of verifying after each pass. If the result is
  // malformed, the passes run again with verification to find the one at fault.
  const auto find_pass_at_fault = [&] {
    how.passes.on_pass = {};
    run_in_order(passes, func, how, true);
  };
  std::optional<PrimFunc> result;
  try {
    result = run_in_order(passes, func, how, false);
  } catch (...) {
    find_pass_at_fault();
    throw;
  }
  if (same_function(func, *result) || tir::verify(*result, result->form).empty()) return *result;
  find_pass_at_fault();
  return *result;
}

PrimFunc run_pipeline(PrimFunc func, const PipelineOptions& options) {
  func.attrs.noalias = func.attrs.noalias && options.passes.noalias;
  if (func.form == Form::Blocks) func = run_passes(kBlocks, std::move(func), options);
  return run_passes(kLowering, std::move(func), options);
}

PrimFunc run_host_pipeline(PrimFunc func, const PassOptions& options, bool fast_math) {
  if (fast_math) func = run_passes(kFastMath, std::move(func), {.passes = options});
  return run_passes(kHost, std::move(func), {.passes = options});
}

}  // namespace tenon::lowering
