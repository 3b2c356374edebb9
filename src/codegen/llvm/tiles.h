// The tile registers of x86 (Intel AMX), which contain the fragments of matrix operations.
//
//   allocate(a: Pointer(wmma.matrix_a bfloat16), [1024])   two tiles of 16 x 32: tmm4 and tmm5
//   @tir.tvm_load_matrix_sync(a, 16, 16, 32, 1, ...)       tileloadd (%rax, %rcx), %tmm5
#pragma once

#include <array>
#include <optional>
#include <span>
#include <unordered_map>
#include <utility>

#include "tenon/tir/stmt.h"

namespace tenon::codegen {

/// The m x n x k shape of the matrix product that uses a fragment: {m, n, k}.
using ProductShape = std::array<std::int64_t, 3>;

/// A fragment that matrix operations access.
struct FragmentUse {
  /// The shape in the first operation that uses the fragment.
  ProductShape shape = {};
  /// The size of the fragment's allocation; nullopt if it is not constant.
  std::optional<std::int64_t> bytes;
  /// The number of accesses of the fragment in the computation.
  int accesses = 0;
};

/// The fragments that the matrix operations of a computation access, by data pointer. A fragment
/// without matrix operations is ordinary memory.
class Fragments {
 public:
  explicit Fragments(const tir::Stmt& body);

  bool contains(const tir::Expr& data) const { return uses_.contains(&data.node()); }
  bool empty() const { return uses_.empty(); }
  /// Precondition: the fragment has a matrix operation.
  const FragmentUse& of(const tir::Expr& data) const { return uses_.at(&data.node()); }

 private:
  std::unordered_map<const tir::ExprNode*, FragmentUse> uses_;
};

/// Divides a sequence into groups of statements such that no two groups access the same fragment.
std::vector<std::span<const tir::Stmt>> lives_of_fragments(std::span<const tir::Stmt> stmts);

/// The configuration of a tile register: the number of rows, and the bytes per row.
using TileShape = std::pair<int, int>;

/// Assigns tile registers to the fragments that a statement accesses. Fragments of one shape may
/// use the same register one after the other.
class TileRegisters {
 public:
  static constexpr std::size_t kCount = 8;

  /// Throws LowerError for a fragment that no tile register can contain.
  TileRegisters(const tir::Stmt& s, const Fragments& fragments);

  bool has_any() const { return !registers_.empty() || obstacle_; }
  /// Whether the computation has no access of these fragments outside the statement.
  bool has_all() const { return has_all_; }
  /// Whether the statement can run with one configuration of the tile registers.
  bool fit() const { return has_all_ && !obstacle_; }
  /// The reason why the statement cannot use tile registers: "the statement has ...".
  const std::optional<std::string>& obstacle() const { return obstacle_; }
  const std::array<TileShape, kCount>& shapes() const { return shapes_; }
  /// Returns the register of each tile of the fragment, in order.
  const std::vector<int>& of(const tir::Expr& data) const { return registers_.at(&data.node()); }

 private:
  using InUse = std::array<bool, kCount>;
  using Pointers = std::vector<tir::Var>;
  void visit(const tir::Stmt& s, const Pointers& pending, InUse in_use);
  void visit(const tir::Seq& n, Pointers pending, InUse in_use);
  void assign(const tir::Var& data, InUse& in_use);

  const Fragments& fragments_;
  bool has_all_ = true;
  std::optional<std::string> obstacle_;
  std::array<TileShape, kCount> shapes_ = {};
  std::unordered_map<const tir::ExprNode*, std::vector<int>> registers_;
};

}  // namespace tenon::codegen
