// prepare_weights: computes once the values of predictions that depend only on parameters (passes/prepare.h).
//
//   runtime::load_weights(executable, weights);
//   prepare_weights(executable);                   // runs the entry `prepare`, where the program has one
#pragma once
#include "runtime/executable.h"

namespace heddle::driver {

// To be called after each loading of weights, before the entry predict runs.
void prepare_weights(runtime::Executable& executable);

}  // namespace heddle::driver
