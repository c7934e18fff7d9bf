// Reads a line of JSON as a row of inputs: {"x": [5.1, 3.5], "kind": "setosa"}.
#pragma once
#include <span>
#include <string>

#include "tools/predict/row_source.h"
#include "tools/predict/text_inputs.h"

namespace heddle::tools {

// Writes the row's values of the inputs to `to`, which has room for them in text_type. `texts` encodes the texts of
// inputs that take text. Other keys are ignored. Throws UserError "NAME:LINE:COLUMN: ...".
void read_json_row(const std::string& text, const std::string& name, int64_t line,
                   std::span<const driver::PredictInput* const> inputs, std::span<std::byte* const> to,
                   TextInputs* texts = nullptr);

}  // namespace heddle::tools
