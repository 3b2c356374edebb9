#include "tenon/codegen/c_names.h"

#include <algorithm>
#include <array>
#include <cctype>
#include <unordered_set>

#include "tenon/codegen/keywords.h"

namespace tenon::codegen {

namespace {

bool is_digit(char c) { return c >= '0' && c <= '9'; }
bool is_upper(char c) { return c >= 'A' && c <= 'Z'; }
bool is_letter(char c) { return (c >= 'a' && c <= 'z') || is_upper(c) || is_digit(c) || c == '_'; }

/// Whether `words` contains the name as a whole word. Each word has a space before and after it.
bool is_word_of(std::string_view text, std::string_view name) {
  return text.find(" " + std::string(name) + " ") != std::string_view::npos;
}

/// Functions, types and macros of stdlib.h, stdio.h, string.h, errno.h and the runtime's headers,
/// predefined macros of compilers, and symbols that linkers define.
constexpr std::string_view kReserved =
    " BIG_ENDIAN BUFSIZ BYTE_ORDER DLDataType DLDevice DLTensor EOF INFINITY LITTLE_ENDIAN"
    " L_tmpnam MAXFLOAT MB_CUR_MAX NAN NFDBITS NULL PDP_ENDIAN P_tmpdir RAND_MAX SEEK_CUR"
    " SEEK_END SEEK_SET WCONTINUED WEXITED WEXITSTATUS WIFCONTINUED WIFEXITED WIFSIGNALED"
    " WIFSTOPPED WNOHANG WNOWAIT WSTOPPED WSTOPSIG WTERMSIG WUNTRACED _edata _end _etext"
    " _fini _init _start a64l abort abs"
    " aligned_alloc alloca arc4random arc4random_buf arc4random_uniform assert at_quick_exit"
    " atexit atof atoi atol atoll bcmp bcopy be16toh be32toh be64toh bsearch bzero calloc"
    " clearenv div drand48 drand48_r ecvt ecvt_r erand48 erand48_r errno exit fcvt fcvt_r"
    " fd_mask fd_set ffs fprintf fputc fputs free fwrite gcvt getenv getloadavg getsubopt"
    " htobe16 htobe32 htobe64 htole16 htole32 htole64 i386 initstate initstate_r jrand48"
    " jrand48_r l64a labs lcong48 lcong48_r ldiv le16toh le32toh le64toh lgamma_r lgammaf_r"
    " lgammal_r linux llabs lldiv lrand48 lrand48_r malloc math_errhandling mblen mbstowcs"
    " mbtowc memchr memcmp memcpy memmove memset mkdtemp mkstemp mkstemps mktemp mrand48"
    " mrand48_r nrand48 nrand48_r offsetof on_exit posix_memalign printf pselect putc putchar"
    " putenv puts qecvt qecvt_r qfcvt qfcvt_r qgcvt qsort quick_exit rand rand_r random"
    " random_r realloc reallocarray realpath rpmatch seed48 seed48_r select setenv setstate"
    " setstate_r signgam snprintf sprintf srand srand48 srand48_r srandom srandom_r stderr"
    " stdin stdout strcat strchr strcmp strcpy strcspn strdup strlen strncat strncmp strncpy"
    " strpbrk strrchr strspn strstr strtod strtof strtok strtol strtold strtoll strtoq strtoul"
    " strtoull strtouq system u_char u_int u_long u_short uint ulong unix unsetenv ushort"
    " valloc vfprintf vprintf vsnprintf vsprintf wcstombs wctomb ";

/// Reserved prefixes: of macros of the headers above, of float.h, limits.h and OpenCL, and of
/// declarations in the runtime's headers.
constexpr auto kReservedBeginnings = std::to_array<std::string_view>(
    {"tenon_", "Tenon",   "kTenon",   "kDL",     "__",       "CHAR_",   "CLK_",     "CL_",
     "CUDA",   "DBL_",    "EXIT_",    "FD_",     "FLT_",     "FP_",     "HALF_",    "HUGE_VAL",
     "INT16_", "INT32_",  "INT64_",   "INT8_",   "INTMAX_",  "INTPTR_", "INT_",     "LDBL_",
     "LLONG_", "LONG_",   "MATH_ERR", "M_",      "PTRDIFF_", "SCHAR_",  "SHRT_",    "SIG_ATOMIC_",
     "SIZE_",  "UCHAR_",  "UINT16_",  "UINT32_", "UINT64_",  "UINT8_",  "UINTMAX_", "UINTPTR_",
     "UINT_",  "ULLONG_", "ULONG_",   "USHRT_",  "WCHAR_",   "WINT_"});

/// Math functions. Variants with the suffixes f and l may also exist.
constexpr std::string_view kMath =
    " acos acosh asin asinh atan atan2 atanh cbrt ceil copysign cos cosh drem erf erfc exp"
    " exp10 exp2 expm1 fabs fdim finite floor fma fmax fmin fmod fpclassify frexp gamma hypot"
    " ilogb isfinite isgreater isgreaterequal isinf isless islessequal islessgreater isnan"
    " isnormal isunordered j0 j1 jn ldexp lgamma llrint llround log log10 log1p log2 logb"
    " lrint lround modf nan nearbyint nextafter nexttoward pow remainder remquo rint round"
    " scalb scalbln scalbn signbit significand sin sincos sinh sqrt tan tanh tgamma trunc y0"
    " y1 yn ";

bool is_math(std::string_view name) { return is_word_of(kMath, name); }

/// Whether the name is spelled like a macro. Macros cannot be listed completely.
bool is_like_a_macro(std::string_view name) {
  constexpr int kMinLetters = 3;
  return std::ranges::count_if(name, is_upper) >= kMinLetters &&
         std::ranges::all_of(name, [](char c) { return is_upper(c) || is_digit(c) || c == '_'; });
}

}  // namespace

bool is_c_name(const std::string& name) {
  return !name.empty() && !is_digit(name.front()) && std::ranges::all_of(name, is_letter) &&
         std::ranges::count(kWordsOfC, name) == 0 && std::ranges::count(kWordsOfCpp, name) == 0;
}

bool has_reserved_beginning(std::string_view name) {
  if (name.size() > 1 && name[0] == '_' && is_upper(name[1])) return true;
  return std::ranges::any_of(kReservedBeginnings,
                             [&](std::string_view begin) { return name.starts_with(begin); });
}

bool is_in_math_h(std::string_view name) {
  if (is_math(name)) return true;
  return (name.ends_with('f') || name.ends_with('l')) && is_math(name.substr(0, name.size() - 1));
}

bool is_reserved_in_c(std::string_view name) {
  return std::ranges::count(kWordsOfC, name) != 0 || std::ranges::count(kWordsOfCpp, name) != 0 ||
         is_word_of(kReserved, name) || is_in_math_h(name) || name.ends_with("_t") ||
         has_reserved_beginning(name);
}

std::string as_identifier(std::string_view name) {
  std::string result(name);
  std::ranges::replace_if(
      result, [](char c) { return !is_letter(c); }, '_');
  if (result.empty() || is_digit(result.front())) result = "_" + result;
  return result;
}

std::vector<std::string> c_parameter_names(const runtime::FunctionSpec& function) {
  std::unordered_set<std::string> used{function.name, function.symbol};
  std::vector<std::string> names;
  for (const runtime::ParamSpec& param : function.params) {
    std::string name = as_identifier(param.name);
    if (is_reserved_in_c(name) || is_like_a_macro(name)) name = "p_" + name;
    while (!used.insert(name).second) name += '_';
    names.push_back(std::move(name));
  }
  return names;
}

std::string include_guard(const std::string& file_name) {
  std::string guard = as_identifier("TENON_" + file_name + "_");
  std::ranges::transform(guard, guard.begin(), [](unsigned char c) { return std::toupper(c); });
  return guard;
}

std::string c_string(const std::string& text) {
  std::string result = "\"";
  for (const char c : text) {
    const auto byte = static_cast<unsigned char>(c);
    if (c == '"' || c == '\\') {
      result += std::string("\\") + c;
    } else if (c == '\n') {
      result += "\\n";
    } else if (byte < 0x20 || byte >= 0x7f || c == '?') {
      // Writes three octal digits, so that a following digit is not part of the escape. `?` is
      // escaped because it could begin a trigraph.
      char digits[5] = {'\\', static_cast<char>('0' + (byte >> 6)),
                        static_cast<char>('0' + (byte >> 3 & 7)),
                        static_cast<char>('0' + (byte & 7)), 0};
      result += digits;
    } else {
      result += c;
    }
  }
  return result + "\"";
}

std::string comment_text(std::string text) {
  for (std::size_t at = 0; at < text.size(); ++at) {
    const auto byte = static_cast<unsigned char>(text[at]);
    // Removes characters that would end the line, continue it, or end the comment.
    if (byte < 0x20 || byte == 0x7f) text[at] = ' ';
    if (text[at] == '\\') text[at] = '/';
    if (text[at] == '/' && at > 0 && text[at - 1] == '*') text[at] = ' ';
    if (text[at] == '*' && at > 0 && text[at - 1] == '/') text[at] = ' ';
  }
  return text;
}

std::string signature_comment(const runtime::FunctionSpec& function) {
  std::string params;
  for (const runtime::ParamSpec& param : function.params)
    params += (params.empty() ? "" : ", ") + param.name + ": " + runtime::describe(param);
  return comment_text(function.name + "(" + params + ")");
}

}  // namespace tenon::codegen
