#include "runtime/data/sound_columns.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>

#include "runtime/data/check_column.h"
#include "runtime/data/in_parallel.h"
#include "runtime/data/path.h"
#include "runtime/data/text_coder.h"

namespace heddle::runtime::data {
namespace {

constexpr int64_t kMostRate = 1'000'000;

const std::vector<std::pair<std::string, MelLog>>& logarithms() {
  static const std::vector<std::pair<std::string, MelLog>> all = {
      {"natural", MelLog::natural}, {"log10", MelLog::log10}, {"db", MelLog::db}, {"none", MelLog::none}};
  return all;
}

// The channel axis that some layers want may stand last.
std::vector<int64_t> own_dims(const ColumnRequest& column, size_t axes) {
  std::vector<int64_t> dims = column.dims;
  if (dims.size() == axes + 1 && dims.back() == 1) dims.pop_back();
  return dims;
}

LogMelSettings mel_settings(const ReaderRequest& request, int64_t mels) {
  LogMelSettings s;
  const auto number = [&](const char* key, auto otherwise) {
    const ReaderSetting* setting = request.find(key);
    return setting == nullptr ? otherwise : std::get<decltype(otherwise)>(setting->value);
  };
  s.rate = request.integer("rate");
  s.n_fft = request.integer("n_fft");
  const std::string fault = transform_fault(s.n_fft);
  if (!fault.empty()) throw UserError(request.place("n_fft"), "'n_fft' " + fault, "400, 512 and 1024 are usual");
  s.window = number("window", s.n_fft);
  if (s.window > s.n_fft)
    throw UserError(request.place("window"), fmt::format("'window' is {}, more than 'n_fft', {}", s.window, s.n_fft),
                    "a window lies inside its transform");
  s.hop = number("hop", std::max<int64_t>(s.window / 2, 1));
  s.mels = mels;
  s.low = request.find("low") == nullptr ? 0 : std::get<double>(request.value("low"));
  s.high = number("high", static_cast<double>(s.rate) / 2);
  if (!(s.low < s.high) || s.high > static_cast<double>(s.rate) / 2)
    throw UserError(request.place(request.find("high") == nullptr ? "low" : "high"),
                    fmt::format("bands from {} Hz to {} Hz: they lie between 0 and half of the rate, {} Hz", s.low,
                                s.high, static_cast<double>(s.rate) / 2));
  s.scale = request.text("scale") == "slaney" ? MelScale::slaney : MelScale::htk;
  s.norm = request.flag("norm");
  s.power = std::get<double>(request.value("power"));
  const std::string word = request.text("log");
  s.log = std::ranges::find(logarithms(), word, [](const auto& entry) { return entry.first; })->second;
  s.floor = std::get<double>(request.value("floor"));
  s.center = request.flag("center");
  s.reflect = request.text("border") == "reflect";
  return s;
}

}  // namespace

const std::vector<Key>& sound_keys() {
  static const std::vector<Key> keys = {
      {.name = "rate",
       .doc = "samples in a second: of all sounds, since none is resampled",
       .fallback = int64_t{16'000},
       .range = ir::between(1, static_cast<double>(kMostRate))},
      {.name = "mono",
       .type = KeyType::flag,
       .doc = "several channels become their mean, else they are refused",
       .fallback = true},
      {.name = "n_fft",
       .doc = "samples of a Fourier transform, an even number",
       .fallback = int64_t{400},
       .range = ir::between(2, static_cast<double>(kMostTransform))},
      {.name = "window", .doc = "samples of its Hann window, n_fft where it is not said", .range = ir::at_least(1)},
      {.name = "hop",
       .doc = "samples from one frame to the next, half of the window where it is not said",
       .range = ir::between(1, static_cast<double>(kMostRate))},
      {.name = "low",
       .type = KeyType::real,
       .doc = "Hz: where the first band begins",
       .fallback = 0.0,
       .range = ir::kNotNegative},
      {.name = "high",
       .type = KeyType::real,
       .doc = "Hz: where the last band ends, half of the rate where it is not said",
       .range = ir::kAboveZero},
      {.name = "scale",
       .type = KeyType::text,
       .doc = "of frequencies",
       .fallback = std::string("htk"),
       .words = {"htk", "slaney"}},
      {.name = "norm", .type = KeyType::flag, .doc = "bands have the area 1, else the height 1", .fallback = false},
      {.name = "power",
       .type = KeyType::real,
       .doc = "of the magnitudes: 2 for energies, 1 for magnitudes",
       .fallback = 2.0,
       .range = {.low = 0, .high = 8, .above = true}},
      {.name = "log",
       .type = KeyType::text,
       .doc = "of a band; db is 20 / power times that to the base of 10",
       .fallback = std::string("natural"),
       .words = {"natural", "log10", "db", "none"}},
      {.name = "floor",
       .type = KeyType::real,
       .doc = "what is smaller has the logarithm of this",
       .fallback = 1e-10,
       .range = ir::as_f32(ir::kAboveZero)},
      {.name = "center",
       .type = KeyType::flag,
       .doc = "a frame's middle lies at its sample, else its beginning",
       .fallback = true},
      {.name = "border",
       .type = KeyType::text,
       .doc = "what a centred frame reads outside of the sound",
       .fallback = std::string("reflect"),
       .words = {"reflect", "zeros"}},
  };
  return keys;
}

SoundRows::SoundRows(const ReaderRequest& request, const ColumnRequest& column, const std::string& word) {
  if (!is_floating(filled_type(column)))
    throw UserError(column.where, fmt::format("input '{}' is {}, and sound is f32", column.input, column.dtype),
                    "an input without a \"dtype\" is f32");
  const bool features = word == "log_mel";
  const std::vector<int64_t> dims = own_dims(column, features ? 2 : 1);
  if (dims.size() != (features ? 2U : 1U) || dims[0] < 1)
    throw UserError(column.where,
                    fmt::format("\"{}\" is a row {}, input '{}' has [{}]", word,
                                features ? "[frames, bands]" : "[samples]", column.input, fmt::join(column.dims, ",")),
                    "a last axis of 1 may follow");
  length_ = most_ = dims[0];
  if (!features) return;
  if (dims[1] < 1 || dims[1] > kMostMels)
    throw UserError(column.where, fmt::format("input '{}' has {} bands of the mel scale: 1 to {} are possible",
                                              column.input, dims[1], kMostMels));
  mel_ = std::make_unique<LogMel>(mel_settings(request, dims[1]));
  most_ = mel_->samples_of(length_);
}

int64_t SoundRows::store(std::span<const double> samples, float* to) const {
  const int64_t size = std::ssize(samples);
  if (mel_) {
    mel_->compute(samples, length_, to);
    return mel_->frames(size);
  }
  const int64_t own = std::min(size, length_);
  for (int64_t t = 0; t < own; ++t) *to++ = static_cast<float>(samples[static_cast<size_t>(t)]);
  std::fill_n(to, length_ - own, 0.0F);
  return size;
}

SoundColumns::SoundColumns(const ReaderRequest& request, std::vector<std::string> words,
                           std::vector<std::string> sources)
    : words_(std::move(words)), sound_of_(words_.size()), cut_(words_.size()), read_(words_.size()) {
  for (size_t i = 0; i < words_.size(); ++i) {
    const bool sound = words_[i] == "log_mel" || words_[i] == "samples";
    rows_.push_back(sound ? std::make_unique<SoundRows>(request, request.columns[i], words_[i]) : nullptr);
  }
  if (!any()) return;
  file_ = {.rate = request.integer("rate"), .mono = request.flag("mono"), .most = 0};
  for (size_t i = 0; i < words_.size(); ++i) {
    if (!is_size(i)) continue;
    size_t k = 0;
    while (k < words_.size() && !(is_sound(k) && sources[k] == sources[i])) ++k;
    if (k == words_.size())
      throw UserError(request.columns[i].where,
                      "a length is that of an input of sound, and the reader feeds none of it",
                      "give another input \"log_mel\" or \"samples\"");
    sound_of_[i] = k;
  }
}

bool SoundColumns::any() const {
  return std::ranges::any_of(words_, [](const std::string& word) { return !word.empty(); });
}

int64_t SoundColumns::store(size_t column, const std::filesystem::path& file, const std::string& name,
                            const Location& where, std::byte* to) const {
  const SoundRows& rows = *rows_[column];
  SoundRequest asked = file_;
  asked.most = rows.most();
  const Sound sound = read_sound(file, name, where, asked);
  const int64_t size = rows.size_of(sound.size);
  if (size == 0)
    throw UserError(where, fmt::format("{}: {} samples, fewer than one frame has", name, sound.size),
                    "a smaller \"n_fft\", or \"center\": true");
  rows.store(sound.samples, reinterpret_cast<float*>(to));
  ++read_[column];
  if (size > rows.length()) ++cut_[column];
  return std::min(size, rows.length());
}

void SoundColumns::read(const std::vector<FilePlace>& sounds, const std::filesystem::path& root, const Location& where,
                        Table& table, const Fail& fail) const {
  std::vector<std::byte*> begin;
  for (Column& column : table.columns) begin.push_back(column.writable());
  const auto at = [&](size_t column, int64_t row) { return begin[column] + row * table.columns[column].row_bytes(); };
  in_parallel(std::ssize(sounds), [&](int64_t i) {
    const FilePlace& sound = sounds[static_cast<size_t>(i)];
    try {
      const int64_t size =
          store(sound.column, resolve(root, sound.name, where), sound.name, where, at(sound.column, sound.row));
      for (size_t k = 0; k < words_.size(); ++k)
        if (is_size(k) && sound_of_[k] == sound.column) store_integer(table.columns[k].type, size, at(k, sound.row));
    } catch (const UserError& error) {
      fail(sound, error);
      throw;
    }
  });
}

std::vector<std::string> SoundColumns::notes() const {
  std::vector<std::string> notes;
  for (size_t i = 0; i < words_.size(); ++i) {
    if (!is_sound(i)) continue;
    const int64_t cut = cut_[i], length = rows_[i]->length();
    const LogMel* mel = rows_[i]->mel();
    if (cut > 0)
      notes.push_back(fmt::format("{} of {} sounds {} longer than {} {} and cut", cut, read_[i].load(),
                                  cut == 1 ? "is" : "are", length, mel == nullptr ? "samples" : "frames"));
    if (mel != nullptr && mel->empty_bands() > 0)
      notes.push_back(fmt::format("no frequency falls into {} of {} bands: a larger \"n_fft\" or fewer bands",
                                  mel->empty_bands(), mel->settings().mels));
  }
  return notes;
}

std::vector<std::string> sound_words(const ReaderRequest& request) {
  std::vector<std::string> words(request.columns.size());
  const ReaderSetting* setting = request.find("sound");
  if (setting == nullptr) return words;
  const auto& all = std::get<ClassNames>(setting->value);
  for (size_t i = 0; i < words.size(); ++i) {
    const std::string& input = request.columns[i].input;
    const auto word = all.find(input);
    if (word == all.end()) continue;
    for (const char* other : {"text", "classes"})
      if (const ReaderSetting* s = request.find(other); s != nullptr && std::get<ClassNames>(s->value).contains(input))
        throw UserError(s->where, fmt::format("input '{}' is sound, and is in \"{}\", too", input, other),
                        "take it out of one of them");
    words[i] = word->second.at(0);
  }
  return words;
}

Key sound_words_key() {
  return {.name = "sound",
          .type = KeyType::text,
          .count = Count::by_name,
          .doc = "for inputs whose values are paths of wav files",
          .words = {"log_mel", "samples", "length"}};
}

}  // namespace heddle::runtime::data
