// Reads a data reader of the section `data`, and checks it against its definition in runtime/data/readers.
//
//   {"op": "idx", "x": "images.gz", "y": "labels.gz"} -> DataReader {op = "idx", columns = {x: images.gz, y: labels.gz}}
#pragma once
#include <string>

#include "frontend/model.h"

namespace heddle::frontend {

// `split` names the reader in messages: "train".
DataReader read_reader(const Json& json, const std::string& split, const Model& model, Diagnostics& errors);

}  // namespace heddle::frontend
