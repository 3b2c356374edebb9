#include "tenon/driver/kernel_library.h"

#include <iostream>
#include <map>
#include <set>

#include "tenon/codegen/c_header.h"
#include "tenon/codegen/c_names.h"
#include "tenon/codegen/cpp_header.h"
#include "tenon/codegen/files.h"
#include "tenon/codegen/symbol_names.h"
#include "tenon/codegen/variant_choice.h"
#include "tenon/support/error.h"

namespace tenon {

namespace {

using codegen::Variant;
using runtime::FunctionSpec;

void check(const KernelLibraryOptions& options) {
  if (!codegen::is_c_name(options.name) || codegen::is_reserved_in_c(options.name))
    throw LowerError(
        "the name of a kernel library must be a C identifier that no header of the C library or "
        "of Tenon declares, got `" +
        options.name + "`");
  if (options.targets.empty())
    throw TargetError("the kernel library `" + options.name + "` has no target");
  for (const Target& target : options.targets) {
    if (target.facts().kind != tir::TargetKind::Llvm)
      throw TargetError("the kernel library `" + options.name + "` is compiled by LLVM, not for `" +
                        target.str() + "`");
    if (target.facts().system_library)
      throw TargetError("the functions of the kernel library `" + options.name +
                        "` must be callable by name, but `" + target.str() +
                        "` puts them into a system library");
  }
}

/// Returns the functions of all targets, with a distinct name for each target. Also returns the
/// user's names, in the order in which the functions of each target are compiled.
std::pair<std::vector<TargetedModule>, std::vector<std::string>> make_variants(
    const KernelMaker& make, const KernelLibraryOptions& options) {
  std::vector<TargetedModule> modules;
  std::vector<std::string> all_names;
  for (std::size_t v = 0; v < options.targets.size(); ++v) {
    const Target& target = options.targets[v];
    tir::IRModule renamed;
    const std::string prefix = options.name + std::to_string(v) + "_";
    for (const tir::IRModule& module : make(target)) {
      for (const auto& [name, func] : module.functions) {
        if (!codegen::is_c_name(name) || name == options.name)
          throw LowerError(
              "the kernel library `" + options.name + "` cannot have a function `" + name +
              "`: " + (name == options.name ? "that is its own name" : "that is not a C name"));
        tir::PrimFunc own = func;
        own.attrs.global_symbol = prefix + name;
        if (!renamed.functions.emplace(own.attrs.global_symbol, own).second)
          throw LowerError("the kernel library `" + options.name + "` has two functions `" + name +
                           "`");
      }
    }
    std::vector<std::string> names;
    for (const auto& [symbol, func] : renamed.functions)
      names.push_back(symbol.substr(prefix.size()));
    if (v == 0) all_names = names;
    if (names != all_names)
      throw LowerError("the kernel library `" + options.name + "` has other functions for `" +
                       target.str() + "` than for `" + options.targets.front().str() + "`");
    modules.push_back({std::move(renamed), target});
  }
  return {std::move(modules), std::move(all_names)};
}

/// Returns the specifications of the functions that programs call. They combine those of all
/// variants, which may require different alignments of arrays.
std::vector<FunctionSpec> joined_specs(const std::vector<FunctionSpec>& compiled,
                                       const std::vector<std::string>& names,
                                       const KernelLibraryOptions& options) {
  std::vector<FunctionSpec> result;
  std::set<std::string> taken(names.begin(), names.end());
  for (std::size_t f = 0; f < names.size(); ++f) {
    FunctionSpec spec = compiled[f];
    spec.name = names[f];
    // The function calls the variant for the processor that it runs on.
    spec.symbol = codegen::packed_symbol(names[f], taken);
    spec.features.clear();
    for (std::size_t v = 1; v < options.targets.size(); ++v) {
      FunctionSpec other = compiled[v * names.size() + f];
      for (std::size_t p = 0; p < other.params.size() && p < spec.params.size(); ++p) {
        auto* own = std::get_if<runtime::ArraySpec>(&spec.params[p].type);
        auto* given = std::get_if<runtime::ArraySpec>(&other.params[p].type);
        if (!own || !given) continue;
        own->alignment = given->alignment = std::max(own->alignment, given->alignment);
        own->index_bits = given->index_bits = std::min(own->index_bits, given->index_bits);
      }
      if (spec.params != other.params)
        throw LowerError("`" + names[f] + "` of the kernel library `" + options.name +
                         "` has other parameters for `" + options.targets[v].str() +
                         "` than for `" + options.targets.front().str() + "`");
    }
    result.push_back(std::move(spec));
  }
  return result;
}

}  // namespace

void write_kernel_library(const KernelMaker& make, const KernelLibraryOptions& options) {
  check(options);
  const auto [modules, names] = make_variants(make, options);
  const codegen::Artifact artifact = compile(modules, options.build);
  const std::vector<FunctionSpec>& compiled = artifact.functions();
  const std::vector<FunctionSpec> functions = joined_specs(compiled, names, options);
  std::vector<Variant> choice;
  for (std::size_t v = 0; v < options.targets.size(); ++v) {
    Variant variant{options.targets[v].str(), {}, {}};
    for (std::size_t f = 0; f < functions.size(); ++f)
      variant.symbols.push_back(compiled[v * functions.size() + f].symbol);
    if (!functions.empty()) variant.features = compiled[v * functions.size()].features;
    choice.push_back(std::move(variant));
  }
  const auto file = [&](const char* suffix) {
    return options.folder + "/" + options.name + suffix;
  };
  artifact.save(file(".o"));
  codegen::write_file(file(".c"), codegen::variant_choice(options.name, functions, choice));
  codegen::write_file(file(".h"), codegen::c_header(options.name + ".h", functions));
  codegen::write_file(file(".hpp"), codegen::cpp_header(options.name, functions));
}

int kernel_library_main(int argc, char** argv, const KernelMaker& make) {
  if (argc < 4) {
    std::cerr << "usage: " << (argc > 0 ? argv[0] : "generator") << " NAME FOLDER TARGET...\n";
    return 2;
  }
  try {
    KernelLibraryOptions options{.name = argv[1], .folder = argv[2], .targets = {}};
    for (int n = 3; n < argc; ++n) options.targets.emplace_back(std::string(argv[n]));
    write_kernel_library(make, options);
  } catch (const std::exception& error) {
    std::cerr << argv[1] << ": " << error.what() << '\n';
    return 1;
  }
  return 0;
}

}  // namespace tenon
