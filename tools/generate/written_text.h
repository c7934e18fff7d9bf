// WrittenText: turns tokens into text one by one. It returns only complete characters, and stops at a stop string.
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
  // `before`: the tokens of the prompt, because a token's text may depend on those before it.
  WrittenText(DecodeText decode, std::vector<std::string> stops, std::span<const uint32_t> before);
  // Adds a token and returns the text that has become certain.
  std::string add(uint32_t id);
  // Returns the text that was held back; to be called after the last token.
  std::string finish();
  bool stopped() const { return stopped_; }  // a stop string was found; it and all after it is dropped

 private:
  std::string unread(size_t end, bool whole_characters) const;
  std::string released(bool all);

  DecodeText decode_;
  std::vector<std::string> stops_;
  std::vector<uint32_t> ids_;
  size_t first_ = 0, read_ = 0;  // tokens from `first_` on are decoded together; those before `read_` are in the text
  std::string held_;
  bool stopped_ = false;
};

}  // namespace heddle::tools
