// Random shapes that networks and numerical codes have, by topi's schedules and by libraries: a
// line for each, and the distribution of the ratios to the best library of each row.
//
//   shapes --family matmul --count 100 --seed 1 --threads 1
//   shapes --count 20 --turns 5 --turn-ms 10 --json shapes.json        all families
//
// A family draws each shape from one of its classes: those of networks' layers, a decoder's steps,
// long and short reductions, prime extents, powers of two and their neighbours. The same seed gives
// the same shapes.
#include <algorithm>
#include <cmath>
#include <map>
#include <random>
#include <set>

#include "tests/bench/common/rows.h"

using namespace tenon;
namespace po = boost::program_options;

namespace {

/// The largest sizes: of arrays in elements, and of operations.
constexpr double kMaxElements = 1 << 24, kMaxOperations = 4e9;

class Draw {
 public:
  explicit Draw(std::uint64_t seed) : engine_(seed) {}

  /// Uniform from `low` to `high`.
  int uniform(int low, int high) {
    return low + static_cast<int>(engine_() % static_cast<std::uint64_t>(high - low + 1));
  }
  /// Uniform by the logarithm, so that small numbers are as frequent as large ones.
  int log_uniform(int low, int high) {
    const double share = uniform(0, 1 << 20) / double{1 << 20};
    return static_cast<int>(std::lround(low * std::pow(double(high) / low, share)));
  }
  int one_of(const std::vector<int>& values) {
    return values[static_cast<std::size_t>(uniform(0, static_cast<int>(values.size()) - 1))];
  }
  /// With a chance of one in `n`.
  bool one_in(int n) { return uniform(1, n) == 1; }
  int prime(int low, int high) {
    int n = log_uniform(low, high);
    const auto is_prime = [](int n) {
      for (int d = 2; d * d <= n; ++d)
        if (n % d == 0) return false;
      return true;
    };
    while (!is_prime(n)) ++n;
    return n;
  }
  /// A power of two, or a number next to it.
  int near_power(int low_log2, int high_log2) {
    return (1 << uniform(low_log2, high_log2)) + one_of({-1, 0, 0, 1});
  }
  /// The width of a layer of a network.
  int width() { return one_of({64, 128, 192, 256, 320, 384, 512, 640, 768, 1024, 1280, 1536}); }

 private:
  std::mt19937_64 engine_;
};

// ---- products -----------------------------------------------------------------------------------

bench::ProductShape product_extents(Draw& draw) {
  const std::vector<int> wide = {768, 1024, 2048, 2560, 3072, 4096};
  switch (draw.uniform(0, 7)) {
    case 0:  // a decoder's step
      return {draw.uniform(1, 16), draw.one_of(wide), draw.one_of(wide)};
    case 1:  // a layer of a transformer
      return {draw.one_of({49, 64, 128, 197, 256, 384, 512}), draw.width(), draw.width()};
    case 2:  // a long reduction
      return {draw.log_uniform(16, 256), draw.log_uniform(16, 256), draw.log_uniform(2048, 16384)};
    case 3:  // a short one
      return {draw.log_uniform(64, 2048), draw.log_uniform(64, 2048), draw.uniform(1, 32)};
    case 4:
      return {draw.prime(5, 1021), draw.prime(5, 1021), draw.prime(5, 1021)};
    case 5:
      return {draw.near_power(3, 10), draw.near_power(3, 10), draw.near_power(3, 10)};
    case 6:  // small
      return {draw.uniform(2, 80), draw.uniform(2, 80), draw.uniform(2, 80)};
    default:  // many rows of few columns
      return {draw.log_uniform(1000, 8192), draw.log_uniform(1, 128), draw.log_uniform(4, 512)};
  }
}

bench::Row product(Draw& draw) {
  bench::ProductShape s = product_extents(draw);
  s.transpose_a = draw.one_in(5);
  s.transpose_b = draw.one_in(4);
  const int type = draw.uniform(0, 9);
  if (type == 7) s.of_a = s.of_b = Float(64);
  if (type == 8) s.of_a = s.of_b = BFloat(16);
  if (type == 9) s.of_a = UInt(8), s.of_b = Int(8);
  return row_of(s);
}

bench::Row products(Draw& draw) {
  const auto [batch, m, n, k] = [&]() -> std::array<int, 4> {
    switch (draw.uniform(0, 3)) {
      case 0:  // heads of attention
        return {draw.one_of({8, 12, 16, 32}), draw.uniform(16, 256), draw.uniform(16, 256),
                draw.one_of({32, 64, 80, 128})};
      case 1:  // a decoder's step for each head
        return {draw.one_of({12, 32, 64}), 1, draw.uniform(64, 2048), draw.one_of({64, 128})};
      case 2:
        return {draw.log_uniform(16, 1024), draw.uniform(2, 32), draw.uniform(2, 32),
                draw.uniform(2, 32)};
      default:
        return {draw.uniform(2, 32), draw.prime(5, 211), draw.prime(5, 211), draw.prime(5, 211)};
    }
  }();
  return row_of(
      bench::ProductShape{.m = m, .n = n, .k = k, .transpose_b = draw.one_in(2), .batch = batch});
}

// ---- windows ------------------------------------------------------------------------------------

/// Heights and widths of images in a network, or odd ones.
std::pair<int, int> image(Draw& draw, int largest) {
  if (draw.one_in(2)) return {draw.uniform(7, largest), draw.uniform(7, largest)};
  const int size = std::min(largest, draw.one_of({7, 14, 28, 56, 112}));
  return {size, size};
}

bench::Row convolution(Draw& draw) {
  bench::Convolution c{};
  c.batch = draw.one_in(4) ? draw.uniform(2, 8) : 1;
  std::tie(c.height, c.width) = image(draw, 112);
  switch (draw.uniform(0, 3)) {
    case 0:  // the first layer
      c.in = draw.one_of({1, 3, 4});
      c.height = c.width = draw.one_of({96, 160, 224});
      c.out = draw.one_of({16, 24, 32, 64});
      c.kernel = draw.one_of({3, 5, 7});
      c.stride = draw.uniform(1, 2);
      break;
    case 1:  // pointwise
      c.in = draw.width();
      c.out = draw.width();
      c.kernel = 1;
      c.stride = draw.one_in(4) ? 2 : 1;
      break;
    default:
      c.in = draw.one_in(2) ? draw.width() : draw.log_uniform(4, 250);
      c.out = draw.one_in(2) ? draw.width() : draw.log_uniform(4, 250);
      c.kernel = draw.one_of({2, 3, 3, 3, 3, 4, 5, 7});
      c.stride = draw.one_of({1, 1, 2, 3});
  }
  c.padding = draw.one_in(4) ? draw.uniform(0, c.kernel - 1) : c.kernel / 2;
  return row_of(c);
}

bench::Row depthwise(Draw& draw) {
  bench::Convolution c{};
  c.batch = draw.one_in(4) ? draw.uniform(2, 8) : 1;
  std::tie(c.height, c.width) = image(draw, 112);
  c.in = c.out = draw.one_in(3) ? draw.uniform(16, 500)
                                : draw.one_of({32, 64, 96, 144, 192, 240, 384, 480, 576, 960});
  c.kernel = draw.one_of({3, 3, 3, 5, 5, 7, 9});
  c.stride = draw.one_of({1, 1, 2});
  c.padding = draw.one_in(4) ? draw.uniform(0, c.kernel - 1) : c.kernel / 2;
  c.depthwise = true;
  return row_of(c);
}

bench::Row pool(Draw& draw) {
  bench::Pool p{};
  p.batch = draw.one_in(4) ? draw.uniform(2, 8) : 1;
  std::tie(p.height, p.width) = image(draw, 112);
  p.channels = draw.one_in(3) ? draw.uniform(16, 500) : draw.width();
  p.window = draw.one_of({2, 3, 3, 5, 7});
  p.stride = draw.one_of({1, 2, 2, 3});
  p.padding = draw.uniform(0, p.window / 2);
  p.is_mean = draw.one_in(2);
  return row_of(p);
}

// ---- matrices -----------------------------------------------------------------------------------

/// Rows and columns, of which either may be few.
std::pair<int, int> matrix(Draw& draw) {
  switch (draw.uniform(0, 5)) {
    case 0:  // a layer
      return {draw.one_of({1, 16, 128, 197, 512, 2048}), draw.width()};
    case 1:
      return {draw.near_power(2, 12), draw.near_power(2, 12)};
    case 2:
      return {draw.prime(3, 4001), draw.prime(3, 4001)};
    case 3:  // few long rows
      return {draw.uniform(1, 8), draw.log_uniform(4096, 1 << 20)};
    case 4:  // many short ones
      return {draw.log_uniform(4096, 1 << 18), draw.uniform(2, 48)};
    default:  // scores of attention, and a vocabulary
      return {draw.one_of({1, 64, 384, 1536, 6144}),
              draw.one_of({50, 197, 384, 1000, 2048, 32000})};
  }
}

bench::Row map(Draw& draw, const std::vector<std::string>& names) {
  const auto& name =
      names[static_cast<std::size_t>(draw.uniform(0, static_cast<int>(names.size()) - 1))];
  const auto [rows, columns] = matrix(draw);
  return bench::row_of_map(name, rows, columns);
}

bench::Row attention(Draw& draw) {
  return row_of(bench::AttentionShape{draw.one_of({1, 4, 8, 12, 16}),
                                      draw.one_in(2)
                                          ? draw.uniform(16, 1100)
                                          : draw.one_of({49, 64, 128, 197, 256, 384, 512, 1024}),
                                      draw.one_of({32, 64, 64, 80, 128})});
}

const std::map<std::string, bench::Row (*)(Draw&)> kFamilies = {
    {"matmul", product},
    {"batched", products},
    {"conv", convolution},
    {"depthwise", depthwise},
    {"pool", pool},
    {"softmax", [](Draw& draw) { return map(draw, {"softmax"}); }},
    {"norm", [](Draw& draw) { return map(draw, {"layer_norm"}); }},
    {"reduce",
     [](Draw& draw) {
       return map(draw, {"row_sums", "column_sums"});
     }},
    {"transpose", [](Draw& draw) { return map(draw, {"transpose"}); }},
    {"attention", attention},
    {"elementwise", [](Draw& draw) {
       return map(draw, {"chain", "relu", "gelu"});
     }}};

/// Whether a run is short enough, and its arrays fit the memory of small machines.
bool is_in_limits(const bench::Work& work) {
  const double bytes = work.peak ? work.touched : work.amount;
  return bytes <= 4 * kMaxElements * 3 && (!work.peak || work.amount <= kMaxOperations);
}

void add_rows(const std::string& family, const po::variables_map& given,
              std::vector<bench::Row>& rows) {
  Draw draw(given["seed"].as<std::uint64_t>());
  std::set<std::string> names;
  const auto count = static_cast<std::size_t>(bench::positive(given, "count"));
  while (names.size() < count) {
    bench::Row row = kFamilies.at(family)(draw);
    row.group = "shapes " + family;
    if (is_in_limits(row.work) && names.insert(row.name).second) rows.push_back(std::move(row));
  }
}

std::vector<bench::Row> rows_of(const po::variables_map& given) {
  const auto chosen = given["family"].as<std::string>();
  if (chosen != "all" && !kFamilies.contains(chosen))
    throw po::error("--family names none of the families");
  std::vector<bench::Row> rows;
  for (const auto& [family, draw] : kFamilies)
    if (chosen == "all" || chosen == family) add_rows(family, given, rows);
  return rows;
}

}  // namespace

int main(int argc, char** argv) {
  std::string families = "all";
  for (const auto& [name, draw] : kFamilies) families += ", " + name;
  po::options_description options("random shapes");
  options.add_options()("family", po::value<std::string>()->default_value("all"), families.c_str())(
      "seed", po::value<std::uint64_t>()->default_value(1), "of the shapes")(
      "count", po::value<int>()->default_value(20), "number of shapes of a family");
  return bench::run(argc, argv, {"shapes", options, rows_of});
}
