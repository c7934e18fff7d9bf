// SoundColumns: a reader's columns that are made of sound: log-mel features, samples, and the number of these.
//
//   SoundColumns sounds(request, {"log_mel", "length", ""}, {"wav", "wav", "text"});
//   sounds.store(0, "a.wav", "a.wav", where, to)   -> f32[frames, mels] at `to`, and how many frames the sound has
//
// A sound that is longer than its row is cut; a shorter one is followed by silence.
#pragma once
#include <atomic>
#include <filesystem>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "runtime/data/log_mel.h"
#include "runtime/data/sound_file.h"
#include "runtime/data/table.h"

namespace heddle::runtime::data {

// The keys of sounds: rate, mono, and the keys of log-mel features.
const std::vector<Key>& sound_keys();

// Makes rows [samples] or [frames, mels] of one column. A last axis of 1 may follow.
class SoundRows {
 public:
  // `word` is "samples" or "log_mel". Throws UserError where the column or the settings do not fit.
  SoundRows(const ReaderRequest& request, const ColumnRequest& column, const std::string& word);
  // How many samples, counted from the beginning, a row depends on.
  int64_t most() const { return most_; }
  // Writes the row. Returns the number of the sound's frames or samples, including those that were cut.
  int64_t store(std::span<const double> samples, float* to) const;
  int64_t size_of(int64_t samples) const { return mel_ ? mel_->frames(samples) : samples; }
  int64_t length() const { return length_; }
  const LogMel* mel() const { return mel_.get(); }

 private:
  std::unique_ptr<LogMel> mel_;  // nullptr: samples
  int64_t length_ = 0, most_ = 0;
};

// A sound that a table names, and where it does.
struct SoundPlace {
  size_t column = 0;
  int64_t row = 0;
  std::string name;                      // relative to the data folder
  size_t file = 0;                       // number of the table's file, where there are several
  int64_t line = 0, column_in_line = 0;  // counted from 1
};

class SoundColumns {
 public:
  // A word for each of the request's columns: "log_mel", "samples" or "length"; "" for other columns.
  SoundColumns(const ReaderRequest& request, std::vector<std::string> words, std::vector<std::string> sources);
  bool any() const;
  bool is_sound(size_t column) const { return rows_[column] != nullptr; }
  bool is_size(size_t column) const { return words_[column] == "length"; }
  // For a column of lengths: the sound column that it counts.
  size_t sound_of(size_t column) const { return sound_of_[column]; }
  ElementType type(size_t column) const { return is_sound(column) ? ElementType::f32 : ElementType::i32; }

  // Writes a row of a sound column as f32. Returns how many frames or samples the sound has. Any thread may call it.
  int64_t store(size_t column, const std::filesystem::path& file, const std::string& name, const Location& where,
                std::byte* to) const;
  // Fills the sound columns of a table in several threads, and the columns of lengths. `fail` is called at a fault and
  // throws.
  using Fail = std::function<void(const SoundPlace&, const UserError&)>;
  void read(const std::vector<SoundPlace>& sounds, const std::filesystem::path& root, const Location& where,
            Table& table, const Fail& fail) const;
  // Notes for the user about the rows so far.
  std::vector<std::string> notes() const;

 private:
  std::vector<std::string> words_;
  std::vector<std::unique_ptr<SoundRows>> rows_;
  std::vector<size_t> sound_of_;
  SoundRequest file_;
  mutable std::vector<std::atomic<int64_t>> cut_, read_;  // by column
};

// The word that the setting "sound" of a reader gives each of its columns: {"features": "log_mel"}.
std::vector<std::string> sound_words(const ReaderRequest& request);
Key sound_words_key();

}  // namespace heddle::runtime::data
