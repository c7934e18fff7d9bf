#include "ir/kernel/count/product_layout.h"

#include <algorithm>

#include "ir/ceil_div.h"
#include "ir/kernel/count/warp_points.h"

namespace heddle::ir {
namespace {

// Some tiles, and how many each stands for: a last one that is not whole stands for itself.
std::vector<std::pair<int64_t, double>> some_tiles(int64_t extent, int64_t length) {
  constexpr int64_t kTiles = 2;
  const int64_t whole = extent / length;
  const std::vector<int64_t> some = some_of(whole, kTiles);
  std::vector<std::pair<int64_t, double>> tiles;
  tiles.reserve(some.size() + 1);
  for (const int64_t tile : some)
    tiles.emplace_back(tile, static_cast<double>(whole) / static_cast<double>(some.size()));
  if (extent % length != 0) tiles.emplace_back(whole, 1);
  return tiles;
}

}  // namespace

int64_t tile_pitch(bool along_k, int64_t length, int64_t depth, int64_t element_bytes) {
  constexpr int64_t kAcross = 8, kAlignment = 16;
  return along_k ? depth + kAlignment / element_bytes : length + kAcross;
}

int64_t ProductLayout::bytes() const { return bits(plan_.multiplied) / 8; }

int64_t ProductLayout::byte_at(const ProductSide& s, int64_t row, int64_t k) const {
  const int64_t pitch = tile_pitch(s.along_k, length(s), schedule_.tile[2], bytes());
  return (s.along_k ? row * pitch + k : k * pitch + row) * bytes();
}

// Threads that share a line of packets; 0 where it does not come out even.
int64_t ProductLayout::lanes(const ProductSide& s) const {
  constexpr int64_t kPiece = 64;
  const int64_t width = std::max<int64_t>(s.packet, 1), all = (s.along_k ? schedule_.tile[2] : length(s)) / width;
  const int64_t slow = s.along_k ? length(s) : schedule_.tile[2], threads = schedule_.threads;
  const auto even = [&](int64_t n) { return threads % n == 0 && threads / n <= slow && slow % (threads / n) == 0; };
  if (s.along_k) return threads % all == 0 && slow % (threads / all) == 0 ? all : 0;
  for (int64_t n = kPiece / (bytes() * width); n <= all; ++n)
    if (all % n == 0 && even(n)) return n;
  return 0;
}

int64_t ProductLayout::sharing_k(const ProductSide& s) const {
  const int64_t width = std::max<int64_t>(s.packet, 1), n = lanes(s);
  if (n == 0) return 1;
  return s.along_k ? ceil_div(length(s) * schedule_.tile[2], width * schedule_.threads) : length(s) / width / n;
}

int64_t ProductLayout::sharing_row(const ProductSide& s) const {
  const int64_t width = std::max<int64_t>(s.packet, 1), n = lanes(s);
  if (n == 0 || s.along_k) return 1;
  return std::max<int64_t>(
      1, ceil_div(length(s) * schedule_.tile[2], width * schedule_.threads) / (length(s) / width / n));
}

ProductLayout::Place ProductLayout::packet_at(const ProductSide& s, int64_t n, int64_t packet) const {
  const int64_t width = std::max<int64_t>(s.packet, 1), fast = (s.along_k ? schedule_.tile[2] : length(s)) / width;
  const int64_t slot = packet / schedule_.threads, thread = packet % schedule_.threads;
  int64_t neighbour = packet % fast, line = packet / fast;
  if (n > 0) {
    const int64_t turns = fast / n;
    neighbour = thread % n + slot % turns * n;
    line = thread / n + slot / turns * (schedule_.threads / n);
  }
  return s.along_k ? Place{line, neighbour * width} : Place{neighbour * width, line};
}

// --- filling ---

std::vector<WarpPoint> ProductLayout::fill_points(const ProductSide& s) const {
  constexpr int64_t kSteps = 4, kPackets = 8;
  const int64_t width = std::max<int64_t>(s.packet, 1), warps = ceil_div(length(s) * schedule_.tile[2] / width, kLanes);
  const int axis = left(s) ? kRow : kColumn;
  const int64_t extent = plan_.space[static_cast<size_t>(axis)], depth = plan_.space[kDepth];
  const int64_t packets = extent < length(s) ? warps : kPackets;  // of few rows most packets lie outside
  const int64_t all = length(s) * schedule_.tile[2] / width, n = lanes(s);
  std::vector<WarpPoint> points;
  for (const auto& [tile, weight] : some_tiles(extent, length(s)))
    for (const int64_t step : some_of(ceil_div(depth, schedule_.tile[2]), kSteps))
      for (const int64_t warp : some_of(warps, packets)) {
        WarpPoint p;
        p.weight = weight;
        p.coordinates.resize(kDepth + 1, LaneNumbers{});
        for (int64_t l = 0; l < kLanes; ++l) {
          const Place at = packet_at(s, n, warp * kLanes + l);
          const int64_t row = tile * length(s) + at.row, k = step * schedule_.tile[2] + at.column;
          const auto lane = static_cast<size_t>(l);
          p.coordinates[static_cast<size_t>(axis)][lane] = row;
          p.coordinates[kDepth][lane] = k;
          if (row >= extent || k >= depth || warp * kLanes + l >= all) p.active &= ~(1U << l);
        }
        points.push_back(std::move(p));
      }
  return points;
}

double ProductLayout::fill_sectors(const std::vector<WarpPoint>& points, const ProductSide& s, const IndexExpr& linear,
                                   int64_t bytes) {
  double sum = 0, count = 0;
  for (const WarpPoint& p : points) {
    const uint32_t lanes = lanes_inside(s.memory_at.guards, p);
    if (lanes != 0) sum += p.weight * sectors(evaluate(linear, p.coordinates), lanes, bytes);
    count += p.weight;
  }
  return sum / count;
}

Wavefronts ProductLayout::fill_wavefronts(const ProductSide& s) const {
  const int64_t width = std::max<int64_t>(s.packet, 1);
  const int64_t n = lanes(s);
  LaneNumbers at{};
  uint32_t active = 0;
  for (int64_t l = 0; l < kLanes; ++l) {
    const Place place = packet_at(s, n, l);
    at[static_cast<size_t>(l)] = byte_at(s, place.row, place.column);
    if (l < length(s) * schedule_.tile[2] / width) active |= 1U << l;
  }
  return wavefronts(at, active, width * bytes());
}

// --- multiplying ---

ProductLayout::Sums ProductLayout::sums() const {
  constexpr int64_t kWarpRows = 32, kTensorRows = 4;
  if (plan_.tensor_cores) {
    const int64_t across = schedule_.threads / kLanes / (schedule_.tile[0] / kWarpRows);
    return {kTensorRows, schedule_.tile[1] / across / kTensorRows};
  }
  const ThreadTile mine = thread_tile(schedule_.tile, schedule_.threads);
  return {mine.rows, mine.columns};
}

// hd::FmaSums::x and y.
ProductLayout::Place ProductLayout::thread_at(int64_t thread) const {
  const Sums mine = sums();
  const int64_t across = schedule_.tile[1] / mine.columns, down = schedule_.tile[0] / mine.rows;
  const bool square = across % 8 == 0 && down % 4 == 0;
  if (!square) return {thread / across, thread % across};
  return {thread / 32 / (across / 8) * 4 + thread / 8 % 4, thread / 32 % (across / 8) * 8 + thread % 8};
}

int64_t ProductLayout::fma_place(const ProductSide& s, int64_t mine, int64_t i) const {
  const Sums each = sums();
  const int64_t threads = left(s) ? schedule_.tile[0] / each.rows : schedule_.tile[1] / each.columns;
  return s.along_k ? i * threads + mine : i / 4 * 4 * threads + mine * 4 + i % 4;
}

ProductLayout::Place ProductLayout::sum_at(int64_t thread, int64_t i, int64_t j) const {
  if (!plan_.tensor_cores) {
    const Place mine = thread_at(thread);
    return {fma_place(plan_.left, mine.row, i), fma_place(plan_.right, mine.column, j)};
  }
  const int64_t across = schedule_.threads / kLanes / (schedule_.tile[0] / kLanes), warp = thread / kLanes,
                lane = thread % kLanes;
  return {warp / across * kLanes + i * 8 + lane / 4,
          warp % across * (schedule_.tile[1] / across) + j / 2 * 8 + lane % 4 * 2 + j % 2};
}

// Four steps of k at once: packets of four along k, or of four rows for each k.
void ProductLayout::read(const ProductSide& s, int64_t warp, Step& to) const {
  constexpr int64_t kTogether = 4, kPacketBytes = 16;
  const Sums mine = used();
  const int64_t count = left(s) ? mine.rows : mine.columns;
  for (int64_t i = 0; i < count; ++i) {
    LaneNumbers at{};
    for (int64_t l = 0; l < kLanes; ++l) {
      const Place place = thread_at(warp * kLanes + l);
      const int64_t me = left(s) ? place.row : place.column;
      const int64_t row = fma_place(s, me, s.along_k ? i : i / kTogether * kTogether);
      at[static_cast<size_t>(l)] = byte_at(s, row, s.along_k ? 0 : i % kTogether);
    }
    const Wavefronts w = wavefronts(at, 0xffffffffU, kPacketBytes);
    to.wavefronts.all += w.all;
    to.wavefronts.ideal += w.ideal;
  }
}

ProductLayout::Step ProductLayout::fma_step() const {
  constexpr int64_t kTogether = 4;
  Step step;
  const Sums mine = used();
  const double turns = static_cast<double>(schedule_.tile[2]) / kTogether;
  for (int64_t warp = 0; warp < schedule_.threads / kLanes; ++warp) {
    read(plan_.left, warp, step);
    read(plan_.right, warp, step);
  }
  step.wavefronts.all *= turns, step.wavefronts.ideal *= turns;
  step.products = static_cast<double>(mine.rows * mine.columns * schedule_.tile[2]);
  step.loads = static_cast<double>(mine.rows + mine.columns) * turns;
  return step;
}

// mma.sync of 16 x 8, 8 (TF32) or 16 deep. Of 16 bits ldmatrix gives a fragment; of TF32 each element is rounded.
ProductLayout::Step ProductLayout::tensor_step() const {
  Step step;
  const Sums mine = sums();
  const bool narrow = bytes() == 2;
  const double turns = static_cast<double>(schedule_.tile[2]) / (narrow ? 16 : 8);
  const double down = static_cast<double>(mine.rows) / 2, across = static_cast<double>(mine.columns) / 2;
  const auto warps = static_cast<double>(schedule_.threads) / kLanes;
  const double words = down * 4 + across * 2;  // of the fragments
  step.products = turns * (down * across + (narrow ? 0 : words));
  step.loads = turns * (narrow ? down + across : words);
  step.wavefronts.all = step.wavefronts.ideal = turns * words * warps;
  return step;
}

ProductLayout::Step ProductLayout::step() const { return plan_.tensor_cores ? tensor_step() : fma_step(); }

// --- storing ---

WarpPoint ProductLayout::result_point(int64_t tile, int64_t warp, int64_t sum) const {
  const int64_t rows = plan_.space[kRow], columns = plan_.space[kColumn],
                packets = sums().columns / schedule_.vector_width;
  const int64_t across = ceil_div(columns, schedule_.tile[1]);
  WarpPoint p;
  p.coordinates.resize(kDepth + 1, LaneNumbers{});
  for (int64_t l = 0; l < kLanes; ++l) {
    const Place at = sum_at(warp * kLanes + l, sum / packets, sum % packets * schedule_.vector_width);
    const int64_t row = tile / across * schedule_.tile[0] + at.row,
                  column = tile % across * schedule_.tile[1] + at.column;
    const auto lane = static_cast<size_t>(l);
    p.coordinates[kRow][lane] = row, p.coordinates[kColumn][lane] = column;
    if (row >= rows || column >= columns) p.active &= ~(1U << l);
  }
  return p;
}

// Of a tile that is larger than the result some sums of some warps may all lie outside: then all of all warps.
std::vector<WarpPoint> ProductLayout::result_points() const {
  constexpr int64_t kTiles = 4, kWarps = 2, kSums = 4;
  const int64_t tiles =
      ceil_div(plan_.space[kColumn], schedule_.tile[1]) * ceil_div(plan_.space[kRow], schedule_.tile[0]);
  const int64_t warps = schedule_.threads / kLanes, all = sums().rows * (sums().columns / schedule_.vector_width);
  std::vector<WarpPoint> points;
  for (const auto& [some_warps, some_sums] : {std::pair(kWarps, kSums), std::pair(warps, all)})
    if (points.empty())
      for (const int64_t tile : some_of(tiles, kTiles))
        for (const int64_t warp : some_of(warps, some_warps))
          for (const int64_t sum : some_of(all, some_sums))
            if (WarpPoint p = result_point(tile, warp, sum); p.active != 0) points.push_back(std::move(p));
  return points;
}

bool ProductLayout::reaches(int axis, int64_t first_thread, int64_t threads, int64_t i, int64_t end) const {
  for (int64_t t = first_thread; t < first_thread + threads; ++t) {
    const Place at = axis == kRow ? sum_at(t, i, 0) : sum_at(t, 0, i);
    if ((axis == kRow ? at.row : at.column) < end) return true;
  }
  return false;
}

double ProductLayout::inside(int axis) const {
  const int64_t extent = plan_.space[static_cast<size_t>(axis)], tile = schedule_.tile[axis == kRow ? 0 : 1];
  const int64_t rest = extent % tile, width = axis == kRow ? 1 : schedule_.vector_width;
  if (rest == 0) return 1;
  const int64_t count = axis == kRow ? sums().rows : sums().columns;
  double reached = 0, all = 0;
  for (int64_t thread = 0; thread < schedule_.threads; thread += kLanes)
    for (int64_t i = 0; i < count; i += width, all += 1)
      if (reaches(axis, thread, kLanes, i, rest)) reached += 1;
  const auto tiles = static_cast<double>(ceil_div(extent, tile));
  return (tiles - 1 + reached / all) / tiles;
}

ProductLayout::Sums ProductLayout::used() const {
  Sums used = sums();
  if (plan_.tensor_cores || schedule_.split_k > 1) return used;
  while (!reaches(kRow, 0, schedule_.threads, used.rows - 1, plan_.space[kRow])) --used.rows;
  while (!reaches(kColumn, 0, schedule_.threads, used.columns - 1, plan_.space[kColumn])) --used.columns;
  return used;
}

}  // namespace heddle::ir
