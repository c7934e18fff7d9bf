#include "tools/generate/generated_metrics.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <cstring>
#include <deque>
#include <iterator>
#include <utility>

#include "frontend/read/read_model.h"
#include "ir/check.h"
#include "ir/diagnostic.h"
#include "runtime/text/tokenizer.h"
#include "tools/driver/entries.h"
#include "tools/generate/beam_search.h"
#include "tools/generate/rows.h"

namespace heddle::tools {
namespace {

using frontend::GeneratedMetric;
using runtime::data::Column;

constexpr int64_t kMostRows = 64;  // that are written at once

std::vector<int64_t> row_of(const Column& column, int64_t row) {
  std::vector<int64_t> out(static_cast<size_t>(column.row_elements()));
  const std::byte* at = column.content().data() + row * column.row_bytes();
  runtime::data::visit(column.type, [&](auto zero) {
    for (size_t i = 0; i < out.size(); ++i) {
      auto element = zero;
      std::memcpy(&element, at + i * sizeof element, sizeof element);
      out[i] = static_cast<int64_t>(element);
    }
  });
  return out;
}

const Column& column_of(const runtime::Split& split, const std::string& input) {
  const Column* column = split.table.find(input);
  HEDDLE_CHECK(column != nullptr, "a split has a column for each input");
  return *column;
}

template <class T>
Column column_from(const std::string& input, std::vector<int64_t> dims, const std::vector<T>& numbers) {
  Column column{.input = input, .type = runtime::data::ElementType::i32, .dims = std::move(dims)};
  std::vector<int32_t> narrow(numbers.begin(), numbers.end());
  column.bytes.resize(narrow.size() * sizeof(int32_t));
  std::memcpy(column.bytes.data(), narrow.data(), column.bytes.size());
  return column;
}

// The part of a row's labels that the model must generate.
struct Task {
  size_t first = 0, count = 0;  // the first place of a label, and of how many
  bool gap = false;             // labels that do not count stand between those that do
};

Task task_of(const std::vector<int64_t>& labels, int64_t length, int64_t ignored) {
  Task task;
  size_t last = 0;
  for (size_t i = 0; i < labels.size() && static_cast<int64_t>(i) < length; ++i) {
    if (labels[i] == ignored) continue;
    if (task.count++ == 0) task.first = i;
    last = i;
  }
  task.gap = task.count > 0 && last - task.first + 1 != task.count;
  return task;
}

// A text in progress. `ids`: those of the prompt and the continuation.
struct Writing {
  std::vector<uint32_t> ids = {};
  TextWindow window = {};
  size_t most = 0;  // tokens to write
  std::vector<int64_t> written = {};
  bool done = false;
};

// Makes a model that computes only the metric, from generated texts.
frontend::Model measuring(frontend::Sources& sources, const frontend::Model& model, const GeneratedMetric& metric,
                          int64_t size) {
  const std::string lengths = metric.lengths.empty() ? "" : R"(, "label_length": {"shape": ["N"], "dtype": "i32"})";
  const std::string json = fmt::format(
      R"({{"format": "heddle-model/1", "name": "{}", "inputs": {{"written": {{"shape": ["N", {}], "dtype": "i32"}},
"written_length": {{"shape": ["N"], "dtype": "i32"}}, "labels": {{"shape": ["N", {}], "dtype": "i32"}}{}}},
"nodes": [{{"name": "lengths", "op": "cast", "in": "written_length", "dtype": "f32"}}, {{"name": "mean", "op": "mean"}}],
"train": {{"batch": {{"N": {}}}, "steps": 1, "loss": {{"op": "value", "in": "mean"}}}}}})",
      metric.name, size, size, lengths, kMostRows);
  frontend::Model out = frontend::read_model(sources, sources.add(metric.name, json));
  out.let = model.let;
  const Location where = metric.part->op_where;
  std::vector<frontend::Reference> in;
  for (const char* name : {"written", "labels", "written_length", "label_length"})
    if (!metric.lengths.empty() || std::string_view(name) != "label_length")
      in.push_back({.name = name, .literal = {}, .port = {}, .where = where});
  out.train.metrics = {measured_part(metric, std::move(in))};
  return out;
}

}  // namespace

// The metric's program for a split.
struct GeneratedMetrics::Measure {
  Measure(const frontend::Model& of, const GeneratedMetric& metric, int64_t size, int64_t rows,
          const driver::CompileOptions& options, const OpenDevice& open_device)
      : model(measuring(sources, of, metric, size)), planned(model) {
    driver::CompileOptions compile = options;
    compile.entries = driver::entry_batches(planned.plan, {.train = 0, .validation = 0, .test = rows}, false);
    compile.stored.clear(), compile.recompute.clear();
    compile.remark = nullptr;
    compile.choices.file.clear();  // a table is for the training: nobody asks whether it is about this program too
    compiled = driver::compile(planned, compile);
    device = open_device();
    executable = std::make_unique<runtime::Executable>(compiled.program, *device);
  }

  frontend::Sources sources;
  frontend::Model model;
  driver::Planned planned;
  driver::Compiled compiled;
  std::unique_ptr<runtime::Device> device;
  std::unique_ptr<runtime::Executable> executable;
};

struct GeneratedMetrics::Texts {
  std::vector<int64_t> tokens, lengths;  // [rows, T], [rows]
};

GeneratedMetrics::GeneratedMetrics(const frontend::Model& model, const runtime::WeightsFile& weights,
                                   const driver::CompileOptions& options, OpenDevice open_device)
    : model_(model),
      options_(options),
      open_device_(std::move(open_device)),
      device_(open_device_()),
      metrics_(frontend::generated_metrics(model)) {
  HEDDLE_CHECK(!metrics_.empty(), "there is a metric of what the model writes");
  options_.entries.reset(), options_.stored.clear(), options_.recompute.clear();
  const bool searches = std::ranges::any_of(metrics_, [](const GeneratedMetric& m) { return m.beams.has_value(); });
  generator_ = std::make_unique<driver::Generator>(model, weights, driver::Generator::rows_for(kMostRows), searches,
                                                   options_, *device_);
  tokens_ = generator_->vocabulary();
  for (const frontend::GeneratedMetric& metric : metrics_)
    if (metric.end && (*metric.end < 0 || *metric.end >= tokens_))
      throw UserError(metric.part->op_where,
                      fmt::format("metric {}: 'end' is {}, and the model writes tokens from 0 to {}", metric.part->op,
                                  *metric.end, tokens_ - 1),
                      "give the token that ends a text");
  if (generator_->tokenizer().empty()) return;
  std::deque<SourceFile> files;
  files.push_back({"the tokenizer of the weights", generator_->tokenizer()});
  tokens_ = std::min<int64_t>(tokens_, runtime::text::read_tokenizer_json(files.back()).size());
}

GeneratedMetrics::~GeneratedMetrics() = default;

bool GeneratedMetrics::needed(const frontend::Model& model) { return !frontend::generated_metrics(model).empty(); }

namespace {

// The likeliest, of equal ones the first.
uint32_t likeliest(const driver::Generator& generator, int64_t row, int64_t tokens, size_t read) {
  const std::span<const float> logits = finite_logits(generator, static_cast<size_t>(tokens), row, read);
  return static_cast<uint32_t>(std::ranges::max_element(logits) - logits.begin());
}

// Sources of rows, filled up as the rows of the data are.
void encode(driver::Generator& generator, const runtime::Split& split, std::span<const int64_t> rows) {
  if (!generator.source()) return;
  const Column& sources = column_of(split, generator.source()->name);
  std::vector<int32_t> tokens, sizes;
  for (const int64_t row : rows) {
    const std::vector<int64_t> ids = row_of(sources, row);
    for (const int64_t id : ids) tokens.push_back(static_cast<int32_t>(id));
    const bool said = !generator.sizes().empty();
    sizes.push_back(static_cast<int32_t>(said ? row_of(column_of(split, generator.sizes()), row)[0] : std::ssize(ids)));
  }
  generator.encode(tokens, sizes);
}

// Reads the next token of each unfinished text. Appends a token to texts that have been read completely.
void step(driver::Generator& generator, std::vector<Writing>& texts, int64_t tokens,
          const std::optional<int64_t>& end) {
  std::vector<RowText> rows(texts.size());
  for (size_t i = 0; i < texts.size(); ++i) {
    if (texts[i].done) continue;
    texts[i].window.make_room(generator.context(), texts[i].ids.size());
    rows[i] = {.ids = &texts[i].ids, .window = texts[i].window};
  }
  fill_up(rows);
  read_next(generator, rows);
  for (size_t i = 0; i < texts.size(); ++i) {
    Writing& text = texts[i];
    if (text.done) continue;
    text.window = rows[i].window;
    if (text.window.next() < text.ids.size()) continue;
    const uint32_t id = likeliest(generator, static_cast<int64_t>(i), tokens, text.ids.size());
    text.ids.push_back(id), text.written.push_back(id);
    text.done = text.written.size() == text.most || end == static_cast<int64_t>(id);
  }
}

// The rows of a split as a metric looks at them.
class Rows {
 public:
  Rows(const driver::Generator& generator, const runtime::Split& split, const GeneratedMetric& metric)
      : generator_(generator),
        split_(split),
        metric_(metric),
        text_(column_of(split, generator.input())),
        labels_(column_of(split, metric.labels)) {
    const int64_t tokens = text_.row_elements();
    if (size() == tokens || (metric.of_last && size() < tokens)) return;
    throw UserError(metric.part->in[1].where,
                    fmt::format("metric {}: '{}' has {} labels of a row, and the text '{}' {} tokens: a label is what "
                                "follows its token",
                                metric.part->op, metric.labels, size(), text_.input, tokens),
                    "fewer labels are those of the last tokens where the loss reads a slice of axis 1 to its end");
  }
  int64_t size() const { return labels_.row_elements(); }

  // The task of a row. A row without labels counts only where its length says so.
  Writing begin(int64_t row) const {
    const bool sized = !metric_.lengths.empty();
    const int64_t length = sized ? row_of(column_of(split_, metric_.lengths), row)[0] : size();
    const Task task = task_of(row_of(labels_, row), length, metric_.ignore_index);
    if (task.gap)
      refuse(row, fmt::format("'{}' has labels of several texts", metric_.labels),
             "a row has one text that the model writes: its other labels are ignore_index");
    Writing writing;
    writing.most = metric_.end ? static_cast<size_t>(size()) - task.first : task.count;
    writing.done = task.count == 0 && (!sized || !metric_.end);
    if (!writing.done) writing.ids = prompt(row, task);
    return writing;
  }

 private:
  // Up to the token behind which the first label stands.
  std::vector<uint32_t> prompt(int64_t row, const Task& task) const {
    std::vector<uint32_t> ids;
    const std::vector<int64_t> told = row_of(text_, row);
    if (generator_.first()) ids.push_back(static_cast<uint32_t>(*generator_.first()));
    const auto before = static_cast<size_t>(text_.row_elements() - size());  // tokens that no label follows
    for (size_t i = 0; i < before + task.first + (generator_.first() ? 0 : 1); ++i) {
      if (told[i] < 0 || told[i] >= generator_.vocabulary())
        refuse(row, fmt::format("token {} of '{}' is {}, which is none", i, text_.input, told[i]),
               "the text up to the first label that counts is the prompt");
      ids.push_back(static_cast<uint32_t>(told[i]));
    }
    return ids;
  }

  [[noreturn]] void refuse(int64_t row, const std::string& what, const std::string& help) const {
    throw UserError(metric_.part->op_where,
                    fmt::format("metric {}: {} row {}, counted from 0: {}", metric_.part->op, split_.name, row, what),
                    help);
  }

  const driver::Generator& generator_;
  const runtime::Split& split_;
  const GeneratedMetric& metric_;
  const Column &text_, &labels_;
};

// Generates the texts, each in a row of the generator. Returns false after an interrupt.
bool write_each(driver::Generator& generator, const GeneratedMetric& metric, int64_t tokens,
                std::vector<Writing>& texts, const std::function<int()>& interrupted) {
  while (std::ranges::any_of(texts, [](const Writing& w) { return !w.done; })) {
    if (interrupted && interrupted() != 0) return false;
    step(generator, texts, tokens, metric.end);
  }
  return true;
}

// The same by beam search, with a row for each beam of a text.
bool search_each(driver::Generator& generator, const GeneratedMetric& metric, int64_t tokens,
                 std::vector<Writing>& texts, const std::function<int()>& interrupted) {
  std::vector<BeamSearch> searches;
  for (const Writing& text : texts) {
    SearchSettings settings{.width = metric.beams->width,
                            .length_penalty = metric.beams->length_penalty,
                            .tokens = static_cast<int64_t>(text.most),
                            .vocabulary = static_cast<size_t>(tokens),
                            .ends = [&](uint32_t id) { return metric.end == static_cast<int64_t>(id); }};
    searches.emplace_back(std::move(settings), text.ids, std::nullopt);
    if (text.done) searches.back().leave_out();
  }
  while (read_beams(generator, searches))
    if (interrupted && interrupted() != 0) return false;
  for (size_t i = 0; i < texts.size(); ++i)
    if (!searches[i].found().empty())
      std::ranges::copy(searches[i].found()[0].ids, std::back_inserter(texts[i].written));
  return true;
}

}  // namespace

GeneratedMetrics::Texts GeneratedMetrics::write(const runtime::Split& split, const GeneratedMetric& metric,
                                                const std::function<int()>& interrupted) {
  const Rows rows(*generator_, split, metric);
  Texts out;
  out.tokens.assign(static_cast<size_t>(split.rows() * rows.size()), 0);
  const int64_t at_once = generator_->rows() / (metric.beams ? metric.beams->width : 1);
  const int64_t rows_each = generator_->rows() / at_once;  // of the generator, for each text
  for (int64_t begin = 0; begin < split.rows(); begin += at_once) {
    const int64_t count = std::min(at_once, split.rows() - begin);
    std::vector<Writing> texts;
    std::vector<int64_t> numbers;
    for (int64_t i = 0; i < at_once; ++i) texts.push_back(i < count ? rows.begin(begin + i) : Writing{.done = true});
    for (int64_t i = 0; i < generator_->rows(); ++i) numbers.push_back(begin + std::min(i / rows_each, count - 1));
    encode(*generator_, split, numbers);
    const auto& made = metric.beams ? search_each : write_each;
    if (!made(*generator_, metric, tokens_, texts, interrupted)) return {};
    for (int64_t i = 0; i < count; ++i) {
      const std::vector<int64_t>& written = texts[static_cast<size_t>(i)].written;
      std::ranges::copy(written, out.tokens.begin() + (begin + i) * rows.size());
      out.lengths.push_back(std::ssize(written));
    }
  }
  return out;
}

runtime::MetricValues GeneratedMetrics::measure(const runtime::Split& split, runtime::WeightsFile weights,
                                                const std::function<int()>& interrupted) {
  generator_->load(std::move(weights));
  runtime::MetricValues values;
  std::map<std::string, Texts> written;  // by what they depend on
  for (const GeneratedMetric& metric : metrics_) {
    const frontend::Beams beams = metric.beams.value_or(frontend::Beams());
    Texts& texts =
        written[fmt::format("{} {} {} {} {} {}", metric.labels, metric.lengths, metric.ignore_index,
                            metric.end ? fmt::to_string(*metric.end) : "", beams.width, beams.length_penalty)];
    if (texts.lengths.empty()) texts = write(split, metric, interrupted);
    if (texts.lengths.empty()) return {};
    values.push_back(compare(split, metric, texts));
  }
  return values;
}

runtime::MetricValue GeneratedMetrics::compare(const runtime::Split& split, const GeneratedMetric& metric,
                                               const Texts& texts) {
  const Column& labels = column_of(split, metric.labels);
  const int64_t size = labels.row_elements();
  runtime::Split written{.name = split.name, .table = {.rows = split.rows(), .columns = {}}};
  std::vector<Column>& columns = written.table.columns;
  columns.push_back(column_from("written", {size}, texts.tokens));
  columns.push_back(column_from("written_length", {}, texts.lengths));
  const auto copied = [&](const std::string& input) {
    std::vector<int64_t> all;
    for (int64_t row = 0; row < split.rows(); ++row)
      std::ranges::copy(row_of(column_of(split, input), row), std::back_inserter(all));
    return all;
  };
  columns.push_back(column_from("labels", {size}, copied(metric.labels)));
  if (!metric.lengths.empty()) columns.push_back(column_from("label_length", {}, copied(metric.lengths)));
  std::unique_ptr<Measure>& measure = measures_[split.name + " " + metric.name];
  if (!measure) measure = std::make_unique<Measure>(model_, metric, size, split.rows(), options_, open_device_);
  runtime::MetricValues made =
      runtime::evaluate(*measure->executable, written, {}, {.indices = measure->compiled.plan.indices});
  HEDDLE_CHECK(made.size() == 2, "the loss and the metric");
  made[1].name = metric.name;
  return std::move(made[1]);
}

}  // namespace heddle::tools
