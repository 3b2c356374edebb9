#include "te/loops/apply_layouts.h"

#include "tenon/arith/interval.h"
#include "tenon/arith/simplify.h"
#include "tenon/tir/ops.h"
#include "tenon/tir/walk.h"

namespace tenon::te {

using namespace tir;

namespace {

std::vector<Range> image_of(const Transform::Map& map, const std::vector<Range>& region) {
  arith::Facts facts;
  arith::IntervalMap params;
  for (std::size_t n = 0; n < region.size(); ++n)
    params.set(map.params[n], arith::Interval::from_range(region[n]));
  std::vector<Range> image;
  for (const Expr& result : map.results) {
    const arith::Interval values = arith::values_of(result, params, facts);
    internal_check(values.is_bounded(), "the image of a box under a layout has no bounds");
    image.push_back(values.to_range(Range::from_min_extent(0, 1), facts));
  }
  return image;
}

class LayoutRewriter {
 public:
  explicit LayoutRewriter(const std::vector<StoredLayout>& layouts) {
    for (const StoredLayout& layout : layouts) known_.push_back({&layout, stored(layout)});
  }

  Buffer buffer(const Buffer& logical) const {
    const Known* known = find(logical);
    return known ? known->buffer : logical;
  }

  Stmt operator()(const Stmt& s) const {
    return tir::rewrite(
        s, [&](const Load& load, const Expr&) { return read(load); },
        [&](const Store& store, const Stmt&) { return written(store); },
        [&](const Realize& realize, const Stmt&) { return realized(realize); },
        [&](const BufferView& view, const Stmt&) -> std::optional<Stmt> {
          refuse(view.source);
          return std::nullopt;
        },
        [&](const Prefetch& prefetch, const Stmt&) -> std::optional<Stmt> {
          refuse(prefetch.buffer);
          return std::nullopt;
        });
  }

 private:
  struct Known {
    const StoredLayout* layout;
    Buffer buffer;
  };

  static Buffer stored(const StoredLayout& layout) {
    BufferNode node = *layout.logical.get();
    std::vector<Range> box;
    for (const Expr& extent : node.shape)
      box.push_back(Range::from_min_extent(make_int(extent.dtype(), 0), extent));
    node.shape.clear();
    for (const Range& range : image_of(layout.forward, box))
      node.shape.push_back(arith::simplify(range.extent));
    node.strides.clear();
    node.kind = BufferKind::Default;
    node.axis_separators = layout.axis_separators;
    return make_buffer(std::move(node));
  }

  const Known* find(const Buffer& logical) const {
    for (const Known& known : known_)
      if (known.layout->logical.same_as(logical)) return &known;
    return nullptr;
  }

  static std::vector<Expr> moved(const Transform::Map& map, const std::vector<Expr>& indices) {
    VarMap values;
    // A constant may be narrower than the axis of its dimension.
    for (std::size_t n = 0; n < indices.size(); ++n)
      set(values, map.params[n], cast(map.params[n].dtype(), indices[n]));
    std::vector<Expr> result;
    for (const Expr& index : map.results) result.push_back(substitute_folding(index, values));
    return result;
  }

  std::optional<Expr> read(const Load& load) const {
    const Known* known = find(load.buffer);
    if (!known) return std::nullopt;
    return make_load(known->buffer, moved(known->layout->forward, load.indices));
  }

  std::optional<Stmt> written(const Store& store) const {
    const Known* known = find(store.buffer);
    if (!known) return std::nullopt;
    return make_store(known->buffer, store.value, moved(known->layout->forward, store.indices));
  }

  std::optional<Stmt> realized(const Realize& realize) const {
    const Known* known = find(realize.buffer);
    if (!known) return std::nullopt;
    Realize changed = realize;
    changed.buffer = known->buffer;
    changed.bounds = image_of(known->layout->forward, realize.bounds);
    return make_stmt(std::move(changed));
  }

  void refuse(const Buffer& buffer) const {
    if (const Known* known = find(buffer))
      throw ScheduleError(
          "transform_layout of tensor `" + buffer.name() +
              "`: an extern operation, an intrinsic or a prefetch sees its memory as a block; its layout "
              "cannot be changed",
          known->layout->where);
  }

  std::vector<Known> known_;
};

}  // namespace

PrimFunc apply_layouts(PrimFunc func, const std::vector<StoredLayout>& layouts) {
  if (layouts.empty()) return func;
  const LayoutRewriter rewrite(layouts);
  func.body = rewrite(func.body);
  for (BufferParam& param : func.buffers) {
    param.declared = rewrite.buffer(param.declared);
    param.buffer = rewrite.buffer(param.buffer);
  }
  func.attrs.reversed_in_text = true;
  return func;
}

}  // namespace tenon::te
