// Random block programs with random traces: the program after the trace computes the same as the
// program before it, prints and parses to itself, and its trace does the same again.
#pragma once

#include <string>
#include <vector>

#include "tenon/s_tir/schedule.h"
#include "tests/fuzz/random_schedule.h"

namespace tenon::fuzz {

/// The programs of random_blocks.h, and those of random_nests.h.
enum class BlockPrograms : std::uint8_t { Graphs, Nests };

struct BlockCase {
  tir::IRModule before;
  s_tir::Schedule schedule;
  std::vector<Attempt> attempts = {};
  /// The nests of the program, and then the steps.
  int parts = 0;
  BlockPrograms programs = BlockPrograms::Graphs;
  std::vector<Note> notes = {};

  /// The module, the trace and the seed.
  std::string describe() const;
  unsigned seed = 0;
};

/// A part for which keep[n] is false is left out. For a device, what the steps leave to the host is
/// bound to threads in the end. `on_text` is called
/// with the program, and with the trace before each step.
BlockCase make_block_case(unsigned seed, const std::vector<bool>& keep = {},
                          bool for_device = false, BlockPrograms programs = BlockPrograms::Graphs,
                          const std::function<void(const std::string&)>& on_text = {});

/// The first fault of a case, compared with the program's definition if it has one; "" if there is
/// no fault. With `compile`, checks the compiled function as well as the interpreter; with a
/// device's target, the kernels on that device. LowerError: the program cannot run on the device.
std::string check_block_case(const BlockCase& c, bool compile,
                             const std::optional<Target>& target = std::nullopt);

}  // namespace tenon::fuzz
