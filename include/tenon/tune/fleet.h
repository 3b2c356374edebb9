// Worker processes, on this and other machines, that compile and run candidates for a process that
// searches.
//
//   // In the process that searches:
//   options.fleet = std::make_shared<tune::Fleet>(std::move(channel));
//   tune::tune_tir(options);
//   // In each of the others, until the first one ends:
//   tune::serve(*channel);
//
// tune/ranks.h makes the channel for a program that runs under `mpirun`.
#pragma once

#include <chrono>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "tenon/tune/measure.h"

namespace tenon::tune {

/// Message passing between processes that are numbered from 0. Process 0 searches, and all messages
/// are sent from or to it. Messages from one sender arrive complete and in order, or not at all.
/// Thread-safe.
class Channel {
 public:
  struct Message {  // A received message and the number of its sender.
    int from;
    std::string text;
  };

  Channel() = default;
  virtual ~Channel() = default;
  Channel(const Channel&) = delete;
  Channel& operator=(const Channel&) = delete;

  /// Returns the number of processes.
  virtual int size() const = 0;
  /// Sends a message without waiting for its arrival. Throws an error if the receiver is known to
  /// be gone.
  virtual void send(int to, const std::string& text) = 0;
  /// Returns a message that has arrived, or nullopt. Does not wait.
  virtual std::optional<Message> receive() = 0;
};

/// Time without messages, in seconds, after which a process counts as lost. Every process sends a
/// heartbeat each second.
struct FleetOptions {
  double silence_s = 10;
};

/// The workers as the searching process knows them.
class FleetMembers;

class Fleet {
 public:
  explicit Fleet(std::shared_ptr<Channel> channel, const FleetOptions& options = {});
  /// Requests the workers to end.
  ~Fleet();
  Fleet(const Fleet&) = delete;
  Fleet& operator=(const Fleet&) = delete;

  /// A program to tune.
  struct Task {
    int number = 0;
    /// The processor of the workers, in the form of Conditions::processor; empty if there are no
    /// workers.
    std::string processor = {};
    /// A sentence for each worker that says whether the worker takes part, and the reason if not.
    std::vector<std::string> notes = {};
  };
  /// Starts a task. Each worker builds and runs the unscheduled program, as Measurer does. Workers
  /// whose processor differs from that of the lowest-numbered worker are excluded, because times of
  /// different processors are not comparable.
  Task begin(const tir::IRModule& unscheduled, const Target& target, const MeasureOptions& options);

  /// The results of one batch of candidates.
  struct Lot {
    /// The results in the order of the candidates. Nullopt if on_measured stopped the batch or no
    /// worker is left.
    std::vector<std::optional<Measurement>> measurements;
    /// The workers that were lost, with the reasons.
    std::vector<std::string> notes;
    /// Time from sending the first candidate to the end of the last build.
    double build_seconds = 0;
    /// CPU time of all workers in that period. Divided by build_seconds: the number of cores that
    /// compiled.
    double build_cpu_seconds = 0;
  };
  /// Measures a batch. Candidates are compiled on all workers at once, and then run one at a time
  /// per machine to avoid interference. If a worker is lost, the candidate that it was working on
  /// counts as crashed, and its other candidates are compiled again by other workers. `on_measured`
  /// receives each result as it arrives, in any order, and is also called with nullopt at
  /// intervals; if it returns false, the batch stops.
  using OnMeasured = std::function<bool(std::optional<std::size_t>, const Measurement&)>;
  Lot measure(const Task& task, const std::vector<tir::IRModule>& candidates,
              const OnMeasured& on_measured = {});

  /// Returns the number of workers that measure the task.
  int workers(const Task& task) const;
  /// Whether no worker has been lost since construction.
  bool is_whole() const;

 private:
  std::unique_ptr<FleetMembers> members_;
  /// The numbers of tasks and of candidates so far.
  int tasks_ = 0, tickets_ = 0;
};

/// Serves process 0 until it ends or is silent for a minute. Returns true if it ended without
/// having lost another worker.
bool serve(Channel& channel);

}  // namespace tenon::tune
