#include "tenon/codegen/c_like/compile.h"

#include <algorithm>
#include <array>

#include "codegen/c_like/text_emitter.h"
#include "tenon/codegen/c_compiler.h"
#include "tenon/codegen/files.h"
#include "tenon/codegen/imports.h"
#include "tenon/codegen/loaded_artifact.h"
#include "tenon/codegen/process.h"
#include "tenon/codegen/symbol_names.h"
#include "tenon/runtime/module_seal.h"
#include "tenon/runtime/processor.h"
#include "tenon/support/error.h"

namespace tenon::codegen {

namespace {

struct CCode {
  std::vector<runtime::FunctionSpec> functions;
  tir::TargetFacts target;
  CompileOptions options;
  std::string text, header;
};

/// Returns flags that permit the same floating-point transformations as the LLVM code generator:
/// contraction always, reassociation only with fast_math. NaN and infinity are always respected.
std::vector<std::string> flags_of(const CCode& code) {
  std::vector<std::string> flags{"-std=gnu11",
                                 "-O" + std::to_string(code.options.opt_level),
                                 "-fPIC",
                                 "-fexceptions",
                                 "-fno-strict-aliasing",
                                 "-fopenmp-simd",
                                 "-DTENON_SIMD",
                                 "-ffp-contract=fast",
                                 "-fno-math-errno",
                                 "-fno-trapping-math"};
  // Long unrolled code calls the helper functions thousands of times, above all the helpers for
  // float16. Inlining each call makes GCC ten times slower.
  constexpr std::size_t kLongText = std::size_t{1} << 20;
  if (code.text.size() > kLongText) flags.emplace_back("-fno-inline");
  if (code.target.fast_math)
    flags.insert(flags.end(), {"-fassociative-math", "-freciprocal-math", "-fno-signed-zeros"});
  return flags;
}

/// Disables transformations of GCC 12 that produce wrong code. If-conversion loads elements that a
/// condition guards. Vectors in the red zone of x86-64 are assumed aligned even if the stack
/// pointer is not a multiple of 16. pow(x, 0.5) becomes a vector of square roots, which differ for
/// -infinity and -0.0.
constexpr std::array kAgainstErrors = {"-fno-tree-loop-if-convert", "-mno-red-zone",
                                       "-fno-builtin-pow", "-fno-builtin-powf"};

/// Compiles the text with these flags, for the closest target that the compiler supports.
void run_compiler(const CCode& code, const std::vector<std::string>& flags,
                  const std::filesystem::path& result, const std::string& purpose) {
  const TemporaryFolder folder;
  write_file(folder.file("functions.c"), code.text);
  const CCompiler compiler(code.options.c_compiler);
  std::vector<std::string> arguments = flags_of(code);
  for (const char* flag : kAgainstErrors)
    if (compiler.accepts({flag})) arguments.emplace_back(flag);
  arguments.insert(arguments.end(), {folder.file("functions.c").string(), "-o", result.string()});
  arguments.insert(arguments.end(), flags.begin(), flags.end());
  // A target without a triple specifies no processor.
  const CTarget target{.triple = code.target.triple,
                       .cpu = code.target.cpu,
                       .is_this_processor = !code.target.triple.empty()};
  compiler.run_for(target, arguments, purpose);
}

void link_shared_library(const CCode& code, const std::filesystem::path& path) {
  for (const std::filesystem::path& library : code.options.link)
    if (!std::filesystem::exists(library))
      throw RuntimeError("the library to link `" + library.string() + "` is not there");
  const std::filesystem::path saved = std::filesystem::absolute(path).lexically_normal();
  // -Bsymbolic: a function of the program must not preempt a function of the library with the same
  // name.
  std::vector<std::string> flags{"-shared", "-Wl,-Bsymbolic",
                                 "-Wl,-soname," + saved.filename().string()};
  for (std::string& argument : link_arguments(code.options.link, saved))
    flags.push_back(std::move(argument));
  flags.emplace_back("-lm");
  run_compiler(code, flags, saved, "to make the shared library `" + path.string() + "`");
  runtime::seal_module_file(saved);
}

void save_archive(const CCode& code, const std::filesystem::path& path) {
  const TemporaryFolder folder;
  run_compiler(code, {"-c"}, folder.file("functions.o"), "to compile functions");
  std::filesystem::remove(path);
  const auto done = run_process(
      {"ar", "rcs", std::filesystem::absolute(path).string(), folder.file("functions.o").string()});
  if (!done || done->status != 0)
    throw RuntimeError("cannot write `" + path.string() + "` by `ar`" +
                       (done ? ": " + done->output : ", which is not there"));
}

std::string header_text(const std::filesystem::path& path, const std::string& declarations) {
  const std::string guard = include_guard(path.filename().string());
  return "/* Functions compiled by Tenon. They do not check their arguments, and return 0 if all "
         "went well. Arrays\n * are row-major unless strides are given, and do not overlap. */\n"
         "#ifndef " +
         guard + "\n#define " + guard +
         "\n\n#include <stdbool.h>\n#include <stdint.h>\n\n#ifdef __cplusplus\nextern \"C\" {\n"
         "#endif\n" +
         declarations + "\n#ifdef __cplusplus\n}\n#endif\n\n#endif\n";
}

class CArtifact : public ArtifactImpl, public std::enable_shared_from_this<CArtifact> {
 public:
  explicit CArtifact(CCode code) : code_(std::move(code)) {}

  const std::vector<runtime::FunctionSpec>& functions() const override { return code_.functions; }
  std::vector<std::string> source_kinds() const override { return {"c"}; }
  std::string source(std::string_view) const override { return code_.text; }

  void save(const std::string& file, const runtime::SaveOptions&) const override {
    const std::filesystem::path path = file;
    const std::string suffix = path.extension().string();
    if (suffix == ".c") return write_file(path, code_.text);
    if (suffix == ".h") return write_file(path, header_text(path, code_.header));
    if (suffix == ".so") return link_shared_library(code_, path);
    if (suffix == ".a") return save_archive(code_, path);
    if (suffix == ".o")
      return run_compiler(code_, {"-c"}, std::filesystem::absolute(path),
                          "to make `" + path.string() + "`");
    throw RuntimeError("cannot save C code as `" + path.string() +
                       "`: known suffixes are .c, .h, .so, .o and .a");
  }

  runtime::Module load() const override {
    const TemporaryFolder folder;
    const std::filesystem::path library = folder.file("functions.so");
    link_shared_library(code_, library);
    try {
      return runtime::Module(std::make_shared<LoadedArtifact>(
          "c", shared_from_this(),
          [code = runtime::Module::load(library).impl()](const runtime::FunctionSpec& function) {
            return code->lookup(function);
          }));
    } catch (const RuntimeError& error) {
      refuse_unknown_function(error.what());
      throw;
    }
  }

 private:
  /// Throws if the loader's message is about an undefined symbol.
  static void refuse_unknown_function(const std::string& message) {
    constexpr std::string_view kBefore = "undefined symbol: ";
    const std::size_t at = message.find(kBefore);
    if (at == std::string::npos) return;
    const std::size_t begin = at + kBefore.size();
    const std::size_t end = message.find_first_of(" )", begin);
    refuse_unknown_functions({message.substr(begin, end - begin)}, "pragma import_c");
  }

  CCode code_;
};

/// Returns the definition of the manifest, a string constant that lists the functions of the module
/// (see c_api.h). The runtime reads it when it loads a shared library. The symbol is weak, so that
/// objects of several modules can be linked together.
std::string manifest_text(const std::vector<runtime::FunctionSpec>& functions) {
  const std::string manifest = runtime::to_manifest(functions);
  std::string text = "#if defined(__GNUC__)\n__attribute__((weak))\n#endif\nconst char " +
                     std::string(kManifestSymbol) + "[] =";
  for (std::size_t begin = 0; begin < manifest.size();) {
    const std::size_t end = std::min(manifest.find('\n', begin), manifest.size() - 1) + 1;
    text += "\n    " + c_string(manifest.substr(begin, end - begin));
    begin = end;
  }
  return text + ";\n";
}

std::vector<std::string> imported_texts(const std::vector<CompileUnit>& units) {
  std::vector<std::string> llvm_sources, c_sources;
  for (const CompileUnit& unit : units) add_imported_sources(unit.module, llvm_sources, c_sources);
  if (!llvm_sources.empty())
    throw LowerError("C text cannot import LLVM IR (pragma import_llvm); use target llvm");
  std::vector<std::string> texts;
  for (const std::string& source : c_sources)
    texts.push_back(is_source_path(source, {".c"}) ? read_file(source) : source);
  return texts;
}

/// Returns the features that the code requires and whose presence can be tested when it is loaded.
std::vector<std::string> needed_features(const tir::TargetFacts& target) {
  std::vector<std::string> needed;
  for (const std::string_view feature : runtime::processor_features())
    if (std::ranges::find(target.features, "+" + std::string(feature)) != target.features.end())
      needed.emplace_back(feature);
  return needed;
}

}  // namespace

Artifact compile_to_c(const std::vector<CompileUnit>& units, const CompileOptions& options) {
  auto start = std::chrono::steady_clock::now();
  CCode code;
  code.target = units.front().target;
  code.options = options;
  code.options.on_step = {};  // The artifact may outlive the objects that the callback refers to.
  for (const CompileUnit& unit : units)
    if (unit.target.cpu != code.target.cpu || unit.target.features != code.target.features)
      throw TargetError(
          "C functions of one module must be for the same processor; build one module per "
          "processor");
  for (const std::filesystem::path& path : options.link)
    if (is_llvm_ir(path))
      throw RuntimeError("C code cannot link LLVM IR, such as `" + path.string() +
                         "`; use target llvm");
  TextEmitter emitter(kPlainC, imported_texts(units), options);
  std::set<std::string> symbols = function_names(units);
  std::vector<std::pair<const tir::PrimFunc*, Signature>> functions;
  for (const CompileUnit& unit : units)
    for (const auto& [name, func] : unit.module.functions) {
      functions.emplace_back(&func,
                             signature_of(func, packed_symbol(func.attrs.global_symbol, symbols),
                                          options.argument_alignment));
      reserve_names(emitter, func, functions.back().second);
      code.functions.push_back(functions.back().second.spec);
      code.functions.back().features = needed_features(unit.target);
    }
  for (const auto& [func, signature] : functions) emit_c_function(emitter, *func, signature);
  code.text = emitter.text(manifest_text(code.functions));
  code.header = emitter.declarations();
  finish_step(options.on_step, "emit-c", start);
  return Artifact(std::make_shared<CArtifact>(std::move(code)));
}

}  // namespace tenon::codegen
