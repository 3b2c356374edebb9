#include <llvm/Object/ArchiveWriter.h>
#include <llvm/Support/MemoryBuffer.h>

#include "codegen/llvm/llvm_artifact.h"
#include "tenon/codegen/c_compiler.h"
#include "tenon/codegen/c_header.h"
#include "tenon/codegen/files.h"
#include "tenon/runtime/module_seal.h"
#include "tenon/support/error.h"

namespace tenon::codegen {

namespace {

void save_object(const LlvmCode& code, const std::filesystem::path& path) {
  if (code.imported_objects.empty()) return write_file(path, code.object);
  // One object of several: a relocatable link.
  const TemporaryFolder folder;
  std::vector<std::string> arguments{"-r", "-nostdlib", "-o",
                                     std::filesystem::absolute(path).string()};
  const std::filesystem::path own = folder.file("own.o");
  write_file(own, code.object);
  arguments.push_back(own.string());
  for (std::size_t n = 0; n < code.imported_objects.size(); ++n) {
    arguments.push_back(folder.file("import" + std::to_string(n) + ".o").string());
    write_file(arguments.back(), code.imported_objects[n]);
  }
  CCompiler(code.options.c_compiler).run(arguments, "to join imported objects");
}

void save_archive(const LlvmCode& code, const std::filesystem::path& path) {
  const TemporaryFolder folder;
  std::vector<std::string> files{folder.file("functions.o").string()};
  write_file(files.back(), code.object);
  for (std::size_t n = 0; n < code.imported_objects.size(); ++n) {
    files.push_back(folder.file("import" + std::to_string(n) + ".o").string());
    write_file(files.back(), code.imported_objects[n]);
  }
  std::vector<llvm::NewArchiveMember> members;
  for (const std::string& file : files) {
    auto member = llvm::NewArchiveMember::getFile(file, true);
    if (!member)
      throw RuntimeError("cannot write `" + path.string() +
                         "`: " + llvm::toString(member.takeError()));
    // The name is kept by reference, and the path is of a folder that goes.
    member->MemberName = llvm::StringRef(file).rsplit('/').second;
    members.push_back(std::move(*member));
  }
  if (llvm::Error error =
          llvm::writeArchive(path.string(), members, llvm::SymtabWritingMode::NormalSymtab,
                             llvm::object::Archive::K_GNU, true, false))
    throw RuntimeError("cannot write `" + path.string() + "`: " + llvm::toString(std::move(error)));
}

void save_shared_library(const LlvmCode& code, const std::filesystem::path& path) {
  const TemporaryFolder folder;
  const std::filesystem::path object = folder.file("functions.o");
  const std::filesystem::path saved = std::filesystem::absolute(path).lexically_normal();
  write_file(object, code.object);
  std::vector<std::string> arguments{"-shared", "-o", saved.string(),
                                     "-Wl,-soname," + saved.filename().string(), object.string()};
  for (std::size_t n = 0; n < code.imported_objects.size(); ++n) {
    arguments.push_back(folder.file("import" + std::to_string(n) + ".o").string());
    write_file(arguments.back(), code.imported_objects[n]);
  }
  for (std::string& argument : link_arguments(code.options.link, saved))
    arguments.push_back(std::move(argument));
  arguments.emplace_back("-lm");
  CCompiler(code.options.c_compiler)
      .run(arguments, "to link the shared library `" + path.string() + "`");
  runtime::seal_module_file(saved);
}

}  // namespace

void LlvmArtifact::save(const std::string& file) const {
  const std::filesystem::path path = file;
  if (code_.options.profiling)
    throw RuntimeError(
        "cannot save `" + path.string() +
        "`: code that is profiled reports to this process; build it without profile");
  const std::string suffix = path.extension().string();
  if (suffix == ".o") return save_object(code_, path);
  if (suffix == ".a") return save_archive(code_, path);
  if (suffix == ".so") return save_shared_library(code_, path);
  if (suffix == ".ll") return write_file(path, source("ll"));
  if (suffix == ".s") return write_file(path, source("asm"));
  if (suffix == ".bc") return write_file(path, code_.bitcode);
  if (suffix == ".h") return write_file(path, c_header(path.filename().string(), code_.functions));
  throw RuntimeError("cannot save compiled code as `" + path.string() +
                     "`: known suffixes are .so, .o, .a, .ll, .bc, .s and .h");
}

}  // namespace tenon::codegen
