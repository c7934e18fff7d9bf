// Mutated files through every registered reader as a training takes them: headers, then rows, then
// what the plan asks of both.
#include <fmt/format.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <filesystem>
#include <stdexcept>

#include "frontend/read/read_model.h"
#include "runtime/data/reader_def.h"
#include "runtime/files/temporary.h"
#include "tests/fuzz/campaign.h"
#include "tests/fuzz/made_files.h"
#include "tests/support/text_files.h"
#include "tools/driver/load_data.h"

namespace heddle::testing {
namespace {

// A classification of rows of this shape, whose data this reader reads.
std::string model_of(const std::string& shape, const std::string& reader) {
  return fmt::format(
      R"({{"format": "heddle-model/1", "name": "m", "inputs": {{"x": {{"shape": ["N", {}]}}, "y": {{"shape": ["N"], "dtype": "i32"}}}},
  "nodes": [{{"name": "flat", "op": "flatten", "in": "x"}}, {{"name": "logits", "op": "dense", "units": 10}}],
  "outputs": {{"logits": "logits"}},
  "train": {{"batch": {{"N": 2}}, "steps": 1, "loss": {{"op": "cross_entropy", "in": ["logits", "y"]}}, "optimizer": "sgd"}},
  "data": {{"train": {{{}}}, "validation": {{"fraction": 0.25}}, "map": {{"x": ["normalize"]}}}}}})",
      shape, reader);
}

// One of windows, whose next tokens are predicted.
std::string window_model(const std::string& reader) {
  return fmt::format(
      R"({{"format": "heddle-model/1", "name": "m", "inputs": {{"x": {{"shape": ["N", 4], "dtype": "i32"}}, "y": {{"shape": ["N", 4], "dtype": "i32"}}}},
  "nodes": [{{"name": "wte", "op": "embedding", "in": "x", "vocab": 400, "units": 2}}, {{"name": "logits", "op": "dense", "units": 400}}],
  "outputs": {{"logits": "logits"}},
  "train": {{"batch": {{"N": 2}}, "steps": 1, "loss": {{"op": "cross_entropy", "in": ["logits", "y"]}}, "optimizer": "sgd"}},
  "data": {{"train": {{{}}}, "validation": {{"fraction": 0.25, "draw": 1}}}}}})",
      reader);
}

struct Case {
  std::string reader, shape, settings;  // of the model; no shape: windows
  std::string file, content;            // that is mutated, in the data's folder
  bool binary = true;
};

// Four rows each. Labels that are not mutated are in y.npy.
std::vector<Case> cases() {
  const std::string floats = npy_file("{'descr': '<f4', 'fortran_order': False, 'shape': (4, 4), }\n", 64),
                    table = "a,b,c,d,kind\n1,2.5,-3,4e1,ant\n\"5\",6,7,8,bee\n9,10,NA,12,cow\n1,1,1,1,\"ant\"\n";
  std::string pictures;
  for (int row = 0; row < 4; ++row) pictures += static_cast<char>(row) + std::string(3072, static_cast<char>(row * 9));
  const std::string csv = R"("op": "csv", "file": "t.csv", "x": "a:d", "y": "kind", "missing": 0, )"
                          R"("classes": {"y": "sorted"})",
                    dialect =
                        R"("op": "csv", "file": "w.csv", "delimiter": "auto", "decimal": ",", "thousands": ".", )"
                        R"("skip": 1, "comment": "#", "missing": ["mean", "indicator"], "x": "a:d", "y": "kind", )"
                        R"("dates": {"d": ["days"]}, "classes": {"y": "sorted"}, "min_count": 2, "other": "rest")",
                    foreign =
                        "title\n# no\na;b;c;d;kind\n1,5;2;3;2024-01-01;ant\n\"1.000\";;3;2024-02-01T10:30Z;bee\n"
                        "9;yes;7;20240301;ant\n1;1;1;;cow\n";
  return {
      {"npy", "4", R"("op": "npy", "x": "x.npy", "y": "y.npy")", "x.npy", floats},
      {"npz", "4", R"("op": "npz", "file": "a.npz", "x": "x", "y": "y")", "a.npz",
       zip_file({{"x.npy", floats},
                 {"y.npy", npy_file("{'descr': '|u1', 'fortran_order': False, 'shape': (4,), }\n", 0) +
                               std::string{0, 1, 2, 3}}},
                true)},
      {"idx", "2, 2", R"("op": "idx", "x": "x.idx", "y": "y.idx")", "x.idx", idx_file(8, 1, {4, 2, 2})},
      {"csv", "4", csv, "t.csv", table, false},
      {"csv_dialect", "4", dialect, "w.csv", foreign, false},
      {"csv_where", "4",
       R"("op": "csv", "file": "t.csv", "x": "a:d", "y": "kind", "missing": 0, "hash": {"y": 3}, )"
       R"("where": "(missing(c) or a * b - c / d >= 0.25 or sqrt(a) in [1, 3]) and kind not in ['dog', 'it''s']")",
       "t.csv", table, false},
      {"json_where", "2",
       R"("op": "json_lines", "file": "t.jsonl", "x": "v", "y": "kind", "hash": {"y": 4}, )"
       R"("where": "missing(kind) or not missing(v) and kind != 'dog' and a % 3 < 2")",
       "t.jsonl",
       "{\"v\": [1, 2], \"kind\": \"ant\", \"a\": 1.5}\n{\"v\": [3, 4], \"kind\": \"b\\u00e9e\", \"a\": true}\n"
       "{\"v\": null, \"kind\": \"ant\", \"a\": 4}\n{\"v\": [0, 1], \"kind\": \"cow\", \"a\": 1}\n"
       "{\"v\": [5, 6], \"kind\": \"ant\", \"a\": 3.5}\n",
       false},
      {"libsvm", "4", R"("op": "libsvm", "file": "t.txt", "x": "features", "y": "target")", "t.txt",
       "1 1:2.5 3:-3\n0 # none\n2 2:4e1\n1 1:1 2:1 3:1 4:1\n", false},
      {"cifar", "32, 32, 3", R"("op": "cifar", "files": "a.bin", "kind": "cifar10", "x": "image", "y": "label")",
       "a.bin", pictures},
      {"image_folder", "2, 3, 1", R"("op": "image_folder", "folder": "pictures", "x": "image", "y": "label")",
       "pictures/ant/1.png", png_file()},
      {"sound_folder", "4, 8",
       R"("op": "sound_folder", "folder": "sounds", "rate": 8000, "n_fft": 16, "x": "log_mel", "y": "label")",
       "sounds/ant/1.wav", wav_file()},
      {"text_folder", "4",
       R"("op": "text_folder", "folder": "texts", "padding": "<pad>", "x": "characters", "y": "file")", "texts/ant.txt",
       "ab\nz\xc3\xa9ro\n\xe9\x9b\xa8\r\nx y\n"},
      {"json_lines", "4",
       R"("op": "json_lines", "file": "t.jsonl", "x": "what", "y": "kind", "text": {"x": "characters"}, )"
       R"("padding": "<pad>", "unknown": "<unk>", "classes": {"y": "sorted"})",
       "t.jsonl",
       "{\"what\": \"ab\", \"kind\": \"ant\"}\n{\"what\": \"b\\u00e9\", \"kind\": \"bee\", \"n\": [1, {\"a\": "
       "null}]}\n{\"what\": \"\", \"kind\": \"ant\"}\n{\"what\": \"aab\", \"kind\": \"ant\"}\n",
       false},
      {"tokens", "",
       R"("op": "tokens", "file": "t.txt", "documents": "lines", "end": "<e>", "stride": 2, "x": "window", "y": "next")",
       "t.txt", "the rain\nfalls on\n\xc3\xa9t\xc3\xa9\n"},
      {"parallel_text", "",
       R"("op": "parallel_text", "from": "a.txt", "to": "b.txt", "padding": "<pad>", "begin": "<s>", "end": "</s>", )"
       R"("x": "target", "y": "next")",
       "b.txt", "sea\nase\n\xc3\xa9\xc3\xa9\nes\xc3\xa9\n"}};
}

// What the cases' folders hold beside the file that is mutated.
void write_others(const std::string& folder) {
  write_text(folder + "/y.npy",
             npy_file("{'descr': '|u1', 'fortran_order': False, 'shape': (4,), }\n", 0) + std::string{0, 1, 2, 3});
  write_text(folder + "/y.idx", std::string{0, 0, 8, 1, 0, 0, 0, 4, 0, 1, 2, 3});
  for (const char* text : {"ant", "bee", "cow"}) {
    std::filesystem::create_directories(folder + "/texts");
    write_text(folder + "/texts/" + text + ".txt", "ab\nba\n");
  }
  write_text(folder + "/a.txt", "ab\nba\nab\nba\n");
  for (const char* sound : {"ant/0.wav", "bee/0.wav", "cow/0.wav"}) {
    std::filesystem::create_directories(std::filesystem::path(folder + "/sounds/" + sound).parent_path());
    write_text(folder + "/sounds/" + sound, wav_file());
  }
  for (const char* picture : {"ant/0.png", "bee/0.png", "cow/0.png"}) {
    std::filesystem::create_directories(std::filesystem::path(folder + "/pictures/" + picture).parent_path());
    write_text(folder + "/pictures/" + picture, png_file());
  }
}

void load(const frontend::TrainingPlan& plan, const std::string& folder) {
  const driver::DataRequest request{.plan = &plan, .root = folder, .train = true};
  const driver::DataHeader header = driver::read_headers(request);
  const driver::Splits splits = driver::load_splits(request, header);
  if (splits.train->table.rows != header.rows.train) throw std::runtime_error("other rows than the header says");
  for (const runtime::data::Column& column : splits.train->table.columns)
    if (std::ssize(column.content()) < header.rows.train * column.row_bytes())
      throw std::runtime_error("no room for a row");
}

TEST(Fuzz, Readers) {
  std::vector<std::string> met;
  for (const Case& c : cases()) {
    SCOPED_TRACE(c.reader);
    met.push_back(c.reader);
    const runtime::TemporaryFolder folder;
    write_others(folder.path());
    frontend::Sources sources;
    const frontend::Model model = frontend::read_model(
        sources, sources.add("m.json", c.shape.empty() ? window_model(c.settings) : model_of(c.shape, c.settings)));
    const frontend::TrainingPlan plan = frontend::plan_training(model);
    write_text(folder.path() + "/" + c.file, c.content);
    load(plan, folder.path());  // what is not mutated is read
    Campaign campaign{.name = "reader_" + c.reader, .corpus = {c.content}, .binary = c.binary, .target = {}};
    campaign.target = [&](const std::string& content) {
      write_text(folder.path() + "/" + c.file, content);
      load(plan, folder.path());
    };
    run(campaign, 300);
  }
  for (const std::string& name : runtime::data::reader_names())
    EXPECT_TRUE(name == "synthetic" || std::ranges::count(met, name) == 1) << name << " has no case";
}

}  // namespace
}  // namespace heddle::testing
