// The adapters of train.lora in files: apart from the weights that they are of, under PEFT's names, and merged into them.
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

// In front of every name in a file of adapters.
inline constexpr const char* kAdapterPrefix = "base_model.model.";

// What such a training changes of all its weights: the adapters, the parameters that it trains beside them, and the buffers
// of layers.
runtime::WeightsFile adapters_of(const runtime::WeightsFile& all, const frontend::PlannedAdapters& adapters);

// The tensors of a file of adapters leave the file that holds them beside their base, with the model's names. Throws
// UserError where they were trained with another alpha, or the model has no adapters.
std::vector<runtime::SavedTensor> take_adapters(runtime::WeightsFile& file, const frontend::TrainingPlan& plan);

// They come back in the place of tensors of the same names.
void put_adapters(runtime::WeightsFile& file, const std::vector<runtime::SavedTensor>& adapters);

std::set<std::string> adapter_names(const frontend::PlannedAdapters& adapters);

// Weights of the same model without train.lora: those of a file that fits the model (tools/driver/fit_weights.h).
runtime::WeightsFile merged(const runtime::WeightsFile& file, const frontend::PlannedAdapters& adapters);

}  // namespace heddle::driver
