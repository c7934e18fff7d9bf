// Reports of what shops have sold, each with its summary: who sold most and who least. Rows are packed: they hold as
// many reports as fit, one behind the other.
//
//   {"op": "synthetic", "kind": "reports", "rows": 16000, "tokens": "window", "targets": "next", "document": "document",
//    "place": "position"}
//     -> tokens u8[96] of "<begin> the north shop sold seven lamps . it rained in the east . ... <summary> the north
//        sold seven lamps , the east only two rings <end> <begin> ...", targets i32[96] what follows each token of a
//        summary, -100 elsewhere, document u8[96] {0, 0, ... 1, 1, ...}, place u8[96] {0, 1, 2, ... 0, 1, ...}
//
// With "held_out" the shop that sold most and its goods are a pair from the tenth that other rows never have.
#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cstring>

#include "runtime/data/drawn/text.h"
#include "runtime/data/keyed_random.h"

namespace heddle::runtime::data {
namespace {

constexpr size_t kSales = 3;
constexpr int64_t kLength = 96, kMostLength = 255;  // places are bytes

constexpr std::array<std::string_view, 8> kShops = {"north", "east", "south", "west", "hill", "port", "old", "new"};
constexpr std::array<std::string_view, 12> kGoods = {"lamps", "rings",  "boats",   "hats",  "clocks", "knives",
                                                     "maps",  "flutes", "candles", "boots", "books",  "chairs"};
constexpr std::array<std::string_view, 11> kNumbers = {"two",   "three", "four", "five",   "six",   "seven",
                                                       "eight", "nine",  "ten",  "eleven", "twelve"};
constexpr std::array<std::string_view, 4> kElse = {"it rained in the", "two clerks were ill in the",
                                                   "new shelves came to the", "there was little snow in the"};

const DrawnVocabulary& vocabulary() {
  static const DrawnVocabulary all = [] {
    std::vector<std::string> words = {"the",    "shop", "sold",    "were", "in", "it",    "rained",
                                      "clerks", "ill",  "shelves", "came", "to", "there", "was",
                                      "little", "snow", "only",    ".",    ","};
    for (const auto& list : {std::span<const std::string_view>(kShops), {kGoods}, {kNumbers}})
      for (const std::string_view word : list) words.emplace_back(word);
    return DrawnVocabulary::of_words({"<pad>", "<begin>", "<summary>", "<end>"}, words);
  }();
  return all;
}

struct Sale {
  size_t shop = 0, goods = 0, number = 0;
};

class Report {
 public:
  Report(KeyedRandom& random, bool held_out) : random_(random) {
    const std::vector<Sale> sales = draw_sales(held_out);
    std::vector<std::string> sentences(sales.size());
    std::ranges::transform(sales, sentences.begin(), [this](const Sale& sale) { return sentence_of(sale); });
    if (chance()) sentences.push_back(std::string(kElse.at(below(kElse.size()))) + " " + shop(below(kShops.size())));
    text = "<begin>";
    while (!sentences.empty()) {
      const auto next = sentences.begin() + static_cast<std::ptrdiff_t>(below(sentences.size()));
      text += " " + *next + " .";
      sentences.erase(next);
    }
    text += " <summary>";
    const Sale &most = sales.front(), &least = *std::ranges::min_element(sales, {}, &Sale::number);
    summary = "the " + shop(most.shop) + " sold " + goods_of(most) + " , the " + shop(least.shop) + " only " +
              goods_of(least) + " <end>";
  }
  std::string text, summary;

 private:
  size_t below(size_t n) { return static_cast<size_t>(random_.below(n)); }
  bool chance() { return random_.below(2) == 0; }
  static std::string shop(size_t number) { return std::string(kShops.at(number)); }
  static std::string goods_of(const Sale& sale) {
    return std::string(kNumbers.at(sale.number)) + " " + std::string(kGoods.at(sale.goods));
  }
  std::string sentence_of(const Sale& sale) {
    if (chance()) return "the " + shop(sale.shop) + " shop sold " + goods_of(sale);
    return goods_of(sale) + " were sold in the " + shop(sale.shop);
  }

  // No two have a shop, goods or a number in common; the first has the largest number.
  std::vector<Sale> draw_sales(bool held_out) {
    std::vector<Sale> sales;
    while (sales.size() < kSales) {
      const Sale sale{below(kShops.size()), below(kGoods.size()), below(kNumbers.size())};
      const bool meets = std::ranges::any_of(sales, [&](const Sale& s) {
        return s.shop == sale.shop || s.goods == sale.goods || s.number == sale.number;
      });
      if (!meets && is_held_out(sale.shop, sale.goods) == (held_out && sales.empty())) sales.push_back(sale);
    }
    // Numbers change places, shops and goods do not.
    const auto most = std::ranges::max_element(sales, {}, &Sale::number);
    std::swap(sales.front().number, most->number);
    return sales;
  }

  KeyedRandom& random_;
};

struct Token {
  uint8_t id = 0, document = 0, position = 0;
  int32_t next = kIgnoreIndex;
};

// As many tokens as the row has. What is left behind the last report that fits is a document of its own.
std::vector<Token> draw_row(const SyntheticRow& r) {
  const int64_t length = r.column.dims[0];
  KeyedRandom random(r.seed, static_cast<uint64_t>(r.row));
  std::vector<Token> row;
  uint8_t document = 0;
  for (bool first = true;; first = false, ++document) {
    const Report report(random, r.request.flag("held_out"));
    const std::vector<uint8_t> text = vocabulary().encode(report.text), summary = vocabulary().encode(report.summary);
    // The last token, <end>, is told and not read.
    const auto size = static_cast<int64_t>(text.size() + summary.size()) - 1;
    if (!first && std::ssize(row) + size > length) break;
    std::vector<uint8_t> ids = text;
    ids.insert(ids.end(), summary.begin(), summary.end());
    for (size_t i = 0; i + 1 < ids.size(); ++i)
      row.push_back({.id = ids[i],
                     .document = document,
                     .position = static_cast<uint8_t>(i),
                     .next = i + 1 < text.size() ? static_cast<int32_t>(kIgnoreIndex) : ids[i + 1]});
  }
  for (uint8_t i = 0; std::ssize(row) < length; ++i) row.push_back({.id = 0, .document = document, .position = i});
  row.resize(static_cast<size_t>(length));
  return row;
}

void require_row(const ReaderRequest& request, const ColumnRequest& c) {
  require_text_row(request, c);
  if (c.dims[0] > kMostLength)
    throw UserError(c.where,
                    fmt::format("synthetic reports lie in rows of at most {} tokens, input '{}' has {}", kMostLength,
                                c.input, c.dims[0]),
                    fmt::format("a row of {} has room for two", kLength));
}

template <class T>
SyntheticColumn column(const std::string& source, ElementType type, T Token::*which, bool text) {
  SyntheticColumn made{
      .source = source, .type = type, .check = require_row, .draw = [which](const SyntheticRow& r, std::byte* to) {
        for (const Token& token : draw_row(r)) {
          std::memcpy(to, &(token.*which), sizeof(T));
          to += sizeof(T);
        }
      }};
  if (text) made.tokenizer = [] { return vocabulary().tokenizer(); };
  return made;
}

SyntheticKind kind() {
  return {.name = "reports",
          .columns = {column("window", ElementType::u8, &Token::id, /*text=*/true),
                      column("next", ElementType::i32, &Token::next, /*text=*/true),
                      column("document", ElementType::u8, &Token::document, /*text=*/false),
                      column("position", ElementType::u8, &Token::position, /*text=*/false)},
          .holds_out = true};
}

const RegisterSynthetic registered(kind());

}  // namespace
}  // namespace heddle::runtime::data
