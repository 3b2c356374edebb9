// Winograd convolutions (topi/convolution.h).
#include <algorithm>
#include <array>

#include "tenon/te/reduce.h"
#include "tenon/tir/expr.h"
#include "tenon/topi/convolution.h"
#include "tenon/topi/parts.h"
#include "tenon/topi/tags.h"
#include "topi/ops/windows.h"

namespace tenon::topi {

namespace {

using Row = std::vector<double>;
using Matrix = std::vector<Row>;

constexpr int kKernel = 3, kPlaces = kKernel * kKernel;

// The matrices of F(m x m, 3 x 3). Filters g, inputs d and products M are transformed to G g G^T,
// B^T d B and A^T M A. The interpolation points are 0, 1, -1, infinity, and for m = 4 also 2 and
// -2, as in Lavin and Gray.

/// Returns G, the transform of filters.
Matrix filter_matrix(int tile) {
  if (tile == 2) return {{1, 0, 0}, {0.5, 0.5, 0.5}, {0.5, -0.5, 0.5}, {0, 0, 1}};
  return {{1.0 / 4, 0, 0},
          {-1.0 / 6, -1.0 / 6, -1.0 / 6},
          {-1.0 / 6, 1.0 / 6, -1.0 / 6},
          {1.0 / 24, 1.0 / 12, 1.0 / 6},
          {1.0 / 24, -1.0 / 12, 1.0 / 6},
          {0, 0, 1}};
}

/// Returns B^T, the transform of inputs.
Matrix input_matrix(int tile) {
  if (tile == 2) return {{1, 0, -1, 0}, {0, 1, 1, 0}, {0, -1, 1, 0}, {0, 1, 0, -1}};
  return {{4, 0, -5, 0, 1, 0},  {0, -4, -4, 1, 1, 0}, {0, 4, -4, -1, 1, 0},
          {0, -2, -1, 2, 1, 0}, {0, 2, -1, -2, 1, 0}, {0, 4, 0, -5, 0, 1}};
}

/// Returns A^T, the transform of products.
Matrix result_matrix(int tile) {
  if (tile == 2) return {{1, 1, 1, 0}, {0, 1, -1, -1}};
  return {{1, 1, 1, 1, 1, 0}, {0, 1, -1, 2, -2, 0}, {0, 1, 1, 4, 4, 0}, {0, 1, -1, 8, -8, 1}};
}

/// A function that returns element `n` of the vector by which a matrix row is multiplied.
using Part = std::function<Expr(int n)>;

/// Adds a scaled term to a sum, which is nullopt as long as it has no terms. Negative factors
/// subtract the term.
void add_term(std::optional<Expr>& sum, double factor, const Expr& e) {
  if (factor == 0) return;
  const auto times = [&](double size) {
    return size == 1 ? e : e * tir::make_const(e.dtype(), size);
  };
  if (!sum)
    sum = times(factor);
  else
    sum = factor < 0 ? *sum - times(-factor) : *sum + times(factor);
}

/// Sums the even and the odd powers of a row separately. The rows for the points p and -p have the
/// same factors for even powers, and opposite factors for odd powers. Both rows therefore use the
/// same two sums, which are computed once.
Expr sum_by_parity(const Row& row, const Part& part) {
  std::optional<Expr> even, odd;
  double sign = 0;
  for (int n = 0; n < static_cast<int>(row.size()); ++n) {
    const double factor = row[static_cast<std::size_t>(n)];
    if (factor == 0) continue;
    if (n % 2 == 0) {
      add_term(even, factor, part(n));
      continue;
    }
    if (sign == 0) sign = factor < 0 ? -1 : 1;
    add_term(odd, sign * factor, part(n));
  }
  if (!odd) return *even;
  if (!even) return sign < 0 ? -*odd : *odd;
  return sign < 0 ? *even - *odd : *even + *odd;
}

/// Sums adjacent columns in pairs. The two columns of a pair belong to the points p and -p, so
/// their factors are equal or opposite in each row. The sum and the difference of their elements
/// therefore serve all rows.
Expr sum_by_pairs(const Row& row, const Part& part) {
  std::optional<Expr> sum;
  const std::size_t last = row.size() - 1;
  add_term(sum, row[0], part(0));
  for (std::size_t n = 1; n < last; n += 2) {
    const Expr a = part(static_cast<int>(n)), b = part(static_cast<int>(n) + 1);
    add_term(sum, row[n], row[n] == row[n + 1] ? a + b : a - b);
  }
  add_term(sum, row[last], part(static_cast<int>(last)));
  return *sum;
}

using SumOfRow = Expr (*)(const Row& row, const Part& part);

/// Returns the element of a matrix-vector product in row `index`. The matrix is constant, so only
/// the nonzero terms remain when the loop over rows is unrolled, even without fast_math.
Expr multiplied(const Matrix& matrix, const Expr& index, const Part& part, SumOfRow sum) {
  Expr value = sum(matrix.back(), part);
  for (std::size_t n = matrix.size() - 1; n-- > 0;)
    value = tir::select(index == static_cast<int>(n), sum(matrix[n], part), value);
  return value;
}

/// A Winograd convolution. `what_` describes it in errors.
class Winograd {
 public:
  /// Throws if an argument is invalid.
  Winograd(const char* function, Layout layout, const Tensor& x, const Tensor& kernel,
           const WinogradOptions& options, const SourceLocation& where)
      : layout_(layout),
        x_(x),
        kernel_(kernel),
        options_(options),
        where_(where),
        name_(or_else(options.name, "T_conv2d_winograd")),
        what_(describe_two(function, name_, x, kernel)),
        extents_(checked_extents()),
        tiles_{tiles_along(0), tiles_along(1)} {}

  Tensor convolution(const char* tag) const {
    const Tensor images = results(products(inputs(source()), filters()));
    const std::vector<Expr> shape = by_layout(layout_, x_.shape()[0], given_filters(),
                                              number(extents_[0]), number(extents_[1]));
    const std::size_t y = height_of(layout_);
    const auto element = [&](Indices i) {
      return images({i[0], i[y], i[y + 1], i[channels_of(layout_)]}, where_);
    };
    return declare("", shape, element, tag);
  }

 private:
  /// Returns the number of filters.
  const Expr& given_filters() const { return kernel_.shape()[layout_ == Layout::Nchw ? 0 : 3]; }
  const Expr& channels() const { return x_.shape()[channels_of(layout_)]; }

  Tensor declare(const std::string& suffix, const std::vector<Expr>& shape, const Element& element,
                 const char* tag = "") const {
    return topi::declare(what_, shape, element, name_ + suffix, tag, where_);
  }

  Expr number(std::int64_t value) const { return sum_of(what_, {value}, where_); }

  // ---- checks -----------------------------------------------------------------------------------

  /// Returns the height and width of the results.
  std::array<std::int64_t, 2> checked_extents() const {
    for (const Tensor* t : {&x_, &kernel_}) check_rank(what_, *t, 4, where_);
    check_options();
    check_type();
    const bool is_nchw = layout_ == Layout::Nchw;
    check_same(what_, x_, channels_of(layout_), kernel_, is_nchw ? 1 : 2, where_);
    // The position of the height among the kernel's dimensions. The width follows it.
    const std::size_t height = is_nchw ? 2 : 0;
    const Window window{{kernel_.shape()[height], kernel_.shape()[height + 1]},
                        {1, 1},
                        {1, 1},
                        options_.padding,
                        layout_};
    check_window(what_, window, where_);
    std::array<std::int64_t, 2> extents{};
    for (const std::size_t n : {0, 1}) {
      if (tir::constant_int(window.size[n]) != kKernel)
        throw TypeError(what_ + ": dimension " + std::to_string(height + n) + " of `" +
                            kernel_.name() +
                            "` must have extent 3: only 3 x 3 kernels are supported",
                        where_);
      const std::optional<std::int64_t> extent =
          tir::constant_int(window_count(what_, window, x_, n, where_));
      if (!extent)
        throw TypeError(what_ + ": dimension " + std::to_string(window.dimension(n)) + " of `" +
                            x_.name() + "` must be a constant, so that the tiles can be counted",
                        where_);
      extents[n] = *extent;
    }
    return extents;
  }

  void check_options() const {
    constexpr int kMax = 64;
    if (options_.tile != 2 && options_.tile != 4)
      throw TypeError(what_ + ": tiles are of 2 or 4, got " + std::to_string(options_.tile),
                      where_);
    if (options_.channel_multiple < 1 || options_.channel_multiple > kMax)
      throw TypeError(what_ + ": channel_multiple is from 1 to 64, got " +
                          std::to_string(options_.channel_multiple),
                      where_);
  }

  void check_type() const {
    const DataType type = x_.dtype();
    if (type != kernel_.dtype())
      throw TypeError(what_ + ": `" + x_.name() + "` is " + type.str() + ", `" + kernel_.name() +
                          "` is " + kernel_.dtype().str() + "; cast one of them",
                      where_);
    if (type != Float(32) && type != Float(64))
      throw TypeError(what_ + ": the type must be float32 or float64, got " + type.str(), where_);
  }

  // ---- sizes ------------------------------------------------------------------------------------

  Expr tiles_along(std::size_t n) const {
    return number((extents_[n] + options_.tile - 1) / options_.tile);
  }

  /// Returns the number of channels or filters, rounded up to a multiple.
  Expr filled_up(const Expr& count) const {
    const std::optional<std::int64_t> known = tir::constant_int(count);
    if (!known) return count;
    const std::int64_t rest = *known % options_.channel_multiple;
    return sum_of(what_, {count, rest == 0 ? 0 : options_.channel_multiple - rest}, where_);
  }

  // ---- transforms -------------------------------------------------------------------------------

  /// Declares the first half of a transform X -> M X M^T, the product M X: {rows, columns, ...}.
  /// `at(row, column, others)` returns an element of X.
  template <class At>
  Tensor by_rows(const char* suffix, const Matrix& matrix, const std::vector<Expr>& others,
                 SumOfRow sum, At at) const {
    std::vector<Expr> shape{static_cast<int>(matrix.size()), static_cast<int>(matrix[0].size())};
    shape.insert(shape.end(), others.begin(), others.end());
    return declare(suffix, shape, [&](Indices i) {
      return multiplied(
          matrix, i[0], [&](int n) { return at(n, i[1], i.subspan(2)); }, sum);
    });
  }

  /// Declares the second half of a transform, the product with M^T on the right: {rows, rows, ...}.
  Tensor by_columns(const char* suffix, const Matrix& matrix, const Tensor& first,
                    SumOfRow sum) const {
    std::vector<Expr> shape = first.shape();
    shape[1] = shape[0];
    return declare(suffix, shape, [&](Indices i) {
      const auto part = [&](int n) { return first({i[0], n, i[2], i[3]}, where_); };
      return multiplied(matrix, i[1], part, sum);
    });
  }

  /// Returns the images, padded so that all read positions and channels exist.
  Tensor source() const {
    std::vector<Expr> before(4, 0), after(4, 0);
    if (const std::optional<std::int64_t> known = tir::constant_int(channels()))
      after[channels_of(layout_)] = number(*tir::constant_int(filled_up(channels())) - *known);
    for (const std::size_t n : {0, 1}) {
      const std::int64_t rest = extents_[n] % options_.tile;
      before[height_of(layout_) + n] = options_.padding[n];
      after[height_of(layout_) + n] =
          sum_of(what_, {options_.padding[2 + n], rest == 0 ? 0 : options_.tile - rest}, where_);
    }
    const auto is_zero = [](const Expr& e) { return tir::is_zero(e); };
    if (std::ranges::all_of(before, is_zero) && std::ranges::all_of(after, is_zero)) return x_;
    return pad(x_, before, after, 0, "T_pad", where_);
  }

  Tensor inputs(const Tensor& source) const {
    const auto& [high, wide] = tiles_;
    const Expr count = product_of(what_, {x_.shape()[0], high, wide}, where_),
               of_an_image = product_of(what_, {high, wide}, where_);
    const auto at = [&](int row, const Expr& column, Indices i) {
      const Expr y = tir::floormod(tir::floordiv(i[0], tiles_[1]), tiles_[0]),
                 x = tir::floormod(i[0], tiles_[1]);
      return source(by_layout(layout_, tir::floordiv(i[0], of_an_image), i[1],
                              y * options_.tile + row, x * options_.tile + column),
                    where_);
    };
    const Tensor first = by_rows("_input_rows", input_matrix(options_.tile),
                                 {count, source.shape()[channels_of(layout_)]}, sum_by_parity, at);
    return by_columns("_inputs", input_matrix(options_.tile), first, sum_by_parity);
  }

  /// Returns an element of the kernel, or 0 for a filter that was added to fill a vector.
  Expr weight(const Expr& filter, const std::vector<Expr>& at) const {
    const Expr element = kernel_(at, where_);
    if (same_extent(filled_up(given_filters()), given_filters())) return element;
    return tir::if_then_else(filter < given_filters(), element,
                             tir::make_const(element.dtype(), 0));
  }

  /// Declares the kernels of Layout::Nchw as a matrix with one row per filter, so that a schedule
  /// can transpose it in tiles.
  Tensor kernel_matrix(const Expr& filters) const {
    return declare(
        "_kernel", {filters, product_of(what_, {channels(), kPlaces}, where_)},
        [&](Indices i) {
          const Expr place = tir::floormod(i[1], kPlaces);
          return weight(i[0], {i[0], tir::floordiv(i[1], kPlaces), tir::floordiv(place, kKernel),
                               tir::floormod(place, kKernel)});
        },
        kInjective);
  }

  Tensor filters() const {
    const Expr count = filled_up(given_filters());
    const std::optional<Tensor> matrix =
        layout_ == Layout::Nchw ? std::optional(kernel_matrix(count)) : std::nullopt;
    const auto at = [&](int row, const Expr& column, Indices i) {
      if (matrix) return (*matrix)({i[1], i[0] * kPlaces + (row * kKernel + column)}, where_);
      return weight(i[1], {row, column, i[0], i[1]});
    };
    const Tensor first = by_rows("_filter_rows", filter_matrix(options_.tile), {channels(), count},
                                 sum_by_parity, at);
    return by_columns("_filters", filter_matrix(options_.tile), first, sum_by_parity);
  }

  /// Declares one matrix product for each position of a tile. It multiplies tiles x channels by
  /// channels x filters.
  Tensor products(const Tensor& inputs, const Tensor& filters) const {
    const te::IterVar in = te::reduce_axis({0, channels()}, "i", where_);
    std::vector<Expr> shape = inputs.shape();
    shape[3] = filters.shape()[3];
    return declare("_products", shape, [&](Indices i) {
      const Expr term = product(inputs({i[0], i[1], i[2], in}, where_),
                                filters({i[0], i[1], in, i[3]}, where_), std::nullopt, where_);
      return te::sum(Operand(term, where_), {in});
    });
  }

  /// Declares the result images in whole tiles, with contiguous channels.
  Tensor results(const Tensor& products) const {
    const int tile = options_.tile;
    const auto at = [&](int row, const Expr& column, Indices i) {
      return products({row, column, i[0], i[1]}, where_);
    };
    const Tensor first = by_rows("_result_rows", result_matrix(options_.tile),
                                 {products.shape()[2], products.shape()[3]}, sum_by_pairs, at);
    const std::vector<Expr> shape{x_.shape()[0], product_of(what_, {tiles_[0], tile}, where_),
                                  product_of(what_, {tiles_[1], tile}, where_),
                                  products.shape()[3]};
    return declare("_results", shape, [&](Indices i) {
      const Expr which =
          (i[0] * tiles_[0] + tir::floordiv(i[1], tile)) * tiles_[1] + tir::floordiv(i[2], tile);
      const auto part = [&](int n) {
        return first({tir::floormod(i[1], tile), n, which, i[3]}, where_);
      };
      return multiplied(result_matrix(options_.tile), tir::floormod(i[2], tile), part,
                        sum_by_pairs);
    });
  }

  const Layout layout_;
  const Tensor &x_, &kernel_;
  const WinogradOptions& options_;
  const SourceLocation& where_;
  const std::string name_, what_;
  /// The height and width of the results.
  const std::array<std::int64_t, 2> extents_;
  /// The number of tiles of an image along the height and the width.
  const std::array<Expr, 2> tiles_;
};

}  // namespace

Tensor conv2d_winograd_nchw(const Tensor& x, const Tensor& kernel, WinogradOptions options,
                            SourceLocation where) {
  return Winograd("conv2d_winograd_nchw", Layout::Nchw, x, kernel, options, where)
      .convolution(kConv2dWinogradNchw);
}

Tensor conv2d_winograd_nhwc(const Tensor& x, const Tensor& kernel, WinogradOptions options,
                            SourceLocation where) {
  return Winograd("conv2d_winograd_nhwc", Layout::Nhwc, x, kernel, options, where)
      .convolution(kConv2dWinogradNhwc);
}

}  // namespace tenon::topi
