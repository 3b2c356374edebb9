// Double buffers, with and without a scope of their own, padded rows, or a loop around them.
#include "probes.h"

namespace tenon::probes {
namespace {

struct DoubleBufferOptions {
  bool storage_align = false;
  std::string scope = "";
  bool in_a_loop = true;
};

std::string double_buffered(DoubleBufferOptions options) {
  te::Tensor X = te::placeholder({16, 16}, "X");
  te::Tensor Y = te::compute({16, 16}, {"i", "j"}, [&](Var i, Var j) { return X(i, j) + 1.0f; }, "Y");
  te::Tensor Z = te::compute({16, 16}, {"i", "j"}, [&](Var i, Var j) { return Y(i, j) * 2.0f; }, "Z");
  te::Schedule s = te::create_schedule({Z});
  if (options.storage_align) s[Y].storage_align(s[Y].axis(0), 8, 1);
  s[Y].double_buffer();
  if (!options.scope.empty()) s[Y].set_scope(options.scope);
  if (options.in_a_loop) s[Y].compute_at(s[Z], s[Z].axis(0));
  return body_of(s, {X, Z});
}

std::string db_plain() { return double_buffered({}); }
std::string db_shared() { return double_buffered({.scope = "shared"}); }
std::string db_sa() { return double_buffered({.storage_align = true}); }
std::string db_root() { return double_buffered({.in_a_loop = false}); }
std::string db_shared_sa() { return double_buffered({.storage_align = true, .scope = "shared"}); }
std::string db_root_explicit_scope() { return double_buffered({.scope = "global", .in_a_loop = false}); }

constexpr std::string_view kFaulty = "the reference loses the buffer where its scope or its strides are deduced";

}  // namespace

std::vector<Probe> probes_of_p8() {
  return {
      {"p8: db plain", db_plain},
      {"p8: db shared", db_shared,
       ChangedText{{{"Y, float32, [256]", "Y, float32, [32]"}}, "its view has another size than its allocation"}},
      {"p8: db sa", db_sa},
      {"p8: db root", db_root, schedule_error({"`Y`"}, "double_buffer()")},
      {"p9: db shared sa 2D", db_shared_sa},
      {"q3: db root explicit scope", db_root_explicit_scope, schedule_error({"`Y`"}, "double_buffer()")},
  };
}

}  // namespace tenon::probes
