#include "te/prim_func_blocks.h"

#include <algorithm>
#include <unordered_set>

#include "tenon/arith/block_access.h"
#include "tenon/arith/simplify.h"
#include "tenon/te/operation_kind.h"
#include "tenon/te/post_dfs_order.h"
#include "tenon/tir/walk.h"

namespace tenon::te {

using namespace tir;

namespace {

class BlockMaker {
 public:
  BlockMaker(const PrimFuncOptions& options, const SourceLocation& where)
      : options_(options), where_(where) {
    func_.attrs = {.global_symbol = options.name,
                   .noalias = true,
                   .from_legacy_te_schedule = false,
                   .reversed_in_text = false,
                   .others = {}};
    func_.form = Form::Blocks;
  }

  void argument(const FunctionArgument& argument) {
    match(
        argument, [&](const Tensor& tensor) { tensor_argument(tensor); },
        [&](const Buffer& buffer) { buffer_argument(buffer); },
        [&](const Var& var) { func_.params.push_back(var); });
  }

  PrimFunc function(const std::vector<Operation>& ops) {
    for (const Operation& op : ops) {
      if (op.as<Scan>()) refuse(op, "a scan");
      if (op.as<TensorCompute>()) refuse(op, "a tensor intrinsic's");
    }
    std::vector<Stmt> stmts;
    for (const Operation& op : ops)
      match(
          op.kind(), [&](const Placeholder&) { check_given(op); },
          [&](const Compute& n) { stmts.push_back(compute(op, n)); },
          [&](const Extern& n) { stmts.push_back(external(op, n)); }, [](const Scan&) {},
          [](const TensorCompute&) {});
    func_.body = make_root_block(std::move(allocated_), make_seq(std::move(stmts)));
    return std::move(func_);
  }

 private:
  struct Known {
    Tensor tensor;
    Buffer buffer;
  };

  const PrimFuncOptions& options_;
  const SourceLocation& where_;
  PrimFunc func_{{}, {}, make_nop()};
  std::vector<Known> buffers_;
  std::vector<Buffer> allocated_;
  std::unordered_set<std::string> names_;

  [[noreturn]] void refuse(const Operation& op, const char* what) const {
    throw TypeError("create_prim_func `" + options_.name + "`: operation `" + op.name() + "` is " +
                        what + ", which has no blocks; use {.blocks = false}",
                    where_);
  }

  // ---- buffers ----

  const Buffer* find(const Tensor& tensor) const {
    for (const Known& known : buffers_)
      if (known.tensor.same_as(tensor)) return &known.buffer;
    return nullptr;
  }

  void add_param(const Buffer& buffer) {
    const Var handle("var_" + buffer->name, Handle());
    func_.params.push_back(handle);
    func_.buffers.push_back({handle, buffer, buffer});
  }

  void tensor_argument(const Tensor& tensor) {
    if (find(tensor))
      throw ScheduleError("create_prim_func `" + options_.name + "`: tensor `" + tensor.name() +
                              "` is an argument twice",
                          where_);
    std::optional<Buffer> buffer;
    for (const auto& [bound, given] : options_.binds)
      if (bound.same_as(tensor)) buffer = given;
    if (!buffer) buffer = declared(tensor);
    buffers_.push_back({tensor, *buffer});
    add_param(*buffer);
  }

  void buffer_argument(const Buffer& buffer) {
    for (const BufferParam& param : func_.buffers)
      if (param.declared.same_as(buffer))
        throw ScheduleError("create_prim_func `" + options_.name + "`: buffer `" + buffer->name +
                                "` is an argument twice",
                            where_);
    for (const auto& [tensor, bound] : options_.binds)
      if (bound.same_as(buffer)) buffers_.push_back({tensor, buffer});
    add_param(buffer);
  }

  static Buffer declared(const Tensor& tensor) {
    return decl_buffer(tensor.shape(), tensor.dtype(), {.name = tensor.name(), .scope = "global"});
  }

  const Buffer& buffer_of(const Tensor& tensor) {
    if (const Buffer* known = find(tensor)) return *known;
    allocated_.push_back(declared(tensor));
    buffers_.push_back({tensor, allocated_.back()});
    return buffers_.back().buffer;
  }

  void check_given(const Operation& op) const {
    if (find(op.output(0))) return;
    throw ScheduleError("create_prim_func `" + options_.name + "`: placeholder `" + op.name() +
                            "` is read and is none of the arguments",
                        where_);
  }

  // ---- expressions ----

  /// Replaces elements of tensors by elements of buffers, and the operation's axes by the block's
  /// iterators.
  Expr remapped(const Expr& e, const VarMap& axes) {
    return tir::rewrite(substitute(e, axes), [&](const ProducerLoad& load, const Expr&) {
      const auto* read = static_cast<const TensorNode*>(load.producer.get());
      return std::optional(make_load(buffer_of(read->op.output(read->index)), load.indices));
    });
  }

  std::string unique(const std::string& hint) {
    std::string name = hint;
    for (int n = 1; !names_.insert(name).second; ++n) name = hint + "_" + std::to_string(n);
    return name;
  }

  // ---- operations ----

  Stmt compute(const Operation& op, const Compute& n) {
    std::vector<IterVar> axes = n.axis;
    axes.insert(axes.end(), n.reduce_axis.begin(), n.reduce_axis.end());
    std::vector<Var> loops;
    std::vector<Range> domains;
    for (std::size_t i = 0; i < axes.size(); ++i) {
      const Range dom = arith::simplify(*axes[i].dom());
      loops.emplace_back("i" + std::to_string(i), axes[i].var().dtype());
      domains.push_back(dom);
    }
    std::vector<Stmt> blocks;
    if (n.reduction() != nullptr) {
      blocks.push_back(reduction(op, n, axes, domains, loops));
    } else {
      for (int k = 0; k < op.num_outputs(); ++k)
        blocks.push_back(elementwise(op, k, n, axes, domains, loops));
    }
    Stmt body = make_seq(std::move(blocks));
    for (std::size_t i = axes.size(); i-- > 0;)
      body = make_stmt(
          For{loops[i], domains[i].min, domains[i].extent, ForKind::Serial, std::move(body)});
    return body;
  }

  /// A block with its own iterators for the axes.
  struct Frame {
    Block block;
    VarMap axes;
    std::vector<Expr> indices;
  };
  Frame frame(const std::string& name, const Compute& n, const std::vector<IterVar>& axes,
              const std::vector<Range>& domains) {
    Frame result{.block = {.iters = {},
                           .reads = {},
                           .writes = {},
                           .name = unique(name),
                           .init = std::nullopt,
                           .body = make_nop()},
                 .axes = {},
                 .indices = {}};
    for (std::size_t i = 0; i < axes.size(); ++i) {
      const Var var = axes[i].var().fresh();
      const bool is_data = i < n.axis.size();
      result.block.iters.emplace_back(domains[i], var,
                                      is_data ? IterKind::DataParallel : IterKind::Reduce);
      set(result.axes, axes[i].var(), var);
      if (is_data) result.indices.push_back(var);
    }
    return result;
  }

  static Stmt realized(Frame frame, const std::vector<Var>& loops) {
    return make_block({loops.begin(), loops.end()},
                      arith::with_found_access(std::move(frame.block)));
  }

  Stmt elementwise(const Operation& op, int k, const Compute& n, const std::vector<IterVar>& axes,
                   const std::vector<Range>& domains, const std::vector<Var>& loops) {
    const Tensor tensor = op.output(k);
    Frame f = frame(op.name(), n, axes, domains);
    const Expr value = arith::simplify(remapped(n.body[static_cast<std::size_t>(k)], f.axes));
    f.block.body = make_store(buffer_of(tensor), value, f.indices);
    return realized(std::move(f), loops);
  }

  Stmt reduction(const Operation& op, const Compute& n, const std::vector<IterVar>& axes,
                 const std::vector<Range>& domains, const std::vector<Var>& loops) {
    const ReduceNode& reduce = *n.reduction();
    const CommReducerNode& combiner = *reduce.combiner;
    Frame f = frame(op.name(), n, axes, domains);
    std::vector<Stmt> inits;
    std::vector<Buffer> buffers;
    VarMap operands;
    const std::size_t count = reduce.source.size();
    for (std::size_t k = 0; k < count; ++k) {
      buffers.push_back(buffer_of(op.output(static_cast<int>(k))));
      const Expr start =
          reduce.init.empty() ? combiner.identity[k] : remapped(reduce.init[k], f.axes);
      inits.push_back(make_store(buffers[k], start, f.indices));
      set(operands, combiner.lhs[k], make_load(buffers[k], f.indices));
      set(operands, combiner.rhs[k], remapped(reduce.source[k], f.axes));
    }
    std::vector<Expr> values;
    for (const Expr& e : combiner.result) values.push_back(substitute(e, operands));
    f.block.init = make_seq(std::move(inits));
    Stmt update = stored(buffers, values, f.indices);
    const Expr condition = remapped(reduce.condition, f.axes);
    if (!is_true(condition)) update = make_stmt(If{condition, std::move(update), std::nullopt});
    f.block.body = std::move(update);
    return realized(std::move(f), loops);
  }

  /// Computes all values before storing any.
  static Stmt stored(const std::vector<Buffer>& buffers, const std::vector<Expr>& values,
                     const std::vector<Expr>& indices) {
    if (buffers.size() == 1) return make_store(buffers[0], values[0], indices);
    std::vector<Stmt> stores;
    std::vector<Var> vars;
    for (std::size_t k = 0; k < buffers.size(); ++k) {
      vars.emplace_back("v_" + buffers[k]->name, values[k].dtype());
      stores.push_back(make_store(buffers[k], vars[k], indices));
    }
    Stmt body = make_seq(std::move(stores));
    for (std::size_t k = buffers.size(); k-- > 0;)
      body = make_stmt(Let{vars[k], values[k], std::move(body)});
    return body;
  }

  Stmt external(const Operation& op, const Extern& n) {
    Block block{.iters = {},
                .reads = {},
                .writes = {},
                .name = unique(op.name()),
                .init = std::nullopt,
                .body = n.body};
    auto match = [&](const Buffer& own, const Tensor& tensor) {
      BufferRegion whole{buffer_of(tensor), {}};
      for (const Expr& extent : tensor.shape())
        whole.region.push_back(Range::from_min_extent(make_int(extent.dtype(), 0), extent));
      block.match_buffers.push_back({own, std::move(whole)});
    };
    for (std::size_t k = 0; k < n.inputs.size(); ++k) match(n.input_buffers[k], n.inputs[k]);
    for (std::size_t k = 0; k < n.output_buffers.size(); ++k)
      match(n.output_buffers[k], op.output(static_cast<int>(k)));
    std::vector<Buffer> visible = n.input_buffers;
    visible.insert(visible.end(), n.output_buffers.begin(), n.output_buffers.end());
    return make_block({}, arith::with_found_access(std::move(block), visible));
  }
};

}  // namespace

PrimFunc blocks_of(const std::vector<Operation>& outputs,
                   const std::vector<FunctionArgument>& arguments, const PrimFuncOptions& options,
                   const SourceLocation& where) {
  BlockMaker maker(options, where);
  for (const FunctionArgument& argument : arguments) maker.argument(argument);
  return maker.function(post_dfs_order(outputs));
}

}  // namespace tenon::te
