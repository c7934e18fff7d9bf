// Metrics of texts that the model writes itself, as `heddle generate` does: each token behind those that it has written,
// not behind the right ones (teacher forcing).
//
//   {"op": "bleu", "in": ["logits", "next"], "end": 2, "decode": {"op": "generate"}}   ->   "bleu_generated"
//
// A step cannot compute them. They are measured of validation and test rows (tools/generate/generated_metrics.h).
#pragma once
#include <optional>
#include <string>
#include <vector>

#include "frontend/metrics/decode.h"
#include "frontend/training/training_plan.h"

namespace heddle::frontend {

struct GeneratedMetric {
  const Part* part = nullptr;  // of the model
  std::string name;            // "bleu_generated", "bleu_generated_2"
  std::string labels;          // the input, i32[N,T]: what follows each token of the text
  std::string lengths;         // the input that says how many labels a row has; empty: none does
  bool of_last = false;        // labels may be i32[N,S]: what follows the last S tokens, which alone the loss reads
  int64_t ignore_index = -100;
  std::optional<int64_t> end;
  std::optional<Beams> beams;  // of the search for a text; none: each likeliest token
};

// In the model's order. Throws UserError where the metric does not read what the model writes: the logits of the loss, and
// labels that are an input.
std::vector<GeneratedMetric> generated_metrics(const Model& model);

// The metric as one of class numbers: of `in`, without "decode".
Part measured_part(const GeneratedMetric& metric, std::vector<Reference> in);

}  // namespace heddle::frontend
