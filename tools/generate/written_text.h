// WrittenText: the text of tokens as they come, no character before it is whole, up to a stop string.
//
//   WrittenText text(decode, {"\n\n"});
//   text.add(12)   ->   "the"      text.add(7)   ->   ""       half of a character, or what may begin a stop string
#pragma once
#include <cstdint>
#include <functional>
#include <span>
#include <string>
#include <vector>

namespace heddle::tools {

using DecodeText = std::function<std::string(std::span<const uint32_t>)>;

class WrittenText {
 public:
  // `before` are the tokens of the prompt: a token's text may depend on those before it.
  WrittenText(DecodeText decode, std::vector<std::string> stops, std::span<const uint32_t> before);
  // What is new and certain.
  std::string add(uint32_t id);
  // What has been held back, where nothing more comes.
  std::string finish();
  bool stopped() const { return stopped_; }  // a stop string has come: it and what follows is not written

 private:
  std::string unread(size_t end, bool whole_characters) const;
  std::string released(bool all);

  DecodeText decode_;
  std::vector<std::string> stops_;
  std::vector<uint32_t> ids_;
  size_t first_ = 0, read_ = 0;  // tokens from `first_` on are decoded together, those up to `read_` are in the text
  std::string held_;
  bool stopped_ = false;
};

}  // namespace heddle::tools
