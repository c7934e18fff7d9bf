#include "ir/kernel/winograd.h"

#include "ir/check.h"
#include "ir/op_def.h"

namespace heddle::ir {
namespace {

constexpr int64_t kSide = 4;  // of a tile of results
// Flops of a channel's transforms with tiles of 4 x 4: of the 6 x 6 elements that a tile reads, of its results, of a filter.
constexpr double kRead = 228, kMade = 130, kFilter = 128;
// Loads and stores make them slower than that. Measured with AVX-512: 10 ns for a channel of a tile, read or made, and
// 7 ns for a filter, on a core that does 128 GFLOP/s in products.
constexpr double kTileAsProducts = 1280, kFilterAsProducts = 800;

}  // namespace

WinogradWork winograd_work(const Graph& g, const Node& n, int64_t images) {
  const auto& roles = n.op->traits.convolution;
  HEDDLE_CHECK(roles.has_value(), n.op->name + " is no convolution");
  const auto dims = [&](int role) -> const Dims& {
    return g[role == ConvolutionRoles::kMade ? n.results[0] : n.operands[static_cast<size_t>(role)]].type.dims;
  };
  const Dims &made = g[n.results[0]].type.dims, &filter = dims(roles->filter);
  const auto of = [](int64_t x) { return static_cast<double>(x); };
  const auto tiles_along = [](int64_t size) { return (size + kSide - 1) / kSide; };
  const double tiles = of(images * tiles_along(made[1]) * tiles_along(made[2]));
  const double pairs = of(filter.front() * filter.back()), made_channels = of(made.back());
  const double read_channels = pairs / made_channels;
  const double products = 2 * of((kSide + 2) * (kSide + 2)) * pairs * tiles;
  return {
      .flops = products + tiles * (kRead * read_channels + kMade * made_channels) + kFilter * pairs,
      .as_products = products + kTileAsProducts * tiles * (read_channels + made_channels) + kFilterAsProducts * pairs,
      .direct = 2 * 9 * pairs * of(images * made[1] * made[2])};
}

}  // namespace heddle::ir
