// Rows of files, or of standard input, through a model with weights, into a file or standard output.
#pragma once
#include <string>
#include <vector>

#include "tools/predict/result_writer.h"

namespace heddle::tools {

struct PredictSummary {
  int64_t rows = 0, not_finite = 0;
};
// All rows that the reader has, through the predictor, into the writer.
PredictSummary predict_rows(driver::Predictor& predictor, RowReader& reader, ResultWriter& writer);

struct ReadFiles {
  std::string model;                 // "": of no file
  std::vector<std::string> weights;  // likewise
};
// Throws UserError where `out` is one of the files that are read: `in`, as --in has them, or `files`.
void require_apart(const std::string& out, const std::vector<std::string>& in, const ReadFiles& files);

}  // namespace heddle::tools
