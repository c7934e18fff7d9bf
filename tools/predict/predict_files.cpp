#include "tools/predict/predict_files.h"

#include <fmt/format.h>

#include "tools/command/output.h"

namespace heddle::tools {
PredictSummary predict_rows(driver::Predictor& predictor, RowReader& reader, ResultWriter& writer) {
  PredictSummary summary;
  PredictRows rows;
  rows.columns.resize(predictor.inputs().size());
  while (reader.next(predictor.batch(), rows)) {
    const driver::Predictor::Bad bad = predictor.run(rows.columns, rows.count, rows.first);
    if (bad.row >= 0)
      throw UserError(
          ExitCode::failed,
          fmt::format("{}: row {}, counted from 0: input '{}' holds {}", reader.source_of(bad.input),
                      rows.first + bad.row, predictor.inputs()[bad.input].request.input, bad.value),
          "correct or remove that row, and look at the maps of the input; --allow-nan computes it as it is");
    writer.write(rows);
    summary.rows += rows.count;
  }
  writer.finish();
  summary.not_finite = writer.not_finite();
  return summary;
}

void require_apart(const std::string& out, const std::vector<std::string>& in, const ReadFiles& files) {
  if (out == "-") return;
  require_different("--out", out, "the model", files.model == "-" ? "" : files.model);
  for (const std::string& weights : files.weights) require_different("--out", out, "--weights", weights);
  for (const std::string& word : in) {
    require_different("--out", out, "--in", word);
    if (const size_t equals = word.find('='); equals != std::string::npos)
      require_different("--out", out, "--in", word.substr(equals + 1));
  }
}

}  // namespace heddle::tools
