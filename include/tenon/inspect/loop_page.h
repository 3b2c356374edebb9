// An HTML page that visualizes a schedule: one self-contained file that needs no network.
//
//   std::ofstream("matmul.html") << loop_page("matmul", {view_loops(s, {A, B, C})});
//
// The page shows the loops, with syntax colours and folding, next to the machine code. Pointing at
// a line highlights its counterpart, and Enter jumps to it. A table lists the stages with their
// source lines (and their times, as heat, if the view has a profile), and another the buffers with
// their required and allocated sizes. Several views, such as the steps of a program, become tabs.
// The page supports the keyboard, printing, and dark and light mode.
#pragma once

#include "tenon/inspect/loop_view.h"

namespace tenon {

std::string loop_page(const std::string& title, const std::vector<LoopView>& views);

}  // namespace tenon
