// Finds the parameters of a model that are matrices, filters or tables. They hold most of its bytes and can be stored
// with few bits.
//
//   {"name": "fc", "op": "dense"}       ->  fc.weight: a matrix, its outputs lie along axis 0
//   {"name": "up", "op": "conv2d_transpose"}  ->  up.weight: a filter, its outputs lie along axis 1
//   {"name": "words", "op": "embedding"}  ->  words.weight: a table, its rows lie along axis 0
//
// A parameter counts if a product, a convolution or a lookup reads it, possibly through movements or in the body of a
// scan. Biases, gains and other parameters do not count.
#pragma once
#include <cstdint>
#include <string>
#include <vector>

#include "frontend/instantiate/model_instances.h"

namespace heddle::frontend {

enum class WeightUse { matrix, filter, table };
struct ProductWeight {
  std::string name;
  WeightUse use = WeightUse::matrix;  // `table` if several apply, as for tied weights
  int64_t axis = 0;                   // the axis of its outputs or rows, in the shape of files
};
// The weights in the order of the model. Throws UserError if the model's shapes do not fit.
std::vector<ProductWeight> product_weights(ModelInstances& instances, int64_t batch);
// Sets Parameter::outputs of each parameter.
void note_outputs(Instance& e);

}  // namespace heddle::frontend
