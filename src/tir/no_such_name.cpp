#include "tenon/tir/no_such_name.h"

#include <vector>

#include "tenon/support/similar_name.h"
#include "tenon/tir/intrin.h"
#include "tenon/tir/type.h"

namespace tenon::tir {

namespace {

/// Returns the names of an enum's values from 0 to `last`.
template <class Enum>
std::vector<std::string_view> names_up_to(Enum last) {
  std::vector<std::string_view> names;
  for (int n = 0; n <= static_cast<int>(last); ++n)
    names.push_back(to_string(static_cast<Enum>(n)));
  return names;
}

}  // namespace

std::string no_such_scope(std::string_view text) {
  const std::vector<std::string_view> names = names_up_to(StorageScope::WmmaAccumulator);
  std::string known;
  for (const std::string_view name : names) known.append(known.empty() ? "" : ", ").append(name);
  return "`" + std::string(text) + "` is no storage scope; the scopes are " + known +
         did_you_mean(text, names);
}

std::string no_such_thread_tag(std::string_view text) {
  return "`" + std::string(text) +
         "` is not a thread tag; the tags are blockIdx.{x,y,z}, threadIdx.{x,y,z}, vthread, "
         "vthread.{x,y,z}, cthread" +
         did_you_mean(text,
                      {"blockIdx.x", "blockIdx.y", "blockIdx.z", "threadIdx.x", "threadIdx.y",
                       "threadIdx.z", "vthread", "vthread.x", "vthread.y", "vthread.z", "cthread"});
}

std::string no_such_intrinsic(std::string_view name) {
  return "`" + std::string(name) + "` is not an intrinsic" +
         did_you_mean(name, names_up_to(Intrin::ret));
}

}  // namespace tenon::tir
