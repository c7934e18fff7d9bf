#include "frontend/row_drawing.h"

namespace heddle::frontend {
namespace {

struct Kind {
  const char *key, *setting;  // no key of a reader has a point in it
};
constexpr Kind kKinds[] = {{"balance", "draw.balance"}, {"weights", "draw.weights"}};

}  // namespace

void read_drawing(const Fields& fields, Data& data, Diagnostics& errors) {
  const Location& where = fields.json().where;
  if (!data.train) {
    if (errors.empty()) errors.error(where, "data: draw: there is no reader of training rows", "add \"train\": {...}");
    return;
  }
  size_t sources = 0;
  for (const Kind& kind : kKinds)
    fields.read(kind.key, [&](const Json& json) {
      const std::string word = json.kind == Json::Kind::integer ? std::to_string(json.integer) : json.text;
      sources += word.empty() ? 0 : 1;
      data.train->settings.push_back({kind.setting, std::vector{word}, json.where});
    });
  if (sources == 2)
    errors.error(where, "data: draw: 'balance' and 'weights' both say how frequent a row is", "leave one of them out");
  if (sources == 0)
    errors.error(where, "data: draw: neither 'balance' nor 'weights' names an input or a column",
                 "for example {\"balance\": \"label\"}, of an input of classes");
}

std::optional<RowDrawing> row_drawing(const Data& data) {
  if (!data.train) return std::nullopt;
  for (const Kind& kind : kKinds)
    if (const auto* setting = runtime::data::find_setting(data.train->settings, kind.setting))
      return RowDrawing{.balances = &kind == kKinds,
                        .source = {std::get<std::vector<std::string>>(setting->value).at(0), setting->where}};
  return std::nullopt;
}

}  // namespace heddle::frontend
