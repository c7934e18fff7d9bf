// Mutated weights, checkpoints and logs through what reads them.
#include <gtest/gtest.h>

#include <fstream>
#include <iterator>
#include <stdexcept>

#include "runtime/files/temporary.h"
#include "runtime/train/checkpoint.h"
#include "runtime/train/run_log.h"
#include "runtime/weights/dequantize.h"
#include "runtime/weights/read_weights.h"
#include "runtime/weights/safetensors.h"
#include "tests/fuzz/campaign.h"
#include "tests/fuzz/made_files.h"

namespace heddle::testing {
namespace {

TEST(Fuzz, WeightsFiles) {
  const std::string two =
      R"({"a.weight":{"dtype":"F32","shape":[2,3],"data_offsets":[0,24]},"b":{"dtype":"I64","shape":[],"data_offsets":[24,32]}})";
  const std::string meta =
      R"({"__metadata__":{"format":"pt"},"w":{"dtype":"F16","shape":[0],"data_offsets":[0,0]},"v":{"dtype":"BF16","shape":[4],"data_offsets":[0,8]}})";
  for (const bool binary : {true, false}) {
    Campaign c{.name = binary ? "weights" : "weights_header", .corpus = {}, .binary = binary, .target = {}};
    c.corpus = binary ? std::vector<std::string>{safetensors(two, 32), safetensors(meta, 8)}
                      : std::vector<std::string>{two, meta};
    const MemoryFile file;
    c.target = [&](const std::string& content) {
      const runtime::WeightsFile weights =
          runtime::read_safetensors(file.holding(binary ? content : safetensors(content, 32)));
      for (const runtime::SavedTensor& t : weights.tensors)
        if (weights.bytes(t).size() > weights.data.size()) throw std::runtime_error("bytes beyond the file");
      const runtime::WeightsFile taken = runtime::read_weights(file.path(), content.size() % 2 == 0 ? "a." : "").file;
      for (const runtime::SavedTensor& t : taken.tensors) {
        if (t.dtype == "f16" || t.dtype == "bf16" || t.dtype == "f64") throw std::runtime_error("not converted");
        taken.bytes(t);
      }
    };
    run(c, 1500);
  }
}

// Mutated headers, scales, shapes and data of quantised files: all becomes f32, or is refused.
TEST(Fuzz, QuantizedWeights) {
  const std::string header =
      R"({"__metadata__":{"heddle.quantized":"int4","heddle.quantized.version":"1","buffers":"n"},)"
      R"("a.w":{"dtype":"I8","shape":[2,3,2],"data_offsets":[0,12]},"a.w/scale":{"dtype":"F32","shape":[1,3,1],"data_offsets":[12,24]},)"
      R"("v":{"dtype":"U8","shape":[2,2],"data_offsets":[24,28]},"v/scale":{"dtype":"F32","shape":[2,1],"data_offsets":[28,36]},)"
      R"("v/shape":{"dtype":"I64","shape":[2],"data_offsets":[36,52]},"n":{"dtype":"I8","shape":[4],"data_offsets":[52,56]}})";
  const auto floats = [](size_t count) {
    std::string bytes;
    for (size_t i = 0; i < count; ++i) bytes += std::string("\0\0\x80\x3f", 4);
    return bytes;
  };
  std::string whole = safetensors(header, 0);
  whole += std::string(12, '\x81') + floats(3) + std::string(4, '\x7a') + floats(2);
  whole += std::string("\2\0\0\0\0\0\0\0\3\0\0\0\0\0\0\0", 16) + std::string(4, '\5');
  const MemoryFile file;
  EXPECT_EQ(runtime::read_weights(file.holding(whole)).file.tensors.size(), 3U);  // what is not mutated is read
  for (const bool binary : {true, false}) {
    Campaign c{.name = binary ? "quantized" : "quantized_text", .corpus = {whole}, .binary = binary, .target = {}};
    c.target = [&](const std::string& content) {
      const runtime::WeightsFile as_is = runtime::read_safetensors(file.holding(content));
      runtime::logical_tensors(as_is);
      const runtime::WeightsFile taken = runtime::read_weights(file.path()).file;
      for (const runtime::SavedTensor& t : taken.tensors)
        if (taken.bytes(t).size() > taken.data.size()) throw std::runtime_error("bytes beyond the file");
      if (taken.data.size() > 8 * content.size()) throw std::runtime_error("more numbers than the file has");
    };
    run(c, 1500);
  }
}

// What an earlier process left of a log, which a resumed run goes on with.
TEST(Fuzz, Logs) {
  const std::string log =
      "{\"event\": \"start\", \"model\": \"m\", \"at\": 0.1}\n{\"event\": \"step\", \"step\": 1, \"epoch\": 1, "
      "\"loss\": 2, \"at\": "
      "0.2}\n{\"event\": \"checkpoint\", \"step\": 1, \"file\": \"c\", \"at\": 0.3}\n{\"event\": \"epoch\", \"epoch\": "
      "1, \"step\": 2, "
      "\"at\": 1e300}\n";
  const runtime::TemporaryFolder folder;
  const std::string path = folder.path() + "/log.jsonl";
  Campaign c{.name = "log", .corpus = {log}, .binary = true, .target = {}};
  c.target = [&](const std::string& content) {
    std::ofstream(path, std::ios::binary) << content;
    runtime::RunLog again(path);
    again.go_on(static_cast<int64_t>(content.size() * 2 / 3), static_cast<int64_t>(content.size() % 3), 0.5);
    again.event("resume", runtime::JsonObject().integer("step", 1));
    again.finish();
    std::ifstream in(path, std::ios::binary);
    const std::string text{std::istreambuf_iterator<char>(in), {}};
    if (!text.ends_with("}\n") || text.find("{\"event\": \"resume\"") == std::string::npos)
      throw std::runtime_error("the log does not go on");
  };
  run(c, 300);
}

// Checkpoints, whose checksum is made right again behind each mutation: else none would be read at all.
TEST(Fuzz, Checkpoints) {
  const std::string header =
      R"({"__metadata__": {"heddle.checkpoint": "1", "heddle.step": "7", "heddle.epoch": "2", "heddle.step_of_epoch": "1", )"
      R"("heddle.seconds": "0.5", "heddle.epochs_without_better": "1", "heddle.best.value": "nan", "heddle.best.epoch": "1", )"
      R"("heddle.best.step": "3", "heddle.best.by": "the least 'loss'"}, "w": {"dtype": "F32", "shape": [2,2], "data_offsets": [0,16]}, )"
      R"("heddle/train/loss": {"dtype": "F64", "shape": [], "data_offsets": [16,24]}, )"
      R"("heddle/validation/f1": {"dtype": "F64", "shape": [2], "data_offsets": [24,40]}, )"
      R"("heddle/best/w": {"dtype": "F32", "shape": [2,2], "data_offsets": [40,56]}, )"
      R"("heddle/checksum": {"dtype": "U8", "shape": [16], "data_offsets": [56,72]}})";
  const std::string whole = sealed(safetensors(header, 72));
  const MemoryFile file;
  EXPECT_EQ(runtime::read_checkpoint(file.holding(whole)).state.steps, 7);  // what is not mutated is read
  for (const bool binary : {true, false}) {
    Campaign c{.name = binary ? "checkpoint" : "checkpoint_text", .corpus = {whole}, .binary = binary, .target = {}};
    c.target = [&](const std::string& content) {
      const runtime::Checkpoint read = runtime::read_checkpoint(file.holding(sealed(content)));
      if (read.state.steps < 0 || read.state.epochs < 0 || read.state.step_of_epoch < 0)
        throw std::runtime_error("a negative position");
      for (const runtime::SavedTensor& t : read.file.tensors) read.file.bytes(t);
    };
    run(c, 1500);
  }
}

}  // namespace
}  // namespace heddle::testing
