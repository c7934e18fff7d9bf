// The columns of a reader that are made of sound: log-mel features, samples, and how many of these a sound has.
//
//   SoundColumns sounds(request, {"log_mel", "length", ""}, {"wav", "wav", "text"});
//   sounds.store(0, "a.wav", "a.wav", where, to)   -> f32[frames, mels] at `to`, and how many frames the sound has
//
// What is longer than its row is cut, what is shorter is followed by silence.
#pragma once
#include <atomic>
#include <filesystem>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "runtime/data/file_place.h"
#include "runtime/data/log_mel.h"
#include "runtime/data/sound_file.h"
#include "runtime/data/table.h"

namespace heddle::runtime::data {

// The keys of sounds: rate, mono, and those of log-mel features.
const std::vector<Key>& sound_keys();

// One row [samples] or [frames, mels] of sound, which may have a last axis of 1.
class SoundRows {
 public:
  // `word` is "samples" or "log_mel". Throws UserError where the column or the settings do not fit.
  SoundRows(const ReaderRequest& request, const ColumnRequest& column, const std::string& word);
  // Samples that a row depends on.
  int64_t most() const { return most_; }
  // Writes the row; its own frames or samples, those that were cut away too.
  int64_t store(std::span<const double> samples, float* to) const;
  int64_t size_of(int64_t samples) const { return mel_ ? mel_->frames(samples) : samples; }
  int64_t length() const { return length_; }
  const LogMel* mel() const { return mel_.get(); }

 private:
  std::unique_ptr<LogMel> mel_;  // nullptr: samples
  int64_t length_ = 0, most_ = 0;
};

class SoundColumns {
 public:
  // A word for each of the request's columns: "log_mel", "samples" or "length", "" for what is no sound.
  SoundColumns(const ReaderRequest& request, std::vector<std::string> words, std::vector<std::string> sources);
  bool any() const;
  bool is_sound(size_t column) const { return rows_[column] != nullptr; }
  bool is_size(size_t column) const { return words_[column] == "length"; }
  // The column whose length a column is.
  size_t sound_of(size_t column) const { return sound_of_[column]; }
  ElementType type(size_t column) const { return is_sound(column) ? ElementType::f32 : ElementType::i32; }

  // The row of a column of sound, of the elements f32, and how many frames or samples it has. Any thread may call it.
  int64_t store(size_t column, const std::filesystem::path& file, const std::string& name, const Location& where,
                std::byte* to) const;
  // The rows of a table, by several threads, and the lengths of all columns. `fail` tells of a fault, and throws.
  using Fail = std::function<void(const FilePlace&, const UserError&)>;
  void read(const std::vector<FilePlace>& sounds, const std::filesystem::path& root, const Location& where,
            Table& table, const Fail& fail) const;
  // What is to be told of the rows so far.
  std::vector<std::string> notes() const;

 private:
  std::vector<std::string> words_;
  std::vector<std::unique_ptr<SoundRows>> rows_;
  std::vector<size_t> sound_of_;
  SoundRequest file_;
  mutable std::vector<std::atomic<int64_t>> cut_, read_;  // by column
};

// What the setting "sound" of a reader says of each of its columns: {"features": "log_mel"}.
std::vector<std::string> sound_words(const ReaderRequest& request);
Key sound_words_key();

}  // namespace heddle::runtime::data
