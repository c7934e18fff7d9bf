// data.draw: an epoch draws its rows with replacement from the training rows.
//
//   "data": {"train": {...}, "draw": {"balance": "label"}}
//     -> the setting {"draw.balance", {"label"}} of the reader, and row_drawing(data) = {balances, "label"}
#pragma once
#include <optional>

#include "frontend/keys/fields.h"
#include "frontend/model.h"

namespace heddle::frontend {

struct RowDrawing {
  bool balances = false;  // all values of `source` are equally frequent; otherwise `source` holds the weights of rows
  Named source;           // an input or a column
};

// Reads data.draw into the settings of the training reader, which must have been read before.
void read_drawing(const Fields& fields, Data& data, Diagnostics& errors);
// The drawing in the settings of the training reader; nullopt if there is none.
std::optional<RowDrawing> row_drawing(const Data& data);

}  // namespace heddle::frontend
