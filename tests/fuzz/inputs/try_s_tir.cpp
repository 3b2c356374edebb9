// The inputs that need block programs alone: libfuzzer.cpp is linked with nothing else.
#include "tests/fuzz/inputs/try_s_tir.h"
#include "tenon/s_tir/script.h"

namespace tenon::fuzz {

namespace {

/// The program that mutated traces are applied to.
const char* const kProgram = R"(
@T.prim_func
def main(A: T.Buffer[(16, 32), "float32"], B: T.Buffer[(32, 16), "float32"], D: T.Buffer[(16, 16), "float32"]) -> None:
    C = T.alloc_buffer([16, 16], dtype="float32")
    for i, j, k in T.grid(16, 16, 32):
        with T.block("C"):
            vi, vj, vk = T.axis.remap("SSR", [i, j, k])
            with T.init():
                C[vi, vj] = T.float32(0)
            C[vi, vj] = C[vi, vj] + A[vi, vk] * B[vk, vj]
    for i, j in T.grid(16, 16):
        with T.block("D"):
            vi, vj = T.axis.remap("SS", [i, j])
            D[vi, vj] = T.max(C[vi, vj], T.float32(0))
)";

}  // namespace

tir::IRModule parsed_script(const std::string& text) {
  tir::IRModule module = s_tir::parse_script(text);
  const std::string printed = s_tir::print_script(module);
  try {
    s_tir::parse_script(printed);
  } catch (const Error& error) {
    throw InternalError(std::string("a script is printed as none: ") + error.what() + "\n" +
                        printed);
  }
  return module;
}

s_tir::Schedule applied_trace(const std::string& text) {
  const s_tir::Trace trace = s_tir::parse_trace(text);
  for (const std::string& printed : {trace.text(), trace.json()}) s_tir::parse_trace(printed);
  s_tir::Schedule sch(s_tir::parse_script(kProgram));
  sch.apply_trace(trace);
  return sch;
}

}  // namespace tenon::fuzz
