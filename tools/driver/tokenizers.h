// Stores the tokenizers of text inputs in the metadata of a weights file, and reads them. They give token ids their
// meaning.
//
//   {input name; a tokenizer.json} -> metadata {"heddle.tokenizer.name": "{\"version\": \"1.0\", ...}"}, and back
#pragma once
#include <map>
#include <string>
#include <vector>

#include "frontend/training/training_plan.h"
#include "runtime/weights/safetensors.h"

namespace heddle::driver {

// A tokenizer.json for each of the plan's inputs; empty where it is not text.
using Tokenizers = std::vector<std::string>;

std::map<std::string, std::string> tokenizer_metadata(const frontend::TrainingPlan& plan, const Tokenizers& all);
// Empty texts where the file has none. Throws UserError where the text is not a tokenizer.
Tokenizers tokenizers(const frontend::TrainingPlan& plan, const runtime::WeightsFile& weights);

}  // namespace heddle::driver
