#include "tools/generate/generate.h"

#include <algorithm>
#include <optional>
#include <utility>

#include "tools/generate/rows.h"
#include "tools/generate/written_text.h"

namespace heddle::tools {
namespace {

using runtime::text::Drawn;
using runtime::text::Sampler;

// One text in a row.
struct Row {
  size_t prompt = 0, sample = 0;
  std::vector<uint32_t> ids;  // of the prompt and what was drawn
  TextWindow window = {};
  std::optional<WrittenText> written = {};
  Continuation made = {};
};

class Generation {
 public:
  Generation(driver::Generator& generator, const TextOfModel& text, std::span<const SourceFile> prompts,
             const GenerateSettings& settings, const GenerateCalls& calls)
      : generator_(generator), text_(text), settings_(settings), calls_(calls), sampler_(settings.sampling) {
    for (const SourceFile& prompt : prompts) prompts_.push_back(prompt_tokens(generator, text, prompt));
    done_.resize(prompts_.size());
    for (auto& samples : done_) samples.resize(static_cast<size_t>(settings.samples));
    rows_.resize(static_cast<size_t>(generator.rows()));
  }

  std::vector<std::vector<Continuation>> run() {
    begin_texts();
    while (!ended_ && active() > 0) {
      step();
      begin_texts();
    }
    for (auto& row : rows_)
      if (row) keep(*row);
    return std::move(done_);
  }

 private:
  int64_t active() const {
    return std::ranges::count_if(rows_, [](const auto& row) { return row.has_value(); });
  }

  // Rows that have ended take the next texts. Sources are read for all rows at once: a quarter of these waits for it.
  void begin_texts() {
    constexpr int64_t kWaiting = 4;
    const int64_t all = std::ssize(rows_), running = active();
    if (ended_ || next_prompt_ == prompts_.size() || running == all) return;
    const bool reads = generator_.source().has_value();
    if (reads && running > 0 && (all - running) * kWaiting < all) return;
    for (auto& row : rows_)
      if (!row && next_prompt_ < prompts_.size()) begin_next(row);
    if (!reads) return;
    std::vector<const std::vector<uint32_t>*> sources;
    for (const auto& row : rows_) sources.push_back(row ? &prompts_[row->prompt].source : nullptr);
    encode_sources(generator_, text_, sources);
  }

  void begin_next(std::optional<Row>& row) {
    row = Row{.prompt = next_prompt_, .sample = next_sample_, .ids = prompts_[next_prompt_].ids};
    row->written.emplace([this](std::span<const uint32_t> ids) { return text_.decode(ids); }, settings_.stops,
                         row->ids);
    if (++next_sample_ < static_cast<size_t>(settings_.samples)) return;
    next_sample_ = 0;
    ++next_prompt_;
  }

  void step() {
    std::vector<RowText> texts(rows_.size());
    for (size_t i = 0; i < rows_.size(); ++i) {
      if (!rows_[i]) continue;
      Row& row = *rows_[i];
      if (row.window.make_room(generator_.context(), row.ids.size()) && !std::exchange(told_, true) && calls_.note)
        calls_.note(window_note(generator_.context()));
      texts[i] = {.ids = &row.ids, .window = row.window};
    }
    // Rows without a text read what another one does, so that a product finds equal rows (runtime/host/row_product.h).
    const auto first = std::ranges::find_if(texts, [](const RowText& text) { return text.ids != nullptr; });
    for (RowText& text : texts)
      if (text.ids == nullptr && first != texts.end()) text = *first;
    read_next(generator_, texts);
    for (size_t i = 0; i < rows_.size() && !ended_; ++i) {
      std::optional<Row>& row = rows_[i];
      if (!row) continue;
      row->window = texts[i].window;
      if (row->window.next() < row->ids.size()) continue;  // the next token is there already
      if (!draw(*row, static_cast<int64_t>(i))) continue;
      keep(*row);
      if (!ended_ && calls_.done && !calls_.done(row->prompt, row->sample, done_[row->prompt][row->sample]))
        ended_ = true;
      row.reset();
    }
  }

  // Whether the text has ended.
  bool draw(Row& row, int64_t number) {
    const std::span<const float> logits = finite_logits(generator_, text_.size(), number, row.ids.size());
    const Drawn drawn =
        sampler_.draw(logits, row.ids, {.sample = row.sample, .place = static_cast<uint64_t>(row.made.ids.size())});
    row.ids.push_back(drawn.token);
    row.made.ids.push_back(drawn.token);
    row.made.log_probabilities.push_back(drawn.log_probability);
    if (text_.is_end(drawn.token)) return end(row, TextEnd::end);
    write(row, row.written->add(drawn.token));
    if (row.written->stopped()) return end(row, TextEnd::stop);
    const bool all = std::ssize(row.made.ids) >= settings_.tokens || room_behind(generator_, row.ids.size()) < 1;
    return all && end(row, TextEnd::tokens);
  }

  bool end(Row& row, TextEnd why) {
    row.made.end = why;
    return true;
  }

  void write(Row& row, const std::string& piece) {
    if (piece.empty()) return;
    row.made.text += piece;
    if (calls_.piece && !calls_.piece(row.prompt, row.sample, piece)) ended_ = true;
  }

  void keep(Row& row) {
    if (!ended_) write(row, row.written->finish());
    done_[row.prompt][row.sample] = std::move(row.made);
  }

  driver::Generator& generator_;
  const TextOfModel& text_;
  const GenerateSettings& settings_;
  const GenerateCalls& calls_;
  Sampler sampler_;
  std::vector<PromptTokens> prompts_;
  std::vector<std::vector<Continuation>> done_;
  std::vector<std::optional<Row>> rows_;
  size_t next_prompt_ = 0, next_sample_ = 0;
  bool told_ = false, ended_ = false;
};

}  // namespace

const char* to_string(TextEnd end) {
  switch (end) {
    case TextEnd::tokens: return "tokens";
    case TextEnd::end: return "end";
    case TextEnd::stop: return "stop";
  }
  return "";
}

std::vector<std::vector<Continuation>> generate(driver::Generator& generator, const TextOfModel& text,
                                                std::span<const SourceFile> prompts, const GenerateSettings& settings,
                                                const GenerateCalls& calls) {
  return Generation(generator, text, prompts, settings, calls).run();
}

}  // namespace heddle::tools
