#include "te/loops/compute_body.h"

#include "tenon/tir/walk.h"

namespace tenon::te {

using namespace tir;

namespace {

std::vector<Expr> element_indices(const FrozenStage& stage, const Program& program,
                                  const VarMap& vars) {
  std::vector<Expr> indices;
  for (const IterVar& axis : stage.op.axis()) indices.push_back(program.lower(axis.var(), vars));
  return indices;
}

bool reads(const Expr& e, const Buffer& buffer) {
  bool found = false;
  walk(e, [&](const Load& load) { found = found || load.buffer.same_as(buffer); });
  return found;
}

std::vector<Buffer> output_buffers(const FrozenStage& stage, const Program& program) {
  std::vector<Buffer> buffers;
  for (int k = 0; k < stage.op.num_outputs(); ++k)
    buffers.push_back(program.buffers.buffer_of(stage.op.output(k)));
  return buffers;
}

}  // namespace

Stmt store_together(const std::vector<Buffer>& buffers, std::vector<Expr> values,
                    const std::vector<Expr>& indices) {
  std::vector<std::pair<Var, Expr>> kept;
  for (std::size_t k = 1; k < values.size(); ++k) {
    bool reads_stored = false;
    for (std::size_t j = 0; j < k; ++j) reads_stored = reads_stored || reads(values[k], buffers[j]);
    if (!reads_stored) continue;
    const Var var(buffers[k]->name + ".new", values[k].dtype());
    kept.emplace_back(var, std::move(values[k]));
    values[k] = var;
  }
  std::vector<Stmt> stores;
  for (std::size_t k = 0; k < values.size(); ++k)
    stores.push_back(make_store(buffers[k], values[k], indices));
  Stmt all = make_seq(std::move(stores));
  for (std::size_t k = kept.size(); k-- > 0;)
    all = make_stmt(Let{kept[k].first, kept[k].second, all});
  return all;
}

std::vector<Expr> combine(const CommReducerNode& reducer, const std::vector<Expr>& lhs,
                          const std::vector<Expr>& rhs) {
  VarMap operands;
  for (std::size_t k = 0; k < lhs.size(); ++k) {
    set(operands, reducer.lhs[k], lhs[k]);
    set(operands, reducer.rhs[k], rhs[k]);
  }
  std::vector<Expr> results;
  for (const Expr& result : reducer.result) results.push_back(substitute(result, operands));
  return results;
}

Stmt make_stores(const FrozenStage& stage, const Program& program, const LoopNest& nest) {
  const std::vector<Expr> indices = element_indices(stage, program, nest.vars);
  std::vector<Stmt> stores;
  for (int k = 0; k < stage.op.num_outputs(); ++k) {
    const Expr value = program.lower(stage.op.body()[static_cast<std::size_t>(k)], nest.vars);
    stores.push_back(make_store(program.buffers.buffer_of(stage.op.output(k)), value, indices));
  }
  return make_seq(std::move(stores));
}

Stmt make_zeros(const FrozenStage& stage, const Program& program, const LoopNest& nest) {
  const std::vector<Expr> indices = element_indices(stage, program, nest.vars);
  std::vector<Stmt> stores;
  for (const Buffer& buffer : output_buffers(stage, program))
    stores.push_back(make_store(buffer, make_const(buffer->dtype, 0), indices));
  return make_seq(std::move(stores));
}

ReductionBody make_reduction(const FrozenStage& stage, const Program& program,
                             const ComputeNest& nest) {
  const ReduceNode& reduction = *stage.op.as<Compute>()->reduction();
  const std::vector<Buffer> buffers = output_buffers(stage, program);

  const std::vector<Expr> init_indices = element_indices(stage, program, nest.init->vars);
  const std::vector<Expr>& start =
      reduction.init.empty() ? reduction.combiner->identity : reduction.init;
  std::vector<Stmt> inits;
  for (std::size_t k = 0; k < buffers.size(); ++k) {
    inits.push_back(make_store(buffers[k], program.lower(start[k], nest.init->vars), init_indices));
  }

  const std::vector<Expr> indices = element_indices(stage, program, nest.main.vars);
  std::vector<Expr> old_values, sources;
  for (std::size_t k = 0; k < buffers.size(); ++k) {
    old_values.push_back(make_load(buffers[k], indices));
    sources.push_back(program.lower(reduction.source[k], nest.main.vars));
  }
  Stmt update = store_together(buffers, combine(*reduction.combiner, old_values, sources), indices);
  const Expr condition = program.lower(reduction.condition, nest.main.vars);
  if (!is_true(condition)) update = make_stmt(If{condition, update, std::nullopt});
  return {make_seq(std::move(inits)), update};
}

}  // namespace tenon::te
