#include "frontend/layers/attention_parts.h"

#include <fmt/format.h>

namespace heddle::frontend {

using ir::Dims;
using ir::DType;
using ir::ValueId;

namespace {

ValueId optional(const LayerContext& c, size_t port) { return port > 0 && port < c.in.size() ? c.in[port] : ValueId{}; }

// Whole numbers as the operator takes them.
ValueId as_i32(LayerContext& c, ValueId v, const char* name, size_t port) {
  const DType dtype = c.type(v).dtype;
  if (dtype != DType::i32 && dtype != DType::i64)
    c.fail(fmt::format("'{}' is i32 or i64, found {}", name, ir::to_string(dtype)),
           "insert {\"op\": \"cast\", \"dtype\": \"i32\"}", port);
  return dtype == DType::i32 ? v : c.emit("cast", {v}, {{"dtype", "i32"}}, name);
}

void require_dims(LayerContext& c, ValueId v, const Dims& expected, const char* what, size_t port) {
  if (c.dims(v) != expected)
    c.fail(fmt::format("{}, expected {}, found {}", what, c.shape_text(expected), c.shape_text(c.dims(v))), {}, port);
}

// An i64 beyond 32 bits stays what it is, more than all keys or none: a cast would wrap it.
ValueId lengths_of(LayerContext& c, size_t port, int64_t rows, int64_t keys) {
  ValueId lengths = c.in[port];
  require_dims(c, lengths, {rows}, "'lengths' is the number of keys of each row", port);
  const ir::Type type = c.type(lengths);
  if (type.dtype == DType::i64) {
    lengths = c.emit("min", {lengths, c.constant(static_cast<double>(keys), type)}, {}, "lengths");
    lengths = c.emit("max", {lengths, c.constant(0, type)}, {}, "lengths");
  }
  return as_i32(c, lengths, "lengths", port);
}

// How many smaller numbers there are in the row, i32: equal where the numbers are, which a cast of i64 would wrap.
ValueId ranks_in_row(LayerContext& c, ValueId numbers) {
  const Dims dims = c.dims(numbers);
  const auto argsort = [&](ValueId v, const std::string& name) {
    return c.b.multi("argsort", {v}, {{"descending", false}}, {c.path + "." + name, c.path + "." + name + ".sorted"});
  };
  const ir::Values ordered = argsort(numbers, "documents.order");
  const ValueId before = c.slice(ordered[1], 1, 0, dims[1] - 1, "documents.before"),
                after = c.slice(ordered[1], 1, 1, dims[1], "documents.after");
  const ValueId changes = c.emit("cast", {c.emit("ne", {before, after}, {}, "documents.changes")}, {{"dtype", "i32"}});
  const ValueId all = c.emit("pad", {changes}, {{"low", Dims{0, 1}}, {"high", Dims{0, 0}}}, "documents.all_changes");
  const ValueId ranks = c.emit("cumsum", {all}, {{"axis", int64_t{1}}}, "documents.ranks");
  const ValueId places = argsort(ordered[0], "documents.places")[0];  // of each number among the ordered ones
  return c.emit("gather_nd", {ranks, c.reshape(places, {dims[0], dims[1], 1}, "documents.place")},
                {{"batch", int64_t{1}}}, "documents");
}

ValueId documents_of(LayerContext& c, size_t port, int64_t rows, int64_t queries, int64_t keys) {
  require_dims(c, c.in[port], {rows, keys}, "'documents' numbers the document of each key", port);
  if (queries > keys)
    c.fail(fmt::format("'documents' numbers {} keys, and there are {} queries", keys, queries),
           "queries stand at the last keys: there must be as many keys as queries, or more", port);
  const bool wide = c.type(c.in[port]).dtype == DType::i64 && keys > 1;
  return wide ? ranks_in_row(c, c.in[port]) : as_i32(c, c.in[port], "documents", port);
}

ValueId key_mask_of(LayerContext& c, size_t port, int64_t rows, int64_t keys) {
  const ValueId mask = c.in[port];
  require_dims(c, mask, {rows, keys}, "'key_mask' says of each key whether it is there", port);
  const DType dtype = c.type(mask).dtype;
  if (dtype == DType::boolean) return mask;
  if (dtype != DType::u8)
    c.fail(fmt::format("'key_mask' is bool or u8, found {}", ir::to_string(dtype)),
           "compare it: {\"op\": \"gt\", \"in\": [MASK, 0]}", port);
  return c.emit("ne", {mask, c.constant(0, c.type(mask))}, {}, "key_mask");
}

// [T,S], [heads,T,S] or [N,heads,T,S], each of them or 1.
ValueId bias_of(LayerContext& c, size_t port, DType dtype, const Dims& whole) {
  const ValueId bias = c.in[port];
  Dims dims = c.dims(bias);
  bool fits = dims.size() >= 2 && dims.size() <= 4;
  if (fits) dims.insert(dims.begin(), 4 - dims.size(), 1);
  for (size_t d = 0; fits && d < 4; ++d) fits = dims[d] == 1 || dims[d] == whole[d];
  if (!fits)
    c.fail(fmt::format("'bias' is added to the scores, expected the last axes of {} or 1 in their places, found {}",
                       c.shape_text(whole), c.shape_text(c.dims(bias))),
           {}, port);
  if (c.type(bias).dtype != dtype)
    c.fail(fmt::format("'bias' is added to scores of {}, found {}", ir::to_string(dtype),
                       ir::to_string(c.type(bias).dtype)),
           c.type(bias).dtype == DType::boolean ? "what is there or not is 'key_mask', [N, keys]" : "cast it", port);
  return c.reshape(bias, dims, "bias");
}

}  // namespace

ValueId attend(LayerContext& c, ValueId q, ValueId k, ValueId v, const AttentionSettings& settings,
               const AttentionInputs& inputs) {
  const int64_t rows = c.dims(q)[0], queries = c.dims(q)[1], keys = c.dims(k)[1];
  ir::Values operands{q, k, v};
  ir::Attrs attrs{
      {"heads", settings.heads},   {"kv_heads", settings.kv_heads == settings.heads ? 0 : settings.kv_heads},
      {"causal", settings.causal}, {"window", settings.window},
      {"scale", settings.scale},   {"soft_cap", settings.soft_cap},
      {"alibi", settings.alibi}};
  const auto add = [&](const char* name, ValueId operand) {
    attrs[name] = true;
    operands.push_back(operand);
  };
  if (optional(c, inputs.bias).valid())
    add("bias", bias_of(c, inputs.bias, c.type(q).dtype, {rows, settings.heads, queries, keys}));
  if (optional(c, inputs.lengths).valid()) add("lengths", lengths_of(c, inputs.lengths, rows, keys));
  if (optional(c, inputs.key_mask).valid()) add("key_mask", key_mask_of(c, inputs.key_mask, rows, keys));
  if (optional(c, inputs.documents).valid()) add("documents", documents_of(c, inputs.documents, rows, queries, keys));
  if (settings.dropout > 0 && c.training) {
    attrs["rate"] = settings.dropout;
    attrs["stream"] = c.stream(settings.suffix);
    operands.insert(operands.end(), {c.graph.counter("seed"), c.graph.counter("step")});
  }
  return c.emit("attention", operands, attrs, settings.suffix.empty() ? "" : settings.suffix.substr(1));
}

std::vector<Key> attention_settings(bool scores) {
  std::vector<Key> keys = {
      {.name = "heads",
       .doc = "how many; each has a part of the last axis",
       .required = true,
       .range = ir::at_least(1)},
      {.name = "causal",
       .type = KeyType::flag,
       .doc = "no query sees a key behind it; the last query stands at the last key",
       .fallback = false},
      {.name = "window", .doc = "a query sees keys less than so many places away", .range = ir::at_least(1)},
      {.name = "dropout",
       .type = KeyType::real,
       .doc = "share of weights that training sets to zero",
       .fallback = 0.0,
       .range = ir::kShare}};
  if (!scores) return keys;
  keys.insert(
      keys.begin() + 1,
      {.name = "kv_heads", .doc = "heads of keys and values, each shared by equally many", .range = ir::at_least(1)});
  keys.push_back({.name = "scale",
                  .type = KeyType::real,
                  .doc = "times q k^T: 1 / sqrt(width of a head)",
                  .range = ir::as_f32(ir::kAboveZero)});
  keys.push_back({.name = "soft_cap",
                  .type = KeyType::real,
                  .doc = "scores x become soft_cap tanh(x / soft_cap)",
                  .range = ir::as_f32(ir::kAboveZero)});
  keys.push_back({.name = "alibi",
                  .type = KeyType::flag,
                  .doc = "scores less a slope of each head times the distance",
                  .fallback = false});
  return keys;
}

AttentionSettings read_attention(LayerContext& c, bool scores) {
  const auto given = [&](const char* name) { return c.settings.json(name) != nullptr; };
  AttentionSettings s;
  s.heads = s.kv_heads = c.settings.integer("heads");
  s.causal = c.settings.flag("causal");
  s.dropout = c.settings.real("dropout");
  if (given("window")) s.window = c.settings.integer("window");
  if (!scores) return s;
  if (given("kv_heads")) s.kv_heads = c.settings.integer("kv_heads");
  if (given("scale")) s.scale = c.settings.real("scale");
  if (given("soft_cap")) s.soft_cap = c.settings.real("soft_cap");
  s.alibi = c.settings.flag("alibi");
  return s;
}

void require_heads(LayerContext& c, int64_t heads, int64_t width, const std::string& what, size_t input) {
  if (width % heads != 0)
    c.fail_setting("heads", fmt::format("{} heads do not divide {}, which is {} wide", heads, what, width), {}, input);
}

}  // namespace heddle::frontend
