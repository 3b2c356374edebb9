#include "tenon/codegen/c_compiler.h"

#include <algorithm>
#include <sstream>

#include "tenon/codegen/process.h"
#include "tenon/support/error.h"

namespace tenon::codegen {

namespace {

/// x86 features whose compiler flag is LLVM's feature name, also in old versions of GCC and clang.
constexpr std::string_view kFlagsOfX86[] = {
    "sse3",       "ssse3",      "sse4.1",      "sse4.2",     "sse4a",        "avx",
    "avx2",       "fma",        "f16c",        "bmi",        "bmi2",         "lzcnt",
    "popcnt",     "aes",        "pclmul",      "sha",        "gfni",         "vaes",
    "vpclmulqdq", "avx512f",    "avx512cd",    "avx512bw",   "avx512dq",     "avx512vl",
    "avx512ifma", "avx512vbmi", "avx512vbmi2", "avx512vnni", "avx512bitalg", "avx512vpopcntdq",
    "avx512bf16", "avx512fp16", "avxvnni",     "adx",        "movbe"};

bool is_x86(const CTarget& target) {
  return target.triple.starts_with("x86_64") || target.triple.starts_with("i386") ||
         target.triple.starts_with("i686");
}

bool has_flag(const CTarget& target, std::string_view feature) {
  return is_x86(target) && std::ranges::find(kFlagsOfX86, feature) != std::end(kFlagsOfX86);
}

/// Maps "+avx512f" to -mavx512f and "-fma" to -mno-fma.
std::vector<std::string> feature_flags(const CTarget& target) {
  std::vector<std::string> flags;
  for (const std::string& feature : target.features)
    if (const std::string name = feature.substr(1); has_flag(target, name))
      flags.push_back((feature[0] == '+' ? "-m" : "-mno-") + name);
  return flags;
}

std::vector<std::string> joined(std::vector<std::string> a, const std::vector<std::string>& b) {
  a.insert(a.end(), b.begin(), b.end());
  return a;
}

}  // namespace

CCompiler::CCompiler(const std::string& command) : name_(command) {
  std::istringstream words(command);
  for (std::string word; words >> word;) words_.push_back(word);
  if (words_.empty()) words_.push_back(name_ = "cc");
}

bool CCompiler::is_clang() const {
  const auto done = run_process(joined(words_, {"--version"}));
  return done && done->status == 0 && done->output.find("clang version") != std::string::npos;
}

std::vector<std::vector<std::string>> CCompiler::flags_for(const CTarget& target) const {
  std::vector<std::string> machine;
  if (target.is_foreign) machine.push_back("--target=" + target.triple);
  const std::vector<std::string> features = joined(machine, feature_flags(target));
  std::vector<std::vector<std::string>> candidates;
  if (target.is_this_processor && is_x86(target))
    candidates.push_back(joined({"-march=native"}, features));
  else if (!target.cpu.empty() && target.cpu != "generic")
    candidates.push_back(joined({(is_x86(target) ? "-march=" : "-mcpu=") + target.cpu}, features));
  if (candidates.empty() || candidates.back() != features) candidates.push_back(features);
  if (candidates.back() != machine) candidates.push_back(machine);
  return candidates;
}

bool CCompiler::accepts(const std::vector<std::string>& flags) const {
  const auto done =
      run_process(joined(joined(words_, flags), {"-x", "c", "-c", "/dev/null", "-o", "/dev/null"}));
  return done && done->status == 0;
}

std::optional<std::string> CCompiler::try_run(const std::vector<std::string>& arguments,
                                              const std::string& purpose) const {
  const auto done = run_process(joined(words_, arguments));
  if (!done)
    throw RuntimeError("the system's C compiler `" + name_ + "` is needed " + purpose +
                       ", but was not found; install one (Debian: gcc), name one in the variable "
                       "CC, or save to .o or .a");
  if (done->status == 0) return std::nullopt;
  return done->output;
}

void CCompiler::run(const std::vector<std::string>& arguments, const std::string& purpose) const {
  if (const auto problem = try_run(arguments, purpose))
    throw RuntimeError("the system's C compiler `" + name_ + "`, run " + purpose + ", failed:\n" +
                       *problem);
}

std::vector<std::string> CCompiler::run_for(const CTarget& target,
                                            const std::vector<std::string>& arguments,
                                            const std::string& purpose) const {
  std::optional<std::string> problem;
  for (const std::vector<std::string>& flags : flags_for(target)) {
    const auto failed = try_run(joined(flags, arguments), purpose);
    if (!failed) return flags;
    if (!problem) problem = failed;
    // If the compiler accepts the flags, the source caused the error, so other flags are not tried.
    if (flags.empty() || accepts(flags)) break;
  }
  throw RuntimeError("the C compiler `" + name_ + "`, run " + purpose + ", failed:\n" + *problem);
}

namespace {

/// Returns the folder in which the loader should look for a library. If the library is in the
/// folder of the saved file or below it, the result is relative to that file, so that the folder
/// can be moved as a whole.
std::string search_path(const std::filesystem::path& library, const std::filesystem::path& saved) {
  const std::filesystem::path folder = library.parent_path();
  const std::filesystem::path relative = folder.lexically_relative(saved.parent_path());
  if (relative == ".") return "$ORIGIN";
  const bool is_below = !relative.empty() && *relative.begin() != "..";
  return is_below ? "$ORIGIN/" + relative.string() : folder.string();
}

}  // namespace

bool is_llvm_ir(const std::filesystem::path& file) {
  return file.extension() == ".ll" || file.extension() == ".bc";
}

std::vector<std::string> link_arguments(const std::vector<std::filesystem::path>& libraries,
                                        const std::filesystem::path& saved) {
  std::vector<std::string> arguments;
  for (const std::filesystem::path& given : libraries) {
    if (is_llvm_ir(given)) continue;
    const std::filesystem::path library = std::filesystem::absolute(given).lexically_normal();
    if (library.extension() != ".so") {
      arguments.push_back(library.string());
      continue;
    }
    // Passes the library by name: for a library without a soname, the linker would record the given
    // path in the output.
    arguments.push_back("-L" + library.parent_path().string());
    arguments.push_back("-l:" + library.filename().string());
    arguments.push_back("-Wl,-rpath," + search_path(library, saved));
  }
  return arguments;
}

}  // namespace tenon::codegen
