#include "tutorials/common/block_programs.h"

#include <tenon/tooling/check.h>
#include <tenon/tooling/profile_run.h>

#include <algorithm>
#include <boost/program_options.hpp>
#include <cmath>
#include <cstdlib>
#include <iostream>

#include "tenon/tir/expr.h"

using namespace tenon;
namespace po = boost::program_options;

std::vector<runtime::NDArray> random_arrays(const tir::IRModule& mod) {
  std::vector<runtime::NDArray> result;
  for (const tir::BufferParam& array : mod.functions.begin()->second.buffers) {
    runtime::NDArray::Shape shape;
    for (const Expr& extent : array.declared->shape)
      shape.push_back(tir::constant_int(extent).value());
    result.push_back(runtime::NDArray::random(shape, array.declared->dtype));
  }
  return result;
}

ReluProduct::ReluProduct(int size)
    : a(runtime::NDArray::random({size, size}, Float(32), {.seed = 1})),
      b(runtime::NDArray::random({size, size}, Float(32), {.seed = 2})),
      expected(runtime::NDArray::zeros({size, size}, Float(32))) {
  const float *from = a.data<float>(), *with = b.data<float>();
  float* to = expected.data<float>();
  for (int i = 0; i < size; ++i)
    for (int j = 0; j < size; ++j) {
      float sum = 0;
      for (int k = 0; k < size; ++k) sum += from[i * size + k] * with[k * size + j];
      to[i * size + j] = std::max(sum, 0.0f);
    }
}

bool ReluProduct::is_right(const runtime::Function& function) const {
  const auto c = runtime::NDArray::full(expected.shape(), Float(32), NAN);
  function(a, b, c);
  return compare(c, expected, {.relative = 1e-5, .absolute = 1e-5}).fine();
}

BlockSteps::BlockSteps(int argc, char** argv, std::string title) : title_(std::move(title)) {
  std::string emit = "script", target = "llvm";
  po::options_description known("Options");
  known.add_options()("help", "print this help")  //
      ("emit", po::value(&emit)->default_value(emit),
       "script: print the steps as scripts; html: a page with the loops and code of each step")(
          "target", po::value(&target)->default_value(target), "target of the code on the page")(
          "profile", po::bool_switch(&is_profiled_),
          "run the steps on random arrays and print the time of each stage, on the page or as "
          "tables");
  try {
    po::variables_map values;
    po::store(po::command_line_parser(argc, argv).options(known).run(), values);
    po::notify(values);
    if (values.contains("help")) {
      std::cout << known;
      std::exit(0);
    }
    if (emit != "script" && emit != "html")
      throw po::error("--emit is script or html, not `" + emit + "`");
    target_ = Target(target);
    if (is_profiled_ && target_.facts().kind != tir::TargetKind::Llvm)
      throw po::error("--profile is for --target=llvm, not `" + target + "`");
  } catch (const std::exception& error) {
    std::cerr << error.what() << "\n" << known;
    std::exit(2);
  }
  is_page_ = emit == "html";
}

void BlockSteps::show(const std::string& title, const tir::IRModule& mod) {
  std::optional<Profile> profile;
  if (is_profiled_) {
    const std::vector<runtime::NDArray> arrays = random_arrays(mod);
    const std::vector<runtime::Argument> call(arrays.begin(), arrays.end());
    profile = profile_run(mod, target_, {.name = title}, call);
  }
  if (is_page_) {
    views_.push_back(view_loops(mod, target_, {.name = title}, profile));
    return;
  }
  std::cout << "===== " << title << '\n' << s_tir::print_script(mod) << '\n';
  if (profile) std::cout << "profile " << title << ":\n" << *profile << std::endl;
}

int BlockSteps::print_page() const {
  std::cout << loop_page(title_, views_);
  return 0;
}
