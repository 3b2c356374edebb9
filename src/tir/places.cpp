#include "tenon/tir/places.h"

namespace tenon::tir {

bool is_place(const Call& call, std::size_t argument) {
  if (call.is(Intrin::address_of)) return argument == 0;
  if (!call.is(Intrin::tvm_thread_allreduce)) return false;
  // The arguments of tvm_thread_allreduce are (count, values..., condition, results..., thread
  // variables...).
  const auto count = static_cast<std::size_t>(constant_int(call.args[0]).value_or(0));
  const std::size_t results = count + 2;
  return argument >= results && argument < results + count;
}

}  // namespace tenon::tir
