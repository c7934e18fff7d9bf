// Decoding: what a metric of sequences reads becomes tokens, before anything is compared.
//
//   "decode": {"op": "ctc_greedy", "blank": 0}      largest logits  a a _ a b b   ->   a a b
#pragma once
#include <optional>

#include "frontend/training/training_def.h"

namespace heddle::frontend {

// Tokens at places, of which those that are kept are read in their order.
struct Tokens {
  ir::ValueId ids;   // i32[N, T]
  ir::ValueId kept;  // bool[N, T]
};

Key decode_setting();

// Whether "decode" says that the model writes the sequence itself: such a metric is no part of a step
// (frontend/metrics/generated.h).
bool generates(const Part& metric);
// A search for the likeliest text, as `heddle generate --beams` makes it.
struct Beams {
  int64_t width = 0;
  double length_penalty = 1;
};
inline constexpr int64_t kMostBeamsOfMetric = 64;
inline constexpr double kMostLengthPenalty = 100;
// That of such a metric; none where it has none. Throws UserError where "decode" has what "generate" does not take.
std::optional<Beams> beams_of(const Settings& settings);

// Whether steps without a token are left out, so that a row has fewer tokens than steps.
bool merges_steps(const MeasureContext& c);

// The first input as tokens: class numbers i32[N, T] as they are, or the largest of logits [N, T, classes], then what
// "decode" says. All are kept but what decoding leaves out.
Tokens decoded(MeasureContext& c);

}  // namespace heddle::frontend
