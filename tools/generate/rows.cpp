#include "tools/generate/rows.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <functional>
#include <limits>
#include <utility>

#include "ir/check.h"

namespace heddle::tools {
namespace {

// How many tokens stay in the window when all positions are used.
size_t kept(int64_t context) { return static_cast<size_t>(std::max<int64_t>(1, context / 2)); }

}  // namespace

PromptTokens prompt_tokens(const driver::Generator& generator, const TextOfModel& text, const SourceFile& prompt) {
  if (generator.source()) {
    PromptTokens tokens{.ids = text.begin(), .source = text.encode_source(prompt)};
    const int64_t length = generator.source()->length;
    if (std::ssize(tokens.source) > length)
      throw UserError({&prompt, 0, 0},
                      fmt::format("the prompt has {} tokens, and the model reads {}", tokens.source.size(), length),
                      "give a shorter text");
    return tokens;
  }
  std::vector<uint32_t> ids = text.encode(prompt);
  const int64_t context = generator.context();
  if (context > 0 && std::ssize(ids) > context)
    throw UserError({&prompt, 0, 0},
                    fmt::format("the prompt has {} tokens, and the model sees {}", ids.size(), context),
                    "give the end of the text alone");
  return {.ids = std::move(ids)};
}

void encode_sources(driver::Generator& generator, const TextOfModel& text,
                    std::span<const std::vector<uint32_t>* const> sources) {
  const auto length = static_cast<size_t>(generator.source()->length);
  std::vector<int32_t> tokens(sources.size() * length, static_cast<int32_t>(text.padding())), sizes;
  for (size_t row = 0; row < sources.size(); ++row) {
    sizes.push_back(sources[row] == nullptr ? 1 : static_cast<int32_t>(sources[row]->size()));
    if (sources[row] != nullptr)
      std::ranges::copy(*sources[row], tokens.begin() + static_cast<std::ptrdiff_t>(row * length));
  }
  generator.encode(tokens, sizes);
}

int64_t room_behind(const driver::Generator& generator, size_t tokens) {
  if (!generator.source() || generator.context() == 0) return std::numeric_limits<int64_t>::max();
  return generator.context() + 1 - static_cast<int64_t>(tokens);
}

std::span<const float> finite_logits(const driver::Generator& generator, size_t tokens, int64_t row, size_t read) {
  const std::span<const float> logits = generator.logits(row).first(tokens);
  const auto bad = std::ranges::find_if(logits, [](float x) { return !std::isfinite(x); });
  if (bad != logits.end())
    throw UserError(ExitCode::failed,
                    fmt::format("the logit of token {} behind {} tokens is {}", bad - logits.begin(), read,
                                static_cast<double>(*bad)),
                    "the weights hold numbers that are too large, or the training has diverged");
  return logits;
}

bool TextWindow::make_room(int64_t context, size_t tokens) {
  if (context == 0 || position < static_cast<size_t>(context)) return false;
  first = tokens - kept(context);
  position = 0;
  return true;
}

namespace {

// How many tokens of a row the next chunk reads. A few tokens are read one by one, which is as fast.
size_t next_chunk(const RowText& row, int64_t chunk) {
  constexpr size_t kFew = 3;
  if (row.ids == nullptr) return 0;
  const size_t before_last = row.ids->size() - row.window.next() - 1;
  return before_last > kFew ? std::min(before_last, static_cast<size_t>(chunk)) : 0;
}

bool read_chunk(driver::Generator& generator, std::span<RowText> rows) {
  const int64_t chunk = generator.chunk();
  std::vector<int32_t> tokens(rows.size() * static_cast<size_t>(chunk), 0), positions, counts;
  for (size_t i = 0; i < rows.size(); ++i) {
    const size_t count = next_chunk(rows[i], chunk);
    positions.push_back(static_cast<int32_t>(rows[i].window.position));
    counts.push_back(static_cast<int32_t>(count));
    for (size_t at = 0; at < count; ++at)
      tokens[i * static_cast<size_t>(chunk) + at] = static_cast<int32_t>((*rows[i].ids)[rows[i].window.next() + at]);
    rows[i].window.position += count;
  }
  if (std::ranges::all_of(counts, [](int32_t count) { return count == 0; })) return false;
  generator.prefill(tokens, positions, counts);
  return true;
}

}  // namespace

void fill_up(std::span<RowText> rows) {
  const auto has_text = [](const RowText& row) { return row.ids != nullptr; };
  const auto first = std::ranges::find_if(rows, has_text);
  HEDDLE_CHECK(first != rows.end(), "a row has a text");
  std::ranges::replace_if(rows, std::not_fn(has_text), RowText(*first));
}

void read_next(driver::Generator& generator, std::span<RowText> rows) {
  while (generator.chunk() > 1 && read_chunk(generator, rows)) {
  }
  std::vector<int32_t> tokens(rows.size(), 0), positions(rows.size(), 0);
  for (size_t i = 0; i < rows.size(); ++i) {
    if (rows[i].ids == nullptr) continue;
    TextWindow& window = rows[i].window;
    tokens[i] = static_cast<int32_t>((*rows[i].ids)[window.next()]);
    positions[i] = static_cast<int32_t>(window.position++);
  }
  generator.step(tokens, positions);
}

std::string window_note(int64_t context) {
  return fmt::format(
      "the text is longer than the {} tokens that the model sees: whenever these are full it goes on over the last {}",
      context, kept(context));
}

}  // namespace heddle::tools
