#include <fmt/format.h>

#include "codegen/emit_forms.h"

namespace heddle::codegen {

using namespace ir;  // NOLINT: this file speaks of little else

namespace {

constexpr size_t kPoint = kMatrix + 1;  // coordinates that are known inside the loops over a tile

class TileText {
 public:
  explicit TileText(KernelText& text) : text_(text), k_(text.kernel), body_(text) {
    const Dims& space = text_.tile.space;
    sizes_ = fmt::format("{}, {}", space[kRow], space[kColumn]);
    for (const Staged& s : text_.tile.staged) tiles_.push_back(text_.names.fresh(k_[s.value].name + "_tile"));
  }

  std::vector<std::string> lines() {
    std::vector<std::string> tile = fill();
    ask_for_results(tile);
    for (const std::string& name : tiles_)
      tile.push_back(
          fmt::format("{}.turn({} - top, {} - left);", name, text_.tile.space[kRow], text_.tile.space[kColumn]));
    tile.emplace_back("hd::barrier();");
    const std::vector<std::string> used = use();
    tile.insert(tile.end(), used.begin(), used.end());
    for (size_t i = 0; i < tiles_.size(); ++i)
      body_.line(fmt::format("HD_TILE({}, {}, {});", array_type(k_[text_.tile.staged[i].value].type.dtype), tiles_[i],
                             text_.tile.staged[i].first_byte));
    const std::string head =
        fmt::format("HD_TILES({}, matrix, top, left, {}, {})", text_.index_type, text_.tile.space[kMatrix], sizes_);
    body_.lines(block(head, tile));
    return body_.close();
  }

 private:
  std::vector<std::string> loop(const char* name) {
    return block(fmt::format("{}({}, row, column, top, left, {})", name, text_.index_type, sizes_), body_.close());
  }

  std::vector<std::string> fill() {
    body_.open(kPoint);
    for (size_t i = 0; i < tiles_.size(); ++i) {
      const Staged& s = text_.tile.staged[i];
      body_.line(fmt::format("{}.put(row - top, column - left, {});", tiles_[i], body_.value(s.value, s.at).text));
    }
    return loop("HD_DOWN");
  }

  // The rows of the results lie far apart: what fetches ahead along memory does not foresee them. Asked for while the
  // tile is turned, they are there in time; arrays beyond the second-level cache take 0.4 to 0.9 of the time.
  void ask_for_results(std::vector<std::string>& tile) const {
    const Dims& space = text_.tile.space;
    const std::vector<std::string> names = {"row", "left", "matrix"};
    for (const ValueId v : k_.outputs) {
      const Dims& dims = k_[v].type.dims;
      const IndexExpr linear = linear_offset(access_at(space, text_.tile.point, dims), dims);
      for (const std::string& pointer : text_.outputs.at(v))
        tile.push_back(fmt::format("HD_AHEAD({}, row, top, {}) hd::ahead({} + ({}), {} - left);", text_.index_type,
                                   space[kRow], pointer, index_text(linear, space, names), space[kColumn]));
    }
  }

  std::vector<std::string> use() {
    body_.open(kPoint);
    for (size_t i = 0; i < tiles_.size(); ++i) {
      const Staged& s = text_.tile.staged[i];
      body_.take(s.value, s.at, fmt::format("{}.get(row - top, column - left)", tiles_[i]));
    }
    for (const ValueId v : k_.outputs) body_.store(v, Extent::full);
    body_.lines(body_.take_stores());
    return loop("HD_ALONG");
  }

  KernelText& text_;
  const Graph& k_;
  Body body_;
  std::string sizes_;  // "96, 64": rows and columns
  std::vector<std::string> tiles_;
};

}  // namespace

std::vector<std::string> emit_tile(KernelText& text) { return TileText(text).lines(); }

}  // namespace heddle::codegen
