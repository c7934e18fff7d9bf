// Quantises the weights of a model (runtime/weights/quantize.h), and chooses the type of each tensor.
//
//   {"fc.weight": f32[64,800], "fc.bias": f32[64]} as int4  ->  fc.weight int4, fc.bias f32
//
// Matrices, filters and tables (frontend/instantiate/product_weights.h) are quantised. Everything else stays f32, and
// so do small weights. int4 is only for matrices whose outputs lie along axis 0; filters and tables become int8 then.
// After a training with train.quantize, exactly the weights that it has trained as int8 become int8, with the ranges
// that it has observed.
#pragma once
#include <map>
#include <string>
#include <vector>

#include "frontend/instantiate/product_weights.h"
#include "runtime/weights/quantize.h"

namespace heddle::driver {

struct QuantizeRequest {
  runtime::StoredAs type = runtime::StoredAs::int8;
  std::vector<std::string> keep = {};                     // names that stay f32; may have * and ?
  std::string model;                                      // its name, for the metadata of the file
  std::map<std::string, std::vector<float>> ranges = {};  // input ranges of int8 weights
  bool trained = false;                                   // quantises exactly the weights with a range, small ones too
};
// Reads the ranges that a training has observed from its weights file. Throws UserError where one is damaged.
std::map<std::string, std::vector<float>> trained_ranges(const runtime::WeightsFile& weights,
                                                         const std::vector<std::string>& names);
struct QuantizedWeights {
  runtime::WeightsFile file;
  int64_t tensors = 0;  // how many were quantised
};
// The weights must fit the model. Throws UserError where no weight would be quantised, where a pattern of `keep`
// matches no weight, and where a number is out of the type's range.
QuantizedWeights quantize_weights(const runtime::WeightsFile& weights,
                                  const std::vector<frontend::ProductWeight>& products, const QuantizeRequest& request);

}  // namespace heddle::driver
