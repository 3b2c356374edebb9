#include "tenon/tir/type.h"

#include <array>
#include <utility>

#include "tenon/tir/expr.h"
#include "tenon/tir/no_such_name.h"

namespace tenon::tir {

namespace {

constexpr std::array<std::pair<StorageScope, std::string_view>, 8> kScopes = {{
    {StorageScope::Global, "global"},
    {StorageScope::Shared, "shared"},
    {StorageScope::SharedDyn, "shared.dyn"},
    {StorageScope::Warp, "warp"},
    {StorageScope::Local, "local"},
    {StorageScope::WmmaMatrixA, "wmma.matrix_a"},
    {StorageScope::WmmaMatrixB, "wmma.matrix_b"},
    {StorageScope::WmmaAccumulator, "wmma.accumulator"},
}};

constexpr std::array<std::pair<ThreadTag::Level, std::string_view>, 4> kLevels = {{
    {ThreadTag::Level::BlockIdx, "blockIdx"},
    {ThreadTag::Level::ThreadIdx, "threadIdx"},
    {ThreadTag::Level::VThread, "vthread"},
    {ThreadTag::Level::CThread, "cthread"},
}};

std::string_view level_name(ThreadTag::Level level) {
  for (const auto& [value, name] : kLevels)
    if (value == level) return name;
  internal_error("a thread level without a name");
}

}  // namespace

std::string_view to_string(StorageScope scope) {
  for (const auto& [value, name] : kScopes)
    if (value == scope) return name;
  internal_error("a storage scope without a name");
}

std::optional<StorageScope> find_storage_scope(std::string_view text) {
  for (const auto& [value, name] : kScopes)
    if (name == text) return value;
  return std::nullopt;
}

StorageScope parse_storage_scope(std::string_view text, SourceLocation where) {
  if (auto scope = find_storage_scope(text)) return *scope;
  throw ScheduleError(no_such_scope(text), where);
}

ThreadTag ThreadTag::parse(std::string_view text, SourceLocation where) {
  for (const auto& [level, name] : kLevels) {
    if (!text.starts_with(name)) continue;
    std::string_view rest = text.substr(name.size());
    const bool is_hardware = level == Level::BlockIdx || level == Level::ThreadIdx;
    if (rest.empty() && !is_hardware) return {level, std::nullopt};
    if (rest.size() == 2 && rest[0] == '.' && rest[1] >= 'x' && rest[1] <= 'z')
      return {level, rest[1] - 'x'};
  }
  throw ScheduleError(no_such_thread_tag(text), where);
}

std::string ThreadTag::str() const {
  std::string text(level_name(level));
  if (dim) text += std::string(".") + static_cast<char>('x' + *dim);
  return text;
}

std::string_view to_string(IterKind kind) {
  switch (kind) {
    case IterKind::DataParallel:
      return "DataPar";
    case IterKind::ThreadIndex:
      return "ThreadIndex";
    case IterKind::Reduce:
      return "CommReduce";
    case IterKind::Ordered:
      return "Ordered";
    case IterKind::Opaque:
      return "Opaque";
    case IterKind::Unrolled:
      return "Unrolled";
    case IterKind::Vectorized:
      return "Vectorized";
    case IterKind::Parallelized:
      return "Parallelized";
    case IterKind::Tensorized:
      return "Tensorized";
  }
  internal_error("an axis kind without a name");
}

}  // namespace tenon::tir
