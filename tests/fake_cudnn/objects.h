// The fake of cuDNN: a libcudnn.so.9 for tests, beside the fake driver, in whose memory and streams it works.
//
// It has the part of the backend interface that convolutions take, checks what it is given, and refuses what the
// library's documentation forbids, what a GPU would punish later, and what Heddle does not want: other strides than
// NHWC's, an engine that adds in no fixed order, sums in less than f32. Each refusal is a violation of the fake's world,
// and a status of the library. A convolution is computed when its turn comes.
//
//   HEDDLE_FAKE_CUDNN_VERSION=90700         the version that it says (default 91900)
//   HEDDLE_FAKE_CUDNN_ENGINES=none          its heuristics name only engines that Heddle does not want
//   HEDDLE_FAKE_CUDNN_RELU=drops            relu of a nan is 0 by all engines without the note that nan is kept
//   HEDDLE_FAKE_CUDNN_MORE=BYTES            scratch that each plan for a device at hand takes beyond what it said without
//   HEDDLE_FAKE_CUDA_FAIL=cudnnBackendExecute:2   as for the driver's calls: a status of the library
#pragma once
#include <array>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "tests/fake_cuda/stream.h"

namespace heddle::fake_cuda {

using CudnnStatus = int;
constexpr CudnnStatus kCudnnSuccess = 0, kCudnnNotInitialized = 1001, kCudnnBadParam = 2000, kCudnnNotSupported = 3000,
                      kCudnnExecutionFailed = 5000;

// The kinds of descriptors, by the library's numbers.
enum ObjectKind : int {
  kPointwiseObject = 0,
  kConvolutionObject = 1,
  kEngineObject = 2,
  kConfigObject = 3,
  kHeuristicObject = 4,
  kPlanObject = 5,
  kForwardObject = 10,
  kFilterGradientObject = 11,
  kDataGradientObject = 12,
  kPointwiseOperationObject = 13,
  kGraphObject = 15,
  kPackObject = 16,
  kTensorObject = 17,
  kDeviceObject = 38
};

struct TensorOf {
  int type = 0;
  int64_t id = 0, alignment = 1;
  std::vector<int64_t> dims, strides;
  bool has_address = true;  // false: a virtual one, between two operations of a graph
  bool operator==(const TensorOf&) const = default;
};
struct ConvolutionOf {
  ObjectKind kind = kForwardObject;
  TensorOf x, w, y;
  std::vector<int64_t> low, high, strides, dilations;
  float alpha = 1, beta = 0;
  std::optional<TensorOf> bias = {};  // of a graph: what is added to each pixel, then max(.., 0)
  bool relu = false;
};
struct PointwiseOf {
  int mode = 0;
  TensorOf x, y;
  std::optional<TensorOf> b = {};
};

// An engine as the fake's heuristics name it.
struct EngineOf {
  int64_t index = 0;
  std::vector<int> numerical, behavior;
  int64_t workspace = 0;
  std::string unwanted = {};  // why Heddle must not execute it
  bool tf32 = false;          // rounds operands of f32
  bool drops_nan = false;     // in relu
};

struct Attribute {
  int element = 0;
  int64_t count = 0;
  std::vector<std::byte> bytes;
};
struct Object {
  ObjectKind kind = kTensorObject;
  bool finished = false;
  std::map<int, Attribute> attributes = {};
  std::optional<EngineOf> engine = {};          // of configurations, engines, plans
  std::optional<ConvolutionOf> operation = {};  // of convolutions, graphs, configurations, plans
  std::optional<PointwiseOf> pointwise = {};    // of such operations
  bool for_handle = false;                      // of graphs, plans: of a device at hand
};

template <class T>
std::vector<T> values(const Object& o, int attribute) {
  const auto found = o.attributes.find(attribute);
  if (found == o.attributes.end()) return {};
  std::vector<T> all(found->second.bytes.size() / sizeof(T));
  if (!all.empty()) std::memcpy(all.data(), found->second.bytes.data(), all.size() * sizeof(T));
  return all;
}
template <class T>
T value(const Object& o, int attribute, T otherwise = {}) {
  const std::vector<T> all = values<T>(o, attribute);
  return all.empty() ? otherwise : all[0];
}
Object* find_object(const void* object);  // nullptr where there is none

// What is wrong with setting an attribute, or "".
std::string wrong_attribute(const Object& o, int attribute, int element, int64_t count, const void* from);
// What is wrong with an object that shall be finished, or "". Of graphs it fills in the operation.
std::string wrong_object(Object& o);
// Bytes of an element in an attribute.
size_t attribute_bytes(int element);

// Where a call's arrays lie.
struct ArraysOf {
  std::array<uint64_t, 4> at = {};  // of x, w, y and the bias, if there is one
  uint64_t workspace = 0, workspace_bytes = 0;
};
// What is wrong with them, or "".
std::string wrong_arrays(const ConvolutionOf& c, const ArraysOf& at);
uint64_t bytes_of(const TensorOf& t);
uint64_t type_bytes(int type);

// The convolution, or a gradient, in the fake's memory, as the engine computes it.
void convolve(const ConvolutionOf& c, const ArraysOf& at, const EngineOf& engine);

}  // namespace heddle::fake_cuda
