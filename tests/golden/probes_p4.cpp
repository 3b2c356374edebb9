// A matrix multiplication in shared memory, with virtual threads, double buffers and padded rows.
#include "probes.h"

namespace tenon::probes {
namespace {

struct GemmOptions {
  bool virtual_threads = false, double_buffer = false, storage_align = false;
};

std::string gemm_gpu(GemmOptions options) {
  te::Tensor A = te::placeholder({64, 64}, "A"), B = te::placeholder({64, 64}, "B");
  te::IterVar k = te::reduce_axis({0, 64}, "k");
  te::Tensor C = te::compute(
      {64, 64}, {"i", "j"}, [&](Var i, Var j) { return te::sum(A(i, k) * B(k, j), {k}); }, "C");
  te::Schedule s = te::create_schedule({C});
  te::Tensor AA = s.cache_read(A, "shared", {C}), CL = s.cache_write(C, "local");
  te::IterVar tx = te::thread_axis({0, 8}, "threadIdx.x"),
              ty = te::thread_axis({0, 8}, "threadIdx.y");
  auto [bi, i] = s[C].split(s[C].axis(0), 16);
  auto [bj, j] = s[C].split(s[C].axis(1), 8);
  auto [vi, ti] = s[C].split_by_nparts(i, 2);
  s[C].reorder({bi, bj, vi, ti, j});
  s[C].bind(bi, te::thread_axis("blockIdx.y")).bind(bj, te::thread_axis("blockIdx.x"));
  if (options.virtual_threads) s[C].bind(vi, te::thread_axis({0, 2}, "vthread", "vx"));
  s[C].bind(ti, ty).bind(j, tx);

  s[CL].compute_at(s[C], j);
  auto [ko, ki] = s[CL].split(s[CL].reduce_axis(0), 8);
  s[CL].reorder({ko, ki, s[CL].axis(0), s[CL].axis(1)});

  s[AA].compute_at(s[CL], ko);
  if (options.storage_align) s[AA].storage_align(s[AA].axis(0), 8, 1);
  if (options.double_buffer) s[AA].double_buffer();
  te::IterVar fused = s[AA].fuse({s[AA].axis(0), s[AA].axis(1)});
  auto [a, b] = s[AA].split(fused, 8);
  auto [c, d] = s[AA].split(a, 8);
  s[AA].bind(b, tx).bind(d, ty);
  return text_of(s, {A, B, C});
}

std::string vth1_db0_sa0() { return gemm_gpu({.virtual_threads = true}); }
std::string vth1_db0_sa1() { return gemm_gpu({.virtual_threads = true, .storage_align = true}); }
std::string vth0_db1_sa0() { return gemm_gpu({.double_buffer = true}); }
std::string vth1_db1_sa1() {
  return gemm_gpu({.virtual_threads = true, .double_buffer = true, .storage_align = true});
}
std::string vth1_db1_sa0() { return gemm_gpu({.virtual_threads = true, .double_buffer = true}); }

constexpr std::string_view kSizes =
    "the reference's views of multiplied memory have another size than its allocation";
constexpr ChangedText::Change kLocal = {"C.local, float32, [1], [],", "C.local, float32, [2], [],"};

}  // namespace

std::vector<Probe> probes_of_p4() {
  return {
      {"p4: gemm gpu vth=1 db=0 sa=0", vth1_db0_sa0, ChangedText{{kLocal}, kSizes}},
      {"p4: gemm gpu vth=1 db=0 sa=1", vth1_db0_sa1, ChangedText{{kLocal}, kSizes}},
      {"p4: gemm gpu vth=0 db=1 sa=0", vth0_db1_sa0,
       ChangedText{{{"A.shared, float32, [4096]", "A.shared, float32, [128]"}}, kSizes}},
      {"p4: gemm gpu vth=1 db=1 sa=0", vth1_db1_sa0,
       ChangedText{{kLocal, {"A.shared, float32, [16384]", "A.shared, float32, [256]"}}, kSizes}},
      {"p3: gemm gpu", vth1_db1_sa1,
       ChangedText{
           {kLocal,
            {"float32), float32, [256])", "float32), float32, [288])"},
            {"A.shared, float32, [16384]", "A.shared, float32, [288]"},
            // Rows of 9 elements, copies of 144.
            {"A.shared_1[(((threadIdx.y*8) + k.inner_1) + 128)]",
             "A.shared_1[(((threadIdx.y*9) + k.inner_1) + 144)]"},
            {"A.shared_1[(((threadIdx.y*8) + k.inner_1) + 192)]",
             "A.shared_1[(((threadIdx.y*9) + k.inner_1) + 216)]"},
            {"2)*128) + (threadIdx.y*8)) + k.inner)", "2)*144) + (threadIdx.y*9)) + k.inner)"},
            {"k.inner) + 64)]", "k.inner) + 72)]"},
            {"outer*64) + (threadIdx.y*8)) + threadIdx.x)] = A",
             "outer*72) + (threadIdx.y*9)) + threadIdx.x)] = A"},
            {"2)*128) + (ax0.ax1.fused.outer.outer_1*64)) + (threadIdx.y*8)",
             "2)*144) + (ax0.ax1.fused.outer.outer_1*72)) + (threadIdx.y*9)"}},
           "the reference loses the buffer when it deduces strides for it",
           "p4: gemm gpu vth=1 db=1 sa=0"}},
  };
}

}  // namespace tenon::probes
