// Uses of shared and global memory in a kernel, and whether two threads of a block may meet in
// them: touch an element that one of them writes.
//
//   attr threadIdx.x = 32 { S[t] = A[t];  B[t] = S[31 - t] }
//
// The store and the load may meet: what thread 0 stores, thread 31 loads. Two threads' stores never
// do.
#pragma once

#include <cstdint>
#include <optional>
#include <unordered_map>
#include <unordered_set>
#include <vector>

#include "tenon/arith/dependence.h"
#include "tenon/arith/interval.h"
#include "tenon/tir/memory_scope.h"
#include "tenon/tir/walk.h"

namespace tenon::lowering {

/// What is in both.
arith::ConstBound intersect(const arith::ConstBound& a, const arith::ConstBound& b);

/// A set of uses, by number.
class UseSet {
 public:
  void insert(int use);
  void merge(const UseSet& other);
  bool is_empty() const;
  bool contains(const UseSet& other) const;
  /// Calls f(use) for the uses that are in both sets, until it says true; whether it did.
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

/// The elements first, first + stride, ... up to first + count - 1 of a flat buffer.
struct Elements {
  tir::Buffer buffer;
  tir::Expr first;
  std::int64_t count;
  bool is_store;
  std::int64_t stride = 1;
};

/// When a use follows another one: in the same iteration of the outermost `equal_loops` loops, and,
/// if `is_carried`, in a later iteration of the next loop, which is around both. Other loops may be
/// in any iteration. Loops are counted from the function's outermost one.
struct Occasion {
  int equal_loops;
  bool is_carried;
};

/// The uses of a kernel, each kind once: equal uses have the same number.
class SharedUses {
 public:
  /// `loops_around` is how many loops there are around the kernel.
  SharedUses(const tir::Stmt& kernel, int loops_around);

  /// What an expression, and what a store beside its expressions, uses.
  UseSet of(const tir::Expr& e);
  UseSet of(const tir::Store& store);
  /// While it exists, what is asked for stands where the condition holds (null: no further one).
  /// Uses where `threadIdx.x == 0` or `threadIdx.x < 8` holds are those threads' alone.
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

  /// Whether all threads of a block find the same value.
  bool is_uniform(const tir::Expr& e) const;
  /// Whether two threads may meet, one in a use of the first set, the other in one of the second.
  bool may_meet(const UseSet& earlier, const UseSet& later, Occasion when);

 private:
  /// What a sum of multiples is made of: threads, loops, and whatever else indices hold.
  struct Variable {
    enum class Kind : std::uint8_t { Thread, Loop, Other };
    tir::Expr value;
    Kind kind;
    arith::ConstBound range;
    /// Thread: the number of the axis.
    int axis;
    /// The value is the same where so many outer loops are in the same iteration.
    int loops;
    /// Other: whether threads may find different values.
    bool varies_by_thread;
  };
  struct Term {
    int variable;
    std::int64_t coefficient;
  };
  struct Use {
    /// Where `is_known`; else it may be anywhere in the buffer.
    Elements access;
    bool is_known;
    int memory;
    std::int64_t constant;
    std::vector<Term> terms;  // by variable
    /// As many of the outer loops as the index depends on.
    int loops;
    /// Whether the sum holds divisions and the like, of which the simplifier may know more.
    bool is_opaque;
    /// By thread axis, which of its threads come here, as far as conditions around say it.
    std::vector<arith::ConstBound> limits = {};
  };
  /// Two threads: equal in the first axes, and in the next one the later use's thread is ahead
  /// (sign 1) or behind.
  struct Threads {
    int axis;
    int sign;
  };

  void limit_threads(const tir::Expr& condition);
  void read_definitions(const tir::Stmt& s, int depth);
  void add_thread(const tir::IterVar& axis, const tir::Expr& extent);
  tir::Expr resolved(const tir::Expr& e) const;
  int add(const tir::Buffer& buffer, const std::vector<tir::Expr>& indices, bool is_store);
  /// So many elements from the first one on.
  int add_range(const tir::Buffer& buffer, const tir::Expr& first, std::int64_t count,
                bool is_store, std::int64_t stride = 1);
  int add_anywhere(const tir::Buffer& buffer, bool is_store);
  void collect(const tir::Expr& e, UseSet& uses);
  int number_of(Use use);
  bool add_term(const tir::Expr& e, std::int64_t factor, Use& use);
  int variable_of(const tir::Expr& e);
  int loops_of(const tir::Expr& e) const;
  bool may_meet(int earlier, int later, Occasion when);
  static bool are_of_one_thread(const Use& a, const Use& b);
  /// Which threads of the axis come to the use.
  arith::ConstBound indices_at(const Use& use, int axis) const;
  /// Whether there are two such threads of which one comes to each use.
  bool can_be(Threads threads, const Use& earlier, const Use& later) const;
  bool are_apart_in_sum(const Use& earlier, const Use& later, Occasion when, Threads threads) const;
  bool are_apart_in_sum(const Use& earlier, const Use& later, Occasion when, Threads threads,
                        bool by_steps) const;
  bool are_apart_by_proof(const Use& earlier, const Use& later, Occasion when, Threads threads);

  tir::VarMap values_, same_thread_;
  std::vector<Variable> variables_;
  std::unordered_map<const tir::ExprNode*, int> variable_of_var_;
  std::unordered_multimap<std::size_t, int> variables_by_hash_;
  struct Thread {
    tir::ThreadTag tag;
    int variable;
  };
  std::vector<Thread> threads_;

  /// Of the uses that are asked for now.
  std::vector<arith::ConstBound> limits_;

  std::vector<Use> uses_;
  std::unordered_multimap<std::size_t, int> uses_by_hash_;
  std::unordered_map<const tir::ExprNode*, int> memories_;
  /// Memory that the kernel allocates.
  std::unordered_set<const tir::ExprNode*> own_memories_;
  /// By memory: all uses, and those that write.
  std::vector<UseSet> all_, stores_;

  std::unordered_map<std::uint64_t, bool> known_;
  arith::Facts facts_;
  int proofs_ = 0;
};

}  // namespace tenon::lowering
