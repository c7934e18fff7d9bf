// Additions in writing: a question and its answer, character by character, as in Keras's example "Sequence to sequence
// learning for performing number addition".
//
//   {"op": "synthetic", "kind": "additions", "rows": 45000, "question": "question", "answer": "answer"}
//     -> question u8[7] of "535+61", answer u8[4] of "596"
//   "tokens": "text" -> u8[10], both one behind the other as a language model reads them: the answer's last character is
//   not there
//
// 0 pads rows, 1 is the plus, 2 to 11 are the digits. Where rows have 2 d + 1 and d + 1 characters, numbers have 1 to d
// digits, and each count is equally likely. With "held_out" the pair of numbers is from the tenth that other rows never
// have.
#include <fmt/format.h>

#include <algorithm>
#include <string>
#include <utility>

#include "runtime/data/keyed_random.h"
#include "runtime/data/synthetic.h"
#include "runtime/text/train.h"

namespace heddle::runtime::data {
namespace {

constexpr int64_t kMostDigits = 9;

// The most digits of a number, from the rows' lengths.
int64_t digits_of(const ReaderRequest& request) {
  for (const ColumnRequest& c : request.columns)
    if (c.dims.size() == 1)
      return c.source() == "question" ? (c.dims[0] - 1) / 2
             : c.source() == "text"   ? (c.dims[0] - 1) / 3
                                      : c.dims[0] - 1;
  return 1;
}

void require_characters(const ReaderRequest& request, const ColumnRequest& c) {
  const int64_t digits = digits_of(request);
  const int64_t length = c.source() == "question" ? 2 * digits + 1 : c.source() == "text" ? 3 * digits + 1 : digits + 1;
  if (c.dims.size() != 1 || digits < 1 || digits > kMostDigits || c.dims[0] != length)
    throw UserError(c.where,
                    fmt::format("synthetic additions of numbers of d digits are questions [2 d + 1], answers [d + 1] "
                                "and texts [3 d + 1], d from 1 to {}: input '{}' has another size",
                                kMostDigits, c.input));
}

std::pair<int64_t, int64_t> draw_numbers(const SyntheticRow& r) {
  KeyedRandom random(r.seed, static_cast<uint64_t>(r.row));
  const auto digits = static_cast<uint64_t>(digits_of(r.request));
  const auto number = [&] {
    int64_t n = 0;
    for (uint64_t left = 1 + random.below(digits); left > 0; --left)
      n = 10 * n + static_cast<int64_t>(random.below(10));
    return n;
  };
  const bool held_out = r.request.flag("held_out");
  for (;;) {
    const int64_t a = number(), b = number();
    const auto [least, most] = std::minmax(a, b);
    if (is_held_out(static_cast<uint64_t>(least), static_cast<uint64_t>(most)) == held_out) return {a, b};
  }
}

void write(const SyntheticRow& r, const std::string& text, std::byte* to) {
  for (size_t i = 0; i < static_cast<size_t>(r.column.dims[0]); ++i) {
    const char c = i < text.size() ? text[i] : ' ';
    to[i] = std::byte(c == ' ' ? 0 : c == '+' ? 1 : c - '0' + 2);
  }
}

SyntheticKind kind() {
  const auto question = [](const SyntheticRow& r, std::byte* to) {
    const auto [a, b] = draw_numbers(r);
    write(r, fmt::format("{}+{}", a, b), to);
  };
  const auto answer = [](const SyntheticRow& r, std::byte* to) {
    const auto [a, b] = draw_numbers(r);
    write(r, std::to_string(a + b), to);
  };
  const auto both = [](const SyntheticRow& r, std::byte* to) {
    const auto [a, b] = draw_numbers(r);
    const auto digits = static_cast<size_t>(digits_of(r.request));
    write(r, fmt::format("{:<{}}{}", fmt::format("{}+{}", a, b), 2 * digits + 1, a + b), to);
  };
  const auto characters = [] {
    return text::character_tokenizer({"<pad>"}, {"+", "0", "1", "2", "3", "4", "5", "6", "7", "8", "9"}, "");
  };
  return {.name = "additions",
          .columns = {{.source = "question", .check = require_characters, .draw = question, .tokenizer = characters},
                      {.source = "answer", .check = require_characters, .draw = answer, .tokenizer = characters},
                      {.source = "text", .check = require_characters, .draw = both, .tokenizer = characters}},
          .holds_out = true};
}

const RegisterSynthetic registered(kind());

}  // namespace
}  // namespace heddle::runtime::data
