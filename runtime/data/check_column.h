// Checks whether a column can feed its input: shape, type, and the values of labels and integers.
#pragma once
#include "runtime/data/table.h"

namespace heddle::runtime::data {

// All functions throw UserError at the request's location.
void check_dims(const ColumnRequest& request, const Column& column);
void check_type(const ColumnRequest& request, ElementType type);
// Returns the type of the input's elements. Throws where readers cannot fill that type, such as bf16.
ElementType filled_type(const ColumnRequest& request);
// Checks every value. A label must be a class number, or -100 where labels may be ignored. Any value must fit the
// input's integer type.
void check_range(const ColumnRequest& request, const Column& column);

// What is wrong with one value: "expected 0 ... 9", "it does not fit i32"; empty where it is valid.
std::string range_fault(const ColumnRequest& request, int64_t value);

// Converts floating values to the input's integer type, rounded toward zero. Throws at nan and at values that do not
// fit.
void cut_to_integers(const ColumnRequest& request, Column& column);

}  // namespace heddle::runtime::data
