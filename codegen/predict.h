// predict: adds the predicted time to each kernel, library call and copy of a program. Reports and the choice of
// persistent kernels use it. Counting what a GPU executes takes half as long as all passes, so it is done on request.
//
//   k_add: bytes 12288                ->   predicted 1.5 us, at least 1.3 us; 256 sectors read, 128 written, ...
#pragma once
#include "codegen/program.h"
#include "ir/graph.h"
#include "ir/kernel/target.h"

namespace heddle::codegen {

// `program` must be `m` lowered for `target`. Existing predictions are kept.
void predict(Program& program, const ir::Module& m, const ir::Target& target);

// The predicted seconds of a step. Call predict first.
double predicted_seconds(const Program& program, const Step& step);

}  // namespace heddle::codegen
