// LLVM's knowledge of processors: the host, the known names, and the widths of their registers.
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

/// A processor and its features, in LLVM's terms.
struct Processor {
  /// The target triple, "x86_64-pc-linux-gnu".
  std::string triple;
  /// The name, "znver4"; "generic" if unknown.
  std::string name;
  /// The features that are present ("+avx512f") and missing ("-amx-tile"), in the form of
  /// TargetFacts::features. In alphabetical order.
  std::vector<std::string> features;
};

/// Returns the processor of this machine.
const Processor& host_processor();

/// Checks a triple. TargetError if LLVM cannot compile for it. Here and in the functions below, an
/// empty triple is the triple of the host.
void check_triple(const std::string& triple);
bool is_known_cpu(std::string_view cpu, const std::string& triple = "");
/// Whether the feature exists. It is given without sign: "avx512f".
bool is_known_feature(std::string_view feature, const std::string& triple = "");
/// Return all names that LLVM knows for the triple, in alphabetical order.
const std::vector<std::string>& known_cpus(const std::string& triple = "");
const std::vector<std::string>& known_features(const std::string& triple = "");

/// Returns the features that the target's processor and feature list enable, without sign, in
/// alphabetical order.
const std::vector<std::string>& enabled_features(const tir::TargetFacts& target);
/// Returns the features of this machine that its processor name does not imply. Together with the
/// name they describe the same target as host_processor().features, but the list is shorter, so
/// that LLVM parses it faster.
std::vector<std::string> unimplied_host_features();
/// Returns those enabled features whose presence a program can check when it loads the code
/// (runtime/processor.h).
std::vector<std::string> needed_features(const tir::TargetFacts& target);
/// Returns the widest SIMD registers that the target supports. A target without SIMD gets a width
/// of 64 bits, that of general registers. Half of the registers are for accumulators, the others
/// for operands.
tir::VectorRegisters vector_registers(const tir::TargetFacts& target);
/// Returns the products that the target's tile registers compute.
tir::TileProducts tile_products(const tir::TargetFacts& target);

}  // namespace tenon::codegen
