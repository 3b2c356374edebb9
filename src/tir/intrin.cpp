#include "tenon/tir/intrin.h"

#include <array>

#include "tenon/support/error.h"
#include "tir/name_table.h"

namespace tenon::tir {

namespace {

struct Row {
  Intrin intrin;
  std::string_view name;
  Effect effect = Effect::Pure;
};

// The table of intrinsics, in the order of the enumeration.
constexpr std::array kRows = {
    Row{Intrin::exp, "exp"},
    Row{Intrin::exp2, "exp2"},
    Row{Intrin::exp10, "exp10"},
    Row{Intrin::log, "log"},
    Row{Intrin::log2, "log2"},
    Row{Intrin::log10, "log10"},
    Row{Intrin::log1p, "log1p"},
    Row{Intrin::sqrt, "sqrt"},
    Row{Intrin::rsqrt, "rsqrt"},
    Row{Intrin::pow, "pow"},
    Row{Intrin::sin, "sin"},
    Row{Intrin::cos, "cos"},
    Row{Intrin::tan, "tan"},
    Row{Intrin::sinh, "sinh"},
    Row{Intrin::cosh, "cosh"},
    Row{Intrin::tanh, "tanh"},
    Row{Intrin::asin, "asin"},
    Row{Intrin::acos, "acos"},
    Row{Intrin::atan, "atan"},
    Row{Intrin::atan2, "atan2"},
    Row{Intrin::asinh, "asinh"},
    Row{Intrin::acosh, "acosh"},
    Row{Intrin::atanh, "atanh"},
    Row{Intrin::erf, "erf"},
    Row{Intrin::sigmoid, "sigmoid"},
    Row{Intrin::floor, "floor"},
    Row{Intrin::ceil, "ceil"},
    Row{Intrin::round, "round"},
    Row{Intrin::trunc, "trunc"},
    Row{Intrin::nearbyint, "nearbyint"},
    Row{Intrin::fabs, "fabs"},
    Row{Intrin::fmod, "fmod"},
    Row{Intrin::fma, "fma"},
    Row{Intrin::hypot, "hypot"},
    Row{Intrin::copysign, "copysign"},
    Row{Intrin::nextafter, "nextafter"},
    Row{Intrin::ldexp, "ldexp"},
    Row{Intrin::isnan, "isnan"},
    Row{Intrin::isinf, "isinf"},
    Row{Intrin::isfinite, "isfinite"},
    Row{Intrin::popcount, "popcount"},
    Row{Intrin::clz, "clz"},
    Row{Intrin::shift_left, "shift_left"},
    Row{Intrin::shift_right, "shift_right"},
    Row{Intrin::bitwise_and, "bitwise_and"},
    Row{Intrin::bitwise_or, "bitwise_or"},
    Row{Intrin::bitwise_xor, "bitwise_xor"},
    Row{Intrin::bitwise_not, "bitwise_not"},
    Row{Intrin::q_multiply_shift, "q_multiply_shift"},
    Row{Intrin::dp4a, "dp4a"},
    Row{Intrin::if_then_else, "if_then_else"},
    Row{Intrin::likely, "likely"},
    Row{Intrin::reinterpret, "reinterpret"},
    Row{Intrin::address_of, "address_of"},
    Row{Intrin::tvm_access_ptr, "tvm_access_ptr"},
    Row{Intrin::type_annotation, "type_annotation"},
    Row{Intrin::handle_add_byte_offset, "handle_add_byte_offset"},
    Row{Intrin::isnullptr, "isnullptr"},
    Row{Intrin::tvm_stack_make_array, "tvm_stack_make_array", Effect::ReadState},
    Row{Intrin::tvm_stack_make_shape, "tvm_stack_make_shape", Effect::ReadState},
    Row{Intrin::tvm_call_packed, "tvm_call_packed", Effect::UpdateState},
    Row{Intrin::tvm_tuple, "tvm_tuple"},
    Row{Intrin::prefetch, "prefetch", Effect::UpdateState},
    Row{Intrin::tvm_thread_allreduce, "tvm_thread_allreduce", Effect::UpdateState},
    Row{Intrin::tvm_storage_sync, "tvm_storage_sync", Effect::UpdateState},
    Row{Intrin::tvm_warp_shuffle, "tvm_warp_shuffle", Effect::UpdateState},
    Row{Intrin::tvm_warp_shuffle_up, "tvm_warp_shuffle_up", Effect::UpdateState},
    Row{Intrin::tvm_warp_shuffle_down, "tvm_warp_shuffle_down", Effect::UpdateState},
    Row{Intrin::tvm_warp_activemask, "tvm_warp_activemask", Effect::UpdateState},
    Row{Intrin::thread_return, "thread_return", Effect::UpdateState},
    Row{Intrin::launch_kernel, "launch_kernel", Effect::UpdateState},
    Row{Intrin::ptx_cp_async, "ptx_cp_async", Effect::UpdateState},
    Row{Intrin::ptx_commit_group, "ptx_commit_group", Effect::UpdateState},
    Row{Intrin::ptx_wait_group, "ptx_wait_group", Effect::UpdateState},
    Row{Intrin::tvm_load_matrix_sync, "tvm_load_matrix_sync", Effect::UpdateState},
    Row{Intrin::tvm_store_matrix_sync, "tvm_store_matrix_sync", Effect::UpdateState},
    Row{Intrin::tvm_fill_fragment, "tvm_fill_fragment", Effect::UpdateState},
    Row{Intrin::tvm_mma_sync, "tvm_mma_sync", Effect::UpdateState},
    Row{Intrin::call_llvm_intrin, "call_llvm_intrin", Effect::UpdateState},
    Row{Intrin::call_llvm_pure_intrin, "call_llvm_pure_intrin"},
    Row{Intrin::ret, "ret", Effect::UpdateState},
};
static_assert(kRows.size() == static_cast<std::size_t>(Intrin::ret) + 1);
static_assert(is_in_order(kRows, &Row::intrin));

}  // namespace

std::string_view to_string(Intrin intrin) { return kRows[static_cast<std::size_t>(intrin)].name; }

std::optional<Intrin> find_intrin(std::string_view name) {
  for (const Row& row : kRows)
    if (row.name == name) return row.intrin;
  return std::nullopt;
}

Effect effect_of(Intrin intrin) { return kRows[static_cast<std::size_t>(intrin)].effect; }

}  // namespace tenon::tir
