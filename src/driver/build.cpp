#include "tenon/driver/build.h"

#include <elf.h>
#include <link.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <condition_variable>
#include <cstdlib>
#include <future>
#include <mutex>
#include <optional>
#include <ranges>
#include <set>
#include <thread>

#include "driver/lower_steps.h"
#include "driver/stage_probes.h"
#include "tenon/arith/simplifier_memory.h"
#include "tenon/codegen/c_like/compile.h"
#include "tenon/codegen/c_like/kernels.h"
#include "tenon/codegen/compile_options.h"
#include "tenon/codegen/llvm/compile.h"
#include "tenon/driver/build_watcher.h"
#include "tenon/driver/checks.h"
#include "tenon/driver/target.h"
#include "tenon/driver/text.h"
#include "tenon/driver/user_line.h"
#include "tenon/lower/checks.h"
#include "tenon/lower/pipeline.h"
#include "tenon/lower/split_kernels.h"
#include "tenon/runtime/module_impl.h"
#include "tenon/support/file_cache.h"
#include "tenon/te/check_reads.h"
#include "tenon/te/freeze.h"
#include "tenon/tir/encode.h"
#include "tenon/tir/pragma.h"

namespace tenon {

namespace {

/// Returns the C compiler in the environment variable CC. Empty if the variable is unset.
std::string c_compiler() {
  const char* named = std::getenv("CC");
  return named ? named : "";
}

tir::TargetFacts facts_of(const Target& target, const BuildOptions& options) {
  tir::TargetFacts facts = target.facts();
  facts.fast_math |= options.fast_math;
  return facts;
}

codegen::CompileOptions codegen_options(const BuildOptions& options) {
  return {.opt_level = options.opt_level,
          .link = {options.link.begin(), options.link.end()},
          .c_compiler = c_compiler(),
          .argument_alignment = options.argument_alignment,
          .stage_comments = options.stage_comments,
          .on_step = options.on_step};
}

// ---- the cache of compiled code -----------------------------------------------------------------

// The cache of compiled code, which all processes of a user share.

constexpr std::uint64_t kMaxBytes = 256 << 20;

/// Returns the user's cache. It is below `$XDG_CACHE_HOME`, or else below `$HOME/.cache`. Nullopt
/// if neither variable has an absolute path.
std::optional<FileCache> cache() {
  for (const auto& [variable, below] :
       {std::pair("XDG_CACHE_HOME", "/tenon"), std::pair("HOME", "/.cache/tenon")})
    if (const char* value = std::getenv(variable); value && *value == '/')
      return FileCache(std::string(value) + below, kMaxBytes);
  return std::nullopt;
}

/// Returns the build id of a loaded file: a hash of the file's contents that the linker has stored
/// in it. Empty if the file has no build id.
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

/// Returns the build ids of LLVM's library and of the file that contains this code. Empty if one of
/// them has no build id.
std::string compiler_identity() {
  std::vector<std::string> ids;
  ::dl_iterate_phdr(
      [](dl_phdr_info* file, std::size_t, void* data) {
        if (contains(*file, &kMaxBytes) ||
            std::string_view(file->dlpi_name).find("libLLVM") != std::string_view::npos)
          static_cast<std::vector<std::string>*>(data)->emplace_back(build_id(*file));
        return 0;
      },
      &ids);
  return std::ranges::find(ids, "") == ids.end() ? joined(ids, "") : "";
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

// The structures are read by structured bindings, which do not compile once a member is added. A
// new member is therefore never missing from the key.

void put(ByteWriter& out, const tir::TargetFacts& facts) {
  const auto& [kind, triple, cpu, features, registers, tiles, caches, cores, arch, max_threads,
               warp_size, max_shared, max_registers, extensions, subgroup_size, fast_math,
               system_library] = facts;
  put(out, static_cast<std::int64_t>(kind)), put(out, triple), put(out, cpu);
  for (const auto* list : {&features, &extensions}) {
    out.number(list->size());
    for (const std::string& name : *list) out.text(name);
  }
  put(out, tiles.of_bytes), put(out, tiles.of_bfloats);
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

/// Returns a cache key. Two compilations have the same key only if they produce the same code. The
/// key contains the functions, targets and options, and the identities of this library and of LLVM.
/// `flow` identifies the code path of the caller ("modules" or "schedule"). Returns nullopt if
/// there is no cache, if the compilation is observed, or if the code depends on anything else
/// (device kernels, imported sources, libraries to link).
std::optional<std::string> code_key(std::string_view flow,
                                    const std::vector<TargetedModule>& modules,
                                    const BuildOptions& options, const BuildWatcher* watcher) {
  static const std::string kIdentity = compiler_identity();
  // The options binds, bounds, check_intrinsics and separate_constants are ignored, because the
  // functions already reflect them. `tiered` is ignored, because only optimized code is cached.
  const auto& [simple_mode, symbol, binds, link, fast_math, instrument_bounds, bounds,
               check_intrinsics, allows_race, alignment, autotune, separates, opt_level, tiered,
               stage_comments, profile, use_cache, passes, on_step, on_warning] = options;
  if (!use_cache || !cache() || kIdentity.empty()) return std::nullopt;
  if (watcher || !link.empty() || profile || on_step || passes.on_pass) return std::nullopt;
  ByteWriter out;
  out.text(kIdentity);
  out.text(flow);
  for (const std::int64_t value : std::initializer_list<std::int64_t>{
           fast_math, instrument_bounds, allows_race, alignment, opt_level, stage_comments})
    put(out, value);
  put(out, autotune);
  put(out, passes);
  for (const auto& [module, target] : modules) {
    if (target.facts().kind != tir::TargetKind::Llvm) return std::nullopt;
    put(out, target.facts());
    out.number(module.functions.size());
    for (const auto& [name, func] : module.functions) {
      out.text(name);
      if (tir::imports_source(func.body) || !tir::encode(func, out)) return std::nullopt;
    }
  }
  return out.bytes();
}

/// Returns the code that is cached under `key`; nullopt if there is no key.
std::optional<codegen::Artifact> find_code(const std::optional<std::string>& key,
                                           const std::vector<TargetedModule>& modules,
                                           const BuildOptions& options) {
  const std::optional<FileCache> files = key ? cache() : std::nullopt;
  const std::optional<std::string> bytes = files ? files->find(*key) : std::nullopt;
  if (!bytes) return std::nullopt;
  std::vector<tir::TargetFacts> targets;
  for (const TargetedModule& part : modules) targets.push_back(facts_of(part.target, options));
  return codegen::restore(*bytes, std::move(targets), codegen_options(options));
}

void store_code(const std::optional<std::string>& key, const codegen::Artifact& code) {
  const std::optional<FileCache> files = key ? cache() : std::nullopt;
  const std::optional<std::string> bytes = files ? code.stored() : std::nullopt;
  if (bytes) files->store(*key, *bytes);
}

// Prepares functions for a device: separates the host functions from the kernels that they launch.

/// Returns the compile unit of lowered functions. Throws LowerError for code that the device cannot
/// run, for example if no thread computes some elements of an array. `watcher` may be nullptr.
/// Precondition: the target is a GPU.
codegen::CompileUnit for_device(const tir::IRModule& module, const lowering::PassOptions& options,
                                const tir::TargetFacts& target, bool stage_comments,
                                const BuildWatcher* watcher) {
  // The host code only launches kernels, so it is compiled for a generic processor. A saved module
  // then runs on other hosts, too.
  codegen::CompileUnit unit{.module = {}, .target = Target("llvm -mcpu=generic").facts()};
  lowering::PassOptions on_device = options;
  // In OpenCL, the exchange between threads of a subgroup is an extension that the target must
  // list.
  on_device.warp_size =
      target.kind == tir::TargetKind::Cuda ? target.warp_size : target.subgroup_size;
  // Asynchronous copies require sm_80.
  on_device.has_async_copies =
      target.kind == tir::TargetKind::Cuda && lowering::compute_capability(target) >= 80;
  const auto run = [&](std::span<const lowering::Pass> passes, const tir::PrimFunc& func) {
    return lowering::run_passes(passes, func, {.passes = on_device});
  };
  std::vector<tir::PrimFunc> kernels;
  lowering::PassOptions in_kernels = lowering::options_of_kernels(on_device);
  in_kernels.has_dp4a =
      target.kind == tir::TargetKind::Cuda && lowering::compute_capability(target) >= 61;
  for (const auto& [name, func] : module.functions) {
    const tir::PrimFunc whole = target.fast_math ? run(lowering::fast_math_passes(), func) : func;
    lowering::DeviceProgram program =
        lowering::split_kernels(run(lowering::device_passes(), whole), target);
    unit.module.functions.emplace(name, run(lowering::host_passes(), program.host));
    for (const tir::PrimFunc& kernel : program.kernels) {
      kernels.push_back(
          lowering::run_passes(lowering::kernel_passes(), kernel, {.passes = in_kernels}));
      if (watcher) kernels.back() = watcher->add_kernel(kernels.back());
    }
  }
  unit.kernels = codegen::emit_kernels(
      kernels, target,
      {.stage_comments = stage_comments, .lines = watcher ? watcher->lines : nullptr});
  return unit;
}

/// Throws if the option legacy_prefetch_index is set, which reproduces a fault of TVM 0.9 text.
/// Compiled code would prefetch data that is never read.
void refuse_legacy_text(const lowering::PassOptions& passes, const SourceLocation& where) {
  if (!passes.legacy_prefetch_index) return;
  throw LowerError(
      "build: legacy_prefetch_index gives prefetches another address, with rows and columns "
      "exchanged; it only serves to print TVM 0.9 text, leave it out",
      where);
}

/// Lowers the functions that are not lowered yet.
tir::IRModule lowered(const tir::IRModule& module, const BuildOptions& options,
                      const SourceLocation& where) {
  tir::IRModule result;
  for (const auto& [name, func] : module.functions) {
    check_function(func, name);
    tir::PrimFunc named = func;
    named.attrs.global_symbol = name;
    const LowerOptions passes = {
        .name = name, .instrument_bounds = options.instrument_bounds, .passes = options.passes};
    if (is_unlowered(named)) named = lower(named, passes, where).functions.at(name);
    if (!options.allow_parallel_reduction_race) refuse_conflicts(named);
    result.functions.emplace(name, std::move(named));
  }
  return result;
}

void check_names(const std::vector<TargetedModule>& modules, const SourceLocation& where) {
  std::set<std::string> names;
  for (const TargetedModule& part : modules)
    for (const auto& [name, func] : part.module.functions)
      if (!names.insert(name).second)
        throw LowerError("build: function `" + name + "` is given twice", where);
  if (names.empty()) throw LowerError("build: the module has no functions", where);
}

/// Throws for invalid options, and for modules whose targets are of different kinds.
void check_options(const std::vector<TargetedModule>& modules, const BuildOptions& options,
                   const SourceLocation& where) {
  if (options.opt_level < 0 || options.opt_level > 3)
    throw TargetError("build: opt_level must be 0 to 3, got " + std::to_string(options.opt_level),
                      where);
  const int alignment = options.argument_alignment;
  if (alignment < 0 || (alignment & (alignment - 1)) != 0)
    throw LowerError(
        "build: argument_alignment must be a power of two, or 0 for the alignment of the "
        "elements, got " +
            std::to_string(alignment),
        where);
  const tir::TargetKind kind = modules.front().target.facts().kind;
  for (const TargetedModule& part : modules)
    if (part.target.facts().kind != kind)
      throw TargetError("build: one module is of one kind of target, not of `" +
                            modules.front().target.str() + "` and `" + part.target.str() + "`",
                        where);
  if (options.profile && kind != tir::TargetKind::Llvm)
    throw TargetError("build: profile times functions for CPUs that LLVM compiles (`llvm`), not `" +
                          modules.front().target.str() + "`",
                      where);
}

// ---- tiers --------------------------------------------------------------------------------------

/// Counts the threads that compile optimized code. At the end of the process, it waits for them,
/// because LLVM's globals are destroyed afterwards.
class RunningCompilations {
 public:
  static RunningCompilations& instance() {
    static RunningCompilations all;
    return all;
  }
  void begin() {
    const std::scoped_lock lock(mutex_);
    // A forked process does not have the threads of its parent.
    if (process_ != ::getpid()) count_ = 0;
    process_ = ::getpid();
    ++count_;
  }
  void end() {
    const std::scoped_lock lock(mutex_);
    --count_;
    ended_.notify_all();
  }
  ~RunningCompilations() {
    if (::getpid() != process_) return;
    std::unique_lock lock(mutex_);
    ended_.wait(lock, [&] { return count_ == 0; });
  }

 private:
  /// The process of the counted threads.
  pid_t process_ = ::getpid();
  std::mutex mutex_;
  std::condition_variable ended_;
  int count_ = 0;
};

/// The code of a tiered build. If the optimized code cannot be compiled, calls continue to run the
/// unoptimized code.
class TieredModule : public runtime::ModuleImpl {
 public:
  TieredModule(const runtime::Module& unoptimized, std::function<codegen::Artifact()> compile)
      : unoptimized_(unoptimized.impl()),
        entries_(unoptimized_->functions().size()),
        second_tier_(std::make_unique<SecondTier>(std::move(compile))),
        optimized_(second_tier_->promise.get_future()) {
    set_entries(*unoptimized_);
    RunningCompilations::instance().begin();
    second_tier_->thread = std::jthread([this] { optimize(); });
  }
  ~TieredModule() override {
    // A forked process does not have the thread, so it can neither join nor detach it, and other
    // members may be in the state in which the thread was interrupted.
    if (::getpid() != process_) static_cast<void>(second_tier_.release());
  }

  std::string kind() const override { return unoptimized_->kind(); }
  const std::vector<runtime::FunctionSpec>& functions() const override {
    return unoptimized_->functions();
  }
  runtime::PackedCall lookup(const runtime::FunctionSpec& function) override {
    const Entry* entry = &entries_[static_cast<std::size_t>(&function - functions().data())];
    return [entry](const TenonValue* values, const std::int32_t* codes, std::int32_t count) {
      return entry->load(std::memory_order_acquire)(values, codes, count);
    };
  }
  std::vector<std::string> source_kinds() const override { return unoptimized_->source_kinds(); }
  std::string source(std::string_view kind) const override { return optimized().source(kind); }
  void save(const std::string& path, const runtime::SaveOptions& options) const override {
    optimized().save(path, options);
  }

 private:
  using Entry = std::atomic<TenonPackedFunction>;

  /// The thread that compiles optimized code, and what it works on.
  struct SecondTier {
    std::function<codegen::Artifact()> compile;
    std::promise<std::shared_ptr<runtime::ModuleImpl>> promise = {};
    // The last member, so that it is joined before the others are destroyed.
    std::jthread thread = {};
  };

  /// Directs calls to this code, which has the same functions.
  void set_entries(runtime::ModuleImpl& code) {
    for (std::size_t n = 0; n < entries_.size(); ++n)
      entries_[n].store(*code.lookup(code.functions()[n]).target<TenonPackedFunction>(),
                        std::memory_order_release);
  }

  /// Waits for the optimized code. Throws the error of its compilation.
  const runtime::ModuleImpl& optimized() const {
    const bool is_ready = optimized_.wait_for(std::chrono::seconds(0)) == std::future_status::ready;
    if (!is_ready && ::getpid() != process_)
      throw RuntimeError("the optimized code was not ready when this process was forked");
    return *optimized_.get();
  }

  void optimize() {
    try {
      const std::shared_ptr<runtime::ModuleImpl> code = second_tier_->compile().load().impl();
      set_entries(*code);
      second_tier_->promise.set_value(code);
    } catch (...) {
      second_tier_->promise.set_exception(std::current_exception());
    }
    second_tier_->compile = {};
    RunningCompilations::instance().end();
  }

  // Calls of the unoptimized code may still run when the optimized code is ready.
  const std::shared_ptr<runtime::ModuleImpl> unoptimized_;
  std::vector<Entry> entries_;
  std::unique_ptr<SecondTier> second_tier_;
  const std::shared_future<std::shared_ptr<runtime::ModuleImpl>> optimized_;
  const pid_t process_ = ::getpid();
};

/// Compiled code. In a tiered build it is unoptimized, and `optimize` compiles it again.
struct Code {
  codegen::Artifact artifact;
  std::function<codegen::Artifact()> optimize = {};
};

/// Compiles functions that have been lowered. Optimized code is stored in the cache if there is a
/// key. In a tiered build, loops of the unoptimized code are not transformed either, because that
/// makes code longer.
Code compile_lowered(const std::vector<TargetedModule>& modules, const BuildOptions& options,
                     const SourceLocation& where, const BuildWatcher* watcher,
                     const std::optional<std::string>& key) {
  check_options(modules, options, where);
  const tir::TargetKind kind = modules.front().target.facts().kind;
  if (options.tiered && options.opt_level != 0 && !watcher && kind == tir::TargetKind::Llvm) {
    BuildOptions first = options, second = options;
    first.tiered = second.tiered = false;
    first.opt_level = 0;
    first.autotune_loops = false;
    // The second tier is compiled on another thread, which must not call the user's callbacks.
    second.on_step = {};
    second.on_warning = {};
    second.passes.on_pass = {};
    return {compile_lowered(modules, first, where, nullptr, std::nullopt).artifact,
            [modules, second, where, key] {
              return run_steps(where, [&] {
                return compile_lowered(modules, second, where, nullptr, key).artifact;
              });
            }};
  }
  lowering::PassOptions passes = options.passes;
  if (options.autotune_loops) passes.autotune_loops = options.autotune_loops;
  std::vector<codegen::CompileUnit> units;
  for (const auto& [module, target] : modules) {
    const tir::TargetFacts facts = facts_of(target, options);
    if (!options.allow_parallel_reduction_race)
      for (const auto& [name, func] : module.functions) lowering::refuse_region_races(func);
    if (facts.is_gpu()) {
      units.push_back(for_device(module, passes, facts, options.stage_comments, watcher));
      continue;
    }
    lowering::PassOptions on_host = passes;
    if (!on_host.vector_registers) on_host.vector_registers = facts.vector_registers;
    on_host.has_dp4a = facts.kind == tir::TargetKind::Llvm;
    units.push_back({.module = {}, .target = facts});
    for (const auto& [name, func] : module.functions) {
      tir::PrimFunc ready = lowering::run_host_pipeline(func, on_host, facts.fast_math);
      if (watcher) ready = watcher->add(func, ready);
      units.back().module.functions.emplace(name, std::move(ready));
    }
  }
  codegen::CompileOptions how = codegen_options(options);
  if (watcher) how.lines = watcher->lines;
  if (watcher && watcher->set_profiler) watcher->set_profiler(how);
  codegen::Artifact code =
      kind == tir::TargetKind::C ? codegen::compile_to_c(units, how) : codegen::compile(units, how);
  store_code(key, code);
  return {code};
}

Code compile_modules(const std::vector<TargetedModule>& modules, const BuildOptions& options,
                     const SourceLocation& where, const BuildWatcher* watcher) {
  refuse_legacy_text(options.passes, where);
  check_names(modules, where);
  return run_steps(where, [&]() -> Code {
    const std::optional<std::string> key = code_key("modules", modules, options, watcher);
    if (const auto code = find_code(key, modules, options)) return {*code};
    std::vector<TargetedModule> parts;
    for (const TargetedModule& part : modules)
      parts.push_back({lowered(part.module, options, where), part.target});
    return compile_lowered(parts, options, where, watcher, key);
  });
}

Code compile_schedule(const te::Schedule& schedule, const std::vector<LowerArgument>& args,
                      const Target& target, BuildOptions options, const SourceLocation& where,
                      const BuildWatcher* watcher) {
  refuse_legacy_text(options.passes, where);
  options.simple_mode = false;
  return run_steps(where, [&]() -> Code {
    const arith::SimplifierMemory memory;
    auto start = std::chrono::steady_clock::now();
    const te::StageGraph graph = te::freeze(schedule, where);
    codegen::finish_step(options.on_step, "freeze", start);
    // `lower` accepts most of the schedules that these checks refuse. The warnings are emitted
    // before the checks that need loops, so that the user sees them even if one of these throws.
    if (!options.allow_parallel_reduction_race) refuse_races(graph);
    if (!target.facts().is_gpu()) refuse_device_threads(graph);
    refuse_unbound_outputs(graph, args, options.binds, where);
    start = std::chrono::steady_clock::now();
    const te::Bounds bounds =
        options.bounds == Bounds::Exact ? te::infer_exact_bound(graph) : te::infer_bound(graph);
    codegen::finish_step(options.on_step, "infer-bound", start);
    refuse_partial_arguments(graph, bounds, args, options.binds, where);
    emit_warnings(schedule, graph, bounds, options);
    const std::vector<arith::SizeCondition> conditions =
        te::check_reads(graph, bounds, te::Outside::Partly);
    const tir::IRModule loops = make_loops(graph, bounds, args, options, where);
    if (!options.allow_parallel_reduction_race) refuse_conflicts(loops.functions.at(options.name));

    // The function that computes the constants does not depend on sizes, so it needs no size
    // checks.
    const auto with_size_checks = [&](tir::IRModule module) {
      tir::PrimFunc& func = module.functions.at(options.name);
      func = lowering::with_size_checks(func, conditions);
      return std::vector<TargetedModule>{{std::move(module), target}};
    };
    const std::vector<TargetedModule> unlowered = with_size_checks(loops);
    const std::optional<std::string> key = code_key("schedule", unlowered, options, watcher);
    if (const auto code = find_code(key, unlowered, options)) return {*code};
    return compile_lowered(with_size_checks(lower_loops(loops, options)), options, where, watcher,
                           key);
  });
}

/// Returns the options for code that is stored, which has one tier. Throws if profiling is
/// requested, because probes report to the process that builds the code.
BuildOptions for_stored_code(BuildOptions options, const SourceLocation& where) {
  if (options.profile)
    throw TargetError(
        "compile: profile times functions in the process that builds them; call build, or leave it "
        "out",
        where);
  options.tiered = false;
  return options;
}

/// Loads the code, which is the last step of the build.
runtime::Module load(const Code& code, ProfiledBuild& build, const SourceLocation& where) {
  auto start = std::chrono::steady_clock::now();
  runtime::Module module = with_user_line(where, [&] { return code.artifact.load(); });
  if (code.optimize)
    module = runtime::Module(std::make_shared<TieredModule>(module, code.optimize));
  codegen::finish_step(build.options().on_step, "load", start);
  build.finish();
  return module;
}

}  // namespace

codegen::Artifact compile(const std::vector<TargetedModule>& modules, const BuildOptions& options,
                          SourceLocation where) {
  return compile_modules(modules, for_stored_code(options, where), where, nullptr).artifact;
}

codegen::Artifact compile_watched(const te::Schedule& schedule,
                                  const std::vector<LowerArgument>& args, const Target& target,
                                  const BuildOptions& options, const SourceLocation& where,
                                  const BuildWatcher& watcher) {
  return compile_schedule(schedule, args, target, options, where, &watcher).artifact;
}

codegen::Artifact compile_watched(const tir::IRModule& module, const Target& target,
                                  const BuildOptions& options, const SourceLocation& where,
                                  const BuildWatcher& watcher) {
  return compile_modules({{module, target}}, options, where, &watcher).artifact;
}

codegen::Artifact compile(const tir::IRModule& module, const Target& target,
                          const BuildOptions& options, SourceLocation where) {
  return compile(std::vector<TargetedModule>{{module, target}}, options, where);
}

codegen::Artifact compile(const te::Schedule& schedule, const std::vector<LowerArgument>& args,
                          const Target& target, const BuildOptions& options, SourceLocation where) {
  return compile_schedule(schedule, args, target, for_stored_code(options, where), where, nullptr)
      .artifact;
}

runtime::Module build(const tir::IRModule& module, const Target& target,
                      const BuildOptions& options, SourceLocation where) {
  return build(std::vector<TargetedModule>{{module, target}}, options, where);
}

runtime::Module build(const std::vector<TargetedModule>& modules, const BuildOptions& options,
                      SourceLocation where) {
  ProfiledBuild build(options);
  return load(compile_modules(modules, build.options(), where, build.watcher()), build, where);
}

runtime::Module build(const std::vector<tir::IRModule>& modules, const Target& target,
                      const BuildOptions& options, SourceLocation where) {
  std::vector<TargetedModule> parts;
  for (const tir::IRModule& module : modules) parts.push_back({module, target});
  return build(parts, options, where);
}

runtime::Module build(const te::Schedule& schedule, const std::vector<LowerArgument>& args,
                      const Target& target, const BuildOptions& options, SourceLocation where) {
  ProfiledBuild build(options);
  const Code code =
      compile_schedule(schedule, args, target, build.options(), where, build.watcher());
  return load(code, build, where);
}

}  // namespace tenon
