#include "te/intrinsics/intrin_view.h"

#include <algorithm>

#include "tenon/arith/simplify.h"
#include "tenon/tir/print.h"

namespace tenon::te {

using namespace tir;

// ---- dimensions ---------------------------------------------------------------------------------

std::vector<Expr> IntrinView::index(const std::vector<Expr>& theirs) const {
  if (dims.are_the_last()) return theirs;
  std::vector<Expr> result;
  for (const std::optional<std::size_t>& partner : dims.theirs)
    result.push_back(partner ? theirs[*partner] : Expr(0));
  return result;
}

std::vector<Expr> IntrinView::index_of_tensor(const std::vector<Expr>& theirs) const {
  std::vector<Expr> result;
  for (std::size_t d = 0; d < region.size(); ++d) {
    result.push_back(region[d].min);
    if (dims.theirs[d]) result.back() = result.back() + theirs[*dims.theirs[d]];
  }
  return result;
}

namespace {

/// Returns the declared buffer with the region's dimensions.
Buffer with_dims_of_region(const Buffer& declared, const DimPairs& dims, VarMap& values) {
  BufferNode node = *declared.get();
  node.shape.clear();
  node.strides.clear();
  node.axis_separators.clear();
  const bool is_strided = !declared->strides.empty();
  for (const std::optional<std::size_t>& partner : dims.theirs) {
    node.shape.push_back(partner ? declared->shape[*partner] : Expr(1));
    // A dimension of one element may have any stride.
    if (is_strided)
      node.strides.push_back(partner ? declared->strides[*partner] : Expr(Var("stride")));
  }
  // The code may use the stride of a dimension that the region does not have.
  for (std::size_t t : dims.unpaired) {
    if (!is_strided || !declared->strides[t].as<VarNode>()) continue;
    const bool is_last = t + 1 == declared->shape.size();
    set(values, Var::of(declared->strides[t]),
        is_last ? Expr(1) : declared->strides[t + 1] * declared->shape[t + 1]);
  }
  return make_buffer(std::move(node));
}

}  // namespace

IntrinView make_intrin_view(const Buffer& declared, const Tensor& tensor, std::vector<Range> region,
                            DimPairs dims, VarMap& values) {
  const Buffer buffer =
      dims.are_the_last() ? declared : with_dims_of_region(declared, dims, values);
  return {buffer, tensor, std::move(region), std::move(dims)};
}

Stmt on_view(const Stmt& code, const Buffer& declared, const IntrinView& view) {
  if (view.buffer.same_as(declared)) return code;
  return rewrite(
      code,
      [&](const Load& load, const Expr&) -> std::optional<Expr> {
        if (!load.buffer.same_as(declared)) return std::nullopt;
        return make_load(view.buffer, view.index(load.indices));
      },
      [&](const Store& store, const Stmt&) -> std::optional<Stmt> {
        if (!store.buffer.same_as(declared)) return std::nullopt;
        return make_store(view.buffer, store.value, view.index(store.indices));
      });
}

// ---- places -------------------------------------------------------------------------------------

namespace {

/// The memory of a tensor.
struct Memory {
  /// The index of its first element.
  std::vector<Expr> origin;
  /// Nullopt if later passes determine the strides.
  std::optional<std::vector<Expr>> strides;
  StorageScope scope;
};

bool is_padded(const FrozenStage& stage) {
  return std::any_of(stage.attributes.begin(), stage.attributes.end(),
                     [](const auto& entry) { return entry.second.align.has_value(); });
}

Memory memory_of(const Tensor& tensor, const Program& program) {
  Memory memory{std::vector<Expr>(tensor.shape().size(), Expr(0)), std::nullopt,
                StorageScope::Global};
  const std::optional<StageId> id = program.graph.find(tensor.op());
  if (program.buffers.is_argument(tensor)) {
    const Buffer buffer = program.buffers.buffer_of(tensor);
    memory.strides = buffer->strides.empty() ? compact_strides(buffer->shape) : buffer->strides;
    memory.scope = buffer->scope();
    if (id && program.graph.stage(*id).layout) memory.strides = std::nullopt;
    return memory;
  }
  if (!id) return memory;
  const FrozenStage& stage = program.graph.stage(*id);
  memory.scope = stage.scope;
  if (stage.op.axis().size() != tensor.shape().size()) return memory;
  std::vector<Expr> extents;
  for (std::size_t d = 0; d < memory.origin.size(); ++d) {
    memory.origin[d] = program.bounds[stage.op.axis()[d]].min;
    extents.push_back(program.bounds[stage.op.axis()[d]].extent);
  }
  if (!stage.layout && !is_padded(stage)) memory.strides = compact_strides(extents);
  return memory;
}

std::string misplaced(const IntrinView& view, std::size_t d, const Expr& begin,
                      const Program& program) {
  return "its buffer `" + view.buffer->name + "` has no offset, but stands for a part of `" +
         view.tensor.name() + "` that begins at " +
         print_expr(arith::simplify(begin, program.facts)) + " of dimension " + std::to_string(d) +
         "; declare it with offset_factor = 1";
}

std::string badly_strided(const IntrinView& view, std::size_t d, const Expr& declared,
                          const Expr& actual) {
  const std::string property = view.buffer->strides.empty()
                                   ? "is compact, so that neighbours along its dimension "
                                   : "says by its strides that neighbours along its dimension ";
  return "its buffer `" + view.buffer->name + "` " + property +
         std::to_string(*view.dims.theirs[d]) + " lie " + print_expr(declared) +
         " elements apart, but in `" + view.tensor.name() + "` it is " + print_expr(actual) +
         "; declare the stride as a variable: {.strides = {te::var(\"s\"), ...}}";
}

}  // namespace

std::optional<std::string> misfit(const IntrinView& view, const Program& program) {
  const Memory memory = memory_of(view.tensor, program);
  if (const std::optional<PointerType>& pointer = view.buffer->data.as<VarNode>()->pointer;
      pointer && pointer->scope && *pointer->scope != memory.scope)
    return "its buffer `" + view.buffer->name + "` is declared in scope \"" +
           std::string(to_string(*pointer->scope)) + "\", but `" + view.tensor.name() +
           "` is kept in \"" + std::string(to_string(memory.scope)) + "\"";
  const std::vector<Expr>& shape = view.buffer->shape;
  const std::vector<Expr> strides =
      view.buffer->strides.empty() ? compact_strides(shape) : view.buffer->strides;
  const std::size_t missing = view.region.size() - std::min(view.region.size(), shape.size());
  for (std::size_t d = 0; d < view.region.size(); ++d) {
    const Expr begin = view.region[d].min - memory.origin[d];
    if (is_zero(view.buffer->elem_offset) && !arith::can_prove_equal(begin, 0, program.facts))
      return misplaced(view, d, begin, program);
    if (!memory.strides || !view.dims.theirs[d] || d < missing) continue;
    const Expr &declared = strides[d - missing], &actual = (*memory.strides)[d];
    if (declared.as<VarNode>() || is_one(arith::simplify(view.region[d].extent, program.facts)))
      continue;
    if (is_false(arith::simplify(declared == actual, program.facts)))
      return badly_strided(view, d, declared, arith::simplify(actual, program.facts));
  }
  return std::nullopt;
}

}  // namespace tenon::te
