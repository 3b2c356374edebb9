#include "tenon/s_tir/schedule.h"

#include "s_tir/step.h"
#include "tenon/s_tir/primitives.h"

namespace tenon::s_tir {

using namespace tir;

// ---- factors ------------------------------------------------------------------------------------

std::variant<std::monostate, std::int64_t, ExprRV> Factor::value() const {
  if (kind_ == Kind::Number) return number_;
  if (kind_ == Kind::Sampled) return ExprRV(static_cast<int>(number_));
  return std::monostate();
}

Factors::Factors(std::initializer_list<Factor> factors) : vector(factors) {}
Factors::Factors(std::vector<Factor> factors) : vector(std::move(factors)) {}
Factors::Factors(const std::vector<ExprRV>& sampled) : vector(sampled.begin(), sampled.end()) {}

// ---- loops --------------------------------------------------------------------------------------

std::vector<LoopRV> Schedule::split(LoopRV loop, const Factors& factors,
                                    const SplitOptions& options, Where where) {
  Step step(own(), InstructionKind::Split, "split", where);
  TraceValue::List written;
  std::vector<std::optional<std::int64_t>> numbers;
  for (const Factor& factor : factors)
    match(
        factor.value(),
        [&](std::monostate) {
          written.emplace_back();
          numbers.push_back(std::nullopt);
        },
        [&](std::int64_t value) {
          written.push_back({value});
          numbers.push_back(value);
        },
        [&](const ExprRV& value) {
          written.push_back({RV(value)});
          numbers.push_back(step.number(value));
        });
  step.with(RV(loop))
      .with(std::move(written))
      .with(options.preserve_unit_iters)
      .with(options.disable_predication);
  const Step::Place place = step.loop(loop);
  const std::string function = place.function;
  SplitLoop result = s_tir::split(place.program, place.n, numbers, options, where);
  step.replace(function, std::move(result.func));
  std::vector<LoopRV> loops;
  for (const Var& var : result.loops) loops.push_back(step.give_loop(function, var));
  step.record();
  return loops;
}

LoopRV Schedule::fuse(const std::vector<LoopRV>& loops, const FuseOptions& options, Where where) {
  Step step(own(), InstructionKind::Fuse, "fuse", where);
  step.with(loops).with(options.preserve_unit_iters);
  std::string function;
  const std::vector<int> places = step.loops(loops, function);
  FusedLoop result = s_tir::fuse(step.program(function), places, options, where);
  step.replace(function, std::move(result.func));
  const LoopRV loop = step.give_loop(function, result.loop);
  step.record();
  return loop;
}

void Schedule::reorder(const std::vector<LoopRV>& loops, Where where) {
  Step step(own(), InstructionKind::Reorder, "reorder", where);
  step.with(loops);
  std::string function;
  const std::vector<int> places = step.loops(loops, function);
  step.replace(function, s_tir::reorder(step.program(function), places, where));
  step.record();
}

LoopRV Schedule::add_unit_loop(BlockOrLoop target, Where where) {
  Step step(own(), InstructionKind::AddUnitLoop, "add_unit_loop", where);
  step.with(target.rv());
  const Step::Place place = step.block_or_loop(target.rv());
  const std::string function = place.function;
  FusedLoop result = s_tir::add_unit_loop(place.program, place.n, where);
  step.replace(function, std::move(result.func));
  const LoopRV loop = step.give_loop(function, result.loop);
  step.record();
  return loop;
}

void Schedule::parallel(LoopRV loop, Where where) {
  Step step(own(), InstructionKind::Parallel, "parallel", where);
  step.with(RV(loop));
  const Step::Place place = step.loop(loop);
  step.replace(place.function, s_tir::parallel(place.program, place.n, where));
  step.record();
}

void Schedule::vectorize(LoopRV loop, Where where) {
  Step step(own(), InstructionKind::Vectorize, "vectorize", where);
  step.with(RV(loop));
  const Step::Place place = step.loop(loop);
  step.replace(place.function, s_tir::vectorize(place.program, place.n, where));
  step.record();
}

void Schedule::unroll(LoopRV loop, Where where) {
  Step step(own(), InstructionKind::Unroll, "unroll", where);
  step.with(RV(loop));
  const Step::Place place = step.loop(loop);
  step.replace(place.function, s_tir::unroll(place.program, place.n, where));
  step.record();
}

void Schedule::bind(LoopRV loop, const Name& thread_axis, Where where) {
  Step step(own(), InstructionKind::Bind, "bind", where);
  step.with(RV(loop)).with(thread_axis);
  const ThreadTag thread = ThreadTag::parse(thread_axis, where);
  const Step::Place place = step.loop(loop);
  step.replace(place.function, s_tir::bind(place.program, place.n, thread, where));
  step.record();
}

// ---- memory -------------------------------------------------------------------------------------

BlockRV Schedule::cache_read(BlockRV block, int read_buffer_index, const Name& storage_scope,
                             Where where) {
  Step step(own(), InstructionKind::CacheRead, "cache_read", where);
  step.with(RV(block)).with(read_buffer_index).with(storage_scope);
  const StorageScope scope = parse_storage_scope(storage_scope, where);
  const Step::Place place = step.block(block);
  const std::string function = place.function;
  NewBlock result = s_tir::cache_read(place.program, place.n, read_buffer_index, scope, where);
  step.replace(function, std::move(result.func), result.renamed);
  const BlockRV copy = step.give_block(function, result.block);
  step.record();
  return copy;
}

BlockRV Schedule::cache_write(BlockRV block, int write_buffer_index, const Name& storage_scope,
                              Where where) {
  Step step(own(), InstructionKind::CacheWrite, "cache_write", where);
  step.with(RV(block)).with(write_buffer_index).with(storage_scope);
  const StorageScope scope = parse_storage_scope(storage_scope, where);
  const Step::Place place = step.block(block);
  const std::string function = place.function;
  NewBlock result = s_tir::cache_write(place.program, place.n, write_buffer_index, scope, where);
  step.replace(function, std::move(result.func), result.renamed);
  const BlockRV copy = step.give_block(function, result.block);
  step.record();
  return copy;
}

namespace {

BufferIndexType parse_index_type(const Caller& caller, const std::string& type) {
  if (type == "read") return BufferIndexType::Read;
  if (type == "write") return BufferIndexType::Write;
  refuse(caller, "the index type must be \"read\" or \"write\", not \"" + type + "\"");
}

}  // namespace

BlockRV Schedule::reindex(BlockRV block, int buffer_index, const Name& buffer_index_type,
                          Where where) {
  Step step(own(), InstructionKind::Reindex, "reindex", where);
  step.with(RV(block)).with(buffer_index).with(buffer_index_type);
  const BufferIndexType type = parse_index_type(step.caller(), buffer_index_type);
  const Step::Place place = step.block(block);
  const std::string function = place.function;
  NewBlock result = s_tir::reindex(place.program, place.n, buffer_index, type, where);
  step.replace(function, std::move(result.func), result.renamed);
  const BlockRV copy = step.give_block(function, result.block);
  step.record();
  return copy;
}

void Schedule::set_scope(BlockRV block, int buffer_index, const Name& storage_scope, Where where) {
  Step step(own(), InstructionKind::SetScope, "set_scope", where);
  step.with(RV(block)).with(buffer_index).with(storage_scope);
  const StorageScope scope = parse_storage_scope(storage_scope, where);
  const Step::Place place = step.block(block);
  step.replace(place.function,
               s_tir::set_scope(place.program, place.n, buffer_index, scope, where));
  step.record();
}

void Schedule::storage_align(BlockRV block, const StorageAlignOptions& options, Where where) {
  Step step(own(), InstructionKind::StorageAlign, "storage_align", where);
  step.with(RV(block))
      .with(options.buffer_index)
      .with(options.axis)
      .with(options.factor)
      .with(options.offset);
  const Step::Place place = step.block(block);
  step.replace(place.function,
               s_tir::storage_align(place.program, place.n, options.buffer_index, options.axis,
                                    options.factor, options.offset, where));
  step.record();
}

void Schedule::transform_layout(BlockRV block, int buffer_index, const Name& buffer_index_type,
                                const IndexMap& index_map, Where where) {
  Step step(own(), InstructionKind::TransformLayout, "transform_layout", where);
  step.with(RV(block)).with(buffer_index).with(buffer_index_type).with(index_map.text());
  const BufferIndexType type = parse_index_type(step.caller(), buffer_index_type);
  const Step::Place place = step.block(block);
  step.replace(place.function, s_tir::transform_layout(place.program, place.n, buffer_index, type,
                                                       index_map, where));
  step.record();
}

void Schedule::transform_block_layout(BlockRV block, const IndexMap& index_map, Where where) {
  Step step(own(), InstructionKind::TransformBlockLayout, "transform_block_layout", where);
  step.with(RV(block)).with(index_map.text());
  const Step::Place place = step.block(block);
  const std::string function = place.function;
  Renamed result = s_tir::transform_block_layout(place.program, place.n, index_map, where);
  step.replace(function, std::move(result.func), result.renamed);
  step.record();
}

// ---- compute locations  -------------------------------------------------------------------------

void Schedule::compute_at(BlockRV block, LoopRV loop, const ComputeAtOptions& options,
                          Where where) {
  Step step(own(), InstructionKind::ComputeAt, "compute_at", where);
  step.with(RV(block)).with(RV(loop)).with(options.preserve_unit_loops).with(options.index);
  const Step::Place place = step.block(block);
  if (const auto* none = std::get_if<NoLoop>(&step.meaning(loop))) {
    // A sampled location may be the block's current one, or inlining.
    if (*none == NoLoop::Inline)
      step.replace(place.function, s_tir::compute_inline(place.program, place.n, where));
    step.record();
    return;
  }
  const Step::Place target = step.loop(loop);
  if (target.function != place.function)
    refuse(step.caller(), "the block and the loop belong to different functions");
  step.replace(place.function, s_tir::compute_at(place.program, place.n, target.n, options, where));
  step.record();
}

void Schedule::reverse_compute_at(BlockRV block, LoopRV loop, const ComputeAtOptions& options,
                                  Where where) {
  Step step(own(), InstructionKind::ReverseComputeAt, "reverse_compute_at", where);
  step.with(RV(block)).with(RV(loop)).with(options.preserve_unit_loops).with(options.index);
  const Step::Place place = step.block(block);
  if (const auto* none = std::get_if<NoLoop>(&step.meaning(loop))) {
    if (*none == NoLoop::Inline)
      step.replace(place.function, s_tir::reverse_compute_inline(place.program, place.n, where));
    step.record();
    return;
  }
  const Step::Place target = step.loop(loop);
  if (target.function != place.function)
    refuse(step.caller(), "the block and the loop belong to different functions");
  step.replace(place.function,
               s_tir::reverse_compute_at(place.program, place.n, target.n, options, where));
  step.record();
}

void Schedule::compute_inline(BlockRV block, Where where) {
  Step step(own(), InstructionKind::ComputeInline, "compute_inline", where);
  step.with(RV(block));
  const Step::Place place = step.block(block);
  step.replace(place.function, s_tir::compute_inline(place.program, place.n, where));
  step.record();
}

void Schedule::reverse_compute_inline(BlockRV block, Where where) {
  Step step(own(), InstructionKind::ReverseComputeInline, "reverse_compute_inline", where);
  step.with(RV(block));
  const Step::Place place = step.block(block);
  step.replace(place.function, s_tir::reverse_compute_inline(place.program, place.n, where));
  step.record();
}

// ---- reductions, blocks, annotations  -----------------------------------------------------------

BlockRV Schedule::decompose_reduction(BlockRV block, LoopRV loop, Where where) {
  Step step(own(), InstructionKind::DecomposeReduction, "decompose_reduction", where);
  step.with(RV(block)).with(RV(loop));
  const Step::Place place = step.block(block), target = step.loop(loop);
  if (target.function != place.function)
    refuse(step.caller(), "the block and the loop belong to different functions");
  const std::string function = place.function;
  NewBlock result = s_tir::decompose_reduction(place.program, place.n, target.n, where);
  step.replace(function, std::move(result.func), result.renamed);
  const BlockRV init = step.give_block(function, result.block);
  step.record();
  return init;
}

void Schedule::merge_reduction(BlockRV init, BlockRV update, Where where) {
  Step step(own(), InstructionKind::MergeReduction, "merge_reduction", where);
  step.with(RV(init)).with(RV(update));
  const Step::Place first = step.block(init), second = step.block(update);
  if (first.function != second.function)
    refuse(step.caller(), "the blocks belong to different functions");
  step.replace(first.function, s_tir::merge_reduction(first.program, first.n, second.n, where));
  step.record();
}

BlockRV Schedule::rfactor(LoopRV loop, int factor_axis, Where where) {
  Step step(own(), InstructionKind::RFactor, "rfactor", where);
  step.with(RV(loop)).with(factor_axis);
  const Step::Place place = step.loop(loop);
  const std::string function = place.function;
  NewBlock result = s_tir::rfactor(place.program, place.n, factor_axis, where);
  step.replace(function, std::move(result.func), result.renamed);
  const BlockRV partial = step.give_block(function, result.block);
  step.record();
  return partial;
}

BlockRV Schedule::blockize(LoopRV loop, Where where) {
  Step step(own(), InstructionKind::Blockize, "blockize", where);
  step.with(RV(loop)).with(true);
  const Step::Place place = step.loop(loop);
  const std::string function = place.function;
  NewBlock result = s_tir::blockize(place.program, place.n, where);
  step.replace(function, std::move(result.func), result.renamed);
  const BlockRV block = step.give_block(function, result.block);
  step.record();
  return block;
}

void Schedule::tensorize(BlockOrLoop target, const Name& tensor_intrin, Where where) {
  Step step(own(), InstructionKind::Tensorize, "tensorize", where);
  step.with(target.rv()).with(tensor_intrin).with(true);
  const std::optional<TensorIntrin> intrin = find_tensor_intrin(tensor_intrin);
  if (!intrin) {
    std::string known;
    for (const std::string& name : tensor_intrin_names())
      known += (known.empty() ? "" : ", ") + in_backticks(name);
    refuse(step.caller(), "no tensor intrinsic is called " + in_backticks(tensor_intrin) +
                              (known.empty() ? "; none is registered" : "; there are " + known));
  }
  const Step::Place place = step.block_or_loop(target.rv());
  const std::string function = place.function;
  Renamed result = s_tir::tensorize(place.program, place.n, *intrin, where);
  step.replace(function, std::move(result.func), result.renamed);
  step.record();
}

void Schedule::annotate(BlockOrLoop target, const Name& key, const AnnotationValue& value,
                        Where where) {
  Step step(own(), InstructionKind::Annotate, "annotate", where);
  TraceValue written;
  Annotation noted{Expr(0)};
  match(
      value,
      [&](std::int64_t number) {
        written = {number};
        noted.value = Expr(number);
      },
      [&](const ExprRV& rv) {
        written = {RV(rv)};
        noted.value = Expr(step.number(rv));
      },
      [&](bool flag) {
        written = {flag};
        noted.value = Expr(flag);
      },
      [&](double number) {
        written = {number};
        noted.value = Expr(number);
      },
      [&](const std::string& text) {
        written = {text};
        noted.value = make_string(text);
      });
  if (const Expr* e = std::get_if<Expr>(&noted.value))
    if (const auto number = constant_int(*e); number && !e->dtype().is_bool())
      noted.value = *number >= INT32_MIN && *number <= INT32_MAX ? make_int(Int(32), *number) : *e;
  step.with(target.rv()).with(key).with(std::move(written));
  const Step::Place place = step.block_or_loop(target.rv());
  step.replace(place.function,
               s_tir::annotate(place.program, place.n, key, std::move(noted), where));
  step.record();
}

void Schedule::unannotate(BlockOrLoop target, const Name& key, Where where) {
  Step step(own(), InstructionKind::Unannotate, "unannotate", where);
  step.with(target.rv()).with(key);
  const Step::Place place = step.block_or_loop(target.rv());
  step.replace(place.function, s_tir::unannotate(place.program, place.n, key, where));
  step.record();
}

void Schedule::enter_postproc() {
  Step step(own(), InstructionKind::EnterPostproc, "enter_postproc", Where::current());
  step.record();
}

}  // namespace tenon::s_tir
