// What libtenon_mpi.so gives: texts passed by MPI. Opened by name (src/tune/ranks.cpp).
#pragma once

#include "tenon/tune/fleet.h"

namespace tenon::tune {

class MpiChannel : public Channel {
 public:
  /// The last call. `together`: all processes are thought to make it. Where all have made it within
  /// `limit_s`, MPI is finalized; else MPI is left as it is, since it would wait for ever for one
  /// that died and was not missed yet. What was sent has the same time to leave.
  virtual void end(bool together, double limit_s) = 0;
};

/// Starts MPI, which takes its own options out of the arguments. Null: it refuses, and `error` says
/// why. The caller owns the channel.
using MakeMpiChannel = MpiChannel*(int& argc, char**& argv, int& rank, std::string& error);
inline constexpr const char* kMakeMpiChannel = "tenon_make_mpi_channel";

}  // namespace tenon::tune
