// The files of page/ as text, embedded by the build.
#pragma once

namespace tenon {

extern const char* const kLoopPageStyle;
extern const char* const kLoopPageScript;

}  // namespace tenon
