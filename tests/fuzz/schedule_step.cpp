#include "tests/fuzz/schedule_step.h"

#include "tests/common/random_intrinsic.h"

namespace tenon::fuzz {

namespace {

StageKind kind_of(const te::Stage& stage) {
  const te::Operation op = stage.op();
  if (op.as<te::Scan>()) return StageKind::Scan;
  const std::string& name = op.name();
  if (name.ends_with(".rf")) return StageKind::Factored;
  for (const char* scope : {".local", ".global", ".shared"})
    if (name.ends_with(scope) && op.reduce_axis().empty()) return StageKind::Copy;
  const bool is_one = op.num_outputs() == 1;
  if (op.reduce_axis().empty()) return is_one ? StageKind::Elementwise : StageKind::SeveralOutputs;
  return is_one ? StageKind::Reduction : StageKind::Tuple;
}

std::string named(const te::Stage& stage, const std::string& done) {
  return done.empty() ? "" : "s[" + stage.name() + "]." + done;
}

}  // namespace

const std::vector<ScheduleStep::Primitive>& ScheduleStep::primitives() {
  static const std::vector<Primitive> all = {
      {"split", 8, &ScheduleStep::split, On::Loops},
      {"tile", 3, &ScheduleStep::tile, On::Loops},
      {"fuse", 4, &ScheduleStep::fuse, On::Loops},
      {"reorder", 4, &ScheduleStep::reorder, On::Loops},
      {"vectorize", 3, &ScheduleStep::vectorize, On::Loops},
      {"split and vectorize", 3, &ScheduleStep::split_and_vectorize, On::Loops},
      {"data innermost, vectorized", 3, &ScheduleStep::data_innermost_vectorized},
      {"reduction fused with data", 3, &ScheduleStep::fuse_reduction_with_data, On::Reductions},
      {"unroll", 3, &ScheduleStep::unroll, On::Loops},
      {"parallel", 3, &ScheduleStep::parallel, On::Loops},
      {"pragma", 1, &ScheduleStep::pragma, On::Loops},
      {"compute_at", 6, &ScheduleStep::compute_at, On::Producers},
      {"compute_inline", 2, &ScheduleStep::compute_inline, On::Producers},
      {"compute_root", 1, &ScheduleStep::compute_root},
      {"cache_read", 3, &ScheduleStep::cache_read},
      {"cache_write", 3, &ScheduleStep::cache_write},
      {"rfactor", 2, &ScheduleStep::rfactor, On::Reductions},
      {"rfactor of strands", 3, &ScheduleStep::strands, On::Reductions},
      {"register tile", 2, &ScheduleStep::register_tile},
      {"producer at reader", 4, &ScheduleStep::producer_at_reader, On::Producers},
      {"storage_align", 2, &ScheduleStep::storage_align, On::Producers},
      {"prefetch", 2, &ScheduleStep::prefetch},
      {"transform_layout", 2, &ScheduleStep::transform_layout, On::Producers},
      {"set_scope", 2, &ScheduleStep::set_scope, On::Producers},
      {"double_buffer", 2, &ScheduleStep::double_buffer, On::Producers},
      {"rolling_buffer", 2, &ScheduleStep::rolling_buffer, On::Producers},
      {"set_store_predicate", 1, &ScheduleStep::set_store_predicate},
      {"create_group", 1, &ScheduleStep::group, On::Producers},
      {"bind to virtual threads", 2, &ScheduleStep::virtual_threads, On::Loops},
      {"bind", 8, &ScheduleStep::bind, On::Loops, true},
      {"blocks and threads", 8, &ScheduleStep::blocks_and_threads, On::Computed, true},
      {"cooperative fetch", 6, &ScheduleStep::cooperative_fetch, On::Computed, true},
      {"reduction over threads", 6, &ScheduleStep::reduction_over_threads, On::Reductions, true},
      {"threads of a scan", 2, &ScheduleStep::threads_of_scan, On::Loops, true},
  };
  return all;
}

const ScheduleStep::Primitive& ScheduleStep::pick_primitive() {
  int sum = 0;
  auto weight = [&](const Primitive& p) {
    return p.needs_threads && !options_.with_threads ? 0 : p.weight;
  };
  for (const Primitive& p : primitives()) sum += weight(p);
  int place = random_.between(1, sum);
  for (const Primitive& p : primitives()) {
    place -= weight(p);
    if (place <= 0) return p;
  }
  return primitives().front();
}

void ScheduleStep::run(Attempt& attempt) {
  const Primitive& primitive = pick_primitive();
  const std::optional<te::Stage> stage = pick_stage(primitive.on);
  if (!stage) return;
  attempt.primitive = primitive.name;
  attempt.kind = kind_of(*stage);
  attempt.text = named(*stage, (this->*primitive.apply)(*stage));
}

/// Sometimes one that will be refused.
std::optional<te::Stage> ScheduleStep::pick_stage(On on) {
  const bool is_wild = random_.one_in(16);
  std::vector<te::Stage> stages;
  for (const te::Stage& s : schedule_.stages()) {
    const bool is_computed = s.op().as<te::Compute>() != nullptr;
    const bool is_scan = s.op().as<te::Scan>() != nullptr;
    const bool fits = on == On::Loops        ? is_computed || is_scan
                      : on == On::Producers  ? (is_computed && !s.data().is_output) || is_scan
                      : on == On::Reductions ? is_computed && !s.op().reduce_axis().empty()
                                             : is_computed;
    if (is_wild ? is_computed : fits) stages.push_back(s);
  }
  if (stages.empty()) return std::nullopt;
  return random_.pick(stages);
}

void ScheduleStep::tensorize(Attempt& attempt) {
  const te::Stage stage = random_.pick(computed_stages());
  attempt.primitive = "tensorize";
  attempt.kind = kind_of(stage);
  attempt.text = named(stage, testing::tensorize_by_chance(schedule_, stage, [&](int lo, int hi) {
                         return random_.between(lo, hi);
                       }));
}

std::vector<te::Stage> ScheduleStep::computed_stages() const {
  std::vector<te::Stage> stages;
  for (const te::Stage& s : schedule_.stages())
    if (s.op().as<te::Compute>()) stages.push_back(s);
  return stages;
}

te::IterVar ScheduleStep::leaf(const te::Stage& stage) {
  return random_.pick(stage.leaf_iter_vars());
}

std::vector<te::IterVar> ScheduleStep::leaves(const te::Stage& stage, tir::IterKind kind) const {
  std::vector<te::IterVar> result;
  for (const te::IterVar& axis : stage.leaf_iter_vars())
    if (axis.kind() == kind) result.push_back(axis);
  return result;
}

std::vector<te::Stage> ScheduleStep::readers(const te::Stage& stage) const {
  std::vector<te::Stage> result;
  for (const te::Stage& other : computed_stages())
    for (const te::Tensor& input : other.op().inputs())
      if (input.op().same_as(stage.op()) || input.op().same_as(stage.origin_op())) {
        result.push_back(other);
        break;
      }
  return result;
}

std::vector<te::Tensor> ScheduleStep::outputs_of(const te::Stage& stage) {
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
