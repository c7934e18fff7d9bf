// row_drawing: sets up the draw of an epoch's training rows, where a model draws them with replacement.
//
//   "draw": {"balance": "label"} and rows of the labels 0, 0, 0, 1  ->  row 3 in half of the places
#pragma once
#include <filesystem>
#include <optional>
#include <vector>

#include "frontend/training/training_plan.h"
#include "runtime/data/row_draw.h"
#include "runtime/data/table.h"

namespace heddle::driver {

// `train` has the training rows. A column that feeds no input is read by `request`, for all rows; `held` marks those
// that do not train (empty: none). Throws UserError where a class has no row, and where a weight is invalid.
std::optional<runtime::data::RowDraw> row_drawing(const frontend::TrainingPlan& plan, const runtime::data::Table& train,
                                                  const runtime::data::ReaderRequest& request,
                                                  const std::filesystem::path& root, const std::vector<uint8_t>& held);

}  // namespace heddle::driver
