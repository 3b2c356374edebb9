// Exceptions of the compiler's library and of the runtime's are caught here as the types of the
// headers: all three share one copy of their state.
#include <tenon/tenon.h>

#include <vector>

using namespace tenon;

namespace {

/// Whether the call throws just this type, of which this program and the library have one
/// description.
template <class E, class Call>
bool throws(Call&& call) {
  try {
    call();
  } catch (const Error& error) {
    return typeid(error).name() == typeid(E).name() && error.where() &&
           std::string_view(error.where()->file_name()).ends_with("share_state.cpp");
  }
  return false;
}

}  // namespace

int main() {
  const te::Tensor A = te::placeholder({8}, "A");
  const te::Tensor B = te::compute(
      {8}, {"i"}, [&](Var i) { return A(i) * 2.0f; }, "B");
  te::Schedule s = te::create_schedule({B});
  if (!throws<ScheduleError>([&] { s[B].split(s[B].axis(0), 0); })) return 1;
  if (!throws<RuntimeError>([] { runtime::set_num_threads(-1); })) return 2;

  // Deep enough that the walk changes its stack, of which the thread has a mark.
  Expr deep = A(0);
  for (int i = 0; i < 100000; ++i) deep = deep + 1.0f;
  std::ostringstream text;
  text << deep;
  if (text.str().size() < 100000) return 3;

  // Code that the compiler's library makes reports to the runtime's.
  const runtime::Module module = build(s, {A, B}, Target("llvm"), {.name = "twice"});
  const auto a = runtime::NDArray::zeros({8}, Float(32), cpu(0));
  const auto b = runtime::NDArray::zeros({8}, Float(32), cpu(0));
  module["twice"](a, b);
  return 0;
}
