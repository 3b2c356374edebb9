#include "te/operations/declare.h"

#include <algorithm>
#include <unordered_set>

#include "te/operations/body.h"
#include "tenon/arith/simplify.h"
#include "tenon/te/operation_kind.h"
#include "tenon/tir/expr.h"
#include "tenon/tir/print.h"
#include "tenon/tir/stmt.h"
#include "tenon/tir/walk.h"

namespace tenon::te {

using namespace tir;

namespace {

std::string count(std::size_t n, const std::string& what) {
  return std::to_string(n) + " " + what + (n == 1 ? "" : "s");
}

}  // namespace

void check_shape(std::vector<Expr>& shape, const std::string& what, const SourceLocation& where) {
  std::int64_t elements = 1;
  for (std::size_t n = 0; n < shape.size(); ++n) {
    Expr& extent = shape[n];
    if (extent.is_moved_from())
      throw TypeError(what + ": extent " + std::to_string(n) + " has been moved from", where);
    extent = to_index(extent, what + ": extent " + std::to_string(n), where);
    if (tir::contains<tir::Reduce>(extent))
      throw TypeError(what + ": extent " + std::to_string(n) +
                          " is a reduction; compute it first, and pass its "
                          "value as a variable",
                      where);
    if (const std::vector<Tensor> read = tensors_read(extent); !read.empty())
      throw TypeError(what + ": extent " + std::to_string(n) + " reads tensor `" +
                          read.front().name() +
                          "`, but a shape is known before anything is computed; pass the size as a "
                          "variable, te::var",
                      where);
    const std::optional<std::int64_t> value = tir::constant_int(extent);
    if (value && *value < 0)
      throw TypeError(
          what + ": extent " + std::to_string(n) + " is negative: " + std::to_string(*value),
          where);
    if (value && __builtin_mul_overflow(elements, std::max<std::int64_t>(*value, 1), &elements))
      throw TypeError(what + ": it would have more elements than a 64-bit index can count", where);
  }
}

void check_element_type(DataType type, const std::string& what, const SourceLocation& where) {
  if (type.is_handle())
    throw TypeError(what + ": a tensor has numbers as elements, not values of type handle", where);
}

IterVar axis_over(const Expr& extent, Name name, IterKind kind) {
  return IterVar(Range::from_extent(extent), Var(std::move(name), extent.dtype()), kind);
}

std::vector<IterVar> declare_axes(const std::vector<Expr>& shape, std::vector<std::string> names,
                                  bool named, const std::string& what,
                                  const SourceLocation& where) {
  if (!named)
    for (std::size_t n = 0; n < shape.size(); ++n) names.push_back("i" + std::to_string(n));
  if (names.size() != shape.size())
    throw TypeError(what + ": got " + count(names.size(), "axis name") + " for " +
                        count(shape.size(), "dimension"),
                    where);
  std::vector<IterVar> axes;
  for (std::size_t n = 0; n < shape.size(); ++n) axes.push_back(axis_over(shape[n], names[n]));
  return axes;
}

void check_arity(std::optional<int> arity, std::size_t rank, const std::string& what,
                 const SourceLocation& where) {
  if (!arity || static_cast<std::size_t>(*arity) == rank) return;
  throw TypeError(what + ": the body takes " + count(static_cast<std::size_t>(*arity), "variable") +
                      ", but the shape has " + count(rank, "dimension"),
                  where);
}

bool is_integer_scalar(DataType type) {
  return type.is_integral() && type.is_scalar() && !type.is_bool();
}

Expr to_index(const Expr& e, const std::string& what, const SourceLocation& where) {
  const DataType type = e.dtype();
  if (!is_integer_scalar(type))
    throw TypeError(
        what + " must be an integer, got `" + tir::print_expr(e) + "` of type " + type.str(),
        where);
  if (const tir::IntImm* big = e.as<tir::IntImm>(); big && type.is_uint() && big->value < 0)
    throw TypeError(what + ", " + tir::print_expr(e) + ", is more than a 64-bit index can count",
                    where);
  const Expr index = tir::as_index(e);
  return index.dtype().is_index() ? index : tir::cast(Int(type.bits > 32 ? 64 : 32), index);
}

std::string print_list(const std::vector<Expr>& list) {
  std::string text;
  for (const Expr& e : list) text += (text.empty() ? "" : ", ") + tir::print_expr(e);
  return "[" + text + "]";
}

std::string plain_text(const Expr& e) {
  const std::optional<std::int64_t> value = tir::constant_int(e);
  return value ? std::to_string(*value) : tir::print_expr(e);
}

void check_buffer_of(const Tensor& tensor, const tir::Buffer& buffer, bool compared_at_run_time,
                     const std::string& what, const SourceLocation& where) {
  const std::string pair =
      what + ": buffer `" + buffer.name() + "` for tensor `" + tensor.name() + "`";
  const std::vector<Expr>&given = buffer.shape(), &expected = tensor.shape();
  if (buffer.dtype() != tensor.dtype())
    throw TypeError(
        pair + " is " + buffer.dtype().str() + ", the tensor is " + tensor.dtype().str(), where);
  const std::string shapes =
      pair + " has shape " + print_list(given) + ", the tensor " + print_list(expected);
  if (given.size() != expected.size()) throw TypeError(shapes, where);
  for (std::size_t n = 0; n < given.size(); ++n) {
    const bool is_open =
        compared_at_run_time && !(tir::constant_int(given[n]) && tir::constant_int(expected[n]));
    if (is_open || arith::can_prove_equal(given[n], expected[n])) continue;
    throw TypeError(shapes + ": extent " + std::to_string(n) + " is " + tir::print_expr(given[n]) +
                        ", that of the tensor is " + tir::print_expr(expected[n]),
                    where);
  }
}

void check_body(const Stmt& body, std::span<const tir::Buffer> ins,
                std::span<const tir::Buffer> outs, const std::string& what,
                const SourceLocation& where) {
  std::vector<tir::Buffer> accessed;
  std::unordered_set<const tir::ExprNode*> pointers;
  for (std::span<const tir::Buffer> given : {ins, outs})
    for (const tir::Buffer& buffer : given) pointers.insert(&buffer->data.node());
  std::string stranger;
  auto found = [&](const std::string& what_is_there) {
    if (stranger.empty()) stranger = what_is_there;
  };
  tir::walk(
      body, [&](const tir::Reduce&) { found("a reduction; write the loop"); },
      [&](const tir::ProducerLoad& read) {
        found("an element of tensor `" + read.producer->name() + "`; read its buffer");
      },
      [&](const tir::Evaluate& call) {
        if (call.value.is_moved_from()) found("an expression that has been moved from");
      },
      [&](const tir::Load& load) { accessed.push_back(load.buffer); },
      [&](const tir::Store& store) { accessed.push_back(store.buffer); },
      [&](const tir::Allocate& allocate) { pointers.insert(&allocate.data.node()); },
      [&](const tir::Realize& realize) { pointers.insert(&realize.buffer->data.node()); },
      [&](const tir::BufferView& view) { pointers.insert(&view.view->data.node()); },
      [&](const tir::Let& let) { pointers.insert(&let.var.node()); });
  if (!stranger.empty())
    throw TypeError(what + ": the body cannot be or contain " + stranger, where);
  for (const tir::Buffer& buffer : accessed)
    if (!pointers.contains(&buffer->data.node()))
      throw TypeError(what + ": the body accesses buffer `" + buffer.name() +
                          "`, which is not an input or output of it and is not allocated in it",
                      where);
}

std::span<const IterVar> scheduled_axes(const Operation& op) {
  const std::span<const IterVar> axes = op.axis();
  const TensorCompute* tensor = op.as<TensorCompute>();
  return tensor ? axes.first(static_cast<std::size_t>(tensor->schedulable_ndim)) : axes;
}

std::vector<Tensor> outputs_of(const Operation& op) {
  std::vector<Tensor> outputs;
  for (int n = 0; n < op.num_outputs(); ++n) outputs.push_back(op.output(n));
  return outputs;
}

namespace {

// The tag of the current TagScope, the only global state in te. Functions that declare operations
// find the tag here, because they have no parameter for the scope. The pointer is thread-local, so
// that threads do not tag one another's operations. It is weak, so that the tag expires with its
// scope.
thread_local std::weak_ptr<const std::string> open_tag;

}  // namespace

TagScope::TagScope(const Name& tag, SourceLocation where)
    : tag_(std::make_shared<const std::string>(tag)) {
  if (const std::shared_ptr<const std::string> outer = open_tag.lock())
    throw ScheduleError(
        "tag scope `" + tag + "`: scope `" + *outer +
            "` is open, and tags do not nest; end that scope first, or give operations a "
            "`.tag` of their own",
        where);
  open_tag = tag_.pointer();
}

std::string declared_tag(std::string own) {
  if (!own.empty()) return own;
  const std::shared_ptr<const std::string> tag = open_tag.lock();
  return tag ? *tag : std::string();
}

bool are_the_last(const DimPairs& pairs, std::size_t rank) {
  const auto is_paired = [](const auto& partner) { return partner.has_value(); };
  return std::ranges::is_sorted(pairs, {}, is_paired) &&
         static_cast<std::size_t>(std::ranges::count_if(pairs, is_paired)) == rank;
}

std::optional<DimPairs> pair_dims(const std::vector<Expr>& part, const std::vector<Expr>& theirs,
                                  arith::Facts& facts) {
  DimPairs pairs(part.size());
  std::size_t i = part.size(), j = theirs.size();
  while (i > 0 || j > 0) {
    const bool is_unit = i > 0 && is_one(part[i - 1]);
    const bool is_free = j > 0 && theirs[j - 1].as<VarNode>();
    // A variable extent of the intrinsic is paired with any extent. However, an extent of 1 stays
    // unpaired if more dimensions of the region than of the intrinsic remain.
    if (i > 0 && j > 0 &&
        ((is_free && !(is_unit && i > j)) ||
         arith::can_prove_equal(part[i - 1], theirs[j - 1], facts))) {
      pairs[--i] = --j;
    } else if (is_unit) {
      --i;
    } else if (j > 0 && is_one(theirs[j - 1])) {
      --j;
    } else {
      return std::nullopt;
    }
  }
  return pairs;
}

}  // namespace tenon::te
