#include "tenon/tune/database.h"

#include <algorithm>
#include <deque>
#include <mutex>

#include "tune/line_file.h"
#include "tune/record_json.h"
#include "tune/structural_hash.h"

namespace tenon::tune {

Conditions Conditions::of(const Target& target) {
  return {.target = target.str(), .processor = target.describe(), .threads = target.facts().cores};
}

struct Database::State {
  struct Workload {
    std::uint64_t hash;
    tir::IRModule mod;
    std::vector<Record> records = {};
  };
  struct Pending {
    std::filesystem::path file;
    std::string line;
  };

  mutable std::mutex mutex;
  /// Empty: in memory only.
  std::filesystem::path folder = {};
  /// In the order in which they came; hashes of unlike programs may be equal.
  std::vector<Workload> workloads = {};
  std::deque<Pending> pending = {};
  std::string write_error = {};
  std::size_t damaged = 0;

  std::filesystem::path workload_file() const { return folder / "database_workload.json"; }
  std::filesystem::path record_file() const { return folder / "database_tuning_record.json"; }

  Workload* find(const tir::IRModule& mod, std::uint64_t hash) {
    for (Workload& workload : workloads)
      if (workload.hash == hash && is_same_workload(workload.mod, mod)) return &workload;
    return nullptr;
  }

  void load() {
    for (const std::string& line : read_lines(workload_file())) {
      std::optional<WorkloadLine> parsed = parse_workload(line);
      if (!parsed)
        ++damaged;
      else if (!find(parsed->workload, parsed->hash))  // two tuners may both have written it
        workloads.push_back({parsed->hash, std::move(parsed->workload)});
    }
    for (const std::string& line : read_lines(record_file())) {
      std::optional<RecordLine> parsed = parse_record(line);
      const auto workload = std::find_if(workloads.begin(), workloads.end(), [&](const auto& own) {
        return parsed && own.hash == parsed->workload;
      });
      if (workload == workloads.end())
        ++damaged;
      else
        workload->records.push_back(std::move(parsed->record));
    }
  }

  bool flush() {
    for (; !pending.empty(); pending.pop_front()) {
      write_error = append_line(pending.front().file, pending.front().line);
      if (!write_error.empty()) return false;
    }
    return true;
  }
};

Database::Database() : state_(std::make_shared<State>()) {}

Database::Database(const std::filesystem::path& folder) : Database() {
  state_->folder = folder;
  std::error_code error;
  std::filesystem::create_directories(folder, error);
  if (error)
    throw RuntimeError("the database's folder `" + folder.string() +
                       "` cannot be made: " + error.message());
  state_->load();
}

void Database::add(const tir::IRModule& workload, const Record& record) {
  const std::scoped_lock lock(state_->mutex);
  const std::uint64_t hash = structural_hash(workload);
  State::Workload* own = state_->find(workload, hash);
  if (!own) {
    own = &state_->workloads.emplace_back(State::Workload{hash, workload});
    if (!state_->folder.empty())
      state_->pending.push_back({state_->workload_file(), to_line(workload, hash)});
  }
  own->records.push_back(record);
  if (state_->folder.empty()) return;
  state_->pending.push_back({state_->record_file(), to_line(record, hash)});
  state_->flush();
}

bool Database::flush() {
  const std::scoped_lock lock(state_->mutex);
  return state_->flush();
}

std::size_t Database::unwritten() const {
  const std::scoped_lock lock(state_->mutex);
  return state_->pending.size();
}

std::string Database::write_error() const {
  const std::scoped_lock lock(state_->mutex);
  return state_->write_error;
}

std::size_t Database::damaged_lines() const { return state_->damaged; }

std::vector<Record> Database::records(const tir::IRModule& workload) const {
  const std::scoped_lock lock(state_->mutex);
  const State::Workload* own = state_->find(workload, structural_hash(workload));
  return own ? own->records : std::vector<Record>();
}

std::vector<Record> Database::records(const tir::IRModule& workload, const Target& target) const {
  const Conditions here = Conditions::of(target);
  std::vector<Record> result = records(workload);
  std::erase_if(result, [&](const Record& record) { return !record.conditions.are_like(here); });
  return result;
}

std::vector<tir::IRModule> Database::workloads() const {
  const std::scoped_lock lock(state_->mutex);
  std::vector<tir::IRModule> result;
  for (const State::Workload& workload : state_->workloads) result.push_back(workload.mod);
  return result;
}

std::optional<Record> Database::best(const tir::IRModule& workload, const Target& target) const {
  std::optional<Record> result;
  for (const Record& record : records(workload, target))
    if (record.measurement.is_valid() &&
        (!result || record.measurement.median() < result->measurement.median()))
      result = record;
  return result;
}

std::optional<s_tir::Schedule> apply_best(const tir::IRModule& mod, const Database& database,
                                          const Target& target) {
  return apply_best(s_tir::Schedule(mod), database, target);
}

std::optional<s_tir::Schedule> apply_best(const s_tir::Schedule& sch, const Database& database,
                                          const Target& target) {
  const std::optional<Record> best = database.best(sch.mod(), target);
  if (!best) return std::nullopt;
  s_tir::Schedule result = sch;
  result.apply_trace(best->trace);
  return result;
}

}  // namespace tenon::tune
