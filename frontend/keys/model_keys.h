// The keys of each section of a model file. Layers, losses and other parts declare their settings themselves.
//
//   find_key(train_keys(), "early_stop")->keys()  ->  on, mode, patience, min_delta, restore_best
#pragma once
#include <string>
#include <vector>

#include "frontend/keys/read_key.h"

namespace heddle::frontend {

using Keys = std::span<const Key>;

Keys model_keys();
Keys input_keys();  // of an entry of `inputs`
Keys block_keys();  // of an entry of `blocks`
Keys node_keys();   // of every node
Keys use_keys();    // additional keys of a node that uses a block
Keys train_keys();
Keys data_keys();
Keys weights_keys();
Keys loss_scale_keys();  // of train.precision.loss_scale, if it is an object
Keys renamed_keys();     // of an entry of `names` in `weights`
Keys fraction_keys();    // of a validation split that is a share of the training rows

// The keys of parts besides "op" and their own settings.
Keys loss_keys();
Keys metric_keys();
Keys optimizer_keys();
Keys group_keys();  // of the optimizer's groups, besides its settings
Keys rule_keys();   // of regularizers and constraints
Keys phase_keys();  // of an entry of train.phases

inline constexpr const char* kEveryHint =
    R"(write "checkpoint": {"every": {"minutes": 10}}; steps and epochs count, too)";

// The tables in docs/ that are generated from keys: "model" -> model_keys(). tests/docs/tables.py writes them.
struct KeyTable {
  std::string name;
  Keys keys;
};
std::vector<KeyTable> key_tables();

}  // namespace heddle::frontend
