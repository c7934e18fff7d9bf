#include "tools/driver/token_maps.h"

#include <fmt/format.h>

#include <algorithm>
#include <set>

#include "ir/diagnostic.h"
#include "runtime/data/printable.h"
#include "runtime/text/tokenizer.h"

namespace heddle::driver {
namespace {

using frontend::TrainingPlan;
using runtime::data::printable;

// Calls for each map that waits, with the number of its input. `plan` is const or not.
template <class Plan, class F>
void each_waiting(Plan& plan, const F& f) {
  for (size_t i = 0; i < plan.inputs.size(); ++i) {
    const auto maps = plan.data.maps.find(plan.inputs[i].name);
    if (maps == plan.data.maps.end()) continue;
    for (auto& map : maps->second)
      if (map.waits_for_tokens()) f(i, map);
  }
}

std::string title(const TrainingPlan& plan, size_t input, const ir::DataMap& map) {
  return fmt::format("{} of input '{}'", map.def->name, plan.inputs[input].name);
}

// Tokens that the readers name, beside those that the tokenizer says are special.
constexpr const char* kNamed[] = {"padding", "unknown", "begin", "end", "mask_token"};

std::set<uint32_t> special_ids(const TrainingPlan& plan, const runtime::text::Tokenizer& tokenizer) {
  std::set<uint32_t> ids;
  for (const auto& [id, token] : tokenizer.added)
    if (token.special) ids.insert(id);
  for (const auto* reader : {&plan.data.train, &plan.data.validation, &plan.data.test}) {
    if (!*reader) continue;
    for (const char* key : kNamed) {
      const runtime::data::ReaderSetting* setting = runtime::data::find_setting((*reader)->settings, key);
      const auto* names = setting == nullptr ? nullptr : std::get_if<std::vector<std::string>>(&setting->value);
      if (names == nullptr) continue;
      for (const std::string& name : *names)
        if (const auto id = tokenizer.find(name)) ids.insert(*id);
    }
  }
  return ids;
}

// Rows that end early are filled up by a token that is known, or what fills them would be hidden too.
void require_padding(const TrainingPlan& plan, const runtime::text::Tokenizer& tokenizer, const std::string& what,
                     const ir::DataMap& map) {
  for (const auto* reader : {&plan.data.train, &plan.data.validation, &plan.data.test}) {
    if (!*reader) continue;
    const runtime::data::ReaderDef* def = runtime::data::find_reader((*reader)->op);
    if (def == nullptr || ir::find_key(def->keys, "padding") == nullptr) continue;
    const bool given = runtime::data::find_setting((*reader)->settings, "padding") != nullptr;
    if (given || tokenizer.named.padding) continue;
    throw UserError((*reader)->where,
                    fmt::format("{}: rows of text may end early, and no token tells what fills them up", what),
                    "add \"padding\": \"<pad>\", a token of its own",
                    {{Severity::note, map.where, "its tokens are hidden here", {}, {}}});
  }
}

void set(const TrainingPlan& plan, size_t input, ir::DataMap& map, const std::string& text) {
  const std::string what = title(plan, input, map);
  const SourceFile file{"tokenizer.json", text};
  const runtime::text::Tokenizer tokenizer = runtime::text::read_tokenizer_json(file);
  const std::string& name = map.words.find("mask")->second;
  const auto id = tokenizer.find(name);
  if (!id)
    throw UserError(map.places.at("mask"), fmt::format("{}: the tokenizer has no token '{}'", what, printable(name)),
                    fmt::format("name one of its tokens; characters and bytes have it by \"mask_token\": \"{}\" of the "
                                "reader",
                                printable(name)));
  require_padding(plan, tokenizer, what, map);
  std::set<uint32_t> special = special_ids(plan, tokenizer);
  special.insert(*id);
  map.numbers["mask"] = {static_cast<double>(*id)};
  map.numbers["vocab"] = {static_cast<double>(tokenizer.size())};
  map.numbers["special"] = {special.begin(), special.end()};
  map.def->require(map);
}

}  // namespace

bool waits_for_tokens(const TrainingPlan& plan) {
  bool waits = false;
  each_waiting(plan, [&](size_t, const ir::DataMap&) { waits = true; });
  return waits;
}

void take_tokens(TrainingPlan& plan, const Tokenizers& tokenizers) {
  each_waiting(plan, [&](size_t i, ir::DataMap& map) {
    if (i >= tokenizers.size() || tokenizers[i].empty())
      throw UserError(map.places.at("mask"),
                      fmt::format("{}: '{}' is the name of a token, and the input's rows are no text",
                                  title(plan, i, map), printable(map.words.find("mask")->second)),
                      "give its id, with \"vocab\" and \"special\"");
    set(plan, i, map, tokenizers[i]);
  });
}

void assume_tokens(TrainingPlan& plan, const Tell& tell) {
  each_waiting(plan, [&](size_t i, ir::DataMap& map) {
    const int64_t places = std::max<int64_t>(plan.inputs[i].below, 2);
    if (tell && map.number(map.def->pairs) == 0)
      tell(
          fmt::format("note: {} is compiled for {} tokens, of which 0 hides others: a training takes those of its text",
                      title(plan, i, map), places));
    map.numbers["mask"] = {0}, map.numbers["vocab"] = {static_cast<double>(places)};
    map.numbers["special"] = {0};
  });
}

}  // namespace heddle::driver
