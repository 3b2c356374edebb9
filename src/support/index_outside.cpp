#include "tenon/support/index_outside.h"

namespace tenon {

std::string index_outside(std::string_view what, const OutsideIndex& at) {
  std::string text(what);
  text += " at index " + std::to_string(at.index) + " of dimension " + std::to_string(at.dimension);
  if (at.extent <= 0) return text + ", of which nothing is there";
  text += at.min == 0 ? ", which has " : ", of which there are ";
  return text + std::to_string(at.extent) + (at.extent == 1 ? " element, " : " elements, ") +
         std::to_string(at.min) +
         (at.extent == 1 ? "" : " to " + std::to_string(at.min + at.extent - 1));
}

}  // namespace tenon
