// Digits that are spoken one after another: vowels by two or three formants of a voice, consonants by noise in a band.
//
//   {"op": "synthetic", "kind": "spoken_digits", "rows": 8000, "sound": "log_mel", "frames": "frames", "text": "text"}
//     -> sound f32[84,40], frames 51, text u8[5] of "407"
//
// A speaker is drawn for each row: pitch, length of the vocal tract, speed; and so are how long each sound lasts, the
// pauses, loudness and noise. Samples are integers of 16 bits at 8 kHz, as a wav file has them; features are made of
// them as of files. One to five digits are spoken; with "held_out" two or more, in one of the tenth of all sequences
// that no other rows have. The synthesis is the cascade of resonators of Klatt 1980 (doi:10.1121/1.383940), much
// simplified; formants of vowels follow Peterson and Barney 1952 (doi:10.1121/1.1906875).
#include <algorithm>
#include <array>
#include <cmath>
#include <cstring>
#include <numbers>
#include <string>
#include <vector>

#include "runtime/data/drawn/text.h"
#include "runtime/data/keyed_random.h"
#include "runtime/data/sound_columns.h"

namespace heddle::runtime::data {
namespace {

constexpr int64_t kRate = 8000, kMostDigits = 5, kBlock = 40;  // samples of a block, in which formants stay
constexpr double kThird = 2600;                                // Hz: the third formant

// A part of a word: formants in Hz from its beginning to its end, and noise around a frequency.
struct Part {
  double seconds;
  double first, first_end, second, second_end;
  double voice, noise, noise_hz;
};

using Word = std::vector<Part>;
const std::array<Word, 10>& words() {
  static const std::array<Word, 10> all = {{
      // zero
      {{.07, 280, 280, 1800, 1800, .2, .5, 3400},
       {.09, 300, 380, 2200, 1700, 1, 0, 0},
       {.06, 420, 450, 1200, 1200, .9, 0, 0},
       {.13, 480, 380, 950, 800, 1, 0, 0}},
      // one
      {{.07, 300, 350, 650, 800, .8, 0, 0},
       {.14, 640, 620, 1190, 1250, 1, 0, 0},
       {.09, 260, 260, 1450, 1450, .4, 0, 0}},
      // two
      {{.03, 300, 300, 1700, 1700, 0, .8, 2800},
       {.03, 300, 300, 1600, 1500, 0, .2, 2200},
       {.19, 320, 310, 1200, 870, 1, 0, 0}},
      // three
      {{.08, 300, 300, 1400, 1400, 0, .25, 2000},
       {.06, 400, 380, 1200, 1500, .9, 0, 0},
       {.18, 290, 270, 2150, 2290, 1, 0, 0}},
      // four
      {{.09, 300, 300, 1000, 1000, 0, .25, 1300},
       {.16, 570, 540, 840, 880, 1, 0, 0},
       {.09, 480, 450, 1150, 1300, .8, 0, 0}},
      // five
      {{.09, 300, 300, 1000, 1000, 0, .25, 1300},
       {.12, 740, 700, 1150, 1300, 1, 0, 0},
       {.09, 600, 350, 1500, 2100, 1, 0, 0},
       {.06, 280, 280, 1100, 1100, .4, .1, 1500}},
      // six
      {{.10, 300, 300, 1800, 1800, 0, .9, 3500},
       {.09, 400, 400, 1990, 1950, 1, 0, 0},
       {.05, 300, 300, 1800, 1800, 0, 0, 0},
       {.11, 300, 300, 1800, 1800, 0, .8, 3400}},
      // seven
      {{.09, 300, 300, 1800, 1800, 0, .9, 3500},
       {.09, 540, 530, 1840, 1750, 1, 0, 0},
       {.04, 280, 280, 1100, 1100, .4, .1, 1500},
       {.06, 520, 500, 1300, 1400, .9, 0, 0},
       {.07, 260, 260, 1450, 1450, .4, 0, 0}},
      // eight
      {{.17, 520, 340, 1800, 2250, 1, 0, 0},
       {.06, 300, 300, 1800, 1800, 0, 0, 0},
       {.04, 300, 300, 1800, 1800, 0, .7, 2800}},
      // nine
      {{.08, 260, 260, 1450, 1450, .4, 0, 0},
       {.11, 720, 700, 1150, 1300, 1, 0, 0},
       {.09, 620, 360, 1500, 2100, 1, 0, 0},
       {.08, 260, 260, 1450, 1450, .4, 0, 0}},
  }};
  return all;
}

// The resonator of a formant: y(t) = a x(t) + b y(t - 1) + c y(t - 2).
class Resonator {
 public:
  void tune(double hz, double width) {
    constexpr double kTurn = 2 * std::numbers::pi / static_cast<double>(kRate);
    const double radius = std::exp(-kTurn / 2 * width);
    c_ = -radius * radius;
    b_ = 2 * radius * std::cos(kTurn * hz);
    a_ = 1 - b_ - c_;
  }
  double next(double x) {
    const double y = a_ * x + b_ * last_ + c_ * before_;
    before_ = last_;
    return last_ = y;
  }

 private:
  double a_ = 1, b_ = 0, c_ = 0, last_ = 0, before_ = 0;
};

class Utterance {
 public:
  explicit Utterance(const SyntheticRow& r) : random_(r.seed, static_cast<uint64_t>(r.row)) {
    draw_text(r.request.flag("held_out"));
    pitch_ = uniform(90, 220), tract_ = uniform(0.9, 1.12);
    const double speed = uniform(0.8, 1.25);
    pause(uniform(0.02, 0.12));
    for (const char digit : text) {
      for (Part part : words().at(static_cast<size_t>(digit - '0'))) {
        part.seconds *= uniform(0.85, 1.2) / speed;
        parts_.push_back(part);
      }
      pause(uniform(0.03, 0.15) / speed);
    }
  }

  // Of the whole sound.
  int64_t size() const {
    int64_t samples = 0;
    for (const Part& part : parts_) samples += samples_of(part);
    return samples;
  }

  std::vector<double> samples() {
    std::vector<double> sound;
    for (const Part& part : parts_) add(part, sound);
    double largest = 1e-9;
    for (const double x : sound) largest = std::max(largest, std::abs(x));
    const double loudness = uniform(0.2, 0.8) / largest, noise = uniform(0.0005, 0.01);
    for (double& x : sound) x = std::round((x * loudness + noise * white()) * 32767) / 32768;
    return sound;
  }

  std::string text;

 private:
  double uniform(double low, double high) {
    return low + (high - low) * static_cast<double>(random_.next() >> 11) * 0x1p-53;
  }
  double white() { return uniform(-1, 1); }
  static int64_t samples_of(const Part& part) {
    return static_cast<int64_t>(part.seconds * static_cast<double>(kRate));
  }
  void pause(double seconds) { parts_.push_back({seconds, 500, 500, 1500, 1500, 0, 0, 0}); }

  void draw_text(bool held_out) {
    const uint64_t fewest = held_out ? 2 : 1, count = fewest + random_.below(kMostDigits + 1 - fewest);
    uint64_t number = 0;
    do {
      text.clear();
      number = 0;
      for (uint64_t i = 0; i < count; ++i) {
        const uint64_t digit = random_.below(10);
        number = number * 10 + digit;
        text += static_cast<char>('0' + digit);
      }
    } while (count > 1 && is_held_out(number, count) != held_out);
  }

  // Formants move and loudness glides from where the part before left them.
  void add(const Part& part, std::vector<double>& sound) {
    const int64_t size = samples_of(part);
    for (int64_t t = 0; t < size; ++t) {
      if (t % kBlock == 0) {
        const double share = static_cast<double>(t) / static_cast<double>(size);
        const auto between = [&](double begin, double end) { return tract_ * (begin + (end - begin) * share); };
        formants_[0].tune(between(part.first, part.first_end), 80);
        formants_[1].tune(between(part.second, part.second_end), 110);
        formants_[2].tune(tract_ * kThird, 160);
        if (part.noise_hz > 0) hiss_.tune(std::min(tract_ * part.noise_hz, 3800.0), 500);
      }
      voice_ += (part.voice - voice_) * 0.01;
      noise_ += (part.noise - noise_) * 0.02;
      phase_ += pitch_ / static_cast<double>(kRate);
      double pulse = 0;
      if (phase_ >= 1) {
        phase_ -= 1;
        pulse = 1;
        pitch_ *= uniform(0.985, 1.0145);  // it falls a little
      }
      double voiced = voice_ * 20 * pulse;
      for (Resonator& formant : formants_) voiced = formant.next(voiced);
      sound.push_back(voiced + 0.3 * hiss_.next(noise_ * white()));
    }
  }

  KeyedRandom random_;
  double pitch_ = 0, tract_ = 1, voice_ = 0, noise_ = 0, phase_ = 0;
  std::vector<Part> parts_;
  std::array<Resonator, 3> formants_;
  Resonator hiss_;
};

const DrawnVocabulary& vocabulary() {
  static const DrawnVocabulary all = DrawnVocabulary::of_characters({"<pad>"}, "0123456789");
  return all;
}

std::vector<ReaderSetting> settings() {
  return {{"rate", kRate, {}}, {"n_fft", int64_t{512}, {}}, {"hop", int64_t{256}, {}}, {"floor", 1e-5, {}}};
}

ReaderRequest as_of_files(const ReaderRequest& request) {
  return {.op = "sound_folder", .columns = {}, .settings = settings(), .where = request.where};
}

SoundRows rows_of(const ReaderRequest& request, const ColumnRequest& column) {
  return {as_of_files(request), column, column.source()};
}

void require_sound(const ReaderRequest& request, const ColumnRequest& column) {
  constexpr int64_t kMostSeconds = 60;
  const SoundRows rows = rows_of(request, column);
  if (rows.most() > kMostSeconds * kRate)
    throw UserError(column.where, "a spoken row is longer than a minute: at most five digits are spoken");
}

void draw_sound(const SyntheticRow& r, std::byte* to) {
  rows_of(r.request, r.column).store(Utterance(r).samples(), reinterpret_cast<float*>(to));
}

// The number of frames or samples in the row of the sound input, after cutting; of features where there is no such
// input.
void draw_frames(const SyntheticRow& r, std::byte* to) {
  const auto& all = r.request.columns;
  const auto sound = std::ranges::find_if(
      all, [](const ColumnRequest& c) { return c.source() == "log_mel" || c.source() == "samples"; });
  const ColumnRequest features{.input = {}, .sources = {{"log_mel"}}, .dtype = "f32", .dims = {1, 1}, .where = {}};
  const ColumnRequest& column = sound == all.end() ? features : *sound;
  const int64_t most = sound == all.end() ? INT32_MAX : column.dims.at(0);
  const auto frames = static_cast<int32_t>(std::min(most, rows_of(r.request, column).size_of(Utterance(r).size())));
  std::memcpy(to, &frames, sizeof frames);
}

SyntheticKind kind() {
  const DrawText text = [](const SyntheticRow& r) { return Utterance(r).text; };
  return {.name = "spoken_digits",
          .columns = {{.source = "log_mel", .type = ElementType::f32, .check = require_sound, .draw = draw_sound},
                      {.source = "samples", .type = ElementType::f32, .check = require_sound, .draw = draw_sound},
                      {.source = "frames", .type = ElementType::i32, .check = require_number, .draw = draw_frames},
                      text_column("text", vocabulary, text),
                      length_column("length", "text", vocabulary, text)},
          .holds_out = true,
          .sound = settings()};
}

const RegisterSynthetic registered(kind());

}  // namespace
}  // namespace heddle::runtime::data
