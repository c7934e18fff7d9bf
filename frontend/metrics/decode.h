// Decoding: converts the predictions that a metric of sequences reads to tokens.
//
//   "decode": {"op": "ctc_greedy", "blank": 0}      largest logits  a a _ a b b   ->   a a b
#pragma once
#include <optional>

#include "frontend/training/training_def.h"

namespace heddle::frontend {

// Tokens at T steps. The sequence consists of the kept ones, in their order.
struct Tokens {
  ir::ValueId ids;   // i32[N, T]
  ir::ValueId kept;  // bool[N, T]
};

Key decode_setting();

// Whether "decode" asks the model to write the sequence itself. Such a metric is not part of a step
// (frontend/metrics/generated.h).
bool generates(const Part& metric);
// The settings of a beam search, as in `heddle generate --beams`.
struct Beams {
  int64_t width = 0;
  double length_penalty = 1;
};
inline constexpr int64_t kMostBeamsOfMetric = 64;
inline constexpr double kMostLengthPenalty = 100;
// The beam search of a metric that generates; nullopt if it has none. Throws UserError if "decode" has keys that
// "generate" does not take.
std::optional<Beams> beams_of(const Settings& settings);

// Whether decoding drops steps without a token, so that a row may have fewer tokens than steps.
bool merges_steps(const MeasureContext& c);

// The first input as tokens. Class numbers i32[N, T] are taken as they are; of logits [N, T, classes], the largest one
// counts. Then "decode" is applied. Only tokens that decoding drops are not kept.
Tokens decoded(MeasureContext& c);

}  // namespace heddle::frontend
