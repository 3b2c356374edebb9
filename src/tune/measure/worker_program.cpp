#include "tune/measure/worker_program.h"

#include <dlfcn.h>

#include "tenon/runtime/threads.h"
#include "tenon/support/error.h"

namespace tenon::tune {

std::filesystem::path find_beside_runtime(const std::string& file) {
  Dl_info info{};
  if (dladdr(reinterpret_cast<void*>(&runtime::num_threads), &info) == 0 || !info.dli_fname)
    throw RuntimeError("the runtime's library, next to which `" + file +
                       "` is expected, cannot be found");
  const std::filesystem::path folder =
      std::filesystem::weakly_canonical(info.dli_fname).parent_path();
  // The last location applies if the library is in Debian's library folder (lib/x86_64-linux-gnu).
  const std::filesystem::path places[] = {
      folder / file, folder.parent_path() / "libexec/tenon" / file,
      folder.parent_path().parent_path() / "libexec/tenon" / file};
  std::string looked_at;
  for (const std::filesystem::path& place : places) {
    if (std::filesystem::exists(place)) return place;
    looked_at += (looked_at.empty() ? "`" : ", `") + place.string() + "`";
  }
  throw RuntimeError("`" + file + "` is not at any of " + looked_at);
}

std::filesystem::path find_worker_program() {
  try {
    return find_beside_runtime("tenon_measure");
  } catch (const RuntimeError& error) {
    throw RuntimeError(error.sentence() +
                       "; it runs candidates, and MeasureOptions::worker sets its path");
  }
}

}  // namespace tenon::tune
