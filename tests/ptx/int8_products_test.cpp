// Products by int8 weights in the interpreter: whole numbers and their sums have the host's bits, and the oracle's.
#include "passes/int8_products.h"

#include <gtest/gtest.h>

#include <cmath>

#include "ir/builder.h"
#include "runtime/cuda/nvrtc.h"
#include "runtime/host/host_device.h"
#include "tests/ptx/program_run.h"
#include "tests/support/host_run.h"

namespace heddle::testing {
namespace {

using namespace ir;
using passes::Int8Weight;

// The sums of one product and of one convolution.
Module sums(Int8Weight::Input input) {
  Module module;
  Graph& g = module.graphs.emplace_back();
  g.name = "predict";
  Builder b(g);
  const ValueId x = g.add_input("x", {DType::f32, {5, 37}}, Role::input);
  const ValueId w = g.add_input("w", {DType::f32, {9, 37}}, Role::param);
  const ValueId image = g.add_input("image", {DType::f32, {2, 7, 7, 6}}, Role::input);
  const ValueId v = g.add_input("v", {DType::f32, {8, 3, 3, 6}}, Role::param);
  g.outputs = {b("matmul", {x, w}, {{"transpose_b", true}}),
               b("conv2d", {image, v}, {{"strides", Dims{2, 2}}, {"pads", Dims{1, 1, 1, 1}}})};
  passes::Options options;
  options.target.matrix_flops = 1;  // in f32 it would take long
  passes::int8_products(module, {{"w", 0, input}, {"v", 0, input}}, options);
  g.outputs.clear();
  for (const NodeId n : g.order)
    if (std::holds_alternative<Contraction>(g[n].op->kind)) g.outputs.push_back(g[n].results[0]);
  return module;
}

NamedTensors inputs_of(const Graph& g) {
  NamedTensors inputs;
  for (const ValueId v : g.inputs) {
    Tensor t(g[v].type);
    for (int64_t i = 0; i < t.elements(); ++i)
      t.set(i, (t.floating() ? 2.5 : 127.9) * std::sin(0.7 * static_cast<double>(i) + 0.2));
    if (g[v].name.ends_with("_input")) t.set(0, 0.0078125);  // some inputs saturate
    inputs.emplace(g[v].name, rounded(t));
  }
  return inputs;
}

TEST(PtxInt8Products, HaveTheBitsOfTheHostAndOfTheOracle) {
  if (!runtime::find_nvrtc().found) GTEST_SKIP() << "no NVRTC on this machine";
  using Input = Int8Weight::Input;
  for (const Input input : {Input::fixed_unsigned, Input::fixed_signed, Input::by_row}) {
    const Module m = sums(input);
    ASSERT_EQ(m.graphs[0].outputs.size(), 2U);
    const NamedTensors data = inputs_of(m.graphs[0]);
    const Evaluation oracle = evaluate(m, m.graphs[0], data, {.precision = Precision::rounded});
    const codegen::Program program = host_program(m, "int8", {.library = false, .target = h200()});
    runtime::HostDevice host({.threads = 1, .kernel_cache = {}});
    PtxDevice device;
    ProgramRun on_host(program, host), on_device(program, device);
    for (ProgramRun* run : {&on_host, &on_device}) {
      run->write(program.entries[0], data);
      run->run(program.entries[0]);
      const Images got = run->read(program.entries[0]);
      for (size_t i = 0; i < oracle.outputs.size(); ++i)
        EXPECT_EQ(got.at("output " + std::to_string(i)).integer, oracle.outputs[i].integer) << i;
    }
    for (const ptx::Finding& f : device.findings()) ADD_FAILURE() << to_string(f);
  }
}

}  // namespace
}  // namespace heddle::testing
