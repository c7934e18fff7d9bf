// Sounds as rows: wav files that are named, and those of folders in the order of their names, as the model's reader
// makes inputs of them.
#include <fmt/format.h>

#include <algorithm>
#include <filesystem>
#include <memory>
#include <system_error>

#include "runtime/data/sound_columns.h"
#include "runtime/data/synthetic.h"
#include "runtime/data/text_coder.h"
#include "tools/predict/row_source.h"

namespace heddle::tools {
namespace {

namespace fs = std::filesystem;
using namespace runtime::data;  // NOLINT: this file speaks of little else

bool is_sound(const fs::path& path) {
  std::string end = path.extension().string();
  std::ranges::transform(end, end.begin(), [](unsigned char c) { return static_cast<char>(std::tolower(c)); });
  return end == ".wav";
}

std::vector<std::string> files_of(const std::string& path) {
  std::error_code error;
  if (!fs::is_directory(path, error)) return {path};
  std::vector<std::string> files;
  for (fs::directory_iterator it(path, error), end; !error && it != end; it.increment(error))
    if (is_sound(it->path()) && it->path().filename().string()[0] != '.') files.push_back(it->path().string());
  if (error) throw UserError(ExitCode::failed, fmt::format("{}: {}", path, error.message()));
  if (files.empty())
    throw UserError(ExitCode::failed, fmt::format("{}: no sounds in the folder", path),
                    "files end in .wav; folders in it are not looked into");
  std::ranges::sort(files);
  return files;
}

// What the model's reader makes of sounds: "log_mel", "samples", "length", or "".
std::string word_of(const frontend::DataReader& reader, const std::string& input) {
  if (const ReaderSetting* setting = find_setting(reader.settings, "sound")) {
    const auto& words = std::get<ClassNames>(setting->value);
    const auto word = words.find(input);
    return word == words.end() ? "" : word->second.at(0);
  }
  const auto columns = reader.columns.find(input);
  if (columns == reader.columns.end() || (reader.op != "sound_folder" && reader.op != "synthetic")) return "";
  const std::string& word = columns->second.at(0).text;
  if (reader.op == "synthetic" && word == "frames") return "length";
  return word == "log_mel" || word == "samples" || (word == "length" && reader.op == "sound_folder") ? word : "";
}

// With the settings of sounds alone.
ReaderRequest request_of(const driver::Predictor& predictor, const frontend::DataReader& reader) {
  ReaderRequest request{.op = "sound_folder", .columns = {}, .settings = {}, .where = reader.where};
  for (const driver::PredictInput& input : predictor.inputs()) request.columns.push_back(input.request);
  const ReaderRequest own{.op = reader.op, .columns = {}, .settings = reader.settings, .where = reader.where};
  const std::vector<ReaderSetting>& settings = reader.op == "synthetic" ? synthetic_kind(own).sound : reader.settings;
  for (const ReaderSetting& setting : settings)
    if (ir::find_key(sound_keys(), setting.key) != nullptr) request.settings.push_back(setting);
  return request;
}

const frontend::DataReader& require_reader(const driver::Predictor& predictor, const std::string& file) {
  const frontend::Data& data = predictor.data();
  for (const auto* split : {&data.test, &data.validation, &data.train}) {
    if (!split->has_value()) continue;
    for (const driver::PredictInput& input : predictor.inputs())
      if (const std::string word = word_of(**split, input.request.input); word == "log_mel" || word == "samples")
        return **split;
  }
  throw UserError(ExitCode::usage, fmt::format("--in {}: the model's readers make no input of sound", file),
                  "a sound_folder does, and \"sound\" of csv and json_lines; else give the features as npy");
}

struct Sounds {
  ReaderRequest request;
  std::vector<std::string> files, words;  // the latter of all inputs of the predictor
  std::vector<size_t> inputs;
  std::unique_ptr<SoundColumns> columns = nullptr;
  size_t next = 0;

  int64_t fill(int64_t most, PredictRows& into) {
    const size_t count = std::min(static_cast<size_t>(most), files.size() - next);
    for (const size_t i : inputs) {
      const ColumnRequest& asked = request.columns[i];
      Column& column = into.columns.at(i);
      column = {.input = asked.input,
                .type = columns->type(i),
                .dims = columns->is_sound(i) ? asked.dims : std::vector<int64_t>()};
      column.bytes.resize(count * static_cast<size_t>(column.row_bytes()));
    }
    for (size_t row = 0; row < count; ++row) {
      const std::string& file = files[next + row];
      std::vector<int64_t> sizes(words.size());
      const auto place = [&](size_t i) {
        return into.columns[i].bytes.data() + static_cast<int64_t>(row) * into.columns[i].row_bytes();
      };
      for (const size_t i : inputs)
        if (columns->is_sound(i)) sizes[i] = columns->store(i, file, file, {}, place(i));
      for (const size_t i : inputs)
        if (columns->is_size(i)) store_integer(columns->type(i), sizes[columns->sound_of(i)], place(i));
      into.names.push_back(file);
    }
    next += count;
    return static_cast<int64_t>(count);
  }
};

}  // namespace

int64_t sound_count(const std::string& path) { return std::ssize(files_of(path)); }

bool holds_sounds(const std::string& folder) {
  std::error_code error;
  for (fs::directory_iterator it(folder, error), end; !error && it != end; it.increment(error))
    if (is_sound(it->path())) return true;
  return false;
}

OpenedSource open_sounds(const driver::Predictor& predictor, const std::vector<SourceRequest>& requests) {
  const auto sounds = std::make_shared<Sounds>();
  const SourceRequest& first = requests.at(0);
  const frontend::DataReader& reader = require_reader(predictor, first.path);
  sounds->inputs = first.inputs;
  for (const SourceRequest& request : requests) {
    if (request.path == "-")
      throw UserError(ExitCode::usage, "--in -: wav is not read from standard input", "give it as a file");
    if (request.inputs != first.inputs)
      throw UserError(ExitCode::usage, "--in: sounds of several inputs are given apart",
                      "one sound fills all inputs that the reader makes of it: --in FILE");
    for (std::string& file : files_of(request.path)) sounds->files.push_back(std::move(file));
  }
  sounds->request = request_of(predictor, reader);
  for (const driver::PredictInput& input : predictor.inputs())
    sounds->words.push_back(word_of(reader, input.request.input));
  for (const size_t i : sounds->inputs)
    if (sounds->words[i].empty())
      throw UserError(ExitCode::usage,
                      fmt::format("--in {}: the model's reader does not make the input '{}' of sound", first.path,
                                  sounds->request.columns[i].input),
                      "give that input a file of its own: INPUT=FILE");
  sounds->columns = std::make_unique<SoundColumns>(sounds->request, sounds->words,
                                                   std::vector<std::string>(sounds->words.size(), "sound"));
  return {first.path, first.inputs, [sounds](int64_t most, PredictRows& into) { return sounds->fill(most, into); },
          [sounds] { return sounds->columns->notes(); }};
}

}  // namespace heddle::tools
