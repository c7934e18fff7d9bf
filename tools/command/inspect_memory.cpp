#include "tools/command/inspect_memory.h"

#include <fmt/format.h>

#include <algorithm>
#include <limits>
#include <map>
#include <memory>

#include "frontend/instantiate/summary.h"
#include "frontend/training/accumulate.h"
#include "tools/command/counted_data.h"
#include "tools/command/memory_text.h"
#include "tools/command/output.h"
#include "tools/driver/entries.h"
#include "tools/driver/largest_batch.h"
#include "tools/driver/memory_plans.h"
#include "tools/driver/plan_batch.h"
#include "tools/driver/plan_within.h"

namespace heddle::tools {
namespace {

constexpr size_t kAllPlanned = 16;  // blocks, up to which every number of them is planned
constexpr size_t kMostRows = 9;     // of the table of limits, where there are more

ir::Target target_of(const InspectMemory& a) {
  if (!a.target.empty() && !a.device.device.empty())
    throw UserError(ExitCode::usage, "--device and --target both say where",
                    "leave out --device: --target plans for a device that need not be here");
  if (!a.target.empty()) return ir::target_by_name(a.target);
  driver::DeviceRequest request = a.device;
  if (request.device.empty()) request.device = "auto";
  return driver::open_device(request).target;
}

// The training of a model as it was read with one batch.
struct Candidate {
  Candidate(const ModelArguments& arguments, const std::vector<std::string>& set, const std::string& data,
            const CountedData* known, driver::CompileOptions options) {
    ModelArguments own = arguments;
    own.set.insert(own.set.end(), set.begin(), set.end());
    if (!set.empty()) own.batch.clear();  // short forms come behind
    read(own, model);
    planned.emplace(model.model);
    summary = frontend::summarize(planned->instances);
    counted = known != nullptr ? *known : count_data(planned->plan, model.folder(data));
    if (counted.header) driver::compile_as_trained(*planned, *counted.header, options);
    options.folder = model.folder({});
    plans = std::make_unique<driver::MemoryPlans>(*planned, options);
  }

  driver::ReadModel model;  // locations point into it
  std::optional<driver::Planned> planned;
  frontend::ModelSummary summary;
  CountedData counted;
  std::unique_ptr<driver::MemoryPlans> plans;
};

std::vector<size_t> numbers_of_blocks(size_t all) {
  std::vector<size_t> numbers;
  const size_t rows = all <= kAllPlanned ? all + 1 : kMostRows;
  for (size_t i = 0; i < rows; ++i) numbers.push_back(rows == 1 ? 0 : i * all / (rows - 1));
  return numbers;
}

// What a training under the limit computes again; of many blocks the fewest of `numbers` that are enough.
std::optional<size_t> others_within(driver::MemoryPlans& plans, const std::vector<size_t>& numbers, int64_t limit) {
  if (numbers.back() <= kAllPlanned) return plans.within(limit);
  const auto fits = [&](size_t others) { return plans.with(others).limit_bytes <= limit; };
  if (!fits(0) && !fits(numbers.back())) return std::nullopt;
  return *std::ranges::find_if(numbers, fits);
}

// The limit of a row is the least under which the training has this plan. Plans that take more memory than another plan
// without being faster are left out.
std::vector<LimitRow> limit_rows(driver::MemoryPlans& plans) {
  const std::vector<size_t> numbers = numbers_of_blocks(plans.memory().others.size());
  std::vector<int64_t> limits;
  limits.reserve(numbers.size());
  for (const size_t others : numbers) limits.push_back(plans.with(others).limit_bytes);
  std::ranges::sort(limits, std::ranges::greater());
  std::vector<LimitRow> rows;
  for (const int64_t limit : limits) {
    const std::optional<size_t> others = others_within(plans, numbers, limit);
    if (!others) break;
    const LimitRow row{limit, plans.memory().blocks.size() + *others, plans.with(*others).step_seconds};
    while (!rows.empty() && rows.back().step_seconds >= row.step_seconds) rows.pop_back();
    rows.push_back(row);
  }
  return rows;
}

std::string rows_note(const frontend::PlannedMemory& memory, const frontend::Model& model) {
  if (!memory.others.empty()) return {};
  if (!memory.blocks.empty() || model.train.memory.blocks)
    return "no other blocks are computed again: train.memory.recompute is not \"auto\"";
  return "nothing can be computed again: the model has no blocks, or train.memory.recompute is \"none\"";
}

// The --set option for a batch of so many rows.
std::string batch_setting(const frontend::Model& model, int64_t rows) {
  return model.train.sizes.size() == 1 ? fmt::format("train.batch={}", rows)
                                       : fmt::format("train.batch.{}={}", model.batch_dimension, rows);
}

// Why no batch can be looked for; empty where one can.
std::string fixed_batch(const Candidate& base) {
  const frontend::Model& model = base.model.model;
  if (!model.train.sizes.contains(model.batch_dimension))
    return "train.batch gives no number of rows: no largest batch is looked for";
  const frontend::TrainingPlan& plan = base.planned->plan;
  if (plan.in_order && plan.data.train && runtime::data::find_setting(plan.data.train->settings, "strands") != nullptr)
    return fmt::format("the reader's \"strands\" give the batch of {} rows: no largest one is looked for", plan.batch);
  return {};
}

// Looks for the largest batch within facts.limit.
void find_batch(const ModelArguments& arguments, Candidate& base, const driver::CompileOptions& options,
                MemoryFacts& facts) {
  const frontend::Model& model = base.model.model;
  std::map<int64_t, std::unique_ptr<Candidate>> tried;
  const auto plans_of = [&](int64_t rows) -> driver::MemoryPlans& {
    if (rows == facts.batch) return *base.plans;
    std::unique_ptr<Candidate>& candidate = tried[rows];
    if (!candidate)
      candidate =
          std::make_unique<Candidate>(arguments, std::vector{batch_setting(model, rows)}, "", &base.counted, options);
    return *candidate->plans;
  };
  const int64_t most = base.counted.header ? base.counted.header->rows.train : driver::kMostBatch;
  const driver::LargestBatch found = driver::largest_batch(
      {.first = facts.batch, .step = model.train.accumulate, .most = most, .limit = facts.limit}, [&](int64_t rows) {
        try {
          return plans_of(rows).least_bytes(facts.limit);
        } catch (const UserError&) {  // a shape that no limit allows
          return std::numeric_limits<int64_t>::max();
        }
      });
  BatchAnswer answer{.rows = found.rows, .next = found.next, .words = {}};
  if (found.rows > 0) {
    driver::MemoryPlans& plans = plans_of(found.rows);
    const size_t others = plans.within(facts.limit).value_or(plans.memory().others.size());
    answer.again = plans.memory().blocks.size() + others;
    answer.step_seconds = plans.with(others).step_seconds;
    answer.words = "--set " + batch_setting(model, found.rows);
  }
  facts.largest = answer;
  for (const auto& [rows, candidate] : tried) facts.plans += candidate->plans->made();
}

// The program of a training under facts.limit: its parts.
void describe(Candidate& base, MemoryFacts& facts) {
  driver::MemoryPlans& plans = *base.plans;
  const frontend::PlannedMemory& memory = plans.memory();
  const std::optional<size_t> fitting = facts.limit > 0 ? plans.within(facts.limit) : 0;
  facts.refused = !fitting;
  const size_t others = fitting.value_or(memory.others.size());
  facts.again = memory.blocks.size() + others;
  const driver::Compiled compiled = plans.compiled(others);
  facts.state_bytes = compiled.program.state_bytes;
  facts.arena_bytes = compiled.program.arena_bytes;
  facts.ring_bytes = compiled.program.feeding.ring_bytes();
  std::vector<std::string> nodes;
  for (const frontend::SummaryNode& n : base.summary.nodes) nodes.push_back(n.path);
  nodes.insert(nodes.end(), facts.blocks.begin(), facts.blocks.end());  // of what several of their nodes make together
  facts.parts = driver::memory_parts(compiled, nodes);
}

}  // namespace

void inspect_memory(const ModelArguments& arguments, const InspectMemory& a, bool json) {
  driver::CompileOptions options = compile_options(arguments);
  options.target = target_of(a);
  Candidate base(arguments, {}, a.data, nullptr, options);
  options.tell = {};
  const frontend::PlannedMemory& memory = base.plans->memory();
  MemoryFacts facts;
  facts.name = base.model.model.name, facts.target = options.target.name;
  facts.batch_name = base.summary.batch_name, facts.batch = base.summary.batch;
  facts.blocks = memory.blocks;
  facts.blocks.insert(facts.blocks.end(), memory.others.begin(), memory.others.end());
  facts.limit = driver::limit_of(memory, options);
  if (base.counted.header) facts.data_bytes = data_bytes(base.planned->plan, *base.counted.header);
  facts.data_note = base.counted.note;
  describe(base, facts);
  if (base.plans->with(0).step_seconds > 0) {
    facts.rows = limit_rows(*base.plans);
    facts.rows_note = rows_note(memory, base.model.model);
    facts.batch_note = facts.limit > 0 ? fixed_batch(base) : "--memory-limit 8GiB tells the largest batch within it";
    if (facts.batch_note.empty()) find_batch(arguments, base, options, facts);
  } else {
    facts.rows_note = "nothing is trained: no limits, and no batches, are looked at";
  }
  facts.plans += base.plans->made();
  write_result(json ? memory_json(facts) : memory_text(facts));
}

}  // namespace heddle::tools
