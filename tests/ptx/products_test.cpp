// Products through tiles in the interpreter, in every schedule of the cases that the host executes: no finding, and the
// host's numbers.
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <cstdlib>
#include <string>

#include "codegen/lower.h"
#include "runtime/cuda/nvrtc.h"
#include "runtime/host/host_device.h"
#include "tests/numeric/contract_cases.h"
#include "tests/numeric/harness.h"
#include "tests/ptx/agreement.h"
#include "tests/ptx/program_run.h"

namespace heddle::testing {
namespace {

using namespace ir;
using Group = std::vector<ContractCase>;

NamedTensors inputs_of(const codegen::Entry& entry) {
  NamedTensors all;
  for (const codegen::Buffer& b : entry.inputs)
    all.emplace(b.name, random_tensor({parse_dtype(b.dtype).value(), b.dims}, -1, 1, 4, hash_text(b.name)));
  return all;
}

class PtxProducts : public ::testing::TestWithParam<Group> {};

TEST_P(PtxProducts, AgreeWithTheHost) {
  if (!runtime::find_nvrtc().found) GTEST_SKIP() << "no NVRTC on this machine";
  const codegen::Program program = codegen::lower(planned(GetParam()), "products", h200());
  runtime::HostDevice host({.threads = 1, .kernel_cache = {}});
  PtxDevice device;
  ProgramRun expected(program, host), got(program, device);
  for (size_t c = 0; c < GetParam().size(); ++c) {
    const codegen::Entry& entry = program.entries[c];
    SCOPED_TRACE(GetParam()[c].name);
    for (ProgramRun* run : {&expected, &got}) {
      run->write(entry, inputs_of(entry));
      run->run(entry);
    }
    const Images a = expected.read(entry), b = got.read(entry);
    for (const auto& [name, tensor] : a) {
      const Agreement together = agreement(tensor, b.at(name));
      EXPECT_EQ(together.fault, "") << name;
      EXPECT_LE(together.nmse, most_nmse(tensor.type.dtype)) << name;
    }
  }
  for (const ptx::Finding& f : device.findings()) ADD_FAILURE() << to_string(f);
}

// A long k in one part: what a run comes to joins second sums, floats or wide numbers, and the result is within the bound of
// docs/sums.md. All products are alike, so that roundings of one running sum would add up.
TEST(PtxLongSumsOfProducts, KeepTheirBound) {
  if (!runtime::find_nvrtc().found) GTEST_SKIP() << "no NVRTC on this machine";
  Group group;
  for (const int64_t k : {200, 6000})
    group.push_back({std::to_string(k),
                     [k](Builder& b) {
                       const ValueId x = b.graph.add_input("x", {DType::f32, {5, k}}, Role::input),
                                     w = b.graph.add_input("w", {DType::f32, {3, k}}, Role::input);
                       return Values{b("matmul", {x, w}, {{"transpose_b", true}})};
                     },
                     {.tile = {32, 16, 16}}});
  const codegen::Program program = codegen::lower(planned(group), "long_products", h200());
  PtxDevice device;
  ProgramRun run(program, device);
  for (const codegen::Entry& entry : program.entries) {
    const double factor = round_to(DType::f32, 0.265);
    NamedTensors inputs;
    for (const codegen::Buffer& b : entry.inputs) {
      Tensor& t = inputs.emplace(b.name, Tensor({DType::f32, b.dims})).first->second;
      std::ranges::fill(t.real, factor);
    }
    run.write(entry, inputs);
    run.run(entry);
    const auto k = static_cast<double>(entry.inputs.at(0).dims.back());
    const double exact = k * factor * factor, bound = 4 * std::log2(k) * 0x1p-23 * exact;
    const Tensor y = run.read(entry).at("output 0");
    for (int64_t i = 0; i < y.elements(); ++i) EXPECT_NEAR(y.at(i), exact, bound) << k << " products, element " << i;
  }
}

// HEDDLE_PTX_ALL: every schedule instead of each sixth.
std::vector<Group> groups() {
  std::vector<Group> some;
  const std::vector<Group> all = contract_groups();
  for (size_t i = 0; i < all.size(); i += std::getenv("HEDDLE_PTX_ALL") == nullptr ? 6 : 1) some.push_back(all[i]);
  return some;
}

INSTANTIATE_TEST_SUITE_P(Schedules, PtxProducts, ::testing::ValuesIn(groups()),
                         [](const auto& info) { return to_string(info.param[0].choice); });

}  // namespace
}  // namespace heddle::testing
