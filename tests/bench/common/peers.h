// Libraries that compute products of matrices, as far as this machine has them. They are loaded
// while the program runs, each apart from the others: some export the same names.
#pragma once

#include <functional>
#include <string>
#include <vector>

namespace tenon::bench {

/// C = A B, of row-major float32 arrays; a transposed factor is given as its transpose.
struct Product {
  int m, n, k;
  bool transpose_a = false, transpose_b = false;
  const float* a;
  const float* b;
  float* c;
};

struct Peer {
  std::string name;
  std::function<void()> run;
};

/// OpenBLAS, BLIS, oneDNN, Eigen and, of small products, LIBXSMM. Those with threads use so many
/// from then on; the last two have none.
std::vector<Peer> peers_of(const Product& product, int threads);

}  // namespace tenon::bench
