#include "tenon/s_tir/tensor_intrin.h"

#include <map>
#include <mutex>
#include <utility>

#include "tenon/support/error.h"
#include "tenon/tir/block.h"

namespace tenon::s_tir {

using namespace tir;

namespace {

/// Returns the registered intrinsics, locked for as long as the result exists.
std::pair<std::unique_lock<std::mutex>, std::map<std::string, TensorIntrin>&> locked_intrins() {
  static std::mutex mutex;
  static std::map<std::string, TensorIntrin> intrins;
  return {std::unique_lock(mutex), intrins};
}

std::string shape_text(const Buffer& buffer) {
  std::string text;
  for (const Expr& size : buffer->shape)
    text += (text.empty() ? "" : ", ") + std::to_string(constant_int(size).value_or(-1));
  return "[" + text + "] of " + buffer->dtype.str();
}

}  // namespace

void register_tensor_intrin(const Name& name, PrimFunc description, PrimFunc implementation,
                            const RegisterOptions& options, SourceLocation where) {
  const auto wrong = [&](const std::string& what) {
    throw TypeError("tensor intrinsic `" + std::string(name) + "`: " + what, where);
  };
  for (const PrimFunc* func : {&description, &implementation}) {
    const std::string role = func == &description ? "the description" : "the implementation";
    if (func->form != Form::Blocks) wrong(role + " is not a block program");
    if (func->params.size() != func->buffers.size())
      wrong(role + " has a parameter that is not a buffer");
    for (const BufferParam& param : func->buffers)
      for (const Expr& size : param.buffer->shape)
        if (!constant_int(size))
          wrong(role + ": the shape of buffer `" + param.buffer->name + "` is not constant");
  }
  if (description.buffers.size() != implementation.buffers.size())
    wrong("the description has " + std::to_string(description.buffers.size()) +
          " buffers, and the implementation " + std::to_string(implementation.buffers.size()));
  for (std::size_t n = 0; n < description.buffers.size(); ++n) {
    const Buffer &first = description.buffers[n].buffer, &second = implementation.buffers[n].buffer;
    if (shape_text(first) != shape_text(second) || first.scope() != second.scope())
      wrong("parameter " + std::to_string(n) + " is `" + first->name + "`, " + shape_text(first) +
            ", in the description, and `" + second->name + "`, " + shape_text(second) +
            ", in the implementation");
  }
  const auto [lock, intrins] = locked_intrins();
  if (!options.override_existing && intrins.contains(name)) wrong("the name is taken");
  intrins.insert_or_assign(name, TensorIntrin{std::move(description), std::move(implementation)});
}

std::optional<TensorIntrin> find_tensor_intrin(const std::string& name) {
  const auto [lock, intrins] = locked_intrins();
  const auto entry = intrins.find(name);
  return entry == intrins.end() ? std::nullopt : std::optional<TensorIntrin>(entry->second);
}

std::vector<std::string> tensor_intrin_names() {
  const auto [lock, intrins] = locked_intrins();
  std::vector<std::string> names;
  for (const auto& [name, intrin] : intrins) names.push_back(name);
  return names;
}

}  // namespace tenon::s_tir
