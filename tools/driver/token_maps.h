// The numbers of maps that name a token: its id, those of special tokens, and how many tokens there are.
//
//   mask_tokens {mask: "[MASK]"} and a tokenizer of 300 tokens  ->  {mask: 4, special: [0, 1, 2, 3, 4], vocab: 300}
#pragma once
#include "frontend/training/training_plan.h"
#include "tools/driver/tell.h"
#include "tools/driver/tokenizers.h"

namespace heddle::driver {

bool waits_for_tokens(const frontend::TrainingPlan& plan);
// From the tokenizers of the plan's inputs. UserError where an input has none, or it lacks the token.
void take_tokens(frontend::TrainingPlan& plan, const Tokenizers& tokenizers);
// For a program whose rows nobody reads.
void assume_tokens(frontend::TrainingPlan& plan, const Tell& tell);

}  // namespace heddle::driver
