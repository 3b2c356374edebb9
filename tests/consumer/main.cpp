#include <tenon/tenon.h>

#include <iostream>

using namespace tenon;

int main() {
  const te::Tensor A = te::placeholder({16}, "A");
  const te::Tensor B = te::compute(
      {16}, {"i"}, [&](Var i) { return A(i) + 1.0f; }, "B");
  std::cout << lower(te::create_schedule({B}), {A, B}, {.simple_mode = true});
}
