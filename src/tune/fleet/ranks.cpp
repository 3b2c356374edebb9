#include "tenon/tune/ranks.h"

#include <dlfcn.h>

#include <cstdlib>

#include "tune/fleet/mpi/channel.h"
#include "tune/measure/worker_program.h"

namespace tenon::tune {

namespace {

/// Seconds in which all must have come to the end: as long as one may be silent before it counts as
/// gone.
constexpr double kEndLimit = FleetOptions{}.silence_s;

/// Whether a launcher of MPI programs (Open MPI, MPICH, Slurm) says that there are others.
bool has_others() {
  for (const char* name : {"OMPI_COMM_WORLD_SIZE", "PMI_SIZE", "PMIX_SIZE"})
    if (const char* size = std::getenv(name); size && std::atoi(size) > 1) return true;
  return false;
}

/// Of the library that is made where Boost.MPI is found, opened here so that programs that never
/// meet mpirun need none of it.
MakeMpiChannel* mpi_library() {
  const std::filesystem::path path = find_beside_runtime("libtenon_mpi.so");
  // Open MPI's own plugins look its names up in the whole process.
  void* library = dlopen(path.c_str(), RTLD_NOW | RTLD_GLOBAL);
  if (!library) throw RuntimeError("`" + path.string() + "` cannot be loaded: " + dlerror());
  void* function = dlsym(library, kMakeMpiChannel);
  if (!function) throw RuntimeError("`" + path.string() + "` is of another version of Tenon");
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
