// The fake of cuBLASLt: a libcublasLt.so.13 for tests, beside the fake driver, in whose memory and streams it works.
//
// It checks what it is given, and refuses what the library's documentation forbids, what a GPU would punish later, and
// what Heddle does not want: another order of elements than by columns, algorithms that add partial results. Each
// refusal is a violation of the fake's world, and a status of the library. A product is computed when its turn comes.
//
//   HEDDLE_FAKE_CUBLASLT_VERSION=120900   the version that it says (default 130100)
//   HEDDLE_FAKE_CUDA_FAIL=cublasLtMatmul:2   as for the driver's calls: a status of the library
#pragma once
#include <array>
#include <cstdint>
#include <string>

#include "tests/fake_cuda/stream.h"

namespace heddle::fake_cuda {

using CublasStatus = int;
constexpr CublasStatus kCublasSuccess = 0, kCublasNotInitialized = 1, kCublasInvalidValue = 7,
                       kCublasExecutionFailed = 13, kCublasNotSupported = 15;

struct CublasHandle {
  bool used = false;
};
// A matrix, or one of each of a batch.
struct MatrixLayout {
  int type = 0;
  uint64_t rows = 0, columns = 0;
  int64_t ld = 0;
  int32_t batch = 1, order = 0;
  int64_t apart = 0;
  bool operator==(const MatrixLayout&) const = default;
};
struct Multiplication {
  int compute = 0, scale = 0;
  int32_t transpose_a = 0, transpose_b = 0;
  uint32_t epilogue = 1;
  uint64_t bias = 0;
  int32_t pointer_mode = 0;
};
struct Preference {
  uint64_t workspace = 0;
  uint32_t schemes = 7;                                      // of adding partial results: all
  std::array<uint32_t, 4> alignment = {256, 256, 256, 256};  // of A, B, C, D
};

// What one algorithm was named for.
struct Problem {
  Multiplication operation;
  MatrixLayout a, b, c, d;
  Preference preference;
  uint64_t workspace = 0;  // that the algorithm takes
};

// What is wrong with a product's shapes, types and epilogue: "leading dimension 3 of A is less than its 4 rows", or "".
std::string wrong_shapes(const Problem& p);

// Where a call's arrays lie.
struct Arrays {
  uint64_t a = 0, b = 0, c = 0, d = 0, workspace = 0, workspace_bytes = 0;
  float alpha = 1, beta = 0;
};
// What is wrong with them, or "".
std::string wrong_arrays(const Problem& p, const Arrays& at);
// The bytes from the first to the last element of all matrices.
uint64_t bytes_of(const MatrixLayout& l);
uint64_t element_bytes(int type);

// d = alpha a' b' + beta c, with the epilogue, in the fake's memory.
void multiply(const Problem& p, const Arrays& at);

}  // namespace heddle::fake_cuda
