// A reader of the section `data`, checked against the definition that runtime/data/readers
// registers.
//
//   {"op": "idx", "x": "images.gz", "y": "labels.gz"} -> DataReader {op = "idx", columns = {x: images.gz, y: labels.gz}}
#pragma once
#include <string>

#include "frontend/model.h"

namespace heddle::frontend {

// `split` names it in messages: "train".
DataReader read_reader(const Json& json, const std::string& split, const Model& model, Diagnostics& errors);

}  // namespace heddle::frontend
