#include "codegen/c_like/names.h"

#include <algorithm>
#include <array>
#include <cctype>

#include "tenon/codegen/keywords.h"

namespace tenon::codegen {

namespace {

/// Functions and macros of the headers that the text includes, and of compilers.
constexpr auto kReserved = std::to_array<std::string_view>(
    {"NULL",  "INFINITY", "NAN",    "malloc",  "free",  "calloc", "realloc",
     "abort", "exit",     "abs",    "labs",    "div",   "ldiv",   "system",
     "rand",  "qsort",    "memcpy", "signbit", "linux", "unix"});

constexpr std::array<std::string_view, 62> kMath = {
    "acos",  "acosh",     "asin",   "asinh",    "atan",    "atan2",  "atanh",     "cbrt",
    "ceil",  "copysign",  "cos",    "cosh",     "erf",     "erfc",   "exp",       "exp2",
    "expm1", "fabs",      "fdim",   "floor",    "fma",     "fmax",   "fmin",      "fmod",
    "frexp", "hypot",     "ilogb",  "isfinite", "isinf",   "isnan",  "j0",        "j1",
    "jn",    "ldexp",     "lgamma", "llrint",   "llround", "log",    "log10",     "log1p",
    "log2",  "logb",      "lrint",  "lround",   "modf",    "nan",    "nearbyint", "nextafter",
    "pow",   "remainder", "remquo", "rint",     "round",   "scalbn", "sin",       "sinh",
    "sqrt",  "tan",       "tanh",   "tgamma",   "trunc",   "y0"};

/// Helper functions are named by what they do and a type.
constexpr std::array<std::string_view, 12> kOfHelpers = {
    "value_of_", "round_to_", "min_", "max_",     "truncdiv_", "truncmod_",
    "floordiv_", "floormod_", "abs_", "bits_of_", "float16_",  "bfloat16_"};
constexpr std::array<std::string_view, 12> kTypes = {"int8",    "int16",    "int32",   "int64",
                                                     "uint8",   "uint16",   "uint32",  "uint64",
                                                     "float16", "bfloat16", "float32", "float64"};
constexpr std::array<std::string_view, 10> kHelpers = {
    "round_to_odd",     "uint64_of_double", "popcount64",    "leading_zeros64", "size_of_product",
    "prefetch_element", "float16_bits",     "bfloat16_bits", "float32_of_bits", "float64_of_bits"};

bool may_be_helper(std::string_view identifier) {
  if (std::ranges::find(kHelpers, identifier) != kHelpers.end()) return true;
  for (const std::string_view begin : kOfHelpers) {
    if (!identifier.starts_with(begin)) continue;
    const std::string_view rest = identifier.substr(begin.size());
    if (rest == "bool" || rest.starts_with("of_")) return true;
    if (std::ranges::find(kTypes, rest) != kTypes.end()) return true;
  }
  return false;
}

}  // namespace

std::string as_identifier(std::string_view name) {
  std::string result;
  for (const char c : name) result += std::isalnum(static_cast<unsigned char>(c)) ? c : '_';
  if (result.empty() || std::isdigit(static_cast<unsigned char>(result[0]))) result = "_" + result;
  return result;
}

bool is_in_math_h(std::string_view identifier) {
  if (std::ranges::find(kMath, identifier) != kMath.end()) return true;
  return identifier.ends_with('f') &&
         std::ranges::find(kMath, identifier.substr(0, identifier.size() - 1)) != kMath.end();
}

bool is_reserved(std::string_view identifier) {
  return std::ranges::count(kWordsOfC, identifier) != 0 ||
         std::ranges::count(kReserved, identifier) != 0 || is_in_math_h(identifier) ||
         identifier.ends_with("_t") || identifier.starts_with("tenon_") ||
         identifier.starts_with("__") || may_be_helper(identifier);
}

bool Names::is_taken(const std::string& name) const {
  return is_reserved(name) ||
         std::ranges::any_of(scopes_, [&](const auto& scope) { return scope.contains(name); });
}

std::string Names::free_name(std::string_view wanted) const {
  const std::string base = as_identifier(wanted);
  std::string name = base;
  for (int n = 1; is_taken(name); ++n) name = base + "_" + std::to_string(n);
  return name;
}

std::string Names::take(std::string_view wanted) {
  std::string name = free_name(wanted);
  scopes_.back().insert(name);
  return name;
}

std::string Names::take_for_good(std::string_view wanted) {
  std::string name = free_name(wanted);
  reserve(name);
  return name;
}

}  // namespace tenon::codegen
