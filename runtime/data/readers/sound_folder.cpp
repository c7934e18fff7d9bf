// The reader `sound_folder`: wav files in a folder for each class, as in Speech Commands.
//
//   words/no/7.wav, words/yes/1.wav with "x": "log_mel", "size": "length", "y": "label"
//     -> x: f32[frames, bands], size: frames, y: 0 and 1
#include <fmt/format.h>

#include "runtime/data/class_folder.h"
#include "runtime/data/printable.h"
#include "runtime/data/sound_columns.h"

namespace heddle::runtime::data {
namespace {

namespace fs = std::filesystem;

const FileKind kSounds = {
    .many = "sounds",
    .endings = {".wav"},
    .endings_text = "files end in .wav",
    .others = {".flac", ".mp3", ".ogg", ".opus", ".m4a", ".aac", ".aiff", ".aif", ".au", ".wma"},
    .wanted = "sounds are wav files",
    .converted = "sox or ffmpeg converts it: sox FILE NEW.wav",
};

bool is_label(const ColumnRequest& column) { return column.source() == "label"; }

std::vector<std::string> words_of(const ReaderRequest& request) {
  std::vector<std::string> words;
  for (const ColumnRequest& column : request.columns) {
    const std::string& word = column.source();
    if (!is_label(column) && word != "log_mel" && word != "samples" && word != "length")
      throw UserError(column.where, fmt::format("a folder of sounds has \"log_mel\", \"samples\", their \"length\" and "
                                                "the \"label\", not \"{}\"",
                                                printable(word)));
    words.push_back(is_label(column) ? "" : word);
  }
  return words;
}

SoundColumns sounds_of(const ReaderRequest& request) {
  return {request, words_of(request), std::vector<std::string>(request.columns.size(), "sound")};
}

TableHeader read_header(const ReaderRequest& request, const fs::path& root) {
  const SoundColumns sounds = sounds_of(request);
  const ClassFolder folder = list_classes(request, root, kSounds);
  TableHeader header{.rows = std::ssize(folder.files), .types = {}};
  header.names_found = request.find("classes") == nullptr;
  for (size_t i = 0; i < request.columns.size(); ++i) {
    header.types.push_back(sounds.type(i));
    header.class_names.push_back(is_label(request.columns[i]) ? folder.classes : std::vector<std::string>());
  }
  return header;
}

Table read_rows(const ReaderRequest& request, const fs::path& root) {
  const SoundColumns sounds = sounds_of(request);
  const ClassFolder folder = list_classes(request, root, kSounds);
  Table table{.rows = std::ssize(folder.files), .columns = {}};
  std::vector<SoundPlace> places;
  for (size_t i = 0; i < request.columns.size(); ++i) {
    const ColumnRequest& asked = request.columns[i];
    const auto dims = sounds.is_sound(i) ? asked.dims : std::vector<int64_t>();
    std::byte* to = add_column(table, {.input = asked.input, .type = sounds.type(i), .dims = dims}, request.resident);
    auto* label = reinterpret_cast<int32_t*>(to);
    for (size_t row = 0; row < folder.files.size(); ++row) {
      if (sounds.is_sound(i))
        places.push_back({.column = i, .row = static_cast<int64_t>(row), .name = folder.files[row].name});
      if (is_label(asked)) label[row] = static_cast<int32_t>(folder.files[row].label);
    }
  }
  sounds.read(places, root, request.place("folder"), table, [](const SoundPlace&, const UserError&) {});
  for (const std::string& note : sounds.notes())
    table.notes.push_back(fmt::format("{}: {}", request.text("folder"), note));
  return table;
}

const RegisterReader sound_folder({
    .name = "sound_folder",
    .doc = "wav files in a folder for each class; an input is \"log_mel\", \"samples\", their \"length\", or \"label\"",
    .keys = class_folder_keys(sound_keys()),
    .header = read_header,
    .read = read_rows,
});

}  // namespace
}  // namespace heddle::runtime::data
