// Other processes, here or on other machines, that compile and run candidates for one that
// searches.
//
//   // On the one that searches:
//   options.fleet = std::make_shared<tune::Fleet>(std::move(channel));
//   tune::tune_tir(options);
//   // On each of the others, until the first has ended:
//   tune::serve(*channel);
//
// tune/ranks.h makes the channel of a program that runs under `mpirun`.
#pragma once

#include <chrono>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "tenon/tune/measure.h"

namespace tenon::tune {

/// Texts between processes that are numbered from 0, which is the one that searches; only texts
/// from and to that one are passed. Texts of one sender arrive whole and in order, or never. May be
/// used by several threads at once.
class Channel {
 public:
  struct Message {  // What arrived, and the number of who sent it.
    int from;
    std::string text;
  };

  Channel() = default;
  virtual ~Channel() = default;
  Channel(const Channel&) = delete;
  Channel& operator=(const Channel&) = delete;

  /// Of all processes.
  virtual int size() const = 0;
  /// Does not wait until it arrives. An error where the other is seen to be gone.
  virtual void send(int to, const std::string& text) = 0;
  /// Does not wait: nothing, where nothing has arrived.
  virtual std::optional<Message> receive() = 0;
};

/// How long a process may be silent before it counts as gone. Each sends a sign of life every
/// second, whatever else it does.
struct FleetOptions {
  double silence_s = 10;
};

class Fleet {
 public:
  explicit Fleet(std::shared_ptr<Channel> channel, const FleetOptions& options = {});
  /// Tells the others to end.
  ~Fleet();
  Fleet(const Fleet&) = delete;
  Fleet& operator=(const Fleet&) = delete;

  /// One program to be tuned.
  struct Task {
    int number = 0;
    /// Of the machines that measure it, as Conditions::processor has it; empty: there are none.
    std::string processor = {};
    /// A sentence for each process that measures, and for each that does not, with the reason.
    std::vector<std::string> notes = {};
  };
  /// Each process builds and runs the program before scheduling, as the Measurer does. Those whose
  /// processor is another than that of the lowest number are left out: times of unlike processors
  /// say nothing of each other.
  Task begin(const tir::IRModule& unscheduled, const Target& target, const MeasureOptions& options);

  /// How one lot of candidates went.
  struct Lot {
    /// In the order of the candidates. Nothing: on_measured ended it, or nobody is left.
    std::vector<std::optional<Measurement>> measurements;
    /// Which processes were lost, and why.
    std::vector<std::string> notes;
    /// From the first candidate sent to the last one built.
    double build_seconds = 0;
    /// Of all processors in that time; by build_seconds, how many cores compiled.
    double build_cpu_seconds = 0;
  };
  /// Candidates are compiled on all processes at once. When all are, they are run: one at a time on
  /// each machine, so that nothing there disturbs them. A process that is lost costs the candidate
  /// that it was at work on, which counts as crashed; what else it had is compiled anew by others.
  /// `on_measured` is told of each result as it arrives, in any order, and is asked with nothing
  /// every now and then: false ends the lot.
  using OnMeasured = std::function<bool(std::optional<std::size_t>, const Measurement&)>;
  Lot measure(const Task& task, const std::vector<tir::IRModule>& candidates,
              const OnMeasured& on_measured = {});

  /// How many are there to measure the task.
  int workers(const Task& task) const;
  /// Whether any was lost since this was made.
  bool is_whole() const;

 private:
  struct State;
  std::unique_ptr<State> state_;
};

/// Does what the first process asks for until that ends, or is silent for a minute. True: it ended,
/// and lost none of its others.
bool serve(Channel& channel);

}  // namespace tenon::tune
