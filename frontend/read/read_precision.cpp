// train.precision: the types in which the training computes, and the scale of its loss.
#include <fmt/format.h>

#include "frontend/keys/model_keys.h"
#include "frontend/read/read_parts.h"
#include "ir/ops/precision.h"

namespace heddle::frontend {
namespace {

constexpr const char* kScaleHint =
    R"(write "dynamic", a number, or {"initial": 65536, "growth": 2, "backoff": 0.5, "interval": 2000})";

// A number, or an expression for one: it stays.
LossScale fixed_scale(const Json& json, const Scope& let, const std::string& what) {
  LossScale scale;
  scale.initial = read_real(json, *ir::find_key(loss_scale_keys(), "initial"), let, what);
  scale.growth = scale.backoff = 1;
  return scale;
}

LossScale read_loss_scale(const Json& json, const Scope& let, const std::string& what, Diagnostics& errors) {
  if (json.kind == Json::Kind::text && json.text == "dynamic") return {};
  if (json.kind == Json::Kind::text && is_name(json.text) && !let.find(json.text)) {
    const std::string meant = suggest(json.text, {"dynamic"});
    throw UserError(json.where,
                    fmt::format("{}: expected \"dynamic\", a number or an object, found {}", what, describe(json)),
                    meant.empty() ? kScaleHint : meant);
  }
  if (json.kind == Json::Kind::text || json.kind == Json::Kind::integer || json.kind == Json::Kind::real)
    return fixed_scale(json, let, what);
  if (json.kind != Json::Kind::object)
    throw UserError(json.where,
                    fmt::format("{}: expected \"dynamic\", a number or an object, found {}", what, describe(json)),
                    kScaleHint);
  LossScale scale;
  const Fields fields(json, loss_scale_keys(), "train: precision: loss_scale", let, errors);
  fields.read("initial", scale.initial);
  fields.read("growth", scale.growth);
  fields.read("backoff", scale.backoff);
  fields.read("interval", scale.interval);
  return scale;
}

// Refuses a key about bf16 parameters where parameters are f32.
void require_stored(const Train& train, const Fields& precision, const Json& given) {
  if (train.stored) return;
  throw UserError(given.key_where,
                  fmt::format("{} is about parameters of bf16, and these are f32", precision.named(given.key)),
                  fmt::format(R"(write "params": "bf16" beside it, or leave '{}' out)", given.key));
}

void read_stored(const Fields& precision, Train& train) {
  precision.read("params", [&](const Json& params) {
    if (params.text == "bf16") train.stored.emplace().where = params.where;
  });
  precision.read("master", [&](const Json& master) {
    if (!master.flag) return;
    require_stored(train, precision, master);
    train.stored->master = true;
  });
  precision.read("rounding", [&](const Json& rounding) {
    require_stored(train, precision, rounding);
    if (train.stored->master && rounding.text == "stochastic")
      throw UserError(rounding.where, precision.named("rounding") + " and 'master' stand side by side",
                      "leave 'rounding' out: nothing is lost in copies of f32, which are rounded to the nearest");
    train.stored->nearest = rounding.text == "nearest";
  });
}

}  // namespace

void read_precision(const Fields& precision, const Scope& let, Train& train, Diagnostics& errors) {
  precision.read("compute", train.precision);
  precision.read("mixed", [&](const Json& mixed) {
    if (precision.find("compute") != nullptr)
      throw UserError(mixed.where, precision.named("mixed") + " and 'compute' stand side by side",
                      "leave 'compute' out: products of a mixed training have 16-bit operands");
    train.precision = std::string(ir::kMixed) + mixed.text;
    // f16 ends at 65504 and at 6e-8: without a scale that is moved in time, gradients vanish.
    if (mixed.text == "f16") train.loss_scale.emplace().where = mixed.where;
  });
  precision.read("loss_scale", [&](const Json& scale) {
    if (precision.json().find("mixed") == nullptr)
      throw UserError(scale.key_where, precision.named("loss_scale") + " is that of a mixed training",
                      R"(write "mixed": "f16" beside it, or leave it out: gradients of f32 do not become 0)");
    train.loss_scale = read_loss_scale(scale, let, precision.named("loss_scale"), errors);
    train.loss_scale->where = scale.where;
  });
  read_stored(precision, train);
}

}  // namespace heddle::frontend
