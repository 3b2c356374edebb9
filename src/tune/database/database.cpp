#include "tenon/tune/database.h"

#include <fcntl.h>
#include <sys/file.h>
#include <unistd.h>
#include <algorithm>
#include <cerrno>
#include <cstring>
#include <deque>
#include <filesystem>
#include <iostream>
#include <mutex>
#include <sstream>
#include <string>
#include <vector>

#include "tenon/codegen/files.h"
#include "tune/database/record_json.h"
#include "tune/measure/file_descriptor.h"
#include "tune/search/structural_hash.h"

namespace tenon::tune {

namespace {

// ---- files of lines -----------------------------------------------------------------------------

// Append-only files of lines that several processes write.

std::string reason() { return std::strerror(errno); }

/// Whether the last line of the file lacks its newline. False if the end of the file cannot be read
/// (devices, pipes).
bool lacks_final_newline(int file, off_t size) {
  char last = '\n';
  return size > 0 && pread(file, &last, 1, size - 1) == 1 && last != '\n';
}

/// Returns the lines of the file without their newlines. Returns none if it is not a regular file.
/// The last line may be truncated. Throws RuntimeError if the file exists but cannot be read.
std::vector<std::string> read_lines(const std::filesystem::path& path) {
  if (!std::filesystem::is_regular_file(path)) return {};
  std::istringstream text(codegen::read_file(path));
  std::vector<std::string> lines;
  for (std::string line; std::getline(text, line);) lines.push_back(std::move(line));
  return lines;
}

/// Appends a line with a single write under a lock. If the last line of the file lacks its newline,
/// a newline is added first. Returns an empty string on success. Otherwise returns the error, and
/// the file is unchanged.
std::string append_line(const std::filesystem::path& path, const std::string& line) {
  // Closing the file also unlocks it.
  const FileDescriptor file(open(path.c_str(), O_RDWR | O_CREAT | O_APPEND | O_CLOEXEC, 0644));
  if (file.get() < 0) return reason();
  while (flock(file.get(), LOCK_EX) != 0)
    if (errno != EINTR) return reason();
  const off_t size = lseek(file.get(), 0, SEEK_END);
  const std::string bytes = (lacks_final_newline(file.get(), size) ? "\n" : "") + line + "\n";
  const ssize_t written = write(file.get(), bytes.data(), bytes.size());
  if (written == static_cast<ssize_t>(bytes.size())) return "";
  const std::string why = written < 0 ? reason() : "the disk is full";
  // Truncates the file to its previous size, because it may end with a part of the new line.
  if (written > 0 && ftruncate(file.get(), size) != 0) return why;
  return why;
}

}  // namespace

Conditions Conditions::of(const Target& target) {
  return {.target = target.str(), .processor = target.describe(), .threads = target.facts().cores};
}

struct Database::State {
  struct Workload {
    std::uint64_t hash;
    tir::IRModule mod;
    std::vector<Record> records = {};
  };

  mutable std::mutex mutex;
  /// The folder of the database. Empty for a database that exists only in memory.
  std::filesystem::path folder = {};
  /// The programs in insertion order. Different programs may have the same hash.
  std::vector<Workload> workloads = {};
  /// The lines that are not yet written, with the files to which they belong.
  std::deque<std::pair<std::filesystem::path, std::string>> pending = {};
  std::string write_error = {};
  std::size_t damaged = 0;

  std::filesystem::path workload_file() const { return folder / "database_workload.json"; }
  std::filesystem::path record_file() const { return folder / "database_tuning_record.json"; }

  Workload* find(const tir::IRModule& mod, std::uint64_t hash) {
    for (Workload& workload : workloads)
      if (workload.hash == hash && is_same_workload(workload.mod, mod)) return &workload;
    return nullptr;
  }

  using Warn = std::function<void(const std::string&)>;

  /// Calls `take` with each non-empty line of the file and skips the lines for which it throws. The
  /// first kMaxWarnings of them each produce a warning; one more warning states the number of the
  /// others.
  void load(const std::filesystem::path& file, const Warn& warn,
            const std::function<void(const std::string&)>& take) {
    constexpr std::size_t kMaxWarnings = 10;
    std::size_t number = 0, skipped = 0;
    for (const std::string& line : read_lines(file)) try {
        ++number;
        if (!line.empty()) take(line);
      } catch (const Error& error) {
        if (++skipped <= kMaxWarnings)
          warn(file.string() + ":" + std::to_string(number) +
               ": this line is skipped: " + error.sentence());
      }
    if (skipped > kMaxWarnings)
      warn(file.string() + ": " + std::to_string(skipped - kMaxWarnings) +
           " more line(s) are skipped");
    damaged += skipped;
  }

  void load(const Warn& warn) {
    load(workload_file(), warn, [&](const std::string& line) {
      auto [hash, workload] = parse_workload(line);
      if (!find(workload, hash))  // two tuners may have added the same program
        workloads.push_back({hash, std::move(workload)});
    });
    load(record_file(), warn, [&](const std::string& line) {
      auto [hash, record] = parse_record(line);
      const auto workload = std::ranges::find(workloads, hash, &Workload::hash);
      if (workload == workloads.end())
        throw TypeError("no program of the database has the hash that it names");
      workload->records.push_back(std::move(record));
    });
  }

  bool flush() {
    for (; !pending.empty(); pending.pop_front()) {
      write_error = append_line(pending.front().first, pending.front().second);
      if (!write_error.empty()) return false;
    }
    return true;
  }
};

Database::Database() : state_(std::make_shared<State>()) {}

Database::Database(const std::filesystem::path& folder,
                   const std::function<void(const std::string&)>& warn)
    : Database() {
  state_->folder = folder;
  std::error_code error;
  std::filesystem::create_directories(folder, error);
  if (error)
    throw RuntimeError("the database's folder `" + folder.string() +
                       "` cannot be made: " + error.message());
  state_->load(
      warn ? warn : [](const std::string& text) { std::cerr << "warning: " << text << std::endl; });
}

void Database::add(const tir::IRModule& workload, const Record& record) {
  const std::scoped_lock lock(state_->mutex);
  const std::uint64_t hash = structural_hash(workload);
  State::Workload* own = state_->find(workload, hash);
  if (!own) {
    if (!state_->folder.empty())
      state_->pending.emplace_back(state_->workload_file(), to_line(workload, hash));
    own = &state_->workloads.emplace_back(State::Workload{hash, workload});
  }
  own->records.push_back(record);
  if (state_->folder.empty()) return;
  state_->pending.emplace_back(state_->record_file(), to_line(record, hash));
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

std::vector<Record> Database::fastest_first(const tir::IRModule& workload,
                                            const Target& target) const {
  std::vector<Record> result = records(workload, target);
  std::erase_if(result, [](const Record& record) { return !record.measurement.is_valid(); });
  std::ranges::stable_sort(result, {}, [](const Record& r) { return r.measurement.median(); });
  return result;
}

std::optional<Record> Database::best(const tir::IRModule& workload, const Target& target) const {
  std::vector<Record> all = fastest_first(workload, target);
  if (all.empty()) return std::nullopt;
  return std::move(all.front());
}

std::optional<s_tir::Schedule> apply_best(const tir::IRModule& mod, const Database& database,
                                          const Target& target, SourceLocation where) {
  return apply_best(s_tir::Schedule(mod, {}, where), database, target, where);
}

std::optional<s_tir::Schedule> apply_best(const s_tir::Schedule& sch, const Database& database,
                                          const Target& target, SourceLocation where) {
  std::exception_ptr refusal;
  for (const Record& record : database.fastest_first(sch.mod(), target)) {
    try {
      s_tir::Schedule result = sch;
      result.apply_trace(record.trace, {}, where);
      return result;
    } catch (const Error&) {
      if (!refusal) refusal = std::current_exception();
    }
  }
  if (refusal) std::rethrow_exception(refusal);
  return std::nullopt;
}

}  // namespace tenon::tune
