// A page to look at a schedule with: one HTML file that needs nothing else, no network either.
//
//   std::ofstream("matmul.html") << loop_page("matmul", {view_loops(s, {A, B, C})});
//
// It shows the loops in colour, which can be folded, and beside them the machine code: what is
// pointed at on one side is marked on the other, and Enter jumps between them. Above are the stages
// with the user's lines (and with their times, as heat, where the view has a profile) and the
// buffers with the sizes that they need and get. Several views, of the steps of a program for
// example, are tabs. The page works by keyboard, prints, and follows the reader's choice of dark or
// light.
#pragma once

#include "tenon/inspect/loop_view.h"

namespace tenon {

std::string loop_page(const std::string& title, const std::vector<LoopView>& views);

}  // namespace tenon
