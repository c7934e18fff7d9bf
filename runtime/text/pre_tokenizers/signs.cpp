// BertPreTokenizer, Punctuation, Digits: signs and digits apart from words.
#include "runtime/text/part_def.h"
#include "runtime/text/unicode.h"

namespace heddle::runtime::text {
namespace {

PreTokenizer make_bert(const JsonValue& settings) {
  require_members(settings, {"type"}, "BertPreTokenizer");
  return [spaces = Pattern::characters(is_space), signs = Pattern::characters(is_punctuation)](Pieces& pieces) {
    split_pieces(pieces, spaces, Behavior::removed);
    split_pieces(pieces, signs, Behavior::isolated);
  };
}

PreTokenizer make_punctuation(const JsonValue& settings) {
  require_members(settings, {"type", "behavior"}, "Punctuation");
  const Behavior behavior = settings.find("behavior") ? read_behavior(settings) : Behavior::isolated;
  return [behavior, signs = Pattern::characters(is_punctuation)](Pieces& pieces) {
    split_pieces(pieces, signs, behavior);
  };
}

PreTokenizer make_digits(const JsonValue& settings) {
  require_members(settings, {"type", "individual_digits"}, "Digits");
  const Behavior behavior = flag_or(settings, "individual_digits", false) ? Behavior::isolated : Behavior::contiguous;
  return
      [behavior, digits = Pattern::characters(is_numeric)](Pieces& pieces) { split_pieces(pieces, digits, behavior); };
}

const RegisterPart bert(PreTokenizerDef{"BertPreTokenizer", make_bert});
const RegisterPart punctuation(PreTokenizerDef{"Punctuation", make_punctuation});
const RegisterPart digits(PreTokenizerDef{"Digits", make_digits});

}  // namespace
}  // namespace heddle::runtime::text
