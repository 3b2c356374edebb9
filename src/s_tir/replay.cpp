#include <algorithm>
#include <utility>

#include "s_tir/context.h"
#include "s_tir/instruction.h"
#include "s_tir/step.h"

namespace tenon::s_tir {

namespace {

/// Applies the steps of a trace to a schedule. Maps the trace's handles to the handles that the
/// schedule returns.
class Replayer {
 public:
  Replayer(Schedule& schedule, const ReplayOptions& options, SourceLocation where)
      : schedule_(schedule), options_(options), where_(where) {}

  void run(const Instruction& step) {
    step_ = &step;
    info_ = &info_of(step.kind);
    apply();
  }

 private:
  // ---- arguments ----

  [[noreturn]] void fail(const std::string& what) const {
    throw TypeError(std::string(info_->name) + ": " + what);
  }

  template <class T>
  const T& value(std::string_view name) const {
    const TraceValue& argument = step_->arguments[parameter_index(*info_, name)];
    if (const T* own = std::get_if<T>(&argument.value)) return *own;
    fail("argument `" + std::string(name) + "` has the wrong type");
  }
  const std::string& text(std::string_view name) const { return value<std::string>(name); }
  int integer(std::string_view name) const { return int_of(value<std::int64_t>(name), name); }
  int int_of(std::int64_t number, std::string_view name) const {
    if (std::in_range<int>(number)) return static_cast<int>(number);
    fail("`" + std::string(name) + "` is " + std::to_string(number) + ", which is out of range");
  }
  RV known(const RV& rv) const {
    const auto entry = handles_.find(rv.number);
    internal_check(entry != handles_.end(), "a trace uses what none of its steps gives");
    return entry->second;
  }
  RV handle(std::string_view name) const { return known(value<RV>(name)); }
  BlockRV block(std::string_view name = "block") const {
    const RV rv = handle(name);
    if (rv.kind != RV::Kind::Block) fail("argument `" + std::string(name) + "` is not a block");
    return BlockRV(rv.number);
  }
  LoopRV loop_of(const RV& rv) const {
    if (rv.kind != RV::Kind::Loop) fail("an argument is not a loop");
    return LoopRV(rv.number);
  }
  LoopRV loop(std::string_view name = "loop") const { return loop_of(handle(name)); }
  BlockOrLoop block_or_loop() const {
    const RV rv = handle("block_or_loop");
    if (rv.kind == RV::Kind::Block) return BlockRV(rv.number);
    return loop_of(rv);
  }
  std::vector<LoopRV> loops(std::string_view name) const {
    std::vector<LoopRV> result;
    for (const TraceValue& item : value<TraceValue::List>(name)) {
      const RV* rv = std::get_if<RV>(&item.value);
      if (!rv) fail("an argument is not a loop");
      result.push_back(loop_of(known(*rv)));
    }
    return result;
  }
  Factors factors() const {
    std::vector<Factor> result;
    for (const TraceValue& item : value<TraceValue::List>("factors")) {
      if (const auto* number = std::get_if<std::int64_t>(&item.value))
        result.emplace_back(*number);
      else if (const auto* rv = std::get_if<RV>(&item.value))
        result.emplace_back(ExprRV(known(*rv).number));
      else if (std::holds_alternative<std::monostate>(item.value))
        result.emplace_back(std::nullopt);
      else
        fail("a factor is not a number");
    }
    return result;
  }
  AnnotationValue annotation() const {
    const TraceValue& item = step_->arguments[parameter_index(*info_, "ann_val")];
    if (const auto* number = std::get_if<std::int64_t>(&item.value)) return *number;
    if (const auto* flag = std::get_if<bool>(&item.value)) return *flag;
    if (const auto* number = std::get_if<double>(&item.value)) return *number;
    if (const auto* text = std::get_if<std::string>(&item.value)) return *text;
    if (const auto* rv = std::get_if<RV>(&item.value)) return ExprRV(known(*rv).number);
    fail("argument `ann_val` is neither a number nor a string");
  }
  /// Returns the elements of a list of numbers. `what` names the list in messages.
  template <class T>
  std::vector<T> numbers(const TraceValue& value, const char* what) const {
    std::vector<T> result;
    const auto* list = std::get_if<TraceValue::List>(&value.value);
    bool is_fine = list != nullptr;
    for (std::size_t n = 0; is_fine && n < list->size(); ++n) {
      const auto* integer = std::get_if<std::int64_t>(&(*list)[n].value);
      const auto* number = std::get_if<double>(&(*list)[n].value);
      is_fine = integer || (number && std::is_floating_point_v<T>);
      if (is_fine) result.push_back(integer ? static_cast<T>(*integer) : static_cast<T>(*number));
    }
    if (is_fine) return result;
    fail(std::string(what) + " is not a list of " +
         (std::is_floating_point_v<T> ? "numbers" : "integers"));
  }
  /// Returns the recorded decision. Null if there is no decision, or if decisions are to be drawn
  /// anew.
  const TraceValue* decision() const {
    const bool is_there = step_->decision && !options_.draw_anew &&
                          !std::holds_alternative<std::monostate>(step_->decision->value);
    return is_there ? &*step_->decision : nullptr;
  }
  std::optional<int> decided() const {
    const TraceValue* own = decision();
    if (!own) return std::nullopt;
    if (const auto* number = std::get_if<std::int64_t>(&own->value))
      return int_of(*number, "decision");
    fail("the decision is not an integer");
  }
  ComputeAtOptions compute_at_options() const {
    return {.preserve_unit_loops = value<bool>("preserve_unit_loops"), .index = integer("index")};
  }

  StorageAlignOptions storage_align_options() const {
    return {.buffer_index = integer("buffer_index"),
            .axis = integer("axis"),
            .factor = integer("factor"),
            .offset = integer("offset")};
  }

  // ---- results ----

  void give(const RV& rv) { give(std::vector<RV>{rv}); }
  template <class T>
  void give(const std::vector<T>& results) {
    if (results.size() != step_->outputs.size() && !step_->outputs.empty())
      throw ScheduleError(std::string(info_->name) + " gives " + std::to_string(results.size()) +
                          " results here, but the trace names " +
                          std::to_string(step_->outputs.size()));
    for (std::size_t n = 0; n < step_->outputs.size(); ++n)
      handles_.insert_or_assign(step_->outputs[n].number, RV(results[n]));
  }

  void apply() {
    using Kind = InstructionKind;
    switch (step_->kind) {
      case Kind::GetBlock:
        return give(schedule_.get_block(text("name"), text("func_name"), where_));
      case Kind::GetLoops:
        return give(schedule_.get_loops(block(), where_));
      case Kind::GetChildBlocks:
        return give(schedule_.get_child_blocks(block_or_loop(), where_));
      case Kind::GetProducers:
        return give(schedule_.get_producers(block(), where_));
      case Kind::GetConsumers:
        return give(schedule_.get_consumers(block(), where_));
      case Kind::SamplePerfectTile:
      case Kind::SampleCategorical:
      case Kind::SampleComputeLocation:
        return sample();
      case Kind::Fuse:
        return give(schedule_.fuse(
            loops("loops"), {.preserve_unit_iters = value<bool>("preserve_unit_iters")}, where_));
      case Kind::Split:
        return give(schedule_.split(loop(), factors(),
                                    {.preserve_unit_iters = value<bool>("preserve_unit_iters"),
                                     .disable_predication = value<bool>("disable_predication")},
                                    where_));
      case Kind::Reorder:
        return schedule_.reorder(loops("ordered_loops"), where_);
      case Kind::AddUnitLoop:
        return give(schedule_.add_unit_loop(block_or_loop(), where_));
      case Kind::Parallel:
        return schedule_.parallel(loop(), where_);
      case Kind::Vectorize:
        return schedule_.vectorize(loop(), where_);
      case Kind::Unroll:
        return schedule_.unroll(loop(), where_);
      case Kind::Bind:
        return schedule_.bind(loop(), text("thread_axis"), where_);
      case Kind::CacheRead:
        return give(schedule_.cache_read(block(), integer("read_buffer_index"),
                                         text("storage_scope"), where_));
      case Kind::CacheWrite:
        return give(schedule_.cache_write(block(), integer("write_buffer_index"),
                                          text("storage_scope"), where_));
      case Kind::Reindex:
        return give(
            schedule_.reindex(block(), integer("buffer_index"), text("buffer_index_type"), where_));
      case Kind::ComputeAt:
        return schedule_.compute_at(block(), loop(), compute_at_options(), where_);
      case Kind::ReverseComputeAt:
        return schedule_.reverse_compute_at(block(), loop(), compute_at_options(), where_);
      case Kind::ComputeInline:
        return schedule_.compute_inline(block(), where_);
      case Kind::ReverseComputeInline:
        return schedule_.reverse_compute_inline(block(), where_);
      case Kind::DecomposeReduction:
        return give(schedule_.decompose_reduction(block(), loop(), where_));
      case Kind::MergeReduction:
        return schedule_.merge_reduction(block("init"), block("update"), where_);
      case Kind::RFactor:
        return give(schedule_.rfactor(loop(), integer("factor_axis"), where_));
      case Kind::StorageAlign:
        return schedule_.storage_align(block(), storage_align_options(), where_);
      case Kind::SetScope:
        return schedule_.set_scope(block(), integer("buffer_index"), text("storage_scope"), where_);
      case Kind::Blockize:
        return give(schedule_.blockize(loop(), where_));
      case Kind::Tensorize:
        return schedule_.tensorize(block_or_loop(), text("tensor_intrin"), where_);
      case Kind::TransformLayout:
        return schedule_.transform_layout(block(), integer("buffer_index"),
                                          text("buffer_index_type"),
                                          IndexMap::parse(text("index_map")), where_);
      case Kind::TransformBlockLayout:
        return schedule_.transform_block_layout(block(), IndexMap::parse(text("index_map")),
                                                where_);
      case Kind::Annotate:
        return schedule_.annotate(block_or_loop(), text("ann_key"), annotation(), where_);
      case Kind::Unannotate:
        return schedule_.unannotate(block_or_loop(), text("ann_key"), where_);
      case Kind::EnterPostproc:
        return schedule_.enter_postproc();
    }
  }

  void sample() {
    if (step_->kind == InstructionKind::SamplePerfectTile) {
      PerfectTileOptions options{.n = integer("n"),
                                 .max_innermost_factor = integer("max_innermost_factor")};
      if (const TraceValue* own = decision())
        options.decision = numbers<std::int64_t>(*own, "the decision");
      give(schedule_.sample_perfect_tile(loop(), options, where_));
    } else if (step_->kind == InstructionKind::SampleCategorical) {
      const auto& arguments = step_->arguments;
      give(schedule_.sample_categorical(numbers<std::int64_t>(arguments[0], "`candidates`"),
                                        numbers<double>(arguments[1], "`probs`"),
                                        {.decision = decided()}, where_));
    } else {
      give(schedule_.sample_compute_location(block(), {.decision = decided()}, where_));
    }
  }

  Schedule& schedule_;
  const ReplayOptions& options_;
  SourceLocation where_;
  const Instruction* step_ = nullptr;
  const InstructionInfo* info_ = nullptr;
  std::map<int, RV> handles_;
};

}  // namespace

void Schedule::apply_trace(const Trace& trace, const ReplayOptions& options, Where where) {
  // Applies the trace to a copy, so that a failure leaves the schedule unchanged.
  Schedule attempt = *this;
  Replayer replayer(attempt, options, where);
  for (std::size_t n = 0; n < trace.steps.size(); ++n) {
    try {
      replayer.run(trace.steps[n]);
    } catch (const ScheduleError& error) {
      throw ScheduleError("step " + std::to_string(n + 1) + " of the trace: " + error.sentence(),
                          where);
    } catch (const TypeError& error) {
      throw TypeError("step " + std::to_string(n + 1) + " of the trace: " + error.sentence(),
                      where);
    }
  }
  *this = attempt;
}

}  // namespace tenon::s_tir
