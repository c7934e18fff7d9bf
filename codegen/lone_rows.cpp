#include "codegen/lone_rows.h"

#include <variant>
#include <vector>

namespace heddle::codegen {
namespace {

void ask(std::vector<Step>& steps) {
  for (Step& step : steps) {
    if (auto* loop = std::get_if<Loop>(&step.what)) ask(loop->steps);
    if (auto* call = std::get_if<Library>(&step.what); call != nullptr && call->matrix_product)
      call->integers["lone_rows"] = {1};
  }
}

}  // namespace

void ask_for_lone_rows(Program& program) {
  for (Entry& entry : program.entries) ask(entry.steps);
}

}  // namespace heddle::codegen
