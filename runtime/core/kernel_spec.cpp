#include "tenon/runtime/kernel_spec.h"

#include <algorithm>
#include <charconv>

#include "tenon/support/error.h"

namespace tenon::runtime {

namespace {

constexpr std::string_view kKernelsFirstLine = "tenon-kernels 1";
constexpr std::string_view kPointer = "pointer";
constexpr std::string_view kDynamicShared = "shared";
constexpr std::string_view kSubgroup = "subgroup";

/// Removes and returns the text up to the separator, and removes the separator.
std::string_view take_until(std::string_view& text, char separator) {
  const std::size_t length = std::min(text.find(separator), text.size());
  const std::string_view piece = text.substr(0, length);
  text.remove_prefix(std::min(length + 1, text.size()));
  return piece;
}

KernelSpec parse_kernel(std::string_view line) {
  const std::string whole(line);
  KernelSpec kernel{.name = std::string(take_until(line, ' '))};
  while (!line.empty()) {
    const std::string_view word = take_until(line, ' ');
    if (word == kDynamicShared) {
      kernel.has_dynamic_shared = true;
    } else if (word.starts_with(kSubgroup)) {
      const std::string_view digits = word.substr(kSubgroup.size());
      const auto end = digits.data() + digits.size();
      if (std::from_chars(digits.data(), end, kernel.subgroup_size).ptr != end ||
          kernel.subgroup_size <= 0)
        throw RuntimeError("the manifest of kernels has an invalid line: `" + whole + "`");
    } else {
      try {
        kernel.params.push_back(word == kPointer ? Handle() : DataType::parse(std::string(word)));
      } catch (const TypeError&) {
        throw RuntimeError("the manifest of kernels has an invalid line: `" + whole + "`");
      }
    }
  }
  return kernel;
}

}  // namespace

std::string to_kernel_manifest(std::span<const KernelSpec> kernels) {
  std::string text(kKernelsFirstLine);
  text += '\n';
  for (const KernelSpec& kernel : kernels) {
    text += kernel.name;
    for (const DataType& param : kernel.params)
      text += " " + (param.is_handle() ? std::string(kPointer) : param.str());
    if (kernel.has_dynamic_shared) text += " " + std::string(kDynamicShared);
    if (kernel.subgroup_size > 0)
      text += " " + std::string(kSubgroup) + std::to_string(kernel.subgroup_size);
    text += "\n";
  }
  return text;
}

std::vector<KernelSpec> parse_kernel_manifest(std::string_view text) {
  const std::string_view first = take_until(text, '\n');
  if (first != kKernelsFirstLine)
    throw RuntimeError("the manifest of kernels begins with `" + std::string(first) +
                       "`, not with `" + std::string(kKernelsFirstLine) + "`");
  std::vector<KernelSpec> kernels;
  while (!text.empty()) kernels.push_back(parse_kernel(take_until(text, '\n')));
  return kernels;
}

}  // namespace tenon::runtime
