// Rows as a file holds them into rows as the program reads them: cast, one_hot, then the other maps
// that act in predictions, in their order, in f32 (f64 for f64 inputs), as a training's own kernel
// does it (codegen/feed_text.h).
#pragma once
#include <optional>

#include "tools/driver/predictor.h"

namespace heddle::driver {

struct NotFiniteRow {
  int64_t row = 0;  // of the column
  double value = 0;
};
// Fills the first `rows` rows of `to`; tells the first element that is not finite.
std::optional<NotFiniteRow> make_input(const PredictInput& input, const runtime::data::Column& column, int64_t rows,
                                       std::span<std::byte> to);

}  // namespace heddle::driver
