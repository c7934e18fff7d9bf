// Whether a column can feed its input: shape, type, and the values of labels and integers.
#pragma once
#include "runtime/data/table.h"

namespace heddle::runtime::data {

// All throw UserError at the request's place.
void check_dims(const ColumnRequest& request, const Column& column);
void check_type(const ColumnRequest& request, ElementType type);
// The type of the input's elements, one that readers fill.
ElementType filled_type(const ColumnRequest& request);
// Every value must be a class number or -100, or at least fit the input's integer type.
void check_range(const ColumnRequest& request, const Column& column);

// What is wrong about one of them: "expected 0 ... 9", "it does not fit i32"; empty where nothing is.
std::string range_fault(const ColumnRequest& request, int64_t value);

// Floating values become the input's integers, cut toward zero; nan and what does not fit is refused.
void cut_to_integers(const ColumnRequest& request, Column& column);

}  // namespace heddle::runtime::data
