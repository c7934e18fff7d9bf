// Columns of a pointwise kernel whose elements are made of the same operands, so that no element asks which.
//
//   %y: f32[8,96] = concat(%a: f32[8,64], %b: f32[8,32]) {axis = 1}   ->   columns [0,64) of %a, [64,96) of %b
#pragma once
#include "ir/kernel/access.h"

namespace heddle::ir::loop {

// Neighbouring columns that a nest runs over; it counts them from 0.
struct ColumnPart {
  int64_t first = 0, count = 0;
};

// In their order, all columns together; one part where nothing changes along them, or too often to be worth loops.
std::vector<ColumnPart> column_parts(const Graph& kernel, const schedules::Pointwise& schedule, const KernelPlan& plan);

}  // namespace heddle::ir::loop
