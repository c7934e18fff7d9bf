// Rows of files, or of standard input, through a model with weights, into a file or standard output.
#pragma once
#include <string>
#include <vector>

#include "tools/command/compile_model.h"
#include "tools/command/open_device.h"
#include "tools/predict/result_writer.h"

namespace heddle::tools {

struct PredictRequest {
  std::string weights;
  std::vector<std::string> in;  // FILE, NAME=FILE or -
  std::string in_format;        // "" to go by the names
  std::vector<std::string> outputs;
  ResultRequest result;
};

struct PredictSummary {
  int64_t rows = 0, not_finite = 0;
};
// `weights` are those of the request, read before, since a wrong file is to be found before a minute of compiling.
PredictSummary predict_files(frontend::Model model, const PredictRequest& request, const CompileOptions& options,
                             runtime::Device& device);

// All rows that the reader has, through the predictor, into the writer.
PredictSummary predict_rows(Predictor& predictor, RowReader& reader, ResultWriter& writer);

}  // namespace heddle::tools
