// The libraries that are timed alongside Tenon.
#pragma once

#include <iosfwd>
#include <vector>

#include "tests/bench/common/medians.h"
#include "tests/bench/common/operators.h"

namespace tenon::bench {

/// Restricts the process to as many processors as it has threads, because some libraries start one
/// for each that they find, and unsets the variables by which OpenBLAS would use the instruction
/// set and cache sizes of another processor. Called before the first library is opened.
void prepare_for_peers(int threads);

/// Prints the version and the instruction set of each library, and the ones that are not timed
/// because a variable of the environment holds them to an older set.
void print_peers(std::ostream& out, int threads);

/// The product by OpenBLAS, MKL, BLIS, oneDNN, Eigen and LIBXSMM, as far as they have it.
std::vector<Contest> peers_of(const MatrixProduct& product, int threads);

/// The function of this name ("cblas_saxpy") of OpenBLAS, MKL and BLIS.
std::vector<LibraryFunction> functions_of_peers(const std::string& symbol, int threads);

/// The transpose by OpenBLAS, MKL, Eigen and oneDNN.
std::vector<Contest> transposes_of(int threads, const Map& m);

/// The tables of Eigen, LIBXSMM and each oneDNN that can use so many threads.
const std::vector<Operators>& peer_operators(int threads);

/// The calls of all libraries that have the operator: peers_of(1, &Operators::softmax, map).
template <class... Parameters, class... Args>
std::vector<Contest> peers_of(int threads, Call (*Operators::*of)(Parameters...),
                              const Args&... args) {
  std::vector<Contest> contests;
  for (const Operators& each : peer_operators(threads))
    if (Call call = each.*of ? (each.*of)(args...) : nullptr)
      contests.push_back({each.library.name, std::move(call)});
  return contests;
}

}  // namespace tenon::bench
