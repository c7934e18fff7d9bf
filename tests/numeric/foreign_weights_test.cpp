// Models of Hugging Face's transformers, loaded by the tables of their twins in models/: the same logits. What they hold and
// answer is in tests/training/reference/foreign (see make_foreign.py).
#include <fmt/format.h>
#include <gtest/gtest.h>

#include <cmath>
#include <filesystem>
#include <sstream>

#include "tests/numeric/reference_file.h"
#include "tests/support/source_dir.h"
#include "tools/api/heddle.h"

namespace heddle::testing {
namespace {

const runtime::WeightsFile& answers() {
  static const runtime::WeightsFile file = reference_file("foreign/answers.safetensors");
  return file;
}

Array array_of(const runtime::SavedTensor& t) {
  const std::span<const std::byte> bytes = answers().bytes(t);
  return {.dtype = t.dtype, .shape = t.dims, .bytes = {bytes.begin(), bytes.end()}};
}

// The largest difference of two numbers.
double farthest(const std::vector<float>& a, const std::vector<float>& b) {
  if (a.size() != b.size() || a.empty()) return HUGE_VAL;
  double most = 0;
  for (size_t i = 0; i < a.size(); ++i) {
    const double off = std::abs(static_cast<double>(a[i]) - static_cast<double>(b[i]));
    if (!(off <= most)) most = off;  // nan, too
  }
  return most;
}

class ForeignWeights : public ::testing::TestWithParam<std::string> {
 protected:
  // The twin in the sizes of the stored model.
  static Model twin() {
    Options options;
    std::istringstream lines(answers().metadata.at(GetParam()));
    for (std::string line; std::getline(lines, line);) options.set.push_back(line);
    return Model::load(source_dir() / "models" / (GetParam() + ".json"), options);
  }
  static std::filesystem::path weights() {
    const std::filesystem::path folder = source_dir() / "tests/training/reference/foreign",
                                index = folder / (GetParam() + ".safetensors.index.json");
    return std::filesystem::exists(index) ? index : folder / (GetParam() + ".safetensors");
  }
  static Inputs inputs() {
    Inputs rows;
    for (const runtime::SavedTensor& t : answers().tensors)
      if (t.name.starts_with(GetParam() + "/") && !t.name.ends_with("/logits"))
        rows[t.name.substr(GetParam().size() + 1)] = array_of(t);
    return rows;
  }
};

TEST_P(ForeignWeights, GiveTheSameLogits) {
  Model model = twin();
  model.load_weights(weights());
  const Outputs got = model.predict(inputs());
  const Array expected = array_of(*answers().find(GetParam() + "/logits"));
  EXPECT_EQ(got.at("logits").shape, expected.shape);
  const double off = farthest(got.at("logits").floats(), expected.floats());
  EXPECT_LE(off, 1e-4);
  RecordProperty("farthest", fmt::format("{:.2g}", off));
}

INSTANTIATE_TEST_SUITE_P(All, ForeignWeights, ::testing::ValuesIn(reference_cases(answers())),
                         [](const auto& info) { return info.param; });

}  // namespace
}  // namespace heddle::testing
