// Work on rows by several threads.
//
//   in_parallel(rows, [&](int64_t row) { decode(row); })
//
// Any number of threads does the same; of several exceptions that of the first row is thrown.
#pragma once
#include <cstdint>
#include <functional>

namespace heddle::runtime::data {

void in_parallel(int64_t count, const std::function<void(int64_t)>& work);

}  // namespace heddle::runtime::data
