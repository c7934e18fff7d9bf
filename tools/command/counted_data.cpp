#include "tools/command/counted_data.h"

#include "ir/diagnostic.h"

namespace heddle::tools {

CountedData count_data(const frontend::TrainingPlan& plan, const std::filesystem::path& folder) {
  if (!plan.data.train) return {};
  try {
    return {driver::read_headers({.plan = &plan, .root = folder, .train = true}), {}};
  } catch (const UserError& error) {
    return {std::nullopt, error.diagnostics().front().message};
  }
}

int64_t data_bytes(const frontend::TrainingPlan& plan, const driver::DataHeader& header) {
  int64_t row = 0;
  for (size_t i = 0; i < plan.inputs.size(); ++i) {
    row += ir::Type{header.stored[i], plan.inputs[i].stored}.bytes();
  }
  const driver::RowCounts& rows = header.rows;
  constexpr int64_t kOrder = 4;  // of a row: its place in the epoch's order
  return row * (rows.train + rows.validation + rows.test) + kOrder * rows.train;
}

}  // namespace heddle::tools
