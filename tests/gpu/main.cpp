// heddle_gpu_check: every step of a model's program alone on a GPU, against what another device
// stored.
//
//   heddle_gpu_check MODEL.json --small --write REFERENCE     on the fake of NVIDIA's driver: the interpreter's outputs
//   heddle_gpu_check MODEL.json --small REFERENCE             on a GPU: a line for each step
//   train 3 matmul.add.relu    2.1e-15    1e-08    ok
//
// A step starts from what the reference stored for the steps before it, so that one wrong kernel
// spoils no other. The program is always the one for an H200. Lines are flushed at once. Exit code
// 1 where a step differs, or where something fails.
//
// Partial results in scratch memory are neither stored nor compared: a GPU's approximate functions
// have other last bits. The counter behind them must be 0 again. Behind a comparison a last bit can
// flip a whole element: a few flags and integers in a million may differ, and the line says how many.
#include <fmt/format.h>

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <fstream>

#include "frontend/build_graph.h"
#include "frontend/read/read_model.h"
#include "ir/diagnostic.h"
#include "ir/evaluate/tensor_bytes.h"
#include "runtime/cuda/cuda_device.h"
#include "runtime/data/keyed_random.h"
#include "runtime/executable.h"
#include "tests/gpu/element_types.h"
#include "tests/ptx/agreement.h"
#include "tests/support/host_run.h"

namespace heddle::testing {
namespace {

using codegen::Access;
using codegen::Argument;
using Bytes = std::vector<std::byte>;

struct Arguments {
  std::string model, reference;
  bool small = false, write = false;
};

// Machine code for a GPU sums in another order than the interpreter where threads meet, and its
// approximate functions have other last bits: more than two runs of the interpreter owe each other.
double most_nmse_on_gpu(ir::DType dtype) { return std::max(most_nmse(dtype), 1e-8); }

codegen::Program build(const Arguments& a) {
  frontend::Sources sources;
  const frontend::Model model = frontend::read_model(sources, a.model, {.set = {}, .small = a.small});
  frontend::BuildOptions options = frontend::default_build_options(model);
  if (!options.total_steps) options.total_steps = 1000;
  return host_program(frontend::build_module(model, options), model.name, {.library = false, .target = ir::h200()});
}

// Each step as an entry of its own, "train 3".
codegen::Program by_step(const codegen::Program& program) {
  codegen::Program out = program;
  out.entries.clear();
  for (const codegen::Entry& entry : program.entries)
    for (size_t i = 0; i < entry.steps.size(); ++i) {
      codegen::Entry one;
      one.name = fmt::format("{} {}", entry.name, i);
      one.steps = {entry.steps[i]};
      if (i == 0) one.inputs = entry.inputs;
      out.entries.push_back(std::move(one));
    }
  return out;
}

// As the command line does.
bool wants_ptx() {
  const char* code = std::getenv("HEDDLE_CUDA_CODE");
  return code != nullptr && std::string(code) == "ptx";
}

// Flags and integers that may differ: one, and as many more in a million.
constexpr int64_t kFlippedInAMillion = 4;

struct Written {
  Argument argument;
  std::string name;                // "" where it is no kernel's
  std::optional<ir::DType> dtype;  // where it is known
};

std::vector<Written> written_by(const codegen::Program& program, const codegen::Step& step) {
  std::vector<Pointer> pointers;
  if (const auto* launch = std::get_if<codegen::Launch>(&step.what))
    pointers = pointers_of(program.source, program.kernels[static_cast<size_t>(launch->kernel)].name);
  const std::vector<Argument> all = codegen::touched_by(step);
  std::vector<Written> out;
  for (size_t i = 0; i < all.size(); ++i) {
    const Pointer pointer = i < pointers.size() ? pointers[i] : Pointer{};
    if (all[i].access != Access::read && pointer.name != "scratch")
      out.push_back({all[i], pointer.name, pointer.dtype});
  }
  return out;
}

std::string title(const codegen::Program& program, const codegen::Step& step) {
  const auto* launch = std::get_if<codegen::Launch>(&step.what);
  return launch == nullptr ? "copy" : program.kernels[static_cast<size_t>(launch->kernel)].title;
}

// What must be the same where outputs were stored and where they are compared; no path of a file.
std::string outline(const codegen::Program& program) {
  std::string text;
  for (const codegen::Entry& entry : program.entries) {
    text += entry.name + " " + title(program, entry.steps[0]);
    for (const Argument& a : codegen::touched_by(entry.steps[0]))
      text += fmt::format(" {}+{}:{}", static_cast<int>(a.at.segment), a.at.offset, a.bytes);
    text += "\n";
  }
  return text;
}

// Uniform in [0, 1) for floating inputs, 0 to 9 for others.
Bytes random_input(const codegen::Buffer& b, uint64_t position) {
  runtime::data::KeyedRandom random(/*seed=*/11, position);
  ir::Tensor t({ir::parse_dtype(b.dtype).value(), b.dims});
  for (int64_t i = 0; i < t.elements(); ++i) {
    const float value = random.uniform(0, 1);
    t.set(i, t.floating() ? value : static_cast<double>(static_cast<int>(value * 10)));
  }
  return to_bytes(t);
}

struct Difference {
  double nmse = 0, most = 0;
  std::string fault;
  int64_t flipped = 0;  // flags and integers that differ
};

Difference difference(const Written& w, const Bytes& expected, const Bytes& got) {
  if (w.name == "counter")
    return {.fault = std::ranges::all_of(got, [](std::byte b) { return b == std::byte{0}; }) ? "" : "counter is not 0"};
  if (!w.dtype) return {.fault = expected == got ? "" : "bytes differ"};
  const ir::Type type{*w.dtype, {w.argument.bytes * 8 / ir::bits(*w.dtype)}};
  const ir::Tensor stored = ir::from_bytes(type, expected), computed = ir::from_bytes(type, got);
  const Agreement a = agreement(stored, computed);
  const double most = most_nmse_on_gpu(*w.dtype);
  if (ir::is_floating(*w.dtype))
    return {.nmse = a.nmse, .most = most, .fault = !a.fault.empty() ? a.fault : a.nmse <= most ? "" : "differs"};
  int64_t flipped = 0;
  for (int64_t i = 0; i < stored.elements(); ++i) flipped += stored.at(i) != computed.at(i) ? 1 : 0;
  if (flipped <= 1 + stored.elements() * kFlippedInAMillion / 1'000'000) return {.fault = {}, .flipped = flipped};
  return {.fault = fmt::format("{} of {} differ: {}", flipped, stored.elements(), a.fault), .flipped = flipped};
}

class Check {
 public:
  Check(const Arguments& a, const codegen::Program& program)
      : write_(a.write), program_(by_step(program)), executable_(program_, device_) {
    file_.open(a.reference,
               a.write ? std::ios::out | std::ios::trunc | std::ios::binary : std::ios::in | std::ios::binary);
    if (!file_) throw UserError(ExitCode::failed, a.reference + ": cannot be opened");
    // References of other steps would be compared with the wrong ones. The kernels' texts may change.
    const uint64_t print = std::hash<std::string>{}(outline(program_));
    if (write_) put(&print, sizeof print);
    uint64_t stored = print;
    if (!write_) take(&stored, sizeof stored);
    if (stored != print)
      throw UserError(ExitCode::failed, a.reference + ": it was stored for another program",
                      "pack again from these sources");
  }

  bool run() {
    for (size_t i = 0; i < program_.entries.size(); ++i) step(program_.entries[i], i);
    return good_;
  }

 private:
  void put(const void* from, size_t bytes) {
    file_.write(static_cast<const char*>(from), static_cast<std::streamsize>(bytes));
    if (!file_) throw UserError(ExitCode::failed, "the reference cannot be written");
  }
  void take(void* to, size_t bytes) {
    file_.read(static_cast<char*>(to), static_cast<std::streamsize>(bytes));
    if (!file_) throw UserError(ExitCode::failed, "the reference ends early");
  }
  Bytes read(const Argument& a) {
    codegen::Buffer buffer;
    buffer.at = a.at, buffer.bytes = a.bytes;
    Bytes bytes(static_cast<size_t>(a.bytes));
    executable_.read(buffer, bytes.data());
    return bytes;
  }

  void step(const codegen::Entry& entry, size_t position) {
    for (size_t i = 0; i < entry.inputs.size(); ++i)
      executable_.write(entry.inputs[i], random_input(entry.inputs[i], position * 64 + i).data());
    executable_.run(entry);
    const codegen::Step& step = entry.steps[0];
    Difference worst;
    int64_t flipped = 0;
    for (const Written& w : written_by(program_, step)) {
      const Bytes got = read(w.argument);
      if (write_) {
        put(got.data(), got.size());
        continue;
      }
      Bytes expected(got.size());
      take(expected.data(), expected.size());
      const Difference d = difference(w, expected, got);
      if (worst.fault.empty() && (!d.fault.empty() || d.nmse >= worst.nmse)) worst = d;
      flipped += d.flipped;
      executable_.write(w.argument.at, expected.data(), w.argument.bytes);
    }
    good_ = good_ && worst.fault.empty();
    fmt::print("{} {}\t{:.3g}\t{:.3g}\t{}\n", entry.name, title(program_, step), worst.nmse, worst.most,
               write_                 ? "stored"
               : !worst.fault.empty() ? worst.fault
               : flipped > 0          ? fmt::format("ok: {} flipped", flipped)
                                      : "ok");
    std::fflush(stdout);
  }

  bool write_ = false, good_ = true;
  codegen::Program program_;
  runtime::CudaDevice device_{{.number = 0, .ptx = wants_ptx(), .kernel_cache = {}}};
  runtime::Executable executable_;
  std::fstream file_;
};

int run(int count, char** arguments) {
  Arguments a;
  for (int i = 1; i < count; ++i) {
    const std::string word = arguments[i];
    if (word == "--small")
      a.small = true;
    else if (word == "--write")
      a.write = true;
    else
      (a.model.empty() ? a.model : a.reference) = word;
  }
  if (a.reference.empty()) {
    fmt::print(stderr, "usage: heddle_gpu_check MODEL.json [--small] [--write] REFERENCE\n");
    return 2;
  }
  try {
    return Check(a, build(a)).run() ? 0 : 1;
  } catch (const UserError& error) {
    fmt::print(stderr, "error: {}\n", error.diagnostics().front().message);
  } catch (const std::exception& error) {
    fmt::print(stderr, "error: {}\n", error.what());
  }
  return 1;
}

}  // namespace
}  // namespace heddle::testing

int main(int count, char** arguments) { return heddle::testing::run(count, arguments); }
