#include "tenon/tir/pragma.h"

#include <vector>

#include "tenon/support/similar_name.h"
#include "tenon/tir/walk.h"
#include "tir/name_table.h"

namespace tenon::tir {

namespace {

constexpr NameTable<PragmaKey, 16> kKeys = {{
    {PragmaKey::AutoUnrollMaxStep, "auto_unroll_max_step"},
    {PragmaKey::UnrollExplicit, "unroll_explicit"},
    {PragmaKey::ImportLlvm, "import_llvm"},
    {PragmaKey::ImportC, "import_c"},
    {PragmaKey::ParallelLaunchPoint, "parallel_launch_point"},
    {PragmaKey::ParallelStridePattern, "parallel_stride_pattern"},
    {PragmaKey::ParallelBarrierWhenFinish, "parallel_barrier_when_finish"},
    {PragmaKey::DebugSkipRegion, "debug_skip_region"},
    {PragmaKey::LoopPartitionHint, "loop_partition_hint"},
    {PragmaKey::TensorCore, "tensor_core"},
    {PragmaKey::BlocksPerMultiprocessor, "blocks_per_multiprocessor"},
    {PragmaKey::StreamStores, "stream_stores"},
    {PragmaKey::PrefetchPanels, "prefetch_panels"},
    {PragmaKey::DotProducts, "dot_products"},
    {PragmaKey::AllowReciprocals, "allow_reciprocals"},
    {PragmaKey::IndependentIterations, "independent_iterations"},
}};

}  // namespace

std::string_view to_string(PragmaKey key) {
  return name_in(kKeys, key, "a pragma key without a name");
}

std::optional<PragmaKey> find_pragma_key(std::string_view text) { return find_in(kKeys, text); }

std::string pragma_keys_text() {
  std::string text;
  for (const auto& [value, name] : kKeys) text.append(text.empty() ? "" : ", ").append(name);
  return text;
}

std::string similar_pragma_key(std::string_view text) {
  std::vector<std::string_view> names{"unroll", "vectorize"};
  for (const auto& [value, name] : kKeys) names.push_back(name);
  return did_you_mean(text, names);
}

bool is_pragma(const Attr& attr, PragmaKey key) {
  return attr.kind == AttrKind::Pragma && attr.key == to_string(key);
}

bool imports_source(const Stmt& body) {
  return any_node(body, [](const Attr& attr) {
    return is_pragma(attr, PragmaKey::ImportC) || is_pragma(attr, PragmaKey::ImportLlvm);
  });
}

}  // namespace tenon::tir
