#include "tenon/tir/type.h"

#include <vector>

#include "tenon/support/similar_name.h"
#include "tenon/tir/expr.h"
#include "tir/name_table.h"

namespace tenon::tir {

namespace {

constexpr NameTable<StorageScope, 8> kScopes = {{
    {StorageScope::Global, "global"},
    {StorageScope::Shared, "shared"},
    {StorageScope::SharedDyn, "shared.dyn"},
    {StorageScope::Warp, "warp"},
    {StorageScope::Local, "local"},
    {StorageScope::WmmaMatrixA, "wmma.matrix_a"},
    {StorageScope::WmmaMatrixB, "wmma.matrix_b"},
    {StorageScope::WmmaAccumulator, "wmma.accumulator"},
}};

constexpr NameTable<ThreadTag::Level, 4> kLevels = {{
    {ThreadTag::Level::BlockIdx, "blockIdx"},
    {ThreadTag::Level::ThreadIdx, "threadIdx"},
    {ThreadTag::Level::VThread, "vthread"},
    {ThreadTag::Level::CThread, "cthread"},
}};

constexpr NameTable<IterKind, 9> kIterKinds = {{
    {IterKind::DataParallel, "DataPar"},
    {IterKind::ThreadIndex, "ThreadIndex"},
    {IterKind::Reduce, "CommReduce"},
    {IterKind::Ordered, "Ordered"},
    {IterKind::Opaque, "Opaque"},
    {IterKind::Unrolled, "Unrolled"},
    {IterKind::Vectorized, "Vectorized"},
    {IterKind::Parallelized, "Parallelized"},
    {IterKind::Tensorized, "Tensorized"},
}};

}  // namespace

std::string_view to_string(StorageScope scope) {
  return name_in(kScopes, scope, "a storage scope without a name");
}

std::optional<StorageScope> find_storage_scope(std::string_view text) {
  return find_in(kScopes, text);
}

std::string no_such_scope(std::string_view text) {
  std::vector<std::string_view> names;
  std::string known;
  for (const auto& [scope, name] : kScopes) {
    names.push_back(name);
    known.append(known.empty() ? "" : ", ").append(name);
  }
  return "`" + std::string(text) + "` is not a storage scope; the scopes are " + known +
         did_you_mean(text, names);
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
  throw ScheduleError(
      "`" + std::string(text) +
          "` is not a thread tag; the tags are blockIdx.{x,y,z}, threadIdx.{x,y,z}, vthread, "
          "vthread.{x,y,z}, cthread" +
          did_you_mean(
              text, {"blockIdx.x", "blockIdx.y", "blockIdx.z", "threadIdx.x", "threadIdx.y",
                     "threadIdx.z", "vthread", "vthread.x", "vthread.y", "vthread.z", "cthread"}),
      where);
}

std::string ThreadTag::str() const {
  std::string text(name_in(kLevels, level, "a thread level without a name"));
  if (dim) text += std::string(".") + static_cast<char>('x' + *dim);
  return text;
}

std::string_view to_string(IterKind kind) {
  return name_in(kIterKinds, kind, "an axis kind without a name");
}

std::optional<IterKind> find_iter_kind(std::string_view text) { return find_in(kIterKinds, text); }

}  // namespace tenon::tir
