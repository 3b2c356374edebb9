#include "tenon/tune/ranks.h"

#include <dlfcn.h>

#include <cstdlib>

#include "tune/fleet/mpi_channel.h"
#include "tune/measure/worker_program.h"

namespace tenon::tune {

namespace {

/// The time limit, in seconds, for all processes to reach the end. A process that is silent for
/// this time is considered lost.
constexpr double kEndLimit = FleetOptions{}.silence_s;

/// Whether an MPI launcher (Open MPI, MPICH, Slurm) has started several processes.
bool has_others() {
  for (const char* name : {"OMPI_COMM_WORLD_SIZE", "PMI_SIZE", "PMIX_SIZE"})
    if (const char* size = std::getenv(name); size && std::atoi(size) > 1) return true;
  return false;
}

/// Opens libtenon_mpi.so, which exists only if Boost.MPI was found by the build. It is opened at
/// run time, so that programs without a fleet do not depend on MPI.
MakeMpiChannel* mpi_library() {
  const std::filesystem::path path = find_beside_runtime("libtenon_mpi.so");
  // RTLD_GLOBAL is required, because Open MPI's plugins look up symbols globally.
  void* library = dlopen(path.c_str(), RTLD_NOW | RTLD_GLOBAL);
  if (!library) throw RuntimeError("`" + path.string() + "` cannot be loaded: " + dlerror());
  void* function = dlsym(library, kMakeMpiChannel);
  if (!function) throw RuntimeError("`" + path.string() + "` belongs to another version of Tenon");
  return reinterpret_cast<MakeMpiChannel*>(function);
}

}  // namespace

std::shared_ptr<Fleet> join_ranks(int& argc, char**& argv) {
  if (!has_others()) return nullptr;
  MakeMpiChannel* make = nullptr;
  try {
    make = mpi_library();
  } catch (const RuntimeError& error) {
    throw RuntimeError(std::string("started by mpirun, but this Tenon cannot use MPI: it was built "
                                   "without Boost.MPI, or parts of it are missing: ") +
                       error.sentence());
  }
  int rank = 0;
  std::string error;
  std::shared_ptr<MpiChannel> channel(make(argc, argv, rank, error));
  if (!channel) throw RuntimeError("MPI does not start: " + error);
  if (rank == 0)
    return {new Fleet(channel), [channel](Fleet* fleet) {
              const bool is_whole = fleet->is_whole();
              delete fleet;
              channel->end(is_whole, kEndLimit);
            }};
  const bool is_whole = serve(*channel);
  channel->end(is_whole, kEndLimit);
  std::_Exit(0);
}

}  // namespace tenon::tune
