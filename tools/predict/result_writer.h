// ResultWriter: writes the results of predictions, one row each: as JSON lines, CSV or a NumPy array.
//
//   {"probs": [0.1, 0.9]}          {"top": [{"class": "cat", "index": 1, "probability": 0.9}]}
//   probs.0,probs.1                class_1,probability_1
//   {"text": "407"}                what logits of steps spell
//
// Standard output, pipes and devices get each batch at once. A file gets its name when it is complete.
#pragma once
#include <functional>
#include <memory>
#include <string>
#include <string_view>

#include "runtime/files/write_file.h"
#include "tools/driver/predictor.h"
#include "tools/predict/row_source.h"
#include "tools/predict/spelled_text.h"

namespace heddle::tools {

// The formats of results.
inline const std::vector<std::string> kResultFormats = {"npy", "csv", "jsonl"};
inline constexpr int kMostClasses = 1 << 20;  // of --top

struct ResultRequest {
  std::string path = "-";
  std::string format;  // one of kResultFormats; "": by the name, and JSON lines for streams
  int top = 0;         // the most probable classes instead of the numbers
  bool text = false;   // what logits of a loss ctc spell instead of the numbers
  bool overwrite = false;
};

class ResultWriter {
 public:
  // Throws UserError, before anything is computed, where the results cannot be written to this path or in this format.
  ResultWriter(const ResultRequest& request, const driver::Predictor& predictor);
  void write(const PredictRows& rows);  // writes the predictor's last results
  void finish();
  int64_t not_finite() const { return not_finite_; }  // rows whose results are not all finite

 private:
  void require_form() const;
  void send(std::string_view text);
  std::string json_row(const PredictRows& rows, int64_t row) const;
  std::string csv_header() const;
  std::string csv_row(const PredictRows& rows, int64_t row) const;
  std::string npy_header() const;
  bool row_is_finite(int64_t row) const;

  ResultRequest request_;
  const driver::Predictor& predictor_;
  std::unique_ptr<SpelledTexts> spelled_;  // nullptr: no text is asked for
  std::unique_ptr<runtime::FileReplacement> file_;
  std::unique_ptr<runtime::File> stream_;
  int64_t rows_ = 0, not_finite_ = 0;
  bool pictures_ = false;
};

struct ScoredClass {
  int64_t index = 0;
  double probability = 0;
};
// The `count` most probable classes of a row. Of equal ones, the lower index comes first.
std::vector<ScoredClass> top_classes(const driver::PredictOutput& output, std::span<const std::byte> row, int count);

}  // namespace heddle::tools
