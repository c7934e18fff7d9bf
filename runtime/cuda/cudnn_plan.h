// Chooses the engine with which cuDNN executes a convolution. The library's heuristics list engines, the best first.
// The first engine that is admitted and keeps to the scratch limit is taken. A plan can be made for a device that is
// only described: it tells how much scratch a call takes. A plan that is executed is made for the device itself.
//
// These engines are not admitted: those that add in no fixed order, that sum in less than f32, that round operands to
// 16 bits, that transform (Winograd, Fourier: their rounding errors differ), that compile at run time, or that need
// another library. Tensor cores are not admitted for f32 operands unless these may be rounded to TF32. An engine's
// notes tell these properties.
//
// A bias and relu are operations of the same graph. The values between the operations are virtual tensors: they have no
// address, and are f32.
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

// The exception that descriptors throw.
struct CudnnFailure {
  cudnn::Status status;
  const char* call;
  std::string why;  // "cudnnBackendFinalize: CUDNN_STATUS_NOT_SUPPORTED_SHAPE (..)"
};

// Owns a descriptor of the library, and the descriptors that it refers to. Its functions throw CudnnFailure.
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
  // Alignment in bytes of the addresses of x, w, y and the bias.
  std::array<int64_t, 4> alignment = {16, 16, 16, 16};
  int64_t workspace = 0;                  // most bytes of scratch
  std::vector<int64_t> passed_over = {};  // engines whose relu was seen to turn nan into a number
};
// The ids of x, w, y and the bias in a plan.
constexpr std::array<int64_t, 4> kCudnnIds = {1, 2, 3, 4};

struct CudnnPlan {
  CudnnObject object;
  int64_t workspace = 0, engine = 0;
};
struct CudnnPlanned {
  std::optional<CudnnPlan> plan;
  std::string why;  // why there is no plan: "none of its 27 engines is admitted: ..."
};
CudnnPlanned plan_cudnn(const CudnnApi& api, const CudnnConvolution& convolution, const CudnnPlanning& planning);

// What a call needs on a device that is described in JSON. The device need not be present.
struct CudnnNeeds {
  int64_t workspace = -1;  // bytes; -1 where it cannot take the call
  std::string refusal;     // why
};
CudnnNeeds cudnn_needs(const CudnnApi& api, const codegen::Library& call, const std::string& device);

}  // namespace heddle::runtime
