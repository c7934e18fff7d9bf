// Weights of a model in fewer bits (runtime/weights/quantize.h): which tensors become what.
//
//   {"fc.weight": f32[64,800], "fc.bias": f32[64]} as int4  ->  fc.weight int4, fc.bias f32
//
// A matrix, a filter or a table (frontend/instantiate/product_weights.h) becomes smaller; all else stays f32, small weights too.
// int4 is for matrices whose outputs lie along axis 0: then filters and tables become int8. Of a training with
// train.quantize int8 are the weights that it has trained so, with the ranges that it has observed.
#pragma once
#include <map>
#include <string>
#include <vector>

#include "frontend/instantiate/product_weights.h"
#include "runtime/weights/quantize.h"

namespace heddle::driver {

struct QuantizeRequest {
  runtime::StoredAs type = runtime::StoredAs::int8;
  std::vector<std::string> keep = {};                     // what stays f32, with * and ?
  std::string model;                                      // its name, for the metadata
  std::map<std::string, std::vector<float>> ranges = {};  // of what int8 weights are multiplied with, by weight
  bool trained = false;  // the training has chosen the weights: those with a range, small ones too, and no others
};
// The ranges that a training has observed, which lie beside its weights in the file. Throws UserError where one is damaged.
std::map<std::string, std::vector<float>> trained_ranges(const runtime::WeightsFile& weights,
                                                         const std::vector<std::string>& names);
struct QuantizedWeights {
  runtime::WeightsFile file;
  int64_t tensors = 0;  // that became smaller
};
// Of weights that fit the model. Throws UserError where nothing would become smaller, where a pattern of `keep` matches
// no such weight, and where a number is beyond what the type holds.
QuantizedWeights quantize_weights(const runtime::WeightsFile& weights,
                                  const std::vector<frontend::ProductWeight>& products, const QuantizeRequest& request);

}  // namespace heddle::driver
