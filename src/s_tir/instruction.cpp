#include "s_tir/instruction.h"

#include <algorithm>
#include <array>

#include "tenon/s_tir/index_map.h"
#include "tenon/support/error.h"

namespace tenon::s_tir {

namespace {

constexpr Parameter input(std::string_view name, std::string_view later_name = {}) {
  return {.name = name, .later_name = later_name};
}
constexpr Parameter positional(std::string_view name) { return {.name = name, .positional = true}; }
constexpr Parameter attribute(std::string_view name) {
  return {.name = name, .is_attribute = true};
}
constexpr Parameter flag(std::string_view name) {
  return {.name = name, .is_attribute = true, .is_bool = true};
}
constexpr Parameter index_map(std::string_view name) {
  return {.name = name, .is_attribute = true, .is_index_map = true};
}
/// A parameter that was added after TVM 0.9.0. `absent`: its default.
constexpr Parameter newer_flag(std::string_view name, bool absent) {
  return {.name = name, .is_attribute = true, .absent = absent, .is_bool = true};
}
constexpr Parameter newer(std::string_view name, std::int64_t absent) {
  return {.name = name, .is_attribute = true, .absent = absent};
}

constexpr std::array<Parameter, 0> kNone = {};
constexpr std::array kGetBlock = {attribute("name"), attribute("func_name")};
constexpr std::array kBlock = {input("block")};
constexpr std::array kLoop = {input("loop")};
constexpr std::array kChildren = {positional("block_or_loop")};
constexpr std::array kPerfectTile = {input("loop"), attribute("n"),
                                     attribute("max_innermost_factor")};
constexpr std::array kCategorical = {attribute("candidates"), attribute("probs")};
constexpr std::array kFuse = {positional("loops"), flag("preserve_unit_iters")};
constexpr std::array kSplit = {input("loop"), input("factors"), flag("preserve_unit_iters"),
                               newer_flag("disable_predication", false)};
constexpr std::array kReorder = {positional("ordered_loops")};
constexpr std::array kTarget = {input("block_or_loop")};
constexpr std::array kBind = {input("loop"), attribute("thread_axis")};
constexpr std::array kCacheRead = {input("block"), attribute("read_buffer_index"),
                                   attribute("storage_scope")};
constexpr std::array kCacheWrite = {input("block"), attribute("write_buffer_index"),
                                    attribute("storage_scope")};
constexpr std::array kReindex = {input("block"), attribute("buffer_index"),
                                 attribute("buffer_index_type")};
constexpr std::array kComputeAt = {input("block"), input("loop"), flag("preserve_unit_loops"),
                                   newer("index", -1)};
constexpr std::array kDecompose = {input("block"), input("loop")};
constexpr std::array kMerge = {input("init"), input("update")};
constexpr std::array kRFactor = {input("loop"), attribute("factor_axis")};
constexpr std::array kStorageAlign = {input("block"), attribute("buffer_index"), attribute("axis"),
                                      attribute("factor"), attribute("offset")};
constexpr std::array kSetScope = {input("block"), attribute("buffer_index"),
                                  attribute("storage_scope")};
constexpr std::array kBlockize = {input("loop", "target"), newer_flag("preserve_unit_iters", true)};
constexpr std::array kTensorize = {input("block_or_loop"), attribute("tensor_intrin"),
                                   newer_flag("preserve_unit_iters", true)};
constexpr std::array kTransformLayout = {input("block"), attribute("buffer_index"),
                                         attribute("buffer_index_type"), index_map("index_map")};
constexpr std::array kTransformBlockLayout = {input("block"), index_map("index_map")};
constexpr std::array kAnnotate = {input("block_or_loop"), attribute("ann_key"), input("ann_val")};
constexpr std::array kUnannotate = {input("block_or_loop"), attribute("ann_key")};

using Kind = InstructionKind;

// The rows are in the order of InstructionKind.
constexpr InstructionInfo kRows[] = {
    {Kind::GetBlock, "get_block", "GetBlock", kGetBlock, Gives::Block, true},
    {Kind::GetLoops, "get_loops", "GetLoops", kBlock, Gives::Loops, true},
    {Kind::GetChildBlocks, "get_child_blocks", "GetChildBlocks", kChildren, Gives::Blocks, true},
    {Kind::GetProducers, "get_producers", "GetProducers", kBlock, Gives::Blocks, true},
    {Kind::GetConsumers, "get_consumers", "GetConsumers", kBlock, Gives::Blocks, true},
    {Kind::SamplePerfectTile, "sample_perfect_tile", "SamplePerfectTile", kPerfectTile,
     Gives::Exprs, true, true},
    {Kind::SampleCategorical, "sample_categorical", "SampleCategorical", kCategorical, Gives::Expr,
     true, true},
    {Kind::SampleComputeLocation, "sample_compute_location", "SampleComputeLocation", kBlock,
     Gives::Loop, true, true},
    {Kind::Fuse, "fuse", "Fuse", kFuse, Gives::Loop},
    {Kind::Split, "split", "Split", kSplit, Gives::Loops},
    {Kind::Reorder, "reorder", "Reorder", kReorder, Gives::Nothing},
    {Kind::AddUnitLoop, "add_unit_loop", "AddUnitLoop", kTarget, Gives::Loop},
    {Kind::Parallel, "parallel", "Parallel", kLoop, Gives::Nothing},
    {Kind::Vectorize, "vectorize", "Vectorize", kLoop, Gives::Nothing},
    {Kind::Unroll, "unroll", "Unroll", kLoop, Gives::Nothing},
    {Kind::Bind, "bind", "Bind", kBind, Gives::Nothing},
    {Kind::CacheRead, "cache_read", "CacheRead", kCacheRead, Gives::Block},
    {Kind::CacheWrite, "cache_write", "CacheWrite", kCacheWrite, Gives::Block},
    {Kind::Reindex, "reindex", "ReIndex", kReindex, Gives::Block},
    {Kind::ComputeAt, "compute_at", "ComputeAt", kComputeAt, Gives::Nothing},
    {Kind::ReverseComputeAt, "reverse_compute_at", "ReverseComputeAt", kComputeAt, Gives::Nothing},
    {Kind::ComputeInline, "compute_inline", "ComputeInline", kBlock, Gives::Nothing},
    {Kind::ReverseComputeInline, "reverse_compute_inline", "ReverseComputeInline", kBlock,
     Gives::Nothing},
    {Kind::DecomposeReduction, "decompose_reduction", "DecomposeReduction", kDecompose,
     Gives::Block},
    {Kind::MergeReduction, "merge_reduction", "MergeReduction", kMerge, Gives::Nothing},
    {Kind::RFactor, "rfactor", "RFactor", kRFactor, Gives::Block},
    {Kind::StorageAlign, "storage_align", "StorageAlign", kStorageAlign, Gives::Nothing},
    {Kind::SetScope, "set_scope", "SetScope", kSetScope, Gives::Nothing},
    {Kind::Blockize, "blockize", "Blockize", kBlockize, Gives::Block},
    {Kind::Tensorize, "tensorize", "Tensorize", kTensorize, Gives::Nothing},
    {Kind::TransformLayout, "transform_layout", "TransformLayout", kTransformLayout,
     Gives::Nothing},
    {Kind::TransformBlockLayout, "transform_block_layout", "TransformBlockLayout",
     kTransformBlockLayout, Gives::Nothing},
    {Kind::Annotate, "annotate", "Annotate", kAnnotate, Gives::Nothing},
    {Kind::Unannotate, "unannotate", "Unannotate", kUnannotate, Gives::Nothing},
    {Kind::EnterPostproc, "enter_postproc", "EnterPostproc", kNone, Gives::Nothing},
};

constexpr bool is_in_order() {
  for (std::size_t n = 0; n < std::size(kRows); ++n)
    if (static_cast<std::size_t>(kRows[n].kind) != n) return false;
  return true;
}
static_assert(is_in_order());

const InstructionInfo* find_row(std::string_view name, std::string_view InstructionInfo::*member) {
  const auto row = std::ranges::find_if(
      kRows, [&](const InstructionInfo& info) { return info.*member == name; });
  return row == std::end(kRows) ? nullptr : &*row;
}

}  // namespace

const InstructionInfo& info_of(InstructionKind kind) {
  return kRows[static_cast<std::size_t>(kind)];
}

const InstructionInfo* find_instruction(std::string_view name) {
  return find_row(name, &InstructionInfo::name);
}

const InstructionInfo* find_json_instruction(std::string_view name) {
  return find_row(name, &InstructionInfo::json_name);
}

std::string_view name_of(InstructionKind kind) { return info_of(kind).name; }

bool gives_list(InstructionKind kind) {
  const Gives gives = info_of(kind).gives;
  return gives == Gives::Blocks || gives == Gives::Loops || gives == Gives::Exprs;
}

RV::Kind kind_given(Gives gives) {
  if (gives == Gives::Block || gives == Gives::Blocks) return RV::Kind::Block;
  if (gives == Gives::Loop || gives == Gives::Loops) return RV::Kind::Loop;
  return RV::Kind::Expr;
}

std::size_t parameter_index(const InstructionInfo& info, std::string_view name) {
  for (std::size_t n = 0; n < info.parameters.size(); ++n)
    if (info.parameters[n].name == name) return n;
  internal_error("an instruction has no such parameter");
}

std::optional<std::string> complete(Instruction& step, const std::vector<bool>& is_given) {
  const InstructionInfo& info = info_of(step.kind);
  const std::string name(info.name);
  for (std::size_t n = 0; n < info.parameters.size(); ++n) {
    const Parameter& parameter = info.parameters[n];
    TraceValue& value = step.arguments[n];
    if (!is_given[n]) {
      // Older traces may omit flags.
      if (!parameter.absent && !parameter.is_bool)
        return name + ": argument `" + std::string(parameter.name) + "` is missing";
      value = parameter.absent ? *absent_value(parameter)
                               : TraceValue{parameter.name == "preserve_unit_iters"};
    }
    if (const auto* integer = std::get_if<std::int64_t>(&value.value); integer && parameter.is_bool)
      value = TraceValue{*integer != 0};
    if (const auto* map = std::get_if<std::string>(&value.value); map && parameter.is_index_map) {
      try {
        IndexMap::parse(*map);
      } catch (const TypeError& error) {
        return error.sentence();
      }
    }
  }
  const bool gives_one = info.gives != Gives::Nothing && !gives_list(step.kind);
  if (info.gives == Gives::Nothing ? !step.outputs.empty() : gives_one && step.outputs.size() != 1)
    return name + " gives " + (gives_one ? "one thing" : "nothing") + ", and " +
           std::to_string(step.outputs.size()) + " are named";
  return std::nullopt;
}

std::optional<TraceValue> absent_value(const Parameter& parameter) {
  if (!parameter.absent) return std::nullopt;
  return std::visit([](const auto& value) { return TraceValue{value}; }, *parameter.absent);
}

}  // namespace tenon::s_tir
