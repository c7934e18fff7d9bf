#include "tools/predict/result_writer.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <fmt/ranges.h>
#include <unistd.h>

#include <cmath>
#include <cstdio>
#include <cstring>
#include <iterator>

#include "ir/check.h"
#include "runtime/json_text.h"
#include "tools/command/output.h"

namespace heddle::tools {
namespace {

using runtime::data::ElementType;

// The shortest text that reads back as the same number of the type. Rows may hold millions: none
// makes a string of its own.
void append_number(std::string& text, ElementType type, const std::byte* at, const char* not_finite) {
  runtime::data::visit(type, [&](auto v) {
    std::memcpy(&v, at, sizeof v);
    if constexpr (std::is_floating_point_v<decltype(v)>) {
      if (!std::isfinite(v) && not_finite != nullptr) {
        text += not_finite;
        return;
      }
    }
    fmt::format_to(std::back_inserter(text), "{}", v);
  });
}

void append_json(std::string& text, const driver::PredictOutput& output, size_t axis, const std::byte*& at) {
  if (axis == output.dims.size()) {
    append_number(text, output.type, at, "null");
    at += runtime::data::size_of(output.type);
    return;
  }
  text += '[';
  for (int64_t i = 0; i < output.dims[axis]; ++i) {
    if (i > 0) text += ", ";
    append_json(text, output, axis + 1, at);
  }
  text += ']';
}

std::string csv_quoted(const std::string& text) {
  if (text.find_first_of(",\"\r\n") == std::string::npos) return text;
  std::string out = "\"";
  for (const char c : text) out += c == '"' ? "\"\"" : std::string(1, c);
  return out + "\"";
}

std::string class_text(const driver::PredictOutput& output, int64_t index) {
  return output.classes.empty() ? std::to_string(index) : output.classes.at(static_cast<size_t>(index));
}

std::span<const std::byte> row_of(const driver::Predictor& predictor, size_t output, int64_t row) {
  const auto bytes = static_cast<size_t>(predictor.outputs()[output].row_bytes());
  return predictor.result(output).subspan(static_cast<size_t>(row) * bytes, bytes);
}

std::string format_of(const ResultRequest& request) {
  if (!request.format.empty()) return request.format;
  const std::string& path = request.path;
  if (path == "-" || runtime::is_stream(path)) return "jsonl";
  for (const std::string& format : kResultFormats)
    if (path.ends_with("." + format)) return format;
  if (path.ends_with(".ndjson")) return "jsonl";
  throw UserError(ExitCode::usage, fmt::format("--out {}: its name does not say what to write", path),
                  "end it in .npy, .csv or .jsonl, or say it with --format");
}

}  // namespace

ResultWriter::ResultWriter(const ResultRequest& request, const driver::Predictor& predictor)
    : request_(request), predictor_(predictor) {
  request_.format = format_of(request);
  require_form();
  if (request_.text) spelled_ = std::make_unique<SpelledTexts>(predictor);
  if (request_.path == "-") return;
  if (runtime::is_stream(request_.path)) {
    if (request_.format == "npy")
      throw UserError(ExitCode::usage, fmt::format("--out {}: npy is written to files", request_.path),
                      "its header holds the number of rows, which a stream knows only at its end");
    // Without O_NONBLOCK, opening a pipe that nobody reads would wait for ever.
    stream_ = std::make_unique<runtime::File>(request_.path, O_WRONLY | O_NOCTTY | O_NONBLOCK);
    ::fcntl(stream_->descriptor(), F_SETFL, O_WRONLY);
    return;
  }
  if (!request_.overwrite) runtime::require_new(request_.path);
  file_ = std::make_unique<runtime::FileReplacement>(request_.path);
}

void ResultWriter::require_form() const {
  const std::vector<driver::PredictOutput>& outputs = predictor_.outputs();
  if (request_.text && (request_.top > 0 || request_.format == "npy"))
    throw UserError(ExitCode::usage,
                    fmt::format("--text does not go together with {}", request_.top > 0 ? "--top" : "npy"),
                    request_.top > 0 ? "a text is of the most probable class of each step: leave one of the two out"
                                     : "write text into jsonl or csv");
  const bool one = request_.top > 0 || request_.format == "npy";
  if (one && outputs.size() > 1)
    throw UserError(
        ExitCode::usage,
        fmt::format("{} takes one output, the model has {}", request_.top > 0 ? "--top" : "npy", outputs.size()),
        fmt::format("choose one: --output {}", outputs[0].name));
  if (request_.path == "-" && request_.format == "npy")
    throw UserError(ExitCode::usage, "--out -: npy is written to files",
                    "its header holds the number of rows, which a stream knows only at its end");
  if (request_.top == 0) return;
  if (request_.format == "npy")
    throw UserError(ExitCode::usage, "--top writes names, which npy does not hold", "write jsonl or csv");
  if (outputs[0].dims.size() != 1 || outputs[0].dims[0] < 2)
    throw UserError(ExitCode::usage, fmt::format("--top: a row of output '{}' is no list of classes", outputs[0].name),
                    "choose an output with one number for each class: --output NODE");
}

void ResultWriter::send(std::string_view text) {
  if (text.empty()) return;
  if (file_) return file_->file().write(text.data(), std::ssize(text));
  if (stream_) return stream_->write(text.data(), std::ssize(text));
  write_result(text);
  flush_result();
}

bool ResultWriter::row_is_finite(int64_t row) const {
  for (size_t o = 0; o < predictor_.outputs().size(); ++o) {
    const std::span<const std::byte> bytes = row_of(predictor_, o, row);
    const bool finite = runtime::data::visit(predictor_.outputs()[o].type, [&](auto v) {
      for (size_t at = 0; at < bytes.size(); at += sizeof v) {
        std::memcpy(&v, bytes.data() + at, sizeof v);
        if (!std::isfinite(static_cast<double>(v))) return false;
      }
      return true;
    });
    if (!finite) return false;
  }
  return true;
}

std::string ResultWriter::json_row(const PredictRows& rows, int64_t row) const {
  runtime::JsonObject object;
  if (!rows.names.empty()) object.text("file", rows.names.at(static_cast<size_t>(row)));
  if (request_.top > 0) {
    const driver::PredictOutput& output = predictor_.outputs()[0];
    std::vector<std::string> list;
    for (const ScoredClass& c : top_classes(output, row_of(predictor_, 0, row), request_.top)) {
      runtime::JsonObject item;
      if (!output.classes.empty()) item.text("class", class_text(output, c.index));
      list.push_back(item.integer("index", c.index).number("probability", c.probability).str());
    }
    return object.raw("top", runtime::json_list(list)).str() + "\n";
  }
  if (spelled_) return object.text("text", spelled_->of(rows, row)).str() + "\n";
  for (size_t o = 0; o < predictor_.outputs().size(); ++o) {
    const std::byte* at = row_of(predictor_, o, row).data();
    std::string value;
    append_json(value, predictor_.outputs()[o], 0, at);
    object.raw(predictor_.outputs()[o].name, value);
  }
  return object.str() + "\n";
}

namespace {

// Fields of a line, one behind another: a row may have millions.
class CsvLine {
 public:
  void add(std::string_view field) { next() += field; }
  // Where the next field is to be appended.
  std::string& next() {
    if (any_) text_ += ',';
    any_ = true;
    return text_;
  }
  std::string end() && { return std::move(text_ += '\n'); }

 private:
  std::string text_;
  bool any_ = false;
};

}  // namespace

std::string ResultWriter::csv_header() const {
  CsvLine line;
  if (pictures_) line.add("file");
  if (spelled_) {
    line.add("text");
    return std::move(line).end();
  }
  const driver::PredictOutput& first = predictor_.outputs()[0];
  for (int64_t k = 1; k <= std::min<int64_t>(request_.top, first.row_elements()); ++k) {
    line.add(fmt::format("class_{}", k));
    line.add(fmt::format("probability_{}", k));
  }
  for (const driver::PredictOutput& output : predictor_.outputs()) {
    if (request_.top > 0) break;
    const int64_t n = output.row_elements();
    for (int64_t i = 0; i < n; ++i) line.add(n == 1 ? output.name : fmt::format("{}.{}", output.name, i));
  }
  return std::move(line).end();
}

std::string ResultWriter::csv_row(const PredictRows& rows, int64_t row) const {
  CsvLine line;
  if (!rows.names.empty()) line.add(csv_quoted(rows.names.at(static_cast<size_t>(row))));
  if (spelled_) {
    line.add(csv_quoted(spelled_->of(rows, row)));
    return std::move(line).end();
  }
  const driver::PredictOutput& first = predictor_.outputs()[0];
  if (request_.top > 0) {
    for (const ScoredClass& c : top_classes(first, row_of(predictor_, 0, row), request_.top)) {
      line.add(csv_quoted(class_text(first, c.index)));
      line.add(fmt::format("{}", c.probability));
    }
    return std::move(line).end();
  }
  for (size_t o = 0; o < predictor_.outputs().size(); ++o) {
    const driver::PredictOutput& output = predictor_.outputs()[o];
    const std::byte* at = row_of(predictor_, o, row).data();
    for (int64_t i = 0; i < output.row_elements(); ++i, at += runtime::data::size_of(output.type))
      append_number(line.next(), output.type, at, nullptr);
  }
  return std::move(line).end();
}

// Of a fixed length, so that the number of rows can be filled in at the end.
std::string ResultWriter::npy_header() const {
  constexpr size_t kBytes = 256;
  const driver::PredictOutput& output = predictor_.outputs()[0];
  const std::string name = runtime::data::to_string(output.type);
  const char* kind = runtime::data::is_floating(output.type) ? "f" : name[0] == 'u' ? "u" : "i";
  std::string shape = fmt::format("{},", rows_);
  for (const int64_t d : output.dims) shape += fmt::format(" {},", d);
  if (!output.dims.empty()) shape.pop_back();
  std::string text = fmt::format("{{'descr': '{}{}{}', 'fortran_order': False, 'shape': ({}), }}",
                                 runtime::data::size_of(output.type) == 1 ? "|" : "<", kind,
                                 runtime::data::size_of(output.type), shape);
  HEDDLE_CHECK(text.size() < kBytes - 11, "a shape of eight axes");
  text.resize(kBytes - 11, ' ');
  std::string head("\x93NUMPY\x01\0", 8);
  head += static_cast<char>((kBytes - 10) & 0xff);
  head += static_cast<char>((kBytes - 10) >> 8);
  return head.append(text).append(1, '\n');
}

void ResultWriter::write(const PredictRows& rows) {
  pictures_ = !rows.names.empty();
  std::string text;
  if (rows_ == 0 && request_.format == "csv") text = csv_header();
  if (rows_ == 0 && request_.format == "npy") text = npy_header();
  for (int64_t row = 0; row < rows.count; ++row) {
    if (request_.format == "jsonl") text += json_row(rows, row);
    if (request_.format == "csv") text += csv_row(rows, row);
    if (!row_is_finite(row)) ++not_finite_;
  }
  if (request_.format == "npy") {
    send(text);
    text.clear();
    send({reinterpret_cast<const char*>(predictor_.result(0).data()),
          static_cast<size_t>(rows.count * predictor_.outputs()[0].row_bytes())});
  }
  rows_ += rows.count;
  send(text);
}

void ResultWriter::finish() {
  if (rows_ == 0 && request_.format == "csv") send(csv_header());
  if (request_.format == "npy") {
    const std::string head = npy_header();
    if (::pwrite(file_->file().descriptor(), head.data(), head.size(), 0) != std::ssize(head))
      runtime::throw_not_written(request_.path);
  }
  if (stream_) stream_->close();
  if (file_) file_->finish();
}

}  // namespace heddle::tools
