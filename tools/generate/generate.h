// Generate: continuations of prompts, or what sources become, some at a time in the rows of a generator.
//
//   generate(generator, text, {prompt}, {.sampling = {.temperature = 0.8}, .tokens = 100}, calls)
//     -> a continuation for each sample of each prompt, in their order
//
// A text that ends gives its row to the next one, so that rows are never filled up with nothing. What is generated of a
// prompt does not depend on what stands in the other rows.
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
  std::vector<uint32_t> ids;              // of all tokens that were drawn
  std::vector<double> log_probabilities;  // of each
  TextEnd end = TextEnd::tokens;
};

struct GenerateCalls {
  // A piece of a continuation as it comes. False ends the whole: what is there so far is returned.
  std::function<bool(size_t prompt, size_t sample, std::string_view piece)> piece = {};
  // A continuation as soon as it is complete, whichever is first. False likewise.
  std::function<bool(size_t prompt, size_t sample, const Continuation& made)> done = {};
  // Told once, where a text is longer than what the model sees.
  std::function<void(const std::string&)> note = {};
};

// A list for each prompt, of its samples. The prompts are held by the caller: messages point into them. Throws
// UserError at a character that has no token and at a prompt that is longer than the model's context.
std::vector<std::vector<Continuation>> generate(driver::Generator& generator, const TextOfModel& text,
                                                std::span<const SourceFile> prompts, const GenerateSettings& settings,
                                                const GenerateCalls& calls = {});

}  // namespace heddle::tools
