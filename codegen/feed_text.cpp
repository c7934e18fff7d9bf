#include "codegen/feed_text.h"

#include <fmt/ranges.h>

#include <algorithm>
#include <cmath>
#include <limits>

#include "ir/check.h"
#include "ir/map_samples.h"

namespace heddle::codegen {

using namespace ir;  // NOLINT: this file speaks of little else

namespace {

constexpr int kMixDraw = 63;  // number of the draw for mixing: all mixed inputs share it, and no list has so many maps

bool is_real(DType t) { return t == DType::f32 || t == DType::f64; }

// The largest magnitude that an element may have after the maps; infinity if there is no bound.
double largest_magnitude_of(const FedColumn& spec) {
  if (is_real(spec.stored) && spec.classes == 0) return std::numeric_limits<double>::infinity();
  double largest = spec.classes > 0 ? 1 : std::ldexp(1.0, static_cast<int>(bits(spec.stored)));
  for (const DataMap& map : spec.maps)
    if (map.def->largest) largest = map.def->largest(map, largest);
  return largest;
}

double largest_of(DType t) {
  return t == DType::f32 ? static_cast<double>(std::numeric_limits<float>::max()) : std::numeric_limits<double>::max();
}

void append(std::vector<std::string>& to, const std::vector<std::string>& more) {
  to.insert(to.end(), more.begin(), more.end());
}

}  // namespace

const FeedText::Source FeedText::kOwn = {
    .suffix = "", .row = "row", .from = "from", .x = "px", .y = "py", .value = "x", .place = "place"};
const FeedText::Source FeedText::kOther = {.suffix = "_other",
                                           .row = "other_row",
                                           .from = "from_other",
                                           .x = "px_other",
                                           .y = "py_other",
                                           .value = "other",
                                           .place = "place_other"};

FeedText::FeedText(const FedInput& fed, FedPointers pointers, const std::string& symbol, Names& names)
    : fed_(fed),
      spec_(fed.column),
      pointers_(std::move(pointers)),
      active_(fed.active()),
      rows_behind_(rows_behind(fed.column.maps, fed.row())),
      row_(fed.row()),
      symbol_(symbol),
      names_(names),
      dtype_(fed.type.dtype),
      elements_(fed.elements()),
      threads_(threads_of(fed)) {}

// The stored picture may be larger than the input's.
std::string FeedText::index_type() const {
  return std::max(elements_, fed_.stored_elements()) < (int64_t{1} << 30) ? "int" : "hd::i64";
}

size_t FeedText::mixing() const {
  const auto it = std::ranges::find_if(active_, [&](size_t i) { return spec_.maps[i].def->mixes; });
  return static_cast<size_t>(it - active_.begin());
}

MapText FeedText::text_of(size_t i, const Source& source, bool value) {
  const DataMap& map = spec_.maps[i];
  return {.map = map,
          .row = rows_behind_[i],
          .name = std::to_string(i) + source.suffix,
          .draw = fmt::format("hd::fed_draw({}, {}, {}, {})", pointers_.cursor, source.row, fed_.first_draw,
                              map.def->mixes ? kMixDraw : static_cast<int>(i)),
          .draw_element = fmt::format("hd::fed_draw_element({}, {}, {}, column + k, {})", pointers_.cursor, source.row,
                                      fed_.first_draw, fed_.elements_of_whole_row()),
          .x = value ? source.value : source.x,
          .y = source.y,
          .type = compute_type(dtype_),
          .literal = [this](double v) { return literal(v, dtype_); },
          .each = [this](const std::vector<double>& values) { return number(values); }};
}

// The lines that find the row's address and draw its random words.
std::vector<std::string> FeedText::source_lines(const Source& source) const {
  return {fmt::format("const auto* {0} = hd::fed_column<{1}>({2}, {3}) + hd::fed_row({2}, {4}) * {5};", source.from,
                      storage_type(spec_.stored), pointers_.cursor, fed_.number, source.row, fed_.stride())};
}

std::vector<std::string> FeedText::lines() {
  const std::string type = storage_type(dtype_);
  const size_t mixing_at = mixing();
  std::vector<std::string> row = source_lines(kOwn);
  row.push_back(fmt::format("{}* to = {} + (hd::i64)row * {};", type, pointers_.input, elements_));
  if (mixing_at < active_.size()) {
    row.push_back(fmt::format("const int other_row = row == 0 ? {} : row - 1;", fed_.rows() - 1));
    append(row, source_lines(kOther));
  }
  append(row, samples() ? pixel_lines() : draw_lines());
  const bool checked = is_real(dtype_) && !(largest_magnitude_of(spec_) < largest_of(dtype_));
  if (checked) row.emplace_back("int wrong = 0;");
  const std::string columns =
      fmt::format("HD_COLUMNS({}, column, slot, {}, {}, {})", index_type(), elements_, threads_.team, threads_.packet);
  append(row, block(columns, packet_lines(type, checked)));
  if (checked) append(row, block("if (wrong)", block(columns, {fault_line()})));
  std::vector<std::string> all = {fmt::format("// {}: {}[{}] -> {}", comment_text(spec_.input), to_string(spec_.stored),
                                              fed_.stored_elements(), to_string(fed_.type))};
  append(all, block(fmt::format("HD_ROWS(int, row, {}, {})", fed_.rows(), threads_.team), row));
  return all;
}

std::vector<std::string> FeedText::draw_lines() {
  std::vector<std::string> lines;
  const size_t mixing_at = mixing();
  for (size_t a = 0; a < active_.size(); ++a) {
    const MapDef& def = *spec_.maps[active_[a]].def;
    if (!def.draw) continue;
    append(lines, def.draw(text_of(active_[a], kOwn, false)));
    if (mixing_at < active_.size() && a < mixing_at) append(lines, def.draw(text_of(active_[a], kOther, false)));
  }
  return lines;
}

// --- maps that compute an element from several elements ---

// Whether the maps are printed as functions (ir/map_samples.h). That is also needed if maps move pictures of two axes
// and have a number per column: the number is that of the column before the move.
bool FeedText::samples() const {
  const bool of_columns = row_.dims.size() == 2 && fed_.moves();
  return std::ranges::any_of(active_, [&](size_t i) {
    const DataMap& map = spec_.maps[i];
    if (find_sample(*map.def) != nullptr) return true;
    return of_columns && std::ranges::any_of(map.def->keys, [&](const Key& key) {
             return key.count == Count::several && map.has(key.name) && map.all(key.name).size() > 1;
           });
  });
}

FeedText::Pixels FeedText::stored_pixels(const Source& source) const {
  const MapRow stored = stored_row(spec_.maps, row_);
  const int64_t h = stored.height(), w = stored.width(), c = row_.dims.size() == 2 ? 1 : row_.channels();
  const std::string index = index_type();
  Pixels pixels{.name = "pixel_file" + source.suffix, .lines = {}};
  const std::string place = row_.channels_first ? fmt::format("(({}){} * {} + py) * {} + px", index, "c", h, w)
                                                : fmt::format("(({})py * {} + px) * {} + c", index, w, c);
  pixels.lines = {fmt::format("const auto {} = [&](int py, int px, int c) {{ return ({}){}[{}]; }};", pixels.name,
                              compute_type(dtype_), source.from, place)};
  return pixels;
}

// Applies map i of the list to `pixels`.
void FeedText::add_map(Pixels& pixels, size_t i, const Source& source) {
  const DataMap& map = spec_.maps[i];
  const SampleDef* sample = find_sample(*map.def);
  MapText text = text_of(i, source, false);
  const std::string name = "pixel_" + text.name;
  std::vector<std::string> body;
  if (sample != nullptr) {
    const SampleText asked{.map = map,
                           .row = text.row,
                           .name = text.name,
                           .draw = text.draw,
                           .before = pixels.name,
                           .type = text.type,
                           .team = threads_.team,
                           .literal = text.literal};
    append(pixels.lines, sample->draw(asked));
    body = {fmt::format("return {};", sample->pixel(asked))};
  } else {
    if (map.def->draw) append(pixels.lines, map.def->draw(text));
    text.x = "px", text.y = "py";
    if (row_.dims.size() == 2) body.emplace_back("c = px;");  // the index of numbers along the last axis
    if (map.def->place) append(body, map.def->place(text));
    body.push_back(fmt::format("{} x = {}(py, px, {});", text.type, pixels.name, row_.dims.size() == 2 ? "0" : "c"));
    text.x = "x";
    if (map.def->value) append(body, map.def->value(text));
    body.emplace_back("return x;");
  }
  append(pixels.lines, block(fmt::format("const auto {} = [&](int py, int px, int c)", name), body));
  pixels.lines.back() += ";";
  pixels.name = name;
}

std::vector<std::string> FeedText::pixel_lines() {
  const size_t mixing_at = mixing();
  Pixels own = stored_pixels(kOwn);
  for (size_t a = 0; a < mixing_at; ++a) add_map(own, active_[a], kOwn);
  if (mixing_at < active_.size()) {
    Pixels other = stored_pixels(kOther);
    for (size_t a = 0; a < mixing_at; ++a) add_map(other, active_[a], kOther);
    append(own.lines, other.lines);
    const MapText text = text_of(active_[mixing_at], kOwn, true);
    const MapDef& def = *text.map.def;
    if (def.draw) append(own.lines, def.draw(text));
    std::vector<std::string> body = {fmt::format("{} x = {}(py, px, c);", text.type, own.name),
                                     fmt::format("const {} other = {}(py, px, c);", text.type, other.name)};
    append(body, def.value(text));
    body.emplace_back("return x;");
    append(own.lines, block("const auto pixel_mixed = [&](int py, int px, int c)", body));
    own.lines.back() += ";";
    own.name = "pixel_mixed";
    for (size_t a = mixing_at + 1; a < active_.size(); ++a) add_map(own, active_[a], kOwn);
  }
  pixels_ = own.name;
  return own.lines;
}

std::vector<std::string> FeedText::packet_lines(const std::string& type, bool checked) {
  std::vector<std::string> element = element_lines();
  if (checked) element.emplace_back("wrong |= hd::not_finite(x);");
  element.emplace_back("result[k] = x;");
  std::vector<std::string> lines;
  if (packed()) {
    lines.push_back(fmt::format("const auto packet = hd::load<{}>(from + column);", threads_.packet));
    if (mixing() < active_.size())
      lines.push_back(fmt::format("const auto packet_other = hd::load<{}>(from_other + column);", threads_.packet));
  }
  lines.push_back(fmt::format("hd::Packet<{}, {}> result;", type, threads_.packet));
  append(lines, block(fmt::format("HD_EACH(k, {})", threads_.packet), element));
  lines.emplace_back("hd::store(to + column, result);");
  return lines;
}

std::vector<std::string> FeedText::element_lines() {
  const size_t mixing_at = mixing(), n = active_.size();
  const bool mixed = mixing_at < n;
  std::vector<std::string> lines;
  const auto look_up = [&](size_t a, const Source& source) {
    const MapDef& def = *spec_.maps[active_[a]].def;
    if (def.place) append(lines, def.place(text_of(active_[a], source, false)));
  };
  const auto change = [&](size_t a, const Source& source) {
    const MapDef& def = *spec_.maps[active_[a]].def;
    if (def.value) append(lines, def.value(text_of(active_[a], source, true)));
  };
  if (samples()) {
    append(lines, first_place());
    const int64_t plane = row_.height() * row_.width();
    const std::string channel = row_.dims.size() == 2 ? "0"
                                : row_.channels_first ? fmt::format("(int)(e / {})", plane)
                                                      : fmt::format("(int)(e % {})", row_.channels());
    lines.push_back(fmt::format("{} x = {}(py, px, {});", compute_type(dtype_), pixels_, channel));
    return lines;
  }
  if (fed_.moves()) append(lines, first_place());
  for (size_t a = n; mixed && a-- > mixing_at + 1;) look_up(a, kOwn);
  if (fed_.moves() && mixed) lines.emplace_back("int py_other = py, px_other = px;");
  for (const Source* source : {&kOwn, &kOther}) {
    if (source == &kOther && !mixed) break;
    for (size_t a = mixed ? mixing_at : n; a-- > 0;) look_up(a, *source);
    if (fed_.moves()) append(lines, last_place(*source));
    lines.push_back(load(*source));
    for (size_t a = 0; a < (mixed ? mixing_at : n); ++a) change(a, *source);
  }
  for (size_t a = mixing_at; a < n; ++a) change(a, kOwn);
  return lines;
}

// The lines that compute the position (py, px) of the element in the picture.
std::vector<std::string> FeedText::first_place() const {
  const int64_t h = row_.height(), w = row_.width(), c = row_.dims.size() == 2 ? 1 : row_.channels();
  std::vector<std::string> lines = {fmt::format("const {} e = column + k;", index_type())};
  lines.push_back(row_.channels_first ? fmt::format("int py = (int)(e / {0} % {1}), px = (int)(e % {0});", w, h)
                                      : fmt::format("int py = (int)(e / {}), px = (int)(e / {} % {});", w * c, c, w));
  return lines;
}

// The line that computes the index of the element in the stored picture, which may have another size.
std::vector<std::string> FeedText::last_place(const Source& s) const {
  const MapRow stored = stored_row(spec_.maps, row_);
  const int64_t h = stored.height(), w = stored.width(), c = row_.dims.size() == 2 ? 1 : row_.channels();
  const std::string index = index_type();
  if (row_.channels_first)
    return {fmt::format("const {0} {1} = e / {2} * {3} + ({0}){4} * {5} + {6};", index, s.place,
                        row_.height() * row_.width(), h * w, s.y, w, s.x)};
  return {fmt::format("const {0} {1} = (({0}){2} * {3} + {4}) * {5} + e % {5};", index, s.place, s.y, w, s.x, c)};
}

std::string FeedText::load(const Source& s) const {
  const std::string type = compute_type(dtype_);
  if (spec_.classes > 0) return fmt::format("{0} {1} = {2} ? {0}(1) : {0}(0);", type, s.value, one_hot(s.from));
  return fmt::format("{0} {1} = ({0}){2};", type, s.value,
                     fed_.moves() ? s.from + "[" + s.place + "]" : "packet" + s.suffix + "[k]");
}

std::string FeedText::one_hot(const std::string& from) const {
  const bool one = fed_.stored_elements() == 1;
  const std::string at = one ? "0" : fmt::format("(column + k) / {}", spec_.classes);
  const std::string place = one ? "column + k" : fmt::format("(column + k) % {}", spec_.classes);
  return fmt::format("(hd::i64){}[{}] == {}", from, at, place);
}

// The text of a map's number: a literal, or the channel's element of a table.
std::string FeedText::number(const std::vector<double>& values) {
  if (values.size() == 1) return literal(values[0], dtype_);
  HEDDLE_CHECK(samples() || std::ssize(values) == row_.channels(),
               "a map of an input holds one number, or one per channel");
  std::vector<std::string> literals;
  literals.reserve(values.size());
  for (double v : values) literals.push_back(literal(v, dtype_));
  const std::string name = names_.fresh(fmt::format("{}_table", symbol_));
  tables.push_back(fmt::format("HD_TABLE const {} {}[{}] = {{{}}};", compute_type(dtype_), name, values.size(),
                               joined(literals, ", ")));
  if (samples()) return name + "[c]";
  const int64_t plane = row_.channels_first ? row_.height() * row_.width() : 1;
  if (plane > 1) return fmt::format("{}[(column + k) / {}]", name, plane);
  return fmt::format("{}[{}]", name,
                     std::ssize(values) == elements_ ? "column + k" : fmt::format("(column + k) % {}", values.size()));
}

std::string FeedText::fault_line() const {
  return fmt::format("HD_EACH(k, {}) if (hd::not_finite(to[column + k])) hd::note_fault({}, {}, row, to[column + k]);",
                     threads_.packet, pointers_.noted, fed_.number);
}

}  // namespace heddle::codegen
