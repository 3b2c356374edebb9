#include "driver/code_cache.h"

#include <elf.h>
#include <link.h>

#include <cstdlib>

#include "tenon/codegen/imports.h"
#include "tenon/codegen/llvm/compile.h"
#include "tenon/support/file_cache.h"
#include "tenon/tir/encode.h"

namespace tenon {

namespace {

constexpr std::uint64_t kMaxBytes = 256 << 20;

/// Returns the user's cache, in `$XDG_CACHE_HOME` or else in `$HOME/.cache`. Nullopt if neither
/// variable has an absolute path.
std::optional<FileCache> cache() {
  for (const auto& [variable, below] :
       {std::pair("XDG_CACHE_HOME", "/tenon"), std::pair("HOME", "/.cache/tenon")})
    if (const char* value = std::getenv(variable); value && *value == '/')
      return FileCache(std::string(value) + below, kMaxBytes);
  return std::nullopt;
}

/// Returns the build id of a loaded file: a hash of its contents that the linker wrote into it.
/// Empty without one.
std::string_view build_id(const dl_phdr_info& file) {
  constexpr auto padded = [](std::size_t size) { return (size + 3) / 4 * 4; };
  for (int n = 0; n < file.dlpi_phnum; ++n) {
    const ElfW(Phdr)& segment = file.dlpi_phdr[n];
    if (segment.p_type != PT_NOTE) continue;
    const char* note = reinterpret_cast<const char*>(file.dlpi_addr + segment.p_vaddr);
    const char* end = note + segment.p_memsz;
    while (note + sizeof(ElfW(Nhdr)) <= end) {
      const auto& head = *reinterpret_cast<const ElfW(Nhdr)*>(note);
      const char* name = note + sizeof head;
      const char* id = name + padded(head.n_namesz);
      if (head.n_type == NT_GNU_BUILD_ID && std::string_view(name, 3) == "GNU")
        return {id, head.n_descsz};
      note = id + padded(head.n_descsz);
    }
  }
  return {};
}

bool contains(const dl_phdr_info& file, const void* address) {
  const auto wanted = reinterpret_cast<ElfW(Addr)>(address);
  for (int n = 0; n < file.dlpi_phnum; ++n) {
    const ElfW(Phdr)& segment = file.dlpi_phdr[n];
    const ElfW(Addr) begin = file.dlpi_addr + segment.p_vaddr;
    if (segment.p_type == PT_LOAD && begin <= wanted && wanted < begin + segment.p_memsz)
      return true;
  }
  return false;
}

/// Returns the build ids of the file that contains this code and of LLVM's library; empty if either
/// has no build id.
std::string compiler_identity() {
  struct Search {
    std::string ids;
    bool is_known = true;
  } search;
  ::dl_iterate_phdr(
      [](dl_phdr_info* file, std::size_t, void* data) {
        if (!contains(*file, &kMaxBytes) &&
            std::string_view(file->dlpi_name).find("libLLVM") == std::string_view::npos)
          return 0;
        auto& [ids, is_known] = *static_cast<Search*>(data);
        const std::string_view id = build_id(*file);
        ids += id;
        is_known = is_known && !id.empty();
        return 0;
      },
      &search);
  return search.is_known ? search.ids : "";
}

void put(ByteWriter& out, const tir::VectorRegisters& registers) {
  const auto& [bits, count, for_sums] = registers;
  for (const int value : {bits, count, for_sums}) out.number(static_cast<std::uint64_t>(value));
}

void put(ByteWriter& out, std::int64_t value) { out.number(static_cast<std::uint64_t>(value)); }
void put(ByteWriter& out, const std::string& text) { out.text(text); }
template <class T>
void put(ByteWriter& out, const std::optional<T>& value) {
  out.number(value.has_value());
  if (value) put(out, *value);
}

// Structured bindings do not compile once a member is added.

void put(ByteWriter& out, const tir::TargetFacts& facts) {
  const auto& [kind, triple, cpu, features, registers, caches, cores, arch, max_threads, warp_size,
               max_shared, max_registers, extensions, subgroup_size, fast_math, system_library] =
      facts;
  put(out, static_cast<std::int64_t>(kind)), put(out, triple), put(out, cpu);
  for (const auto* list : {&features, &extensions}) {
    out.number(list->size());
    for (const std::string& name : *list) out.text(name);
  }
  put(out, registers), put(out, caches.l1), put(out, caches.l2), put(out, cores), put(out, arch);
  put(out, max_threads), put(out, warp_size), put(out, max_shared), put(out, max_registers);
  put(out, subgroup_size), put(out, fast_math), put(out, system_library);
}

void put(ByteWriter& out, const lowering::PassOptions& options) {
  const auto& [no_vectorize, no_rewrite, no_cse, noalias, keep_sizes, legacy_prefetch, unroll,
               partition, double_buffer, autotune, registers, warp_size, dp4a, async_copies, verify,
               verify_each, on_pass] = options;
  const auto& [max_step, max_depth, max_extent, is_explicit, max_statements] = unroll;
  const auto& [constant_loops, max_growth] = partition;
  for (const std::int64_t value : std::initializer_list<std::int64_t>{
           no_vectorize, no_rewrite, no_cse, noalias, keep_sizes, legacy_prefetch, max_step,
           max_depth, max_extent, is_explicit, max_statements, constant_loops, max_growth,
           double_buffer, warp_size, dp4a, async_copies, verify, verify_each})
    put(out, value);
  put(out, autotune), put(out, registers);
}

}  // namespace

std::optional<std::string> code_key(std::string_view flow,
                                    const std::vector<TargetedModule>& modules,
                                    const BuildOptions& options) {
  static const std::string kIdentity = compiler_identity();
  // The functions already reflect binds, bounds and check_intrinsics.
  const auto& [simple_mode, symbol, binds, link, fast_math, instrument_bounds, bounds,
               check_intrinsics, allows_race, alignment, autotune, opt_level, stage_comments,
               profile, use_cache, passes, on_step, on_warning] = options;
  if (!use_cache || !cache() || kIdentity.empty()) return std::nullopt;
  if (!link.empty() || profile || on_step || passes.on_pass) return std::nullopt;
  ByteWriter out;
  out.text(kIdentity);
  out.text(flow);
  for (const std::int64_t value : std::initializer_list<std::int64_t>{
           fast_math, instrument_bounds, allows_race, alignment, opt_level, stage_comments})
    put(out, value);
  put(out, autotune);
  put(out, passes);
  codegen::ImportedSources imported;
  for (const auto& [module, target] : modules) {
    if (target.facts().kind != tir::TargetKind::Llvm) return std::nullopt;
    codegen::add_imported_sources(module, imported);
    put(out, target.facts());
    out.number(module.functions.size());
    for (const auto& [name, func] : module.functions) {
      out.text(name);
      if (!tir::encode(func, out)) return std::nullopt;
    }
  }
  if (!imported.c.empty() || !imported.llvm.empty()) return std::nullopt;
  return out.bytes();
}

std::optional<codegen::Artifact> find_code(const std::string& key,
                                           std::vector<tir::TargetFacts> targets,
                                           const codegen::CompileOptions& how) {
  const std::optional<FileCache> files = cache();
  const std::optional<std::string> bytes = files ? files->find(key) : std::nullopt;
  return bytes ? codegen::restore(*bytes, std::move(targets), how) : std::nullopt;
}

void store_code(const std::string& key, const codegen::Artifact& code) {
  const std::optional<FileCache> files = cache();
  const std::optional<std::string> bytes = code.stored();
  if (files && bytes) files->store(key, *bytes);
}

}  // namespace tenon
