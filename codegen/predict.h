// predict: fills in what each kernel and library call of a program should take, for reports, and for the choice of
// persistent kernels. Counting what a GPU executes takes as long as half of the passes.
//
//   k_add: bytes 12288                ->   predicted 1.5 us, at least 1.3 us; 256 sectors read, 128 written, ...
#pragma once
#include "codegen/program.h"
#include "ir/graph.h"
#include "ir/kernel/target.h"

namespace heddle::codegen {

// `program` is the module's, lowered for the target. What has been predicted stays as it is.
void predict(Program& program, const ir::Module& m, const ir::Target& target);

// Of a step, once that has been done.
double predicted_seconds(const Program& program, const Step& step);

}  // namespace heddle::codegen
