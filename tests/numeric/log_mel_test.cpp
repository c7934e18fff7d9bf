// Log-mel features against torchaudio and librosa: tests/training/reference/log_mel_*.safetensors (make_log_mel.py there).
#include <fmt/format.h>
#include <gtest/gtest.h>

#include <cmath>

#include "frontend/json/json.h"
#include "runtime/data/sound_columns.h"
#include "tests/numeric/reference_file.h"

namespace heddle::testing {
namespace {

using runtime::data::ReaderSetting;

// A case's metadata as a reader's settings; "bands" is none of them.
std::vector<ReaderSetting> settings_of(const frontend::Json& all) {
  std::vector<ReaderSetting> settings;
  for (const frontend::Json& item : all.items) {
    const ir::Key* key = ir::find_key(runtime::data::sound_keys(), item.key);
    if (key == nullptr) continue;
    ReaderSetting setting{.key = item.key, .value = {}, .where = {}};
    if (key->type == ir::KeyType::flag) setting.value = item.flag;
    if (key->type == ir::KeyType::integer) setting.value = item.integer;
    if (key->type == ir::KeyType::real) setting.value = item.real;
    if (key->type == ir::KeyType::text) setting.value = std::vector<std::string>{item.text};
    settings.push_back(setting);
  }
  return settings;
}

double farthest(const std::vector<float>& got, const ir::Tensor& expected) {
  if (std::ssize(got) != expected.elements()) return HUGE_VAL;
  double most = 0;
  for (int64_t i = 0; i < expected.elements(); ++i)
    most = std::max(most, std::abs(static_cast<double>(got[static_cast<size_t>(i)]) - expected.at(i)) /
                              std::max(1.0, std::abs(expected.at(i))));
  return most;
}

class LogMelOf : public ::testing::TestWithParam<const char*> {};

TEST_P(LogMelOf, AgreesWithTheLibrary) {
  const runtime::WeightsFile file = reference_file(fmt::format("log_mel_{}.safetensors", GetParam()));
  ASSERT_EQ(reference_cases(file).size(), 8U);
  for (const std::string& name : reference_cases(file)) {
    SCOPED_TRACE(file.metadata.at(name));
    const SourceFile text{"case", file.metadata.at(name)};
    const frontend::Json all = frontend::parse_json(text);
    const ir::Tensor sound = stored_tensor(file, name + "/sound"), in_double = stored_tensor(file, name + "/double");
    const int64_t bands = all.find("bands")->integer, frames = in_double.elements() / bands;
    const runtime::data::ReaderRequest request{
        .op = "sound_folder", .columns = {}, .settings = settings_of(all), .where = {}};
    const runtime::data::ColumnRequest column{
        .input = "x", .sources = {{"log_mel"}}, .dtype = "f32", .dims = {frames, bands}, .where = {}};
    const runtime::data::SoundRows rows(request, column, "log_mel");
    std::vector<double> samples;
    for (int64_t i = 0; i < sound.elements(); ++i) samples.push_back(sound.at(i) / 32768);
    std::vector<float> found(static_cast<size_t>(frames * bands));
    EXPECT_EQ(rows.store(samples, found.data()), frames);
    // What both compute in 64 bits is equal but for the last rounding; torchaudio's own 32 bits are 6e-5 away from it.
    EXPECT_LT(farthest(found, in_double), 1e-6);
    EXPECT_LT(farthest(found, stored_tensor(file, name + "/single")), 1e-4);
  }
}

INSTANTIATE_TEST_SUITE_P(Libraries, LogMelOf, ::testing::Values("torchaudio", "librosa"));

}  // namespace
}  // namespace heddle::testing
