// train.prune: which weights become 0, how many of them, and when.
#include <fmt/format.h>

#include <variant>

#include "frontend/read/read_parts.h"

namespace heddle::frontend {
namespace {

// A share, or "2:4".
void read_amount(const Json& json, const Scope& let, const std::string& what, Prune& prune) {
  prune.amount_where = json.where;
  prune.two_of_four = json.kind == Json::Kind::text && json.text == "2:4";
  if (prune.two_of_four) {
    prune.amount = 0.5;
    return;
  }
  const std::string help = R"(write a share such as 0.5, or "2:4")";
  if (json.kind == Json::Kind::text && json.text.find(':') != std::string::npos)
    throw UserError(json.where, fmt::format("{}: there is no pattern {}", what, quote(json.text)), help);
  if (json.kind != Json::Kind::text && json.kind != Json::Kind::integer && json.kind != Json::Kind::real)
    throw UserError(json.where, fmt::format("{}: expected a number or \"2:4\", found {}", what, describe(json)), help);
  prune.amount = std::visit([](auto v) { return static_cast<double>(v); }, evaluate_number(json, let, what));
  if (!(prune.amount > 0 && prune.amount < 1))
    throw UserError(json.where, fmt::format("{} must lie between 0 and 1, is {}", what, prune.amount), help);
}

}  // namespace

// {"match": ["*.weight"], "amount": 0.5, "begin": 100, "end": 500, "every": 50}
Prune read_prune(const Fields& fields, const Scope& let) {
  Prune prune;
  prune.where = fields.json().where;
  fields.read("match", [&](const Json& globs) { prune.match = read_globs(globs, fields.named("match")); });
  fields.read("amount", [&](const Json& amount) { read_amount(amount, let, fields.named("amount"), prune); });
  fields.read("begin", prune.begin);
  fields.read("end", prune.end);
  fields.read("every", prune.every);
  fields.read("begin", [&](const Json& begin) {
    if (prune.begin > prune.end)
      throw UserError(
          begin.where,
          fmt::format("{} is {}, behind the 'end' at step {}", fields.named("begin"), prune.begin, prune.end),
          "pruning begins before it ends");
  });
  return prune;
}

}  // namespace heddle::frontend
