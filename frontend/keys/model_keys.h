// The sections of a model file as keys: what stands in it beside the settings of parts, which these declare themselves.
//
//   find_key(train_keys(), "early_stop")->keys()  ->  on, mode, patience, min_delta, restore_best
#pragma once
#include <string>
#include <vector>

#include "frontend/keys/read_key.h"

namespace heddle::frontend {

using Keys = std::span<const Key>;

Keys model_keys();
Keys input_keys();  // of one of `inputs`
Keys block_keys();  // of one of `blocks`
Keys node_keys();   // of every node
Keys use_keys();    // of a node that uses a block, beside these
Keys train_keys();
Keys data_keys();
Keys weights_keys();
Keys loss_scale_keys();  // of train.precision.loss_scale, where it is an object
Keys renamed_keys();     // of one of the names in `weights`
Keys fraction_keys();    // of a validation split that is a share of the training rows

// Of the parts of a family, beside "op" and their settings.
Keys loss_keys();
Keys metric_keys();
Keys optimizer_keys();
Keys group_keys();  // of the optimizer's groups, beside its settings
Keys rule_keys();   // of regularizers and constraints
Keys phase_keys();  // of one of train.phases

inline constexpr const char* kEveryHint =
    R"(write "checkpoint": {"every": {"minutes": 10}}; steps and epochs count, too)";

// The tables of pages in docs/ that are made of them: "model" -> model_keys(). tests/docs/tables.py writes them.
struct KeyTable {
  std::string name;
  Keys keys;
};
std::vector<KeyTable> key_tables();

}  // namespace heddle::frontend
