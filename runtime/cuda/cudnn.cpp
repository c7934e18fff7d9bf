#include "runtime/cuda/cudnn.h"

#include <fmt/format.h>

#include <array>
#include <bit>
#include <utility>

#include "ir/check.h"
#include "ir/diagnostic.h"

namespace heddle::runtime {
namespace {

constexpr uint64_t kPacket = 16;  // bytes that the library loads at once, at most

const CudnnApi& require_cudnn() {
  std::string reason;
  const CudnnApi* api = find_cudnn(&reason);
  if (api == nullptr)
    throw UserError(ExitCode::missing, "the program calls cuDNN 9, and there is none: " + reason,
                    "install it, set HEDDLE_CUDNN to libcudnn.so.9, or compile the program without --libraries");
  return *api;
}

// The alignment in bytes that the address has in every turn of the loops.
int64_t alignment_of(const CudnnCall::Place& place) {
  uint64_t bits = place.at | kPacket;
  for (const int64_t stride : place.strides) bits |= static_cast<uint64_t>(stride);
  return int64_t{1} << std::countr_zero(bits);
}

// The index of a role's array among the places. The result is the last.
size_t place_of(int role, size_t places) {
  return role == codegen::ConvolutionRoles::kMade ? places - 1 : static_cast<size_t>(role);
}

void* pointer(cuda::Address at) { return std::bit_cast<void*>(static_cast<uintptr_t>(at)); }

}  // namespace

Cudnn::Cudnn(cuda::Stream stream) : api_(require_cudnn()), stream_(stream) {
  api_.check(api_.Create(&handle_), "cudnnCreate");
  const cudnn::Status status = api_.SetStream(handle_, stream);
  if (status != cudnn::kSuccess) api_.Destroy(handle_);
  api_.check(status, "cudnnSetStream");
}
Cudnn::~Cudnn() { api_.Destroy(handle_); }

CudnnCall::CudnnCall(const Cudnn& library, const codegen::Library& call, std::vector<Place> places,
                     cuda::Address workspace)
    : library_(library),
      about_(fmt::format("'{}': {}", call.title, cudnn_shapes(call))),
      places_(std::move(places)),
      workspace_(workspace) {
  const std::string about = about_;
  const auto refuse = [&](const std::string& why) {
    throw UserError(ExitCode::failed, fmt::format("cuDNN {} cannot run {}: {}", library.api().version(), about, why),
                    "leave cudnn out of --libraries: then all convolutions are generated");
  };
  if (const std::string refusal = cudnn_refusal(call); !refusal.empty()) refuse(refusal);
  HEDDLE_CHECK(places_.size() == call.operands.size() + 1, "a call has its operands and its result");
  const codegen::ConvolutionRoles& roles = *call.convolution;
  const size_t count = places_.size();
  arrays_ = {place_of(roles.image, count), place_of(roles.filter, count), place_of(roles.result, count)};
  const CudnnConvolution convolution = describe_cudnn(call);
  if (convolution.bias) arrays_.push_back(2);  // behind the image and the filter
  CudnnPlanning planning{.device = library.handle(), .alignment = {}, .workspace = call.workspace.bytes};
  for (size_t i = 0; i < arrays_.size(); ++i) planning.alignment[i] = alignment_of(places_[arrays_[i]]);
  for (;;) {
    CudnnPlanned planned = plan_cudnn(library.api(), convolution, planning);
    if (!planned.plan) refuse(planned.why);
    plan_ = std::make_unique<CudnnPlan>(std::move(*planned.plan));
    about_ = about + ", " + engine();
    if (!convolution.relu || relu_keeps_nan(call.results[0].dtype)) break;
    planning.passed_over.push_back(plan_->engine);
  }
}

// The first element of the result depends on the first element of the bias. For one run that element is a nan with all
// bits set. Afterwards its bytes are restored one by one with memset, because a copy would need pinned memory.
bool CudnnCall::relu_keeps_nan(const std::string& dtype) const {
  const bool wide = dtype == "f32";
  const size_t bytes = wide ? sizeof(uint32_t) : sizeof(uint16_t);
  const uint32_t exponent = wide ? 0x7f800000U : dtype == "bf16" ? 0x7f80U : 0x7c00U;
  const uint32_t sign = wide ? 1U << 31U : 1U << 15U;
  constexpr unsigned char kAllBits = 0xff;
  const Driver& driver = *find_driver();
  const cuda::Address bias = places_[arrays_[3]].at, result = places_[arrays_[2]].at;
  const auto read = [&](void* to, cuda::Address from) {
    driver.check(driver.MemcpyDtoHAsync(to, from, bytes, library_.stream()), "cuMemcpyDtoHAsync");
    driver.check(driver.StreamSynchronize(library_.stream()), "cuStreamSynchronize");
  };
  const auto set = [&](size_t first, unsigned char value, size_t count) {
    driver.check(driver.MemsetD8Async(bias + first, value, count, library_.stream()), "cuMemsetD8Async");
  };
  std::array<unsigned char, sizeof(uint32_t)> before{};
  uint32_t made = 0;
  read(before.data(), bias);
  set(0, kAllBits, bytes);
  run();
  read(&made, result);
  for (size_t i = 0; i < bytes; ++i) set(i, before[i], 1);
  return (made & ~sign) > exponent;
}

void CudnnCall::run() const {
  const CudnnApi& api = library_.api();
  std::vector<void*> pointers;
  for (const size_t i : arrays_) pointers.push_back(pointer(places_[i].at));
  void* scratch = plan_->workspace > 0 ? pointer(workspace_) : nullptr;
  try {
    CudnnObject pack(api, cudnn::kVariantPack);
    pack.set(cudnn::kPackIds, cudnn::kInt64, std::ssize(pointers), kCudnnIds.data());
    pack.set(cudnn::kPackPointers, cudnn::kVoidPointer, std::ssize(pointers), pointers.data());
    pack.set(cudnn::kPackWorkspace, cudnn::kVoidPointer, 1, &scratch);
    pack.finish();
    api.check(api.Execute(library_.handle(), plan_->object.get(), pack.get()), "cudnnBackendExecute", about_);
  } catch (const CudnnFailure& failure) {
    api.check(failure.status, failure.call, about_);
  }
}

void CudnnCall::advance(size_t loop, int64_t turns) {
  for (Place& place : places_)
    if (loop < place.strides.size()) place.at += static_cast<cuda::Address>(place.strides[loop] * turns);
}

std::string CudnnCall::engine() const { return fmt::format("engine {}", plan_->engine); }

}  // namespace heddle::runtime
