// The parts of a tokenizer, and the records of their kinds. Each kind registers itself in one file, in the folder of
// its family.
//
//   {"type": "Lowercase"}  ->  find_part<NormalizerDef>("Lowercase")->make(settings): a function from text to text
//
// A tokenizer has a normalizer, a pre-tokenizer, a model and a post-processor. They normalize a text, split it into
// pieces, turn each piece into ids, and put ids around them. A decoder turns tokens back into text.
#pragma once
#include <cstdint>
#include <functional>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "runtime/text/json_tree.h"
#include "runtime/text/pattern.h"
#include "runtime/text/vocabulary.h"

namespace heddle::runtime::text {

using Normalizer = std::function<std::string(std::string)>;
using Tokens = std::vector<std::string>;
using Decoder = std::function<Tokens(Tokens)>;  // the text is their concatenation

// A text and its pieces, which the model encodes one by one. Pieces are ranges of the text and not empty.
struct Pieces {
  std::string text;
  std::vector<Range> ranges;
  bool begins = true;  // the first piece begins the whole text
};
using PreTokenizer = std::function<void(Pieces&)>;

struct Model {
  Vocabulary vocabulary;
  std::optional<uint32_t> unknown;
  // Appends the ids of one piece. Returns false where a character has no id and there is no `unknown`.
  std::function<bool(std::string_view piece, std::vector<uint32_t>& ids)> encode;
};
// The arguments of ModelDef::make.
struct ModelRequest {
  JsonValue settings;
  std::set<std::string, std::less<>> special;  // tokens that text must not be encoded to
};

// The ids around a text; the entry without a value is the place of the text.
using Template = std::vector<std::optional<uint32_t>>;

template <class Part, class Settings>
struct PartDef {
  std::string name;
  std::function<Part(const Settings&)> make;  // throws UserError at an invalid setting
};
using NormalizerDef = PartDef<Normalizer, JsonValue>;
using PreTokenizerDef = PartDef<PreTokenizer, JsonValue>;
using ModelDef = PartDef<Model, ModelRequest>;
using DecoderDef = PartDef<Decoder, JsonValue>;
struct PostProcessorDef : PartDef<Template, JsonValue> {};

// Filled at start-up, constant afterwards.
template <class Def>
std::map<std::string, Def, std::less<>>& part_registry();

template <class Def>
struct RegisterPart {
  explicit RegisterPart(Def def) {
    std::string name = def.name;
    part_registry<Def>().emplace(std::move(name), std::move(def));
  }
};

// The record for the "type" of an object. Throws UserError where the type is not supported.
const NormalizerDef& normalizer_of(const JsonValue& settings);
const PreTokenizerDef& pre_tokenizer_of(const JsonValue& settings);
const ModelDef& model_of(const JsonValue& settings);
const PostProcessorDef& post_processor_of(const JsonValue& settings);
const DecoderDef& decoder_of(const JsonValue& settings);

// Read settings; `otherwise` is the value where they are absent or null.
bool flag_or(const JsonValue& object, std::string_view key, bool otherwise);
std::string text_or(const JsonValue& object, std::string_view key, std::string otherwise);
JsonValue require(const JsonValue& object, std::string_view key);
// {"String": " "} or {"Regex": "\\s+"}
Pattern read_pattern(const JsonValue& pattern);
Behavior read_behavior(const JsonValue& object);

// Splits each piece at the matches of the pattern.
void split_pieces(Pieces& pieces, const Pattern& pattern, Behavior behavior, bool invert = false);
// Replaces each piece by what `rewrite` appends to `out`. `first`: the piece begins the whole text.
void rewrite_pieces(Pieces& pieces,
                    const std::function<void(std::string_view piece, bool first, std::string& out)>& rewrite);

}  // namespace heddle::runtime::text
