// Runs programs by the definition of their statements: loops of any kind one iteration after the
// other, blocks as their bindings, predicates and inits say. No pass and no schedule is between the
// program as it was written and its result.
//
//   ProgramDefinition program;
//   auto a = program.bind(A, elements);
//   program.run(func.body);
//   a->elements[0]
#pragma once

#include <memory>
#include <optional>

#include "tenon/tir/function.h"
#include "tenon/tir/stmt.h"
#include "tests/definition/expression_evaluator.h"

namespace tenon::testing {

/// The iterations of the parallel loops around a statement: which execution of a loop, and the
/// value of its variable. Outermost first.
using ParallelIterations = std::vector<std::pair<std::int64_t, std::int64_t>>;

/// The elements of a buffer in row-major order; nullopt: not written yet.
struct BufferMemory {
  DataType dtype;
  std::vector<std::int64_t> shape;
  std::vector<std::optional<Number>> elements;

  /// The last write of an element and the last reads since, of two different iterations.
  struct History {
    std::optional<ParallelIterations> write, read, other_read;
  };
  std::vector<History> history = {};
};

/// Throws NoOpinion for a read of an element that was never written, an access outside a buffer,
/// vectors that are not stored, external functions, and programs that take too long.
class ProgramDefinition : private ExpressionEvaluator {
 public:
  /// Buffers with the same data pointer share their memory.
  std::shared_ptr<BufferMemory> bind(const tir::Buffer& buffer);
  void bind(const tir::Var& var, const Number& value);

  void run(const tir::Stmt& stmt);

  /// The first element that one iteration of a parallel loop writes and another one accesses; "" if
  /// there is no such element.
  const std::string& race() const { return race_; }

 private:
  Number variable(const tir::Var& var) override;
  Number load(const tir::Expr& e, Bindings& values) override;

  std::int64_t whole(const tir::Expr& e) {
    return static_cast<std::int64_t>(eval(e, bindings_).whole);
  }
  std::shared_ptr<BufferMemory> allocate(const tir::Buffer& buffer,
                                         const std::vector<tir::Expr>& shape);
  std::optional<Number>& element(const tir::Buffer& buffer, const std::vector<tir::Expr>& at,
                                 bool is_write);
  void note_access(const tir::Buffer& buffer, BufferMemory::History& history, bool is_write);
  void run_loop(const tir::For& loop);
  void run_attribute(const tir::Attr& attribute);
  void run_block(const tir::BlockRealize& realize);

  Bindings bindings_;
  std::unordered_map<const tir::ExprNode*, std::shared_ptr<BufferMemory>> memory_;
  std::int64_t steps_ = 0;
  ParallelIterations parallel_;
  std::int64_t parallel_loops_ = 0;
  /// The number of the parallel loops since the last barrier of the enclosing region of tasks,
  /// which nothing orders; 0 outside of regions.
  std::int64_t unordered_loops_ = 0;
  std::string race_;
};

}  // namespace tenon::testing
