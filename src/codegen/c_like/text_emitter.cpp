#include "codegen/c_like/text_emitter.h"

#include <algorithm>
#include <cctype>

#include "tenon/codegen/c_names.h"
#include "tenon/support/error.h"

namespace tenon::codegen {

namespace {

constexpr const char* kHead =
    R"(// Made by Tenon. C11; with GCC and clang compile it with -fno-strict-aliasing,
// with GCC with -fno-tree-loop-if-convert as well (GCC 12 errs in vectors of conditions) and, for
// x86-64, with -mno-red-zone (where it takes vectors for aligned that are not).
#include <math.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

)";

// The layouts must equal those in tenon/runtime/c_api.h. A test compiles both and compares them.
constexpr const char* kCallTypes = R"(// How the runtime passes arguments.
typedef union { int64_t i; double f; void* p; } TenonValue;
typedef struct { int32_t device_type, device_id; } DLDevice;
typedef struct { uint8_t code, bits; uint16_t lanes; } DLDataType;
typedef struct {
  void* data;
  DLDevice device;
  int32_t ndim;
  DLDataType dtype;
  int64_t* shape;
  int64_t* strides;
  uint64_t byte_offset;
} DLTensor;

)";

constexpr const char* kRuntime =
    R"(// The runtime. Loading the code into a program that has one fills in the table; without it loops run
// on the calling thread, and temporaries come from malloc.
#include <stdlib.h>

typedef struct {
  uint32_t version;
  void (*set_last_error)(const char* message);
  int32_t (*parallel_for)(int32_t (*body)(void*, int64_t, int64_t), void* closure, int64_t begin,
                          int64_t end);
  int32_t (*parallel_launch)(int32_t (*body)(void*, int32_t, int32_t), void* closure,
                             int32_t num_tasks);
  int32_t (*parallel_barrier)(void);
  void* (*workspace_alloc)(int32_t device_type, int32_t device_id, uint64_t nbytes,
                           int32_t alignment);
  int32_t (*workspace_free)(int32_t device_type, int32_t device_id, void* data);
} TenonRuntimeApi;

#if defined(__GNUC__)
__attribute__((weak))
#endif
const TenonRuntimeApi* tenon_runtime_api_slot = NULL;

static inline void set_last_error(const char* message) {
  if (tenon_runtime_api_slot) tenon_runtime_api_slot->set_last_error(message);
}

static inline int32_t parallel_for(int32_t (*body)(void*, int64_t, int64_t), void* closure,
                                   int64_t begin, int64_t end) {
  if (tenon_runtime_api_slot) return tenon_runtime_api_slot->parallel_for(body, closure, begin, end);
  return begin < end ? body(closure, begin, end) : 0;
}

static inline int32_t parallel_launch(int32_t (*body)(void*, int32_t, int32_t), void* closure) {
  if (tenon_runtime_api_slot) return tenon_runtime_api_slot->parallel_launch(body, closure, 0);
  return body(closure, 0, 1);
}

static inline int32_t parallel_barrier(void) {
  return tenon_runtime_api_slot ? tenon_runtime_api_slot->parallel_barrier() : 0;
}

static inline void* workspace_alloc(uint64_t nbytes) {
  if (tenon_runtime_api_slot) return tenon_runtime_api_slot->workspace_alloc(1, 0, nbytes, 128);
  return malloc(nbytes ? nbytes : 1);
}

static inline void workspace_free(void* data) {
  if (tenon_runtime_api_slot) {
    tenon_runtime_api_slot->workspace_free(1, 0, data);
  } else {
    free(data);
  }
}

)";

// Compilers that unroll loops before vectorization would not vectorize an unrolled loop over lanes.
constexpr const char* kLanes =
    "// Loops over the lanes of vectors. With -fopenmp-simd -DTENON_SIMD, compilers make vectors of "
    "them.\n"
    "#if defined(TENON_SIMD)\n"
    "#define LANES _Pragma(\"omp simd\")\n"
    "#else\n"
    "#define LANES\n"
    "#endif\n\n";

constexpr const char* kParts =
    "// Parts of long functions, which compilers are not to make one again.\n"
    "#if defined(__GNUC__)\n"
    "#define PART __attribute__((noinline)) static\n"
    "#else\n"
    "#define PART static\n"
    "#endif\n\n";

bool is_part_of_a_name(char c) { return std::isalnum(static_cast<unsigned char>(c)) || c == '_'; }

bool has_word(std::string_view text, std::string_view word) {
  for (std::size_t at = text.find(word); at != std::string_view::npos;
       at = text.find(word, at + 1)) {
    const bool begins = at == 0 || !is_part_of_a_name(text[at - 1]);
    const std::size_t end = at + word.size();
    if (begins && (end == text.size() || !is_part_of_a_name(text[end]))) return true;
  }
  return false;
}

}  // namespace

TextEmitter::TextEmitter(const Dialect& dialect, std::vector<std::string> imported,
                         const CompileOptions& options)
    : dialect_(dialect),
      comments_stages_(options.stage_comments),
      statement_lines_(options.lines),
      imported_(std::move(imported)) {
  for (const char* name :
       {"set_last_error", "parallel_for", "parallel_launch", "parallel_barrier", "workspace_alloc",
        "workspace_free", "LANES", "PART", "TenonValue", "DLDevice", "DLDataType", "DLTensor",
        "TenonRuntimeApi", "args", "type_codes", "num_args"})
    names_.reserve(name);
  if (!dialect.device) return;
  names_.reserve(kDynamicShared);
  names_.reserve(kSharedVectors);
  for (const std::string_view word : dialect.device->reserved) names_.reserve(word);
  for (const char* scalar : {"char", "uchar", "short", "ushort", "int", "uint", "long", "ulong",
                             "longlong", "ulonglong", "half", "float", "double"})
    for (const char* lanes : {"1", "2", "3", "4", "8", "16"})
      names_.reserve(std::string(scalar) + lanes);
}

bool TextEmitter::is_declared_by_import(const std::string& name) const {
  return std::ranges::any_of(imported_,
                             [&](const std::string& source) { return has_word(source, name); });
}

void TextEmitter::use_extern(const std::string& name, const std::string& declaration) {
  if (as_identifier(name) != name)
    throw LowerError("the extern function `" + name + "` has a name that C cannot write");
  if (is_in_math_h(name) || is_declared_by_import(name)) return;
  const auto [known, is_new] = externs_.emplace(name, declaration);
  if (!is_new && known->second != declaration)
    throw LowerError("the extern function `" + name + "` is called as `" + declaration +
                     "` and as `" + known->second + "`; in C a function has one type");
}

std::string TextEmitter::kernels() const {
  const std::string rest = helpers() + functions_;
  std::string head = "// Made by Tenon.\n";
  for (const auto& [word, line] : dialect_.device->preambles)
    if (has_word(rest, word)) head += line;
  return head + "\n" + rest;
}

std::string TextEmitter::text(const std::string& manifest) const {
  std::string result = kHead;
  if (uses_lanes_) result += kLanes;
  if (uses_parts_) result += kParts;
  if (uses_call_types_) result += kCallTypes;
  if (uses_runtime_) result += kRuntime;
  for (const std::string& source : imported_)
    result += "// Imported.\n" + source + (source.ends_with('\n') ? "\n" : "\n\n");
  for (const auto& [name, declaration] : externs_) result += declaration + ";\n";
  if (!externs_.empty()) result += "\n";
  result += helpers() + functions_;
  result += "// ---- For the runtime ----\n\n";
  if (!uses_call_types_) result += kCallTypes;
  return result + manifest + packed_;
}

}  // namespace tenon::codegen
