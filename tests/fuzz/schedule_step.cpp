#include "tests/fuzz/schedule_step.h"

#include <algorithm>

#include "tests/common/random_intrinsic.h"

namespace tenon::fuzz {

namespace {

std::string named(const NotedStage& stage, const std::string& done) {
  return done.empty() ? "" : "s[" + stage.name() + "]." + done;
}

}  // namespace

const std::vector<ScheduleStep::Primitive>& ScheduleStep::primitives() {
  static const std::vector<Primitive> all = {
      {"split", 8, &ScheduleStep::split, On::Loops},
      {"tile", 3, &ScheduleStep::tile, On::Loops},
      {"fuse", 4, &ScheduleStep::fuse, On::Loops},
      {"rounds of split and fuse", 1, &ScheduleStep::rounds, On::Loops},
      {"reorder", 4, &ScheduleStep::reorder, On::Loops},
      {"vectorize", 3, &ScheduleStep::vectorize, On::Loops},
      {"split and vectorize", 3, &ScheduleStep::split_and_vectorize, On::Loops},
      {"data innermost, vectorized", 3, &ScheduleStep::data_innermost_vectorized},
      {"reduction fused with data", 3, &ScheduleStep::fuse_reduction_with_data, On::Reductions},
      {"unroll", 3, &ScheduleStep::unroll, On::Loops},
      {"parallel", 3, &ScheduleStep::parallel, On::Loops},
      {"partition hint", 2, &ScheduleStep::partition_hint, On::Loops},
      {"pragma", 2, &ScheduleStep::pragma, On::Loops},
      {"compute_at", 6, &ScheduleStep::compute_at, On::Producers},
      {"compute_inline", 2, &ScheduleStep::compute_inline, On::Producers},
      {"compute_root", 1, &ScheduleStep::compute_root},
      {"cache_read", 3, &ScheduleStep::cache_read, On::Readers},
      {"cache_write", 3, &ScheduleStep::cache_write},
      {"rfactor", 2, &ScheduleStep::rfactor, On::Reductions},
      {"rfactor of strands", 3, &ScheduleStep::strands, On::Reductions},
      {"register tile", 2, &ScheduleStep::register_tile},
      {"producer at reader", 4, &ScheduleStep::producer_at_reader, On::Producers},
      {"producer at a stretch", 3, &ScheduleStep::producer_at_stretch, On::Producers},
      {"layout at reader", 3, &ScheduleStep::layout_at_reader, On::Producers},
      {"storage_align", 2, &ScheduleStep::storage_align, On::Producers},
      {"prefetch", 2, &ScheduleStep::prefetch},
      {"transform_layout", 4, &ScheduleStep::transform_layout, On::Producers},
      {"set_scope", 2, &ScheduleStep::set_scope, On::Producers},
      {"double_buffer", 2, &ScheduleStep::double_buffer, On::Producers},
      {"rolling_buffer", 2, &ScheduleStep::rolling_buffer, On::Producers},
      {"round_up or shift_inwards", 8, &ScheduleStep::treat_tail, On::Producers},
      {"round_up with what is read", 4, &ScheduleStep::round_up_with_inputs, On::Producers},
      {"autotune_loops", 2, &ScheduleStep::autotune_loops},
      {"set_store_predicate", 1, &ScheduleStep::set_store_predicate},
      {"create_group", 2, &ScheduleStep::group, On::Producers},
      {"normalize", 1, &ScheduleStep::normalize, On::Readers},
      {"copy", 1, &ScheduleStep::copy, On::Readers},
      {"bind to virtual threads", 2, &ScheduleStep::virtual_threads, On::Loops},
      {"bind", 8, &ScheduleStep::bind, On::Loops, true},
      {"blocks and threads", 8, &ScheduleStep::blocks_and_threads, On::Computed, true},
      {"cooperative fetch", 6, &ScheduleStep::cooperative_fetch, On::Computed, true},
      {"caches of two scopes", 6, &ScheduleStep::caches_of_two_scopes, On::Computed, true},
      {"shared from shared", 6, &ScheduleStep::shared_from_shared, On::Computed, true},
      {"reduction over threads", 6, &ScheduleStep::reduction_over_threads, On::Reductions, true},
      {"threads of a scan", 6, &ScheduleStep::threads_of_scan, On::Scans, true},
  };
  return all;
}

const ScheduleStep::Primitive& ScheduleStep::pick_primitive() {
  int sum = 0;
  auto weight = [&](const Primitive& p) {
    if (p.needs_threads && !options_.with_threads) return 0;
    // With a symbolic size, only that size decides how a loop is partitioned: more hints.
    return options_.size && p.apply == &ScheduleStep::partition_hint ? 6 * p.weight : p.weight;
  };
  for (const Primitive& p : primitives()) sum += weight(p);
  int place = random_.between(1, sum);
  for (const Primitive& p : primitives()) {
    place -= weight(p);
    if (place <= 0) return p;
  }
  return primitives().front();
}

const ScheduleStep::Primitive& ScheduleStep::primitive_of(std::string_view name) {
  return *std::ranges::find(primitives(), name, &Primitive::name);
}

void ScheduleStep::run(Attempt& attempt, const char* name) {
  const Primitive& primitive = name != nullptr ? primitive_of(name) : pick_primitive();
  const std::optional<NotedStage> stage = pick_stage(primitive.on);
  if (!stage) return;
  attempt.primitive = primitive.name;
  attempt.kind = kind_of(stage->plain());
  attempt.text = named(*stage, (this->*primitive.apply)(*stage));
}

/// Sometimes one that will be refused.
std::optional<NotedStage> ScheduleStep::pick_stage(On on) {
  const bool is_wild = random_.one_in(16);
  std::vector<NotedStage> stages;
  for (const NotedStage& s : schedule_.stages()) {
    if (s.op().as<te::Placeholder>()) continue;
    const bool is_computed = s.op().as<te::Compute>() != nullptr;
    const bool has_loops = !s.leaf_iter_vars().empty();
    const bool is_scan = s.op().as<te::Scan>() != nullptr;
    const bool fits = on == On::Loops        ? has_loops
                      : on == On::Producers  ? !s.data().is_output || is_scan
                      : on == On::Reductions ? is_computed && !s.op().reduce_axis().empty()
                      : on == On::Computed   ? is_computed && has_loops
                      : on == On::Scans      ? is_scan
                                             : true;
    if (is_wild ? has_loops : fits) stages.push_back(s);
  }
  if (stages.empty()) return std::nullopt;
  return random_.pick(stages);
}

void ScheduleStep::tensorize(Attempt& attempt) {
  const std::vector<NotedStage> stages = computed_stages();
  if (stages.empty()) return;
  const NotedStage stage = random_.pick(stages);
  attempt.primitive = "tensorize";
  attempt.kind = kind_of(stage.plain());
  const te::StageGraph frozen = te::freeze(schedule_.plain());
  const testing::Between between = [&](int lo, int hi) { return random_.between(lo, hi); };
  // Now and then one whose buffers say their strides, so that memory of others is refused.
  using Strides = testing::LoopIntrinsicOptions::Strides;
  const bool says_strides = random_.one_in(3);
  const std::string done = testing::tensorize_by_chance(
      frozen, stage, between, says_strides ? Strides::Declared : Strides::Any);
  attempt.text = named(stage, done.empty() || !says_strides ? done : done + ", strides declared");
}

std::vector<NotedStage> ScheduleStep::computed_stages() const {
  std::vector<NotedStage> stages;
  for (const NotedStage& s : schedule_.stages())
    if (s.op().as<te::Compute>() && !s.leaf_iter_vars().empty()) stages.push_back(s);
  return stages;
}

te::IterVar ScheduleStep::leaf(const NotedStage& stage) {
  return random_.pick(stage.leaf_iter_vars());
}

std::vector<te::IterVar> ScheduleStep::leaves(const NotedStage& stage, tir::IterKind kind) const {
  std::vector<te::IterVar> result;
  for (const te::IterVar& axis : stage.leaf_iter_vars())
    if (axis.kind() == kind) result.push_back(axis);
  return result;
}

std::vector<NotedStage> ScheduleStep::readers(const NotedStage& stage) const {
  std::vector<NotedStage> result;
  for (const NotedStage& other : schedule_.stages()) {
    if (other.leaf_iter_vars().empty()) continue;
    for (const te::Tensor& input : other.op().inputs())
      if (input.op().same_as(stage.op()) || input.op().same_as(stage.origin_op())) {
        result.push_back(other);
        break;
      }
  }
  return result;
}

te::IterVar ScheduleStep::thread(int n) {
  const te::IterVar& any = threads_[static_cast<std::size_t>(n)];
  if (!random_.one_in(12)) return any;
  return te::thread_axis({0, 1 << random_.between(0, 4)}, any.thread()->str());
}

tir::Operand ScheduleStep::symbolic_or(int constant) {
  if (options_.size && options_.least_size > 0 && random_.one_in(8)) return *options_.size;
  return constant;
}

std::vector<te::Tensor> ScheduleStep::outputs_of(const NotedStage& stage) {
  std::vector<te::Tensor> outputs;
  for (int n = 0; n < stage.op().num_outputs(); ++n) outputs.push_back(stage.op().output(n));
  return outputs;
}

int ScheduleStep::factor() {
  static const std::vector<int> kFactors = {4, 8, 16, 16, 32, 13};
  // Cut down to what there is where that is known.
  static const std::vector<int> kLarge = {1 << 15, (1 << 16) - 1, 1 << 16, 2147483647};
  if (!options_.with_threads && !options_.size && random_.one_in(40)) return random_.pick(kLarge);
  return random_.one_in(3) ? random_.pick(kFactors) : random_.between(1, 9);
}

}  // namespace tenon::fuzz
