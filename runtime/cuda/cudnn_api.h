// CudnnApi: the functions of NVIDIA's cuDNN that Heddle calls. They are looked up when they are first needed. All
// belong to the backend interface, in which everything is a descriptor with attributes.
//
//   std::string reason;
//   const CudnnApi* api = find_cudnn(&reason);   // nullptr where there is none of version 9.8 or later; `reason` says why
//   api->check(api->Create(&handle), "cudnnCreate");
//
// The library is not linked, and no CUDA header is needed: the types below repeat its C interface. A test compares them
// with the header where one is installed.
#pragma once
#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>

#include "runtime/compile/library_search.h"
#include "runtime/cuda/driver.h"

namespace heddle::runtime {

namespace cudnn {
using Status = int;  // cudnnStatus_t: 0 is success
using Handle = struct cudnnContext*;
using Object = void*;  // cudnnBackendDescriptor_t

constexpr Status kSuccess = 0, kHostAllocFailed = 4003, kDeviceAllocFailed = 4004;
// cudnnDataType_t
constexpr int kF32 = 0, kF16 = 2, kBf16 = 9;
// cudnnConvolutionMode_t: filters are not mirrored
constexpr int kCrossCorrelation = 1;
// cudnnBackendHeurMode_t
constexpr int kFallback = 2, kModeA = 3;
// cudnnPointwiseMode_t, cudnnNanPropagation_t
constexpr int kAdd = 0, kRelu = 100, kPropagateNan = 1;

// cudnnBackendDescriptorType_t
enum Kind : int {
  kPointwise = 0,
  kConvolution = 1,
  kEngine = 2,
  kEngineConfig = 3,
  kEngineHeuristic = 4,
  kExecutionPlan = 5,
  kForward = 10,
  kFilterGradient = 11,
  kDataGradient = 12,
  kPointwiseOperation = 13,
  kOperationGraph = 15,
  kVariantPack = 16,
  kTensor = 17,
  kDeviceProperties = 38,
};
// cudnnBackendAttributeType_t
enum Element : int {
  kHandle = 0,
  kDataType = 1,
  kBoolean = 2,
  kInt64 = 3,
  kFloat = 4,
  kVoidPointer = 6,
  kConvolutionMode = 7,
  kHeuristicMode = 8,
  kNanPropagation = 10,
  kNumericalNote = 11,
  kPointwiseModeType = 14,
  kDescriptor = 15,
  kBehaviorNote = 19,
  kChar = 24,
};
// cudnnBackendAttributeName_t
enum Attribute : int {
  kPointwiseMode = 0,
  kPointwisePrecision = 1,
  kPointwiseNan = 2,
  kConvolutionComputeType = 100,
  kConvolutionKind = 101,
  kConvolutionDilations = 102,
  kConvolutionStrides = 103,
  kConvolutionPostPaddings = 104,
  kConvolutionPrePaddings = 105,
  kConvolutionSpatialDims = 106,
  kHeuristicKind = 200,
  kHeuristicGraph = 201,
  kHeuristicResults = 202,
  kHeuristicDevice = 204,
  kConfigEngine = 300,
  kPlanHandle = 400,
  kPlanConfig = 401,
  kPlanWorkspace = 402,
  kPlanDevice = 407,
  kForwardAlpha = 700,
  kForwardBeta = 701,
  kForwardConvolution = 702,
  kForwardW = 703,
  kForwardX = 704,
  kForwardY = 705,
  kDataGradientAlpha = 706,
  kDataGradientBeta = 707,
  kDataGradientConvolution = 708,
  kDataGradientW = 709,
  kDataGradientDx = 710,
  kDataGradientDy = 711,
  kFilterGradientAlpha = 712,
  kFilterGradientBeta = 713,
  kFilterGradientConvolution = 714,
  kFilterGradientDw = 715,
  kFilterGradientX = 716,
  kFilterGradientDy = 717,
  kPointwiseHow = 750,
  kPointwiseX = 751,
  kPointwiseB = 752,
  kPointwiseY = 753,
  kGraphHandle = 800,
  kGraphOperations = 801,
  kTensorAlignment = 900,
  kTensorType = 901,
  kTensorDims = 902,
  kTensorStrides = 903,
  kTensorId = 906,
  kTensorVirtual = 907,
  kPackIds = 1000,
  kPackPointers = 1001,
  kPackWorkspace = 1003,
  kEngineIndex = 1301,
  kEngineNumericalNotes = 1303,
  kEngineBehaviorNotes = 1305,
  kDeviceJson = 2702,
};
// cudnnBackendNumericalNote_t, cudnnBackendBehaviorNote_t
enum NumericalNote : int {
  kTensorCores = 0,
  kDownConverts = 1,
  kReducedSums = 2,
  kFft = 3,
  kNondeterministic = 4,
  kWinograd = 5,
  kWinograd4x4 = 6,
  kWinograd6x6 = 7,
  kWinograd13x13 = 8,
};
enum BehaviorNote : int { kRuntimeCompilation = 0, kNeedsCublaslt = 4 };
}  // namespace cudnn

// The name that the library exports, the field's name, the result, the parameters.
#define HEDDLE_CUDNN_FUNCTIONS(X)                                                             \
  X(cudnnGetVersion, GetVersion, size_t, ())                                                  \
  X(cudnnGetErrorString, GetErrorString, const char*, (cudnn::Status))                        \
  X(cudnnGetLastErrorString, GetLastErrorString, void, (char*, size_t))                       \
  X(cudnnCreate, Create, cudnn::Status, (cudnn::Handle*))                                     \
  X(cudnnDestroy, Destroy, cudnn::Status, (cudnn::Handle))                                    \
  X(cudnnSetStream, SetStream, cudnn::Status, (cudnn::Handle, cuda::Stream))                  \
  X(cudnnBackendCreateDescriptor, ObjectCreate, cudnn::Status, (cudnn::Kind, cudnn::Object*)) \
  X(cudnnBackendDestroyDescriptor, ObjectDestroy, cudnn::Status, (cudnn::Object))             \
  X(cudnnBackendFinalize, Finalize, cudnn::Status, (cudnn::Object))                           \
  X(cudnnBackendSetAttribute, Set, cudnn::Status,                                             \
    (cudnn::Object, cudnn::Attribute, cudnn::Element, int64_t, const void*))                  \
  X(cudnnBackendGetAttribute, Get, cudnn::Status,                                             \
    (cudnn::Object, cudnn::Attribute, cudnn::Element, int64_t, int64_t*, void*))              \
  X(cudnnBackendExecute, Execute, cudnn::Status, (cudnn::Handle, cudnn::Object, cudnn::Object))

struct CudnnApi {
// NOLINTBEGIN(bugprone-macro-parentheses): with parentheses it would declare nothing
#define HEDDLE_FIELD(exported, field, result, parameters) result(*field) parameters = nullptr;
  HEDDLE_CUDNN_FUNCTIONS(HEDDLE_FIELD)
#undef HEDDLE_FIELD
  // NOLINTEND(bugprone-macro-parentheses)
  LibraryCandidate from;

  std::string version() const;  // "9.19.0"
  // The status in words, with the library's text about its last error.
  std::string describe(cudnn::Status status) const;
  // Throws UserError where `status` is not success. The message has the status's name and `about`, which says what is
  // computed. The exit code is `limit` where memory is short, else `failed`.
  void check(cudnn::Status status, const char* call, const std::string& about = {}) const;
};

// Opens the first of cudnn_candidates() whose version is 9.8 or a later 9. Returns nullptr where there is none;
// `reason` then says why. The library stays open.
std::unique_ptr<CudnnApi> open_cudnn(std::string* reason = nullptr);
// The same, opened once for the process.
const CudnnApi* find_cudnn(std::string* reason = nullptr);

}  // namespace heddle::runtime
