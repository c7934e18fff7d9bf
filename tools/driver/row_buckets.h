// row_buckets: finds the bucket of each row of a table, the shortest that holds the row's length.
//
//   lengths {3, 8, 20, 9} of "buckets": {"by": "size", "let": "length", "lengths": [8, 12]}  ->  {0, 0, 2, 1}
#pragma once
#include <cstdint>
#include <string>
#include <vector>

#include "frontend/training/training_plan.h"
#include "runtime/data/table.h"

namespace heddle::driver {

// Empty where the model has no buckets. A row goes to a longer bucket where one of its labels or indices points beyond
// the end of shorter rows.
std::vector<uint8_t> row_buckets(const frontend::TrainingPlan& plan, const runtime::data::Table& table);

// A note with the number of rows in each bucket and the share of padding in what steps read. "" where there are no
// buckets.
std::string bucket_note(const frontend::TrainingPlan& plan, const runtime::data::Table& table,
                        const std::vector<uint8_t>& bucket, const std::string& split);

}  // namespace heddle::driver
