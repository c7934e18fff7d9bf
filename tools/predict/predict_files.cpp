#include "tools/predict/predict_files.h"

#include <fmt/format.h>

#include "runtime/weights/safetensors.h"
#include "tools/command/output.h"

namespace heddle::tools {
namespace {

// The results may be in no file that is read.
void require_apart(const PredictRequest& request) {
  if (request.result.path == "-") return;
  require_different("--out", request.result.path, "--weights", request.weights);
  for (const std::string& word : request.in) {
    require_different("--out", request.result.path, "--in", word);
    if (const size_t equals = word.find('='); equals != std::string::npos)
      require_different("--out", request.result.path, "--in", word.substr(equals + 1));
  }
}

}  // namespace

PredictSummary predict_rows(Predictor& predictor, RowReader& reader, ResultWriter& writer) {
  PredictSummary summary;
  PredictRows rows;
  rows.columns.resize(predictor.inputs().size());
  while (reader.next(kPredictBatch, rows)) {
    const Predictor::Bad bad = predictor.run(rows.columns, rows.count);
    if (bad.row >= 0)
      throw UserError(ExitCode::failed,
                      fmt::format("{}: row {}, counted from 0: input '{}' holds {}", reader.source_of(bad.input),
                                  rows.first + bad.row, predictor.inputs()[bad.input].request.input, bad.value),
                      "mend or remove that row, and look at the maps of the input");
    writer.write(rows);
    summary.rows += rows.count;
  }
  writer.finish();
  summary.not_finite = writer.not_finite();
  return summary;
}

PredictSummary predict_files(frontend::Model model, const PredictRequest& request, const CompileOptions& options,
                             runtime::Device& device) {
  require_apart(request);
  const runtime::WeightsFile weights = runtime::read_safetensors(request.weights);
  Predictor predictor(std::move(model), weights, request.outputs, options, device);
  RowReader reader(predictor, request.in, request.in_format);
  ResultWriter writer(request.result, predictor);
  return predict_rows(predictor, reader, writer);
}

}  // namespace heddle::tools
