// Yun et al. 2019, "CutMix: Regularization Strategy to Train Strong Classifiers with Localizable Features",
// arXiv:1905.04899; the rectangle is that of torchvision's CutMix.
#include <fmt/format.h>

#include "ir/map_samples.h"

namespace heddle::ir {
namespace {

// A rectangle of the share 1 - m of the area, m of beta(alpha, alpha). Its middle is any pixel, so the border may cut it:
// what a label keeps is the share of the pixels that stay.
std::vector<std::string> draw(const MapText& t) {
  const int64_t height = t.map.integer("size", 0), width = t.map.integer("size", 1);
  const std::string& n = t.name;
  std::vector<std::string> lines = draw_beta(t, "keep");
  lines.push_back(fmt::format("const float reach_{0} = 0.5f * hd::sqrt(1.0f - keep_{0});", n));
  const auto side = [&](const char* low, const char* high, char word, int64_t whole) {
    lines.push_back(fmt::format("const int half_{0}_{1} = (int)(reach_{1} * {2}.0f), middle_{0}_{1} = "
                                "hd::below(draw_{1}.{3}, {2});",
                                low, n, whole, word));
    lines.push_back(fmt::format("const int {0}_{1} = middle_{0}_{1} > half_{0}_{1} ? middle_{0}_{1} - half_{0}_{1} : 0;",
                                low, n));
    lines.push_back(fmt::format("const int {0}_{1} = middle_{2}_{1} + half_{2}_{1} < {3} ? middle_{2}_{1} + "
                                "half_{2}_{1} : {3};",
                                high, n, low, whole));
  };
  side("top", "bottom", 'z', height);
  side("left", "right", 'w', width);
  if (!t.row.picture())
    lines.push_back(fmt::format("const float stay_{0} = 1.0f - (float)(bottom_{0} - top_{0}) * (float)(right_{0} - "
                                "left_{0}) / {1}.0f;",
                                n, height * width));
  return lines;
}

std::vector<std::string> place(const MapText& t) {
  if (!t.row.picture()) return {};
  return {fmt::format("const bool cut_{0} = {1} >= top_{0} && {1} < bottom_{0} && {2} >= left_{0} && {2} < right_{0};",
                      t.name, t.y, t.x)};
}

std::vector<std::string> value(const MapText& t) {
  if (t.row.picture()) return {fmt::format("{0} = cut_{1} ? other : {0};", t.x, t.name)};
  return {fmt::format("{0} = ({1})stay_{2} * {0} + ({1})(1.0f - stay_{2}) * other;", t.x, t.type, t.name)};
}

std::string fault(const DataMap& map, const MapRow& row) {
  const int64_t height = map.integer("size", 0), width = map.integer("size", 1);
  if (row.picture()) {
    if (height == row.height() && width == row.width()) return {};
    return fmt::format("'size' is {} x {}, the pictures are {} x {}", height, width, row.height(), row.width());
  }
  if (row.dtype == DType::f32 || row.dtype == DType::f64) return {};
  return fmt::format("a label is mixed in f32 or f64, behind one_hot, not in {}", to_string(row.dtype));
}

const RegisterMap cutmix({
    .name = "cutmix",
    .doc =
        "a rectangle of the picture is that of the row before it in the batch, of the first that of the last; a label is "
        "the mean of both rows', each as much as its pixels. m, drawn from beta(`alpha`, `alpha`), is what stays where "
        "the border cuts nothing. `size` is that of the pictures, for their labels too",
    .keys = {{.name = "alpha",
              .type = KeyType::real,
              .doc = "of the beta distribution",
              .fallback = 1.0,
              .range = between(1e-3, 1e3)},
             {.name = "size",
              .type = KeyType::sides,
              .doc = "of the pictures",
              .required = true,
              .range = between(1, 1 << 20)}},
    .training = true,
    .integers = true,
    .mixes = true,
    .fault = fault,
    .draw = draw,
    .place = place,
    .value = value,
});

}  // namespace
}  // namespace heddle::ir
