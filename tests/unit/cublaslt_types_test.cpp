// cuBLASLt's table and constants against the library's own header, where there is one.
#include <gtest/gtest.h>

#include <cstddef>
#include <type_traits>

#include "runtime/cuda/cublaslt_api.h"
#include "tests/support/alike.h"

#if __has_include(<cublasLt.h>)
#include <cublasLt.h>
#define HEDDLE_HAS_CUBLASLT_H 1
#endif

namespace heddle::runtime {
namespace {

#ifdef HEDDLE_HAS_CUBLASLT_H

#define HEDDLE_CHECK_TYPE(exported, field, result, parameters) \
  static_assert(testing::Alike<decltype(CublasltApi::field), decltype(&::exported)>::value, #exported);
HEDDLE_CUBLASLT_FUNCTIONS(HEDDLE_CHECK_TYPE)

using namespace cublaslt;
static_assert(sizeof(Algorithm) == sizeof(cublasLtMatmulAlgo_t));
static_assert(sizeof(Heuristic) == sizeof(cublasLtMatmulHeuristicResult_t));
static_assert(offsetof(Heuristic, workspace) == offsetof(cublasLtMatmulHeuristicResult_t, workspaceSize));
static_assert(offsetof(Heuristic, state) == offsetof(cublasLtMatmulHeuristicResult_t, state));
static_assert(kAllocFailed == CUBLAS_STATUS_ALLOC_FAILED && kNotSupported == CUBLAS_STATUS_NOT_SUPPORTED);
static_assert(kF32 == CUDA_R_32F && kF16 == CUDA_R_16F && kBf16 == CUDA_R_16BF);
static_assert(kCompute32 == CUBLAS_COMPUTE_32F && kFastTf32 == CUBLAS_COMPUTE_32F_FAST_TF32);
static_assert(kFastF16 == CUBLAS_COMPUTE_32F_FAST_16F && kFastBf16 == CUBLAS_COMPUTE_32F_FAST_16BF);
static_assert(kLayoutBatchCount == CUBLASLT_MATRIX_LAYOUT_BATCH_COUNT);
static_assert(kLayoutBatchOffset == CUBLASLT_MATRIX_LAYOUT_STRIDED_BATCH_OFFSET);
static_assert(kTransposeA == CUBLASLT_MATMUL_DESC_TRANSA && kTransposeB == CUBLASLT_MATMUL_DESC_TRANSB);
static_assert(kEpilogue == CUBLASLT_MATMUL_DESC_EPILOGUE && kBiasPointer == CUBLASLT_MATMUL_DESC_BIAS_POINTER);
static_assert(kMostWorkspace == CUBLASLT_MATMUL_PREF_MAX_WORKSPACE_BYTES);
static_assert(kReductionSchemes == CUBLASLT_MATMUL_PREF_REDUCTION_SCHEME_MASK);
static_assert(kAlignmentA == CUBLASLT_MATMUL_PREF_MIN_ALIGNMENT_A_BYTES);
static_assert(kAlignmentB == CUBLASLT_MATMUL_PREF_MIN_ALIGNMENT_B_BYTES);
static_assert(kAlignmentC == CUBLASLT_MATMUL_PREF_MIN_ALIGNMENT_C_BYTES);
static_assert(kAlignmentD == CUBLASLT_MATMUL_PREF_MIN_ALIGNMENT_D_BYTES);
static_assert(kAlgorithmId == CUBLASLT_ALGO_CONFIG_ID && kAlgorithmTile == CUBLASLT_ALGO_CONFIG_TILE_ID);
static_assert(kAlgorithmStages == CUBLASLT_ALGO_CONFIG_STAGES_ID);
static_assert(kPlain == CUBLAS_OP_N && kTransposed == CUBLAS_OP_T);
static_assert(kEpilogueNone == CUBLASLT_EPILOGUE_DEFAULT && kEpilogueBias == CUBLASLT_EPILOGUE_BIAS);
static_assert(kNoReduction == CUBLASLT_REDUCTION_SCHEME_NONE);

TEST(Cublaslt, TypesAreThoseOfTheHeader) { SUCCEED() << "checked while this file was compiled"; }

#else

TEST(Cublaslt, TypesAreThoseOfTheHeader) { GTEST_SKIP() << "no cublasLt.h"; }

#endif

}  // namespace
}  // namespace heddle::runtime
