// BLAS level 2 on triangles (topi/blas.h). The routines are written as loops, because they update
// vectors in place and depend on their earlier results. They read the triangle once, in blocks of
// several rows:
//
//    lower triangle            whole vectors          edge
//    rows of a block    ....................... ....\          one vector of columns that contains
//                       ....................... .....\         the diagonal; elements past it are
//                       ....................... ......\        masked
//
//  In the upper triangle, the edge comes first, and a partial vector may come last. The number of rows
//  of a block divides the number of lanes, so the diagonal of a block lies within one vector.
//
//  A routine computes dot products of the rows of a block with a vector (`sums`), adds multiples of
//  the rows to a vector, or does both.
#include <algorithm>
#include <functional>

#include "tenon/tir/builder.h"
#include "tenon/tir/function.h"
#include "tenon/tir/ops.h"
#include "tenon/tir/stmt.h"
#include "tenon/topi/blas.h"
#include "topi/cpu/parts.h"

namespace tenon::topi::blas {

using tir::Buffer;
using tir::BufferRef;
using tir::ElementRef;
using tir::Expr;
using tir::IRBuilder;
using tir::PrimFunc;
using tir::TargetFacts;
using tir::Var;

namespace {

/// The kind of a vector of columns. Whole: all its columns exist. Edge: it contains the diagonal of
/// the block. Tail: it ends past the matrix.
enum class Part : unsigned char { Whole, Edge, Tail };

/// A column in a vector of columns.
struct Column {
  Part part;
  /// `j` is the index of the column in the matrix, and `lane` its index in the vector.
  Expr j, lane;
};

/// A half-open range of rows or columns. It begins at a multiple of the number of lanes. It ends at
/// another multiple or at the end of the matrix.
struct Interval {
  Expr begin, end;
};

/// The rows from i to i + rows - 1.
struct Block {
  Var i;
  int rows;
};

/// Conditions on a column, all of which must hold.
using Mask = std::vector<Expr>;

/// A function that returns an element of a vector.
using Elements = std::function<ElementRef(const Expr& j)>;

/// A function that emits the code for a block.
using BlockBody = std::function<void(const Block&)>;

/// Emits the loops of a routine on a triangle.
class Triangle {
 public:
  /// `rows` is the maximum number of rows of a block.
  Triangle(const TriangleOptions& options, const TargetFacts& target, int rows = 8)
      : type(options.dtype),
        is_lower(options.lower),
        has_unit_diagonal(options.unit_diagonal),
        has_unit_strides_(options.unit_strides),
        lanes_(cpu::lanes_of(options.dtype, target)),
        rows_(std::min(rows, lanes_)) {}

  using Body = std::function<void(const Column& column)>;

  // ---- the function

  Var scalar(const char* name) {
    const Var var(name, type);
    func_.params.push_back(var);
    return var;
  }
  BufferRef vector(const char* name) {
    tir::BufferOptions options{.name = name, .data_alignment = type.bytes()};
    if (!has_unit_strides_) options.strides = {Var(std::string("inc") + name)};
    return array({n}, options);
  }
  BufferRef matrix() {
    return array({n, n}, {.name = "A", .strides = {Var("lda"), 1}, .data_alignment = type.bytes()});
  }

  /// Returns the function. If there are several cores, it runs `threaded` for large n and `serial`
  /// otherwise.
  PrimFunc function(const char* name, int cores, const std::function<void()>& serial,
                    const std::function<void()>& threaded) {
    constexpr int kRowsForThreads = 384;
    if (cores > 1) {
      ir.if_scope(n >= kRowsForThreads, threaded);
      ir.else_scope(serial);
    } else {
      serial();
    }
    func_.body = ir.get();
    func_.attrs.global_symbol = name;
    return func_;
  }

  // ---- loops

  Expr zero() const { return tir::make_const(type, 0); }

  /// Emits the body for each column of the triangle that is in the interval and in a row of the
  /// block.
  void for_each_column(const Block& block, const Interval& columns, const Body& body) {
    const Var edge = ir.let("edge", tir::floordiv(block.i, lanes_));
    const auto emit_edge = [&] { lane_loop(Part::Edge, edge * lanes_, body); };
    if (is_lower) {
      vectors(tir::floordiv(columns.begin, lanes_), edge, body);
      return emit_edge();
    }
    emit_edge();
    // Blocks of a single row occur only at the end of the matrix, where no columns follow the edge.
    if (block.rows > 1) for_each_in({(edge + 1) * lanes_, columns.end}, body);
  }
  void for_each_column(const Block& block, const Body& body) {
    for_each_column(block, all(), body);
  }
  /// Emits the body for each column of an interval.
  void for_each_in(const Interval& columns, const Body& body) {
    const Var last = ir.let("last", tir::floordiv(columns.end, lanes_));
    vectors(tir::floordiv(columns.begin, lanes_), last, body);
    ir.if_scope(last * lanes_ >= columns.begin && last * lanes_ < columns.end,
                [&] { lane_loop(Part::Tail, last * lanes_, body); });
  }

  /// Emits the body for the blocks of an interval of rows. Most blocks have `rows_` rows; the tail
  /// is divided into smaller blocks. For each block size, visits every `step`-th block, beginning
  /// with block `first`.
  void for_each_block(const Interval& rows, bool is_ascending, const BlockBody& body,
                      const Expr& first = 0, int step = 1) {
    std::vector<std::function<void()>> loops;
    Expr begin = rows.begin;
    for (const int size : {rows_, rows_ / 2, 1}) {
      const Var blocks = ir.let("blocks", tir::floordiv(rows.end - begin, size));
      const Var number = ir.let("number", tir::ceildiv(blocks - first, step));
      loops.push_back([=, this] {
        ir.for_range(0, number, "block", [&](Var b) {
          const Expr own = first + (is_ascending ? Expr(b) : number - 1 - b) * step;
          body({ir.let("i", begin + own * size), size});
        });
      });
      begin = begin + blocks * size;
    }
    if (!is_ascending) std::reverse(loops.begin(), loops.end());
    for (const auto& loop : loops) loop();
  }
  void for_each_block(bool is_ascending, const BlockBody& body) {
    for_each_block(all(), is_ascending, body);
  }
  Interval all() const { return {0, n}; }
  /// Returns part `number` of `count` parts of the interval. The parts have about equal length.
  Interval part(const Interval& of, const Expr& number, int count) {
    const Expr vectors = tir::ceildiv(of.end - of.begin, lanes_);
    const auto boundary = [&](const Expr& k) {
      return tir::min(of.begin + tir::floordiv(vectors * k, count) * lanes_, of.end);
    };
    return {ir.let("begin", boundary(number)), ir.let("end", boundary(number + 1))};
  }

  // ---- masks

  /// Returns the conditions under which the column is in the triangle in row i + r. The diagonal
  /// counts only if `has_diagonal`.
  Mask exists(const Block& block, int r, const Column& column, bool has_diagonal) const {
    if (column.part != Part::Edge) return exists_in_vector(column);
    const Expr row = block.i + r;
    if (is_lower) return {has_diagonal ? column.j <= row : column.j < row};
    return {has_diagonal ? column.j >= row : column.j > row, column.j < n};
  }
  /// Returns the conditions under which the column is in the triangle, but not in the square block
  /// on the diagonal.
  Mask is_outside(const Block& block, const Column& column) const {
    if (column.part != Part::Edge) return exists_in_vector(column);
    if (is_lower) return {column.j < block.i};
    return {column.j >= block.i + block.rows, column.j < n};
  }
  /// Returns the conditions under which the column is in the triangle in some row of the block.
  Mask is_inside(const Block& block, const Column& column) const {
    return exists(block, is_lower ? block.rows - 1 : 0, column, true);
  }
  /// Returns the condition under which the column is below n.
  Mask exists_in_vector(const Column& column) const {
    return column.part == Part::Whole ? Mask() : Mask{column.j < n};
  }
  Expr or_zero(const Mask& mask, Expr value) const {
    for (const Expr& condition : mask) value = tir::if_then_else(condition, value, zero());
    return value;
  }
  void store(Mask mask, const ElementRef& element, const Expr& value) {
    if (mask.empty()) {
      element = value;
      return;
    }
    const Expr condition = mask.back();
    mask.pop_back();
    ir.if_scope(condition, [&] { store(mask, element, value); });
  }

  /// Stores value(column) in each element of a vector of length n.
  void set_elements(const BufferRef& to, const std::function<Expr(const Column& column)>& value) {
    for_each_in(all(), [&](const Column& c) {
      const Mask exists = exists_in_vector(c);
      store(exists, to[c.j], or_zero(exists, value(c)));
    });
  }

  // ---- parts of routines

  /// Allocates the dot products of the rows of a block with a vector. Each one is accumulated in a
  /// vector of partial sums.
  BufferRef sums(const Block& block) {
    const BufferRef sums = ir.allocate(type, {block.rows * lanes_}, "sums", "local");
    for (int r = 0; r < block.rows; ++r)
      in_lanes(lanes_, [&](const Var& lane) { sums[r * lanes_ + lane] = zero(); });
    return sums;
  }
  /// Adds `term` to the partial sum of row i + r in a lane.
  void add(const BufferRef& sums, int r, const Expr& lane, const Expr& term) {
    const ElementRef sum = sums[r * lanes_ + lane];
    sum = sum + term;
  }
  /// Returns the dot product of row i + r.
  Expr total(const BufferRef& sums, int r) {
    BufferRef part = sums;
    int first = r * lanes_;
    for (int half = lanes_ / 2; half >= 1; half /= 2) {
      const BufferRef next = ir.allocate(type, {half}, "part", "local");
      in_lanes(half, [&](const Var& lane) {
        next[lane] = part[lane + first] + part[lane + (first + half)];
      });
      part = next;
      first = 0;
    }
    return ir.let("total", part[0]);
  }

  /// Returns the elements of a vector in the rows of a block, multiplied by a factor if it is
  /// given.
  std::vector<Expr> elements(const BufferRef& x, const Block& block,
                             const std::optional<Expr>& factor = std::nullopt) {
    std::vector<Expr> values;
    for (int r = 0; r < block.rows; ++r) {
      const Expr element = x[block.i + r];
      values.push_back(ir.let("element", factor ? *factor * element : element));
    }
    return values;
  }

  const DataType type;
  const bool is_lower, has_unit_diagonal;
  const Var n = Var::size("n");
  IRBuilder ir;

 private:
  BufferRef array(std::vector<Expr> shape, const tir::BufferOptions& options) {
    const Buffer buffer = tir::decl_buffer(std::move(shape), type, options);
    const Var handle(buffer->name + "_handle", Handle());
    func_.params.push_back(handle);
    func_.buffers.push_back({handle, buffer, buffer});
    return ir.buffer_ptr(buffer);
  }

  void in_lanes(int count, const std::function<void(Var lane)>& body) {
    ir.for_range(0, count, "lane", body, {.kind = tir::ForKind::Vectorized});
  }
  void lane_loop(Part part, const Expr& first, const Body& body) {
    in_lanes(lanes_, [&](const Var& lane) { body({part, first + lane, lane}); });
  }
  void vectors(const Expr& begin, const Expr& end, const Body& body) {
    ir.for_range(begin, end, "vector", [&](Var v) { lane_loop(Part::Whole, v * lanes_, body); });
  }

  const bool has_unit_strides_;
  const int lanes_, rows_;
  PrimFunc func_{.params = {},
                 .buffers = {},
                 .body = tir::make_stmt(tir::Evaluate{0}),
                 .attrs = {},
                 .form = tir::Form::MultiDimensional};
};

/// Emits `part(p)` for each of the parts in parallel. A part must not access elements that another
/// part stores.
void in_parallel(IRBuilder& ir, int parts, const std::function<void(Var p)>& part) {
  ir.emit(ir.nested([&] {
    ir.scope_attr("independent_iterations", 1);
    ir.for_range(0, parts, "part", part, {.kind = tir::ForKind::Parallel});
  }));
}

/// Emits all blocks in parallel. Each thread adds to a vector of sums of its own, which is cleared
/// first. `add_block(sum)` returns the body of a block that adds to the elements sum(j). Returns a
/// function that returns the total of an element.
std::function<Expr(const Column& column)> add_in_parallel(
    Triangle& t, int cores, const std::function<BlockBody(const Elements& sum)>& add_block) {
  const BufferRef parts = t.ir.allocate(t.type, {t.n * cores}, "parts");
  in_parallel(t.ir, cores, [&](const Var& p) {
    t.for_each_in(t.all(), [&](const Column& c) {
      t.store(t.exists_in_vector(c), parts[p * t.n + c.j], t.zero());
    });
    t.for_each_block(t.all(), true, add_block([&](const Expr& j) { return parts[p * t.n + j]; }), p,
                     cores);
  });
  return [parts, cores, n = t.n](const Column& column) {
    Expr sum = parts[column.j];
    for (int p = 1; p < cores; ++p) sum = sum + parts[p * n + column.j];
    return sum;
  };
}

/// Returns the options for a routine on a symmetric matrix. Transposition and a unit diagonal have
/// no effect there.
TriangleOptions of_symmetric(TriangleOptions options) {
  options.transposed = options.unit_diagonal = false;
  return options;
}

}  // namespace

PrimFunc symv(const TriangleOptions& options, const TargetFacts& target, SourceLocation where) {
  cpu::check_routine("symv", options.dtype, target, where);
  Triangle t(of_symmetric(options), target);
  const Var alpha = t.scalar("alpha");
  const BufferRef A = t.matrix(), x = t.vector("x");
  const Var beta = t.scalar("beta");
  const BufferRef y = t.vector("y");
  const auto scale = [&] {
    t.ir.if_scope(beta != tir::make_const(t.type, 1), [&] {
      t.set_elements(y, [&](const Column& c) {
        return tir::if_then_else(beta == t.zero(), t.zero(), beta * y[c.j]);
      });
    });
  };
  // Each element of the triangle contributes to the sum of its row. Unless it is on the diagonal,
  // it also contributes to the sum of its column.
  const auto add_block = [&](const Elements& sum) {
    return [&, sum](const Block& block) {
      const std::vector<Expr> own = t.elements(x, block, alpha);
      const BufferRef sums = t.sums(block);
      t.for_each_column(block, [&](const Column& c) {
        const Mask inside = t.is_inside(block, c);
        const Var x_of_column = t.ir.let("x", t.or_zero(inside, x[c.j]));
        Expr total = t.or_zero(inside, sum(c.j));
        for (int r = 0; r < block.rows; ++r) {
          const Var a =
              t.ir.let("a", t.or_zero(t.exists(block, r, c, true), A[{block.i + r, c.j}]));
          t.add(sums, r, c.lane, a * x_of_column);
          const Expr product = own[static_cast<std::size_t>(r)] * a;
          total = total + (c.part == Part::Edge ? tir::select(c.j == block.i + r, t.zero(), product)
                                                : product);
        }
        t.store(inside, sum(c.j), total);
      });
      for (int r = 0; r < block.rows; ++r)
        sum(block.i + r) = sum(block.i + r) + alpha * t.total(sums, r);
    };
  };
  const auto serial = [&] {
    scale();
    t.ir.if_scope(alpha != t.zero(),
                  [&] { t.for_each_block(true, add_block([&](const Expr& j) { return y[j]; })); });
  };
  const auto threaded = [&] {
    scale();
    t.ir.if_scope(alpha != t.zero(), [&] {
      const auto total = add_in_parallel(t, target.cores, add_block);
      t.set_elements(y, [&](const Column& c) { return y[c.j] + total(c); });
    });
  };
  return t.function("symv", target.cores, serial, threaded);
}

namespace {

/// x <- A*x. Each block stores the elements of its own rows. The order of the blocks ensures that
/// elements are read before they are overwritten. With threads, x is copied instead.
PrimFunc trmv_by_rows(Triangle& t, const BufferRef& A, const BufferRef& x, int cores) {
  const auto store_block = [&](const BufferRef& from) {
    return [&, from](const Block& block) {
      const BufferRef sums = t.sums(block);
      t.for_each_column(block, [&](const Column& c) {
        for (int r = 0; r < block.rows; ++r) {
          const Expr product = A[{block.i + r, c.j}].operator Expr() * from[c.j];
          t.add(sums, r, c.lane, t.or_zero(t.exists(block, r, c, !t.has_unit_diagonal), product));
        }
      });
      for (int r = 0; r < block.rows; ++r) {
        const Expr total = t.total(sums, r);
        x[block.i + r] = t.has_unit_diagonal ? total + from[block.i + r] : total;
      }
    };
  };
  const auto serial = [&] { t.for_each_block(!t.is_lower, store_block(x)); };
  const auto threaded = [&] {
    const BufferRef copy = t.ir.allocate(t.type, {t.n}, "copy");
    t.set_elements(copy, [&](const Column& c) { return x[c.j]; });
    in_parallel(t.ir, cores, [&](const Var& p) {
      t.for_each_block(t.all(), true, store_block(copy), p, cores);
    });
  };
  return t.function("trmv", cores, serial, threaded);
}

/// x <- A^T*x. Each block adds multiples of its rows to the elements of x in the rows' columns.
PrimFunc trmv_by_columns(Triangle& t, const BufferRef& A, const BufferRef& x, int cores) {
  const auto add_block = [&](const Elements& sum, bool is_in_place) {
    return [&, sum, is_in_place](const Block& block) {
      const std::vector<Expr> own = t.elements(x, block);
      t.for_each_column(block, [&](const Column& c) {
        const Mask inside = t.is_inside(block, c), outside = t.is_outside(block, c);
        // If x is updated in place, the new values replace the old elements in the block's own
        // rows, and are added to all other elements.
        Expr total = t.or_zero(is_in_place && !t.has_unit_diagonal ? outside : inside, sum(c.j));
        for (int r = 0; r < block.rows; ++r) {
          const auto row = static_cast<std::size_t>(r);
          total = total + t.or_zero(t.exists(block, r, c, !t.has_unit_diagonal),
                                    own[row] * A[{block.i + r, c.j}]);
          if (t.has_unit_diagonal && !is_in_place && c.part == Part::Edge)
            total = total + tir::select(c.j == block.i + r, own[row], t.zero());
        }
        t.store(inside, sum(c.j), total);
      });
    };
  };
  const auto serial = [&] {
    t.for_each_block(t.is_lower, add_block([&](const Expr& j) { return x[j]; }, true));
  };
  const auto threaded = [&] {
    t.set_elements(
        x, add_in_parallel(t, cores, [&](const Elements& sum) { return add_block(sum, false); }));
  };
  return t.function("trmv", cores, serial, threaded);
}

}  // namespace

PrimFunc trmv(const TriangleOptions& options, const TargetFacts& target, SourceLocation where) {
  cpu::check_routine("trmv", options.dtype, target, where);
  Triangle t(options, target);
  const BufferRef A = t.matrix(), x = t.vector("x");
  return options.transposed ? trmv_by_columns(t, A, x, target.cores)
                            : trmv_by_rows(t, A, x, target.cores);
}

PrimFunc trsv(const TriangleOptions& options, const TargetFacts& target, SourceLocation where) {
  cpu::check_routine("trsv", options.dtype, target, where);
  Triangle t(options, target);
  const BufferRef A = t.matrix(), x = t.vector("x");
  const bool is_ascending = options.lower != options.transposed;
  // Solves the square block on the diagonal. All other terms have already been subtracted from its
  // elements `own`. Computes reciprocals first, because they do not depend on other elements of the
  // solution.
  const auto solve = [&](const Block& block, std::vector<Expr> own) {
    const auto at = [&](int r) {
      return static_cast<std::size_t>(is_ascending ? r : block.rows - 1 - r);
    };
    std::vector<Expr> reciprocals;
    for (int r = 0; r < block.rows && !t.has_unit_diagonal; ++r)
      reciprocals.push_back(
          t.ir.let("reciprocal", tir::make_const(t.type, 1) / A[{block.i + r, block.i + r}]));
    for (int r = 0; r < block.rows; ++r) {
      Expr value = own[at(r)];
      for (int c = 0; c < r; ++c) {
        const Expr row = block.i + static_cast<int>(at(r)),
                   column = block.i + static_cast<int>(at(c));
        value = value - (options.transposed ? A[{column, row}] : A[{row, column}]) * own[at(c)];
      }
      own[at(r)] = t.ir.let("solution", t.has_unit_diagonal ? value : value * reciprocals[at(r)]);
    }
    for (int r = 0; r < block.rows; ++r) x[block.i + r] = own[static_cast<std::size_t>(r)];
    return own;
  };
  // Returns the elements of x in the rows of a block, minus the products of the rows with elements
  // of x in other columns.
  const auto subtracted = [&](const Block& block,
                              const std::function<void(const Triangle::Body&)>& for_each) {
    const BufferRef sums = t.sums(block);
    for_each([&](const Column& c) {
      for (int r = 0; r < block.rows; ++r) {
        const Expr product = A[{block.i + r, c.j}].operator Expr() * x[c.j];
        t.add(sums, r, c.lane, t.or_zero(t.is_outside(block, c), product));
      }
    });
    std::vector<Expr> own = t.elements(x, block);
    for (int r = 0; r < block.rows; ++r) {
      Expr& element = own[static_cast<std::size_t>(r)];
      element = t.ir.let("rest", element - t.total(sums, r));
    }
    return own;
  };
  // Subtracts the multiples of the rows of a block from the elements of x in other columns.
  const auto subtract = [&](const Block& block, const std::vector<Expr>& own,
                            const std::function<void(const Triangle::Body&)>& for_each) {
    for_each([&](const Column& c) {
      const Mask outside = t.is_outside(block, c);
      Expr total = t.or_zero(outside, x[c.j]);
      for (int r = 0; r < block.rows; ++r)
        total =
            total - own[static_cast<std::size_t>(r)] * t.or_zero(outside, A[{block.i + r, c.j}]);
      t.store(outside, x[c.j], total);
    });
  };
  // Solves the equations of some rows. The terms in columns outside of `rows` must have been
  // subtracted before.
  const auto solve_rows = [&](const Interval& rows) {
    t.for_each_block(rows, is_ascending, [&](const Block& block) {
      const auto columns = [&](const Triangle::Body& body) {
        t.for_each_column(block, rows, body);
      };
      if (options.transposed)
        subtract(block, solve(block, t.elements(x, block)), columns);
      else
        solve(block, subtracted(block, columns));
    });
  };
  // Subtracts the terms that connect `rows` with the columns on the far side of the matrix. All
  // threads take part: each has its own rows or, if A is transposed, its own columns.
  const auto subtract_others = [&](const Interval& rows) {
    const Interval others = options.lower ? Interval{0, rows.begin} : Interval{rows.end, t.n};
    in_parallel(t.ir, target.cores, [&](const Var& p) {
      if (!options.transposed) {
        const auto subtract_own = [&](const Block& block) {
          const std::vector<Expr> own =
              subtracted(block, [&](const Triangle::Body& body) { t.for_each_in(others, body); });
          for (int r = 0; r < block.rows; ++r) x[block.i + r] = own[static_cast<std::size_t>(r)];
        };
        return t.for_each_block(rows, true, subtract_own, p, target.cores);
      }
      const Interval part = t.part(others, p, target.cores);
      t.for_each_block(rows, true, [&](const Block& block) {
        subtract(block, t.elements(x, block),
                 [&](const Triangle::Body& body) { t.for_each_in(part, body); });
      });
    });
  };
  const auto threaded = [&] {
    constexpr int kRowsAtOnce = 256;
    const Var count = t.ir.let("panels", tir::ceildiv(t.n, kRowsAtOnce));
    t.ir.for_range(0, count, "panel", [&](Var k) {
      const Var begin = t.ir.let("begin", (is_ascending ? Expr(k) : count - 1 - k) * kRowsAtOnce);
      const Interval rows{begin, t.ir.let("end", tir::min(begin + kRowsAtOnce, t.n))};
      if (!options.transposed) subtract_others(rows);
      solve_rows(rows);
      if (options.transposed) subtract_others(rows);
    });
  };
  return t.function(
      "trsv", target.cores, [&] { solve_rows(t.all()); }, threaded);
}

PrimFunc syr2(const TriangleOptions& options, const TargetFacts& target, SourceLocation where) {
  cpu::check_routine("syr2", options.dtype, target, where);
  constexpr int kRows = 4;
  Triangle t(of_symmetric(options), target, kRows);
  const Var alpha = t.scalar("alpha");
  const BufferRef x = t.vector("x"), y = t.vector("y"), A = t.matrix();
  const auto update = [&](const Block& block) {
    const std::vector<Expr> of_x = t.elements(x, block, alpha), of_y = t.elements(y, block, alpha);
    t.for_each_column(block, [&](const Column& c) {
      for (int r = 0; r < block.rows; ++r) {
        const auto row = static_cast<std::size_t>(r);
        const ElementRef element = A[{block.i + r, c.j}];
        const Mask exists = t.exists(block, r, c, true);
        t.store(exists, element,
                t.or_zero(exists, element + of_x[row] * y[c.j] + of_y[row] * x[c.j]));
      }
    });
  };
  const auto serial = [&] {
    t.ir.if_scope(alpha != t.zero(), [&] { t.for_each_block(true, update); });
  };
  const auto threaded = [&] {
    t.ir.if_scope(alpha != t.zero(), [&] {
      in_parallel(t.ir, target.cores,
                  [&](const Var& p) { t.for_each_block(t.all(), true, update, p, target.cores); });
    });
  };
  return t.function("syr2", target.cores, serial, threaded);
}

}  // namespace tenon::topi::blas
