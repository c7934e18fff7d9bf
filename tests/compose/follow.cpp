// heddle_follow_training MODEL.json: the training that `heddle train` does, step by step beside the
// evaluator in double precision.
//
// Before each step the host's states are read, and the batch that the step will gather; what the
// step makes of both is compared with what the evaluator makes of the same. So are init, the end of
// each epoch and the evaluation of all splits. Then the training is repeated with its rows streamed
// in chunks of a batch: all states have the same bits.
#include <fmt/format.h>

#include <algorithm>
#include <cstdio>
#include <cstring>

#include "codegen/lower.h"
#include "frontend/build_graph.h"
#include "frontend/read/read_model.h"
#include "ir/diagnostic.h"
#include "ir/evaluate/evaluate.h"
#include "ir/evaluate/tensor_bytes.h"
#include "ir/text/parse.h"
#include "passes/pipeline.h"
#include "runtime/data/shuffle.h"
#include "runtime/host/host_device.h"
#include "runtime/train/batches.h"
#include "runtime/train/trainer.h"
#include "tests/compose/comparison.h"
#include "tests/support/host_run.h"
#include "tools/driver/model_file.h"
#include "tools/driver/session.h"

namespace heddle::testing {
namespace {

using codegen::Buffer;
using codegen::Entry;

// --- a program on the host ---

struct Running {
  explicit Running(const codegen::Program& p)
      : program(p), device({.threads = 1, .kernel_cache = {}}), executable(p, device) {}

  ir::NamedTensors states() {
    ir::NamedTensors out;
    for (const Buffer& b : program.states) out.emplace(b.name, read_buffer(executable, b));
    return out;
  }
  std::vector<ir::Tensor> outputs(const Entry& entry) {
    std::vector<ir::Tensor> out;
    for (const Buffer& b : entry.outputs) out.push_back(read_buffer(executable, b));
    return out;
  }
  void step(const Entry& entry, runtime::Feed& feed) {
    feed.provide(entry.fed_rows);
    executable.wait(executable.submit(entry, 1));
    feed.take(1);
  }

  const codegen::Program& program;
  runtime::HostDevice device;
  runtime::Executable executable;
};

// Entries of the same names that return the batches they gather. Their text is kept in `sources`,
// which the module points into.
ir::Module gathering(const ir::Module& module, frontend::Sources& sources) {
  std::string text;
  for (const ir::Graph& g : module.graphs) {
    if (!g.kind().takes_rows()) continue;
    const ir::Graph* graph = &g;
    std::string inputs, names;
    for (const ir::ValueId v : graph->inputs) {
      if ((*graph)[v].role != ir::Role::input) continue;
      inputs +=
          fmt::format("{}input %{}: {}", inputs.empty() ? "" : ", ", (*graph)[v].name, ir::to_string((*graph)[v].type));
      names += fmt::format(", %{}", (*graph)[v].name);
    }
    text += fmt::format("graph @{}({}) {{\n  %loss: f32[] = constant() {{value = 0.0}}\n  return %loss{}\n}}\n", g.name,
                        inputs, names);
  }
  return ir::parse(sources.add("gathering.hir", text));
}

// --- a training ---

class Followed {
 public:
  explicit Followed(const std::filesystem::path& path) {
    read_.path = path.string();
    read_.model = frontend::read_model(read_.sources, path, {});
    driver::Session session = driver::open_session(read_.model, {.folder = path.parent_path()});
    options_ = driver::train_options(session);
    splits_ = session.loading.valid() ? session.loading.get() : std::move(session.splits);
    program_ = std::move(session.program);
    module_ = frontend::build_module(read_.model, session.entries);
    ir::Module gather = gathering(module_, read_.sources);
    driver::run_passes(gather, {}, session.fed);
    batches_ = driver::lower(gather, "gathering", {});
    passes::find_pass("mixed_precision")->run(module_, {});
    module_ = differentiated(std::move(module_));
    comparison.narrowest = narrowest_unit(module_);
  }

  void follow() {
    Running host(program_), gather(batches_);
    run(host, "init");
    runtime::Feed feed(host.executable, {}), gather_feed(gather.executable, {});
    const auto pass = [&](const runtime::Split& rows, std::vector<uint32_t> order, ir::Phase phase,
                          runtime::Draws draws) {
      const runtime::Batches batches(program_, phase);
      const runtime::data::BucketOrder arranged = batches.arrange(std::move(order), rows.bucket);
      feed.begin(rows.table, arranged.rows, draws), gather_feed.begin(rows.table, arranged.rows, draws);
      const auto steps = [&](const Entry& entry, int64_t times) {
        for (int64_t i = 0; i < times; ++i) step(host, feed, gather, gather_feed, entry.name);
      };
      const int64_t whole = batches.whole().fed_rows, rest = rows.rows() % whole;
      for (const auto& part : batches.parts(arranged, 0, rows.rows() / whole)) steps(*part.entry, part.times);
      const Entry* last = program_.find_entry({phase, ir::BatchKind::remainder});
      if (rest > 0 && !(options_.drop_last && phase == ir::Phase::train)) steps(*last, rest / last->fed_rows);
    };
    for (int64_t epoch = 0; epoch < options_.epochs.value(); ++epoch) {
      const auto number = static_cast<uint64_t>(epoch);
      run(host, "reset");
      pass(*splits_.train, runtime::epoch_order(*splits_.train, options_.in_order, options_.seed, number),
           ir::Phase::train, {.seed = options_.seed, .epoch = number});
      run(host, "metrics");
      for (const auto* split : {&splits_.validation, &splits_.test}) {
        if (!*split) continue;
        run(host, "reset");
        pass(**split, runtime::data::in_order((*split)->rows()), ir::Phase::eval, {});
        run(host, "metrics");
      }
      run(host, "after_epoch");
    }
    run(host, "take_average");
  }

  // The bits of all states after the training, with the columns resident or streamed.
  std::vector<std::byte> trained(int64_t resident_bytes) {
    Running host(program_);
    host.executable.run(*program_.find_entry(ir::Phase::init));
    runtime::TrainOptions options = options_;
    options.steps_options.feed.resident_bytes = resident_bytes;
    const runtime::Split* validation = splits_.validation ? &*splits_.validation : nullptr;
    runtime::train(host.executable, options, *splits_.train, validation, {});
    std::vector<std::byte> all;
    for (const Buffer& b : program_.states) {
      const size_t at = all.size();
      all.resize(at + static_cast<size_t>(b.bytes));
      host.executable.read(b, all.data() + at);
    }
    return all;
  }

  Comparison comparison;

 private:
  ir::NamedTensors inputs_of(const ir::Graph& graph, const ir::NamedTensors& states, const ir::NamedTensors& batch) {
    ir::NamedTensors out;
    for (const ir::ValueId v : graph.inputs)
      out.emplace(graph[v].name, (graph[v].role == ir::Role::input ? batch : states).at(graph[v].name));
    return out;
  }

  // Compares what the host has made of the states and the batch.
  void compare(Running& host, const std::string& name, const ir::NamedTensors& before, const ir::NamedTensors& batch) {
    const ir::Graph& graph = *module_.find_graph(name);
    const ir::NamedTensors inputs = inputs_of(graph, before, batch);
    const ir::Evaluation exact = ir::evaluate(module_, graph, inputs);
    const ir::Evaluation rounded = ir::evaluate(module_, graph, inputs, {.precision = ir::Precision::rounded});
    const std::vector<ir::Tensor> outputs = host.outputs(*program_.find_entry(ir::entry_kind(name)));
    const std::string at = fmt::format("{} {}", name, runs_++);
    if (outputs.size() != exact.outputs.size()) comparison.faults.push_back(at + ": another number of results");
    for (size_t i = 0; i < std::min(outputs.size(), exact.outputs.size()); ++i)
      comparison.values(fmt::format("{}, result {}", at, i), outputs[i], exact.outputs[i], rounded.outputs[i], nullptr);
    const ir::NamedTensors after = host.states();
    for (const auto& [state, got] : after) {
      const auto next = exact.updated.find(state);
      if (next != exact.updated.end()) {
        comparison.values(fmt::format("{}, {}", at, state), got, next->second, rounded.updated.at(state),
                          &before.at(state));
      } else if (to_bytes(got) != to_bytes(before.at(state))) {
        comparison.faults.push_back(fmt::format("{} changed {}", at, state));
      }
    }
  }

  // An entry that takes no batch, where there is one.
  void run(Running& host, const std::string& name) {
    const Entry* entry = program_.find_entry(ir::entry_kind(name));
    if (entry == nullptr) return;
    const ir::NamedTensors before = host.states();
    host.executable.run(*entry);
    compare(host, name, before, {});
  }

  void step(Running& host, runtime::Feed& feed, Running& gather, runtime::Feed& gather_feed, const std::string& name) {
    const Entry& gathers = *batches_.find_entry(ir::entry_kind(name));
    gather.step(gathers, gather_feed);
    ir::NamedTensors batch;
    const std::vector<ir::Tensor> gathered = gather.outputs(gathers);
    for (size_t i = 0; i < gathers.inputs.size(); ++i) batch.emplace(gathers.inputs[i].name, gathered.at(i + 1));
    const ir::NamedTensors before = host.states();
    host.step(*program_.find_entry(ir::entry_kind(name)), feed);
    compare(host, name, before, batch);
  }

  driver::ReadModel read_;
  runtime::TrainOptions options_;
  driver::Splits splits_;
  ir::Module module_;
  codegen::Program program_, batches_;
  int runs_ = 0;
};

int run(const std::string& path) {
  Followed followed(path);
  followed.follow();
  Comparison& c = followed.comparison;
  if (followed.trained(std::numeric_limits<int64_t>::max()) != followed.trained(1))
    c.faults.emplace_back("streamed rows give other states");
  for (const std::string& fault : c.faults) fmt::print("fault: {}\n", fault);
  fmt::print("{} tensors compared, worst {:.3g} of what is allowed, {} faults\n", c.compared, c.worst, c.faults.size());
  return c.faults.empty() && c.compared > 0 ? 0 : 1;
}

}  // namespace
}  // namespace heddle::testing

int main(int argc, char** argv) {
  if (argc != 2) {
    std::fputs("usage: heddle_follow_training MODEL.json\n", stderr);
    return 2;
  }
  try {
    return heddle::testing::run(argv[1]);
  } catch (const heddle::UserError& error) {
    std::fprintf(stderr, "%s\n", error.what());
    return 1;
  }
}
