// Fuse, Strip, Replace, Sequence: small edits of decoded tokens.
#include "runtime/text/part_def.h"
#include "runtime/text/unicode.h"

namespace heddle::runtime::text {
namespace {

Tokens fuse(const Tokens& tokens) {
  std::string text;
  for (const std::string& token : tokens) text += token;
  return {text};
}

Decoder make_strip(const JsonValue& settings) {
  require_members(settings, {"type", "content", "start", "stop"}, "Strip");
  const std::string content = require(settings, "content").text("'content'");
  if (content.empty()) settings.find("content")->fail("'content' is empty, expected one character");
  const uint32_t start = require(settings, "start").id("'start'"), stop = require(settings, "stop").id("'stop'");
  return [=](Tokens tokens) {
    for (std::string& token : tokens) {
      std::string_view rest = token;
      for (uint32_t i = 0; i < start && rest.starts_with(content); ++i) rest.remove_prefix(content.size());
      for (uint32_t i = 0; i < stop && rest.ends_with(content); ++i) rest.remove_suffix(content.size());
      token = std::string(rest);
    }
    return tokens;
  };
}

Decoder make_replace(const JsonValue& settings) {
  require_members(settings, {"type", "pattern", "content"}, "Replace");
  const Pattern pattern = read_pattern(require(settings, "pattern"));
  const std::string content = require(settings, "content").text("'content'");
  return [=](Tokens tokens) {
    for (std::string& token : tokens) token = pattern.replace(token, content);
    return tokens;
  };
}

Decoder make_sequence(const JsonValue& settings) {
  require_members(settings, {"type", "decoders"}, "Sequence");
  std::vector<Decoder> parts;
  for (auto item = require(settings, "decoders").list("'decoders'").first(); item; item = item->next())
    parts.push_back(decoder_of(*item).make(*item));
  return [parts](Tokens tokens) {
    for (const Decoder& part : parts) tokens = part(std::move(tokens));
    return tokens;
  };
}

const RegisterPart fuse_def(DecoderDef{"Fuse", [](const JsonValue& settings) -> Decoder {
                                         require_members(settings, {"type"}, "Fuse");
                                         return fuse;
                                       }});
const RegisterPart strip(DecoderDef{"Strip", make_strip});
const RegisterPart replace(DecoderDef{"Replace", make_replace});
const RegisterPart sequence(DecoderDef{"Sequence", make_sequence});

}  // namespace
}  // namespace heddle::runtime::text
