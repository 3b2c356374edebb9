// The interface of libtenon_mpi.so, which passes texts by MPI. The library is opened by name
// (src/tune/fleet/ranks.cpp).
#pragma once

#include "tenon/tune/fleet.h"

namespace tenon::tune {

class MpiChannel : public Channel {
 public:
  /// Closes the channel. If `together`, all processes are expected to call this function. MPI is
  /// finalized if they have all called it within `limit_s`. Otherwise MPI is not finalized, because
  /// that would wait forever for a process that has died. The limit also applies to sending pending
  /// messages.
  virtual void end(bool together, double limit_s) = 0;
};

/// Type of the library's function kMakeMpiChannel. It starts MPI, which removes its options from
/// the arguments. It returns null and sets `error` on failure. The caller owns the channel.
using MakeMpiChannel = MpiChannel*(int& argc, char**& argv, int& rank, std::string& error);
inline constexpr const char* kMakeMpiChannel = "tenon_make_mpi_channel";

}  // namespace tenon::tune
