#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <set>

#include "codegen/lower.h"
#include "ir/evaluate/tensor_bytes.h"
#include "passes/pipeline.h"
#include "runtime/executable.h"
#include "tests/random/check.h"
#include "tests/random/data.h"
#include "tests/random/error_bound.h"
#include "tests/random/poisoned_device.h"
#include "tests/support/host_run.h"
#include "tests/support/touched.h"
#include "tests/support/unroll.h"

namespace heddle::testing {
using namespace ir;
namespace {

constexpr int kRuns = 2;  // of each entry
using Bytes = std::vector<std::byte>;
using ValueSet = std::set<ValueId>;
using Images = std::map<std::string, Bytes>;  // what a run leaves: outputs and states by name

// Inputs for one run: states go on from the run before.
class ProgramRun {
 public:
  ProgramRun(const codegen::Program& program, int threads)
      : program_(program), device_({.threads = threads, .kernel_cache = {}}), executable_(program, device_) {}

  void write_states(const NamedTensors& states) {
    for (const codegen::Buffer& b : program_.states)
      if (const auto it = states.find(b.name); it != states.end()) executable_.write(b, to_bytes(it->second).data());
  }

  Images run(const codegen::Entry& entry, const NamedTensors& inputs, std::byte poison) {
    device_.poison_arena(poison);
    for (const codegen::Buffer& b : entry.inputs) executable_.write(b, to_bytes(inputs.at(b.name)).data());
    executable_.run(entry);
    Images images;
    for (size_t i = 0; i < entry.outputs.size(); ++i) images[fmt::format("output {}", i)] = read(entry.outputs[i]);
    for (const codegen::Buffer& b : program_.states) images["state %" + b.name] = read(b);
    return images;
  }

  bool marks_intact() const { return device_.marks_intact(); }

 private:
  // A nan is one value here: of its sign and payload nothing is promised.
  Bytes read(const codegen::Buffer& b) {
    Bytes bytes(static_cast<size_t>(b.bytes));
    executable_.read(b, bytes.data());
    const Type type{parse_dtype(b.dtype).value(), b.dims};
    if (!is_floating(type.dtype)) return bytes;
    Tensor numbers = from_bytes(type, bytes);
    for (double& v : numbers.real)
      if (std::isnan(v)) v = std::numeric_limits<double>::quiet_NaN();
    return to_bytes(numbers);
  }

  const codegen::Program& program_;
  PoisonedDevice device_;
  runtime::Executable executable_;
};

// The first byte that differs: "output 1 (byte 17)"; empty: none.
std::string difference(const Images& a, const Images& b) {
  for (const auto& [name, bytes] : a) {
    const auto at = std::mismatch(bytes.begin(), bytes.end(), b.at(name).begin()).first;
    if (at != bytes.end()) return fmt::format("{} (byte {})", name, at - bytes.begin());
  }
  return {};
}

bool bounded(const Bounded& b) {
  for (size_t i = 0; i < b.error.size(); ++i)
    if (b.error[i] <= 0.05 * std::abs(b.value.at(static_cast<int64_t>(i))) + 1e-6) return true;
  return false;
}

class HostCheck {
 public:
  explicit HostCheck(Module m) : meaning_(differentiated(unrolled(m))) {
    passes::find_pass("decompose")->run(meaning_, {});
    program_ = compile(std::move(m));
  }

  HostReport run() {
    ProgramRun one(program_, 1), two(program_, 2);
    for (const codegen::Entry& entry : program_.entries) {
      check_entry(one, two, entry);
      check_touch(entry);
      if (!one.marks_intact() || !two.marks_intact()) {
        fault(entry.name, "writes outside of its memory");
        break;
      }
    }
    return std::move(report_);
  }

 private:
  void fault(const std::string& graph, std::string text) { report_.faults.push_back({graph, "host", std::move(text)}); }

  codegen::Program compile(Module m) {
    const passes::Options options = host_options();
    passes::run_pipeline(m, options);
    return codegen::lower(m, "random", options.target);
  }

  void check_touch(const codegen::Entry& entry) {
    const NamedTensors data = random_data(*meaning_.find_graph(entry.name));
    std::vector<codegen::Buffer> buffers = program_.states;
    buffers.insert(buffers.end(), entry.inputs.begin(), entry.inputs.end());
    const std::string wrong = fault_of_touch(program_, entry, [&](runtime::Executable& executable) {
      for (const codegen::Buffer& b : buffers)
        if (const auto it = data.find(b.name); it != data.end()) executable.write(b, to_bytes(it->second).data());
    });
    if (!wrong.empty()) fault(entry.name, wrong);
  }

  // The states go through two runs of the entry, and so do the oracle's.
  void check_entry(ProgramRun& one, ProgramRun& two, const codegen::Entry& entry) {
    const Graph& g = *meaning_.find_graph(entry.name);
    NamedTensors inputs = random_data(g);
    for (ProgramRun* run : {&one, &two}) run->write_states(inputs);
    for (int i = 0; i < kRuns; ++i) {
      const Images first = one.run(entry, inputs, std::byte{0xFF}), second = two.run(entry, inputs, std::byte{0x5B});
      if (const std::string apart = difference(first, second); !apart.empty())
        return fault(entry.name,
                     fmt::format("{} of run {} differs between one thread and two, or reads poison", apart, i + 1));
      const BoundedEvaluation expected = evaluate_with_bounds(g, inputs, Precision::rounded);
      if (!compare_run(entry, g, expected, first, i)) return;
      advance(g, inputs, first);
    }
  }

  // The oracle goes on from what the host left, so that bounds do not grow from run to run.
  static void advance(const Graph& g, NamedTensors& inputs, const Images& images) {
    for (const Update& u : g.updates) {
      const Value& state = g[u.state];
      inputs[state.name] = from_bytes(state.type, images.at("state %" + state.name));
    }
  }

  bool compare_run(const codegen::Entry& entry, const Graph& g, const BoundedEvaluation& expected, const Images& images,
                   int run) {
    const auto agree = [&](const std::string& what, const Bounded& wanted) {
      const std::string apart = compare(wanted, from_bytes(wanted.value.type, images.at(what)));
      if (!apart.empty()) fault(entry.name, fmt::format("{} of run {}: {}", what, run + 1, apart));
      count(wanted);
      return apart.empty();
    };
    bool all = true;
    ValueSet held;
    for (size_t k = 0; k < expected.outputs.size(); ++k) {
      all &= agree(fmt::format("output {}", k), expected.outputs[k]);
      if (bounded(expected.outputs[k])) held.insert(g.outputs[k]);
    }
    for (const Update& u : g.updates) {
      const Bounded& wanted = expected.updated.at(g[u.state].name);
      all &= agree("state %" + g[u.state].name, wanted);
      if (bounded(wanted)) held.insert(u.next);
    }
    note_compared(g, held);
    for (const ValueId v : g.inputs) {
      if (g[v].role == Role::input || expected.updated.count(g[v].name)) continue;
      all &= agree("state %" + g[v].name,
                   {random_data(g, v), std::vector<double>(static_cast<size_t>(g[v].type.elements()), 0)});
    }
    return all;
  }

  void count(const Bounded& b) {
    // An output counts for kMostCounted elements at most: a few large ones would decide the share
    // of those without a bound.
    constexpr int64_t kMostCounted = 200;
    const auto all = std::ssize(b.error), counted = std::min<std::ptrdiff_t>(all, kMostCounted);
    report_.elements += counted;
    if (all > 0)
      report_.unbounded +=
          std::count(b.error.begin(), b.error.end(), std::numeric_limits<double>::infinity()) * counted / all;
  }

  // What was held to a bound, and all that it comes from.
  void note_compared(const Graph& g, ValueSet held) {
    for (auto id = g.order.rbegin(); id != g.order.rend(); ++id) {
      const Node& n = g[*id];
      if (std::none_of(n.results.begin(), n.results.end(), [&](ValueId v) { return held.count(v) != 0; })) continue;
      held.insert(n.operands.begin(), n.operands.end());
    }
    for (const ValueId v : held) report_.compared.insert(fmt::format("{}%{}", g.name, g[v].name));
  }

  Module meaning_;
  codegen::Program program_;
  HostReport report_;
};

}  // namespace

HostReport check_host(const Module& m) { return HostCheck(m).run(); }

}  // namespace heddle::testing
