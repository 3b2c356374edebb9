#include <llvm/Object/ArchiveWriter.h>
#include <llvm/Support/MemoryBuffer.h>

#include "codegen/llvm/llvm_artifact.h"
#include "codegen/llvm/target_machine.h"
#include "tenon/codegen/c_compiler.h"
#include "tenon/codegen/c_header.h"
#include "tenon/codegen/files.h"
#include "tenon/codegen/standalone_runtime.h"
#include "tenon/runtime/module_seal.h"
#include "tenon/support/error.h"

namespace tenon::codegen {

namespace {

/// Returns the C compiler flags that select an architecture other than this machine's. Only clang
/// has such flags; other compilers support one architecture.
std::vector<std::string> machine_flags(const LlvmCode& code, const CCompiler& compiler) {
  const llvm::Triple triple = triple_of(code.common.triple);
  if (triple.getArch() == triple_of("").getArch() || !compiler.is_clang()) return {};
  return {"--target=" + triple.str()};
}

/// Writes object files to the folder and returns their paths. The object of the functions precedes
/// imported objects.
std::vector<std::string> write_objects(const TemporaryFolder& folder, const LlvmCode& code,
                                       const runtime::SaveOptions& options) {
  std::vector<std::string> files;
  const auto write = [&](const std::string& name, const std::string& bytes) {
    files.push_back(folder.file(name).string());
    write_file(files.back(), bytes);
  };
  write("functions.o", code.object);
  for (std::size_t n = 0; n < code.imported_objects.size(); ++n)
    write("import" + std::to_string(n) + ".o", code.imported_objects[n]);
  if (!options.standalone) return files;
  if (!code.kernels.empty())
    throw RuntimeError(
        "code that launches kernels of devices needs tenon::runtime, and cannot be saved as "
        "standalone");
  const CCompiler compiler(code.options.c_compiler);
  files.push_back(folder.file("runtime.o").string());
  compile_standalone_runtime(compiler, machine_flags(code, compiler), files.back());
  return files;
}

void save_object(const LlvmCode& code, const std::filesystem::path& path,
                 const runtime::SaveOptions& options) {
  if (code.imported_objects.empty() && !options.standalone) return write_file(path, code.object);
  // Combines several object files into one, by a relocatable link.
  const TemporaryFolder folder;
  const std::vector<std::string> objects = write_objects(folder, code, options);
  std::vector<std::string> arguments{"-r", "-nostdlib", "-o",
                                     std::filesystem::absolute(path).string()};
  arguments.insert(arguments.end(), objects.begin(), objects.end());
  CCompiler(code.options.c_compiler).run(arguments, "to join objects");
}

void save_archive(const LlvmCode& code, const std::filesystem::path& path,
                  const runtime::SaveOptions& options) {
  const TemporaryFolder folder;
  const std::vector<std::string> objects = write_objects(folder, code, options);
  std::vector<llvm::NewArchiveMember> members;
  for (const std::string& file : objects) {
    auto member = llvm::NewArchiveMember::getFile(file, true);
    if (!member)
      throw RuntimeError("cannot write `" + path.string() +
                         "`: " + llvm::toString(member.takeError()));
    // Members are named without the temporary folder. The name refers to the characters of `file`,
    // which must outlive the archive.
    member->MemberName = llvm::StringRef(file).rsplit('/').second;
    members.push_back(std::move(*member));
  }
  if (llvm::Error error =
          llvm::writeArchive(path.string(), members, llvm::SymtabWritingMode::NormalSymtab,
                             llvm::object::Archive::K_GNU, true, false))
    throw RuntimeError("cannot write `" + path.string() + "`: " + llvm::toString(std::move(error)));
}

void save_shared_library(const LlvmCode& code, const std::filesystem::path& path,
                         const runtime::SaveOptions& options) {
  const TemporaryFolder folder;
  const std::vector<std::string> objects = write_objects(folder, code, options);
  const std::filesystem::path saved = std::filesystem::absolute(path).lexically_normal();
  std::vector<std::string> arguments{"-shared", "-o", saved.string(),
                                     "-Wl,-soname," + saved.filename().string()};
  arguments.insert(arguments.end(), objects.begin(), objects.end());
  for (std::string& argument : link_arguments(code.options.link, saved))
    arguments.push_back(std::move(argument));
  if (options.standalone) arguments.emplace_back("-pthread");
  arguments.emplace_back("-lm");
  CCompiler(code.options.c_compiler)
      .run(arguments, "to link the shared library `" + path.string() + "`");
  runtime::seal_module_file(saved);
}

std::string header_text(const LlvmCode& code, const std::filesystem::path& path,
                        const runtime::SaveOptions& options) {
  const std::string text = c_header(path.filename().string(), code.functions);
  return options.standalone ? with_runtime_headers(text) : text;
}

}  // namespace

void LlvmArtifact::save(const std::string& file, const runtime::SaveOptions& options) const {
  const std::filesystem::path path = file;
  if (code_.options.profiler)
    throw RuntimeError(
        "cannot save `" + path.string() +
        "`: code that is profiled reports to this process; build it without profile");
  const std::string suffix = path.extension().string();
  if (suffix == ".o") return save_object(code_, path, options);
  if (suffix == ".a") return save_archive(code_, path, options);
  if (suffix == ".so") return save_shared_library(code_, path, options);
  if (suffix == ".ll") return write_file(path, source("ll"));
  if (suffix == ".s") return write_file(path, source("asm"));
  if (suffix == ".bc") return write_file(path, code_.bitcode);
  if (suffix == ".h") return write_file(path, header_text(code_, path, options));
  throw RuntimeError("cannot save compiled code as `" + path.string() +
                     "`: known suffixes are .so, .o, .a, .ll, .bc, .s and .h");
}

}  // namespace tenon::codegen
