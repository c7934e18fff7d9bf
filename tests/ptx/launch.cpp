#include "tests/ptx/launch.h"

#include <fmt/format.h>

#include <algorithm>

#include "tests/ptx/machine.h"

namespace heddle::ptx {
namespace {

constexpr uint64_t kTurn = 1 << 20;          // instructions of a warp before others have theirs
constexpr uint64_t kCooperativeTurn = 1000;  // where a block may wait for another

void check_limit(Block& block) {
  const uint64_t most = block.run.options.most_instructions;
  if (most == 0 || block.run.counters().instructions < most) return;
  stop(block, Check::too_long, block.warps[0]->function->code[0], fmt::format("more than {} instructions", most));
}

[[noreturn]] void deadlock(Block& block) {
  for (const auto& w : block.warps)
    for (const auto* groups : {&w->parked, &w->at_barrier})
      if (!groups->empty()) {
        const Group& g = groups->front();
        const Instruction& i = w->function->code[g.pc];
        stop(block, Check::deadlock, i,
             fmt::format("lanes {:#x} of warp {} of block {} wait for others", g.lanes, w->first / kLanes,
                         block.number));
      }
  stop(block, Check::deadlock, block.warps[0]->function->code[0], "nobody can go on");
}

void run_one_after_another(Run& run, const Function& kernel) {
  for (uint32_t b = 0; b < run.what.grid.count(); ++b) {
    Block block(run, kernel, b);
    while (block.alive > 0) {
      if (!take_turn(block, kTurn)) deadlock(block);
      check_limit(block);
    }
  }
}

void run_together(Run& run, const Function& kernel) {
  std::vector<std::unique_ptr<Block>> blocks;
  for (uint32_t b = 0; b < run.what.grid.count(); ++b) blocks.push_back(std::make_unique<Block>(run, kernel, b));
  for (bool alive = true; alive;) {
    alive = false;
    for (const auto& block : blocks) {
      if (block->alive == 0) continue;
      alive = true;
      if (!take_turn(*block, kCooperativeTurn)) deadlock(*block);
      check_limit(*block);
    }
  }
}

// What the driver would refuse; "": nothing.
std::string refusal(const Launch& what, const Function* kernel) {
  if (kernel == nullptr) return "there is no such kernel";
  if (what.parameters.size() != kernel->parameter_bytes)
    return fmt::format("{} bytes of parameters, {} are expected", what.parameters.size(), kernel->parameter_bytes);
  const uint64_t threads = what.block.count();
  if (threads == 0 || threads > 1024 || what.grid.count() == 0 || what.grid.count() >= 1 << 20)
    return fmt::format("{} blocks of {} threads", what.grid.count(), threads);
  if (kernel->max_threads > 0 && threads > kernel->max_threads)
    return fmt::format("{} threads, {} at most", threads, kernel->max_threads);
  return {};
}

}  // namespace

Loaded::Loaded(const Module& module, DeviceMemory& memory) : module_(module), memory_(memory) {
  for (const Global& g : module.globals) {
    addresses_.push_back(memory.allocate(g.bytes.size()));
    memory.write(addresses_.back(), g.bytes.data(), g.bytes.size());
  }
}

Loaded::~Loaded() {
  for (const uint64_t address : addresses_) memory_.release(address);
}

Block::Block(Run& of_run, const Function& kernel, uint32_t block_number)
    : run(of_run),
      number(block_number),
      threads(static_cast<uint32_t>(run.what.block.count())),
      shared(run.what.dynamic_shared > 0 ? kernel.open_shared + run.what.dynamic_shared : kernel.shared_bytes,
             std::byte{0xff}),
      alive(threads),
      async_groups(threads) {
  const Dim3& grid = run.what.grid;
  index = {number % grid.x, number / grid.x % grid.y, number / (grid.x * grid.y)};
  if (run.races != nullptr) races = std::make_unique<BlockRaces>(number, threads, shared.size());
  for (uint32_t first = 0; first < threads; first += kLanes) {
    const Lanes lanes = threads - first >= kLanes ? kAllLanes : (1U << (threads - first)) - 1;
    warps.push_back(std::make_unique<Warp>(*this, kernel, first, lanes));
    if (run.options.chains) {
      warps.back()->depth.assign(kernel.register_bytes / 8 + 1, 0);
      warps.back()->waits.resize(kernel.register_bytes / 8 + 1);
    }
  }
}

bool take_turn(Block& block, uint64_t turn) {
  bool moved = false;
  for (const auto& w : block.warps) moved = run_warp(*w, turn) || moved;
  return moved;
}

Outcome launch(const Loaded& loaded, const Launch& what, DeviceMemory& memory, const LaunchOptions& options) {
  const Function* kernel = loaded.module().find_entry(what.kernel);
  Run run{loaded.module(), loaded, what, options, memory, {}, nullptr, nullptr, nullptr, {}};
  if (const std::string why = refusal(what, kernel); !why.empty()) {
    run.outcome.findings.push_back({Check::bad_launch, what.kernel, 0, "", why, 1});
    return std::move(run.outcome);
  }
  if (options.races) run.races = std::make_unique<GlobalRaces>();
  try {
    if (what.cooperative)
      run_together(run, *kernel);
    else
      run_one_after_another(run, *kernel);
    run.outcome.completed = true;
  } catch (const Stop&) {  // its finding has been noted
  }
  return std::move(run.outcome);
}

}  // namespace heddle::ptx
