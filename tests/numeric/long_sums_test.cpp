// Long sums by generated kernels on the host device, and by the evaluator.
#include "tests/support/long_sums.h"

#include <gtest/gtest.h>

#include <cstdlib>

#include "tests/support/host_run.h"

namespace heddle::testing {
namespace {

using namespace ir;

struct Sums {
  DType dtype;
  Terms terms;
};
void PrintTo(const Sums& s, std::ostream* stream) { *stream << s.terms.name << " of " << to_string(s.dtype); }

std::vector<Sums> cases() {
  std::vector<Sums> all;
  for (const Terms& terms : known_terms()) all.push_back({DType::f32, terms});
  for (const DType dtype : {DType::f64, DType::bf16, DType::f16}) all.push_back({dtype, known_terms()[0]});
  return all;
}

// HEDDLE_LONG_SUMS: other numbers of terms, 100000000 say.
int64_t terms() {
  const char* asked = std::getenv("HEDDLE_LONG_SUMS");
  return asked == nullptr ? 200000 : std::stoll(asked);
}

class LongSumsOfTheHost : public ::testing::TestWithParam<Sums> {};

TEST_P(LongSumsOfTheHost, AreExactEnough) {
  const LongSums sums(GetParam().dtype, GetParam().terms, terms());
  HostRun one(sums.module, "total", {.threads = 1, .library = false}),
      two(sums.module, "total", {.threads = 2, .library = false});
  for (const std::string& name : sums.names()) {
    const NamedTensors inputs = sums.inputs(name);
    const Tensor got = two(name, inputs).outputs[0];
    EXPECT_EQ(sums.fault(name, got), "");
    EXPECT_EQ(one(name, inputs).outputs[0].real, got.real) << name << " depends on threads";
  }
}

// The oracles' doubles are as exact as the sums of f64 that they are compared with.
TEST(LongSumsOfTheEvaluator, AreExactEnough) {
  for (const Terms& terms : known_terms()) {
    const LongSums sums(DType::f64, terms, /*n=*/100000);
    for (const Graph& g : sums.module.graphs) {
      const Evaluation done = evaluate(sums.module, g, sums.inputs(g.name));
      EXPECT_EQ(sums.fault(g.name, done.outputs[0]), "") << terms.name;
    }
  }
}

INSTANTIATE_TEST_SUITE_P(All, LongSumsOfTheHost, ::testing::ValuesIn(cases()),
                         [](const auto& info) { return info.param.terms.name + "_" + to_string(info.param.dtype); });

}  // namespace
}  // namespace heddle::testing
