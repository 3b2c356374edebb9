// The passes between the printed text and code for a device, in order; run_passes (pipeline.h) runs
// them.
#pragma once

#include "tenon/lower/pipeline.h"

namespace tenon::lowering {

std::span<const Pass> device_passes();

}  // namespace tenon::lowering
