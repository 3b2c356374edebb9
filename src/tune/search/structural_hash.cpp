#include "tune/search/structural_hash.h"

#include <algorithm>
#include <bit>
#include <string_view>
#include <unordered_map>

#include "tenon/tir/compare.h"
#include "tenon/tir/walk.h"

namespace tenon::tune {

namespace {

using namespace tir;

/// Hashes the nodes of a program in textual order. A variable or buffer is represented by the
/// number of distinct variables or buffers before its first occurrence.
class Hasher {
 public:
  std::uint64_t value() const { return value_; }

  void number(std::uint64_t n) {
    value_ = (value_ ^ n) * 0x100000001B3ull;  // FNV-1a, applied to words instead of bytes
    value_ ^= value_ >> 29;
  }
  void text(std::string_view text) {
    number(text.size());
    for (const char c : text) number(static_cast<unsigned char>(c));
  }

  void function(const PrimFunc& func) {
    for (const Var& param : func.params) {
      identity(&param.node());
      const BufferParam* array = func.buffer_of(param);
      text(array ? array->declared->dtype.str() : param.dtype().str());
      if (!array) continue;
      for (const Expr& extent : array->declared->shape) expr(extent);
    }
    walk_stmt(func.body);
  }

 private:
  void identity(const void* p) {
    number(order_.try_emplace(p, static_cast<int>(order_.size())).first->second);
  }

  void expr(const Expr& e) {
    number(e.node().value.index());
    text(e.dtype().str());
    std::visit([&](const auto& node) { leaf(node, e); }, e.node().value);
    for_each_child(e, [&](const Expr& child) { expr(child); });
  }
  template <class Node>
  void leaf(const Node& node, const Expr& e) {
    if constexpr (std::is_same_v<Node, VarNode>)
      identity(&e.node());
    else if constexpr (std::is_same_v<Node, IntImm>)
      number(static_cast<std::uint64_t>(node.value));
    else if constexpr (std::is_same_v<Node, FloatImm>)
      number(std::bit_cast<std::uint64_t>(node.value));
    else if constexpr (std::is_same_v<Node, StringImm>)
      text(node.value);
    else if constexpr (std::is_same_v<Node, Binary>)
      number(static_cast<std::uint64_t>(node.op));
    else if constexpr (std::is_same_v<Node, Load>)
      identity(node.buffer.get());
  }

  void annotations(const Annotations& notes) {
    for (const auto& [key, note] : notes) {
      text(key);
      if (const auto value = annotation_int(note)) number(static_cast<std::uint64_t>(*value));
      if (const auto value = annotation_text(note)) text(*value);
    }
  }
  void walk_stmt(const Stmt& s) {
    number(s.node().value.index());
    if (const For* loop = s.as<For>()) {
      identity(&loop->var.node());
      number(static_cast<std::uint64_t>(loop->kind));
      annotations(traits_of(*loop).annotations);
    } else if (const Store* store = s.as<Store>()) {
      identity(store->buffer.get());
    } else if (const BlockRealize* realize = s.as<BlockRealize>()) {
      for (const IterVar& iter : realize->block->iters) {
        identity(&iter.var().node());
        number(static_cast<std::uint64_t>(iter.kind()));
        if (!iter.dom()) continue;
        expr(iter.dom()->min);
        expr(iter.dom()->extent);
      }
      annotations(realize->block->annotations);
      for (const Buffer& buffer : realize->block->alloc_buffers) {
        identity(buffer.get());
        for (const Expr& extent : buffer->shape) expr(extent);
      }
    }
    for_each_child(
        s, [&](const Expr& e) { expr(e); }, [&](const Stmt& child) { walk_stmt(child); });
  }

  std::uint64_t value_ = 0xCBF29CE484222325ull;
  /// Never iterated, because the order is unspecified.
  std::unordered_map<const void*, std::uint64_t> order_;
};

std::vector<std::string> block_names(const IRModule& mod) {
  std::vector<std::string> names;
  for (const auto& [name, func] : mod.functions)
    walk(func.body, [&](const BlockRealize& realize) { names.push_back(realize.block->name); });
  return names;
}

}  // namespace

std::uint64_t structural_hash(const IRModule& mod) {
  Hasher hasher;
  for (const auto& [name, func] : mod.functions) {
    hasher.text(name);
    hasher.function(func);
  }
  return hasher.value();
}

bool is_same_workload(const IRModule& a, const IRModule& b) {
  return block_names(a) == block_names(b) && is_same_structure(a, b);
}

bool is_same_structure(const IRModule& a, const IRModule& b) {
  return std::ranges::equal(a.functions, b.functions, [](const auto& f, const auto& g) {
    return f.first == g.first && structural_equal(f.second, g.second);
  });
}

}  // namespace tenon::tune
