#include <llvm/Object/ArchiveWriter.h>
#include <llvm/Support/MemoryBuffer.h>

#include "codegen/llvm/artifact_state.h"
#include "tenon/codegen/c_compiler.h"
#include "tenon/codegen/c_header.h"
#include "tenon/codegen/files.h"
#include "tenon/support/error.h"

namespace tenon::codegen {

namespace {

void save_object(const Artifact::State& state, const std::filesystem::path& path) {
  if (state.imported_objects.empty()) return write_file(path, state.object);
  // One object of several: a relocatable link.
  const TemporaryFolder folder;
  std::vector<std::string> arguments{"-r", "-nostdlib", "-o",
                                     std::filesystem::absolute(path).string()};
  const std::filesystem::path own = folder.file("own.o");
  write_file(own, state.object);
  arguments.push_back(own.string());
  for (std::size_t n = 0; n < state.imported_objects.size(); ++n) {
    arguments.push_back(folder.file("import" + std::to_string(n) + ".o").string());
    write_file(arguments.back(), state.imported_objects[n]);
  }
  CCompiler(state.options.c_compiler).run(arguments, "to join imported objects");
}

void save_archive(const Artifact::State& state, const std::filesystem::path& path) {
  const TemporaryFolder folder;
  std::vector<std::string> files{folder.file("functions.o").string()};
  write_file(files.back(), state.object);
  for (std::size_t n = 0; n < state.imported_objects.size(); ++n) {
    files.push_back(folder.file("import" + std::to_string(n) + ".o").string());
    write_file(files.back(), state.imported_objects[n]);
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

/// Where the loader is to look for a library that lies in this folder: beside the saved file, if it
/// is there or below, so that both can be moved together.
std::string search_path(const std::filesystem::path& library, const std::filesystem::path& saved) {
  const std::filesystem::path folder = library.parent_path();
  const std::filesystem::path relative = folder.lexically_relative(saved.parent_path());
  if (relative == ".") return "$ORIGIN";
  const bool is_below = !relative.empty() && *relative.begin() != "..";
  return is_below ? "$ORIGIN/" + relative.string() : folder.string();
}

void save_shared_library(const Artifact::State& state, const std::filesystem::path& path) {
  const TemporaryFolder folder;
  const std::filesystem::path object = folder.file("functions.o");
  const std::filesystem::path saved = std::filesystem::absolute(path).lexically_normal();
  write_file(object, state.object);
  std::vector<std::string> arguments{"-shared", "-o", saved.string(),
                                     "-Wl,-soname," + saved.filename().string(), object.string()};
  for (std::size_t n = 0; n < state.imported_objects.size(); ++n) {
    arguments.push_back(folder.file("import" + std::to_string(n) + ".o").string());
    write_file(arguments.back(), state.imported_objects[n]);
  }
  for (const std::filesystem::path& given : state.options.link) {
    if (given.extension() == ".ll" || given.extension() == ".bc") continue;
    const std::filesystem::path library = std::filesystem::absolute(given).lexically_normal();
    if (library.extension() != ".so") {
      arguments.push_back(library.string());
      continue;
    }
    // By its name: a library without a soname would be recorded with its path.
    arguments.push_back("-L" + library.parent_path().string());
    arguments.push_back("-l:" + library.filename().string());
    arguments.push_back("-Wl,-rpath," + search_path(library, saved));
  }
  arguments.emplace_back("-lm");
  CCompiler(state.options.c_compiler)
      .run(arguments, "to link the shared library `" + path.string() + "`");
}

}  // namespace

void Artifact::save(const std::filesystem::path& path) const {
  const std::string suffix = path.extension().string();
  if (suffix == ".o") return save_object(*state_, path);
  if (suffix == ".a") return save_archive(*state_, path);
  if (suffix == ".so") return save_shared_library(*state_, path);
  if (suffix == ".ll") return write_file(path, source("ll"));
  if (suffix == ".s") return write_file(path, source("asm"));
  if (suffix == ".bc") return write_file(path, state_->bitcode);
  if (suffix == ".h")
    return write_file(path, c_header(path.filename().string(), state_->functions));
  throw RuntimeError("cannot save compiled code as `" + path.string() +
                     "`: known suffixes are .so, .o, .a, .ll, .bc, .s and .h");
}

}  // namespace tenon::codegen
