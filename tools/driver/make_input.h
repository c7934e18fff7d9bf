// make_input: converts rows of a file to rows of a program's input, as the kernel of a training does
// (codegen/feed_text.h). It applies cast and one_hot, then the other maps that act in predictions, in their order, in
// f32 (f64 for f64 inputs).
#pragma once
#include <optional>

#include "tools/driver/predictor.h"

namespace heddle::driver {

struct NotFiniteRow {
  int64_t row = 0;  // in the column
  double value = 0;
};
// Fills the first `rows` rows of `to`. Returns the first element that is not finite.
std::optional<NotFiniteRow> make_input(const PredictInput& input, const runtime::data::Column& column, int64_t rows,
                                       std::span<std::byte> to);

}  // namespace heddle::driver
