#include "codegen/c_like/helpers.h"

#include <array>
#include <cmath>
#include <cstdio>
#include <unordered_set>

#include "codegen/c_like/text.h"
#include "codegen/c_like/text_emitter.h"
#include "tenon/support/error.h"

namespace tenon::codegen {

namespace {

/// Returns a power of two as a literal of type `float` or `double`.
std::string power_of_two(int exponent, bool is_double) {
  std::array<char, 40> text{};
  std::snprintf(text.data(), text.size(), is_double ? "%.1f" : "%.1ff", std::ldexp(1.0, exponent));
  return text.data();
}

/// Replaces the placeholders of a float-to-integer conversion: `$V` is the float type, `$L` the
/// minimum integer as a float, `$E` the maximum integer plus 1 as a float, `$I` and `$A` the
/// minimum and maximum integer.
void fill_limits(std::string& text, Helper helper, const Dialect& dialect, DataType t) {
  const bool is_double = helper == Helper::OfFloat64;
  const int bits = t.is_int() ? t.bits - 1 : t.bits;
  const std::string greatest = t == UInt(64)
                                   ? "18446744073709551615u" + std::string(dialect.of_int64)
                                   : std::to_string(*integer_max(t)) + (t == UInt(32) ? "u" : "");
  replace_all(text, "$V", is_double ? "double" : "float");
  replace_all(text, "$L",
              t.is_int()  ? "-" + power_of_two(bits, is_double)
              : is_double ? "0.0"
                          : "0.0f");
  replace_all(text, "$E", power_of_two(bits, is_double));
  replace_all(text, "$I", t.is_int() ? "(-" + greatest + " - 1)" : "0");
  replace_all(text, "$A", greatest);
}

/// Expands a template: `$T` is the type, `$U` the unsigned integer of the same width, `$N` the
/// helper's name, `$B` the number of bits, `$O` and `$C` the comparison of a minimum or maximum, as
/// an operator and in PTX.
std::string filled(std::string text, Helper helper, const std::string& name, const Dialect& dialect,
                   DataType t) {
  const auto replace = [&](const std::string& what, const std::string& by) {
    replace_all(text, what, by);
  };
  if (helper == Helper::OfFloat32 || helper == Helper::OfFloat64)
    fill_limits(text, helper, dialect, t);
  replace("$N", name);
  replace("$T", value_type(dialect, t));
  replace("$B", std::to_string(t.bits));
  if (t.bits >= 8) replace("$U", memory_type(dialect, UInt(t.bits)));
  replace("$R", t.is_float()   ? (t.bits == 64 ? "d" : "f")
                : t.bits == 64 ? "l"
                : t.bits == 32 ? "r"
                               : "h");
  replace("$O", helper == Helper::MinOfVariables ? "<" : ">");
  replace("$C", helper == Helper::MinOfVariables ? "lt" : "gt");
  replace("$F", t.bits == 64 || !dialect.names_math_by_type ? "" : "f");
  if (dialect.device) {
    replace("$S", std::string(dialect.device->shuffle));
    // Longer names come first, because some names are parts of others.
    for (const int is_unsigned : {1, 0})
      for (std::size_t n = 0; n < 4; ++n)
        replace(std::string(kPlainC.integers[is_unsigned][n]),
                std::string(dialect.integers[is_unsigned][n]));
  }
  return text;
}

// The conversions of 16-bit floats operate on float32 bits, as explained in llvm/emit_cast.cpp.
constexpr const char* kValueOfFloat16 = R"(float $N(uint16_t bits) {
  const uint32_t rest = (uint32_t)(bits & 0x7fff) << 13;
  union { uint32_t bits; float value; } x = { rest };
  x.value *= 0x1p112f;
  if (rest >= 0x7c00u << 13) x.bits = rest | 0x7f800000u;
  x.bits |= (uint32_t)(bits & 0x8000) << 16;
  return x.value;
}
)";
constexpr const char* kFloat16Bits = R"(uint16_t $N(float value) {
  union { float value; uint32_t bits; } x = { value }, shifted;
  const uint32_t magnitude = x.bits & 0x7fffffffu;
  const uint32_t rounded = magnitude + 0xfffu + (magnitude >> 13 & 1u);
  uint32_t result = (rounded - (112u << 23)) >> 13;
  shifted.bits = magnitude;
  shifted.value += 0.5f;
  if (magnitude < 113u << 23) result = shifted.bits - 0x3f000000u;
  if (magnitude >= 0x477ff000u) result = 0x7c00u;
  if (magnitude > 0x7f800000u) result = 0x7e00u;
  return (uint16_t)(result | (x.bits >> 16 & 0x8000u));
}
)";
// Conversions by CUDA instructions; those of bfloat16 exist since sm_80. The result is in a 32-bit
// register because of a fault in ptxas 13.0: if `cvt.rn.f16.f32` writes a 16-bit register and NVVM
// splits its store in two (`st.local.u8 [...], %rs1`), ptxas stores the number converted to an
// integer.
constexpr const char* kValueOfFloat16InCuda = R"(float $N(uint16_t bits) {
  float value;
  asm("cvt.f32.f16 %0, %1;" : "=f"(value) : "h"(bits));
  return value;
}
)";
constexpr const char* kFloat16BitsInCuda = R"(uint16_t $N(float value) {
  uint32_t bits;
  asm("{.reg .b16 half, zero; cvt.rn.f16.f32 half, %1; mov.b16 zero, 0; mov.b32 %0, {half, zero};}"
      : "=r"(bits) : "f"(value));
  return (uint16_t)bits;
}
)";
constexpr const char* kBfloat16BitsInCuda = R"(uint16_t $N(float value) {
#if __CUDA_ARCH__ >= 800
  uint32_t bits;
  asm("{.reg .b16 half, zero; cvt.rn.bf16.f32 half, %1; mov.b16 zero, 0; mov.b32 %0, {half, zero};}"
      : "=r"(bits) : "f"(value));
  return (uint16_t)bits;
#else
  union { float value; uint32_t bits; } x = { value };
  const uint32_t rounded = x.bits + 0x7fffu + (x.bits >> 16 & 1u);
  return (uint16_t)((value != value ? x.bits | 0x400000u : rounded) >> 16);
#endif
}
)";
constexpr const char* kValueOfBfloat16 = R"(float $N(uint16_t bits) {
  union { uint32_t bits; float value; } x = { (uint32_t)bits << 16 };
  return x.value;
}
)";
constexpr const char* kBfloat16Bits = R"(uint16_t $N(float value) {
  union { float value; uint32_t bits; } x = { value };
  const uint32_t rounded = x.bits + 0x7fffu + (x.bits >> 16 & 1u);
  return (uint16_t)((value != value ? x.bits | 0x400000u : rounded) >> 16);
}
)";
constexpr const char* kToOdd = R"(float $N(double value) {
  union { float value; uint32_t bits; } x = { (float)value };
  const double back = (double)x.value;
  if ((back < 0 ? -back : back) > (value < 0 ? -value : value)) x.bits -= 1u;
  if (back < value || back > value) x.bits |= 1u;
  return x.value;
}
)";
constexpr const char* kBfloat16OfInteger = R"(float $N($T value) {
  const $T low = value & 0xfff;
  const $T top = value >> 53;
  if (top != 0 && top != ($T)-1) value = (value - low) | ($T)(low != 0) << 11;
  return round_to_bfloat16(round_to_odd((double)value));
}
)";
// Saturates, and converts NaN to 0; both cases are undefined in C.
constexpr const char* kIntegerOfFloat = R"($T $N($V value) {
  if (value != value) return 0;
  if (value <= $L) return $I;
  return value < $E ? ($T)value : $A;
}
)";
// With -fno-trapping-math GCC 12 replaces a conversion of the result back to $V by trunc(value),
// which is -0.0 between -1 and 0. The empty instruction hides the conversion from GCC.
constexpr const char* kIntegerOfFloatInC = R"($T $N($V value) {
  if (value != value) return 0;
  if (value <= $L) return $I;
  $T result = value < $E ? ($T)value : $A;
#if defined(__GNUC__) && !defined(__clang__)
  __asm__("" : "+r"(result));
#endif
  return result;
}
)";
// The result is NaN if an operand is NaN.
constexpr const char* kMinOfFloats = R"($T $N($T a, $T b) {
  const $T less = b < a ? b : a;
  return b == b ? less : b;
}
)";
constexpr const char* kMaxOfFloats = R"($T $N($T a, $T b) {
  const $T greater = b > a ? b : a;
  return b == b ? greater : b;
}
)";
constexpr const char* kFloatFloorRemainder = R"($T $N($T a, $T b) {
  const $T rest = fmod$F(a, b);
  return rest != 0 && (rest < 0) != (b < 0) ? rest + b : rest;
}
)";
constexpr const char* kSignedDivision = R"($T $N($T a, $T b) {
  if (b == -1) return ($T)(($U)0 - ($U)a);
  return ($T)(a / (b == 0 ? 1 : b));
}
)";
constexpr const char* kSignedRemainder = R"($T $N($T a, $T b) {
  return b == 0 || b == -1 ? 0 : ($T)(a % b);
}
)";
constexpr const char* kFloorDivision = R"($T $N($T a, $T b) {
  if (b == -1) return ($T)(($U)0 - ($U)a);
  if (b == 0) return a;
  return ($T)(a / b - (a % b != 0 && (a % b < 0) != (b < 0)));
}
)";
constexpr const char* kFloorRemainder = R"($T $N($T a, $T b) {
  if (b == 0 || b == -1) return 0;
  const $T rest = ($T)(a % b);
  return ($T)(rest != 0 && (rest < 0) != (b < 0) ? rest + b : rest);
}
)";
// With `bits -= bits >> 1 & ...`, GCC 12 recognises the function, and with AVX512VPOPCNTDQ it
// leaves the count out of the last vector of a loop.
constexpr const char* kPopcount = R"(int32_t $N(uint64_t bits) {
  bits = (bits & 0x5555555555555555u) + (bits >> 1 & 0x5555555555555555u);
  bits = (bits & 0x3333333333333333u) + (bits >> 2 & 0x3333333333333333u);
  bits = (bits + (bits >> 4)) & 0x0f0f0f0f0f0f0f0fu;
  return (int32_t)(bits * 0x0101010101010101u >> 56);
}
)";
constexpr const char* kLeadingZeros = R"(int32_t $N(uint64_t bits) {
  int32_t count = 64;
  for (int32_t step = 32; step > 0; step /= 2) {
    if (bits >> step != 0) {
      bits >>= step;
      count -= step;
    }
  }
  return count - (int32_t)bits;
}
)";
constexpr const char* kSizeOfProduct = R"(uint64_t $N(uint64_t bytes, int64_t extent) {
  if (extent <= 0) return 0;
  return bytes > INT64_MAX / (uint64_t)extent ? INT64_MAX : bytes * (uint64_t)extent;
}
)";
constexpr const char* kPrefetch = R"(#if defined(__GNUC__)
#define $N(address, is_write, locality) __builtin_prefetch(address, is_write, locality)
#else
#define $N(address, is_write, locality) ((void)(address))
#endif
)";

// For sm_90, ptxas 13.0 merges min(min(a, -b), c) into one instruction and drops the negation;
// likewise max. It does not merge a comparison and a selection. OpenCL C reaches it on NVIDIA's
// devices only.
constexpr const char* kExtremumOfVariables = R"($T $N(int a, int b) {
#if defined(__OPENCL_VERSION__) && !defined(__NV_CL_C_VERSION)
  return ($T)(a $O b ? a : b);
#else
  int result;
  asm("{\n\t.reg .pred p;\n\tsetp.$C.s32 p, %1, %2;\n\tselp.b32 %0, %1, %2, p;\n\t}"
      : "=r"(result) : "r"(a), "r"(b));
  return ($T)result;
#endif
}
)";

/// CUDA C: an asynchronous copy to shared memory. Copies of 16 bytes bypass the L1 cache.
constexpr const char* kCopyAsync = R"(void $N(void* to, const void* from, int bytes) {
  const unsigned int at = (unsigned int)__cvta_generic_to_shared(to);
  if (bytes == 16)
    asm volatile("cp.async.cg.shared.global [%0], [%1], 16;" :: "r"(at), "l"(from) : "memory");
  else if (bytes == 8)
    asm volatile("cp.async.ca.shared.global [%0], [%1], 8;" :: "r"(at), "l"(from) : "memory");
  else
    asm volatile("cp.async.ca.shared.global [%0], [%1], 4;" :: "r"(at), "l"(from) : "memory");
}
)";

// OpenCL C. A thread whose source lies beyond the group keeps its own value, as in CUDA C.
constexpr const char* kShuffleTo = R"($T $N($T value, int thread, int width) {
  const int own = (int)get_sub_group_local_id();
  return $S(value, own / width * width + thread % width);
}
)";
constexpr const char* kShuffleUp = R"($T $N($T value, int distance, int width) {
  const int own = (int)get_sub_group_local_id();
  return $S(value, own % width >= distance ? own - distance : own);
}
)";
constexpr const char* kShuffleDown = R"($T $N($T value, int distance, int width) {
  const int own = (int)get_sub_group_local_id();
  return $S(value, own % width + distance < width ? own + distance : own);
}
)";

/// Returns `value`. For the compiler, the empty `asm` may change its register.
constexpr const char* kOpaque = R"($T $N($T value) {
  asm("" : "+$R"(value));
  return value;
}
)";
constexpr const char* kOpaqueByte = R"($T $N($T value) {
  uint16_t bits = (uint8_t)value;
  asm("" : "+h"(bits));
  return ($T)bits;
}
)";

constexpr const char* kFourBytes = R"(int $N(int a, int b, int c, int d) {
  return (int)((a & 255u) | (b & 255u) << 8 | (c & 255u) << 16 | (d & 255u) << 24);
}
)";

/// A helper: its name, in which `$T` is the name of the type, and its texts for unsigned integers,
/// floats, bfloat16, and other types.
struct Row {
  std::string_view name;
  const char* other;
  const char* of_uint = other;
  const char* of_float = other;
  const char* of_bfloat = of_float;
};

/// In the order of the enumerators.
constexpr Row kRows[] = {
    {.name = "value_of_$T", .other = kValueOfFloat16, .of_bfloat = kValueOfBfloat16},
    {.name = "$T_bits", .other = kFloat16Bits, .of_bfloat = kBfloat16Bits},
    {.name = "round_to_$T",
     .other = "float $N(float value) {\n  return value_of_float16(float16_bits(value));\n}\n",
     .of_bfloat =
         "float $N(float value) {\n  return value_of_bfloat16(bfloat16_bits(value));\n}\n"},
    {"round_to_odd", kToOdd},
    {"bfloat16_of_int64", kBfloat16OfInteger},
    {"bfloat16_of_uint64", kBfloat16OfInteger},
    {.name = "min_$T",
     .other = "$T $N($T a, $T b) {\n  return a < b ? a : b;\n}\n",
     .of_float = kMinOfFloats},
    {.name = "max_$T",
     .other = "$T $N($T a, $T b) {\n  return a > b ? a : b;\n}\n",
     .of_float = kMaxOfFloats},
    {"min_of_variables_$T", kExtremumOfVariables},
    {"max_of_variables_$T", kExtremumOfVariables},
    {.name = "truncdiv_$T",
     .other = kSignedDivision,
     .of_uint = "$T $N($T a, $T b) {\n  return ($T)(a / (b == 0 ? 1 : b));\n}\n"},
    {.name = "truncmod_$T",
     .other = kSignedRemainder,
     .of_uint = "$T $N($T a, $T b) {\n  return b == 0 ? 0 : a % b;\n}\n"},
    {"floordiv_$T", kFloorDivision},
    {.name = "floormod_$T", .other = kFloorRemainder, .of_float = kFloatFloorRemainder},
    {"abs_$T", "$T $N($T a) {\n  return a < 0 ? ($T)(($U)0 - ($U)a) : a;\n}\n"},
    {"square_$T", "$T $N($T value) {\n  return value * value;\n}\n"},
    {"quiet_$T", "$T $N($T value) {\n  return value != value ? NAN : value;\n}\n"},
    {"$T_of_float32", kIntegerOfFloat},
    {"$T_of_float64", kIntegerOfFloat},
    {"popcount64", kPopcount},
    {"leading_zeros64", kLeadingZeros},
    {"bits_of_$T",
     "int$B_t $N($T value) {\n  union { $T value; int$B_t bits; } x = { value };\n"
     "  return x.bits;\n}\n"},
    {"$T_of_bits",
     "$T $N(int$B_t bits) {\n  union { int$B_t bits; $T value; } x = { bits };\n"
     "  return x.value;\n}\n"},
    {"size_of_product", kSizeOfProduct},
    {"prefetch_element", kPrefetch},
    {"copy_async", kCopyAsync},
    {"opaque_$T", kOpaque},
    {"shuffle_$T", kShuffleTo},
    {"shuffle_up_$T", kShuffleUp},
    {"shuffle_down_$T", kShuffleDown},
    {"four_bytes", kFourBytes}};
static_assert(std::size(kRows) == static_cast<std::size_t>(Helper::FourBytes) + 1);

std::string name_of(Helper helper, const std::string& type) {
  std::string name(kRows[static_cast<std::size_t>(helper)].name);
  replace_all(name, "$T", type);
  return name;
}

const char* body_of(Helper helper, DataType t, const Dialect& dialect) {
  const bool has_ptx = dialect.device && dialect.device->has_ptx;
  const bool is_of_float = helper == Helper::OfFloat32 || helper == Helper::OfFloat64;
  if (is_of_float && !dialect.device) return kIntegerOfFloatInC;
  if (has_ptx && helper == Helper::ValueOfBits && !t.is_bfloat()) return kValueOfFloat16InCuda;
  if (has_ptx && helper == Helper::BitsOfValue)
    return t.is_bfloat() ? kBfloat16BitsInCuda : kFloat16BitsInCuda;
  if (helper == Helper::Opaque && t.bits == 8) return kOpaqueByte;
  const Row& row = kRows[static_cast<std::size_t>(helper)];
  return t.is_bfloat()  ? row.of_bfloat
         : t.is_float() ? row.of_float
         : t.is_uint()  ? row.of_uint
                        : row.other;
}

}  // namespace

bool is_helper_name(std::string_view name) {
  static const std::unordered_set<std::string> kNames = [] {
    std::unordered_set<std::string> all;
    for (int helper = 0; helper <= static_cast<int>(Helper::FourBytes); ++helper)
      for (const char* type : {"bool", "int8", "int16", "int32", "int64", "uint8", "uint16",
                               "uint32", "uint64", "float16", "bfloat16", "float32", "float64"})
        all.insert(name_of(static_cast<Helper>(helper), type));
    return all;
  }();
  return kNames.contains(std::string(name));
}

std::string TextEmitter::use_helper(Helper helper, DataType type) {
  DataType t = type.element();
  if (helper == Helper::SixteenOfInt64) t = Int(64);
  if (helper == Helper::SixteenOfUInt64) t = UInt(64);
  if (helper == Helper::Round) {
    use_helper(Helper::ValueOfBits, t);
    use_helper(Helper::BitsOfValue, t);
  }
  if (helper == Helper::SixteenOfInt64 || helper == Helper::SixteenOfUInt64) {
    use_helper(Helper::Round, BFloat(16));
    use_helper(Helper::ToOdd);
  }
  const std::string name = name_of(helper, t.str());
  used_helpers_.emplace(std::pair(helper, name), t);
  return name;
}

std::string TextEmitter::helpers() const {
  std::string result;
  for (const auto& [key, type] : used_helpers_) {
    const auto& [helper, name] = key;
    const std::string body = filled(body_of(helper, type, dialect_), helper, name, dialect_, type);
    const bool is_macro = body.starts_with('#');
    result += (is_macro ? "" : std::string(dialect_.of_helpers) + " ") + body + "\n";
  }
  for (const auto& [name, text] : helper_texts_)
    result += std::string(dialect_.of_helpers) + " " + text + "\n";
  return result;
}

}  // namespace tenon::codegen
