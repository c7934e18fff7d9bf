// How cuDNN executes a convolution: the first of the engines that its heuristics name, best first, which is admitted and
// takes no more scratch than it may. Without a device it plans for one that is described, which says how much scratch a
// call takes; a plan that is executed is made for the device itself.
//
// Not admitted: engines that add in no fixed order, that sum in less than f32, that round operands to halves, that
// transform (Winograd's, Fourier's: their errors are others), that compile at run time, or that need another library;
// tensor cores for operands of f32 where they may not be rounded to TF32. The notes of an engine say what it does.
//
// A bias and relu are operations of the same graph: the sums and what is added to them have no address, and are f32.
//
//   conv(x, w) -> virtual;  virtual + bias -> virtual;  relu(virtual) -> y
#pragma once
#include <array>
#include <cstdint>
#include <optional>
#include <string>
#include <utility>
#include <variant>
#include <vector>

#include "runtime/cuda/cudnn_api.h"
#include "runtime/cuda/cudnn_convolution.h"

namespace heddle::runtime {

// What descriptors throw.
struct CudnnFailure {
  cudnn::Status status;
  const char* call;
  std::string why;  // "cudnnBackendFinalize: CUDNN_STATUS_NOT_SUPPORTED_SHAPE (..)"
};

// One descriptor of the library, with those that it refers to. Throws CudnnFailure.
class CudnnObject {
 public:
  CudnnObject(const CudnnApi& api, cudnn::Kind kind);
  ~CudnnObject();
  CudnnObject(CudnnObject&& other) noexcept;
  CudnnObject& operator=(CudnnObject&&) = delete;

  void set(cudnn::Attribute attribute, cudnn::Element element, int64_t count, const void* values);
  void set(cudnn::Attribute attribute, int64_t value) { set(attribute, cudnn::kInt64, 1, &value); }
  void set(cudnn::Attribute attribute, const std::vector<int64_t>& values);
  void set(cudnn::Attribute attribute, cudnn::Element element, int word) { set(attribute, element, 1, &word); }
  void set(cudnn::Attribute attribute, CudnnObject part);  // keeps it
  void keep(CudnnObject part) { parts_.push_back(std::move(part)); }
  void finish();
  void get(cudnn::Attribute attribute, cudnn::Element element, int64_t most, int64_t* count, void* values) const;
  cudnn::Object get() const { return object_; }

 private:
  void check(cudnn::Status status, const char* call) const;

  const CudnnApi& api_;
  cudnn::Object object_ = nullptr;
  std::vector<CudnnObject> parts_;
};

struct CudnnPlanning {
  std::variant<std::string, cudnn::Handle> device;  // as JSON, or the device of a handle
  // Bytes that the addresses of x, w, y and the bias are multiples of.
  std::array<int64_t, 4> alignment = {16, 16, 16, 16};
  int64_t workspace = 0;                  // most bytes of scratch
  std::vector<int64_t> passed_over = {};  // engines that were seen to drop nan in relu
};
// The ids of x, w, y and the bias in a plan.
constexpr std::array<int64_t, 4> kCudnnIds = {1, 2, 3, 4};

struct CudnnPlan {
  CudnnObject object;
  int64_t workspace = 0, engine = 0;
};
struct CudnnPlanned {
  std::optional<CudnnPlan> plan;
  std::string why;  // there is none: "none of its 27 engines is admitted: ..."
};
CudnnPlanned plan_cudnn(const CudnnApi& api, const CudnnConvolution& convolution, const CudnnPlanning& planning);

// What the library says of a call on a device that is described in JSON, without one.
struct CudnnNeeds {
  int64_t workspace = -1;  // bytes; -1 where it cannot take the call
  std::string refusal;     // why
};
CudnnNeeds cudnn_needs(const CudnnApi& api, const codegen::Library& call, const std::string& device);

}  // namespace heddle::runtime
