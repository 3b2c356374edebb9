#include "tenon/interp/evaluate.h"

#include "interp/machine.h"
#include "tenon/tir/nested_threads.h"
#include "tenon/tir/print.h"

namespace tenon::interp {

std::int64_t Storage::copy_of(const Thread& thread) const {
  switch (scope) {
    case StorageScope::Local:
      return thread.owner_at(depth);
    case StorageScope::Warp:
      return row_along_x(thread);
    case StorageScope::WmmaMatrixA:
    case StorageScope::WmmaMatrixB:
    case StorageScope::WmmaAccumulator:
      return warp_along_x(thread);
    case StorageScope::Global:
    case StorageScope::Shared:
    case StorageScope::SharedDyn:
      return 0;
  }
  internal_error("a storage scope without a meaning");
}

const std::shared_ptr<Memory>& Storage::of(const Thread& thread) {
  auto& memory = instances[copy_of(thread)];
  if (!memory) memory = Memory::allocate(bytes);
  return memory;
}

const Layout& Region::of(const Thread& thread) const {
  for (const auto& [id, layout] : layouts)
    if (id == thread.id_at(depth)) return layout;
  return layouts.front().second;
}

// ---- arguments ----------------------------------------------------------------------------------

void Machine::run(const PrimFunc& func, std::span<const HostValue> args) {
  if (args.size() != func.params.size())
    throw RuntimeError("`" + func.attrs.global_symbol + "` takes " +
                       std::to_string(func.params.size()) + " arguments, got " +
                       std::to_string(args.size()));
  for (std::size_t n = 0; n < args.size(); ++n) {
    const BufferParam* param = func.buffer_of(func.params[n]);
    const HostArray* array = std::get_if<HostArray>(&args[n]);
    if ((param != nullptr) != (array != nullptr))
      throw RuntimeError("argument " + std::to_string(n) + " `" + func.params[n].name() + "` of `" +
                         func.attrs.global_symbol + "` must be " +
                         (param ? "an array" : "a number"));
    if (param) {
      bind_array(*param, *array);
    } else if (const auto* whole = std::get_if<std::int64_t>(&args[n])) {
      set_value(func.params[n], func.params[n].dtype().is_floating()
                                    ? floating(static_cast<double>(*whole))
                                    : integer(*whole));
    } else {
      set_value(func.params[n], floating(std::get<double>(args[n])));
    }
  }
  exec(func.form == Form::Blocks ? serialize_nested_threads(func.body, /*is_global_shared=*/true)
                                 : func.body,
       {0});
}

void Machine::bind_size(const Expr& declared, std::int64_t given, const std::string& what) {
  if (declared.as<VarNode>() && !threads_.front().values.contains(&declared.node()))
    return set_value(Var::of(declared), integer(given));
  // A size that depends on variables of later arguments is not checked.
  for (const Var& v : free_vars(declared))
    if (!threads_.front().values.contains(&v.node())) return;
  const std::int64_t expected = value_of(declared).integer();
  if (expected != given)
    throw RuntimeError(what + " must be " + std::to_string(expected) + ", got " +
                       std::to_string(given));
}

void Machine::bind_array(const BufferParam& param, const HostArray& array) {
  const Buffer& declared = param.declared;
  const std::string name = "argument `" + declared->name + "`";
  if (array.dtype != declared->dtype)
    throw RuntimeError(name + " must be of " + declared->dtype.str() + ", got " +
                       array.dtype.str());
  if (array.shape.size() != declared->shape.size())
    throw RuntimeError(name + " must have " + std::to_string(declared->shape.size()) +
                       " dimensions, got " + std::to_string(array.shape.size()));
  Layout layout;
  layout.extents = array.shape;
  layout.mins.assign(array.shape.size(), 0);
  layout.strides = array.strides;
  if (layout.strides.empty()) layout.make_row_major();
  for (std::size_t d = 0; d < array.shape.size(); ++d)
    bind_size(declared->shape[d], array.shape[d], name + ": extent " + std::to_string(d));
  for (std::size_t d = 0; d < declared->strides.size(); ++d)
    bind_size(declared->strides[d], layout.strides[d], name + ": stride " + std::to_string(d));
  bind_size(declared->elem_offset, 0, name + ": offset");

  std::int64_t last = 0;
  bool is_empty = false;
  for (std::size_t d = 0; d < array.shape.size(); ++d) {
    last += (array.shape[d] - 1) * layout.strides[d];
    is_empty |= array.shape[d] == 0;
  }
  auto storage = std::make_shared<Storage>();
  const std::int64_t bytes = is_empty ? 0 : (last + 1) * array.dtype.bytes();
  storage->bytes = bytes;
  storage->is_shared = true;
  storage->instances.emplace(0, Memory::borrow(array.data, bytes));
  storages_.insert_or_assign(&declared->data.node(), storage);
  storages_.insert_or_assign(&param.buffer->data.node(), storage);
  if (declared.same_as(param.buffer))
    regions_.insert_or_assign(declared.get(),
                              Region{.storage = storage, .layouts = {{0, std::move(layout)}}});
}

}  // namespace tenon::interp

namespace tenon::tir {

void evaluate(const PrimFunc& func, std::span<const HostValue> args,
              const EvaluateOptions& options) {
  interp::Machine machine(options);
  machine.run(func, args);
}

std::variant<std::int64_t, double> evaluate(const Expr& e) {
  const EvaluateOptions options;
  const interp::Scalar value = interp::Machine(options).value_of(e)[0];
  if (e.dtype().is_floating()) return value.d;
  return value.i;
}

std::int64_t evaluate_int(const Expr& e, const std::function<std::int64_t(const Var&)>& value_of) {
  const EvaluateOptions options;
  interp::Machine machine(options);
  for (const Var& v : free_vars(e)) machine.set_value(v, interp::integer(value_of(v)));
  return machine.value_of(e).integer();
}

}  // namespace tenon::tir
