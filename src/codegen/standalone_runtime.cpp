#include "tenon/codegen/standalone_runtime.h"

#include <algorithm>
#include <set>
#include <sstream>

#include "codegen/runtime_files.h"
#include "tenon/codegen/files.h"
#include "tenon/support/error.h"

namespace tenon::codegen {

namespace {

/// Returns the runtime file that an `#include` line names; null for other lines.
const RuntimeFile* included(std::string_view line) {
  constexpr std::string_view kInclude = "#include \"";
  if (!line.starts_with(kInclude)) return nullptr;
  const std::string_view rest = line.substr(kInclude.size());
  const auto file =
      std::ranges::find(runtime_files(), rest.substr(0, rest.find('"')), &RuntimeFile::first);
  return file == runtime_files().end() ? nullptr : &*file;
}

/// Appends a file in which runtime includes are expanded. A header is expanded once. Other files
/// are expanded each time, because their contents depend on preceding definitions.
void append(std::string& out, std::string_view text, std::set<std::string_view>& headers) {
  while (!text.empty()) {
    const std::size_t end = std::min(text.find('\n'), text.size() - 1) + 1;
    const std::string_view line = text.substr(0, end);
    text.remove_prefix(end);
    const RuntimeFile* file = included(line);
    if (file == nullptr) {
      out += line;
    } else if (const auto& [name, content] = *file;
               !name.ends_with(".h") || headers.insert(name).second) {
      append(out, content, headers);
    }
  }
}

}  // namespace

std::string with_runtime_headers(const std::string& text) {
  std::string out;
  std::set<std::string_view> headers;
  append(out, text, headers);
  return out;
}

void compile_standalone_runtime(const CCompiler& compiler, const std::vector<std::string>& flags,
                                const std::filesystem::path& object) {
  const TemporaryFolder folder;
  const std::filesystem::path source = folder.file("standalone.c");
  write_file(source, with_runtime_headers("#define TENON_IN_SAVED_CODE\n"
                                          "#include \"runtime/standalone/standalone.c\"\n"));
  std::vector<std::string> arguments = flags;
  arguments.insert(arguments.end(), {"-std=c11", "-O2", "-fPIC", "-c", source.string(), "-o",
                                     std::filesystem::absolute(object).string()});
  compiler.run(arguments, "to compile the runtime that is saved with the code");
}

}  // namespace tenon::codegen
