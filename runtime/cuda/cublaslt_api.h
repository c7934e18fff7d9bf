// CublasltApi: the functions of NVIDIA's cuBLASLt that Heddle calls. They are looked up when they are first needed.
//
//   std::string reason;
//   const CublasltApi* api = find_cublaslt(&reason);   // nullptr where there is none of version 13; `reason` says why
//   api->check(api->Create(&handle), "cublasLtCreate");
//
// The library is not linked, and no CUDA header is needed: the types below repeat its C interface. A test compares them
// with the header where one is installed.
#pragma once
#include <array>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>

#include "runtime/compile/library_search.h"
#include "runtime/cuda/driver.h"

namespace heddle::runtime {

namespace cublaslt {
using Status = int;  // cublasStatus_t: 0 is success
using Handle = struct cublasLtContext*;
using Layout = void*;      // cublasLtMatrixLayout_t
using Operation = void*;   // cublasLtMatmulDesc_t
using Preference = void*;  // cublasLtMatmulPreference_t

struct Algorithm {
  std::array<uint64_t, 8> data = {};
};
struct Heuristic {  // cublasLtMatmulHeuristicResult_t
  Algorithm algorithm;
  size_t workspace = 0;
  Status state = 0;
  float waves = 0;
  std::array<int, 4> reserved = {};
};

constexpr Status kSuccess = 0, kAllocFailed = 3, kNotSupported = 15;
// cudaDataType_t
constexpr int kF32 = 0, kF16 = 2, kBf16 = 14;
// cublasComputeType_t: sums in f32, of operands as they are, or rounded to a type first
constexpr int kCompute32 = 68, kFastF16 = 74, kFastBf16 = 75, kFastTf32 = 77;
// cublasLtMatrixLayoutAttribute_t
constexpr int kLayoutBatchCount = 5, kLayoutBatchOffset = 6;
// cublasLtMatmulDescAttributes_t
constexpr int kTransposeA = 3, kTransposeB = 4, kEpilogue = 7, kBiasPointer = 8;
// cublasLtMatmulPreferenceAttributes_t
constexpr int kMostWorkspace = 1, kReductionSchemes = 3;
constexpr int kAlignmentA = 5, kAlignmentB = 6, kAlignmentC = 7, kAlignmentD = 8;
// cublasLtMatmulAlgoConfigAttributes_t
constexpr int kAlgorithmId = 0, kAlgorithmTile = 1, kAlgorithmStages = 6;
// cublasOperation_t, cublasLtEpilogue_t, cublasLtReductionScheme_t
constexpr int32_t kPlain = 0, kTransposed = 1;
constexpr uint32_t kEpilogueNone = 1, kEpilogueBias = 4;
constexpr uint32_t kNoReduction = 0;
}  // namespace cublaslt

// The name that the library exports, the field's name, the result, the parameters.
#define HEDDLE_CUBLASLT_FUNCTIONS(X)                                                                                   \
  X(cublasLtGetVersion, GetVersion, size_t, ())                                                                        \
  X(cublasLtGetStatusName, GetStatusName, const char*, (cublaslt::Status))                                             \
  X(cublasLtCreate, Create, cublaslt::Status, (cublaslt::Handle*))                                                     \
  X(cublasLtDestroy, Destroy, cublaslt::Status, (cublaslt::Handle))                                                    \
  X(cublasLtMatrixLayoutCreate, LayoutCreate, cublaslt::Status, (cublaslt::Layout*, int, uint64_t, uint64_t, int64_t)) \
  X(cublasLtMatrixLayoutDestroy, LayoutDestroy, cublaslt::Status, (cublaslt::Layout))                                  \
  X(cublasLtMatrixLayoutSetAttribute, LayoutSet, cublaslt::Status, (cublaslt::Layout, int, const void*, size_t))       \
  X(cublasLtMatmulDescCreate, OperationCreate, cublaslt::Status, (cublaslt::Operation*, int, int))                     \
  X(cublasLtMatmulDescDestroy, OperationDestroy, cublaslt::Status, (cublaslt::Operation))                              \
  X(cublasLtMatmulDescSetAttribute, OperationSet, cublaslt::Status, (cublaslt::Operation, int, const void*, size_t))   \
  X(cublasLtMatmulPreferenceCreate, PreferenceCreate, cublaslt::Status, (cublaslt::Preference*))                       \
  X(cublasLtMatmulPreferenceDestroy, PreferenceDestroy, cublaslt::Status, (cublaslt::Preference))                      \
  X(cublasLtMatmulPreferenceSetAttribute, PreferenceSet, cublaslt::Status,                                             \
    (cublaslt::Preference, int, const void*, size_t))                                                                  \
  X(cublasLtMatmulAlgoGetHeuristic, GetHeuristic, cublaslt::Status,                                                    \
    (cublaslt::Handle, cublaslt::Operation, cublaslt::Layout, cublaslt::Layout, cublaslt::Layout, cublaslt::Layout,    \
     cublaslt::Preference, int, cublaslt::Heuristic*, int*))                                                           \
  X(cublasLtMatmulAlgoConfigGetAttribute, AlgorithmGet, cublaslt::Status,                                              \
    (const cublaslt::Algorithm*, int, void*, size_t, size_t*))                                                         \
  X(cublasLtMatmul, Matmul, cublaslt::Status,                                                                          \
    (cublaslt::Handle, cublaslt::Operation, const void*, const void*, cublaslt::Layout, const void*, cublaslt::Layout, \
     const void*, const void*, cublaslt::Layout, void*, cublaslt::Layout, const cublaslt::Algorithm*, void*, size_t,   \
     cuda::Stream))

struct CublasltApi {
// NOLINTBEGIN(bugprone-macro-parentheses): with parentheses it would declare nothing
#define HEDDLE_FIELD(exported, field, result, parameters) result(*field) parameters = nullptr;
  HEDDLE_CUBLASLT_FUNCTIONS(HEDDLE_FIELD)
#undef HEDDLE_FIELD
  // NOLINTEND(bugprone-macro-parentheses)
  LibraryCandidate from;

  std::string version() const;  // "13.1.0"
  // Throws UserError where `status` is not success. The message has the status's name and `about`, which says what is
  // computed. The exit code is `limit` where memory is short, else `failed`.
  void check(cublaslt::Status status, const char* call, const std::string& about = {}) const;
};

// Opens the first of cublaslt_candidates() that has version 13. Returns nullptr where there is none; `reason` then says
// why. The library stays open.
std::unique_ptr<CublasltApi> open_cublaslt(std::string* reason = nullptr);
// The same, opened once for the process.
const CublasltApi* find_cublaslt(std::string* reason = nullptr);

}  // namespace heddle::runtime
