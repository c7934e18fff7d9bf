// A training in buckets beside the one of whole rows: the same rows in the same order have the same losses and weights.
#include <gtest/gtest.h>

#include <cmath>
#include <cstring>
#include <filesystem>

#include "frontend/read/read_model.h"
#include "runtime/data/bucket_order.h"
#include "runtime/data/shuffle.h"
#include "runtime/host/host_device.h"
#include "runtime/weights/program_weights.h"
#include "tools/driver/row_buckets.h"
#include "tools/driver/session.h"

namespace heddle::driver {
namespace {

using runtime::data::Column;
using runtime::data::ElementType;
using runtime::data::Table;

constexpr const char* kNames = R"({
  "format": "heddle-model/1", "name": "names", "let": {"length": 16},
  "inputs": {
    "name": {"shape": ["N", "length"], "dtype": "i32"}, "size": {"shape": ["N"], "dtype": "i32"},
    "label": {"shape": ["N"], "dtype": "i32"}
  },
  "nodes": [
    {"name": "chars", "op": "embedding", "in": "name", "vocab": 27, "units": 8},
    {"name": "rnn", "op": "lstm", "in": {"x": "chars", "size": "size"}, "units": 12, "out": ["all", "last", "cell"]},
    {"name": "seen", "op": "multi_head_attention", "in": {"q": "chars", "lengths": "size"}, "heads": 2, "bias": false},
    {"name": "first", "op": "slice", "in": "seen", "axis": 1, "stop": 1}, {"name": "flat", "op": "flatten", "in": "first"},
    {"name": "both", "op": "concat", "in": ["last", "flat"]},
    {"name": "logits", "op": "dense", "units": 6}
  ],
  "train": {
    "batch": {"N": 16}, "epochs": 1, "seed": 3, "clip_norm": 1,
    "loss": {"op": "cross_entropy", "in": ["logits", "label"]},
    "metrics": [{"op": "accuracy", "in": ["logits", "label"]}],
    "optimizer": {"op": "adam", "lr": {"op": "cosine", "peak": 0.01}}
  },
  "data": {
    "train": {"op": "synthetic", "kind": "names", "rows": 250, "seed": 1, "name": "characters", "size": "length", "label": "label"},
    "validation": {"op": "synthetic", "kind": "names", "rows": 70, "seed": 2, "name": "characters", "size": "length", "label": "label"}
    BUCKETS
  }
})";

struct Trained {
  std::vector<double> losses;
  runtime::MetricValues train, validation;
  runtime::WeightsFile weights;
  int64_t arena = 0;
};

void permute(Table& table, const std::vector<uint32_t>& from) {
  for (Column& column : table.columns) {
    const auto size = static_cast<size_t>(column.row_bytes());
    std::vector<std::byte> bytes(size * from.size());
    for (size_t row = 0; row < from.size(); ++row)
      std::memcpy(bytes.data() + row * size, column.content().data() + from[row] * size, size);
    std::memcpy(column.writable(), bytes.data(), bytes.size());
  }
}

// Trains; `arrange` may change the rows before.
template <class F>
Trained train_with(const std::string& buckets, int threads, const F& arrange) {
  std::string text = kNames;
  text.replace(text.find("BUCKETS"), 7, buckets);
  frontend::Sources sources;
  const frontend::Model model = frontend::read_model(sources, sources.add("m.json", text));
  runtime::HostDevice device({.threads = threads, .kernel_cache = {}});
  Session s = open_session(model, {.folder = std::filesystem::temp_directory_path()});
  load(s, device);
  arrange(s);
  initialise(s);
  Trained trained;
  trained.arena = s.program.arena_bytes;
  runtime::Watcher watcher;
  watcher.step = [&](const runtime::StepEvent& e) { trained.losses.push_back(e.loss); };
  const runtime::TrainResult result = train(s, train_options(s), watcher);
  trained.train = result.train, trained.validation = result.validation.value();
  trained.weights = runtime::weights_of(*s.executable, {});
  return trained;
}

void expect_near(const runtime::WeightsFile& a, const runtime::WeightsFile& b, double tolerance) {
  ASSERT_EQ(a.tensors.size(), b.tensors.size());
  for (const runtime::SavedTensor& t : a.tensors) {
    const auto x = a.bytes(t), y = b.bytes(*b.find(t.name));
    ASSERT_EQ(x.size(), y.size()) << t.name;
    for (size_t at = 0; at < x.size(); at += sizeof(float)) {
      float p = 0, q = 0;
      std::memcpy(&p, x.data() + at, sizeof p), std::memcpy(&q, y.data() + at, sizeof q);
      ASSERT_NEAR(p, q, tolerance) << t.name;
    }
  }
}

TEST(Buckets, LossesAndWeightsAreThoseOfWholeRows) {
  constexpr const char* kBuckets = R"(, "buckets": {"by": "size", "let": "length", "lengths": [6, 9]})";
  std::vector<uint8_t> bucket;
  const Trained short_rows = train_with(kBuckets, 2, [&](Session& s) {
    bucket = s.splits.train->bucket;
    EXPECT_EQ(bucket, row_buckets(s.plan, s.splits.train->table));
    EXPECT_EQ(s.splits.validation->bucket.size(), 70U);
    for (const char* entry : {"train.6", "train.9", "train", "train_last", "eval.6", "eval.9", "eval", "eval_last"})
      EXPECT_NE(s.program.find_entry(ir::entry_kind(entry)), nullptr) << entry;
  });
  EXPECT_EQ(short_rows.losses.size(), 16U);  // 15 batches of 16 rows, and 10
  EXPECT_EQ(train_with(kBuckets, 1, [](Session&) {}).losses, short_rows.losses);
  // Row i of the shuffled order becomes row i of the buckets' order.
  const Trained whole_rows = train_with("", 2, [&](Session& s) {
    const std::vector<uint32_t> shuffled = runtime::data::shuffled(250, 3, 0),
                                wanted = runtime::data::bucket_order(shuffled, bucket, 2, 16).rows;
    std::vector<uint32_t> from(250);
    for (size_t i = 0; i < 250; ++i) from[shuffled[i]] = wanted[i];
    permute(s.splits.train->table, from);
  });
  ASSERT_EQ(whole_rows.losses.size(), short_rows.losses.size());
  for (size_t i = 0; i < whole_rows.losses.size(); ++i)
    EXPECT_NEAR(whole_rows.losses[i], short_rows.losses[i], 1e-6) << i;
  for (size_t i = 0; i < whole_rows.train.size(); ++i) {
    EXPECT_NEAR(whole_rows.train[i].value, short_rows.train[i].value, 1e-6);
    EXPECT_NEAR(whole_rows.validation[i].value, short_rows.validation[i].value, 1e-6);
  }
  expect_near(whole_rows.weights, short_rows.weights, 1e-5);
  EXPECT_EQ(short_rows.arena, whole_rows.arena);
}

// A label may name a place, which shorter rows have not: such a row is in a longer bucket. What is negative is no place.
TEST(Buckets, RowsGoWhereTheirPlacesAre) {
  const std::string text = R"({
    "format": "heddle-model/1", "name": "places", "let": {"length": 16},
    "inputs": {
      "x": {"shape": ["N", "length", 2]}, "size": {"shape": ["N"], "dtype": "i32"}, "other": {"shape": ["N"], "dtype": "i32"},
      "place": {"shape": ["N"], "dtype": "i32"}
    },
    "nodes": [{"name": "y", "op": "dense", "in": "x", "units": 1}, {"name": "logits", "op": "flatten"}],
    "train": {"batch": {"N": 2}, "epochs": 1, "loss": {"op": "cross_entropy", "in": ["logits", "place"]}, "optimizer": "sgd"},
    "data": {
      "train": {"op": "npy", "x": "x.npy", "size": "size.npy", "other": "other.npy", "place": "place.npy"},
      "buckets": {"by": ["size", "other"], "let": "length", "lengths": [4, "length/2"]}
    }
  })";
  frontend::Sources sources;
  const frontend::Model model = frontend::read_model(sources, sources.add("m.json", text));
  const Planned planned(model);
  ASSERT_EQ(planned.plan.buckets.size(), 2U);
  EXPECT_EQ(planned.plan.buckets[1].length, 8);
  Table table{.rows = 7, .columns = {}};
  const auto add = [&](const char* input, const std::vector<int64_t>& values) {
    Column c{.input = input, .type = ElementType::i64, .dims = {}};
    c.bytes.resize(values.size() * sizeof(int64_t));
    std::memcpy(c.bytes.data(), values.data(), c.bytes.size());
    table.columns.push_back(std::move(c));
  };
  add("size", {0, 4, 5, 8, 9, -3, 1}), add("other", {1, 0, 0, 2, 0, 0, 7}), add("place", {3, 4, 2, 8, 1, -100, 0});
  EXPECT_EQ(row_buckets(planned.plan, table), (std::vector<uint8_t>{0, 1, 1, 2, 2, 0, 1}));
  EXPECT_EQ(bucket_note(planned.plan, table, row_buckets(planned.plan, table), "training"),
            "training rows by length: 2 up to 4, 3 up to 8, 2 up to 16: 47 % of them is padding, 70 % without buckets");
}

}  // namespace
}  // namespace heddle::driver
