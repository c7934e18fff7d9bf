// generate: writes continuations of prompts, or translations of sources. Several texts at a time run in the rows of a
// generator.
//
//   generate(generator, text, {prompt}, {.sampling = {.temperature = 0.8}, .tokens = 100}, calls)
//     -> a continuation for each sample of each prompt, in their order
//
// When a text ends, the next one takes its row, so rows are not left idle. The result for a prompt does not depend on
// the other rows.
#pragma once
#include <functional>
#include <string>
#include <string_view>
#include <vector>

#include "runtime/text/sampler.h"
#include "tools/generate/text_of_model.h"

namespace heddle::tools {

struct GenerateSettings {
  runtime::text::Sampling sampling = {};
  int64_t tokens = 256;                 // of a continuation, at most
  int64_t samples = 1;                  // of each prompt
  std::vector<std::string> stops = {};  // texts before which a continuation ends
};

// Why a text has ended.
enum class TextEnd { tokens, end, stop };
const char* to_string(TextEnd end);

struct Continuation {
  std::string text;
  std::vector<uint32_t> ids;              // ids of all drawn tokens
  std::vector<double> log_probabilities;  // of each token
  TextEnd end = TextEnd::tokens;
};

struct GenerateCalls {
  // Called with each piece of a continuation as it is written. If it returns false, generate returns what is there so
  // far.
  std::function<bool(size_t prompt, size_t sample, std::string_view piece)> piece = {};
  // Called with each continuation when it is complete, in the order of completion. False has the same effect.
  std::function<bool(size_t prompt, size_t sample, const Continuation& made)> done = {};
  // Called once, where a text becomes longer than the model's context.
  std::function<void(const std::string&)> note = {};
};

// Returns a list for each prompt, with its samples. The caller keeps the prompts, because messages point into them.
// Throws UserError at a character that has no token and at a prompt that is longer than the model's context.
std::vector<std::vector<Continuation>> generate(driver::Generator& generator, const TextOfModel& text,
                                                std::span<const SourceFile> prompts, const GenerateSettings& settings,
                                                const GenerateCalls& calls = {});

}  // namespace heddle::tools
