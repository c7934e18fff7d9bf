#include "tests/ptx/ptx_device.h"

#include <fmt/ranges.h>

#include <algorithm>
#include <bit>
#include <cstring>
#include <utility>

#include "ir/check.h"
#include "runtime/cuda/nvrtc.h"

namespace heddle::testing {
namespace {

uint64_t number_of(const void* pointer) { return std::bit_cast<uint64_t>(pointer); }

size_t bytes_of(const std::string& dtype) {
  if (dtype == "i64" || dtype == "f64" || dtype == "u64") return 8;
  HEDDLE_CHECK(dtype == "f32" || dtype == "i32" || dtype == "u32", "a scalar of another type: " + dtype);
  return 4;
}

// As a kernel's parameters lie: each on a multiple of its size.
void append(std::vector<std::byte>& to, uint64_t bits, size_t bytes) {
  to.resize((to.size() + bytes - 1) / bytes * bytes + bytes);
  std::memcpy(to.data() + to.size() - bytes, &bits, bytes);
}

}  // namespace

void* PtxDevice::allocate(int64_t bytes, runtime::Memory kind) {
  if (kind == runtime::Memory::shared) {
    auto memory = std::make_unique<std::byte[]>(static_cast<size_t>(bytes));
    void* at = memory.get();
    memory_.map(at, static_cast<uint64_t>(bytes));
    shared_.emplace(at, std::move(memory));
    return at;
  }
  return std::bit_cast<void*>(memory_.allocate(static_cast<uint64_t>(bytes)));
}
void PtxDevice::release(void* memory) {
  memory_.release(number_of(memory));
  shared_.erase(memory);
}
void PtxDevice::write(void* to, const void* from, int64_t bytes) {
  memory_.write(number_of(to), from, static_cast<uint64_t>(bytes));
}
void PtxDevice::read(void* to, const void* from, int64_t bytes) {
  memory_.read(to, number_of(from), static_cast<uint64_t>(bytes));
}

void PtxDevice::load(const codegen::Program& program, const runtime::Segments& segments) {
  const runtime::KernelCache cache(runtime::kernel_cache_folder());
  const runtime::CudaBinary binary =
      runtime::compile_for_cuda(program.source, {.arch = options_.arch, .ptx = true}, cache);
  module_ = ptx::parse(fmt::format("{}", fmt::join(binary.ptx, "")));
  loaded_ = std::make_unique<ptx::Loaded>(module_, memory_);
  program_ = &program;
  segments_ = segments;
}

uint64_t PtxDevice::address(const codegen::Address& at) const {
  int64_t offset = at.offset;
  for (size_t loop = 0; loop < at.strides.size(); ++loop) offset += at.strides[loop] * turns_.at(loop);
  return number_of(segments_[static_cast<size_t>(at.segment)]) + static_cast<uint64_t>(offset);
}

std::vector<std::byte> PtxDevice::parameters(const codegen::Launch& launch) const {
  std::vector<std::byte> all;
  for (const codegen::Argument& a : launch.arguments) append(all, address(a.at), 8);
  for (const codegen::ScalarArgument& s : launch.scalars) append(all, s.bits, bytes_of(s.dtype));
  return all;
}

void PtxDevice::run_launch(const codegen::Launch& launch) {
  const codegen::Kernel& kernel = program_->kernels[static_cast<size_t>(launch.kernel)];
  const int64_t blocks = kernel.blocks > 0 ? kernel.blocks : std::min(kernel.max_blocks, options_.most_blocks);
  std::vector<ptx::Extent> touches;
  for (const codegen::Argument& a : launch.arguments)
    touches.push_back({address(a.at), static_cast<uint64_t>(a.bytes), a.access != codegen::Access::read});
  run_kernel(kernel, parameters(launch),
             {.kernel = kernel.name, .grid = {static_cast<uint32_t>(blocks)}, .touches = std::move(touches)});
}

void PtxDevice::run_persistent(const codegen::Kernel& kernel, int64_t steps) {
  std::vector<std::byte> bytes;
  for (void* segment : segments_) append(bytes, number_of(segment), 8);
  append(bytes, static_cast<uint64_t>(steps), 4);
  const auto blocks = static_cast<uint32_t>(std::min(kernel.max_blocks, options_.persistent_blocks));
  run_kernel(kernel, bytes, {.kernel = kernel.name, .grid = {blocks}, .cooperative = true});
}

void PtxDevice::run_kernel(const codegen::Kernel& kernel, std::span<const std::byte> parameters, ptx::Launch what) {
  what.block = {static_cast<uint32_t>(kernel.block)};
  what.parameters = parameters;
  what.dynamic_shared = static_cast<uint32_t>(kernel.shared_bytes);
  const ptx::Outcome done = ptx::launch(*loaded_, what, memory_, options_.launch);
  findings_.insert(findings_.end(), done.findings.begin(), done.findings.end());
  counters_[kernel.name] += done.counters;
}

uint64_t PtxDevice::submit(size_t entry, int64_t repeats) {
  const codegen::Entry& what = program_->entries[entry];
  if (options_.persistent && what.persistent >= 0)
    run_persistent(program_->kernels[static_cast<size_t>(what.persistent)], repeats);
  else
    for (int64_t i = 0; i < repeats; ++i) run_steps(what.steps);
  return ++submissions_;
}

void PtxDevice::run_steps(const std::vector<codegen::Step>& steps) {
  for (const codegen::Step& step : steps) {
    HEDDLE_CHECK(!std::holds_alternative<codegen::Library>(step.what), "the interpreter calls no library");
    const auto* loop = std::get_if<codegen::Loop>(&step.what);
    if (loop != nullptr && options_.persistent && loop->persistent >= 0) {
      run_persistent(program_->kernels[static_cast<size_t>(loop->persistent)], 1);
    } else if (loop != nullptr) {
      turns_.push_back(0);
      for (; turns_.back() < loop->count; ++turns_.back()) run_steps(loop->steps);
      turns_.pop_back();
    } else if (const auto* copy = std::get_if<codegen::Copy>(&step.what))
      memory_.copy(address(copy->to), address(copy->from), static_cast<uint64_t>(copy->bytes));
    else
      run_launch(std::get<codegen::Launch>(step.what));
  }
}

runtime::StepProfile PtxDevice::profile(size_t entry, int64_t, bool) {
  runtime::StepProfile profile;
  codegen::for_each_step(program_->entries[entry].steps, [&](const codegen::Step& step, int64_t) {
    const auto* launch = std::get_if<codegen::Launch>(&step.what);
    const std::string title = launch == nullptr ? "copy" : program_->kernels[static_cast<size_t>(launch->kernel)].title;
    profile.steps.push_back({title, 0});
  });
  return profile;
}

ptx::Counters PtxDevice::total() const {
  ptx::Counters all;
  for (const auto& [name, counters] : counters_) all += counters;
  return all;
}

}  // namespace heddle::testing
