// The files of page/ as text; the build compiles them in.
#pragma once

namespace tenon {

extern const char* const kLoopPageStyle;
extern const char* const kLoopPageScript;

}  // namespace tenon
