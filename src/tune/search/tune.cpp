#include "tenon/tune/tune.h"

#include <unistd.h>

#include <algorithm>
#include <csignal>
#include <cstdio>
#include <deque>
#include <set>

#include "tenon/support/progress.h"
#include "tune/database/record_json.h"
#include "tune/search/task_state.h"

namespace tenon::tune {

namespace {

// Deferred handling of Ctrl-C during tuning.

// The state is global, because a signal handler receives only the number of the signal.
volatile std::sig_atomic_t interrupted = 0;
/// The program's own handler. Null if the program has none.
void (*own_handler)(int) = nullptr;

/// Sets the flag after calling the program's handler. The handler may run on another thread than
/// the search, and the search ends as soon as the flag is set.
void note(int signal) {
  if (own_handler) own_handler(signal);
  interrupted = 1;
}

void (*handler_of(const struct sigaction& action))(int) {
  const bool is_function = !(action.sa_flags & SA_SIGINFO) && action.sa_handler != SIG_DFL &&
                           action.sa_handler != SIG_IGN;
  return is_function ? action.sa_handler : nullptr;
}

/// Handles SIGINT while the object exists. The program's own handler is called too. A second SIGINT
/// has its default effect.
class InterruptGuard {
 public:
  explicit InterruptGuard(bool is_wanted) : is_wanted_(is_wanted) {
    if (!is_wanted_) return;
    interrupted = 0;
    sigaction(SIGINT, nullptr, &before_);
    own_handler = handler_of(before_);
    struct sigaction action {};
    action.sa_handler = note;
    // The default action is restored after the first Ctrl-C, so the second one ends the program.
    action.sa_flags = static_cast<int>(SA_RESETHAND);
    sigemptyset(&action.sa_mask);
    sigaction(SIGINT, &action, nullptr);
  }
  ~InterruptGuard() {
    if (is_wanted_) sigaction(SIGINT, &before_, nullptr);
  }
  InterruptGuard(const InterruptGuard&) = delete;
  InterruptGuard& operator=(const InterruptGuard&) = delete;

  /// Whether SIGINT has been received since the object was constructed.
  bool is_interrupted() const { return is_wanted_ && interrupted != 0; }

 private:
  bool is_wanted_;
  struct sigaction before_ {};
};

/// Not a terminal's descriptor, which disables the progress line. Used if a callback receives the
/// log lines.
constexpr int kNowhere = -1;

/// Runs the rounds of all tasks with a common budget of trials.
class Tuner {
 public:
  Tuner(const std::vector<Task>& tasks, const TuneOptions& options)
      : options_(options),
        interrupt_(options.stop_on_interrupt),
        log_(options.log,
             options.work_dir.empty() ? std::filesystem::path() : options.work_dir / "logs"),
        model_(options.cost_model),
        progress_({.what = "trials",
                   .total = options.max_trials_global,
                   .file = options.log ? kNowhere : STDERR_FILENO}) {
    if (!options.work_dir.empty()) {
      log_.info("Logging directory: " + (options.work_dir / "logs").string());
      database_ = Database(options.work_dir, [&](const std::string& text) { log_.warning(text); });
    }
    if (!options.fleet) {
      const int builders =
          options.measure.build_workers > 0 ? options.measure.build_workers : physical_cores();
      log_.info("LocalBuilder: max_workers = " + std::to_string(builders));
      log_.info("LocalRunner: max_workers = 1");
    }
    choose_model();
    // Rejects names that the database cannot store before anything is measured.
    for (const Task& task : tasks) to_line(task.mod, 0);
    for (const Task& task : tasks) {
      log_.info("[task_scheduler.cc:159] Initializing " + label(tasks_.size(), task.name));
      tasks_.emplace_back(task, tasks_.size(), options);
      for (const std::string& note : tasks_.back().fleet_notes()) log_.info(note);
      const std::string found = tasks_.back().recall(database_);
      if (!found.empty()) log_.info(name_of(tasks_.size() - 1) + ": " + found);
      trials_ += tasks_.back().row().trials;
    }
    if (trials_ > 0) learn();
    log_.debug("[task_scheduler.cc:318] \n" + table());
  }

  Database run() {
    if (trials_ > 0 && trials_ >= options_.max_trials_global)
      log_.info("the database has the " + std::to_string(options_.max_trials_global) +
                " trial(s) of max_trials_global; with more, tuning goes on");
    while (trials_ < options_.max_trials_global && !interrupt_.is_interrupted()) {
      const std::optional<std::size_t> picked = pick();
      if (!picked) break;
      const int count =
          std::min(options_.num_trials_per_iter, options_.max_trials_global - trials_);
      round(*picked, static_cast<std::size_t>(std::max(count, 1)));
    }
    if (interrupt_.is_interrupted())
      log_.warning("interrupted: the measurements are kept, and tuning can be resumed");
    for (std::size_t n = 0; n < tasks_.size(); ++n)
      if (!tasks_[n].row().is_done) finish(n);
    return database_;
  }

 private:
  static std::string label(std::size_t n, const std::string& name) {
    return "Task #" + std::to_string(n) + ": \"" + name + "\"";
  }

  void choose_model() {
    if (model_) return;
    if (has_boosted_trees()) {
      model_ = boosted_trees({.target = options_.target, .seed = options_.seed});
    } else {
      model_ = random_model(options_.seed);
      log_.info("Cost model: random (this build has no XGBoost)");
    }
  }

  std::string table() const {
    std::vector<TaskRow> rows;
    for (const TaskState& task : tasks_) rows.push_back(task.row());
    return table_text(rows);
  }

  /// Returns the next task. Each task is returned once in order. After that, the task with the
  /// largest expected gain is returned.
  std::optional<std::size_t> pick() {
    std::optional<std::size_t> best;
    for (std::size_t n = 0; n < tasks_.size(); ++n) {
      if (tasks_[n].row().is_done) continue;
      if (tasks_[n].row().trials == 0 && !was_picked_.contains(n)) {
        best = n;
        break;
      }
      if (!best || tasks_[n].gain() > tasks_[*best].gain()) best = n;
    }
    if (best) {
      was_picked_.insert(*best);
      log_.info("[task_scheduler.cc:180] TaskScheduler picks " + name_of(*best));
    }
    return best;
  }

  std::string name_of(std::size_t n) const { return label(n, tasks_[n].row().name); }

  /// Trains the model on the measurements of all tasks.
  void learn() {
    std::vector<Lesson> lessons;
    for (const TaskState& task : tasks_)
      for (Lesson& lesson : task.lessons()) lessons.push_back(std::move(lesson));
    for (const std::string& line : model_->learn(lessons)) log_.debug(line);
  }

  void round(std::size_t n, std::size_t count) {
    TaskState& task = tasks_[n];
    const std::optional<std::vector<Candidate>> candidates = task.next(count, *model_);
    if (!candidates) {
      finish(n);
      return;
    }
    const int trials_before = trials_;
    std::vector<std::string> failures;
    task.measure(
        *candidates, [&](LogLevel level, const std::string& line) { log_.line(level, line); },
        [&](std::optional<std::size_t> c, const Measurement& measurement) {
          // After Ctrl-C, a failure is not recorded. The candidate's process may have received the
          // signal, too, before it had its own process group.
          if (c && (measurement.is_valid() || !interrupt_.is_interrupted())) {
            task.tell((*candidates)[*c], measurement, database_);
            if (!measurement.is_valid()) failures.push_back(failure(*c, measurement));
            progress_.set(++trials_, best_text(task.row().seconds));
          }
          return !interrupt_.is_interrupted();
        });
    progress_.hide();
    task.end_round();
    report(failures);
    if (trials_ > trials_before) learn();
    log_.info("[task_scheduler.cc:237] [Updated] " + name_of(n));
    log_.debug("[task_scheduler.cc:318] \n" + table());
  }

  static std::string best_text(std::optional<double> seconds) {
    char text[64] = "";
    if (seconds) std::snprintf(text, sizeof text, "best %.4g us", *seconds * 1e6);
    return text;
  }

  static std::string failure(std::size_t n, const Measurement& measurement) {
    return "sample " + std::to_string(n) +
           " does not count: " + std::string(to_string(measurement.outcome)) + ": " +
           measurement.reason;
  }

  void report(const std::vector<std::string>& failures) {
    for (const std::string& line : failures) log_.warning(line);
    if (!database_.flush())
      log_.warning(std::to_string(database_.unwritten()) +
                   " line(s) of the database are in memory only: " + database_.write_error());
  }

  void finish(std::size_t n) {
    tasks_[n].set_done();
    const auto left =
        std::ranges::count_if(tasks_, [](const TaskState& task) { return !task.row().is_done; });
    log_.info("[task_scheduler.cc:260] Task #" + std::to_string(n) +
              " has finished. Remaining task(s): " + std::to_string(left));
    log_.debug("[task_scheduler.cc:318] \n" + table());
  }

  const TuneOptions& options_;
  InterruptGuard interrupt_;
  Log log_;
  std::shared_ptr<CostModel> model_;
  Database database_;
  std::deque<TaskState> tasks_;
  Progress progress_;
  /// The number of measured candidates, including those that earlier runs have recorded in the
  /// database.
  int trials_ = 0;
  std::set<std::size_t> was_picked_;
};

}  // namespace

Database tune_tir(const TuneOptions& options) {
  return tune_tasks({{.name = options.task_name, .mod = options.mod}}, options);
}

Database tune_tasks(const std::vector<Task>& tasks, const TuneOptions& options) {
  if (options.search.population < 1)
    throw TypeError("tuning: SearchOptions::population must be at least 1");
  return Tuner(merged(tasks), options).run();
}

}  // namespace tenon::tune
