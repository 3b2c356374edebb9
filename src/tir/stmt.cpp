#include "tenon/tir/stmt.h"

#include <algorithm>

#include "tenon/support/deep_stack.h"
#include "tenon/support/match.h"
#include "tenon/tir/ops.h"
#include "tenon/tir/print.h"
#include "tir/contents_in.h"
#include "tir/name_table.h"
#include "tir/node_pool.h"
#include "tir/operands.h"

namespace tenon::tir {

StmtNode::~StmtNode() {
  if (is_stack_low()) with_deep_stack([&] { value = Seq{}; });
}

namespace {

/// Adds those contents of a node that do not come from its fields, such as the kind of a loop.
template <class Node>
void note(const Node&, Contents&) {}
void note(const For& n, Contents& contents) {
  contents.add(content_of(n.kind));
  if (constant_int(n.extent).value_or(1) <= 0) contents.add(Content::EmptyLoop);
}
void note(const Attr& n, Contents& contents) { contents.add(content_of(n.kind)); }
void note(const Allocate& n, Contents& contents) {
  if (n.double_buffer) contents.add(Content::DoubleBuffer);
  if (n.dtype.is_bfloat()) contents.add(Content::BFloat16);
}
void note(const Realize& n, Contents& contents) {
  if (n.traits.double_buffer) contents.add(Content::DoubleBuffer);
  if (n.traits.rolling_buffer) contents.add(Content::RollingBuffer);
  if (n.buffer->dtype.is_bfloat()) contents.add(Content::BFloat16);
}

Contents contents_of(const StmtNode::Value& value) {
  return match(value, [](const auto& node) {
    Contents contents = contents_of_parts(node);
    note(node, contents);
    return contents;
  });
}

}  // namespace

Stmt make_stmt(StmtNode::Value value) {
  const Contents contents = contents_of(value);
  return Stmt(
      std::allocate_shared<const StmtNode>(NodeAllocator<StmtNode>(), contents, std::move(value)));
}

Stmt make_evaluate(Expr value) { return make_stmt(Evaluate{std::move(value)}); }

Stmt make_nop() { return make_evaluate(make_int(Int(32), 0)); }

bool is_nop(const Stmt& s) {
  const Evaluate* e = s.as<Evaluate>();
  return e && is_constant(e->value);
}

Stmt make_seq(std::vector<Stmt> stmts) {
  const bool is_flat =
      std::ranges::none_of(stmts, [](const Stmt& s) { return s.as<Seq>() || is_nop(s); });
  if (is_flat && stmts.size() > 1) return make_stmt(Seq{std::move(stmts)});
  std::vector<Stmt> flat;
  for (Stmt& s : stmts) {
    if (const Seq* inner = s.as<Seq>()) {
      flat.insert(flat.end(), inner->stmts.begin(), inner->stmts.end());
    } else if (!is_nop(s)) {
      flat.push_back(std::move(s));
    }
  }
  if (flat.empty()) return make_nop();
  if (flat.size() == 1) return flat.front();
  return make_stmt(Seq{std::move(flat)});
}

Stmt make_store(Buffer buffer, Expr value, std::vector<Expr> indices) {
  const int lanes = lanes_of_access(buffer, indices);
  if (value.dtype().lanes == 1 && lanes > 1) value = make_broadcast(value, lanes);
  if (value.dtype() != buffer->dtype.with_lanes(lanes))
    throw TypeError("a store into buffer `" + buffer->name + "` of " + buffer->dtype.str() +
                    " got a value of " + value.dtype().str() + ": " + print_expr(value));
  return make_stmt(Store{std::move(buffer), std::move(value), std::move(indices)});
}

namespace {

/// The printed keys of the attributes that are not pragmas.
constexpr NameTable<AttrKind, 7> kAttrKeys = {{
    {AttrKind::ThreadExtent, "thread_extent"},
    {AttrKind::VirtualThread, "virtual_thread"},
    {AttrKind::ReduceScope, "reduce_scope"},
    {AttrKind::ExternScope, "extern_scope"},
    {AttrKind::DoubleBufferWrite, "double_buffer_write"},
    {AttrKind::RollingBufferScope, "rolling_buffer_scope"},
    {AttrKind::BufferBound, "buffer_bound"},
}};

}  // namespace

std::string attr_text(const Attr& attr) {
  if (attr.kind == AttrKind::Pragma) return "pragma_" + attr.key;
  return std::string(name_in(kAttrKeys, attr.kind, "an attribute kind without a name"));
}

std::optional<AttrKind> find_attr_kind(std::string_view text) { return find_in(kAttrKeys, text); }

}  // namespace tenon::tir
