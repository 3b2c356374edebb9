#include "lower/checks/check_options.h"

namespace tenon::lowering {

void check_options(const PassOptions& options) {
  struct Row {
    const char* name;
    int value;
    int least;
  };
  const tir::VectorRegisters registers = options.vector_registers.value_or(tir::VectorRegisters{});
  for (const Row& row : {Row{"unroll.auto_max_step", options.unroll.auto_max_step, 0},
                         Row{"unroll.auto_max_depth", options.unroll.auto_max_depth, 0},
                         Row{"unroll.auto_max_extent", options.unroll.auto_max_extent, 0},
                         Row{"unroll.max_statements", options.unroll.max_statements, 1},
                         Row{"partition.max_growth", options.partition.max_growth, 1},
                         Row{"vector_registers.bits", registers.bits, 0},
                         Row{"vector_registers.for_sums", registers.for_sums, 0}})
    if (row.value < row.least)
      throw LowerError(std::string("option passes.") + row.name + " is " +
                       std::to_string(row.least) + " or more, got " + std::to_string(row.value));
  const int split = options.double_buffer_split;
  if (split != 0 && split != 1 && split % 2 != 0)
    throw LowerError("double buffers: the loop can be split by 0, 1 or an even number, got " +
                     std::to_string(split));
}

}  // namespace tenon::lowering
