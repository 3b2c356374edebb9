#include "tenon/tooling/graphviz.h"

#include "tenon/codegen/files.h"
#include "tenon/codegen/process.h"
#include "tenon/support/error.h"

namespace tenon {

std::string drawn(const std::string& graphs) {
  const codegen::TemporaryFolder folder;
  const std::string file = folder.file("graphs.dot").string();
  codegen::write_file(file, graphs);
  const auto done = codegen::run_process({"dot", "-Tsvg", file});
  if (!done)
    throw RuntimeError(
        "`dot`, the program of Graphviz that draws graphs, is not installed; --emit=dot prints "
        "its input");
  if (done->status != 0) throw RuntimeError("`dot` cannot draw the graphs: " + done->output);
  return done->output;
}

}  // namespace tenon
