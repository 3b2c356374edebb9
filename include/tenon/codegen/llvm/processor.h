// What only LLVM knows about processors: this host's, the names there are, the widths of their
// registers.
//
//   host_processor().name == "znver4"
//   vector_registers({.cpu = "skylake-avx512"}).bits == 512
//   is_known_cpu("znver9") == false
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "tenon/tir/target.h"

namespace tenon::codegen {

/// A processor, as LLVM names it and its features.
struct Processor {
  /// "x86_64-pc-linux-gnu"
  std::string triple;
  /// "znver4"; "generic" if it is not known.
  std::string name;
  /// What it has and what it lacks, for TargetFacts::features: "+avx512f", "-amx-tile". In
  /// alphabetical order.
  std::vector<std::string> features;
};

/// The processor that this runs on.
Processor host_processor();

/// An empty triple is this host's, here and below. Throws TargetError for a triple that LLVM cannot
/// compile for.
void check_triple(const std::string& triple);
bool is_known_cpu(std::string_view cpu, const std::string& triple = "");
/// A feature without its sign: "avx512f".
bool is_known_feature(std::string_view feature, const std::string& triple = "");
/// In alphabetical order.
std::vector<std::string> known_cpus(const std::string& triple = "");
std::vector<std::string> known_features(const std::string& triple = "");

/// The features that hold with this processor and these features, without sign, in alphabetical
/// order.
std::vector<std::string> enabled_features(const tir::TargetFacts& target);
/// Those of them that a program can ask for where it is loaded (runtime/processor.h).
std::vector<std::string> needed_features(const tir::TargetFacts& target);
/// The widest SIMD registers that the target's processor and features have; of 64 bits, as general
/// registers, if it has none. Half of them are for sums: the others hold what is multiplied.
tir::VectorRegisters vector_registers(const tir::TargetFacts& target);

}  // namespace tenon::codegen
