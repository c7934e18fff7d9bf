// SpelledTexts: decodes the logits of a model with the loss ctc to text: takes the likeliest class of each step, merges
// equal neighbours, and drops blanks.
//
//   steps  - 4 4 - 0 0 7, tokens 1 to 10 of "0123456789"   ->   "407"
#pragma once
#include <deque>
#include <string>

#include "runtime/text/tokenizer.h"
#include "tools/driver/predictor.h"
#include "tools/predict/row_source.h"

namespace heddle::tools {

class SpelledTexts {
 public:
  // Throws UserError where the predictor's first output is not the logits of a loss ctc, or there is no tokenizer.
  explicit SpelledTexts(const driver::Predictor& predictor);
  // The text of a row of the predictor's last results.
  std::string of(const PredictRows& rows, int64_t row) const;

 private:
  int64_t steps_of(const PredictRows& rows, int64_t row) const;

  const driver::Predictor& predictor_;
  const driver::PredictOutput& output_;
  std::deque<SourceFile> files_;  // the tokenizer's
  runtime::text::Tokenizer tokenizer_;
};

}  // namespace heddle::tools
