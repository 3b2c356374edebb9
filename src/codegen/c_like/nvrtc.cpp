#include "tenon/codegen/c_like/nvrtc.h"

#include <dlfcn.h>
#include <string.h>  // for strverscmp

#include <algorithm>
#include <filesystem>

#include "tenon/support/error.h"

namespace tenon::codegen {

namespace {

namespace fs = std::filesystem;

using Result = int;
using Program = void*;

constexpr Result kCompilationFailed = 6;

/// Returns the names and paths to try for the library: first names that the loader searches for,
/// then paths in the usual folders, newest version first.
std::vector<std::string> places() {
  std::vector<std::string> names{"libnvrtc.so", "libnvrtc.so.13", "libnvrtc.so.12",
                                 "/usr/local/cuda/lib64/libnvrtc.so"};
  std::vector<std::string> versions;
  std::error_code ignored;
  for (const auto& entry : fs::directory_iterator("/usr/local", ignored))
    if (entry.path().filename().string().starts_with("cuda-"))
      for (const char* folder : {"lib64", "lib"})
        versions.push_back((entry.path() / folder / "libnvrtc.so").string());
  // Sorts newest versions first: cuda-13.0 precedes cuda-9.2.
  std::ranges::sort(versions, [](const std::string& a, const std::string& b) {
    return strverscmp(a.c_str(), b.c_str()) > 0;
  });
  names.insert(names.end(), versions.begin(), versions.end());
  return names;
}

/// Returns the folder of an installation's headers, found relative to its library, or "".
std::string folder_of_headers(const std::string& library) {
  std::error_code ignored;
  std::vector<fs::path> folders;
  fs::path place = fs::canonical(library, ignored).parent_path();
  for (; !ignored && place.has_relative_path(); place = place.parent_path())
    folders.push_back(place / "include");
  folders.emplace_back("/usr/local/cuda/include");
  folders.emplace_back("/usr/include");
  for (const fs::path& folder : folders)
    if (fs::exists(folder / "mma.h", ignored)) return folder.string();
  return "";
}

/// Returns the path of the library that contains a function.
std::string file_of(void* function) {
  Dl_info info = {};
  return dladdr(function, &info) != 0 && info.dli_fname != nullptr ? info.dli_fname : "";
}

/// The library, which is never unloaded.
struct Nvrtc {
  Nvrtc() {
    for (const std::string& place : places())
      if (library = dlopen(place.c_str(), RTLD_NOW | RTLD_LOCAL); library != nullptr) break;
    if (library == nullptr) {
      why_missing = "libnvrtc.so, the compiler of CUDA C, was not found";
      return;
    }
    find(create, "nvrtcCreateProgram");
    find(destroy, "nvrtcDestroyProgram");
    find(compile, "nvrtcCompileProgram");
    find(error_text, "nvrtcGetErrorString");
    find(ptx_size, "nvrtcGetPTXSize");
    find(ptx, "nvrtcGetPTX");
    find(cubin_size, "nvrtcGetCUBINSize");
    find(cubin, "nvrtcGetCUBIN");
    find(log_size, "nvrtcGetProgramLogSize");
    find(log, "nvrtcGetProgramLog");
    if (why_missing.empty()) headers = folder_of_headers(file_of(reinterpret_cast<void*>(create)));
  }

  template <class F>
  void find(F*& function, const char* name) {
    function = reinterpret_cast<F*>(dlsym(library, name));
    if (function == nullptr)
      why_missing =
          "libnvrtc.so, the compiler of CUDA C, is too old: it has no " + std::string(name);
  }

  using Size = Result(Program, std::size_t*);
  using Text = Result(Program, char*);

  void* library = nullptr;
  std::string why_missing;
  /// The folder of the header that declares tensor core fragments; "" if the installation lacks it.
  std::string headers;
  Result (*create)(Program*, const char*, const char*, int, const char* const*,
                   const char* const*) = nullptr;
  Result (*destroy)(Program*) = nullptr;
  Result (*compile)(Program, int, const char* const*) = nullptr;
  const char* (*error_text)(Result) = nullptr;
  Size *ptx_size = nullptr, *cubin_size = nullptr, *log_size = nullptr;
  Text *ptx = nullptr, *cubin = nullptr, *log = nullptr;
};

const Nvrtc& nvrtc() {
  static const Nvrtc& library = *new Nvrtc;
  return library;
}

/// Returns an output of the compilation; "" if the compiler does not provide it.
std::string bytes_of(Program program, Nvrtc::Size* size_of, Nvrtc::Text* text_of) {
  std::size_t size = 0;
  if (size_of(program, &size) != 0 || size == 0) return "";
  std::string bytes(size, '\0');
  return text_of(program, bytes.data()) == 0 ? bytes : "";
}

}  // namespace

void compile_cuda(KernelCode& code, const std::string& arch, std::optional<int> max_registers) {
  const Nvrtc& library = nvrtc();
  if (!library.why_missing.empty()) {
    code.why_no_binary = library.why_missing;
    return;
  }
  std::vector<std::string> options{"--gpu-architecture=" + arch, "--std=c++17"};
  if (max_registers) options.push_back("--maxrregcount=" + std::to_string(*max_registers));
  if (code.text.find("#include <") != std::string::npos) {
    if (library.headers.empty()) {
      code.why_no_binary =
          "mma.h, which declares tensor cores, was not found next to NVRTC: "
          "install the headers of the CUDA toolkit";
      return;
    }
    options.push_back("--include-path=" + library.headers);
  }
  Program program = nullptr;
  const Result made =
      library.create(&program, code.text.c_str(), "kernels.cu", 0, nullptr, nullptr);
  if (made != 0) {
    code.why_no_binary = std::string("NVRTC cannot start: ") + library.error_text(made);
    return;
  }
  std::vector<const char*> words;
  for (const std::string& option : options) words.push_back(option.c_str());
  const Result compiled = library.compile(program, static_cast<int>(words.size()), words.data());
  const std::string log = bytes_of(program, library.log_size, library.log);
  if (compiled == 0) {
    code.ptx = bytes_of(program, library.ptx_size, library.ptx);
    code.binary = bytes_of(program, library.cubin_size, library.cubin);
    while (code.ptx.ends_with('\0')) code.ptx.pop_back();
  } else if (compiled != kCompilationFailed) {
    code.why_no_binary = "NVRTC does not compile for " + arch + ": " +
                         library.error_text(compiled) + (log.size() > 1 ? "\n" : "") + log.c_str();
  }
  library.destroy(&program);
  if (compiled == kCompilationFailed)
    throw LowerError("NVRTC refuses the CUDA C of kernels:\n" + std::string(log.c_str()));
}

}  // namespace tenon::codegen
