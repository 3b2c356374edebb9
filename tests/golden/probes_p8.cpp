// Double buffers, with and without a scope of their own, padded rows, or a loop around them.
#include "probes.h"

namespace tenon::probes {
namespace {

struct DoubleBufferOptions {
  bool storage_align = false;
  std::string scope = "";
  bool in_a_loop = true;
};

std::string double_buffered(DoubleBufferOptions options, bool whole_text = false) {
  te::Tensor X = te::placeholder({16, 16}, "X");
  te::Tensor Y = te::compute(
      {16, 16}, {"i", "j"}, [&](Var i, Var j) { return X(i, j) + 1.0f; }, "Y");
  te::Tensor Z = te::compute(
      {16, 16}, {"i", "j"}, [&](Var i, Var j) { return Y(i, j) * 2.0f; }, "Z");
  te::Schedule s = te::create_schedule({Z});
  if (options.storage_align) s[Y].storage_align(s[Y].axis(0), 8, 1);
  s[Y].double_buffer();
  if (!options.scope.empty()) s[Y].set_scope(options.scope);
  if (options.in_a_loop) s[Y].compute_at(s[Z], s[Z].axis(0));
  return whole_text ? text_of(s, {X, Z}) : body_of(s, {X, Z});
}

std::string db_plain() { return double_buffered({}); }
std::string db_shared() { return double_buffered({.scope = "shared"}); }
std::string db_sa() { return double_buffered({.storage_align = true}); }
std::string db_root() { return double_buffered({.in_a_loop = false}); }
std::string db_shared_sa() { return double_buffered({.storage_align = true, .scope = "shared"}); }
std::string db_global_explicit() {
  return double_buffered({.scope = "global"}, /*whole_text=*/true);
}
std::string db_root_explicit_scope() {
  return double_buffered({.scope = "global", .in_a_loop = false});
}

constexpr std::string_view kView = "the reference's view has another size than its allocation";
constexpr std::string_view kLost =
    "the reference loses the buffer when it deduces a scope or strides for it";

using Changes = std::vector<ChangedText::Change>;
const Changes kGlobal = {
    {"shared float32", "global float32"}, {"= shared", "= global"}, {" scope=\"shared\",", ""}};
/// Rows of 17, which is 1 modulo 8.
const Changes kPadded = {
    {"[32])", "[34])"}, {"2)*16)", "2)*17)"}, {"Y_1[(j_3 + 16)]", "Y_1[(j_3 + 17)]"}};

Changes operator+(Changes a, const Changes& b) {
  a.insert(a.end(), b.begin(), b.end());
  return a;
}

}  // namespace

std::vector<Probe> probes_of_p8() {
  constexpr std::string_view kText = "p8: db shared";
  const Changes size = {{"Y, float32, [256]", "Y, float32, [32]"}};
  const Changes padded_size = {{"Y, float32, [256]", "Y, float32, [34]"}};
  return {
      {"p8: db plain", db_plain, ChangedText{size + kGlobal, kLost, kText}},
      {"p8: db shared", db_shared, ChangedText{size, kView}},
      {"p8: db sa", db_sa, ChangedText{padded_size + kGlobal + kPadded, kLost, kText}},
      {"p8: db root", db_root, schedule_error({"`Y`"}, "double_buffer()")},
      {"p9: db shared sa 2D", db_shared_sa, ChangedText{padded_size + kPadded, kLost, kText}},
      {"p9: db global explicit", db_global_explicit, ChangedText{size, kView}},
      {"q3: db root explicit scope", db_root_explicit_scope,
       schedule_error({"`Y`"}, "double_buffer()")},
  };
}

}  // namespace tenon::probes
