#include "tools/predict/row_source.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cstring>
#include <filesystem>
#include <numeric>

#include "ir/check.h"
#include "runtime/data/check_column.h"
#include "runtime/data/idx.h"
#include "runtime/data/input_file.h"
#include "runtime/data/npy.h"
#include "runtime/data/picture.h"
#include "tools/predict/text_inputs.h"

namespace heddle::tools {
namespace {

namespace fs = std::filesystem;
using runtime::data::ElementType;
using runtime::data::Rows;

std::vector<std::string> input_names(const driver::Predictor& predictor) {
  std::vector<std::string> names;
  for (const driver::PredictInput& input : predictor.inputs()) names.push_back(input.request.input);
  return names;
}

// By the name's ending; an idx file has "idx" anywhere in it, as MNIST's do.
std::string format_of(const std::string& path) {
  if (path == "-") return "jsonl";
  std::error_code ec;
  if (fs::is_directory(path, ec)) return holds_sounds(path) ? "wav" : "image";
  std::string name = fs::path(path).filename().string();
  std::ranges::transform(name, name.begin(), [](unsigned char c) { return static_cast<char>(std::tolower(c)); });
  const bool packed = runtime::data::named_gzip(name);
  const std::string_view unpacked = std::string_view(name).substr(0, name.size() - (packed ? 3 : 0));
  const auto ends = [&](std::string_view end) { return unpacked.ends_with(end); };
  const bool npy = ends(".npy"), image = runtime::data::named_picture(unpacked);
  if (npy && !packed) return "npy";
  if (ends(".csv")) return "csv";
  if (ends(".txt")) return "txt";
  if (ends(".jsonl") || ends(".ndjson")) return "jsonl";
  if (image && !packed) return "image";
  if (ends(".wav") && !packed) return "wav";
  if (name.find("idx") != std::string::npos) return "idx";
  if (npy || image)
    throw UserError(ExitCode::usage, fmt::format("--in {}: files of this format are not read compressed", path),
                    "unpack it (gunzip); csv, jsonl and idx are read as .gz, too");
  throw UserError(
      ExitCode::usage, fmt::format("--in {}: its name does not say what it holds", path),
      "npy, csv, idx, png, jpg, bmp, webp, tif, gif, wav, jsonl, txt or a folder of pictures or sounds; else say it "
      "with --in-format");
}

// "image=FILE" where image is an input; else all of it is a path.
SourceRequest request_of(const std::string& word, const driver::Predictor& predictor, const std::string& format) {
  const std::vector<std::string> names = input_names(predictor);
  SourceRequest request;
  const size_t equals = word.find('=');
  const auto named = std::ranges::find(names, word.substr(0, equals));
  if (equals != std::string::npos && named != names.end()) {
    request.path = word.substr(equals + 1);
    request.inputs = {static_cast<size_t>(named - names.begin())};
  } else {
    std::error_code ec;
    if (equals != std::string::npos && !fs::exists(word, ec))
      throw UserError(ExitCode::usage,
                      fmt::format("--in: '{}' is no file, and the model's outputs need no input '{}'", word,
                                  word.substr(0, equals)),
                      fmt::format("they need {}", fmt::join(names, ", ")));
    request.path = word;
    request.inputs.resize(names.size());
    std::iota(request.inputs.begin(), request.inputs.end(), size_t{0});
  }
  if (request.path.empty())
    throw UserError(ExitCode::usage, fmt::format("--in: '{}' names no file", word), "NAME=FILE");
  request.format = format.empty() ? format_of(request.path) : format;
  return request;
}

// A text for one input also fills the input of its length, unless another file does.
void add_lengths(const driver::Predictor& predictor, std::vector<SourceRequest>& requests) {
  const auto filled = [&](size_t input) {
    return std::ranges::any_of(requests, [&](const auto& r) { return std::ranges::count(r.inputs, input) > 0; });
  };
  std::vector<size_t> all(predictor.inputs().size());
  std::iota(all.begin(), all.end(), size_t{0});
  if (std::ranges::all_of(all, filled)) return;
  const bool any = std::ranges::any_of(requests, [](const auto& r) { return r.format == "txt"; });
  if (!any) return;
  const TextInputs texts(predictor, all);
  for (SourceRequest& request : requests) {
    if (request.format != "txt" || request.inputs.size() != 1 || !texts.takes_text(request.inputs[0])) continue;
    for (const size_t i : all)
      if (texts.is_size(i) && texts.have_one_text(request.inputs[0], i) && !filled(i)) request.inputs.push_back(i);
  }
}

OpenedSource open_source(const driver::Predictor& predictor, const SourceRequest& request) {
  const bool text = request.format == "csv" || request.format == "jsonl" || request.format == "txt";
  if (request.path == "-" && !text)
    throw UserError(ExitCode::usage, fmt::format("--in -: {} is not read from standard input", request.format),
                    "csv, jsonl and txt are; give the others as files");
  if (!text && request.inputs.size() != 1)
    throw UserError(ExitCode::usage,
                    fmt::format("--in {}: the outputs need {} inputs, and this file holds one", request.path,
                                request.inputs.size()),
                    fmt::format("say which: --in {}={}", predictor.inputs().at(0).request.input, request.path));
  if (request.format == "npy") return open_npy(predictor, request);
  if (request.format == "idx") return open_idx(predictor, request);
  if (request.format == "csv") return open_csv(predictor, request);
  if (request.format == "txt") return open_text(predictor, request);
  return open_json_lines(predictor, request);
}

}  // namespace

int64_t known_rows(const std::vector<std::string>& in, const std::string& format) {
  int64_t rows = 0, pictures = 0;
  for (const std::string& word : in) {
    std::error_code ec;
    const std::string path = fs::exists(word, ec) ? word : word.substr(word.find('=') + 1);
    try {
      const std::string kind = format.empty() ? format_of(path) : format;
      if (kind == "npy") rows = std::max(rows, runtime::data::read_npy_header(path, path, {}, Rows::any).dims[0]);
      if (kind == "idx") rows = std::max(rows, runtime::data::read_idx_header(path, path, {}, Rows::any).dims[0]);
      if (kind == "image") pictures += picture_count(path);
      if (kind == "wav") pictures += sound_count(path);
    } catch (const UserError&) {  // told of where the file is opened for its rows
      return 0;
    }
  }
  return std::max(rows, pictures);
}

RowReader::RowReader(const driver::Predictor& predictor, const std::vector<std::string>& in,
                     const std::string& format) {
  constexpr const char* kOfSound = "; --in SOUND, without an input's name, fills all that the reader makes of a sound";
  std::vector<SourceRequest> requests, pictures, sounds;
  for (const std::string& word : in) requests.push_back(request_of(word, predictor, format));
  add_lengths(predictor, requests);
  for (SourceRequest& request : requests) {
    if (request.format == "wav") {
      sounds.push_back(std::move(request));
      continue;
    }
    if (request.format != "image") {
      sources_.push_back(open_source(predictor, request));
      continue;
    }
    if (request.inputs.size() != 1 || request.path == "-") open_source(predictor, request);  // says what is wrong
    pictures.push_back(std::move(request));
  }
  if (!sounds.empty()) sources_.push_back(open_sounds(predictor, sounds));
  // Pictures of one input are its rows, one after another.
  for (size_t i = 0; i < predictor.inputs().size(); ++i) {
    std::vector<SourceRequest> of_input;
    for (const SourceRequest& request : pictures)
      if (request.inputs[0] == i) of_input.push_back(request);
    if (!of_input.empty()) sources_.push_back(open_pictures(predictor, of_input));
  }
  std::vector<int> filled(predictor.inputs().size());
  for (const OpenedSource& source : sources_)
    for (const size_t i : source.inputs) ++filled[i];
  const std::vector<std::string> names = input_names(predictor);
  for (size_t i = 0; i < names.size(); ++i) {
    if (filled[i] == 0)
      throw UserError(ExitCode::usage, fmt::format("--in: nothing fills the input '{}'", names[i]),
                      fmt::format("add --in {}=FILE{}", names[i], sounds.empty() ? "" : kOfSound));
    if (filled[i] > 1)
      throw UserError(ExitCode::usage, fmt::format("--in: the input '{}' is filled by {} files", names[i], filled[i]),
                      fmt::format("give each input one: --in {}=FILE", names[i]));
  }
  // Reads standard input first: files always have as many rows at once as are asked for.
  std::stable_partition(sources_.begin(), sources_.end(), [](const OpenedSource& s) { return s.name == "<stdin>"; });
  const auto streams = std::ranges::count(sources_, "<stdin>", &OpenedSource::name);
  if (streams > 1)
    throw UserError(ExitCode::usage, "--in: standard input is given twice", "one stream holds all inputs");
}

bool RowReader::next(int64_t most, PredictRows& rows) {
  rows.first = read_;
  rows.names.clear();
  rows.count = sources_.at(0).read(most, rows);
  for (size_t i = 1; i < sources_.size(); ++i) {
    const int64_t wanted = rows.count;
    const int64_t got = sources_[i].read(std::max<int64_t>(wanted, 1), rows);
    if (got == wanted) continue;
    const bool shorter = got < wanted;
    if (shorter && got > 0) sources_[i].read(1, rows);  // says what is wrong with the next row, if it is there
    const int64_t ended = read_ + std::min(got, wanted);
    throw UserError(ExitCode::failed,
                    fmt::format("{} has {} rows, {} has more", sources_[shorter ? i : 0].name, ended,
                                sources_[shorter ? 0 : i].name),
                    "every input needs the same number of rows");
  }
  read_ += rows.count;
  return rows.count > 0;
}

const std::string& RowReader::source_of(size_t input) const {
  for (const OpenedSource& source : sources_)
    if (std::ranges::count(source.inputs, input) > 0) return source.name;
  HEDDLE_CHECK(false, "every input has a source");
}

std::vector<std::string> RowReader::notes() const {
  std::vector<std::string> notes;
  for (const OpenedSource& source : sources_)
    if (source.notes)
      for (const std::string& note : source.notes()) notes.push_back(fmt::format("{}: {}", source.name, note));
  return notes;
}

ElementType text_type(const runtime::data::ColumnRequest& request) {
  return request.one_hot ? ElementType::i32 : *runtime::data::element_type(request.dtype);
}

std::string value_fault(const runtime::data::ColumnRequest& request, ElementType type, const std::byte* element) {
  if (request.classes == 0 || runtime::data::is_floating(type)) return {};
  const int64_t value = runtime::data::visit(type, [&](auto v) {
    std::memcpy(&v, element, sizeof v);
    return static_cast<int64_t>(v);
  });
  if (runtime::data::range_fault(request, value).empty()) return {};
  return fmt::format("lies outside of 0 ... {}", request.classes - 1);
}

}  // namespace heddle::tools
