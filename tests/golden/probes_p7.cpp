// One product of a matrix with itself, under many schedules; and how stages, operations and bounds
// print.
#include "probes.h"
#include "tenon/te/relation.h"

namespace tenon::probes {
namespace {

std::string cw_single_of_multi_lower() {
  te::Tensor A = te::placeholder({16, 16, 16}, "A");
  auto both = [&](Var i, Var j) -> std::vector<Expr> {
    return {A(i, j, 0) + 1.0f, A(i, j, 1) * 2.0f};
  };
  std::vector<te::Tensor> B = te::compute_multi({8, 8}, {"i", "j"}, both, "B");
  te::Schedule s = te::create_schedule({B[0]});
  s.cache_write(B[0], "local");
  return text_of(s, {A, B[0], B[1]});
}

/// Y = X + 1 and Z = Y * Y'.
struct Square {
  te::Tensor X = te::placeholder({16, 16}, "X");
  te::Tensor Y = te::compute(
      {16, 16}, {"i", "j"}, [this](Var i, Var j) { return X(i, j) + 1.0f; }, "Y");
  te::IterVar k = te::reduce_axis({0, 16}, "k");
  te::Tensor Z = te::compute(
      {16, 16}, {"i", "j"}, [this](Var i, Var j) { return te::sum(Y(i, k) * Y(j, k), {k}); }, "Z");
  te::Schedule s = te::create_schedule({Z});
  te::Stage y() { return s[Y]; }
  te::Stage z() { return s[Z]; }
  te::IterVar i = Z.op().axis(0), j = Z.op().axis(1);
  std::string body() { return body_of(s, {X, Z}); }
};

// ---- loops --------------------------------------------------------------------------------------

std::string fuse_data_reduce_lower() {
  Square p;
  p.z().fuse({p.j, p.k});
  return p.body();
}

std::string split_negative() {
  Square p;
  p.z().split(p.i, -2);
  return p.body();
}

std::string split_over_extent() {
  Square p;
  p.z().split(p.i, 100);
  return p.body();
}

std::string nparts_over_extent() {
  Square p;
  p.z().split_by_nparts(p.i, 100);
  return p.body();
}

std::string compute_at_reduce_axis() {
  Square p;
  p.y().compute_at(p.z(), p.k);
  return p.body();
}

std::string reduce_outermost() {
  Square p;
  p.z().reorder({p.k, p.i});
  return p.body();
}

std::string vectorize_outer() {
  Square p;
  p.z().vectorize(p.i);
  return p.body();
}

std::string vectorize_two() {
  Square p;
  p.z().vectorize(p.i);
  p.z().vectorize(p.j);
  return p.body();
}

std::string vthread() {
  Square p;
  auto [outer, inner] = p.z().split_by_nparts(p.i, 2);
  p.z().bind(outer, te::thread_axis({0, 2}, "vthread"));
  return p.body();
}

std::string prefetch_non_input() {
  Square p;
  p.z().prefetch(p.X, p.i, 1);
  return p.body();
}

// ---- threads ------------------------------------------------------------------------------------

std::string thread_extent_mismatch() {
  Square p;
  p.z().bind(p.i, te::thread_axis("threadIdx.x"));
  p.y().compute_at(p.z(), p.i);
  p.y().bind(p.y().axis(1), te::thread_axis({0, 8}, "threadIdx.x"));
  return p.body();
}

std::string two_kernels_same_thread_var() {
  Square p;
  te::IterVar t = te::thread_axis("threadIdx.x");
  p.z().bind(p.i, t);
  p.y().bind(p.y().axis(0), t);
  return p.body();
}

std::string same_thread_twice() {
  Square p;
  te::IterVar t = te::thread_axis("threadIdx.x");
  p.z().bind(p.i, t);
  p.z().bind(p.j, t);
  return p.body();
}

std::string weird_thread_tag() {
  Square p;
  p.z().bind(p.i, te::thread_axis("foo.x"));
  return p.body();
}

// ---- storage ------------------------------------------------------------------------------------

std::string bad_scope() {
  Square p;
  p.y().set_scope("sharedd");
  return p.body();
}

std::string storage_align_and_double_buffer() {
  Square p;
  p.y().storage_align(p.y().axis(1), 8, 1).double_buffer().compute_at(p.z(), p.i);
  return p.body();
}

std::string double_buffer_at_root() {
  Square p;
  p.y().double_buffer();
  return p.body();
}

// ---- attachments --------------------------------------------------------------------------------

std::string compute_at_then_inline() {
  Square p;
  p.y().compute_at(p.z(), p.i).compute_inline();
  p.z().split(p.i, 4);
  return p.body();
}

std::string compute_at_then_split_parent() {
  Square p;
  p.y().compute_at(p.z(), p.i);
  p.z().split(p.i, 4);
  return p.body();
}

std::string zero_extent() {
  te::Tensor P = te::placeholder({0, 4}, "P");
  te::Tensor Q = te::compute(
      {0, 4}, {"i", "j"}, [&](Var i, Var j) { return P(i, j) + 1.0f; }, "Q");
  return body_of(te::create_schedule({Q}), {P, Q});
}

/// All of Y for each row of Z, one row ahead. Unit strides are 1 modulo 8 already.
constexpr std::string_view kDoubleBuffered =
    R"(  allocate(Y: Pointer(global float32), float32, [512]), storage_scope = global {
    for (i: int32, 0, 16) {
      for (j: int32, 0, 16) {
        let cse_var_1: int32 = ((i*16) + j)
        Y_1: Buffer(Y, float32, [512], [])[cse_var_1] = (X[cse_var_1] + 1f32)
      }
    }
    for (i.outer: int32, 0, 15) {
      attr [Y] "double_buffer_write" = 1;
      for (i_1: int32, 0, 16) {
        for (j_1: int32, 0, 16) {
          let cse_var_2: int32 = (i_1*16)
          Y_1[(((floormod((i.outer + 1), 2)*256) + cse_var_2) + j_1)] = (X[(cse_var_2 + j_1)] + 1f32)
        }
      }
      for (j_2: int32, 0, 16) {
        Z[((i.outer*16) + j_2)] = 0f32
        for (k: int32, 0, 16) {
          let cse_var_5: int32 = (i.outer*16)
          let cse_var_4: int32 = (floormod(i.outer, 2)*256)
          let cse_var_3: int32 = (cse_var_5 + j_2)
          Z[cse_var_3] = (Z[cse_var_3] + (Y_1[((cse_var_4 + cse_var_5) + k)]*Y_1[((cse_var_4 + (j_2*16)) + k)]))
        }
      }
    }
    for (j_3: int32, 0, 16) {
      Z[(j_3 + 240)] = 0f32
      for (k_1: int32, 0, 16) {
        let cse_var_6: int32 = (j_3 + 240)
        Z[cse_var_6] = (Z[cse_var_6] + (Y_1[(k_1 + 496)]*Y_1[(((j_3*16) + k_1) + 256)]))
      }
    }
  }
}
)";

constexpr std::string_view kInnerVectorized =
    R"(  allocate(Y: Pointer(global float32), float32, [256]), storage_scope = global {
    for (i: int32, 0, 16) {
      for (j: int32, 0, 16) {
        let cse_var_1: int32 = ((i*16) + j)
        Y_1: Buffer(Y, float32, [256], [])[cse_var_1] = (X[cse_var_1] + 1f32)
      }
    }
    for (i_1: int32, 0, 16) {
      Z[ramp((i_1*16), 1, 16)] = broadcast(0f32, 16)
      for (k: int32, 0, 16) {
        let cse_var_2: int32 = (i_1*16)
        Z[ramp(cse_var_2, 1, 16)] = (Z[ramp(cse_var_2, 1, 16)] + (broadcast(Y_1[(cse_var_2 + k)], 16)*Y_1[ramp(k, 16, 16)]))
      }
    }
  }
}
)";

std::string normalize() {
  Square p;
  p.y().compute_at(p.z(), p.i);
  p.z().split(p.i, 4);
  te::Schedule s = p.s.normalize();
  std::string text;
  for (const te::Tensor& t : {p.X, p.Y, p.Z}) {
    std::string leaves, relations;
    for (const te::IterVar& leaf : s[t].leaf_iter_vars())
      leaves += (leaves.empty() ? "'" : ", '") + leaf.name() + "'";
    for (const te::Relation& relation : s[t].relations())
      relations += std::string(relations.empty() ? "" : ", ") +
                   (std::holds_alternative<te::Split>(relation) ? "'Split'" : "'Object'");
    text += (text.empty() ? "('" : ", ('") + t.op().name() + "', [" + leaves + "], [" + relations +
            "])";
  }
  return "[" + text + "]";
}

std::string inferbound() {
  Square p;
  return printed(te::infer_bound(p.s));
}

constexpr std::string_view kBounds = R"(stage  axis  range
Y      i     [0, +16)
Y      j     [0, +16)
Z      i     [0, +16)
Z      j     [0, +16)
Z      k     [0, +16)
)";

}  // namespace

std::vector<Probe> probes_of_p7() {
  return {
      {"p7: cw single of multi lower", cw_single_of_multi_lower,
       schedule_error({"`B`"}, ".cache_write(")},
      {"p7: fuse data+reduce lower", fuse_data_reduce_lower},
      {"p7: split -2", split_negative, schedule_error({"`i`", "`Z`", "-2"}, ".split(")},
      {"p7: split > extent", split_over_extent},
      {"p7: nparts > extent", nparts_over_extent},
      {"p7: compute_at reduce axis", compute_at_reduce_axis,
       ChangedText{
           {{"[((max(i: int32, j: int32) + 1) - min(i, j))])", "[16])"},
            {"for (i, 0, 16)", "for (i: int32, 0, 16)"},
            {"for (j, 0, 16)", "for (j: int32, 0, 16)"},
            {"Buffer(Y, float32, [((max(i, j) + 1) - min(i, j))]", "Buffer(Y, float32, [16]"}},
           "the reference's allocation uses variables of the loops inside of it; at most 16 rows are "
           "needed"}},
      {"p7: reduce outermost", reduce_outermost},
      {"p7: thread extent mismatch", thread_extent_mismatch,
       schedule_error({"`j`", "`Y`", "threadIdx.x", "16", "8"}, ".bind(")},
      {"p7: two kernels same thread var", two_kernels_same_thread_var},
      {"p7: same thread twice", same_thread_twice},
      {"p7: weird thread tag", weird_thread_tag,
       schedule_error({"foo.x", "threadIdx"}, "thread_axis(")},
      {"p7: bad scope", bad_scope, schedule_error({"sharedd", "`Y`", "shared"}, ".set_scope(")},
      {"p7: storage_align+db", storage_align_and_double_buffer,
       OwnText{kDoubleBuffered, "the reference loses the buffer when it deduces strides for it"}},
      {"p7: db at root", double_buffer_at_root, schedule_error({"`Y`"}, ".double_buffer(")},
      {"p7: vectorize outer w/ inner reduce", vectorize_outer},
      {"p7: vectorize two", vectorize_two,
       OwnText{kInnerVectorized,
               "the reference warns that it takes the inner loop only, and then fails"}},
      {"p7: vthread", vthread},
      {"p7: prefetch non input", prefetch_non_input, schedule_error({"`X`", "`Z`"}, ".prefetch(")},
      {"p7: compute_at then inline", compute_at_then_inline},
      {"p7: compute_at then split parent", compute_at_then_split_parent},
      {"p7: normalize", normalize},
      {"p7: inferbound", inferbound,
       OwnText{kBounds, "the reference's order is that of addresses"}},
      {"p7: zero extent", zero_extent},
  };
}

}  // namespace tenon::probes
