// call_loaded LIBRARY: calls the kernel of a library that it loads, and is told of a wrong
// argument.
#include <tenon/runtime/module.h>

#include <iostream>
#include <string>

using namespace tenon;
using runtime::NDArray;

int main(int, char** argv) {
  const runtime::Module module = runtime::Module::load(argv[1]);
  const NDArray a = NDArray::full({5}, Float(32), 1.5), b = NDArray::zeros({5}, Float(32));
  module["scale"](a, b);
  if (b.data<float>()[4] != 3) return 1;
  try {
    module["scale"](a, NDArray::zeros({4}, Float(32)));
  } catch (const RuntimeError& error) {
    std::cout << error.what() << '\n';
    return std::string(error.what()).find("`B`") == std::string::npos;
  }
  return 1;
}
