// What the campaigns over long sums share: which cases the environment asks for, and what is said of them.
#pragma once
#include <fmt/format.h>
#include <gtest/gtest.h>

#include <cstdlib>
#include <numeric>

#include "tests/sums/check_sums.h"

namespace heddle::testing {

inline int64_t from_environment(const char* name, int64_t fallback) {
  const char* text = std::getenv(name);
  return text == nullptr ? fallback : std::atoll(text);
}

// `count` cases, where HEDDLE_SUMS_COUNT says nothing else; of one family, where HEDDLE_SUMS_OF names it.
inline void expect_sums(SumOptions options, int64_t count) {
  options.draw.most = from_environment("HEDDLE_SUMS_MOST", options.draw.most);
  std::vector<uint64_t> numbers(static_cast<size_t>(from_environment("HEDDLE_SUMS_COUNT", count)));
  std::iota(numbers.begin(), numbers.end(), static_cast<uint64_t>(from_environment("HEDDLE_SUMS_FIRST", 0)));
  if (const char* family = std::getenv("HEDDLE_SUMS_OF"))
    std::erase_if(numbers, [&](uint64_t number) { return family_of(number) != family; });
  const SumReport report = check_sums(numbers, options);
  for (const SumFault& f : report.faults) ADD_FAILURE() << f.text;
  EXPECT_GE(report.results, std::ssize(numbers));
  fmt::print("{} cases, {} results, {} faults; the largest error within its bound has {:.3g} of it\n", numbers.size(),
             report.results, report.faults.size(), report.worst);
}

}  // namespace heddle::testing
