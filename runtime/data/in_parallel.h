// Runs work on rows in several threads.
//
//   in_parallel(rows, [&](int64_t row) { decode(row); })
//
// The result does not depend on the number of threads. Where several rows throw, the exception of the first of these
// rows is thrown.
#pragma once
#include <cstdint>
#include <functional>

namespace heddle::runtime::data {

void in_parallel(int64_t count, const std::function<void(int64_t)>& work);

}  // namespace heddle::runtime::data
