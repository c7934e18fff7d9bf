// Completes data maps that name a token with its id, the ids of special tokens, and the number of tokens.
//
//   mask_tokens {mask: "[MASK]"} and a tokenizer of 300 tokens  ->  {mask: 4, special: [0, 1, 2, 3, 4], vocab: 300}
#pragma once
#include "frontend/training/training_plan.h"
#include "tools/driver/tell.h"
#include "tools/driver/tokenizers.h"

namespace heddle::driver {

bool waits_for_tokens(const frontend::TrainingPlan& plan);
// Takes the numbers from the tokenizers of the plan's inputs. Throws UserError where an input has no tokenizer, or the
// tokenizer lacks the token.
void take_tokens(frontend::TrainingPlan& plan, const Tokenizers& tokenizers);
// Assumes numbers for a program whose rows are not read.
void assume_tokens(frontend::TrainingPlan& plan, const Tell& tell);

}  // namespace heddle::driver
