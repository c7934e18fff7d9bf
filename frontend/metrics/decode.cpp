#include "frontend/metrics/decode.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <limits>

#include "frontend/keys/check_keys.h"

namespace heddle::frontend {

using ir::Dims;
using ir::ValueId;

namespace {

constexpr const char* kExample = "for example \"decode\": {\"op\": \"ctc_greedy\", \"blank\": 0}";

std::span<const Key> decode_keys() {
  static const std::array<Key, 4> keys = {
      Key{.name = "op",
          .type = KeyType::text,
          .doc = "greedy: the largest logit of each step; ctc_greedy: then equal neighbours become one, and blanks go; "
                 "generate: the model writes the text itself, each token after its own ones",
          .required = true,
          .words = {"greedy", "ctc_greedy", "generate"},
          .hint = kExample},
      Key{.name = "blank", .doc = "of ctc_greedy, the class that stands for no token", .fallback = int64_t{0}},
      Key{.name = "beams",
          .doc = "of generate: a search for the likeliest text over so many beams",
          .fallback = int64_t{0},
          .range = ir::between(1, kMostBeamsOfMetric)},
      Key{.name = "length_penalty",
          .type = KeyType::real,
          .doc = "of beams: texts are compared by log probability / tokens^this",
          .fallback = Beams().length_penalty,
          .range = ir::between(0, kMostLengthPenalty)}};
  return keys;
}

// The object's members, once they are what they may be.
struct Decode {
  bool merges = false;
  int64_t blank = 0;
  std::optional<Beams> beams = {};
};

std::optional<Beams> read_beams(const Settings& settings) {
  const bool searches = settings.json("beams") != nullptr, penalised = settings.json("length_penalty") != nullptr;
  for (const char* name : {"beams", "length_penalty"})
    if (settings.json(name) != nullptr && settings.text("op") != "generate")
      settings.fail(name, fmt::format("'{}' is of a text that the model writes", name),
                    "leave it out, or write {\"op\": \"generate\"}");
  if (penalised && !searches)
    settings.fail("length_penalty", "'length_penalty' compares beams, and there are none",
                  "write \"beams\": 4, or leave it out");
  if (!searches) return {};
  return Beams{settings.integer("beams"), settings.real("length_penalty")};
}

Decode read_decode(const Settings& of_metric) {
  const Json* given = of_metric.json("decode");
  if (given == nullptr) return {};
  const std::string title = of_metric.title() + ": decode";
  Diagnostics faults;
  check_keys({given->items, given->nulls}, {{}, decode_keys()}, {title, given->where, "setting"}, faults);
  faults.throw_if_any();
  const Settings settings(given->items, decode_keys(), of_metric.scope(), title, given->where);
  settings.check_ranges();
  const Decode decode{settings.text("op") == "ctc_greedy", settings.integer("blank"), read_beams(settings)};
  if (!decode.merges && settings.json("blank") != nullptr)
    settings.fail("blank", "'blank' is of ctc_greedy", "leave it out, or write {\"op\": \"ctc_greedy\"}");
  if (decode.blank < 0 || decode.blank > std::numeric_limits<int32_t>::max())
    settings.fail("blank", fmt::format("'blank' is no class number: {}", decode.blank));
  return decode;
}

void check_classes_of(const MeasureContext& c, const Decode& decode, int64_t classes) {
  if (decode.merges && decode.blank >= classes)
    throw UserError(
        c.settings.where("decode"),
        fmt::format("{}: decode: 'blank' must lie in [0, {}), is {}", c.settings.title(), classes, decode.blank),
        "it is the class that stands for no token");
}

// Not the blank, and another token than the step before has.
ValueId starts_token(MeasureContext& c, ValueId ids, int64_t blank) {
  const Dims dims = c.b.type(ids).dims;
  c.b.prefix = c.name + ".blank";
  const ValueId is_token = c.emit("ne", {ids, c.b.like(static_cast<double>(blank), ids)}, {}, "is_token");
  if (dims[1] == 1) return is_token;
  const ValueId before =
      c.emit("slice", {ids}, {{"starts", Dims{0, 0}}, {"limits", Dims{dims[0], dims[1] - 1}}}, "ids_before");
  // The first step has none before it: a blank, after which every token is a new one.
  const ValueId moved =
      c.emit("pad", {before}, {{"low", Dims{0, 1}}, {"high", Dims{0, 0}}, {"fill", static_cast<double>(blank)}},
             "step_before");
  return c.emit("and", {is_token, c.emit("ne", {ids, moved}, {}, "changes")}, {}, "starts_token");
}

}  // namespace

Key decode_setting() {
  return {.name = "decode",
          .type = KeyType::object,
          .doc = "how logits, or class numbers of steps, become tokens: the largest logit of each step",
          .keys = decode_keys,
          .hint = kExample};
}

bool generates(const Part& metric) {
  const auto decode = std::ranges::find(metric.settings, "decode", &Json::key);
  if (decode == metric.settings.end() || decode->kind != Json::Kind::object) return false;
  const Json* op = decode->find("op");
  return op != nullptr && op->kind == Json::Kind::text && op->text == "generate";
}

std::optional<Beams> beams_of(const Settings& settings) { return read_decode(settings).beams; }

bool merges_steps(const MeasureContext& c) { return read_decode(c.settings).merges; }

Tokens decoded(MeasureContext& c) {
  const Decode decode = read_decode(c.settings);
  const ir::Type type = c.b.type(c.in[0]);
  const bool is_logits = ir::is_floating(type.dtype) && type.dims.size() == 3;
  if (!is_logits && !(type.dtype == ir::DType::i32 && type.dims.size() == 2))
    c.fail(fmt::format("expected logits [N, T, classes], or class numbers i32 [N, T], found {}{}",
                       ir::to_string(type.dtype), c.shape_text(type.dims)),
           "the first of 'in' is what is predicted, the second the labels");
  if (is_logits) check_classes_of(c, decode, type.dims.back());
  const ValueId ids = is_logits ? c.emit("argmax", {c.in[0]}, {{"axis", int64_t{-1}}}, "best") : c.in[0];
  if (decode.merges) return {ids, starts_token(c, ids, decode.blank)};
  c.b.prefix = c.name + ".all_steps";
  return {ids, c.b.constant(1, {ir::DType::boolean, c.b.type(ids).dims})};
}

}  // namespace heddle::frontend
