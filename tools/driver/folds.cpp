#include "tools/driver/folds.h"

#include <algorithm>
#include <cmath>
#include <functional>

#include "runtime/json_text.h"
#include "tools/driver/json_values.h"

namespace heddle::driver {
namespace {

using frontend::Json;

struct Spread {
  double mean = 0, deviation = 0;
};

// Each difference from the mean is taken before its square: the sum of squares alone would cancel.
Spread spread_of(const std::vector<double>& values) {
  Spread spread;
  for (const double v : values) spread.mean += v / static_cast<double>(values.size());
  double squares = 0;
  for (const double v : values) squares += (v - spread.mean) * (v - spread.mean);
  if (values.size() > 1) spread.deviation = std::sqrt(squares / static_cast<double>(values.size() - 1));
  return spread;
}

// The same member of all of them; nothing where one lacks it.
std::vector<const Json*> members(const std::vector<const Json*>& of, const std::string& key) {
  std::vector<const Json*> found;
  for (const Json* json : of)
    if (const Json* member = json->find(key)) found.push_back(member);
  if (found.size() != of.size()) found.clear();
  return found;
}

// Of numbers, or of lists of numbers of one length, element by element; null where a value is not finite.
std::string statistic(const std::vector<const Json*>& values, const std::function<double(const Spread&)>& which) {
  if (std::ranges::all_of(values, [](const Json* v) { return is_number(*v); })) {
    std::vector<double> numbers;
    for (const Json* v : values) numbers.push_back(number_of(*v));
    return runtime::json_number(which(spread_of(numbers)));
  }
  const auto is_list = [&](const Json* v) {
    return v->kind == Json::Kind::list && v->items.size() == values.front()->items.size();
  };
  if (!std::ranges::all_of(values, is_list)) return "null";
  std::vector<std::string> items;
  for (size_t i = 0; i < values.front()->items.size(); ++i) {
    std::vector<const Json*> elements;
    for (const Json* v : values) elements.push_back(&v->items[i]);
    items.push_back(statistic(elements, which));
  }
  return runtime::json_list(items);
}

// Calls back with each split, each of its metrics, and the folds' values of it.
template <class Each>
void for_each_metric(const std::vector<Json>& metrics, const Each& each) {
  std::vector<const Json*> all;
  for (const Json& m : metrics) all.push_back(&m);
  if (all.empty()) return;
  for (const Json& split : all.front()->items) {
    const std::vector<const Json*> of_split = members(all, split.key);
    for (const Json& metric : split.items)
      if (const std::vector<const Json*> values = members(of_split, metric.key); !values.empty())
        each(split.key, metric.key, values);
  }
}

}  // namespace

std::string take_fold(frontend::Model& model, const Fold& fold) {
  frontend::Data& data = model.data;
  std::string told;
  if (data.validation) told = "the folds are rows of data.train: data.validation is not read";
  data.validation.reset();
  if (!data.draw) data.draw = {.seed = model.train.seed, .by = {}, .group = {}};
  data.draw->folds = fold.folds, data.draw->fold = fold.fold - 1;
  if (data.validation_fraction == 0) data.fraction_where = data.where;
  data.validation_fraction = 1 / static_cast<double>(fold.folds);
  return told;
}

std::string fold_statistics(const std::vector<Json>& metrics) {
  runtime::JsonObject out, of_split;
  std::string split;
  const auto end_split = [&] {
    if (!split.empty()) out.raw(split, of_split.str());
    of_split = {};
  };
  for_each_metric(metrics, [&](const std::string& of, const std::string& name, const std::vector<const Json*>& values) {
    if (of != split) end_split();
    split = of;
    std::vector<std::string> texts;
    for (const Json* v : values) texts.push_back(json_text(*v));
    runtime::JsonObject metric;
    metric.raw("mean", statistic(values, [](const Spread& s) { return s.mean; }));
    metric.raw("std", statistic(values, [](const Spread& s) { return s.deviation; }));
    of_split.raw(name, metric.raw("folds", runtime::json_list(texts)).str());
  });
  end_split();
  return out.str();
}

std::vector<MetricSpread> metric_spreads(const std::vector<Json>& metrics) {
  std::vector<MetricSpread> spreads;
  for_each_metric(metrics, [&](const std::string& of, const std::string& name, const std::vector<const Json*>& values) {
    if (!std::ranges::all_of(values, [](const Json* v) { return is_number(*v); })) return;
    std::vector<double> numbers;
    for (const Json* v : values) numbers.push_back(number_of(*v));
    const Spread spread = spread_of(numbers);
    spreads.push_back({of, name, spread.mean, spread.deviation});
  });
  return spreads;
}

}  // namespace heddle::driver
