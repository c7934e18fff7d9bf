// Where the elements of a sequence are: tables that are added, rotations, and places that restart with each document.
#include <fmt/format.h>

#include <cmath>

#include "frontend/layer_context.h"
#include "ir/ops/expr.h"

namespace heddle::frontend {
namespace {

using ir::Dims;
using ir::DType;
using ir::Expr;
using ir::ValueId;

constexpr double kBase = 10000;

struct Sequence {
  ValueId x;
  int64_t rows = 1, length = 1, width = 1;
  ValueId positions;  // i32 [N,T], or invalid: 0, 1, 2 ... in each row
};

Sequence read_sequence(LayerContext& c) {
  c.require_floating(0);
  c.require_rank(0, 3, 3, "a sequence [N, T, features]");
  const Dims dims = c.dims(c.in[0]);
  Sequence s{.x = c.in[0], .rows = dims[0], .length = dims[1], .width = dims[2], .positions = {}};
  if (c.in.size() < 2 || !c.in[1].valid()) return s;
  const ir::Type& type = c.type(c.in[1]);
  if (type.dims != Dims{s.rows, s.length})
    c.fail(fmt::format("'positions' are the places of the elements, expected {}, found {}",
                       c.shape_text({s.rows, s.length}), c.shape_text(type.dims)),
           {}, 1);
  if (type.dtype != DType::i32 && type.dtype != DType::i64)
    c.fail(fmt::format("'positions' are i32 or i64, found {}", ir::to_string(type.dtype)),
           "insert {\"op\": \"cast\", \"dtype\": \"i32\"}", 1);
  s.positions = c.in[1];
  return s;
}

// Positions times base^(-2 i / width) for i of half the width: [T,half], or [N,T,half] of positions that are given.
Expr angles(LayerContext& c, const Sequence& s, int64_t half, double base) {
  const Dims whole = s.positions.valid() ? Dims{s.rows, s.length, half} : Dims{s.length, half};
  const std::string dtype = ir::to_string(DType::f32);
  const auto last = static_cast<int64_t>(whole.size()) - 1;
  const Expr number{c.b, c.emit("iota", {}, {{"shape", whole}, {"axis", last}, {"dtype", dtype}}, "number")};
  const Expr frequency = apply("exp", number * (-std::log(base) / static_cast<double>(half)));
  if (!s.positions.valid())
    return Expr{c.b, c.emit("iota", {}, {{"shape", whole}, {"axis", int64_t{0}}, {"dtype", dtype}}, "place")} *
           frequency;
  const ValueId places = c.emit("cast", {s.positions}, {{"dtype", dtype}}, "place");
  return Expr{c.b, c.emit("broadcast", {places}, {{"shape", whole}, {"dims", Dims{0, 1}}}, "places")} * frequency;
}

// Two halves side by side as neighbours: a0 b0 a1 b1 ...
ValueId interleaved(LayerContext& c, ValueId a, ValueId b, const std::string& suffix) {
  Dims one = c.dims(a), joined = one;
  one.push_back(1);
  joined.back() *= 2;
  const auto axis = static_cast<int64_t>(one.size()) - 1;
  return c.reshape(c.emit("concat", {c.reshape(a, one), c.reshape(b, one)}, {{"axis", axis}}, suffix), joined, suffix);
}

ir::Values build_sinusoidal(LayerContext& c) {
  c.require_f32(0);
  const Sequence s = read_sequence(c);
  if (s.width % 2 != 0) c.fail(fmt::format("sines and cosines are pairs, and the input is {} wide", s.width));
  const Expr angle = angles(c, s, s.width / 2, c.settings.real("base"));
  const ValueId sine = apply("sin", angle), cosine = apply("cos", angle);
  const ValueId table = interleaved(c, sine, cosine, "table");
  return {c.emit("add", {s.x, c.broadcast(table, c.dims(s.x))})};
}

ir::Values build_learned(LayerContext& c) {
  c.require_f32(0);
  const Sequence s = read_sequence(c);
  const bool given = c.settings.json("length") != nullptr;
  const int64_t length = given ? c.settings.integer("length") : s.length;
  if (!s.positions.valid() && length < s.length)
    c.fail_setting("length", fmt::format("'length' is {}, and the sequence has {} elements", length, s.length));
  const ValueId weight = c.parameter("weight", {length, s.width}, "init", "normal", /*weight=*/true);
  if (s.positions.valid()) return {c.emit("add", {s.x, c.emit("gather", {weight, s.positions}, {}, "rows")})};
  const ValueId rows = length == s.length ? weight : c.slice(weight, 0, 0, s.length, "rows");
  return {c.emit("add", {s.x, c.broadcast(rows, c.dims(s.x))})};
}

// Pairs (a, b) of a head become (a cos - b sin, b cos + a sin) (Su et al. 2021, arXiv:2104.09864).
ir::Values build_rotary(LayerContext& c) {
  c.require_f32(0);
  const Sequence s = read_sequence(c);
  const int64_t heads = c.settings.integer("heads");
  if (s.width % heads != 0)
    c.fail_setting("heads", fmt::format("{} heads do not divide the input, which is {} wide", heads, s.width));
  const int64_t width = s.width / heads;
  const int64_t turned = c.settings.json("width") != nullptr ? c.settings.integer("width") : width;
  if (turned % 2 != 0 || turned > width)
    c.fail_setting(c.settings.json("width") != nullptr ? "width" : "heads",
                   fmt::format("{} numbers of a head are turned in pairs, and a head is {} wide", turned, width));
  const int64_t half = turned / 2;
  const Expr angle = angles(c, s, half, c.settings.real("base"));
  const ValueId cosine = apply("cos", angle), sine = apply("sin", angle);
  const Dims by_head{s.rows, s.length, heads, width}, pairs{s.rows, s.length, heads, half};
  const auto everywhere = [&](ValueId v) {
    Dims dims = c.dims(v);
    dims.insert(dims.end() - 1, 1);
    return c.broadcast(c.reshape(v, dims), pairs);
  };
  const ValueId apart = c.reshape(s.x, by_head, "heads");
  const bool neighbours = c.settings.text("pairs") == "neighbours";
  const auto part = [&](int64_t second) {
    if (neighbours) return c.slice(apart, 3, second, turned, "pair", 2);
    return c.slice(apart, 3, second * half, (second + 1) * half, "pair");
  };
  const Expr a{c.b, part(0)}, b{c.b, part(1)}, cos{c.b, everywhere(cosine)}, sin{c.b, everywhere(sine)};
  const Expr left = a * cos - b * sin, right = b * cos + a * sin;
  ir::Values parts;
  if (neighbours)
    parts = {interleaved(c, left, right, "turned")};
  else
    parts = {left, right};
  if (turned < width) parts.push_back(c.slice(apart, 3, turned, width, "rest"));
  const ValueId joined = parts.size() == 1 ? parts[0] : c.emit("concat", parts, {{"axis", int64_t{3}}}, "joined");
  return {c.reshape(joined, c.dims(s.x))};
}

// The place of each element less that of the first one with its number: documents lie one behind the other.
ir::Values build_document_positions(LayerContext& c) {
  c.require_rank(0, 2, 2, "the documents' numbers [N, T]");
  const ir::Type type = c.type(c.in[0]);
  if (type.dtype != DType::i32 && type.dtype != DType::i64)
    c.fail(fmt::format("documents have numbers of i32 or i64, found {}", ir::to_string(type.dtype)));
  const Dims dims = type.dims;
  const ValueId place = c.emit("iota", {}, {{"shape", dims}, {"axis", int64_t{1}}}, "place");
  if (dims[1] == 1) return {place};
  const ValueId before = c.slice(c.in[0], 1, 0, dims[1] - 1, "before"),
                after = c.slice(c.in[0], 1, 1, dims[1], "after");
  const ValueId changes = c.emit("ne", {before, after}, {}, "changes");
  const ValueId from_second = c.slice(place, 1, 1, dims[1], "places");
  const ValueId starts = c.emit("select", {changes, from_second, c.constant(0, c.type(from_second))}, {}, "starts");
  const ValueId all = c.emit("pad", {starts}, {{"low", Dims{0, 1}}, {"high", Dims{0, 0}}}, "all_starts");
  return {c.emit("sub", {place, c.emit("cummax", {all}, {{"axis", int64_t{1}}}, "start")})};
}

Key base() {
  return {.name = "base",
          .type = KeyType::real,
          .doc = "of the frequencies",
          .fallback = kBase,
          .range = ir::as_f32({.low = 1, .above = true})};
}

const RegisterLayer sinusoidal(
    {.name = "sinusoidal_positions",
     .doc = "x + sin and cos of positions times base^(-2 i / features), sin for even features "
            "2 i, cos for the odd ones behind them",
     .optional = {"positions"},
     .settings = {base()},
     .build = build_sinusoidal});
const RegisterLayer learned(
    {.name = "learned_positions",
     .doc = "x + the row of weight for each position",
     .optional = {"positions"},
     .settings = {{.name = "length", .doc = "rows: the sequence's own length", .range = ir::at_least(1)},
                  {.name = "init", .type = KeyType::part, .doc = "initializer of weight: normal", .of = "initializer"}},
     .parameters = "weight [length, features]",
     .build = build_learned});
const RegisterLayer rotary(
    {.name = "rotary",
     .doc = "turns pairs of each head's numbers by angles that grow with the position",
     .optional = {"positions"},
     .settings = {{.name = "heads", .doc = "how many the last axis holds", .required = true, .range = ir::at_least(1)},
                  {.name = "width",
                   .doc = "numbers of a head that are turned, the first ones: all",
                   .range = ir::at_least(2)},
                  {.name = "pairs",
                   .type = KeyType::text,
                   .doc = "which numbers are a pair: i and i + width / 2, or neighbours",
                   .fallback = "halves",
                   .words = {"halves", "neighbours"}},
                  base()},
     .build = build_rotary});
const RegisterLayer document_positions({.name = "document_positions",
                                        .doc = "i32 places that begin at 0 in each document",
                                        .inputs = {"documents"},
                                        .build = build_document_positions});

}  // namespace
}  // namespace heddle::frontend
