// column_parts: splits the columns of a pointwise kernel where its elements start to read other operands. Each part
// gets a loop of its own, which needs no test per element.
//
//   %y: f32[8,96] = concat(%a: f32[8,64], %b: f32[8,32]) {axis = 1}   ->   columns [0,64) of %a, [64,96) of %b
#pragma once
#include "ir/kernel/access.h"

namespace heddle::ir::loop {

// A range of columns for one nest. The nest's own column coordinate starts at 0.
struct ColumnPart {
  int64_t first = 0, count = 0;
};

// The parts in order; together they are all columns. There is one part if operands do not change along the columns, or
// if they change too often for separate loops to pay. GPU kernels are never split.
std::vector<ColumnPart> column_parts(const Graph& kernel, const schedules::Pointwise& schedule, const KernelPlan& plan);

}  // namespace heddle::ir::loop
