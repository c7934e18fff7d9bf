#include "ir/kernel/count/count_collectives.h"

#include <algorithm>
#include <cmath>

#include "ir/kernel/access.h"
#include "ir/kernel/count/requests.h"
#include "ir/kernel/count/scalar_instructions.h"

namespace heddle::ir {
namespace {

double cut(double n, double by) { return std::ceil(n / by); }
double words_of(const AccumulatorWork& a) { return cut(static_cast<double>(a.bytes), 4); }
double warps_of_block(const KernelForm& form) { return cut(static_cast<double>(form.threads), kLanes); }
double sectors_of(double bytes) { return cut(bytes, 32); }

// Of `width` lanes, by exchanging ever shorter distances.
void count_exchange(const AccumulatorWork& a, int64_t width, double warps, KernelCounts& to) {
  const double steps = std::log2(static_cast<double>(width));
  const double words = words_of(a);
  to.instructions.values += steps * (3 * words + a.merge) * warps;  // the bits of a value, and back
}

void count_shared(double requests, KernelCounts& to) {
  to.instructions.memory += requests;
  to.shared_wavefronts += requests;
  to.ideal_wavefronts += requests;
}

// The warps' sums pass through shared memory: each leaves one; `readers` warps read all.
void count_warps_meet(const AccumulatorWork& a, const KernelForm& form, double blocks, double readers,
                      KernelCounts& to) {
  const double warps = warps_of_block(form), words = words_of(a);
  count_shared(blocks * (warps + readers * warps) * words, to);
  to.instructions.values += blocks * readers * (warps - 1) * a.merge;
  to.instructions.indices += blocks * warps * 8;
}

// Block after block, in so many warps; `together` lanes have neighbouring elements.
void count_get(const AccumulatorWork& a, double warps, int64_t together, KernelCounts& to) {
  constexpr double kUnrolled = 4, kLoop = 5, kAround = 20;
  const auto blocks = static_cast<double>(to.blocks), bytes = static_cast<double>(together * a.bytes);
  const double words = words_of(a);
  const double others = blocks - 1, turns = std::floor(others / kUnrolled);
  to.dependent_after_last +=
      1 + turns + (others - turns * kUnrolled);  // what is left of the last turn comes one by one
  to.instructions.memory += warps * blocks * words;
  to.instructions.values += warps * blocks * (words + a.merge);
  to.instructions.indices += warps * (kAround + blocks * kLoop / kUnrolled);
  to.sectors_read += warps * blocks * words * sectors_of(bytes);
  to.sectors_fetched += warps * blocks * words * sectors_of(bytes);
}

}  // namespace

AccumulatorWork accumulator_work(const Graph& k, const Node& n) {
  const auto* r = std::get_if<Reduction>(&n.op->kind);
  return {accumulator_bytes(signature(k, n)), r == nullptr ? 1 : merge_instructions(r->monoid)};
}

void count_combine(const AccumulatorWork& a, const KernelForm& form, double warps, KernelCounts& to) {
  count_exchange(a, std::min<int64_t>(form.team, kLanes), warps, to);
  if (form.team <= kLanes) return;
  const double each = warps_of_block(form);
  count_warps_meet(a, form, warps / each, each, to);
}

// Team after team, with a barrier between, through global memory.
void count_put_columns(const AccumulatorWork& a, const KernelForm& form, int64_t columns, KernelCounts& to) {
  const auto team = static_cast<double>(form.team), packet = static_cast<double>(form.packet);
  const auto blocks = static_cast<double>(to.blocks), bytes = static_cast<double>(a.bytes);
  const double warps = warps_of_block(form), turns = static_cast<double>(form.threads) / team;
  const double in_warp = std::max(1.0, kLanes / team), words = words_of(a);  // teams of a warp
  const double slots = cut(static_cast<double>(columns), team * packet);
  const double busy = cut(std::min(static_cast<double>(columns), team * packet), packet * std::min(team, 32.0));
  to.instructions.indices += blocks * warps * turns * 5.5;
  // A team that is a whole block has as many warps as columns ask for; else each warp has its teams' turns.
  const double bodies = team > kLanes ? busy : warps * in_warp;
  const double requests = blocks * bodies * slots * packet * words, again = (turns - 1) / turns;
  to.instructions.memory += requests * (1 + again);
  to.instructions.values += requests * (1 + again) + requests / words * a.merge * again;
  to.instructions.indices += requests;
  const double lanes = std::min({team, static_cast<double>(kLanes), cut(static_cast<double>(columns), packet)});
  const double each = std::min(lanes, sectors_of(lanes * packet * bytes));
  to.sectors_written += requests * each;
  to.sectors_read += requests * again * each;
  to.sectors_fetched += requests * again * each;
  // Of an element is read what the turn before wrote, added to, and written before the next one is read.
  to.dependent_after_last += (turns - 1) * slots * packet;
}

void count_put_total(const AccumulatorWork& a, const KernelForm& form, KernelCounts& to) {
  const auto blocks = static_cast<double>(to.blocks);
  count_exchange(a, kLanes, blocks * warps_of_block(form), to);
  count_warps_meet(a, form, blocks, 1.0 - 1.0 / warps_of_block(form), to);
  to.instructions.memory += blocks;
  to.sectors_written += blocks;
}

void count_arrival(KernelCounts& to) {
  constexpr double kOfWarp = 12, kOfBlock = 8;
  const auto blocks = static_cast<double>(to.blocks), warps = cut(static_cast<double>(to.threads), kLanes);
  to.instructions.indices += blocks * (warps * kOfWarp + kOfBlock);
  to.instructions.memory += blocks + 1;
  count_shared(blocks * (warps + 1), to);
  to.sectors_read += blocks, to.sectors_written += 1;
  to.sectors_fetched += blocks, to.sectors_written += 1;
  to.dependent_after_last += 1;
}

void count_get_columns(const AccumulatorWork& a, int64_t columns, KernelCounts& to) {
  count_get(a, cut(static_cast<double>(columns), kLanes), std::min<int64_t>(columns, kLanes), to);
}

void count_get_total(const AccumulatorWork& a, KernelCounts& to) {
  count_get(a, cut(static_cast<double>(to.threads), kLanes), 1, to);
}

}  // namespace heddle::ir
