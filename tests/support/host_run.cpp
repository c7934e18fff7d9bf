#include "tests/support/host_run.h"

#include <algorithm>
#include <map>
#include <set>
#include <stdexcept>
#include <utility>

#include "codegen/lower.h"
#include "ir/check.h"
#include "ir/evaluate/tensor_bytes.h"
#include "ir/ops/strided.h"
#include "passes/pipeline.h"
#include "passes/select/onednn.h"
#include "passes/select/winograd.h"
#include "runtime/executable.h"
#include "runtime/host/host_device.h"
#include "runtime/host/onednn.h"
#include "runtime/host/winograd_call.h"

namespace heddle::testing {

struct HostRun::Impl {
  codegen::Program program;
  std::string entry;
  std::map<std::string, std::vector<std::string>> updated;  // states of each entry, by their names before the pipeline
  runtime::HostDevice device;
  std::unique_ptr<runtime::Executable> executable;

  explicit Impl(int threads) : device({.threads = threads, .kernel_cache = {}}) {}

  const codegen::Buffer& state(const std::string& name) const {
    for (const codegen::Buffer& b : program.states)
      if (b.name == name) return b;
    throw std::runtime_error("the program has no state " + name);
  }
  ir::Tensor read(const codegen::Buffer& b) const { return read_buffer(*executable, b); }
  void write(const codegen::Buffer& b, const ir::Tensor& t) const { executable->write(b, to_bytes(t).data()); }
};

ir::Tensor in_memory(const ir::Tensor& t, const ir::Layout& layout) {
  if (layout.empty()) return t;
  ir::Tensor turned({t.type.dtype, ir::memory_dims(t.type.dims, layout)});
  const ir::Dims strides = ir::memory_dims(ir::row_major_strides(t.type.dims), layout);
  copy_strided(turned, {0, ir::row_major_strides(turned.type.dims)}, t, {0, strides}, turned.type.dims);
  return turned;
}

ir::Tensor read_buffer(runtime::Executable& executable, const codegen::Buffer& b) {
  std::vector<std::byte> bytes(static_cast<size_t>(b.bytes));
  executable.read(b, bytes.data());
  return ir::from_bytes({ir::parse_dtype(b.dtype).value(), ir::memory_dims(b.dims, b.layout)}, bytes);
}

passes::Options host_options(bool library) {
  passes::Options options;
  if (library)
    options.libraries = {{&passes::winograd(),
                          [](const ir::Graph& kernel) {
                            const runtime::WinogradNeeds needs =
                                runtime::winograd_needs(codegen::describe_library(kernel));
                            return passes::LibraryAnswer{needs.workspace, needs.refusal};
                          }},
                         {&passes::onednn(), [](const ir::Graph& kernel) {
                            const runtime::OnednnNeeds needs = runtime::onednn_needs(codegen::describe_library(kernel));
                            return passes::LibraryAnswer{needs.workspace, needs.refusal};
                          }}};
  return options;
}

ir::Module differentiated(ir::Module module) {
  passes::find_pass("differentiate")->run(module, {});
  return module;
}

codegen::Program host_program(ir::Module module, const std::string& name, const HostRunOptions& options) {
  passes::Options pass_options = host_options(options.library);
  pass_options.target = options.target;
  if (options.pipeline) passes::run_pipeline(module, pass_options);
  return codegen::lower(module, name, pass_options.target);
}

HostRun::HostRun(ir::Module module, const std::string& entry, const HostRunOptions& options)
    : impl_(std::make_unique<Impl>(options.threads)) {
  impl_->entry = entry;
  for (const ir::Graph& g : module.graphs)
    for (const ir::Update& u : g.updates) impl_->updated[g.name].push_back(g[u.state].name);
  impl_->program = host_program(std::move(module), entry, options);
  impl_->executable = std::make_unique<runtime::Executable>(impl_->program, impl_->device);
}

const codegen::Entry& entry_named(const codegen::Program& program, const std::string& name) {
  const auto found = std::ranges::find(program.entries, name, &codegen::Entry::name);
  HEDDLE_CHECK(found != program.entries.end(), "the program has no entry '" + name + "'");
  return *found;
}

HostRun::~HostRun() = default;

const codegen::Program& HostRun::program() const { return impl_->program; }

ir::Evaluation HostRun::operator()(const ir::NamedTensors& inputs) { return (*this)(impl_->entry, inputs); }

ir::Evaluation HostRun::operator()(const std::string& name, const ir::NamedTensors& inputs) {
  const codegen::Entry& entry = entry_named(impl_->program, name);
  std::set<std::string> entry_inputs;
  for (const codegen::Buffer& b : entry.inputs) entry_inputs.insert(b.name);
  for (const auto& [name, tensor] : inputs)
    if (entry_inputs.count(name) == 0) impl_->write(impl_->state(name), tensor);
  for (const codegen::Buffer& b : entry.inputs) impl_->write(b, inputs.at(b.name));
  impl_->executable->run(entry);
  ir::Evaluation out;
  for (const codegen::Buffer& b : entry.outputs) out.outputs.push_back(impl_->read(b));
  for (const std::string& state : impl_->updated[name]) out.updated.emplace(state, impl_->read(impl_->state(state)));
  return out;
}

}  // namespace heddle::testing
