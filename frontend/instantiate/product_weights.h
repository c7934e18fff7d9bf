// Which parameters of a model are matrices, filters and tables: what most of its bytes are, and what few bits do for.
//
//   {"name": "fc", "op": "dense"}       ->  fc.weight: a matrix, its outputs lie along axis 0
//   {"name": "up", "op": "conv2d_transpose"}  ->  up.weight: a filter, its outputs lie along axis 1
//   {"name": "words", "op": "embedding"}  ->  words.weight: a table, its rows lie along axis 0
//
// A parameter counts where a product, a convolution or a lookup reads it, also through movements of its elements and in
// the body of a scan. Biases, gains, and what other operators read do not.
#pragma once
#include <cstdint>
#include <string>
#include <vector>

#include "frontend/instantiate/model_instances.h"

namespace heddle::frontend {

enum class WeightUse { matrix, filter, table };
struct ProductWeight {
  std::string name;
  WeightUse use = WeightUse::matrix;  // a table where several are true, as of tied weights
  int64_t axis = 0;                   // of its outputs or rows, in the shape that files have
};
// In the order of the model. Throws UserError where the model's shapes do not fit.
std::vector<ProductWeight> product_weights(ModelInstances& instances, int64_t batch);
// Each parameter learns along which axis its outputs lie.
void note_outputs(Instance& e);

}  // namespace heddle::frontend
