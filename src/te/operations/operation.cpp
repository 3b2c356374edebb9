#include "tenon/te/operation.h"

#include <algorithm>
#include <array>
#include <new>
#include <ostream>
#include <unordered_set>

#include "te/operations/body.h"
#include "tenon/te/intrin.h"
#include "tenon/te/operation_kind.h"
#include "tenon/tir/print.h"

namespace tenon::te {

const tir::ReduceNode* Compute::reduction() const {
  const tir::Reduce* reduce = body.front().as<tir::Reduce>();
  return reduce ? reduce->reduction.get() : nullptr;
}

// ---- properties of a kind -----------------------------------------------------------------------

namespace {

std::vector<Expr> extents_of(std::span<const IterVar> axes) {
  std::vector<Expr> extents;
  for (const IterVar& axis : axes) extents.push_back(axis.dom()->extent);
  return extents;
}

void derive(OperationNode& node, const Placeholder& kind) {
  node.shapes = {kind.shape};
  node.dtypes = {kind.dtype};
}

void derive(OperationNode& node, const Compute& kind) {
  node.axis = kind.axis;
  node.reduce_axis = kind.reduce_axis;
  add_tensors_read(kind.body, node.inputs);
  for (const Expr& body : kind.body) {
    node.shapes.push_back(extents_of(kind.axis));
    node.dtypes.push_back(body.dtype());
  }
}

void derive(OperationNode& node, const Scan& kind) {
  node.axis = {kind.scan_axis};
  node.axis.insert(node.axis.end(), kind.spatial_axis.begin(), kind.spatial_axis.end());
  for (const std::vector<Tensor>* tensors : {&kind.init, &kind.update})
    for (const Tensor& tensor : *tensors) add_once(node.inputs, tensor);
  for (const Tensor& state : kind.state) {
    node.shapes.push_back(state.shape());
    node.dtypes.push_back(state.dtype());
  }
}

void derive(OperationNode& node, const Extern& kind) {
  for (const Tensor& input : kind.inputs) add_once(node.inputs, input);
  for (const tir::Buffer& output : kind.output_buffers) {
    node.shapes.push_back(output.shape());
    node.dtypes.push_back(output.dtype());
  }
}

void derive(OperationNode& node, const TensorCompute& kind) {
  node.axis = kind.axis;
  node.reduce_axis = kind.reduce_axis;
  const auto add_read_by = [&](const Range& range) {
    add_tensors_read(std::array{range.min, range.extent}, node.inputs);
  };
  for (const TensorRegion& input : kind.inputs) {
    std::ranges::for_each(input.ranges, add_read_by);
    add_once(node.inputs, input.tensor);
  }
  add_tensors_read(kind.scalar_inputs, node.inputs);
  for (const IterVar& axis : kind.reduce_axis) add_read_by(*axis.dom());
  const Operation& op = kind.intrin->op;
  for (int n = 0; n < op.num_outputs(); ++n) {
    node.shapes.push_back(extents_of(kind.axis));
    node.dtypes.push_back(op.output(n).dtype());
  }
}

}  // namespace

Operation make_operation(std::string name, std::string tag, OperationKind kind,
                         SourceLocation where, std::map<std::string, std::string> attrs) {
  auto node = std::make_shared<OperationNode>();
  node->name = std::move(name);
  node->tag = std::move(tag);
  node->attrs = std::move(attrs);
  node->kind = std::move(kind);
  node->where = where;
  match(node->kind, [&](const auto& k) { derive(*node, k); });
  node->root_iter_vars = node->axis;
  node->root_iter_vars.insert(node->root_iter_vars.end(), node->reduce_axis.begin(),
                              node->reduce_axis.end());
  return Operation(std::move(node));
}

OperationNode::~OperationNode() {
  // Destroys the inputs without recursion. `inputs` keeps all operations that the body reads alive
  // while the body is destroyed. These operations are then destroyed one by one, each after its own
  // inputs have been moved out.
  std::vector<Tensor> dying = std::move(inputs);
  kind = Placeholder{};
  try {
    while (!dying.empty()) {
      const Tensor tensor = std::move(dying.back());
      dying.pop_back();
      if (!tensor.is_last() || !tensor.node().op.is_last()) continue;
      // The operation has no other owner, so modifying it is safe.
      auto& node = const_cast<OperationNode&>(*tensor.node().op.get());
      dying.insert(dying.end(), node.inputs.begin(), node.inputs.end());
      node.inputs.clear();
    }
  } catch (const std::bad_alloc&) {
    // Without memory for the list, the remaining operations are destroyed recursively.
  }
}

// ---- the handle ---------------------------------------------------------------------------------

const std::string& Operation::name() const { return node_->name; }
const std::string& Operation::tag() const { return node_->tag; }
const std::map<std::string, std::string>& Operation::attrs() const { return node_->attrs; }
const SourceLocation& Operation::where() const { return node_->where; }
const OperationKind& Operation::kind() const { return node_->kind; }
const std::vector<IterVar>& Operation::axis() const { return node_->axis; }
const std::vector<IterVar>& Operation::reduce_axis() const { return node_->reduce_axis; }
const std::vector<IterVar>& Operation::root_iter_vars() const { return node_->root_iter_vars; }
const std::vector<Tensor>& Operation::inputs() const { return node_->inputs; }
int Operation::num_outputs() const { return static_cast<int>(node_->dtypes.size()); }

namespace {

IterVar axis_at(const Operation& op, const std::vector<IterVar>& axes, int n, std::string_view what,
                const SourceLocation& where) {
  if (n < 0 || n >= static_cast<int>(axes.size()))
    throw ScheduleError(
        "operation `" + op.name() + "`" +
            (op.as<Placeholder>() ? ", a placeholder, which is not computed," : "") + " has " +
            std::to_string(axes.size()) + " " + std::string(what) +
            (axes.size() == 1 ? " axis" : " axes") + ", got " + std::to_string(n),
        where);
  return axes[static_cast<std::size_t>(n)];
}

}  // namespace

IterVar Operation::axis(int n, SourceLocation where) const {
  return axis_at(*this, axis(), n, "data", where);
}
IterVar Operation::reduce_axis(int n, SourceLocation where) const {
  return axis_at(*this, reduce_axis(), n, "reduction", where);
}
IterVar Operation::scan_axis(SourceLocation where) const {
  if (const Scan* scan = as<Scan>()) return scan->scan_axis;
  throw TypeError("operation `" + name() + "` is not a scan, so it has no scan axis", where);
}

Tensor Operation::output(int i, SourceLocation where) const {
  if (i < 0 || i >= num_outputs())
    throw TypeError("operation `" + name() + "` has " + std::to_string(num_outputs()) +
                        " outputs, got " + std::to_string(i),
                    where);
  return Tensor(std::make_shared<const TensorNode>(*this, i));
}

const std::vector<Expr>& Operation::body() const {
  static const std::vector<Expr> kNone;
  const Compute* compute = as<Compute>();
  return compute ? compute->body : kNone;
}

std::string TensorNode::name() const {
  return op.num_outputs() == 1 ? op.name() : op.name() + ".v" + std::to_string(index);
}
const std::vector<Expr>& TensorNode::shape() const {
  return op.get()->shapes[static_cast<std::size_t>(index)];
}
DataType TensorNode::dtype() const { return op.get()->dtypes[static_cast<std::size_t>(index)]; }

// ---- text ---------------------------------------------------------------------------------------

namespace {

template <class List, class Print>
std::string bracketed(const List& list, Print print) {
  std::string text = "[";
  for (const auto& item : list) text += (text.size() == 1 ? "" : ", ") + print(item);
  return text + "]";
}

std::string expr_list(const std::vector<Expr>& list) {
  return bracketed(list, [](const Expr& e) { return tir::print_legacy(e); });
}
std::string axis_list(const std::vector<IterVar>& list) {
  return bracketed(list, [](const IterVar& axis) { return tir::print_legacy(axis); });
}
std::string tensor_list(const std::vector<Tensor>& list) {
  return bracketed(list, [](const Tensor& t) { return t.name(); });
}

std::string attrs_text(const std::map<std::string, std::string>& attrs) {
  std::string text = "{";
  for (const auto& [key, value] : attrs)
    text += (text.size() == 1 ? "\"" : ", \"") + key + "\": \"" + value + "\"";
  return text + "}";
}

}  // namespace

AxisNames::AxisNames(std::initializer_list<Name> names)
    : std::vector<std::string>(names.begin(), names.end()) {}
AxisNames::AxisNames(std::vector<std::string> names) : std::vector<std::string>(std::move(names)) {}

std::ostream& operator<<(std::ostream& out, const Operation& op) {
  const std::string& name = op.name();
  match(
      op.kind(),
      [&](const Placeholder& k) {
        out << "placeholder(" << name << ", shape=" << expr_list(k.shape)
            << ", dtype=" << k.dtype.str() << ')';
      },
      [&](const Compute& k) {
        out << "compute(" << name << ", body=" << expr_list(k.body)
            << ", axis=" << axis_list(k.axis) << ", reduce_axis=" << axis_list(k.reduce_axis)
            << ", tag=" << op.tag() << ", attrs=" << attrs_text(op.attrs()) << ')';
      },
      [&](const Scan& k) {
        out << "scan(" << name << ", scan_axis=" << tir::print_legacy(k.scan_axis)
            << ", init=" << tensor_list(k.init) << ", update=" << tensor_list(k.update)
            << ", state=" << tensor_list(k.state) << ')';
      },
      [&](const Extern& k) {
        out << "extern(" << name << ", inputs=" << tensor_list(k.inputs) << ", outputs="
            << bracketed(k.output_buffers, [](const tir::Buffer& b) { return b.name(); }) << ')';
      },
      [&](const TensorCompute& k) {
        out << "tensor_compute(" << name << ", intrin=" << k.intrin->name
            << ", axis=" << axis_list(k.axis) << ", reduce_axis=" << axis_list(k.reduce_axis)
            << ", tag=" << op.tag() << ')';
      });
  return out;
}

// ---- changing inputs ----------------------------------------------------------------------------

namespace {

/// Returns whether the tensor changed.
bool map_tensor(Tensor& tensor, const TensorMap& map) {
  const Tensor before = tensor;
  tensor = map(tensor).value_or(before);
  return !tensor.same_as(before);
}

/// Returns whether a tensor changed.
bool map_tensors(std::vector<Tensor>& list, const TensorMap& map) {
  bool changed = false;
  for (Tensor& tensor : list) changed |= map_tensor(tensor, map);
  return changed;
}

/// Returns the expression with reads of the replacement tensors. `done` is a memo table.
Expr map_reads(const Expr& e, const TensorMap& map, ExprMemo& done) {
  const auto replace = [&](const tir::ProducerLoad& load) -> std::optional<Expr> {
    std::optional<Tensor> other = map(Tensor::of(load));
    if (!other) return std::nullopt;
    return tir::make_producer_load(other->producer(), load.indices);
  };
  return rewrite_loads(e, replace, done);
}

bool replace_in(Placeholder&, const TensorMap&) { return false; }

bool replace_in(Compute& kind, const TensorMap& map) {
  ExprMemo done;
  std::vector<Expr> body = map_bodies(
      kind.body, [&](const Expr& e) { return map_reads(e, map, done); }, /*maps_ranges=*/true);
  const bool changed = !std::ranges::equal(body, kind.body, &Expr::same_as);
  kind.body = std::move(body);
  if (const tir::ReduceNode* reduction = kind.reduction()) kind.reduce_axis = reduction->axis;
  return changed;
}

bool replace_in(Scan& kind, const TensorMap& map) {
  const bool init = map_tensors(kind.init, map);
  return map_tensors(kind.update, map) || init;
}

bool replace_in(Extern& kind, const TensorMap& map) { return map_tensors(kind.inputs, map); }

bool replace_in(TensorCompute& kind, const TensorMap& map) {
  ExprMemo done;
  bool changed = false;
  auto update = [&](Expr& e) {
    Expr other = map_reads(e, map, done);
    changed |= !other.same_as(e);
    e = std::move(other);
  };
  for (TensorRegion& input : kind.inputs) {
    changed |= map_tensor(input.tensor, map);
    for (Range& range : input.ranges) {
      update(range.min);
      update(range.extent);
    }
  }
  for (Expr& scalar : kind.scalar_inputs) update(scalar);
  return changed;
}

}  // namespace

Operation replace_inputs(const Operation& op, const TensorMap& map) {
  OperationKind kind = op.kind();
  const bool changed = match(kind, [&](auto& k) { return replace_in(k, map); });
  if (!changed) return op;
  return make_operation(op.name(), op.tag(), std::move(kind), op.where(), op.attrs());
}

std::vector<Operation> post_dfs_order(const std::vector<Operation>& outputs) {
  std::vector<Operation> order;
  std::unordered_set<const OperationNode*> seen;
  /// The path from an output to the current operation, with the number of visited inputs of each
  /// operation.
  std::vector<std::pair<Operation, std::size_t>> path;
  for (const Operation& output : outputs) {
    if (seen.insert(output.get()).second) path.emplace_back(output, 0);
    while (!path.empty()) {
      auto& [op, next_input] = path.back();
      if (next_input == op.inputs().size()) {
        order.push_back(op);
        path.pop_back();
        continue;
      }
      const Operation input = op.inputs()[next_input++].op();
      if (seen.insert(input.get()).second) path.emplace_back(input, 0);
    }
  }
  return order;
}

}  // namespace tenon::te
