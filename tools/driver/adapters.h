// Saves the adapters of train.lora in a separate file under PEFT's names, reads them from it, and merges them into
// their base weights.
//
//   {"fc.bias", "fc.weight", "fc.lora_A.weight", "fc.lora_B.weight"}
//     -> adapters_of: {"base_model.model.fc.lora_A.weight", "base_model.model.fc.lora_B.weight"}
//     -> merged:      {"fc.bias", "fc.weight" + alpha / rank B A}
#pragma once
#include <set>
#include <string>
#include <vector>

#include "frontend/training/training_plan.h"
#include "runtime/weights/safetensors.h"

namespace heddle::driver {

// The prefix of every name in a file of adapters.
inline constexpr const char* kAdapterPrefix = "base_model.model.";

// The part of the weights that a training with train.lora changes: the adapters, the parameters that it trains beside
// them, and the buffers of layers.
runtime::WeightsFile adapters_of(const runtime::WeightsFile& all, const frontend::PlannedAdapters& adapters);

// Removes the tensors with the adapters' prefix from a file and returns them under the model's names. Throws UserError
// where they were trained with another alpha, or the model has no adapters.
std::vector<runtime::SavedTensor> take_adapters(runtime::WeightsFile& file, const frontend::TrainingPlan& plan);

// Adds such tensors to a file. They replace tensors of the same names.
void put_adapters(runtime::WeightsFile& file, const std::vector<runtime::SavedTensor>& adapters);

std::set<std::string> adapter_names(const frontend::PlannedAdapters& adapters);

// The weights for the same model without train.lora: base + adapters. The file must fit the model
// (tools/driver/fit_weights.h).
runtime::WeightsFile merged(const runtime::WeightsFile& file, const frontend::PlannedAdapters& adapters);

}  // namespace heddle::driver
