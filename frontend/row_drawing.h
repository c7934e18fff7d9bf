// data.draw: which rows of the training reader an epoch has, where they are drawn with replacement.
//
//   "data": {"train": {...}, "draw": {"balance": "label"}}
//     -> the setting {"draw.balance", {"label"}} of the reader, and row_drawing(data) = {balances, "label"}
#pragma once
#include <optional>

#include "frontend/keys/fields.h"
#include "frontend/model.h"

namespace heddle::frontend {

struct RowDrawing {
  bool balances = false;  // each value of `source` is as frequent as the others; else rows are as frequent as it says
  Named source;           // an input or a column
};

// Once the reader of the training rows is read.
void read_drawing(const Fields& fields, Data& data, Diagnostics& errors);
std::optional<RowDrawing> row_drawing(const Data& data);

}  // namespace heddle::frontend
