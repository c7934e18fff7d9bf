#include "codegen/feed_picture.h"

#include <fmt/format.h>

#include "codegen/c_text.h"
#include "ir/check.h"

namespace heddle::codegen {
namespace {

// The numbers that one row draws for map i.
std::vector<std::string> draw(const FeedMap& map, size_t i, const PictureShape& shape, int64_t first_draw) {
  std::vector<std::string> lines = {
      fmt::format("const hd::Words draw_{0} = hd::fed_draw(cursor, row, {1}, {0});", i, first_draw)};
  const auto shift = [&](const char* name, char word, int64_t most) {
    return fmt::format("const int {0}_{1} = hd::below(draw_{1}.{2}, {3}) - {4};", name, i, word, 2 * most + 1, most);
  };
  const auto corner = [&](const char* name, char word, int64_t side, int64_t hole) {
    return fmt::format("const int {0}_{1} = hd::below(draw_{1}.{2}, {3}) - {4};", name, i, word, side, hole / 2);
  };
  switch (map.op) {
    case PictureOp::none: return {};
    case PictureOp::flip:
      lines.push_back(fmt::format("const bool flip_{0} = hd::unit<float>(draw_{0}.x) < {1};", i,
                                  literal(map.probability, ir::DType::f32)));
      break;
    case PictureOp::crop:
      lines.push_back(shift("down", 'x', map.height));
      lines.push_back(shift("right", 'y', map.width));
      break;
    case PictureOp::cutout:
      lines.push_back(corner("top", 'x', shape.height, map.height));
      lines.push_back(corner("left", 'y', shape.width, map.width));
      break;
  }
  return lines;
}

std::vector<std::string> look_up(const FeedMap& map, size_t i, const PictureShape& shape) {
  switch (map.op) {
    case PictureOp::none: return {};
    case PictureOp::flip: return {fmt::format("px = flip_{} ? {} - px : px;", i, shape.width - 1)};
    case PictureOp::crop:
      return {
          fmt::format("py += down_{0}, px += right_{0};", i),
          fmt::format("const bool out_{} = py < 0 || py >= {} || px < 0 || px >= {};", i, shape.height, shape.width),
          fmt::format("py = out_{0} ? 0 : py, px = out_{0} ? 0 : px;", i)};
    case PictureOp::cutout: break;
  }
  return {
      fmt::format("const bool out_{0} = py >= top_{0} && py < top_{0} + {1} && px >= left_{0} && px < left_{0} + {2};",
                  i, map.height, map.width)};
}

}  // namespace

std::vector<std::string> picture_draws(const std::vector<FeedMap>& maps, const PictureShape& shape,
                                       int64_t first_draw) {
  std::vector<std::string> lines;
  for (size_t i = 0; i < maps.size(); ++i)
    for (std::string& line : draw(maps[i], i, shape, first_draw)) lines.push_back(std::move(line));
  return lines;
}

std::vector<std::string> picture_place(const std::vector<FeedMap>& maps, const PictureShape& s,
                                       const std::string& index_type, const std::string& at) {
  std::vector<std::string> lines = {fmt::format("const {} e = {};", index_type, at)};
  if (s.channels_first) {
    lines.push_back(fmt::format("int py = (int)(e / {} % {}), px = (int)(e % {});", s.width, s.height, s.width));
  } else {
    lines.push_back(
        fmt::format("int py = (int)(e / {}), px = (int)(e / {} % {});", s.width * s.channels, s.channels, s.width));
  }
  for (size_t i = maps.size(); i-- > 0;)
    for (std::string& line : look_up(maps[i], i, s)) lines.push_back(std::move(line));
  lines.push_back(s.channels_first ? fmt::format("const {0} place = e / {1} * {1} + ({0})py * {2} + px;", index_type,
                                                 s.height * s.width, s.width)
                                   : fmt::format("const {0} place = (({0})py * {1} + px) * {2} + e % {2};", index_type,
                                                 s.width, s.channels));
  return lines;
}

}  // namespace heddle::codegen
