// Predicts the rows of files or of standard input, and writes the results to a file or to standard output.
#pragma once
#include <string>
#include <vector>

#include "tools/predict/result_writer.h"

namespace heddle::tools {

struct PredictSummary {
  int64_t rows = 0, not_finite = 0;
};
// Reads all rows from the reader, predicts them, and passes the results to the writer.
PredictSummary predict_rows(driver::Predictor& predictor, RowReader& reader, ResultWriter& writer);

struct ReadFiles {
  std::string model;                 // "": not from a file
  std::vector<std::string> weights;  // likewise
};
// Throws UserError where `out` is one of the files that are read: one of `in`, as in --in, or of `files`.
void require_apart(const std::string& out, const std::vector<std::string>& in, const ReadFiles& files);

}  // namespace heddle::tools
