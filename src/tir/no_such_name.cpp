#include "tenon/tir/no_such_name.h"

#include <vector>

#include "tenon/support/similar_name.h"
#include "tenon/tir/type.h"

namespace tenon::tir {

std::string no_such_scope(std::string_view text) {
  std::vector<std::string_view> names;
  for (int n = 0; n <= static_cast<int>(StorageScope::WmmaAccumulator); ++n)
    names.push_back(to_string(static_cast<StorageScope>(n)));
  std::string known;
  for (const std::string_view name : names) known.append(known.empty() ? "" : ", ").append(name);
  return "`" + std::string(text) + "` is not a storage scope; the scopes are " + known +
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

}  // namespace tenon::tir
