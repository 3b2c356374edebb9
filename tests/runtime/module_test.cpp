// Modules: functions, variants of kernels, manifests.
#include "tenon/runtime/module_impl.h"

#include <dlfcn.h>
#include <gtest/gtest.h>
#include <link.h>
#include <unistd.h>

#include <algorithm>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <string>

#include "tenon/runtime/kernel_variants.h"
#include "tenon/runtime/processor.h"
#include "tenon/runtime/spec.h"
#include "tenon/runtime/symbols.h"
#include "tenon_test_paths.h"
#include "tests/runtime/errors.h"

namespace tenon::runtime {
namespace {

// ---- modules ------------------------------------------------------------------------------------

/// A module of two functions in this process: `double` doubles an array, `fail` fails.
class ExampleModule : public ModuleImpl {
 public:
  std::string kind() const override { return "example"; }
  const std::vector<FunctionSpec>& functions() const override { return functions_; }
  Function::PackedCall lookup(const FunctionSpec& function) override {
    ++lookups;
    if (function.name == "fail")
      return [](auto...) -> std::int32_t {
        tenon_set_last_error("the assertion i < n does not hold");
        return kTenonError;
      };
    if (function.name == "silent") return [](auto...) -> std::int32_t { return 42; };
    return [](const TenonValue* args, auto...) -> std::int32_t {
      const auto& t = *static_cast<const DLTensor*>(args[0].p);
      for (std::int64_t i = 0; i < t.shape[0]; ++i) static_cast<float*>(t.data)[i] *= 2;
      return kTenonOk;
    };
  }
  std::vector<std::string> source_kinds() const override { return {"ll", "asm"}; }
  std::string source(std::string_view kind) const override {
    return "source " + std::string(kind) + "\n";
  }

  int lookups = 0;

 private:
  std::vector<FunctionSpec> functions_ = {
      {.name = "twice",
       .symbol = "twice",
       .params = {{"A",
                   ArraySpec{
                       .dtype = Float(32), .shape = {Symbol{"n"}}, .access = Access::ReadWrite}}}},
      {.name = "fail", .symbol = "fail"},
      {.name = "silent", .symbol = "silent"}};
};

TEST(Module, CallsAFunctionByName) {
  Module mod(std::make_shared<ExampleModule>());
  NDArray a = NDArray::full({3}, Float(32), 1.5);
  mod["twice"](a);
  EXPECT_EQ(a.to_vector<float>(), std::vector<float>(3, 3));
}

TEST(Module, AFunctionKeepsItsModuleAlive) {
  std::weak_ptr<ModuleImpl> impl;
  {
    std::optional<Function> f;
    {
      Module mod(std::make_shared<ExampleModule>());
      impl = mod.impl();
      f = mod["twice"];
    }
    EXPECT_FALSE(impl.expired());
    (*f)(NDArray::zeros({2}, Float(32)));
  }
  EXPECT_TRUE(impl.expired());
}

TEST(Module, LooksAFunctionUpOnce) {
  auto impl = std::make_shared<ExampleModule>();
  Module mod(impl);
  for (int i = 0; i < 3; ++i) mod["twice"](NDArray::zeros({2}, Float(32)));
  EXPECT_EQ(impl->lookups, 1);
}

TEST(Module, AnUnknownFunctionIsAnErrorThatListsTheKnown) {
  Module mod(std::make_shared<ExampleModule>());
  EXPECT_EQ(message_of([&] { (void)mod["nope"]; }),
            "the module has no function `nope`; it has `twice`, `fail`, `silent`");
}

TEST(Module, ErrorsNameTheUsersLine) {
  Module mod(std::make_shared<ExampleModule>());
  const auto here = SourceLocation::current();
  try {
    mod["twice"](1, 2);
    FAIL();
  } catch (const RuntimeError& error) {
    ASSERT_TRUE(error.where());
    EXPECT_EQ(error.where()->line(), here.line() + 2);
    EXPECT_STREQ(error.where()->file_name(), here.file_name());
  }
}

TEST(Module, AFailingFunctionThrowsItsMessage) {
  Module mod(std::make_shared<ExampleModule>());
  EXPECT_EQ(message_of([&] { mod["fail"](); }), "`fail` failed: the assertion i < n does not hold");
  EXPECT_EQ(message_of([&] { mod["silent"](); }), "`silent` failed: status 42 without a message");
}

TEST(Module, SourceByKind) {
  Module mod(std::make_shared<ExampleModule>());
  EXPECT_EQ(mod.get_source("asm"), "source asm\n");
  EXPECT_EQ(mod.get_source(), "source ll\n");
  EXPECT_EQ(message_of([&] { mod.get_source("zz"); }),
            "get_source: this module (example) has no source of kind `zz`; it has `ll`, `asm`");
}

TEST(Module, TheEntryIsTheFirstFunction) {
  Module mod(std::make_shared<ExampleModule>());
  EXPECT_EQ(mod.entry_name(), "twice");
  EXPECT_EQ(mod.function_names(), (std::vector<std::string>{"twice", "fail", "silent"}));
  EXPECT_TRUE(mod.imported_modules().empty());
}

TEST(Module, SavingWhatCannotBeSavedIsAnError) {
  Module mod(std::make_shared<ExampleModule>());
  EXPECT_EQ(message_of([&] { mod.save("x.so"); }), "this module (example) cannot be saved as x.so");
}

TEST(Symbols, AreThoseOfTheCInterface) {
  for (const CSymbol& symbol : c_symbols()) {
    EXPECT_TRUE(symbol.name.starts_with("tenon_"));
    EXPECT_NE(symbol.address, nullptr);
  }
}

TEST(Symbols, StandUnderTheNamesThatTheLibraryExports) {
  for (const CSymbol& symbol : c_symbols())
    EXPECT_EQ(dlsym(RTLD_DEFAULT, std::string(symbol.name).c_str()), symbol.address) << symbol.name;
}

TEST(Symbols, HaveTheTypesOfTheirDeclarations) {
  const CSymbol& loop = c_symbol("tenon_parallel_for");
  EXPECT_EQ(loop.result, Int(32));
  EXPECT_EQ(std::vector(loop.params.begin(), loop.params.end()),
            (std::vector{Handle(), Handle(), Int(64), Int(64)}));
  const CSymbol& workspace = c_symbol("tenon_workspace_alloc");
  EXPECT_EQ(workspace.result, Handle());
  EXPECT_EQ(std::vector(workspace.params.begin(), workspace.params.end()),
            (std::vector{Int(32), Int(32), UInt(64), Int(32)}));
  EXPECT_EQ(c_symbol("tenon_set_last_error").result, std::nullopt);
  EXPECT_TRUE(c_symbol("tenon_parallel_barrier").params.empty());
}

// ---- Libraries, compiled by the C compiler as code generation would make them ----

class LoadedModule : public testing::Test {
 protected:
  LoadedModule()
      : folder_(std::filesystem::temp_directory_path() /
                ("tenon_module_test_" + std::to_string(getpid()))) {
    std::filesystem::create_directories(folder_);
  }
  ~LoadedModule() override { std::filesystem::remove_all(folder_); }

  std::filesystem::path compile(const std::string& name, const std::string& source) {
    const auto file = folder_ / (name + ".c"), library = folder_ / (name + ".so");
    std::ofstream(file) << source;
    const std::string command = "cc -std=c99 -shared -fPIC -I" TENON_SOURCE_DIR "/include -o " +
                                library.string() + " " + file.string();
    EXPECT_EQ(std::system(command.c_str()), 0) << command;
    return library;
  }

  std::filesystem::path compile_scale() {
    return compile("scale", R"(
      #include "tenon/runtime/c_api.h"
      const TenonRuntimeApi* tenon_runtime_api_slot = 0;
      const char tenon_module_manifest[] =
          "tenon-manifest 1\n"
          "function \"scale\" \"scale_v1\"\n"
          "array \"A\" readwrite float32 [ \"n\":32 ] compact align 4 device 1 offset any index "
          "64\n"
          "scalar \"factor\" float32\n";
      struct closure { float* data; float factor; };
      static int32_t body(void* raw, int64_t begin, int64_t end) {
        struct closure* c = raw;
        for (int64_t i = begin; i < end; ++i) {
          if (c->data[i] < 0) {
            tenon_runtime_api_slot->set_last_error("A has a negative element");
            return kTenonError;
          }
          c->data[i] *= c->factor;
        }
        return kTenonOk;
      }
      int32_t scale_v1(const TenonValue* args, const int32_t* codes, int32_t count) {
        const DLTensor* a = args[0].p;
        struct closure c = {a->data, (float)args[1].f};
        (void)codes;
        (void)count;
        return tenon_runtime_api_slot->parallel_for(body, &c, 0, a->shape[0]);
      })");
  }

  /// A library whose function `f` stores the number in a cell.
  std::filesystem::path compile_constant(const std::string& name, int number,
                                         const std::string& features = "") {
    return compile(name, R"(
      #include "tenon/runtime/c_api.h"
      const char tenon_module_manifest[] =
          "tenon-manifest 1\n"
          "function \"f\" \"f\"\n"
          "array \"A\" write int32 [ ] compact align 4 device 1 offset any index 64\n)" +
                             features + R"(";
      int32_t f(const TenonValue* args, const int32_t* codes, int32_t count) {
        const DLTensor* a = args[0].p;
        *(int32_t*)a->data = )" +
                             std::to_string(number) + R"(;
        (void)codes;
        (void)count;
        return kTenonOk;
      })");
  }

  static std::int32_t result_of(const Module& module) {
    const NDArray cell = NDArray::zeros({}, Int(32));
    module["f"](cell);
    return *cell.data<std::int32_t>();
  }

  std::filesystem::path folder_;
};

TEST_F(LoadedModule, AFileThatIsCutShortIsRefused) {
  const auto whole = compile_scale(), part = folder_ / "part.so";
  for (int eighths = 0; eighths < 8; ++eighths) {
    std::filesystem::copy_file(whole, part, std::filesystem::copy_options::overwrite_existing);
    std::filesystem::resize_file(part, std::filesystem::file_size(whole) * eighths / 8);
    EXPECT_NE(message_of([&] { Module::load(part); }).find("part.so cannot be loaded"),
              std::string::npos)
        << eighths << " eighths";
  }
}

TEST_F(LoadedModule, AFileWithoutSectionsThatIsCutShortIsRefused) {
  const auto whole = compile_scale();
  // The header of the file without its table of sections, which is not needed to run.
  std::fstream file(whole, std::ios::binary | std::ios::in | std::ios::out);
  ElfW(Ehdr) header;
  file.read(reinterpret_cast<char*>(&header), sizeof header);
  const auto sections = header.e_shoff;
  header.e_shoff = 0, header.e_shnum = 0, header.e_shstrndx = 0;
  file.seekp(0);
  file.write(reinterpret_cast<const char*>(&header), sizeof header);
  file.close();
  std::filesystem::resize_file(whole, sections);
  EXPECT_EQ(Module::load(whole).entry_name(), "scale");
  std::filesystem::resize_file(whole, sections / 2);
  EXPECT_NE(message_of([&] { Module::load(whole); }).find("a segment of it is missing"),
            std::string::npos);
}

TEST_F(LoadedModule, ThePathOfALoadedModuleCanHoldAnother) {
  const auto path = compile_constant("one", 1), other = compile_constant("two", 2);
  const Module first = Module::load(path);
  EXPECT_EQ(result_of(first), 1);
  std::filesystem::rename(other, path);
  EXPECT_EQ(result_of(Module::load(path)), 2);
  EXPECT_EQ(result_of(first), 1);
}

TEST_F(LoadedModule, RunsOnWhenItsFileIsOverwritten) {
  const auto path = compile_constant("one", 1), other = compile_constant("two", 2);
  const Module first = Module::load(path);
  std::filesystem::copy_file(other, path, std::filesystem::copy_options::overwrite_existing);
  EXPECT_EQ(result_of(first), 1);
  std::filesystem::resize_file(path, 0);
  EXPECT_EQ(result_of(first), 1);
  first.save(path);
  EXPECT_EQ(result_of(Module::load(path)), 1);
}

// No processor of today has AMD's XOP of 2011.
TEST_F(LoadedModule, CodeForAnotherProcessorIsRefused) {
  if (processor_has("xop")) GTEST_SKIP() << "this processor has it";
  const auto library = compile_constant("old", 1, "features sse4.1 xop\\n");
  EXPECT_EQ(message_of([&] { Module::load(library); }),
            "function `f` of " + library.string() +
                " was compiled for a processor with xop, which this one does not have");
}

TEST_F(LoadedModule, AFunctionForThisProcessorRunsBesideOneForAnother) {
  if (processor_has("xop")) GTEST_SKIP() << "this processor has it";
  const Module module =
      Module::load(compile_constant("both", 1, "function \\\"g\\\" \\\"f\\\"\\nfeatures xop\\n"));
  EXPECT_EQ(result_of(module), 1);
  EXPECT_NE(message_of([&] { (void)module["g"]; }).find("`g`"), std::string::npos);
}

TEST(SystemLibrary, IsGoneWithTheLibraryThatRegisteredIt) {
  static const TenonPackedFunction functions[] = {
      [](const TenonValue*, const std::int32_t*, std::int32_t) -> std::int32_t {
        return kTenonOk;
      }};
  tenon_register_system_library("gone_", "tenon-manifest 1\nfunction \"f\" \"f\"\n", functions);
  Module::system_library("gone_")["f"]();
  tenon_unregister_system_library(functions);
  EXPECT_NE(message_of([] { Module::system_library("gone_"); }).find("no code"), std::string::npos);
}

TEST(CInterface, RefusesNullPointers) {
  EXPECT_EQ(tenon_module_load(nullptr), nullptr);
  EXPECT_STREQ(tenon_last_error(), "tenon_module_load: path is NULL");
  TenonModule* none = nullptr;
  tenon_module_free(none);
  EXPECT_EQ(tenon_module_call(none, "f", nullptr, nullptr, 0), kTenonInvalidArgument);
  EXPECT_EQ(tenon_num_threads(nullptr), kTenonInvalidArgument);
  EXPECT_EQ(tenon_parallel_for(nullptr, nullptr, 0, 4), kTenonInvalidArgument);
  EXPECT_EQ(tenon_parallel_launch(nullptr, nullptr, 1), kTenonInvalidArgument);
}

TEST_F(LoadedModule, CallsFromCRefuseNullPointers) {
  TenonModule* mod = tenon_module_load(compile_constant("one", 1).c_str());
  ASSERT_NE(mod, nullptr) << tenon_last_error();
  const TenonValue values[] = {{.p = nullptr}};
  const std::int32_t codes[] = {kTenonTensor};
  EXPECT_EQ(tenon_module_call(mod, nullptr, values, codes, 1), kTenonInvalidArgument);
  EXPECT_EQ(tenon_module_call(mod, "f", nullptr, codes, 1), kTenonInvalidArgument);
  EXPECT_EQ(tenon_module_call(mod, "f", values, nullptr, 1), kTenonInvalidArgument);
  EXPECT_EQ(tenon_module_call(mod, "f", values, codes, -1), kTenonInvalidArgument);
  EXPECT_EQ(tenon_module_call(mod, "f", values, codes, 1), kTenonError);
  EXPECT_STREQ(tenon_last_error(), "argument 1 `A` of `f`: expected int32[], got null");
  tenon_module_free(mod);
}

TEST_F(LoadedModule, RunsThroughTheRuntimesTable) {
  Module mod = Module::load(compile_scale());
  NDArray a = NDArray::full({1000}, Float(32), 2);
  mod["scale"](a, 4);
  EXPECT_EQ(a.to_vector<float>(), std::vector<float>(1000, 8));
  EXPECT_EQ(message_of([&] { mod["scale"](NDArray::full({1000}, Float(32), -1), 4); }),
            "`scale` failed: A has a negative element");
}

TEST_F(LoadedModule, ChecksArgumentsAsTheCompilingProcessDoes) {
  Module mod = Module::load(compile_scale());
  EXPECT_EQ(message_of([&] { mod["scale"](NDArray::zeros({4}, Int(32)), 1.0); }),
            "argument 1 `A` of `scale`: expected float32[n], got int32[4]");
}

TEST_F(LoadedModule, CanBeSavedAgain) {
  const auto copy = folder_ / "copy.so";
  Module::load(compile_scale()).save(copy);
  EXPECT_EQ(Module::load(copy).entry_name(), "scale");
  EXPECT_THROW(Module::load(copy).save(folder_ / "copy.o"), RuntimeError);
}

TEST_F(LoadedModule, OtherFilesAreRefused) {
  EXPECT_NE(
      message_of([&] { Module::load(folder_ / "absent.so"); }).find("absent.so cannot be loaded: "),
      std::string::npos);
  const auto other = compile("other", "int x;");
  EXPECT_EQ(message_of([&] { Module::load(other); }),
            other.string() + " is not a module of Tenon: it has no `tenon_module_manifest`");
}

TEST_F(LoadedModule, AManifestWithoutItsFunctionIsAnError) {
  Module mod = Module::load(compile("hollow", R"(
      const char tenon_module_manifest[] = "tenon-manifest 1\nfunction \"f\" \"f\"\n";)"));
  EXPECT_NE(message_of([&] { mod["f"](); }).find("hollow.so has no `f`"), std::string::npos);
}

TEST_F(LoadedModule, WorksFromC) {
  TenonModule* mod = tenon_module_load(compile_scale().c_str());
  ASSERT_NE(mod, nullptr) << tenon_last_error();
  NDArray a = NDArray::full({10}, Float(32), 3);
  DLTensor tensor = a.dl_tensor();
  const TenonValue args[] = {{.p = &tensor}, {.f = 2}};
  const std::int32_t codes[] = {kTenonTensor, kTenonFloat};
  EXPECT_EQ(tenon_module_call(mod, "scale", args, codes, 2), kTenonOk);
  EXPECT_EQ(a.to_vector<float>(), std::vector<float>(10, 6));
  EXPECT_EQ(tenon_module_call(mod, "scale", args, codes, 1), kTenonError);
  EXPECT_TRUE(std::string(tenon_last_error()).starts_with("`scale`: expected 2 arguments"))
      << tenon_last_error();
  tenon_module_free(mod);
  EXPECT_EQ(tenon_module_load("absent.so"), nullptr);
}

// ---- variants of kernels ------------------------------------------------------------------------

const char* const kNothing[] = {nullptr};

/// A feature that this processor lacks, up to a null pointer.
struct Lacking {
  std::string name;
  const char* features[2] = {nullptr, nullptr};
  Lacking() {
    for (const std::string_view feature : processor_features())
      if (!processor_has(feature)) name = feature;
    features[0] = name.empty() ? nullptr : name.c_str();
  }
};

TEST(KernelVariants, TheLastThatTheProcessorCanRunIsTaken) {
  const Lacking lacking;
  if (lacking.name.empty())
    GTEST_SKIP() << "this processor has every feature that can be asked for";
  const TenonVariant variants[] = {
      {"first", kNothing}, {"second", kNothing}, {"third", lacking.features}};
  int32_t chosen = 0;
  EXPECT_EQ(tenon_choose_variant("kernels", variants, 3, &chosen), 1);
  EXPECT_EQ(tenon_choose_variant("kernels", variants, 3, &chosen), 1);
}

TEST(KernelVariants, WhereNoneFitsTheFirstSaysWhatItNeeds) {
  const Lacking lacking;
  if (lacking.name.empty())
    GTEST_SKIP() << "this processor has every feature that can be asked for";
  const TenonVariant variants[] = {{"llvm -mcpu=other", lacking.features}};
  int32_t chosen = 0;
  EXPECT_EQ(tenon_choose_variant("kernels", variants, 1, &chosen), -1);
  EXPECT_EQ(std::string(tenon_last_error()),
            "the kernels `kernels` were compiled for other processors than this one: "
            "`llvm -mcpu=other` needs " +
                lacking.name);
}

// ---- manifests ----------------------------------------------------------------------------------

std::vector<FunctionSpec> example() {
  ArraySpec a{.dtype = Float(32), .shape = {1024, Symbol{"n", 32}, AnySize{}}, .alignment = 64};
  ArraySpec b{.dtype = BFloat(16, 4),
              .shape = {8, Symbol{"n \"odd\\\n", 64}},
              .strides = std::vector<Size>{Symbol{"s0"}, 1},
              .access = Access::ReadWrite,
              .device = DeviceType::Cuda,
              .zero_byte_offset = true,
              .index_bits = 32};
  ArraySpec rank_zero{.dtype = Bool(), .access = Access::Write};
  return {{.name = "matmul", .symbol = "matmul", .params = {{"A", a}, {"B", b}, {"S", rank_zero}}},
          {.name = "two words",
           .symbol = "two_words",
           .params = {{"n", ScalarSpec{Int(64)}}, {"p", ScalarSpec{Handle()}}}},
          {.name = "nothing", .symbol = "nothing"}};
}

TEST(Spec, TheManifestIsReadableText) {
  EXPECT_EQ(to_manifest(example()),
            R"(tenon-manifest 1
function "matmul" "matmul"
array "A" read float32 [ 1024 "n":32 ? ] compact align 64 device 1 offset any index 64
array "B" readwrite bfloat16x4 [ 8 "n \"odd\\\n":64 ] [ "s0":32 1 ] align 1 device 2 offset zero index 32
array "S" write bool [ ] compact align 1 device 1 offset any index 64
function "two words" "two_words"
scalar "n" int64
scalar "p" handle
function "nothing" "nothing"
)");
}

TEST(Spec, TheManifestParsesBackToTheSame) {
  EXPECT_EQ(parse_manifest(to_manifest(example())), example());
}

TEST(Spec, NamesMayHaveZeroBytes) {
  const std::string name("a\0b\\", 4);
  const std::vector<FunctionSpec> functions = {{.name = name, .symbol = "f"}};
  const std::string manifest = to_manifest(functions);
  EXPECT_EQ(manifest.find('\0'), std::string::npos);
  EXPECT_EQ(parse_manifest(manifest).front().name, name);
}

TEST(Spec, AManifestWithoutFunctionsIsOne) {
  EXPECT_TRUE(parse_manifest("tenon-manifest 1\n").empty());
}

TEST(Spec, WhatIsNoManifestIsRefusedWithItsLine) {
  EXPECT_EQ(
      message_of([] { parse_manifest("tenon-manifest 9\n"); }),
      "a module's manifest cannot be read: the line `tenon-manifest 9` is not `tenon-manifest 1`");
  EXPECT_EQ(message_of([] { parse_manifest(""); }),
            "a module's manifest cannot be read: the line `` is not `tenon-manifest 1`");
}

// Cutting the text of a manifest at any place, or changing any byte, gives a manifest or an error,
// never a crash.
TEST(Spec, DamagedTextIsAnErrorOrAManifest) {
  const std::string text = to_manifest(example());
  for (std::size_t i = 0; i < text.size(); ++i) {
    for (char c : {' ', '"', '\n', '9', 'x', '\\', '\0'}) {
      std::string damaged = text;
      damaged[i] = c;
      for (const std::string& candidate : {damaged, text.substr(0, i)}) {
        try {
          parse_manifest(candidate);
        } catch (const RuntimeError&) {
        }
      }
    }
  }
}

TEST(Spec, MessagesWriteParametersAsTypes) {
  const auto functions = example();
  EXPECT_EQ(describe(functions[0].params[0]), "float32[1024, n, ?]");
  EXPECT_EQ(describe(functions[0].params[2]), "bool[]");
  EXPECT_EQ(describe(functions[1].params[0]), "int64");
}

}  // namespace
}  // namespace tenon::runtime
