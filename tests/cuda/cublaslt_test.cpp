// cuBLASLt's calls on the fake library: it refuses what the real one, or a GPU, would punish, and computes what each
// form of a product means.
#include "runtime/cuda/cublaslt.h"

#include <dlfcn.h>
#include <fmt/format.h>
#include <gtest/gtest.h>

#include <bit>
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <functional>

#include "ir/diagnostic.h"
#include "runtime/cuda/handle.h"
#include "tests/cuda/fake_gpu.h"

namespace heddle::runtime {
namespace {

using testing::FakeGpu;
using testing::forget_report;
using testing::number;
using testing::Numbers;

std::string report() { return testing::fake_report(); }
size_t width(const std::string& dtype) { return testing::width_of(dtype); }
Numbers numbers(const codegen::TensorDesc& t, uint64_t seed) { return testing::draw_numbers(t, seed); }

class CublasltCalls : public ::testing::Test {
 protected:
  void SetUp() override {
    ASSERT_NE(find_driver(), nullptr) << "LD_LIBRARY_PATH leads to the fake driver";
    ASSERT_NE(dlsym(testing::fake_driver(), "fake_cuda_report"), nullptr)
        << "a real driver: these tests are for the fake";
    std::string reason;
    ASSERT_NE(find_cublaslt(&reason), nullptr) << "HEDDLE_CUBLASLT leads to the fake library: " << reason;
    forget_report();
  }
};

// --- what is refused ---

constexpr size_t kRows = 24, kColumns = 16, kDepth = 32, kMatrices = 2;
constexpr size_t kScratch = size_t{2} << 20;

// All arguments of d = a b, of two matrices each, in a form that is right.
struct Arguments {
  CublasltLayout a{.rows = kRows, .columns = kDepth, .ld = kRows, .apart = kRows * kDepth};
  CublasltLayout b{.rows = kDepth, .columns = kColumns, .ld = kDepth, .apart = kDepth * kColumns};
  CublasltLayout d{.rows = kRows, .columns = kColumns, .ld = kRows, .apart = kRows * kColumns};
  CublasltLayout c = d;
  int compute = cublaslt::kCompute32, scale = cublaslt::kF32;
  int32_t order = 0, batch_of_a = kMatrices, batch = kMatrices, transpose_b = 0, pointer_mode = 0;
  uint32_t epilogue = cublaslt::kEpilogueBias, schemes = 0;
  std::array<uint32_t, 4> alignment = {256, 256, 256, 256};
  cuda::Address at_a = 0, at_b = 0, at_c = 0, at_d = 0, bias = 0, workspace = 0;
  size_t scratch = kScratch, order_bytes = sizeof(int32_t);
  float alpha = 1;
  bool has_alpha = true, asks_while_recorded = false, has_handle = true, has_stream = true, has_algorithm = true;
  int64_t ld_at_the_call = 0;  // of another layout of D than the algorithm was chosen for
};

Arguments right(FakeGpu& gpu) {
  Arguments x;
  x.at_a = gpu.allocate(kMatrices * kRows * kDepth * 4), x.at_b = gpu.allocate(kMatrices * kDepth * kColumns * 4);
  x.at_d = x.at_c = gpu.allocate(kMatrices * kRows * kColumns * 4);
  x.bias = gpu.allocate(kRows * 4), x.workspace = gpu.allocate(kScratch);
  return x;
}

const void* pointer(cuda::Address at) { return std::bit_cast<const void*>(static_cast<uintptr_t>(at)); }
void* place(cuda::Address at) { return std::bit_cast<void*>(static_cast<uintptr_t>(at)); }

// The first status that is not success, of all calls that lead to the product.
cublaslt::Status attempt(const FakeGpu& gpu, const Arguments& x) {
  using namespace cublaslt;
  const CublasltApi& api = *find_cublaslt();
  Status first = kSuccess;
  const auto expect = [&](Status s) { first = first == kSuccess ? s : first; };
  cublaslt::Handle handle = nullptr;
  Operation op = nullptr;
  Preference preference = nullptr;
  std::array<Layout, 5> layouts = {};  // a, b, c, d, and d at the call
  expect(api.Create(&handle));
  expect(api.OperationCreate(&op, x.compute, x.scale));
  const auto set = [&](int attribute, const auto& value) {
    expect(api.OperationSet(op, attribute, &value, sizeof value));
  };
  const void* bias = pointer(x.bias);
  set(kTransposeB, x.transpose_b), set(kEpilogue, x.epilogue), set(kBiasPointer, bias);
  if (x.pointer_mode != 0) set(/*CUBLASLT_MATMUL_DESC_POINTER_MODE*/ 2, x.pointer_mode);
  CublasltLayout moved = x.d;
  if (x.ld_at_the_call > 0) moved.ld = x.ld_at_the_call;
  const std::array<const CublasltLayout*, 5> all = {&x.a, &x.b, &x.c, &x.d, &moved};
  for (size_t i = 0; i < all.size(); ++i) {
    const int32_t batch = i == 0 ? x.batch_of_a : x.batch;
    expect(api.LayoutCreate(&layouts[i], all[i]->type, all[i]->rows, all[i]->columns, all[i]->ld));
    expect(api.LayoutSet(layouts[i], kLayoutBatchCount, &batch, sizeof batch));
    expect(api.LayoutSet(layouts[i], kLayoutBatchOffset, &all[i]->apart, sizeof(int64_t)));
    expect(api.LayoutSet(layouts[i], /*CUBLASLT_MATRIX_LAYOUT_ORDER*/ 1, &x.order, x.order_bytes));
  }
  const uint64_t most = kScratch;
  expect(api.PreferenceCreate(&preference));
  expect(api.PreferenceSet(preference, kMostWorkspace, &most, sizeof most));
  expect(api.PreferenceSet(preference, kReductionSchemes, &x.schemes, sizeof x.schemes));
  for (size_t i = 0; i < x.alignment.size(); ++i)
    expect(api.PreferenceSet(preference, kAlignmentA + static_cast<int>(i), &x.alignment[i], sizeof(uint32_t)));
  Heuristic chosen;
  int found = 0;
  if (x.asks_while_recorded) gpu.driver.StreamBeginCapture(gpu.stream(), cuda::kCaptureThreadLocal);
  if (first == kSuccess)
    expect(api.GetHeuristic(x.has_handle ? handle : nullptr, op, layouts[0], layouts[1], layouts[2], layouts[3],
                            preference, 1, &chosen, &found));
  if (x.asks_while_recorded) {
    cuda::Graph graph = nullptr;
    gpu.driver.StreamEndCapture(gpu.stream(), &graph);
    gpu.driver.GraphDestroy(graph);
  }
  const float zero = 0;
  if (first == kSuccess)
    expect(api.Matmul(handle, op, x.has_alpha ? &x.alpha : nullptr, pointer(x.at_a), layouts[0], pointer(x.at_b),
                      layouts[1], &zero, pointer(x.at_c), layouts[x.ld_at_the_call > 0 ? 4 : 2], place(x.at_d),
                      layouts[x.ld_at_the_call > 0 ? 4 : 3], x.has_algorithm ? &chosen.algorithm : nullptr,
                      place(x.workspace), x.scratch, x.has_stream ? gpu.stream() : nullptr));
  gpu.driver.StreamSynchronize(gpu.stream());
  for (Layout layout : layouts) api.LayoutDestroy(layout);
  api.PreferenceDestroy(preference), api.OperationDestroy(op), api.Destroy(handle);
  return first;
}

struct Fault {
  const char* name;
  std::function<void(Arguments&)> plant;
  const char* violation;
};
const std::vector<Fault>& faults() {
  static const std::vector<Fault> kFaults = {
      {"OrderByRows", [](auto& x) { x.order = 1; }, "order 1 of A: elements lie by columns"},
      {"AttributeOfOtherSize", [](auto& x) { x.order_bytes = 8; }, "an attribute of 4 bytes, of which 8 are given"},
      {"ShortLeadingDimension", [](auto& x) { x.a.ld = kRows - 1; }, "leading dimension 23 of A is less than its 24"},
      {"SwappedLeadingDimension", [](auto& x) { x.b.ld = kColumns; }, "leading dimension 16 of B is less than its 32"},
      {"OtherDepth", [](auto& x) { x.b.rows = kDepth - 1; }, "inner dimensions differ: 32 and 31"},
      {"ForgottenTransposition", [](auto& x) { x.transpose_b = 1; }, "inner dimensions differ: 32 and 16"},
      {"OtherRowsOfD", [](auto& x) { x.d.rows = kRows - 1; }, "D is 23 x 16, and the product is 24 x 16"},
      {"UnknownOperation", [](auto& x) { x.transpose_b = 7; }, "operation 7 of a matrix"},
      {"OtherBatch", [](auto& x) { x.batch_of_a = 1; }, "batches of 1 and 2"},
      {"OverlappingBatch", [](auto& x) { x.d.apart = x.c.apart = 8; }, "matrices of D lie 8 apart, and one takes 384"},
      {"BatchBeyondMemory", [](auto& x) { x.a.apart = 1 << 20; }, "is not in memory"},
      {"NegativeBatchOffset", [](auto& x) { x.b.apart = -1; }, "matrices of B lie -1 apart"},
      {"MixedTypes", [](auto& x) { x.a.type = cublaslt::kBf16; }, "A is of type 14 and B of 0"},
      {"OtherTypeOfC", [](auto& x) { x.c.type = cublaslt::kBf16; }, "C is of type 14 and D of 0"},
      {"ComputesInDoubles", [](auto& x) { x.compute = 70; }, "compute type 70 of operands of type 0"},
      {"ScaleOfHalves", [](auto& x) { x.scale = cublaslt::kF16; }, "scale type 2"},
      {"PointersOfTheDevice", [](auto& x) { x.pointer_mode = 1; }, "pointer mode 1: alpha is the host's"},
      {"NoAlpha", [](auto& x) { x.has_alpha = false; }, "no alpha or no beta"},
      {"MisalignedOperand", [](auto& x) { x.at_a += 4, x.a.columns = kDepth, x.a.apart -= 8; },
       "A is not aligned to 256 bytes"},
      {"MisalignedToSixteen",
       [](auto& x) {
         x.alignment = {16, 16, 16, 16}, x.at_b += 8, x.b.apart -= 8;
       },
       "B is not aligned to 16 bytes"},
      {"OddAlignment", [](auto& x) { x.alignment[3] = 24; }, "an alignment of 24 bytes"},
      {"NoResult", [](auto& x) { x.at_d = x.at_c = 0; }, "C is at no address"},
      {"ResultOverOperand", [](auto& x) { x.at_d = x.at_c = x.at_a; }, "D lies over A"},
      {"TwoResults", [](auto& x) { x.at_c = x.workspace; }, "C and D are two arrays"},
      {"NoBias", [](auto& x) { x.bias = 0; }, "the bias is at no address"},
      {"MisalignedBias", [](auto& x) { x.bias += 4; }, "the bias is not aligned to 16 bytes"},
      {"ShortBias", [](auto& x) { x.bias += 16; }, "the bias of 96 bytes is not in memory"},
      {"UnknownEpilogue", [](auto& x) { x.epilogue = 12345; }, "epilogue 12345"},
      {"ShortWorkspace", [](auto& x) { x.scratch = 4096; }, "a workspace of 4096 bytes, and the algorithm takes"},
      {"MisalignedWorkspace", [](auto& x) { x.workspace += 64, x.scratch -= 64; },
       "the workspace is not aligned to 256 bytes"},
      {"WorkspaceBeyondMemory", [](auto& x) { x.scratch = kScratch + 1; }, "bytes is not in memory"},
      {"NoWorkspace", [](auto& x) { x.workspace = 0; }, "the workspace is at no address"},
      {"AddsPartialResults", [](auto& x) { x.schemes = 7; }, "reduction schemes 7: partial results"},
      {"AsksWhileRecorded", [](auto& x) { x.asks_while_recorded = true; }, "while a stream is recorded"},
      {"NoHandle", [](auto& x) { x.has_handle = false; }, "cublasLtMatmulAlgoGetHeuristic of an object that is not"},
      {"NoStream", [](auto& x) { x.has_stream = false; }, "cublasLtMatmul of a stream that is not there"},
      {"NoAlgorithm", [](auto& x) { x.has_algorithm = false; }, "no algorithm that the heuristic named"},
      {"AlgorithmOfAnother", [](auto& x) { x.ld_at_the_call = 2 * kRows; }, "an algorithm of another product"},
  };
  return kFaults;
}

TEST_F(CublasltCalls, RightArgumentsAreTaken) {
  FakeGpu gpu;
  EXPECT_EQ(attempt(gpu, right(gpu)), cublaslt::kSuccess);
  EXPECT_EQ(report().find("violation: "), std::string::npos) << report();
}

TEST_F(CublasltCalls, EachPlantedFaultIsRefused) {
  FakeGpu gpu;
  for (const Fault& fault : faults()) {
    SCOPED_TRACE(fault.name);
    forget_report();
    Arguments x = right(gpu);
    fault.plant(x);
    EXPECT_NE(attempt(gpu, x), cublaslt::kSuccess);
    EXPECT_NE(report().find(fault.violation), std::string::npos) << report();
  }
  forget_report();
}

// --- what is computed ---

struct Form {
  std::string dtype = "f32", precision = "f32";
  std::vector<int64_t> batch = {};
  bool transpose_a = false, transpose_b = false, bias = false;
};
std::ostream& operator<<(std::ostream& out, const Form& f) {
  return out << f.dtype << " " << f.precision << " batch " << f.batch.size() << (f.transpose_a ? " transpose_a" : "")
             << (f.transpose_b ? " transpose_b" : "") << (f.bias ? " bias" : "");
}

constexpr int64_t kM = 5, kN = 7, kK = 11;

codegen::Library call_of(const Form& f) {
  const auto tensor = [&](int64_t rows, int64_t columns) {
    codegen::TensorDesc t{f.dtype, f.batch};
    t.dims.insert(t.dims.end(), {rows, columns});
    return t;
  };
  codegen::Library call;
  call.impl = "cublaslt", call.op = "matmul", call.matrix_product = true, call.title = "mm";
  call.operands = {f.transpose_a ? tensor(kK, kM) : tensor(kM, kK), f.transpose_b ? tensor(kN, kK) : tensor(kK, kN)};
  call.results = {tensor(kM, kN)};
  call.integers = {{"transpose_a", {f.transpose_a ? 1 : 0}}, {"transpose_b", {f.transpose_b ? 1 : 0}}};
  if (f.bias) call.operands.push_back({f.dtype, {kN}}), call.epilogue.push_back({.op = "bias", .bias = true});
  call.precision = f.precision;
  call.workspace.bytes = cublaslt_workspace("sm_80");
  return call;
}

// y[z, i, j] of our row-major arrays, in doubles.
std::vector<double> product(const Form& f, const std::vector<Numbers>& in) {
  int64_t batch = 1;
  for (const int64_t size : f.batch) batch *= size;
  std::vector<double> y;
  for (int64_t z = 0; z < batch; ++z)
    for (int64_t i = 0; i < kM; ++i)
      for (int64_t j = 0; j < kN; ++j) {
        double sum = f.bias ? in[2].values[static_cast<size_t>(j)] : 0;
        for (int64_t k = 0; k < kK; ++k)
          sum += in[0].values[static_cast<size_t>(z * kM * kK + (f.transpose_a ? k * kM + i : i * kK + k))] *
                 in[1].values[static_cast<size_t>(z * kK * kN + (f.transpose_b ? j * kK + k : k * kN + j))];
        y.push_back(sum);
      }
  return y;
}

double tolerance(const Form& f) {
  if (f.dtype == "bf16" || f.precision == "bf16") return 3e-2;
  return f.dtype == "f16" || f.precision == "tf32" ? 5e-3 : 1e-6;
}

void expect_near(const Form& f, const std::vector<std::byte>& got, const std::vector<double>& expected) {
  ASSERT_EQ(got.size(), expected.size() * width(f.dtype));
  for (size_t i = 0; i < expected.size(); ++i)
    EXPECT_NEAR(number(f.dtype, got.data() + i * width(f.dtype)), expected[i], tolerance(f)) << "element " << i;
}

// Whether any element shows that operands were rounded.
bool is_rounded(const std::vector<std::byte>& got, const std::vector<double>& expected) {
  constexpr double kOfF32 = 1e-5;
  for (size_t i = 0; i < expected.size(); ++i)
    if (std::abs(number("f32", got.data() + i * sizeof(float)) - expected[i]) > kOfF32) return true;
  return false;
}

std::vector<Form> forms() {
  std::vector<Form> all;
  const std::vector<std::pair<std::string, std::string>> types = {
      {"f32", "f32"}, {"f32", "tf32"}, {"f32", "bf16"}, {"bf16", "f32"}, {"f16", "f32"}};
  for (const auto& [dtype, precision] : types)
    for (const std::vector<int64_t>& batch : {std::vector<int64_t>{}, {3}, {2, 3}})
      for (int bits = 0; bits < 8; ++bits)
        all.push_back({dtype, precision, batch, (bits & 1) != 0, (bits & 2) != 0, (bits & 4) != 0});
  return all;
}

TEST_F(CublasltCalls, EachFormIsItsMeaning) {
  FakeGpu gpu;
  const Cublaslt library;
  for (const Form& f : forms()) {
    SCOPED_TRACE(::testing::Message() << f);
    const codegen::Library call = call_of(f);
    std::vector<Numbers> in;
    std::vector<CublasltCall::Place> places;
    for (const codegen::TensorDesc& t : call.operands) {
      in.push_back(numbers(t, in.size() + 1));
      places.push_back({gpu.put(in.back().bytes)});
    }
    const std::vector<double> expected = product(f, in);
    const size_t bytes = expected.size() * width(f.dtype);
    places.push_back({gpu.allocate(bytes)});
    const cuda::Address to = places.back().at, scratch = gpu.allocate(static_cast<size_t>(call.workspace.bytes));
    const CublasltCall bound(library, call, places, scratch);
    bound.run(gpu.stream());
    expect_near(f, gpu.get(to, bytes), expected);
    if (f.dtype == "f32") {
      EXPECT_EQ(is_rounded(gpu.get(to, bytes), expected), f.precision != "f32");
    }
    EXPECT_EQ(bound.algorithm(), "algorithm 66, tile 20, stages 36");
  }
  EXPECT_EQ(report().find("violation: "), std::string::npos) << report();
}

// In a loop the arrays move, here by rows that are aligned to 4 bytes only, and so does the alignment that is promised.
TEST_F(CublasltCalls, ArraysMoveWithTheTurnsOfALoop) {
  FakeGpu gpu;
  const Cublaslt library;
  const Form f{.bias = true};
  const codegen::Library call = call_of(f);
  constexpr int64_t kTurns = 3, kStride = kM * kK * 4;
  codegen::TensorDesc rows = call.operands[0];
  rows.dims[0] *= kTurns;
  const Numbers all = numbers(rows, 1);
  std::vector<Numbers> in = {all, numbers(call.operands[1], 2), numbers(call.operands[2], 3)};
  const int64_t apart = kM * kN * 4;
  const cuda::Address to = gpu.allocate(static_cast<size_t>(apart * kTurns));
  CublasltCall bound(
      library, call,
      {{gpu.put(all.bytes), {kStride}}, {gpu.put(in[1].bytes)}, {gpu.put(in[2].bytes), {0}}, {to, {apart}}},
      gpu.allocate(static_cast<size_t>(call.workspace.bytes)));
  for (int64_t t = 0; t < kTurns; ++t) bound.run(gpu.stream()), bound.advance(0, 1);
  bound.advance(0, -kTurns);
  for (int64_t t = 0; t < kTurns; ++t) {
    SCOPED_TRACE(t);
    in[0].values.assign(all.values.begin() + t * kM * kK, all.values.begin() + (t + 1) * kM * kK);
    expect_near(f, gpu.get(to + static_cast<cuda::Address>(t * apart), static_cast<size_t>(apart)), product(f, in));
  }
  EXPECT_EQ(report().find("violation: "), std::string::npos) << report();
}

// A recorded call is one node, and is executed as often as its graph is launched.
TEST_F(CublasltCalls, AreRecorded) {
  FakeGpu gpu;
  const Cublaslt library;
  const codegen::Library call = call_of({});
  std::vector<CublasltCall::Place> places;
  for (const codegen::TensorDesc& t : {call.operands[0], call.operands[1], call.results[0]})
    places.push_back({gpu.put(numbers(t, 1).bytes)});
  const CublasltCall bound(library, call, places, gpu.allocate(static_cast<size_t>(call.workspace.bytes)));
  GraphHandle graph(gpu.driver);
  GraphExecHandle exec(gpu.driver);
  ASSERT_EQ(gpu.driver.StreamBeginCapture(gpu.stream(), cuda::kCaptureThreadLocal), cuda::kSuccess);
  bound.run(gpu.stream());
  ASSERT_EQ(gpu.driver.StreamEndCapture(gpu.stream(), graph.put()), cuda::kSuccess);
  ASSERT_EQ(gpu.driver.GraphInstantiate(exec.put(), graph.get(), 0), cuda::kSuccess);
  EXPECT_EQ(report().find("count: products"), std::string::npos);
  for (int i = 0; i < 2; ++i) gpu.driver.GraphLaunch(exec.get(), gpu.stream());
  gpu.driver.StreamSynchronize(gpu.stream());
  EXPECT_NE(report().find("count: products 2\n"), std::string::npos) << report();
  EXPECT_EQ(report().find("violation: "), std::string::npos) << report();
}

TEST(Cublaslt, RefusesWhatItDoesNotTake) {
  const auto refused = [](const std::function<void(codegen::Library&)>& change) {
    codegen::Library call = call_of({.bias = true});
    change(call);
    return cublaslt_refusal(call);
  };
  EXPECT_EQ(refused([](auto&) {}), "");
  EXPECT_EQ(refused([](auto& c) { c.matrix_product = false, c.op = "conv2d"; }), "operator conv2d");
  EXPECT_EQ(refused([](auto& c) { c.epilogue.push_back({.op = "relu", .at_least = 0.0}); }), "epilogue relu");
  EXPECT_EQ(refused([](auto& c) { c.epilogue[0].bias = false; }), "epilogue bias");
  EXPECT_EQ(refused([](auto& c) { c.operands[0].dtype = "i32"; }), "dtype i32");
  EXPECT_EQ(refused([](auto& c) { c.operands[1].dtype = "bf16"; }), "bf16 beside f32");
  EXPECT_EQ(refused([](auto& c) { c.operands[0].dims[0] = 0; }), "an empty tensor");
  EXPECT_EQ(refused([](auto& c) { c.operands[0].dims[0] = int64_t{1} << 31; }), "a size of 2147483648");
  EXPECT_EQ(refused([](auto& c) { c.results.push_back(c.results[0]); }), "2 results");
}

// A program that calls it was compiled on another machine. In a process of its own: a library is looked for once.
TEST(Cublaslt, IsMissedWhereAProgramCallsIt) {
  GTEST_FLAG_SET(death_test_style, "threadsafe");
  const auto load = [] {
    setenv("HEDDLE_CUBLASLT", "/none", 1);
    try {
      const Cublaslt library;
    } catch (const UserError& error) {
      std::fputs(error.what(), stderr);
      std::_Exit(static_cast<int>(error.code()));
    }
  };
  EXPECT_EXIT(load(), ::testing::ExitedWithCode(static_cast<int>(ExitCode::missing)),
              "the program calls cuBLASLt 13, and there is none: libcublasLt.so.13 was not found");
}

TEST(Cublaslt, TakesWhatTheLibraryTakesByDefault) {
  constexpr int64_t kMega = int64_t{1} << 20;
  EXPECT_EQ(cublaslt_workspace("sm_90a"), 32 * kMega);
  EXPECT_EQ(cublaslt_workspace("compute_121"), 32 * kMega);
  EXPECT_EQ(cublaslt_workspace("sm_86"), 4 * kMega);
  EXPECT_EQ(cublaslt_shapes(call_of({.transpose_b = true, .bias = true})),
            "f32[5,7] = f32[5,11] by f32[7,11] transposed with a bias");
}

}  // namespace
}  // namespace heddle::runtime
