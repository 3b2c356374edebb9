// Checks of the order in which instances run: what a step that moves loops or blocks must not
// break. Each asks about the program as it is after the step.
#pragma once

#include "s_tir/context.h"

namespace tenon::s_tir {

/// A reduction adds each of its values once behind its init: no loop runs instances again inside of
/// a loop that counts an iterator that reduces, or, where the init is a block of its own, inside of
/// what the two have around them in common. Nullopt if that is so, else half a sentence.
std::optional<std::string> sums_twice(const Program& program, int block);

/// Refuses unless the instances of the block may run in any order that keeps the reduction's init
/// first: it is complete or a reduction, and its spatial iterators tell apart what it writes.
void require_free_order(const Program& program, int block, const Caller& caller,
                        const std::string& step);

/// Every block below reads only what was written before in the same iteration of the loops around
/// it, or before those loops: the iterations may then run in any order. Nullopt if that is so, else
/// half a sentence.
std::optional<std::string> reads_other_iterations(const Program& program, int loop);

}  // namespace tenon::s_tir
