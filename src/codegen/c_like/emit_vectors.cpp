// Vectors in kernels: contiguous elements are loaded and stored by vector types of the language;
// arithmetic is by lanes, as on the device.
#include <numeric>

#include "codegen/c_like/function_emitter.h"
#include "tenon/tir/ops.h"
#include "tenon/tir/walk.h"

namespace tenon::codegen {

using namespace tir;

namespace {

/// Returns the position of the first element if the elements are contiguous: a ramp of stride 1 in
/// a buffer of scalars, or one element of a buffer of vectors.
std::optional<Expr> first_element(const Buffer& buffer, const Expr& position) {
  if (!buffer->dtype.is_scalar()) {
    if (!position.dtype().is_scalar()) return std::nullopt;
    return position * make_int(position.dtype(), buffer->dtype.lanes);
  }
  const Ramp* ramp = position.as<Ramp>();
  return ramp && is_one(ramp->stride) ? std::optional(ramp->base) : std::nullopt;
}

bool is_contiguous_load(const Expr& e) {
  const Load* load = e.as<Load>();
  return load && first_element(load->buffer, flat_index(load->buffer, load->indices));
}

/// Collects loads that are evaluated in every lane and do not use variables that the expression
/// binds.
void collect_loads(const Expr& e, std::vector<Expr>& loads) {
  const Binary* binary = e.as<Binary>();
  const bool is_logic = binary && (binary->op == BinaryOp::And || binary->op == BinaryOp::Or);
  if (is_logic || e.as<LetExpr>() || e.as<Select>() || e.as<Shuffle>() ||
      as_call(e, Intrin::if_then_else))
    return;
  if (is_contiguous_load(e)) loads.push_back(e);
  for_each_child(e, [&](const Expr& child) { collect_loads(child, loads); });
}

struct VectorParts {
  std::string type;
  int lanes;
  std::string address = {};
  std::string value = {};
};

/// Returns the template with its placeholders replaced.
std::string filled(std::string_view words, const VectorParts& parts) {
  std::string text(words);
  replace_all(text, "$T", parts.type);
  replace_all(text, "$N", std::to_string(parts.lanes));
  replace_all(text, "$P", parts.address);
  replace_all(text, "$V", parts.value);
  return text;
}

}  // namespace

/// Returns the address of the first lane and requests the alignment that the language needs.
std::string CFunctionEmitter::vector_address(const Buffer& buffer, const Expr& base) {
  if (module_.dialect().device->vectors->needs_alignment) align(buffer->data, 16);
  const Text first = pointer(buffer->data, buffer->dtype.element());
  return is_zero(base) ? first.text : infix(first, "+", index(base), Level::Sum).text;
}

/// Returns a provable divisor of the index, from the structure of the expression.
std::int64_t CFunctionEmitter::known_factor(const Expr& e) const {
  // The magnitude of the minimum does not fit in int64.
  if (const auto value = constant_int(e))
    return *value == std::numeric_limits<std::int64_t>::min() ? std::int64_t{1} << 62
                                                              : std::abs(*value);
  if (const Cast* n = e.as<Cast>()) return known_factor(n->value);
  if (e.as<VarNode>()) {
    const auto found = variables_.find(&e.node());
    return found == variables_.end() ? 1 : found->second.factor;
  }
  const Binary* n = e.as<Binary>();
  if (!n) return 1;
  const std::int64_t a = known_factor(n->a), b = known_factor(n->b);
  // Divisors larger than any vector are not multiplied further, to avoid overflow.
  constexpr std::int64_t kMax = 1 << 20;
  if (n->op == BinaryOp::Mul) return a >= kMax || b >= kMax ? std::max(a, b) : a * b;
  if (n->op == BinaryOp::Add || n->op == BinaryOp::Sub) return std::gcd(a, b);
  return 1;
}

/// Returns the name of the vector type, "float4". Returns "" if the type does not exist or the
/// address is not provably aligned for it.
std::string CFunctionEmitter::vector_in_memory(DataType element, int lanes,
                                               const Expr& base) const {
  const VectorWords* words = module_.dialect().device->vectors;
  const bool is_number = !element.is_bool() && element.bits >= 32 && !element.is_handle();
  if (!words || !is_number || (lanes != 2 && lanes != 4 && lanes != 8 && lanes != 16)) return "";
  if (lanes * element.bytes() > words->most_bytes) return "";
  if (words->needs_alignment && known_factor(base) % lanes != 0) return "";
  const std::string_view name =
      words->names[element.is_floating() ? 2 : element.is_uint()][element.bits == 64];
  return std::string(name) + std::to_string(lanes);
}

/// Emits a copy of elements that have no vector type as a copy of their bytes. Returns false if the
/// store is not a copy.
bool CFunctionEmitter::copy_vector(const Store& n, const Expr& to) {
  const VectorWords* words = module_.dialect().device->vectors;
  const DataType element = n.buffer->dtype.element();
  if (!words || !words->needs_alignment || element.bits >= 32 || !is_contiguous_load(n.value))
    return false;
  const Load& load = *n.value.as<Load>();
  if (load.buffer->dtype.element() != element) return false;
  const Expr from = *first_element(load.buffer, flat_index(load.buffer, load.indices));
  const int bytes = n.value.dtype().lanes * element.bytes();
  if (bytes != 4 && bytes != 8 && bytes != 16) return false;
  for (const Expr* base : {&to, &from})
    if (known_factor(*base) * element.bytes() % bytes != 0) return false;
  const std::string type = bytes == 4 ? "unsigned int" : "uint" + std::to_string(bytes / 4);
  VectorParts parts{.type = type, .lanes = bytes / 4};
  parts.address = vector_address(load.buffer, from);
  parts.value = filled(words->load, parts);
  parts.address = vector_address(n.buffer, to);
  out_.add(filled(words->store, parts) + ";");
  return true;
}

/// Emits one statement for all lanes. Returns false if the store must be emitted by lanes.
bool CFunctionEmitter::store_vector(const Store& n, const Expr& position) {
  const int lanes = n.value.dtype().lanes;
  const std::optional<Expr> first = first_element(n.buffer, position);
  if (!is_kernel() || !first) return false;
  if (copy_vector(n, *first)) return true;
  const DataType element = n.buffer->dtype.element();
  const std::string type = vector_in_memory(element, lanes, *first);
  if (type.empty()) return false;
  block("", [&] {
    std::vector<Expr> loads;
    collect_loads(n.value, loads);
    for (const Expr& e : loads) load_vector(e);
    const VectorWords& words = *module_.dialect().device->vectors;
    std::string value;
    const auto whole = vector_loads_.find(&n.value.node());
    if (whole != vector_loads_.end()) {
      value = whole->second;
    } else {
      for (int lane = 0; lane < lanes; ++lane)
        value += (lane ? ", " : "") + expr(n.value, Lane::at(lane)).text;
      value = filled(words.construct, {.type = type, .lanes = lanes, .value = value});
    }
    out_.add(filled(words.store, {.type = type,
                                  .lanes = lanes,
                                  .address = vector_address(n.buffer, *first),
                                  .value = value}) +
             ";");
    vector_loads_.clear();
  });
  return true;
}

/// Returns four 8-bit integers as one 32-bit integer, loaded together if they are contiguous.
Text CFunctionEmitter::four_bytes(const Expr& e) {
  if (is_contiguous_load(e)) {
    const Load& load = *e.as<Load>();
    const Expr base = *first_element(load.buffer, flat_index(load.buffer, load.indices));
    if (known_factor(base) % 4 == 0) {
      align(load.buffer->data, 4);
      const Text first = pointer(load.buffer->data, load.buffer->dtype.element());
      const Text at = is_zero(base) ? first : infix(first, "+", index(base), Level::Sum);
      return {"*(const int*)" + at.within(Level::Unary), Level::Unary};
    }
  }
  std::vector<Text> bytes;
  for (int lane = 0; lane < 4; ++lane) bytes.push_back(expr(e, Lane::at(lane)));
  return call(module_.helpers().use(Helper::FourBytes), bytes);
}

/// Emits dp4a(a, b, c): by CUDA's function if both factors are signed, otherwise by a PTX
/// instruction.
Text CFunctionEmitter::dot_product(const Call& n) {
  const DataType a = n.args[0].dtype(), b = n.args[1].dtype(), t = n.args[2].dtype();
  const Text x = four_bytes(n.args[0]), y = four_bytes(n.args[1]), sum = expr(n.args[2]);
  if (!a.is_uint() && !b.is_uint()) {
    const Text result = call("__dp4a", {x, y, t.is_uint() ? cast_to("int", sum) : sum});
    return t.is_uint() ? cast_to("unsigned int", result) : result;
  }
  const std::string of_a = a.is_uint() ? "u32" : "s32", of_b = b.is_uint() ? "u32" : "s32";
  const std::string name = "dp4a_" + of_a + "_" + of_b;
  module_.helpers().use_text(name, "int " + name +
                                       "(int a, int b, int c) {\n  int sum;\n  asm(\"dp4a." + of_a +
                                       "." + of_b +
                                       " %0, %1, %2, %3;\" : \"=r\"(sum) : \"r\"(a), \"r\"(b), "
                                       "\"r\"(c));\n  return sum;\n}\n");
  return call(name, {x, y, sum});
}

void CFunctionEmitter::load_vector(const Expr& e) {
  const Load& n = *e.as<Load>();
  const Expr position = flat_index(n.buffer, n.indices);
  const Expr base = *first_element(n.buffer, position);
  const std::string type = vector_in_memory(n.buffer->dtype.element(), e.dtype().lanes, base);
  if (type.empty() || vector_loads_.contains(&e.node())) return;
  const std::string name = names_.take(n.buffer->name + "_lanes");
  out_.add(
      "const " + type + " " + name + " = " +
      filled(module_.dialect().device->vectors->load,
             {.type = type, .lanes = e.dtype().lanes, .address = vector_address(n.buffer, base)}) +
      ";");
  vector_loads_.emplace(&e.node(), name);
}

}  // namespace tenon::codegen
