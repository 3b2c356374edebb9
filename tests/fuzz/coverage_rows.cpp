#include "tests/fuzz/coverage_rows.h"

#include <initializer_list>

namespace tenon::fuzz {

namespace {

using Rows = std::vector<CoverageTable::Row>;

struct Group {
  const char* what;
  std::initializer_list<const char*> options = {""};
};

Rows rows_of(std::initializer_list<Group> groups) {
  Rows rows;
  for (const Group& group : groups)
    for (const char* option : group.options) rows.push_back({group.what, option});
  return rows;
}

}  // namespace

std::vector<std::string> kinds_of_stages() {
  return {"input",    "element", "several", "reduction", "tuple", "copy",
          "factored", "scan",    "extern",  "region",    "group"};
}

std::vector<std::string> types_of_elements() {
  return {"int8",   "int16", "int32",   "int64",   "uint8",   "uint16",  "uint32",
          "uint64", "bool",  "float16", "float32", "float64", "bfloat16"};
}

/// The option "" is for primitives of which there is one kind only.
Rows rows_of_primitives() {
  return rows_of({
      {"split", {"by a constant", "by 2^15 or more", "by a size", "of a reduction"}},
      {"split_by_nparts",
       {"into a constant", "into 2^15 or more", "into a size", "of a reduction"}},
      {"fuse",
       {"nothing", "one loop", "two loops", "three or more", "of a reduction",
        "data and reduction"}},
      {"tile", {"by constants", "by a size"}},
      {"reorder", {"some loops", "all loops"}},
      {"vectorize", {"data", "a reduction"}},
      {"unroll", {"data", "a reduction"}},
      {"parallel", {"data", "a reduction"}},
      {"bind",
       {"blockIdx.x", "blockIdx.y", "blockIdx.z", "threadIdx.x", "threadIdx.y", "threadIdx.z",
        "vthread", "cthread", "a thread of a range", "a reduction"}},
      {"pragma",
       {"unroll", "vectorize", "auto_unroll_max_step", "unroll_explicit", "import_c",
        "parallel_launch_point", "parallel_stride_pattern", "parallel_barrier_when_finish",
        "loop_partition_hint", "blocks_per_multiprocessor", "stream_stores", "allow_reciprocals",
        "of no meaning"}},
      {"prefetch", {"of an input", "of a stage", "by a size"}},
      {"tensorize",
       {"body alone", "body, reset and update", "reset and update", "strides declared"}},
      {"compute_at", {"at a reader", "at another stage"}},
      {"compute_inline"},
      {"compute_root"},
      {"set_scope", {"global", "shared", "shared.dyn", "warp", "local"}},
      {"set_store_predicate", {"of data", "of a thread"}},
      {"env_threads", {"one", "several"}},
      {"storage_align"},
      {"double_buffer"},
      {"rolling_buffer"},
      {"round_up"},
      {"autotune_loops"},
      {"transform_layout", {"plain", "padded", "with a separator"}},
      {"cache_read",
       {"global", "shared", "shared.dyn", "warp", "local", "one reader", "several readers",
        "all readers"}},
      {"cache_write", {"global", "shared", "local"}},
      {"rfactor", {"first", "last", "in between"}},
      {"create_group", {"without inputs", "with inputs", "of several outputs"}},
      {"normalize"},
      {"copy"},
  });
}

Rows rows_of_operations() {
  return rows_of({{"input"},
                  {"element"},
                  {"several outputs"},
                  {"function such as exp"},
                  {"a special constant"},
                  {"a constant of many digits"},
                  {"a conversion"},
                  {"the same bits"},
                  {"+"},
                  {"-"},
                  {"*"},
                  {"/"},
                  {"floordiv"},
                  {"floormod"},
                  {"truncdiv"},
                  {"truncmod"},
                  {"a protected division"},
                  {"max and min"},
                  {"negation"},
                  {"abs"},
                  {"sqrt"},
                  {"fma"},
                  {"copysign"},
                  {"floor and such"},
                  {"shift left"},
                  {"shift right"},
                  {"a shift by data"},
                  {"bits"},
                  {"select"},
                  {"if_then_else"},
                  {"comparison"},
                  {"!"},
                  {"&&"},
                  {"||"},
                  {"a division protected by && or ||"},
                  {"isnan and such"},
                  {"sum"},
                  {"prod"},
                  {"max"},
                  {"min"},
                  {"all"},
                  {"any"},
                  {"sum or max by an axis"},
                  {"reduction with an init"},
                  {"extreme and its place"},
                  {"extreme of unique keys"},
                  {"moments"},
                  {"complex product"},
                  {"range"},
                  {"saturating sum"},
                  {"difference"},
                  {"last of the marked"},
                  {"composition of maps"},
                  {"sum of zeros"},
                  {"scan"},
                  {"scan of two states"},
                  {"extern"},
                  {"extern of two outputs"},
                  {"extern that sums"},
                  {"region"},
                  {"region of pairs of rows"}});
}

Rows rows_of_features() {
  return rows_of({
      {"dimensions", {"0", "1", "2", "3", "4"}},
      {"extent",
       {"0", "1", "a prime", "another constant", "n", "a multiple of n", "n, which may be 0",
        "of int64"}},
      {"end of a dimension", {"2^15", "2^16", "2^20", "2^30", "2^31", "2^32"}},
      {"begin of a reduction",
       {"0", "1 to 3", "-3 to -1", "around 2^15", "around 2^16", "near the greatest int32",
        "the least int32", "beyond int32"}},
      {"reduction over", {"one axis", "two axes", "three axes", "nothing", "n", "n - 9"}},
      {"condition of a reduction", {"none", "of indices", "of data"}},
      {"index",
       {"constant",
        "an axis and an offset",
        "a multiple",
        "reversed",
        "divided",
        "a remainder",
        "clamped",
        "two axes as one",
        "two axes divided",
        "a sum of two axes",
        "a remainder of two axes",
        "a multiple that wraps",
        "read from a tensor",
        "an extreme of multiples",
        "a choice of multiples",
        "a choice of multiples, divided",
        "a choice of multiples, remainder",
        "a neighbour, guarded",
        "a multiple, padded",
        "counted down, guarded",
        "both neighbours, guarded"}},
      {"names", {"plain", "odd"}},
      {"data", {"small", "overflowing", "special"}},
      {"read",
       {"an axis as data", "narrow data shifted", "backwards", "strided", "clamped",
        "wrapped around", "guarded by if_then_else", "guarded by select", "protected by &&",
        "protected by ||"}},
      {"guarded index",
       {"before", "after", "strided", "backwards", "a product of axes", "of data"}},
      {"steps of a scan", {"none", "one", "several", "n - 1", "after two first states"}},
      {"states of a scan",
       {"later steps of the first", "later steps of the second", "the first alone",
        "the second alone"}},
      {"graph", {"softmax", "layer norm", "sums of rows", "product", "stencil", "distant part"}},
      {"together",
       {"rounds of split and fuse", "a stage at a stretch of a fused loop",
        "a layout and a reader's loop", "memory of two scopes at a loop",
        "shared memory from shared memory"}},
      {"nest",
       {"of two blocks", "of two depths", "of a block before loops", "of nested blocks",
        "in a branch", "in a branch of data", "in a block with a matched buffer", "with a let",
        "that keeps values"}},
      {"block",
       {"a store", "an update in place", "a reduction with an init", "an init that reads",
        "another reduction", "a branch inside", "a matched buffer inside", "a loop inside"}},
      {"loop",
       {"triangular", "with a range of data", "of no iterations", "of one iteration", "from 1 to 3",
        "near the end of int32", "too long to run"}},
      {"iterator",
       {"of two loops", "divided", "counting down", "of data", "from 1 to 3",
        "of a larger domain"}},
      {"predicate",
       {"a bound", "a hole", "of two loops", "of truth values", "of repeated writes", "of data"}},
      {"element", {"of a neighbour, guarded", "of an earlier iteration", "at a position of data"}},
      {"builder",
       {"serial loop", "parallel loop", "vectorized loop", "unrolled loop", "plain store",
        "guarded store", "update in place", "carried dependence", "exchange of two elements",
        "allocated memory", "variable bound twice", "index of a product", "index of data",
        "index of written data", "range of data", "condition of data", "condition of written data",
        "condition that tells tasks apart"}},
      {"stages", {"1", "2 to 9", "10 to 40"}},
      {"array", {"compact", "rows apart"}},
      {"threads", {"none", "of a device"}},
      {"target", {"this processor", "x86-64", "x86-64-v2", "x86-64-v3"}},
      {"opt_level", {"0", "1", "2", "3"}},
      {"build",
       {"fast_math", "autotune_loops", "disable_storage_rewrite", "disable_cse",
        "disable_vectorize", "noalias off", "vector registers", "double_buffer_split",
        "auto_max_step", "explicit_unroll off", "bounds exact", "instrument_bounds",
        "check_intrinsics", "argument_alignment", "partition.constant_loops off"}},
  });
}

}  // namespace tenon::fuzz
