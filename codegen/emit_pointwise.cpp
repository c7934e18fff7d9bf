#include <fmt/format.h>

#include "codegen/column_parts.h"
#include "codegen/emit_forms.h"

namespace heddle::codegen {

using namespace ir;  // NOLINT: this file speaks of little else

namespace {

// What is known before the loop, and the loop over these columns of all rows.
std::vector<std::string> over_columns(KernelText& text, Body& body, const ColumnPart& part) {
  body.open(/*covers=*/1);
  body.open_columns();
  for (const ValueId v : text.kernel.outputs) body.store(v, Extent::full);
  std::vector<std::string> columns = body.close_columns(), inside = body.close();
  inside.insert(inside.end(), columns.begin(), columns.end());
  std::vector<std::string> lines = body.close();
  const std::string head = fmt::format("{}({}, row, column, {}, {}, {})", text.groups ? "HD_GROUPS" : "HD_POINTS",
                                       text.index_type, text.plan.rows, part.count, text.packet);
  const std::vector<std::string> loop = block(head, inside);
  lines.insert(lines.end(), loop.begin(), loop.end());
  return lines;
}

}  // namespace

std::vector<std::string> emit_pointwise(KernelText& text) {
  const std::vector<ColumnPart> parts = column_parts(text);
  Body first(text, parts[0]);
  first.reduce_singles();
  std::vector<std::string> lines = over_columns(text, first, parts[0]);
  for (size_t i = 1; i < parts.size(); ++i) {
    Body body(text, parts[i]);
    body.share_singles(first);
    const std::vector<std::string> more = over_columns(text, body, parts[i]);
    lines.insert(lines.end(), more.begin(), more.end());
  }
  return lines;
}

}  // namespace heddle::codegen
