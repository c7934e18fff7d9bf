// The tokenizers of text in a weights file: what the ids mean that a model was trained with.
//
//   {input name; a tokenizer.json} -> metadata {"heddle.tokenizer.name": "{\"version\": \"1.0\", ...}"}, and back
#pragma once
#include <map>
#include <string>
#include <vector>

#include "frontend/training/training_plan.h"
#include "runtime/weights/safetensors.h"

namespace heddle::driver {

// Of each of the plan's inputs, a tokenizer.json; empty where it is no text.
using Tokenizers = std::vector<std::string>;

std::map<std::string, std::string> tokenizer_metadata(const frontend::TrainingPlan& plan, const Tokenizers& all);
// None where the file holds none. UserError where its text is no tokenizer.
Tokenizers tokenizers(const frontend::TrainingPlan& plan, const runtime::WeightsFile& weights);

}  // namespace heddle::driver
