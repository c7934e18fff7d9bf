// beams: finds the likeliest continuations of a prompt by a beam search (beam_search.h).
//
//   beams(generator, text, prompt, {.width = 4, .tokens = 20})   ->   four continuations, the best first
#pragma once
#include <string>
#include <vector>

#include "tools/generate/generate.h"

namespace heddle::tools {

struct BeamSettings {
  int64_t width = 4;                    // number of beams; at most the generator's rows
  double length_penalty = 1;            // texts are compared by log probability / length^this
  int64_t tokens = 256;                 // of a continuation, at most
  std::vector<std::string> stops = {};  // texts before which a continuation ends
};

// Returns `width` continuations, or as many as exist. Throws as `generate` does.
std::vector<Continuation> beams(driver::Generator& generator, const TextOfModel& text, const SourceFile& prompt,
                                const BeamSettings& settings, const GenerateCalls& calls = {});

}  // namespace heddle::tools
