#include "tenon/codegen/lowering/share_loop.h"

#include <gtest/gtest.h>

#include "kernel.h"
#include "tenon/interp/evaluate.h"
#include "tenon/tir/ops.h"

namespace tenon::codegen {
namespace {

using namespace tir;
using namespace testing;

/// Returns how often the tasks together execute each iteration of a loop from 3 on.
std::vector<std::int32_t> executions(int extent, int tasks, bool is_strided, DataType type) {
  Kernel k;
  const Buffer counts = k.array({16}, Int(32));
  const Var i("i", type);
  const Stmt count = make_store(counts, make_load(counts, {i}) + 1, {i});
  Task task;
  task.is_strided = is_strided;
  const For loop{i, make_int(type, 3), make_int(type, extent), ForKind::Parallel, count};
  const Stmt share = share_of_task(loop, task);
  std::vector<std::int32_t> result(16);
  for (int id = 0; id < tasks; ++id) {
    const Stmt body = make_stmt(Let{task.count, make_int(Int(32), tasks),
                                    make_stmt(Let{task.id, make_int(Int(32), id), share})});
    const HostArray array{result.data(), Int(32), {16}};
    evaluate(k.module(body).functions.at("main"), std::vector<HostValue>{array});
  }
  return result;
}

TEST(ShareOfTask, TasksTogetherExecuteEachIterationOnce) {
  for (const DataType type : {Int(32), Int(64)})
    for (const bool is_strided : {false, true})
      for (const int tasks : {1, 2, 5, 20})
        for (const int extent : {-4, 0, 1, 7, 10}) {
          std::vector<std::int32_t> once(16);
          for (int n = 0; n < extent; ++n) once[3 + static_cast<std::size_t>(n)] = 1;
          EXPECT_EQ(executions(extent, tasks, is_strided, type), once)
              << extent << " iterations, " << tasks << " tasks, strided " << is_strided;
        }
}

}  // namespace
}  // namespace tenon::codegen
