#include "tests/fuzz/random_program.h"

#include <algorithm>
#include <sstream>

#include "tests/fuzz/program_maker.h"

namespace tenon::fuzz {

namespace {

const std::vector<DataType>& kTypes() {
  static const std::vector<DataType> types = {
      Int(32),  Int(32),   Int(64),   Int(8),    Int(16),   UInt(8),   UInt(16),   UInt(32),
      UInt(64), Float(16), Float(32), Float(32), Float(32), Float(64), BFloat(16), Bool()};
  return types;
}

}  // namespace

ProgramMaker::ProgramMaker(Random& random, testing::Data data)
    : random_(random), type_(random.pick(kTypes())) {
  program_.data = data;
  program_.notes.feature("data", data == testing::Data::Small ? "small" : "overflowing");
  if (random_.one_in(6)) program_.size = te::size_var("n", type_of_size());
  counts_in_64_bits_ = random_.one_in(10);
}

DataType ProgramMaker::type_of_size() {
  static const std::vector<DataType> others = {Int(8),  UInt(8),  Int(16), UInt(16),
                                               Int(64), UInt(32), UInt(64)};
  if (!random_.one_in(3)) return Int(32);
  program_.notes.feature("extent", "n of another type than int32");
  return random_.pick(others);
}

RandomProgram ProgramMaker::run() {
  if (program_.size) program_.text.push_back("n = size_var of " + program_.size->dtype().str());
  if (counts_in_64_bits_) program_.text.push_back("extents of int64");
  if (program_.size && random_.one_in(6)) {
    add_rows_of_any_number();
    return std::move(program_);
  }
  const bool small = random_.one_in(2), is_long = !small && random_.one_in(12);
  if (is_long) most_elements_ = 40;
  const int inputs = random_.between(1, 2);
  for (int n = 0; n < inputs; ++n) add_input(std::string(1, static_cast<char>('A' + n)));
  add_stages(small ? 1 : is_long ? random_.between(10, 40) : random_.between(1, 4));
  return std::move(program_);
}

void ProgramMaker::add_stages(int count) {
  for (int n = 0; n < count; ++n) add_stage("T" + std::to_string(n));
  const std::size_t made = program_.stages.size();
  program_.notes.feature("stages", made == 1 ? "1" : made < 10 ? "2 to 9" : "10 to 40");
}

Axes ProgramMaker::axes_of(std::span<const Var> vars, const Shape& shape) {
  Axes axes;
  for (std::size_t d = 0; d < vars.size(); ++d) axes.push_back({vars[d], shape[d]});
  return axes;
}

Axes ProgramMaker::inside(Axes a, const Axes& b) {
  a.insert(a.end(), b.begin(), b.end());
  return a;
}

void ProgramMaker::add_input(const std::string& name) {
  const Shape shape = random_shape();
  const DataType type = random_.one_in(5) ? random_.pick(kTypes()) : type_;
  const te::Tensor t = te::placeholder(extents(shape), name, type);
  tensors_.push_back({t, shape, magnitude_of_inputs(type)});
  program_.inputs.push_back(t);
  program_.notes.operation("input", type);
  std::ostringstream text;
  text << name << " = " << t << " of " << type.str();
  program_.text.push_back(text.str());
}

void ProgramMaker::add_output(const te::Tensor& t, const Shape& shape, Magnitude magnitude) {
  tensors_.push_back({t, shape, magnitude});
  program_.stages.push_back(t);
  program_.tolerance = std::max(program_.tolerance,
                                t.dtype().is_floating() ? tolerance_of(t.dtype(), magnitude) : 0.0);
  if (t.value_index() > 0) return;
  std::ostringstream body;
  body << t.op();
  if (t.dtype() != Int(32)) body << " of " << t.dtype().str();
  program_.text.push_back(body.str());
}

void ProgramMaker::add_stage(const std::string& name) {
  if (random_.one_in(4) && add_graph(name)) return;
  if (random_.one_in(12) && add_extern(name)) return;
  if (random_.one_in(12) && add_extern_sums(name)) return;
  if (random_.one_in(16) && add_region(name)) return;
  if (random_.one_in(24) && add_nothing(name)) return;
  const DataType type = random_.one_in(4) ? random_.pick(kTypes()) : type_;
  if (random_.one_in(2))
    return random_.one_in(3) ? add_tuple_reduction(name, type) : add_reduction(name, type);
  return random_.one_in(12) ? add_several_outputs(name, type) : add_elementwise(name, type);
}

te::Tensor ProgramMaker::add_compute(const std::string& name, const Shape& shape,
                                     const std::function<ExactValue(const Axes& axes)>& body) {
  Magnitude magnitude;
  const te::Tensor t = te::compute(
      extents(shape),
      [&](std::span<const Var> vars) -> Expr {
        const ExactValue e = body(axes_of(vars, shape));
        magnitude = e.magnitude;
        return e.value;
      },
      name);
  add_output(t, shape, magnitude);
  return t;
}

void ProgramMaker::add_elementwise(const std::string& name, DataType type) {
  program_.notes.operation("element", type);
  add_compute(name, random_shape(), [&](const Axes& axes) { return element(axes, type); });
}

void ProgramMaker::add_several_outputs(const std::string& name, DataType type) {
  const Shape shape = random_shape();
  std::vector<Magnitude> magnitudes;
  const std::vector<te::Tensor> outputs = te::compute_multi(
      extents(shape),
      [&](std::span<const Var> vars) {
        std::vector<Expr> bodies;
        for (const DataType each : {type, random_.pick(kTypes())}) {
          program_.notes.operation("several outputs", each);
          const ExactValue e = element(axes_of(vars, shape), each);
          magnitudes.push_back(e.magnitude);
          bodies.push_back(e.value);
        }
        return bodies;
      },
      name);
  for (std::size_t k = 0; k < outputs.size(); ++k) add_output(outputs[k], shape, magnitudes[k]);
}

RandomProgram random_program(Random& random, testing::Data data) {
  return ProgramMaker(random, data).run();
}

}  // namespace tenon::fuzz
