#include "runtime/cuda/cudnn.h"

#include <fmt/format.h>

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

// The bytes that an address is a multiple of in every turn.
int64_t alignment_of(const CudnnCall::Place& place) {
  uint64_t bits = place.at | kPacket;
  for (const int64_t stride : place.strides) bits |= static_cast<uint64_t>(stride);
  return int64_t{1} << std::countr_zero(bits);
}

// The place of a role's array: the result is the last.
size_t place_of(int role, size_t places) {
  return role == codegen::ConvolutionRoles::kMade ? places - 1 : static_cast<size_t>(role);
}

void* pointer(cuda::Address at) { return std::bit_cast<void*>(static_cast<uintptr_t>(at)); }

}  // namespace

Cudnn::Cudnn(cuda::Stream stream) : api_(require_cudnn()) {
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
      arrays_{},
      workspace_(workspace) {
  const auto refuse = [&](const std::string& why) {
    throw UserError(ExitCode::failed, fmt::format("cuDNN {} cannot run {}: {}", library.api().version(), about_, why),
                    "leave cudnn out of --libraries: then all convolutions are generated");
  };
  if (const std::string refusal = cudnn_refusal(call); !refusal.empty()) refuse(refusal);
  HEDDLE_CHECK(places_.size() == call.operands.size() + 1, "a call has its operands and its result");
  const codegen::ConvolutionRoles& roles = *call.convolution;
  const size_t count = places_.size();
  arrays_ = {place_of(roles.image, count), place_of(roles.filter, count), place_of(roles.result, count)};
  CudnnPlanning planning{.device = library.handle(), .alignment = {}, .workspace = call.workspace.bytes};
  for (size_t i = 0; i < arrays_.size(); ++i) planning.alignment[i] = alignment_of(places_[arrays_[i]]);
  CudnnPlanned planned = plan_cudnn(library.api(), describe_cudnn(call), planning);
  if (!planned.plan) refuse(planned.why);
  plan_ = std::make_unique<CudnnPlan>(std::move(*planned.plan));
  about_ += ", " + engine();
}

void CudnnCall::run() const {
  const CudnnApi& api = library_.api();
  std::array<void*, kCudnnIds.size()> pointers{};
  for (size_t i = 0; i < arrays_.size(); ++i) pointers[i] = pointer(places_[arrays_[i]].at);
  void* scratch = plan_->workspace > 0 ? pointer(workspace_) : nullptr;
  try {
    CudnnObject pack(api, cudnn::kVariantPack);
    pack.set(cudnn::kPackIds, cudnn::kInt64, std::ssize(kCudnnIds), kCudnnIds.data());
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
