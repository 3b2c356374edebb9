#include "tenon/tir/encode.h"

#include <bit>
#include <unordered_map>

#include "tenon/support/deep_stack.h"
#include "tenon/support/match.h"
#include "tenon/tir/fields.h"

namespace tenon::tir {

namespace {

/// Appends values of all types that occur in functions. Structs are decomposed by structured
/// bindings, so that a new member without an encoding is a compile error.
class Encoder {
 public:
  explicit Encoder(ByteWriter& out) : out_(out) {}

  bool is_complete() const { return is_complete_; }

  void put(const PrimFunc& func) {
    const auto& [params, buffers, body, attrs, form] = func;
    put(params);
    put(buffers);
    put(body);
    const auto& [symbol, noalias, is_legacy, is_reversed, others] = attrs;
    put(symbol), put(noalias), put(is_legacy), put(is_reversed);
    put(others.get() != nullptr);
    if (others.get()) put(*others);
    put(form);
  }

 private:
  ByteWriter& out_;
  bool is_complete_ = true;
  /// The numbers of nodes, by address, in order of appearance.
  std::unordered_map<const void*, std::size_t> numbers_;

  /// Appends the number of a node. Returns true at the first appearance of the node; the caller
  /// must then append the node's contents.
  bool is_first(const void* node) {
    const auto [entry, is_new] = numbers_.try_emplace(node, numbers_.size() + 1);
    out_.number(is_new ? 0 : entry->second);
    return is_new;
  }

  // ---- values ----

  template <class T>
  requires(std::integral<T> || std::is_enum_v<T>) void put(T value) {
    out_.number(static_cast<std::uint64_t>(value));
  }
  void put(double value) { out_.number(std::bit_cast<std::uint64_t>(value)); }
  void put(const std::string& text) { out_.text(text); }
  void put(DataType type) {
    const auto& [code, bits, lanes] = type;
    put(code), put(bits), put(lanes);
  }
  void put(const PointerType& type) {
    const auto& [element, scope] = type;
    put(element), put(scope);
  }
  void put(const ThreadTag& tag) {
    const auto& [level, dim] = tag;
    put(level), put(dim);
  }
  void put(const Range& range) { put(range.min), put(range.extent); }

  template <class T>
  void put(const std::vector<T>& list) {
    put(list.size());
    for (const T& item : list) put(item);
  }
  template <class T>
  void put(const std::optional<T>& value) {
    put(value.has_value());
    if (value) put(*value);
  }
  template <class... T>
  void put(const std::variant<T...>& value) {
    put(value.index());
    match(value, [&](const auto& each) { put(each); });
  }
  void put(const Annotation& annotation) { put(annotation.value); }
  void put(const Annotations& annotations) {
    put(annotations.size());
    for (const auto& [key, annotation] : annotations) put(key), put(annotation);
  }

  // ---- expressions ----

  void put(const Expr& e) {
    if (is_stack_low()) return with_deep_stack([&] { put(e); });
    if (!is_first(&e.node())) return;
    put(e.dtype());
    put(e.node().value.index());
    match(e.node().value, [&](const auto& node) { put_fields(node); });
  }
  template <class Node>
  void put_fields(const Node& node) {
    for_each_field<Node>([&](const auto& field) { put(node.*field.member); });
  }
  /// Variables are encoded here, because they compare by identity and have no field list.
  void put_fields(const VarNode& var) {
    const auto& [name, pointer, is_size, is_data] = var;
    put(name), put(pointer), put(is_size), put(is_data);
  }
  void put(const ExternCallee& callee) {
    const auto& [name, pure] = callee;
    put(name), put(pure);
  }
  void put(const ProducerRef&) { is_complete_ = false; }
  void put(const std::shared_ptr<const ReduceNode>&) { is_complete_ = false; }

  void put(const Buffer& buffer) {
    if (!is_first(buffer.get())) return;
    const auto& [data, dtype, shape, strides, separators, offset, name, alignment, factor, kind,
                 moved_from] = *buffer.get();
    put(data), put(dtype), put(shape), put(strides), put(separators), put(offset), put(name);
    put(alignment), put(factor), put(kind), put(moved_from);
  }
  void put(const IterVar& axis) {
    if (!is_first(axis.get())) return;
    const auto& [dom, var, kind, thread] = *axis.get();
    put(dom), put(var), put(kind), put(thread);
  }
  void put(const CommReducer& reducer) {
    if (!is_first(reducer.get())) return;
    const auto& [lhs, rhs, result, identity, name] = *reducer;
    put(lhs), put(rhs), put(result), put(identity), put(name);
  }

  // ---- statements ----

  void put(const Stmt& s) {
    if (is_stack_low()) return with_deep_stack([&] { put(s); });
    put(s.node().value.index());
    match(s.node().value, [&](const auto& node) { put_fields(node); });
  }
  void put(const Realize::DimAlign& align) {
    const auto& [dim, factor, offset] = align;
    put(dim), put(factor), put(offset);
  }
  void put(const Realize::Traits& traits) {
    const auto& [align, is_double, is_rolling, scope_is_set] = traits;
    put(align), put(is_double), put(is_rolling), put(scope_is_set);
  }
  void put(const std::shared_ptr<const LoopTraits>& traits) {
    put(traits != nullptr);
    if (!traits) return;
    const auto& [thread, annotations] = *traits;
    put(thread), put(annotations);
  }
  void put(const BufferRegion& read) {
    const auto& [buffer, region] = read;
    put(buffer), put(region);
  }
  void put(const MatchBuffer& view) {
    const auto& [buffer, source] = view;
    put(buffer), put(source);
  }
  void put(const std::shared_ptr<const Block>& block) {
    const auto& [iters, reads, writes, name, init, body, allocated, views, annotations, id] =
        *block;
    put(iters), put(reads), put(writes), put(name), put(init), put(body);
    put(allocated), put(views), put(annotations);
  }
  void put(const BufferParam& param) {
    const auto& [var, declared, buffer] = param;
    put(var), put(declared), put(buffer);
  }
};

}  // namespace

bool encode(const PrimFunc& func, ByteWriter& out) {
  Encoder encoder(out);
  encoder.put(func);
  return encoder.is_complete();
}

}  // namespace tenon::tir
