#include "runtime/text/part_def.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <limits>

#include "runtime/data/printable.h"

namespace heddle::runtime::text {

template <class Def>
std::map<std::string, Def, std::less<>>& part_registry() {
  static std::map<std::string, Def, std::less<>> parts;
  return parts;
}
template std::map<std::string, NormalizerDef, std::less<>>& part_registry<NormalizerDef>();
template std::map<std::string, PreTokenizerDef, std::less<>>& part_registry<PreTokenizerDef>();
template std::map<std::string, ModelDef, std::less<>>& part_registry<ModelDef>();
template std::map<std::string, PostProcessorDef, std::less<>>& part_registry<PostProcessorDef>();
template std::map<std::string, DecoderDef, std::less<>>& part_registry<DecoderDef>();

namespace {

template <class Def>
const Def& part_of(const JsonValue& settings, std::string_view family) {
  const JsonValue type = require(settings.object(family), "type");
  const std::string name = type.text("'type'");
  const auto& parts = part_registry<Def>();
  if (const auto found = parts.find(name); found != parts.end()) return found->second;
  std::vector<std::string> names;
  names.reserve(parts.size());
  for (const auto& [known, def] : parts) names.push_back(known);
  type.fail(fmt::format("the {} '{}' is not supported", family, data::printable(name)),
            fmt::format("supported are {}", fmt::join(names, ", ")));
}

}  // namespace

const NormalizerDef& normalizer_of(const JsonValue& settings) { return part_of<NormalizerDef>(settings, "normalizer"); }
const PreTokenizerDef& pre_tokenizer_of(const JsonValue& settings) {
  return part_of<PreTokenizerDef>(settings, "pre-tokenizer");
}
const ModelDef& model_of(const JsonValue& settings) { return part_of<ModelDef>(settings, "model"); }
const PostProcessorDef& post_processor_of(const JsonValue& settings) {
  return part_of<PostProcessorDef>(settings, "post-processor");
}
const DecoderDef& decoder_of(const JsonValue& settings) { return part_of<DecoderDef>(settings, "decoder"); }

bool flag_or(const JsonValue& object, std::string_view key, bool otherwise) {
  const std::optional<JsonValue> value = object.find(key);
  return value && !value->is_null() ? value->flag(fmt::format("'{}'", key)) : otherwise;
}

std::string text_or(const JsonValue& object, std::string_view key, std::string otherwise) {
  const std::optional<JsonValue> value = object.find(key);
  return value && !value->is_null() ? value->text(fmt::format("'{}'", key)) : std::move(otherwise);
}

JsonValue require(const JsonValue& object, std::string_view key) {
  std::optional<JsonValue> value = object.find(key);
  if (!value) object.fail(fmt::format("'{}' is missing here", key), fmt::format("add \"{}\": ...", key));
  return *value;
}

Pattern read_pattern(const JsonValue& pattern) {
  require_members(pattern.object("'pattern'"), {"String", "Regex"}, "'pattern'");
  if (pattern.size() != 1) pattern.fail("'pattern' needs one of String and Regex");
  const JsonValue value = *pattern.first();
  if (value.key() == "Regex") return Pattern::expression(value.text("'Regex'"), value.where());
  return Pattern::literal(value.text("'String'"));
}

Behavior read_behavior(const JsonValue& object) {
  static const std::map<std::string, Behavior> kBehaviors = {{"Removed", Behavior::removed},
                                                             {"Isolated", Behavior::isolated},
                                                             {"MergedWithPrevious", Behavior::merged_with_previous},
                                                             {"MergedWithNext", Behavior::merged_with_next},
                                                             {"Contiguous", Behavior::contiguous}};
  const JsonValue value = require(object, "behavior");
  const std::string name = value.text("'behavior'");
  if (const auto found = kBehaviors.find(name); found != kBehaviors.end()) return found->second;
  value.fail(fmt::format("there is no behavior '{}'", data::printable(name)),
             "known are Removed, Isolated, MergedWithPrevious, MergedWithNext, Contiguous");
}

void split_pieces(Pieces& pieces, const Pattern& pattern, Behavior behavior, bool invert) {
  std::vector<Range> parts;
  parts.reserve(pieces.ranges.size());
  const bool begins = !pieces.ranges.empty();
  const uint32_t first = begins ? pieces.ranges.front().begin : 0;
  for (const Range& range : pieces.ranges) pattern.split(pieces.text, range, behavior, invert, parts);
  pieces.ranges = std::move(parts);
  if (pieces.ranges.empty() || pieces.ranges.front().begin != first) pieces.begins = false;
}

void rewrite_pieces(Pieces& pieces, const std::function<void(std::string_view, bool, std::string&)>& rewrite) {
  std::string text;
  text.reserve(pieces.text.size() * 5 / 4 + pieces.ranges.size());
  bool first = pieces.begins;
  for (Range& range : pieces.ranges) {
    const auto begin = static_cast<uint32_t>(text.size());
    rewrite(std::string_view(pieces.text).substr(range.begin, range.end - range.begin), first, text);
    range = {begin, static_cast<uint32_t>(text.size())};
    first = false;
  }
  if (text.size() > std::numeric_limits<uint32_t>::max())
    throw UserError(ExitCode::limit, "a line makes more than 4 GiB of pieces", "give the text in lines");
  pieces.text = std::move(text);
}

}  // namespace heddle::runtime::text
