// Metrics of texts that the model writes itself, as in `heddle generate`: each token follows the tokens that the model
// has written, not the correct ones (teacher forcing).
//
//   {"op": "bleu", "in": ["logits", "next"], "end": 2, "decode": {"op": "generate"}}   ->   "bleu_generated"
//
// A training step cannot compute them. They are measured on validation and test rows
// (tools/generate/generated_metrics.h).
#pragma once
#include <optional>
#include <string>
#include <vector>

#include "frontend/metrics/decode.h"
#include "frontend/training/training_plan.h"

namespace heddle::frontend {

struct GeneratedMetric {
  const Part* part = nullptr;  // the metric in the model
  std::string name;            // "bleu_generated", "bleu_generated_2"
  std::string labels;          // the input with the labels, i32[N,T]: the next token for each token of the text
  std::string lengths;         // the input with the number of labels of each row; empty: there is none
  bool of_last = false;        // labels may be i32[N,S], for the last S tokens, if the loss reads only these
  int64_t ignore_index = -100;
  std::optional<int64_t> end;
  std::optional<Beams> beams;  // the beam search; nullopt: greedy decoding
};

// The generated metrics in the model's order. Throws UserError if a metric does not read the logits of the loss, or its
// labels are not an input.
std::vector<GeneratedMetric> generated_metrics(const Model& model);

// The metric as a metric of class numbers: with the inputs `in`, and without "decode".
Part measured_part(const GeneratedMetric& metric, std::vector<Reference> in);

}  // namespace heddle::frontend
