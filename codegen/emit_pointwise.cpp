#include <fmt/format.h>

#include "codegen/emit_forms.h"

namespace heddle::codegen {

using namespace ir;  // NOLINT: this file speaks of little else

std::vector<std::string> emit_pointwise(KernelText& text) {
  Body body(text);
  body.reduce_singles();
  body.open(/*covers=*/1);
  body.open_columns();
  for (const ValueId v : text.kernel.outputs) body.store(v, Extent::full);
  std::vector<std::string> columns = body.close_columns(), inside = body.close();
  inside.insert(inside.end(), columns.begin(), columns.end());
  std::vector<std::string> lines = body.close();
  const std::string head = fmt::format("{}({}, row, column, {}, {}, {})", text.groups ? "HD_GROUPS" : "HD_POINTS",
                                       text.index_type, text.plan.rows, text.plan.columns, text.packet);
  const std::vector<std::string> loop = block(head, inside);
  lines.insert(lines.end(), loop.begin(), loop.end());
  return lines;
}

}  // namespace heddle::codegen
