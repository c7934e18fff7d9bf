// heddle_gpu_check: every step of a model's program alone on a GPU, against what another device
// stored.
//
//   heddle_gpu_check MODEL.json --small --write REFERENCE     on the fake of NVIDIA's driver: the interpreter's outputs
//   heddle_gpu_check MODEL.json --small REFERENCE             on a GPU: a line for each step
//   train 3 matmul.add.relu    2.1e-15    1e-08    ok
//
// --keep FOLDER: what a step that differs wrote, as train_3.0.got, the begin of large ones; `expected` is in the reference.
//
// A step starts from what the reference stored for the steps before it, so that one wrong kernel
// spoils no other. The program is always the one for an H200. Lines are flushed at once. Exit code
// 1 where a step differs, or where something fails.
//
// Partial results in scratch memory are neither stored nor compared: a GPU's approximate functions
// have other last bits. The counter behind them must be 0 again. Behind a comparison a last bit can
// flip a whole element: of a thousand elements or more, one and four in a million may differ however
// much, and the line says how many. Where a step differs, the line names the first element that does.
#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <fstream>
#include <limits>
#include <numeric>

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
  std::string model, reference, keep;
  std::vector<std::string> set;
  bool small = false, write = false;
};

// Machine code for a GPU sums in another order than the interpreter where threads meet, and its
// approximate functions have other last bits: more than two runs of the interpreter owe each other.
double most_nmse_on_gpu(ir::DType dtype) { return std::max(most_nmse(dtype), 1e-8); }

codegen::Program build(const Arguments& a) {
  frontend::Sources sources;
  const frontend::Model model = frontend::read_model(sources, a.model, {.set = a.set, .small = a.small});
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

// Elements behind a comparison that may differ: one, and as many more in a million. None of a few: there a last bit
// that flips one is rarer than a wrong kernel.
int64_t most_flipped(int64_t elements) {
  constexpr int64_t kInAMillion = 4, kFew = 1000;
  return elements < kFew ? 0 : 1 + elements * kInAMillion / 1'000'000;
}

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
  int64_t flipped = 0;  // elements that differ and may
};

// "element 7 of 640: expected 1, got 2"; the first that is off by more than `slack`.
std::string first_difference(const ir::Tensor& expected, const ir::Tensor& got, double slack) {
  int64_t count = 0;
  std::string first;
  for (int64_t i = 0; i < expected.elements(); ++i) {
    const double e = expected.at(i), g = got.at(i);
    if (e == g || (std::isnan(e) && std::isnan(g)) || std::abs(e - g) <= slack) continue;
    if (++count == 1) first = fmt::format("element {} of {}: expected {}, got {}", i, expected.elements(), e, g);
  }
  return fmt::format("{}; {} differ", first, count);
}

Difference integer_difference(const ir::Tensor& expected, const ir::Tensor& got) {
  int64_t flipped = 0;
  for (int64_t i = 0; i < expected.elements(); ++i) flipped += expected.at(i) != got.at(i) ? 1 : 0;
  if (flipped <= most_flipped(expected.elements())) return {.fault = {}, .flipped = flipped};
  return {.fault = first_difference(expected, got, 0)};
}

// The root of the mean square of what is finite.
double size_of(const ir::Tensor& t) {
  double squares = 0;
  for (const double x : t.real) squares += std::isfinite(x) ? x * x / static_cast<double>(t.elements()) : 0;
  return std::sqrt(squares);
}

// Without the elements that are farthest off, as many as may be flipped; what is not finite is farthest.
Difference floating_difference(const ir::Tensor& expected, const ir::Tensor& got, double most) {
  Agreement a = agreement(expected, got);
  if (a.fault.empty() && a.nmse <= most) return {.nmse = a.nmse, .most = most, .fault = {}};
  const auto off = [&](int64_t i) {
    const double d = std::abs(expected.at(i) - got.at(i));
    return std::isfinite(d) ? d : expected.at(i) == got.at(i) ? 0 : std::numeric_limits<double>::infinity();
  };
  const int64_t may = most_flipped(expected.elements());
  const std::string first = first_difference(expected, got, std::sqrt(most) * size_of(expected));
  std::vector<int64_t> order(static_cast<size_t>(expected.elements()));
  std::iota(order.begin(), order.end(), 0);
  std::partial_sort(order.begin(), order.begin() + may, order.end(),
                    [&](int64_t x, int64_t y) { return off(x) > off(y); });
  for (const int64_t without : {std::min<int64_t>(1, may), may}) {
    std::vector<bool> counts(order.size(), true);
    for (int64_t i = 0; i < without; ++i) counts[static_cast<size_t>(order[static_cast<size_t>(i)])] = false;
    const Agreement others = agreement(expected, got, counts);
    if (without > 0 && others.fault.empty() && others.nmse <= most)
      return {.nmse = others.nmse, .most = most, .fault = {}, .flipped = without};
  }
  return {.nmse = a.nmse, .most = most, .fault = first};
}

Difference difference(const Written& w, const Bytes& expected, const Bytes& got) {
  if (w.name == "counter")
    return {.fault = std::ranges::all_of(got, [](std::byte b) { return b == std::byte{0}; }) ? "" : "counter is not 0"};
  if (!w.dtype) return {.fault = expected == got ? "" : "bytes differ"};
  const ir::Type type{*w.dtype, {w.argument.bytes * 8 / ir::bits(*w.dtype)}};
  const ir::Tensor stored = ir::from_bytes(type, expected), computed = ir::from_bytes(type, got);
  if (!ir::is_floating(*w.dtype)) return integer_difference(stored, computed);
  return floating_difference(stored, computed, most_nmse_on_gpu(*w.dtype));
}

class Check {
 public:
  Check(const Arguments& a, const codegen::Program& program)
      : write_(a.write), keep_(a.keep), program_(by_step(program)), executable_(program_, device_) {
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

  void keep(std::string name, const Bytes& got) const {
    constexpr size_t kMost = size_t{256} << 10;
    std::ranges::replace(name, ' ', '_');
    std::ofstream(keep_ + "/" + name, std::ios::binary)
        .write(reinterpret_cast<const char*>(got.data()), static_cast<std::streamsize>(std::min(got.size(), kMost)));
  }

  void step(const codegen::Entry& entry, size_t position) {
    for (size_t i = 0; i < entry.inputs.size(); ++i)
      executable_.write(entry.inputs[i], random_input(entry.inputs[i], position * 64 + i).data());
    executable_.run(entry);
    const codegen::Step& step = entry.steps[0];
    Difference worst;
    int64_t flipped = 0, number = 0;
    for (const Written& w : written_by(program_, step)) {
      const Bytes got = read(w.argument);
      if (write_) {
        put(got.data(), got.size());
        continue;
      }
      Bytes expected(got.size());
      take(expected.data(), expected.size());
      const Difference d = difference(w, expected, got);
      if (!d.fault.empty() && !keep_.empty()) keep(fmt::format("{}.{}.got", entry.name, number), got);
      ++number;
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
  std::string keep_;
  codegen::Program program_;
  runtime::CudaDevice device_{{.number = 0, .ptx = wants_ptx(), .kernel_cache = {}}};
  runtime::Executable executable_;
  std::fstream file_;
};

int run(int count, char** arguments) {
  Arguments a;
  for (int i = 1; i < count; ++i) {
    const std::string word = arguments[i];
    if ((word == "--set" || word == "--keep") && i + 1 < count)
      (word == "--set" ? a.set.emplace_back() : a.keep) = arguments[++i];
    else if (word == "--small")
      a.small = true;
    else if (word == "--write")
      a.write = true;
    else
      (a.model.empty() ? a.model : a.reference) = word;
  }
  if (a.reference.empty()) {
    fmt::print(stderr,
               "usage: heddle_gpu_check MODEL.json [--small] [--set KEY=VALUE] [--write] [--keep FOLDER] REFERENCE\n");
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
