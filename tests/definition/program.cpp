#include "tests/definition/program.h"

#include "tenon/support/match.h"
#include "tenon/tir/block.h"
#include "tenon/tir/expr.h"
#include "tenon/tir/pragma.h"
#include "tenon/tir/stmt.h"

namespace tenon::testing {

using namespace tir;

namespace {

constexpr std::int64_t kMaxSteps = 2'000'000;

}  // namespace

std::shared_ptr<BufferMemory> ProgramDefinition::bind(const Buffer& buffer) {
  return allocate(buffer, buffer->shape);
}

void ProgramDefinition::bind(const Var& var, const Number& value) {
  bindings_[&var.node()] = value;
}

std::shared_ptr<BufferMemory> ProgramDefinition::allocate(const Buffer& buffer,
                                                          const std::vector<Expr>& shape) {
  auto memory = std::make_shared<BufferMemory>();
  memory->dtype = buffer->dtype;
  std::int64_t count = 1;
  for (const Expr& extent : shape) {
    memory->shape.push_back(whole(extent));
    count *= memory->shape.back();
  }
  memory->elements.resize(static_cast<std::size_t>(count));
  memory_[&buffer->data.node()] = memory;
  return memory;
}

std::optional<Number>& ProgramDefinition::element(const Buffer& buffer, const std::vector<Expr>& at,
                                                  bool is_write) {
  const auto found = memory_.find(&buffer->data.node());
  if (found == memory_.end()) throw NoOpinion("a buffer that is bound to another one");
  BufferMemory& memory = *found->second;
  const std::vector<std::int64_t> index = indices(at, bindings_);
  if (index.size() != memory.shape.size()) throw NoOpinion("a view of another shape");
  std::int64_t place = 0;
  for (std::size_t d = 0; d < index.size(); ++d) {
    if (index[d] < 0 || index[d] >= memory.shape[d])
      throw NoOpinion("an access outside of " + buffer->name);
    place = place * memory.shape[d] + index[d];
  }
  const auto n = static_cast<std::size_t>(place);
  if (!parallel_.empty()) {
    memory.history.resize(memory.elements.size());
    note_access(buffer, memory.history[n], is_write);
  }
  return memory.elements[n];
}

namespace {

/// Whether two accesses are in different iterations of one execution of a parallel loop.
bool are_unordered(const std::optional<ParallelIterations>& a, const ParallelIterations& b) {
  if (!a) return false;
  for (std::size_t n = 0; n < std::min(a->size(), b.size()); ++n) {
    if ((*a)[n].first != b[n].first) return false;
    if ((*a)[n].second != b[n].second) return true;
  }
  return false;
}

}  // namespace

void ProgramDefinition::note_access(const Buffer& buffer, BufferMemory::History& history,
                                    bool is_write) {
  const bool conflicts = are_unordered(history.write, parallel_) ||
                         (is_write && (are_unordered(history.read, parallel_) ||
                                       are_unordered(history.other_read, parallel_)));
  if (conflicts && race_.empty()) race_ = buffer->name;
  if (is_write) {
    history = {parallel_, std::nullopt, std::nullopt};
  } else if (history.read != parallel_) {
    history.other_read = std::exchange(history.read, parallel_);
  }
}

Number ProgramDefinition::variable(const Var& var) {
  throw NoOpinion("variable " + var.name() + " without a value");
}

Number ProgramDefinition::load(const Expr& e, Bindings&) {
  const Load* load = e.as<Load>();
  if (!load) throw NoOpinion("expressions that only later forms have");
  const std::optional<Number>& found = element(load->buffer, load->indices, false);
  if (!found) throw NoOpinion("a read of an element that was never written");
  return *found;
}

void ProgramDefinition::run_loop(const For& loop) {
  const Whole begin = eval(loop.min, bindings_).whole;
  const Whole extent = eval(loop.extent, bindings_).whole;
  const bool is_parallel = loop.kind == ForKind::Parallel;
  const bool is_shared = parallel_.empty() && unordered_loops_ != 0;
  const std::int64_t execution = !is_parallel ? 0
                                 : is_shared  ? unordered_loops_
                                              : ++parallel_loops_;
  for (Whole n = 0; n < extent; ++n) {
    bindings_[&loop.var.node()] = wrapped(begin + n, loop.var.dtype());
    if (++steps_ > kMaxSteps) throw NoOpinion("programs that take too long");
    if (is_parallel) parallel_.emplace_back(execution, static_cast<std::int64_t>(n));
    run(loop.body);
    if (is_parallel) parallel_.pop_back();
  }
}

void ProgramDefinition::run_attribute(const Attr& attribute) {
  const bool is_region = is_pragma(attribute, PragmaKey::ParallelLaunchPoint);
  if (is_region) unordered_loops_ = ++parallel_loops_;
  run(attribute.body);
  if (is_region) unordered_loops_ = 0;
  if (unordered_loops_ != 0 && is_pragma(attribute, PragmaKey::ParallelBarrierWhenFinish))
    unordered_loops_ = ++parallel_loops_;
}

void ProgramDefinition::run_block(const BlockRealize& realize) {
  if (eval(realize.predicate, bindings_).whole == 0) return;
  const Block& block = *realize.block;
  if (!block.match_buffers.empty()) throw NoOpinion("buffers that match regions");
  bool is_first = true;
  // A binding may use variables of the same names outside: all are evaluated before one is bound.
  const Numbers values = all(realize.values, bindings_);
  for (std::size_t n = 0; n < values.size(); ++n) {
    const IterVar& iter = block.iters[n];
    if (iter.kind() == IterKind::Reduce &&
        values[n].whole != eval(iter.dom()->min, bindings_).whole)
      is_first = false;
  }
  for (std::size_t n = 0; n < values.size(); ++n)
    bindings_[&block.iters[n].var().node()] = values[n];
  for (const Buffer& buffer : block.alloc_buffers) bind(buffer);
  if (block.init && is_first) run(*block.init);
  run(block.body);
}

void ProgramDefinition::run(const Stmt& stmt) {
  match(
      stmt.node().value,
      [&](const Store& n) {
        // All lanes are evaluated before one is stored.
        std::vector<std::pair<std::optional<Number>*, Number>> lanes;
        for (int lane = 0; lane < n.value.dtype().lanes; ++lane) {
          const Number value = eval(lane_of(n.value, lane), bindings_);
          std::vector<Expr> at = n.indices;
          for (Expr& index : at) index = lane_of(index, lane);
          lanes.emplace_back(&element(n.buffer, at, true), value);
        }
        for (const auto& [to, value] : lanes) *to = value;
      },
      [&](const Allocate& n) {
        auto memory = std::make_shared<BufferMemory>();
        memory->dtype = n.dtype;
        memory->shape = indices(n.extents, bindings_);
        std::int64_t count = 1;
        for (const std::int64_t extent : memory->shape) count *= extent;
        memory->elements.resize(static_cast<std::size_t>(count));
        memory_[&n.data.node()] = memory;
        run(n.body);
      },
      [&](const For& n) { run_loop(n); },
      [&](const While& n) {
        while (eval(n.condition, bindings_).whole != 0) {
          if (++steps_ > kMaxSteps) throw NoOpinion("programs that take too long");
          run(n.body);
        }
      },
      [&](const If& n) {
        if (eval(n.condition, bindings_).whole != 0) return run(n.then_case);
        if (n.else_case) run(*n.else_case);
      },
      [&](const Let& n) {
        bindings_[&n.var.node()] = eval(n.value, bindings_);
        run(n.body);
      },
      [&](const Assert& n) { run(n.body); }, [&](const Attr& n) { run_attribute(n); },
      [&](const Evaluate& n) { eval(n.value, bindings_); },
      [&](const Seq& n) {
        for (const Stmt& each : n.stmts) run(each);
      },
      [&](const Prefetch&) {}, [&](const BlockRealize& n) { run_block(n); },
      [](const auto&) { throw NoOpinion("statements that only later forms have"); });
}

}  // namespace tenon::testing
