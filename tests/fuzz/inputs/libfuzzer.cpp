// The entry of libFuzzer: scripts and traces, with coverage to guide the mutations.
// `scripts/fuzz.sh --inputs
// --libfuzzer` builds it with clang and starts it on the corpus.
#include <cstddef>
#include <cstdint>

#include "tests/fuzz/inputs/try_s_tir.h"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const std::string text(reinterpret_cast<const char*>(data), size);
  for (const bool is_trace : {false, true}) {
    try {
      if (is_trace)
        tenon::fuzz::applied_trace(text);
      else
        tenon::fuzz::parsed_script(text);
    } catch (const tenon::InternalError&) {
      throw;  // a finding, as is any exception that is not an Error
    } catch (const tenon::Error&) {
      continue;
    }
  }
  return 0;
}
