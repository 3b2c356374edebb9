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
  return step.finish(place, s_tir::split(place.program, place.n, numbers, options, where));
}

LoopRV Schedule::fuse(const std::vector<LoopRV>& loops, const FuseOptions& options, Where where) {
  Step step(own(), InstructionKind::Fuse, "fuse", where);
  std::vector<int> fused;
  const Step::Place place = step.with(loops).with(options.preserve_unit_iters).loops(loops, fused);
  return step.finish(place, s_tir::fuse(place.program, fused, options, where));
}

void Schedule::reorder(const std::vector<LoopRV>& loops, Where where) {
  Step step(own(), InstructionKind::Reorder, "reorder", where);
  std::vector<int> order;
  const Step::Place place = step.with(loops).loops(loops, order);
  step.finish(place, s_tir::reorder(place.program, order, where));
}

LoopRV Schedule::add_unit_loop(BlockOrLoop target, Where where) {
  Step step(own(), InstructionKind::AddUnitLoop, "add_unit_loop", where);
  const Step::Place place = step.with(target.rv()).block_or_loop(target.rv());
  return step.finish(place, s_tir::add_unit_loop(place.program, place.n, where));
}

void Schedule::parallel(LoopRV loop, Where where) {
  Step step(own(), InstructionKind::Parallel, "parallel", where);
  const Step::Place place = step.with(RV(loop)).loop(loop);
  step.finish(place, s_tir::parallel(place.program, place.n, where));
}

void Schedule::vectorize(LoopRV loop, Where where) {
  Step step(own(), InstructionKind::Vectorize, "vectorize", where);
  const Step::Place place = step.with(RV(loop)).loop(loop);
  step.finish(place, s_tir::vectorize(place.program, place.n, where));
}

void Schedule::unroll(LoopRV loop, Where where) {
  Step step(own(), InstructionKind::Unroll, "unroll", where);
  const Step::Place place = step.with(RV(loop)).loop(loop);
  step.finish(place, s_tir::unroll(place.program, place.n, where));
}

void Schedule::bind(LoopRV loop, const Name& thread_axis, Where where) {
  Step step(own(), InstructionKind::Bind, "bind", where);
  step.with(RV(loop)).with(thread_axis);
  const ThreadTag thread = ThreadTag::parse(thread_axis, where);
  const Step::Place place = step.loop(loop);
  step.finish(place, s_tir::bind(place.program, place.n, thread, where));
}

// ---- memory -------------------------------------------------------------------------------------

BlockRV Schedule::cache_read(BlockRV block, int read_buffer_index, const Name& storage_scope,
                             Where where) {
  Step step(own(), InstructionKind::CacheRead, "cache_read", where);
  step.with(RV(block)).with(read_buffer_index).with(storage_scope);
  const StorageScope scope = parse_storage_scope(storage_scope, where);
  const Step::Place place = step.block(block);
  return step.finish(place,
                     s_tir::cache_read(place.program, place.n, read_buffer_index, scope, where));
}

BlockRV Schedule::cache_write(BlockRV block, int write_buffer_index, const Name& storage_scope,
                              Where where) {
  Step step(own(), InstructionKind::CacheWrite, "cache_write", where);
  step.with(RV(block)).with(write_buffer_index).with(storage_scope);
  const StorageScope scope = parse_storage_scope(storage_scope, where);
  const Step::Place place = step.block(block);
  return step.finish(place,
                     s_tir::cache_write(place.program, place.n, write_buffer_index, scope, where));
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
  return step.finish(place, s_tir::reindex(place.program, place.n, buffer_index, type, where));
}

void Schedule::set_scope(BlockRV block, int buffer_index, const Name& storage_scope, Where where) {
  Step step(own(), InstructionKind::SetScope, "set_scope", where);
  step.with(RV(block)).with(buffer_index).with(storage_scope);
  const StorageScope scope = parse_storage_scope(storage_scope, where);
  const Step::Place place = step.block(block);
  step.finish(place, s_tir::set_scope(place.program, place.n, buffer_index, scope, where));
}

void Schedule::storage_align(BlockRV block, const StorageAlignOptions& options, Where where) {
  Step step(own(), InstructionKind::StorageAlign, "storage_align", where);
  step.with(RV(block))
      .with(options.buffer_index)
      .with(options.axis)
      .with(options.factor)
      .with(options.offset);
  const Step::Place place = step.block(block);
  step.finish(place, s_tir::storage_align(place.program, place.n, options.buffer_index,
                                          options.axis, options.factor, options.offset, where));
}

void Schedule::transform_layout(BlockRV block, int buffer_index, const Name& buffer_index_type,
                                const IndexMap& index_map, Where where) {
  Step step(own(), InstructionKind::TransformLayout, "transform_layout", where);
  step.with(RV(block)).with(buffer_index).with(buffer_index_type).with(index_map.text());
  const BufferIndexType type = parse_index_type(step.caller(), buffer_index_type);
  const Step::Place place = step.block(block);
  step.finish(
      place, s_tir::transform_layout(place.program, place.n, buffer_index, type, index_map, where));
}

void Schedule::transform_block_layout(BlockRV block, const IndexMap& index_map, Where where) {
  Step step(own(), InstructionKind::TransformBlockLayout, "transform_block_layout", where);
  const Step::Place place = step.with(RV(block)).with(index_map.text()).block(block);
  step.finish(place, s_tir::transform_block_layout(place.program, place.n, index_map, where));
}

// ---- compute locations  -------------------------------------------------------------------------

namespace {

/// The step of compute_at (`moved`) or reverse_compute_at. A sampled location may be the block's
/// current one, or inlining.
template <class Moved, class Inlined>
void compute_at_loop(Step step, BlockRV block, LoopRV loop, const ComputeAtOptions& options,
                     Moved moved, Inlined inlined) {
  step.with(RV(block)).with(RV(loop)).with(options.preserve_unit_loops).with(options.index);
  const SourceLocation where = step.caller().where;
  const Step::Place place = step.block(block);
  if (const auto* none = std::get_if<NoLoop>(&step.meaning(loop))) {
    if (*none == NoLoop::Inline) return step.finish(place, inlined(place.program, place.n, where));
    return step.record();
  }
  const Step::Place target = step.loop(loop);
  if (target.function != place.function)
    refuse(step.caller(), "the block and the loop belong to different functions");
  step.finish(place, moved(place.program, place.n, target.n, options, where));
}

}  // namespace

void Schedule::compute_at(BlockRV block, LoopRV loop, const ComputeAtOptions& options,
                          Where where) {
  compute_at_loop({own(), InstructionKind::ComputeAt, "compute_at", where}, block, loop, options,
                  s_tir::compute_at, s_tir::compute_inline);
}

void Schedule::reverse_compute_at(BlockRV block, LoopRV loop, const ComputeAtOptions& options,
                                  Where where) {
  compute_at_loop({own(), InstructionKind::ReverseComputeAt, "reverse_compute_at", where}, block,
                  loop, options, s_tir::reverse_compute_at, s_tir::reverse_compute_inline);
}

void Schedule::compute_inline(BlockRV block, Where where) {
  Step step(own(), InstructionKind::ComputeInline, "compute_inline", where);
  const Step::Place place = step.with(RV(block)).block(block);
  step.finish(place, s_tir::compute_inline(place.program, place.n, where));
}

void Schedule::reverse_compute_inline(BlockRV block, Where where) {
  Step step(own(), InstructionKind::ReverseComputeInline, "reverse_compute_inline", where);
  const Step::Place place = step.with(RV(block)).block(block);
  step.finish(place, s_tir::reverse_compute_inline(place.program, place.n, where));
}

// ---- reductions, blocks, annotations  -----------------------------------------------------------

BlockRV Schedule::decompose_reduction(BlockRV block, LoopRV loop, Where where) {
  Step step(own(), InstructionKind::DecomposeReduction, "decompose_reduction", where);
  const Step::Place place = step.with(RV(block)).with(RV(loop)).block(block),
                    target = step.loop(loop);
  if (target.function != place.function)
    refuse(step.caller(), "the block and the loop belong to different functions");
  return step.finish(place, s_tir::decompose_reduction(place.program, place.n, target.n, where));
}

void Schedule::merge_reduction(BlockRV init, BlockRV update, Where where) {
  Step step(own(), InstructionKind::MergeReduction, "merge_reduction", where);
  step.with(RV(init)).with(RV(update));
  const Step::Place first = step.block(init), second = step.block(update);
  if (first.function != second.function)
    refuse(step.caller(), "the blocks belong to different functions");
  step.finish(first, s_tir::merge_reduction(first.program, first.n, second.n, where));
}

BlockRV Schedule::rfactor(LoopRV loop, int factor_axis, Where where) {
  Step step(own(), InstructionKind::RFactor, "rfactor", where);
  const Step::Place place = step.with(RV(loop)).with(factor_axis).loop(loop);
  return step.finish(place, s_tir::rfactor(place.program, place.n, factor_axis, where));
}

BlockRV Schedule::blockize(LoopRV loop, Where where) {
  Step step(own(), InstructionKind::Blockize, "blockize", where);
  const Step::Place place = step.with(RV(loop)).with(true).loop(loop);
  return step.finish(place, s_tir::blockize(place.program, place.n, where));
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
  step.finish(place, s_tir::tensorize(place.program, place.n, *intrin, where));
}

void Schedule::annotate(BlockOrLoop target, const Name& key, const AnnotationValue& value,
                        Where where) {
  Step step(own(), InstructionKind::Annotate, "annotate", where);
  TraceValue written;
  Annotation noted{Expr(0)};
  match(
      value,
      [&](auto number) {
        written = {number};
        noted.value = Expr(number);
      },
      [&](const ExprRV& rv) {
        written = {RV(rv)};
        noted.value = Expr(step.number(rv));
      },
      [&](const std::string& text) {
        written = {text};
        noted.value = make_string(text);
      });
  if (const Expr* e = std::get_if<Expr>(&noted.value))
    if (const auto number = constant_int(*e); number && !e->dtype().is_bool())
      noted.value = *number >= INT32_MIN && *number <= INT32_MAX ? make_int(Int(32), *number) : *e;
  const Step::Place place =
      step.with(target.rv()).with(key).with(std::move(written)).block_or_loop(target.rv());
  step.finish(place, s_tir::annotate(place.program, place.n, key, std::move(noted), where));
}

void Schedule::unannotate(BlockOrLoop target, const Name& key, Where where) {
  Step step(own(), InstructionKind::Unannotate, "unannotate", where);
  const Step::Place place = step.with(target.rv()).with(key).block_or_loop(target.rv());
  step.finish(place, s_tir::unannotate(place.program, place.n, key, where));
}

void Schedule::enter_postproc() {
  Step step(own(), InstructionKind::EnterPostproc, "enter_postproc", Where::current());
  step.record();
}

}  // namespace tenon::s_tir
