// Operations of a warp: accesses to shared memory, with counts of their bank conflicts, and
// asynchronous copies.
#include <algorithm>
#include <set>

#include "interp/machine.h"
#include "tenon/tir/memory_scope.h"

namespace tenon::interp {

namespace {

constexpr std::int64_t kBanks = 32, kBankBytes = 4, kMaxBytes = 16;

/// Returns the maximum number of words that one bank delivers to the threads whose accesses start
/// at these offsets.
int ways_of(std::span<const std::int64_t> offsets, int bytes) {
  std::array<std::set<std::int64_t>, kBanks> words;
  for (const std::int64_t offset : offsets)
    for (std::int64_t word = offset / kBankBytes; word <= (offset + bytes - 1) / kBankBytes; ++word)
      words[static_cast<std::size_t>(word % kBanks)].insert(word);
  std::size_t most = 1;
  for (const std::set<std::int64_t>& bank : words) most = std::max(most, bank.size());
  return static_cast<int>(most);
}

}  // namespace

void Machine::note_warp_access(const void* node, const Buffer& buffer, bool is_write,
                               const Thread& t, std::span<const std::int64_t> offsets,
                               int lane_bytes) {
  if (!is_shared_memory(buffer->scope()) || threads_.size() < 2) return;
  const int evaluation = evaluations_[{node, t.position}]++;
  std::size_t piece = 0;
  for (std::size_t first = 0; first < offsets.size();) {
    std::size_t end = first + 1;
    std::int64_t bytes = lane_bytes;
    while (end < offsets.size() && bytes + lane_bytes <= kMaxBytes &&
           offsets[end] == offsets[end - 1] + lane_bytes)
      bytes += lane_bytes, ++end;
    const auto [use, is_new] =
        use_of_evaluation_.try_emplace({node, evaluation, piece++}, warp_uses_.size());
    if (is_new) warp_uses_.push_back({{buffer.get(), is_write, static_cast<int>(bytes), 1}, {}});
    warp_uses_[use->second].second.emplace_back(t.position, offsets[first]);
    first = end;
  }
}

void Machine::report_warp_accesses() {
  for (auto& [access, offsets] : warp_uses_) {
    std::ranges::sort(offsets);
    // The number of threads that are served in one transaction.
    const std::int64_t together = access.bytes > 8            ? kWarpSize / 4
                                  : access.bytes > kBankBytes ? kWarpSize / 2
                                                              : kWarpSize;
    std::int64_t warp = -1;
    for (std::size_t first = 0; first < offsets.size();) {
      const std::int64_t position = offsets[first].first;
      std::vector<std::int64_t> transaction;
      std::size_t end = first;
      while (end < offsets.size() && offsets[end].first / together == position / together)
        transaction.push_back(offsets[end++].second);
      if (warp >= 0 && position / kWarpSize != warp) {
        options_.on_warp_access(access);
        access.ways = 1;
      }
      warp = position / kWarpSize;
      access.ways = std::max(access.ways, ways_of(transaction, access.bytes));
      first = end;
    }
    options_.on_warp_access(access);
  }
  warp_uses_.clear();
  kept_buffers_.clear();
  use_of_evaluation_.clear();
  evaluations_.clear();
}

// ---- asynchronous copies ----

/// Starts a copy with the arguments (to, from, bytes). The destination is undefined until the
/// thread has waited for the copy.
void Machine::begin_copy(const Call& n, Thread& t) {
  const Call& to = *n.args[0].as<Call>();
  const Call& from = *n.args[1].as<Call>();
  const std::int64_t bytes = eval_int(n.args[2], t);
  Copy copy{nullptr, 0, {}, Var::of(to.args[1]).name()};
  const int from_bytes = from.args[0].dtype().element().bytes();
  for (std::int64_t element = 0; element * from_bytes < bytes; ++element) {
    const Place source = locate(from, element, t, false);
    copy.bytes.insert(copy.bytes.end(), source.address, source.address + from_bytes);
  }
  const int to_bytes = to.args[0].dtype().element().bytes();
  const Place target = locate(to, 0, t, true);
  locate(to, bytes / to_bytes - 1, t, true);
  // If several threads copy the same data to the same destination, only the first copy is executed.
  std::vector<std::byte>& begun = begun_copies_[{target.memory, target.offset}];
  if (begun != copy.bytes) {
    begun = copy.bytes;
    const bool changes = !std::equal(begun.begin(), begun.end(), target.address);
    note_write(target, bytes, changes, t, [&] { return copy.name; });
    target.memory->forget(target.offset, bytes);
  }
  copy.memory = storages_.at(&to.args[1].node())->of(t);
  copy.offset = target.offset;
  if (options_.on_warp_access) {
    const Buffer buffer = decl_buffer({1}, to.args[0].dtype().element(),
                                      {.name = copy.name, .data = Var::of(to.args[1])});
    note_warp_access(&n, buffer, true, t, {&copy.offset, 1}, static_cast<int>(bytes));
    kept_buffers_.push_back(buffer);
  }
  t.copies.push_back(std::move(copy));
}

void Machine::end_copies(std::size_t groups_left, Thread& t) {
  while (t.groups_of_copies.size() > groups_left) {
    for (const Copy& copy : t.groups_of_copies.front()) {
      std::byte* at = copy.memory->data() + copy.offset;
      begun_copies_.erase({copy.memory.get(), copy.offset});
      const auto bytes = static_cast<std::int64_t>(copy.bytes.size());
      if (std::equal(copy.bytes.begin(), copy.bytes.end(), at)) {
        copy.memory->mark_written(copy.offset, bytes);
        continue;
      }
      std::copy(copy.bytes.begin(), copy.bytes.end(), at);
      note_write({copy.memory.get(), at, copy.offset, true}, bytes, true, t,
                 [&] { return copy.name; });
    }
    t.groups_of_copies.pop_front();
  }
}

}  // namespace tenon::interp
