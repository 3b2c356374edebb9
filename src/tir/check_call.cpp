#include "tir/check_call.h"

#include <algorithm>

#include "tenon/tir/launch.h"
#include "tenon/tir/print.h"

namespace tenon::tir {

namespace {

/// Rules for the types of a call's arguments and result.
enum class Typing : std::uint8_t {
  Floats,         // all of one floating type
  FloatAndCount,  // a float and then an integer
  FloatTest,      // bool result of a float
  Integers,       // all of one integer type
  BitCount,       // integer result of an integer
  Choice,         // bool (scalar or per lane), and two values of one type
  Truth,          // all bool
  SameWidth,      // another type of the same width
  DotProducts,    // two vectors of 8-bit integers or bfloat16, and 32-bit accumulators
  Launch,         // a string, seven integers, and any further arguments
  Any
};

struct Shape {
  std::size_t least;
  std::optional<std::size_t> most;
  Typing typing = Typing::Any;
};

constexpr Shape exactly(std::size_t count, Typing typing = Typing::Any) {
  return {count, count, typing};
}
constexpr Shape at_least(std::size_t count) { return {count, std::nullopt, Typing::Any}; }

Shape shape_of(Intrin intrin) {
  using I = Intrin;
  auto among = [&](std::initializer_list<Intrin> list) {
    return std::find(list.begin(), list.end(), intrin) != list.end();
  };
  if (among({I::pow, I::atan2, I::fmod, I::hypot, I::copysign, I::nextafter}))
    return exactly(2, Typing::Floats);
  if (among({I::fma})) return exactly(3, Typing::Floats);
  if (among({I::ldexp})) return exactly(2, Typing::FloatAndCount);
  if (among({I::isnan, I::isinf, I::isfinite})) return exactly(1, Typing::FloatTest);
  if (among({I::popcount, I::clz})) return exactly(1, Typing::BitCount);
  if (among({I::shift_left, I::shift_right, I::bitwise_and, I::bitwise_or, I::bitwise_xor}))
    return exactly(2, Typing::Integers);
  if (among({I::bitwise_not})) return exactly(1, Typing::Integers);
  if (among({I::q_multiply_shift})) return exactly(4, Typing::Integers);
  if (among({I::dp4a})) return exactly(3, Typing::DotProducts);
  if (among({I::if_then_else})) return exactly(3, Typing::Choice);
  if (among({I::likely})) return exactly(1, Typing::Truth);
  if (among({I::reinterpret})) return exactly(1, Typing::SameWidth);
  if (among({I::type_annotation, I::tvm_warp_activemask, I::thread_return, I::ptx_commit_group}))
    return exactly(0);
  if (among({I::address_of, I::isnullptr, I::ptx_wait_group})) return exactly(1);
  if (among({I::handle_add_byte_offset})) return exactly(2);
  if (among({I::ptx_cp_async})) return exactly(3);
  if (among({I::tvm_fill_fragment})) return exactly(6);
  if (among({I::tvm_load_matrix_sync, I::tvm_store_matrix_sync, I::tvm_mma_sync}))
    return exactly(8);
  if (among({I::prefetch})) return exactly(4);
  if (among({I::tvm_access_ptr, I::tvm_warp_shuffle, I::tvm_warp_shuffle_up,
             I::tvm_warp_shuffle_down}))
    return exactly(5);
  if (among({I::tvm_stack_make_array})) return exactly(6);
  if (among({I::tvm_stack_make_shape, I::tvm_tuple})) return at_least(0);
  if (among({I::tvm_call_packed, I::tvm_storage_sync})) return at_least(1);
  if (among({I::call_llvm_intrin, I::call_llvm_pure_intrin})) return at_least(2);
  if (among({I::tvm_thread_allreduce})) return at_least(4);
  if (among({I::launch_kernel})) return {kLaunchArguments, std::nullopt, Typing::Launch};
  if (among({I::ret})) return {0, 1, Typing::Any};
  return exactly(1, Typing::Floats);  // all others are math functions of one argument
}

bool fits(Typing typing, DataType type, const std::vector<Expr>& args) {
  const DataType first = args.empty() ? type : args.front().dtype();
  auto all_are = [&](DataType wanted) {
    for (const Expr& e : args)
      if (e.dtype() != wanted) return false;
    return true;
  };
  switch (typing) {
    case Typing::Floats:
      return type.is_floating() && all_are(type);
    case Typing::FloatAndCount:
      return type.is_floating() && first == type && args[1].dtype().is_integral() &&
             args[1].dtype().lanes == type.lanes;
    case Typing::FloatTest:
      return first.is_floating() && type == Bool(first.lanes);
    case Typing::Integers:
      return type.is_integral() && all_are(type);
    case Typing::BitCount:
      return first.is_integral() && !first.is_bool() && type.is_integral() &&
             type.lanes == first.lanes;
    case Typing::Choice:
      return (first == Bool() || first == Bool(type.lanes)) && args[1].dtype() == type &&
             args[2].dtype() == type;
    case Typing::Truth:
      return type.is_bool() && all_are(type);
    case Typing::SameWidth:
      return type.bits * type.lanes == first.bits * first.lanes;
    case Typing::DotProducts: {
      const DataType second = args[1].dtype(), element = first.element();
      if (args[2].dtype() != type || first.bits * first.lanes != type.bits * type.lanes)
        return false;
      // The element is bfloat16 or its bits.
      if (type.is_float())
        return type.bits == 32 && second == first && (element == BFloat(16) || element == UInt(16));
      const auto is_byte = [](DataType t) { return t.is_integral() && t.bits == 8; };
      return type.is_integral() && type.bits == 32 && is_byte(first) && is_byte(second) &&
             second.lanes == first.lanes;
    }
    case Typing::Launch:
      return args[kLaunchName].as<StringImm>() &&
             std::all_of(args.begin() + kLaunchExtents, args.begin() + kLaunchArguments,
                         [](const Expr& extent) {
                           return extent.dtype().is_integral() && extent.dtype().is_scalar();
                         });
    case Typing::Any:
      return true;
  }
  internal_error("a typing of no known meaning");
}

std::string_view text_of(Typing typing) {
  switch (typing) {
    case Typing::Floats:
      return "is on floats, of one type with its value";
    case Typing::FloatAndCount:
      return "is on a float, of one type with its value, and an integer";
    case Typing::FloatTest:
      return "is on floats and gives bool";
    case Typing::Integers:
      return "is on integers, of one type with its value";
    case Typing::BitCount:
      return "is on integers and gives an integer";
    case Typing::Choice:
      return "is on a scalar bool and two values of its own type";
    case Typing::Truth:
      return "is on bool and gives bool";
    case Typing::SameWidth:
      return "gives a type of the same width";
    case Typing::DotProducts:
      return "is on two vectors of integers of 8 bits, four for each sum, or of bfloat16, two for "
             "each, and sums of 32 bits, of one type with its value";
    case Typing::Launch:
      return "is on a kernel's name, six extents and a number of bytes, and the kernel's arguments";
    case Typing::Any:
      return "is on anything";
  }
  internal_error("a typing without a text");
}

}  // namespace

void check_intrinsic_call(DataType type, Intrin intrin, const std::vector<Expr>& args,
                          const SourceLocation& where) {
  const std::string name = "call_intrin of `" + std::string(to_string(intrin)) + "`";
  const Shape shape = shape_of(intrin);
  if (args.size() < shape.least || args.size() > shape.most.value_or(args.size())) {
    const bool is_fixed = shape.most == shape.least;
    throw TypeError(name + ": expected " +
                        (is_fixed     ? ""
                         : shape.most ? "at most "
                                      : "at least ") +
                        std::to_string(shape.most.value_or(shape.least)) + " arguments, got " +
                        std::to_string(args.size()),
                    where);
  }
  if (fits(shape.typing, type, args)) return;
  std::string list;
  for (const Expr& e : args) {
    if (!list.empty()) list += ", ";
    list += print_expr(e);
    list += " of type ";
    list += e.dtype().str();
  }
  throw TypeError(name + " with a value of type " + type.str() + ": it " +
                      std::string(text_of(shape.typing)) + ", got " + list,
                  where);
}

}  // namespace tenon::tir
