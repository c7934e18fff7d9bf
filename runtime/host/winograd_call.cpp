#include "runtime/host/winograd_call.h"

#include <fmt/format.h>

#include <algorithm>

#include "ir/diagnostic.h"

namespace heddle::runtime {
namespace {

using codegen::ConvolutionRoles;
using Dims = std::vector<int64_t>;

const Dims& dims_of(const codegen::Library& call, int role) {
  return (role < 0 ? call.results[0] : call.operands[static_cast<size_t>(role)]).dims;
}

Dims integers(const codegen::Library& call, const char* key, const Dims& fallback) {
  const auto it = call.integers.find(key);
  return it == call.integers.end() || it->second.empty() ? fallback : it->second;
}

std::string unsupported_epilogue(const codegen::Library& call) {
  auto step = call.epilogue.begin();
  if (step != call.epilogue.end() && step->bias) ++step;
  if (step != call.epilogue.end() && step->at_least == 0.0) ++step;
  return step == call.epilogue.end() ? "" : fmt::format("epilogue {}", step->op);
}

std::string unsupported(const codegen::Library& call) {
  if (!call.convolution || call.convolution->filter == ConvolutionRoles::kMade || call.results.size() != 1)
    return fmt::format("operator {}", call.op);
  if (call.precision != "f32") return fmt::format("precision {}", call.precision);
  std::vector<codegen::TensorDesc> all = call.operands;
  all.insert(all.end(), call.results.begin(), call.results.end());
  for (const auto& t : all) {
    if (t.dtype != "f32") return fmt::format("dtype {}", t.dtype);
    if (std::ranges::count(t.dims, 0) > 0) return "an empty tensor";
  }
  const Dims& filter = dims_of(call, call.convolution->filter);
  if (filter.size() != 4 || filter[1] != 3 || filter[2] != 3) return "a window other than 3 x 3";
  const Dims ones = {1, 1};
  if (integers(call, "strides", ones) != ones || integers(call, "dilations", ones) != ones) return "strides";
  if (integers(call, "groups", {1}) != Dims{1}) return "groups";
  for (const int64_t channels : {filter.front(), filter.back()})
    if (channels % winograd::kChannels != 0 || channels > winograd::kMostChannels)
      return fmt::format("{} channels", channels);
  return unsupported_epilogue(call);
}

// x: what is read; of a gradient that is dy, whose padding completes the window's reach.
winograd::Images images_of(const codegen::Library& call) {
  const ConvolutionRoles& roles = *call.convolution;
  const bool of_gradient = roles.image == ConvolutionRoles::kMade;
  const Dims& x = dims_of(call, of_gradient ? roles.result : roles.image);
  const Dims& y = dims_of(call, of_gradient ? roles.image : roles.result);
  const Dims pads = integers(call, "pads", Dims(4, 0));
  const auto low = [&](size_t axis) { return of_gradient ? 2 - pads[axis] : pads[axis]; };
  return {.images = x[0],
          .c = x[3],
          .k = y[3],
          .in = {x[1], x[2]},
          .out = {y[1], y[2]},
          .low = {low(0), low(1)},
          .relu = !call.epilogue.empty() && call.epilogue.back().at_least == 0.0};
}

int64_t slices_of(const codegen::Library& call, int64_t images) {
  return std::clamp<int64_t>(call.batch_split, 1, images);
}

}  // namespace

WinogradNeeds winograd_needs(const codegen::Library& call) {
  if (std::string reason = unsupported(call); !reason.empty()) return {-1, std::move(reason)};
  const winograd::Images all = images_of(call);
  const int64_t floats =
      winograd::filter_floats(all.c, all.k) + slices_of(call, all.images) * winograd::scratch_floats(all.c, all.k);
  return {floats * static_cast<int64_t>(sizeof(float)), {}};
}

WinogradCall::WinogradCall(const codegen::Library& call, std::span<void* const> arguments, void* workspace,
                           const std::vector<std::vector<void*>>& next)
    : workspace_(static_cast<float*>(workspace)) {
  const WinogradNeeds needs = winograd_needs(call);
  if (!needs.refusal.empty())
    throw UserError(ExitCode::failed,
                    fmt::format("winograd cannot run {} '{}': {}", call.op, call.title, needs.refusal));
  if (needs.workspace > call.workspace.bytes)
    throw UserError(ExitCode::failed, fmt::format("winograd needs {} bytes of workspace for '{}', but {} are planned",
                                                  needs.workspace, call.title, call.workspace.bytes));
  all_ = images_of(call);
  slices_ = slices_of(call, all_.images);
  const ConvolutionRoles& roles = *call.convolution;
  of_gradient_ = roles.image == ConvolutionRoles::kMade;
  x_ = static_cast<size_t>(of_gradient_ ? roles.result : roles.image);
  filter_ = static_cast<size_t>(roles.filter);
  has_bias_ = !call.epilogue.empty() && call.epilogue.front().bias;
  for (void* const argument : arguments) arguments_.push_back(static_cast<char*>(argument));
  for (const std::vector<void*>& later : next) {
    std::vector<std::ptrdiff_t>& strides = strides_.emplace_back();
    for (size_t i = 0; i < later.size(); ++i) strides.push_back(static_cast<char*>(later[i]) - arguments_[i]);
  }
}

void WinogradCall::run(ThreadPool& pool) {
  const auto floats = [&](size_t argument) { return reinterpret_cast<float*>(arguments_[argument]); };
  const int64_t parts = all_.k / winograd::kChannels;
  pool.run(parts, [&](int64_t part) {
    winograd::code().transform(
        {.from = floats(filter_), .to = workspace_, .c = all_.c, .k = all_.k, .of_gradient = of_gradient_},
        part * winograd::kChannels, (part + 1) * winograd::kChannels);
  });
  float* const scratch = workspace_ + winograd::filter_floats(all_.c, all_.k);
  pool.run(slices_, [&](int64_t slice) {
    const Share images = share(all_.images, slice, slices_);
    winograd::Images mine = all_;
    mine.images = images.size();
    mine.x = floats(x_) + images.begin * all_.in[0] * all_.in[1] * all_.c;
    mine.y = floats(arguments_.size() - 1) + images.begin * all_.out[0] * all_.out[1] * all_.k;
    mine.filter = workspace_;
    mine.bias = has_bias_ ? floats(2) : nullptr;
    mine.scratch = scratch + slice * winograd::scratch_floats(all_.c, all_.k);
    winograd::code().convolve(mine);
  });
}

void WinogradCall::advance(size_t loop, int64_t turns) {
  if (loop >= strides_.size()) return;
  for (size_t i = 0; i < strides_[loop].size(); ++i) arguments_[i] += strides_[loop][i] * turns;
}

}  // namespace heddle::runtime
