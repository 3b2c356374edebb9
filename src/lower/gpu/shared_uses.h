// Uses of shared and global memory in a kernel, and whether two threads of a block may conflict,
// that is, access the same element while one of them writes it.
//
//   attr threadIdx.x = 32 { S[t] = A[t];  B[t] = S[31 - t] }
//
// The store and the load may conflict: thread 31 loads the element that thread 0 stores. The stores
// of two threads never conflict.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <unordered_map>
#include <unordered_set>
#include <vector>

#include "lower/rewriting.h"
#include "tenon/arith/dependence.h"
#include "tenon/arith/interval.h"
#include "tenon/tir/memory_scope.h"
#include "tenon/tir/walk.h"

namespace tenon::lowering {

/// Returns the intersection of the two ranges.
arith::ConstBound intersect(const arith::ConstBound& a, const arith::ConstBound& b);

/// A set of uses, each identified by its number.
class UseSet {
 public:
  void insert(int use);
  void merge(const UseSet& other);
  bool is_empty() const;
  bool contains(const UseSet& other) const;
  /// Whether f(use) is true for some use that is in both sets. Stops at the first such use.
  template <class F>
  bool any_in(const UseSet& other, F f) const {
    for (std::size_t n = 0; n < words_.size() && n < other.words_.size(); ++n)
      for (std::uint64_t word = words_[n] & other.words_[n]; word != 0; word &= word - 1)
        if (f(static_cast<int>(n * 64) + __builtin_ctzll(word))) return true;
    return false;
  }

 private:
  std::vector<std::uint64_t> words_;
};

inline bool is_global(const tir::Buffer& buffer) {
  return buffer->scope() == tir::StorageScope::Global;
}

/// The elements first, first + stride, first + 2*stride, ... of a flat buffer; `count` elements in
/// all.
struct Elements {
  tir::Buffer buffer;
  tir::Expr first;
  std::int64_t count;
  bool is_store;
  std::int64_t stride = 1;
};

/// The relation between two uses, an earlier and a later one. Both are in the same iteration of the
/// outermost `equal_loops` loops, counted from the outermost loop of the function. If `is_carried`,
/// the later use is in a later iteration of the next loop, which encloses both uses. Iterations of
/// other loops are arbitrary.
struct Occasion {
  int equal_loops;
  bool is_carried;
};

/// The distinct uses of memory in a kernel. Equal uses have the same number.
class SharedUses {
 public:
  /// `loops_around`: the number of loops around the kernel.
  SharedUses(const tir::Stmt& kernel, int loops_around);

  /// Return the uses in an expression, and the use of a store itself without its expressions.
  UseSet of(const tir::Expr& e);
  UseSet of(const tir::Store& store);
  /// Adds a condition to the uses that are queried while the guard exists; nullptr adds none. For
  /// example, uses under `threadIdx.x == 0` or `threadIdx.x < 8` only belong to these threads.
  class Guard {
   public:
    Guard(SharedUses& uses, const tir::Expr* condition);
    ~Guard() { uses_.limits_ = std::move(before_); }
    Guard(const Guard&) = delete;
    Guard& operator=(const Guard&) = delete;

   private:
    SharedUses& uses_;
    std::vector<arith::ConstBound> before_;
  };

  /// Whether all threads of a block compute the same value for the expression.
  bool is_uniform(const tir::Expr& e) const;
  /// Whether two threads may conflict, if one makes a use of `earlier` and the other a use of
  /// `later`.
  bool may_conflict(const UseSet& earlier, const UseSet& later, Occasion when);
  /// Describes the last conflict found, such as "one stores to S[t] and another one reads S[0]".
  std::string last_conflict() const;

 private:
  /// A variable of a linear index: a thread axis, a loop variable, or a subexpression that is
  /// treated as a variable.
  struct Variable {
    enum class Kind : std::uint8_t { Thread, Loop, Other };
    tir::Expr value;
    Kind kind;
    arith::ConstBound range;
    /// The number of the thread axis; for threads only.
    int axis;
    /// The value depends on at most the outermost `loops` loops.
    int loops;
    /// Whether the value may differ between threads; for other subexpressions only.
    bool varies_by_thread;
  };
  struct Term {
    int variable;
    std::int64_t coefficient;
  };
  struct Use {
    /// The accessed elements if `is_known`. Otherwise the use may access any element of the buffer.
    Elements access;
    bool is_known;
    int memory;
    std::int64_t constant;
    std::vector<Term> terms;  // sorted by variable
    /// The index depends on at most the outermost `loops` loops.
    int loops;
    /// Whether the index contains nonlinear terms such as divisions. The simplifier may then find
    /// more proofs.
    bool is_opaque;
    /// The range of each thread axis in which threads reach the use, derived from the enclosing
    /// conditions.
    std::vector<arith::ConstBound> limits = {};
  };
  /// A pair of threads. They have equal indices in the axes before `axis`. In `axis`, the thread of
  /// the later use is ahead (sign 1) or behind (sign -1).
  struct Threads {
    int axis;
    int sign;
  };

  void limit_threads(const tir::Expr& condition);
  void read_definitions(const tir::Stmt& s, int depth);
  void add_thread(const tir::IterVar& axis, const tir::Expr& extent);
  tir::Expr resolved(const tir::Expr& e) const;
  int add(const tir::Buffer& buffer, const std::vector<tir::Expr>& indices, bool is_store);
  /// Adds a use of `count` elements that begin at `first`.
  int add_range(const tir::Buffer& buffer, const tir::Expr& first, std::int64_t count,
                bool is_store, std::int64_t stride = 1);
  int add_anywhere(const tir::Buffer& buffer, bool is_store);
  void collect(const tir::Expr& e, UseSet& uses);
  int number_of(Use use);
  bool add_term(const tir::Expr& e, std::int64_t factor, Use& use);
  int variable_of(const tir::Expr& e);
  int loops_of(const tir::Expr& e) const;
  bool may_conflict(int earlier, int later, Occasion when);
  static bool are_of_one_thread(const Use& a, const Use& b);
  /// Returns the range of indices along the thread axis whose threads reach the use.
  arith::ConstBound indices_at(const Use& use, int axis) const;
  /// Whether there is such a pair of threads, one of which reaches the earlier use and the other
  /// the later use.
  bool can_be(Threads threads, const Use& earlier, const Use& later) const;
  bool are_apart_in_sum(const Use& earlier, const Use& later, Occasion when, Threads threads) const;
  bool are_apart_in_sum(const Use& earlier, const Use& later, Occasion when, Threads threads,
                        bool by_steps) const;
  bool are_apart_by_proof(const Use& earlier, const Use& later, Occasion when, Threads threads);

  tir::VarMap values_, same_thread_;
  std::vector<Variable> variables_;
  std::unordered_map<const tir::ExprNode*, int> variable_of_var_;
  /// The numbers of variables that are subexpressions, by their value.
  StructuralMap<int> other_variables_;
  struct Thread {
    tir::ThreadTag tag;
    int variable;
  };
  std::vector<Thread> threads_;

  /// The limits of the thread axes under the current guards.
  std::vector<arith::ConstBound> limits_;

  std::vector<Use> uses_;
  /// Indices into `uses_`, by the first element of the use.
  StructuralMap<std::vector<int>> uses_by_first_;
  std::unordered_map<const tir::ExprNode*, int> memories_;
  /// The memory that the kernel allocates.
  std::unordered_set<const tir::ExprNode*> own_memories_;
  /// The set of all uses and the set of all stores, for each memory.
  std::vector<UseSet> all_, stores_;

  std::unordered_map<std::uint64_t, bool> known_;
  arith::Facts facts_;
  int proofs_ = 0;
  std::pair<int, int> last_conflict_;
};

}  // namespace tenon::lowering
