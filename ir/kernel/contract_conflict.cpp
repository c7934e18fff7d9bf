#include <fmt/format.h>

#include "ir/kernel/plan_contract.h"

namespace heddle::ir {

ThreadTile thread_tile(const Dims& tile, int64_t threads) {
  constexpr int64_t kLong = 8, kShort = 4;
  const int64_t sums = tile[0] * tile[1] / std::max<int64_t>(threads, 1);
  const int64_t columns = sums >= kLong * kLong ? kLong : kShort;
  return {sums / columns, columns};
}

namespace {

// Warps of the tensor cores take 32 rows each, and eight columns or more; tiles of what is summed up by fma go to the
// threads in whole packets of four rows and columns.
std::string shape_conflict(const schedules::Product& schedule, const ContractPlan& plan) {
  const int64_t rows = schedule.tile[0], columns = schedule.tile[1], depth = schedule.tile[2];
  if (plan.tensor_cores) {
    constexpr int64_t kWarp = 32, kWarpRows = 32, kWarpColumns = 8, kDeep = 16;
    const int64_t down = rows / kWarpRows, warps = schedule.threads / kWarp;
    const bool fits = rows % kWarpRows == 0 && depth % kDeep == 0 && schedule.threads % kWarp == 0 && down > 0 &&
                      warps % down == 0 && columns % (warps / down * kWarpColumns) == 0;
    return fits ? "" : "warps take 32 rows and whole packets of 8 columns, 16 deep: tile or threads do not allow it";
  }
  constexpr int64_t kPacket = 4;
  const ThreadTile mine = thread_tile(schedule.tile, schedule.threads);
  const bool fits = mine.rows > 0 && mine.rows % kPacket == 0 && rows % mine.rows == 0 && columns % mine.columns == 0 &&
                    rows / mine.rows * (columns / mine.columns) == schedule.threads && depth % kPacket == 0;
  return fits ? "" : "threads take whole packets of 4 rows and columns, 4 deep: tile or threads do not allow it";
}

// A thread's neighbouring columns: two of a tensor core's result; four where the right tile lies along its columns.
std::string packet_conflict(const schedules::Product& schedule, const ContractPlan& plan) {
  if (schedule.vector_width == 1) return {};
  const int64_t most = plan.tensor_cores ? 2 : plan.right.along_k ? 1 : 4;
  const Coefficient column = coefficient(plan.point, kColumn);
  const bool packs = schedule.vector_width <= most && most % schedule.vector_width == 0 &&
                     plan.space[kColumn] % schedule.vector_width == 0;
  if (packs && column.affine && column.value == 1) return {};
  return fmt::format("vector_width is {}, but a thread has {} neighbouring columns of the result",
                     schedule.vector_width, column.affine && column.value == 1 ? most : 1);
}

}  // namespace

std::string contract_conflict(const schedules::Product& schedule, const ContractPlan& plan) {
  constexpr int64_t kMostSums = 128;
  if (std::string reason = shape_conflict(schedule, plan); !reason.empty()) return reason;
  if (schedule.tile[0] * schedule.tile[1] > kMostSums * schedule.threads)
    return fmt::format("{} sums are more than the registers of {} threads hold", schedule.tile[0] * schedule.tile[1],
                       schedule.threads);
  if (schedule.stages < 2) return "stages is 1: one step is copied while another is multiplied";
  if (plan.shared_bytes > kMostSharedBytes)
    return fmt::format("tiles take {} bytes of shared memory, of {}", plan.shared_bytes, kMostSharedBytes);
  const int64_t all = (plan.space[kDepth] + schedule.tile[2] - 1) / schedule.tile[2];
  if (schedule.split_k > 1 && (schedule.split_k - 1) * plan.steps >= all)
    return fmt::format("split_k is {}, but {} steps of {} leave the last without one", schedule.split_k, all,
                       schedule.tile[2]);
  if (schedule.precision == ProductPrecision::tf32 && plan.multiplied != DType::f32)
    return "precision is that of products of f32";
  return packet_conflict(schedule, plan);
}

}  // namespace heddle::ir
