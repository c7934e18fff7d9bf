// Mutations of well-formed text and bytes: what a slip of the hand, or a hostile one, makes of a file.
//
//   Mutator m(seed);
//   m.text("{\"units\": 128}")   ->   "{\"units\": 9223372036854775808}"
#pragma once
#include <cstdint>
#include <random>
#include <string>
#include <vector>

namespace heddle::testing {

class Mutator {
 public:
  explicit Mutator(uint64_t seed) : random_(seed) {}

  // One change or a few: a token replaced by another of the text or by a hostile one, removed, doubled, exchanged; a
  // character changed; the end cut off.
  std::string text(std::string source);
  // Bits, bytes and lengths; the end cut off or repeated.
  std::string bytes(std::string source);

 private:
  size_t below(size_t n) { return static_cast<size_t>(random_() % n); }
  bool chance(unsigned percent) { return random_() % 100 < percent; }
  void change_text(std::string& s);
  void change_token(std::string& s);

  std::mt19937_64 random_;
};

}  // namespace heddle::testing
