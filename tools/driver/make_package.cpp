#include "tools/driver/make_package.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>

#include "ir/diagnostic.h"
#include "ir/read_text.h"
#include "runtime/cuda/nvrtc.h"
#include "runtime/host/host_compiler.h"
#include "runtime/host/host_target.h"
#include "runtime/host/onednn.h"
#include "tools/driver/choose_outputs.h"
#include "tools/driver/packaged_model.h"
#include "tools/driver/plan_batch.h"
#include "tools/driver/session.h"

namespace heddle::driver {
namespace {

using Code = std::map<std::string, std::string>;  // by name, in whose order it is written

bool calls_libraries(const codegen::Program& program) {
  bool calls = false;
  for (const codegen::Entry& e : program.entries)
    codegen::for_each_step(e.steps, [&](const codegen::Step& step, int64_t) {
      calls = calls || std::holds_alternative<codegen::Library>(step.what);
    });
  return calls;
}

void compile_code(const PackedTarget& target, const std::string& source, const runtime::KernelCache& cache,
                  Code& code) {
  const auto keep = [&](const std::vector<std::string>& parts, std::vector<std::string> images, const char* kind) {
    for (size_t i = 0; i < parts.size(); ++i)
      code[runtime::packed_name(target.folder(), parts[i], kind)] = std::move(images[i]);
  };
  if (!target.gpu()) {
    runtime::HostObjects objects = runtime::objects_for_host(source, cache);
    return keep(objects.parts, std::move(objects.contents), runtime::kHostObject);
  }
  const runtime::CudaOptions cubin{.arch = target.arch}, ptx{.arch = target.ptx, .ptx = true, .parts = 1};
  keep(runtime::cuda_parts(source, cubin), runtime::compile_for_cuda(source, cubin, cache).images, ".cubin");
  keep(runtime::cuda_parts(source, ptx), runtime::compile_for_cuda(source, ptx, cache).ptx, ".ptx");
}

std::vector<std::string> purposes_of(const frontend::Model& model, bool outputs) {
  std::vector<std::string> purposes;
  const frontend::Data& data = model.data;
  const bool loss = !model.train.losses.empty();
  if (loss && data.train && model.train.optimizer) purposes.emplace_back("train");
  if (loss && (data.validation || data.test || data.validation_fraction > 0)) purposes.emplace_back("evaluate");
  if (loss || !model.outputs.empty() || outputs) purposes.emplace_back("predict");
  if (purposes.empty())
    throw UserError(ExitCode::failed, "the model has neither outputs nor a loss: a package could run nothing of it",
                    "name its 'outputs'");
  return purposes;
}

codegen::Program program_of(const std::string& purpose, const PackageRequest& request, const frontend::Model& model,
                            const CompileOptions& options, PackedTarget& target) {
  if (purpose == "predict") {
    frontend::Model chosen = model;
    choose_outputs(chosen, request.outputs);
    Planned planned(chosen);
    PlannedBatch made = plan_batch(planned, {.rows = request.predict_rows}, options);
    target.predict_rows = made.rows;
    return std::move(made.compiled.program);
  }
  Session session = open_session(model, {.purpose = purpose == "train" ? Purpose::training : Purpose::evaluation,
                                         .folder = request.folder,
                                         .compile = options});
  return std::move(session.program);
}

// What runs the code must be, beside the arch.
void describe_maker(PackedTarget& target) {
  if (target.gpu()) {
    target.maker = "NVRTC " + runtime::find_nvrtc().version;
    return;
  }
  const runtime::HostCompiler compiler = runtime::find_host_compiler();
  target.maker = compiler.version;
  target.machine = runtime::machine_name();
  target.instructions = runtime::host_instructions(compiler.path);
}

bool is_cuda_arch(const std::string& arch) {
  if (!arch.starts_with("sm_") || arch.size() < 5 || arch.size() > 7) return false;
  const size_t end = arch.find_first_not_of("0123456789", 3);
  return end == std::string::npos || (end + 1 == arch.size() && end >= 5 && (arch[end] == 'a' || arch[end] == 'f'));
}

}  // namespace

// Which figures a GPU is planned with is decided as where it is at hand (tools/driver/open_device.cpp).
PackedTarget target_of_arch(const std::string& arch) {
  PackedTarget target;
  target.name = "host";
  if (arch == "host") {
    target.arch = runtime::host_target();
    return target;
  }
  if (!is_cuda_arch(arch))
    throw UserError(ExitCode::usage, fmt::format("--arch: '{}' is no architecture", arch),
                    "host, or of a GPU sm_80, sm_90a ...");
  const std::string number = arch.substr(3, arch.find_first_not_of("0123456789", 3) - 3);
  target.name = std::stoi(number) >= 90 ? "h200" : "a100";
  target.arch = arch, target.ptx = "compute_" + number;
  return target;
}

Package make_package(const PackageRequest& request) {
  Package package{.file = {},
                  .heddle = HEDDLE_VERSION,
                  .model_name = {},
                  .targets = request.targets,
                  .model = request.model,
                  .outputs = request.outputs,
                  .content = {}};
  ReadModel read;
  read_model_text(read, package.model, request.file);
  package.model_name = read.model.name;
  const std::vector<std::string> purposes =
      request.purposes.empty() ? purposes_of(read.model, !request.outputs.empty()) : request.purposes;
  if (!request.outputs.empty() && std::ranges::count(purposes, "predict") == 0)
    throw UserError(ExitCode::usage, "--output chooses what predict computes, and the package is not made for it",
                    "add predict to --for, or leave out --output");
  const runtime::KernelCache cache(runtime::kernel_cache_folder());
  Code code;
  size_t programs = 0, unused = 0;  // a table of a training is not about predictions, and need not be
  const std::string of_unused = told_of_unused(request.compile.choices);
  for (PackedTarget& target : package.targets) {
    describe_maker(target);
    CompileOptions options = request.compile;
    if (request.compile.tell)
      options.tell = [&](const std::string& line) {
        if (line != of_unused) return request.compile.tell(line);
        ++unused;
      };
    options.target = target.target();
    for (const std::string& purpose : purposes) {
      const codegen::Program program = program_of(purpose, request, read.model, options, target);
      if (calls_libraries(program)) target.onednn = runtime::onednn_version();
      target.programs.push_back(describe_program(program));
      ++programs;
      if (!program.kernels.empty()) compile_code(target, program.source, cache, code);
    }
  }
  if (unused == programs && request.compile.tell) request.compile.tell(of_unused);
  if (const std::string& table = request.compile.choices.file; !table.empty())
    code[kPackedChoices] = read_text(table, table, kMostChoicesBytes);
  for (const auto& [name, bytes] : code) {
    const std::span<std::byte> to = package.content.add(name, "u8", {std::ssize(bytes)}, std::ssize(bytes));
    std::ranges::copy(std::as_bytes(std::span(bytes)), to.begin());
  }
  return package;
}

}  // namespace heddle::driver
