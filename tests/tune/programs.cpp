#include "tests/tune/programs.h"

#include <fstream>
#include <sstream>

#include "tenon/s_tir/script.h"
#include "tenon_test_paths.h"

namespace tenon::tune {

namespace {

std::string with(std::string text, const std::string& key, const std::string& value) {
  for (std::size_t at = 0; (at = text.find(key, at)) != std::string::npos; at += value.size())
    text.replace(at, key.size(), value);
  return text;
}

constexpr const char* kProduct = R"(
@tvm.script.ir_module
class Module:
    @T.prim_func
    def main(A: T.Buffer[(SIZE, SIZE), "float32"], B: T.Buffer[(SIZE, SIZE), "float32"], OUT: T.Buffer[(SIZE, SIZE), "float32"]) -> None:
        T.func_attr({"global_symbol": "main", "tir.noalias": True})
ALLOC        for i, j, k in T.grid(SIZE, SIZE, SIZE):
            with T.block("C"):
                vi, vj, vk = T.axis.remap("SSR", [i, j, k])
                with T.init():
                    C[vi, vj] = 0.0
                C[vi, vj] = C[vi, vj] + A[vi, vk] * B[vk, vj]
)";

constexpr const char* kRelu = R"(        for i, j in T.grid(SIZE, SIZE):
            with T.block("D"):
                vi, vj = T.axis.remap("SS", [i, j])
                D[vi, vj] = T.max(C[vi, vj], T.float32(0))
)";

constexpr const char* kElementwise = R"(
@T.prim_func
def main(A: T.Buffer[SIZE, "float32"], B: T.Buffer[SIZE, "float32"]) -> None:
    T.func_attr({"global_symbol": "main", "tir.noalias": True})
    for i in T.serial(SIZE):
        with T.block("B"):
            vi = T.axis.spatial(SIZE, i)
)";

}  // namespace

tir::IRModule product(int size) {
  const std::string text = with(with(kProduct, "ALLOC", ""), "OUT", "C");
  return s_tir::parse_script(with(text, "SIZE", std::to_string(size)));
}

tir::IRModule product_relu(int size) {
  const std::string alloc = "        C = T.alloc_buffer([SIZE, SIZE], dtype=\"float32\")\n";
  const std::string text = with(with(kProduct, "ALLOC", alloc), "OUT", "D") + kRelu;
  return s_tir::parse_script(with(text, "SIZE", std::to_string(size)));
}

tir::IRModule row_sums(int rows, int columns) {
  const std::string shape = std::to_string(rows) + ", " + std::to_string(columns);
  return s_tir::parse_script(R"(
@T.prim_func
def main(A: T.Buffer[()" + shape +
                             R"(), "float32"], B: T.Buffer[)" + std::to_string(rows) +
                             R"(, "float32"]) -> None:
    T.func_attr({"global_symbol": "main", "tir.noalias": True})
    for i, k in T.grid()" + shape +
                             R"():
        with T.block("B"):
            vi, vk = T.axis.remap("SR", [i, k])
            with T.init():
                B[vi] = T.float32(0)
            B[vi] = B[vi] + A[vi, vk]
)");
}

tir::IRModule sum_with(int added, int size) {
  const std::string text = std::string(kElementwise) + "            B[vi] = A[vi] + T.float32(" +
                           std::to_string(added) + ")\n";
  return s_tir::parse_script(with(text, "SIZE", std::to_string(size)));
}

tir::IRModule calling(const std::string& call, int size) {
  const std::string text = std::string(kElementwise) +
                           "            T.reads(A[vi])\n            T.writes(B[vi])\n"
                           "            T.evaluate(" +
                           call + ")\n            B[vi] = A[vi] + T.float32(1)\n";
  return s_tir::parse_script(with(text, "SIZE", std::to_string(size)));
}

std::string golden_tuning(const std::string& file) {
  std::ifstream in(std::string(TENON_GOLDEN_DIR) + "/tuning/" + file);
  std::ostringstream text;
  text << in.rdbuf();
  return text.str();
}

std::string normalized(const std::string& text) {
  std::istringstream in(text);
  std::string result, line;
  while (std::getline(in, line)) {
    line.erase(line.find_last_not_of(' ') + 1);
    if (!line.empty()) result += line + "\n";
  }
  return result;
}

}  // namespace tenon::tune
