// Model: what a model file says, as plain structs. No behaviour; read_model fills it, build_module turns it into IR.
//
//   {"name": "fc1", "op": "dense", "in": "x", "units": "4*d"}
//     -> NodeDef {name = "fc1", op = "dense", in = {{name = "x"}}, settings = {units: "4*d"}}
//
// Settings whose meaning depends on a block's sizes stay located JSON until the node is instantiated.
#pragma once
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "frontend/expression.h"
#include "frontend/json/json.h"
#include "frontend/name_pattern.h"
#include "ir/map_def.h"
#include "ir/type.h"
#include "runtime/data/reader_def.h"

namespace heddle::frontend {

struct Named {  // a word of the file and its place
  std::string text;
  Location where;
};

enum class ImageLayout { nhwc, nchw };

// One entry of `in`: a name, or a number literal; `port` where `in` is an object. Of a loss or a metric it is empty where
// an input is left out in front of one that is given.
struct Reference {
  std::string name;  // empty for a literal
  std::optional<Number> literal;
  std::string port;
  Location where;
  bool left_out() const { return name.empty() && !literal && !where.valid(); }
};

// Anything with an "op" besides a node: a loss, metric, optimizer, schedule, initializer.
struct Part {
  std::string op;
  std::vector<Reference> in;         // losses and metrics
  std::optional<Reference> weights;  // losses: an input with a number for each row
  std::vector<Json> settings;        // every other key
  std::vector<Json> nulls;           // of these, those whose value is null: they count as absent
  Location where, op_where;
};

struct NodeDef {
  std::string name;  // empty: unnamed
  std::string op;    // for blocks the block's name, and `block` is set
  bool block = false;
  std::vector<Reference> in;  // empty: the previous node's output
  bool in_given = false;
  std::vector<Named> out;  // empty: one result, named as the node
  std::vector<Json> settings;
  std::optional<Json> repeat;  // blocks only
  std::vector<Json> with;      // blocks only: sizes for the block's expressions
  std::optional<Named>
      share;  // a node before it, whose settings and parameters it has: the first of those that share them
  std::optional<Location> shares_repeats;  // blocks only: every repetition has the parameters of the first
  Location where, op_where, name_where;
  std::optional<Location> recompute;  // blocks only: the backward sweep computes again what is inside
  std::optional<Json> average, copy;  // with `share`: its parameters are copies of those of the node before it
  bool copies() const { return average || copy; }
};

struct Block {
  std::string name;
  std::vector<Named> inputs;
  std::vector<NodeDef> nodes;
  Named output;
  std::vector<Json> let;
  Location where;
};

struct InputDef {
  std::string name;
  Json shape;  // a list; its first entry is the batch dimension, a free name shared by all inputs
  ir::DType dtype = ir::DType::f32;
  Location where;
};

struct OutputDef {
  std::string name;
  Reference value;
};

// Parameters that have settings of their own: those whose paths match one of the globs, and no group before.
struct OptimizerGroup {
  std::vector<Named> match;
  std::vector<Json> settings;  // its own, and those of the optimizer that it does not replace
  bool has_lr = false;         // of its own
  Location where;
};
struct Optimizer : Part {
  std::vector<OptimizerGroup> groups;
};

// An exponential moving average of the trained parameters.
struct Average {
  double decay = 0.999;  // share that is kept in each step
  int64_t start = 0;     // steps before it begins
};

// By what the losses of a mixed training are scaled, so that gradients of 16 bits do not become 0.
struct LossScale {
  double initial = 65536;
  double growth = 2, backoff = 0.5;  // behind `interval` clean steps in a row, and behind an overflow; 1: fixed
  int64_t interval = 2000;
  Location where;
};

// When a run is saved: as soon as one of them is due.
struct CheckpointRule {
  std::optional<int64_t> steps, epochs;
  std::optional<double> minutes;
  int64_t keep = 2;  // the newest so many
};

struct EarlyStop {
  std::string on = "loss";  // a loss or metric
  std::string mode;         // "min" or "max"; empty: what the metric says
  int64_t patience = 5;
  double min_delta = 0;
  bool restore_best = true;
  Location where;
};

// What one of train.regularize adds to the loss, or one of train.constrain makes of parameters: of those whose paths match
// one of the globs.
struct WeightRule : Part {
  std::vector<Named> match;
};

// One of several players: its losses change its parameters alone, by an optimizer of its own. Its losses are those of
// Train::losses that stand behind the ones of the phases before.
struct TrainPhase {
  std::string name;  // "critic"
  size_t losses = 0;
  std::vector<Named> parameters;  // globs
  std::optional<Optimizer> optimizer;
  std::optional<double> clip_norm;
  int64_t every = 1;  // steps
  Location where;
};

// Low-rank adapters: matrices get a trained product of two thin ones beside them, and nothing else is trained.
struct Lora {
  int64_t rank = 8;
  double alpha = 8;  // the product counts alpha / rank times
  double dropout = 0;
  std::vector<Named> match;  // globs over paths of layers, blocks and weights
  std::vector<Named> train;  // likewise: what is trained itself, beside the adapters
  Location where, rank_where;
  double scale() const { return alpha / static_cast<double>(rank); }
};

// Magnitude pruning: a growing share of some weights becomes 0, and stays so.
struct Prune {
  std::vector<Named> match;
  double amount = 0;                        // the share of each weight in the end
  bool two_of_four = false;                 // of each four neighbouring inputs
  int64_t begin = 0, end = 1, every = 100;  // steps
  Location where, amount_where;
};

// Some products compute in whole numbers of 8 bits, as they will in use.
struct Quantize {
  std::vector<Named> match;  // globs over weights of products
  int64_t start = 0;         // steps that only observe what inputs lie between
  bool moving = false;       // ranges are moving averages of those of batches, else the widest so far
  double momentum = 0.01;    // share of a batch in these
  Location where;
};

// Parameters are kept in bf16 from step to step.
struct StoredParameters {
  bool nearest = false;  // renewed ones are rounded to the nearest, else by a draw
  bool master = false;   // the optimizer renews copies in f32, and parameters are these, rounded to the nearest
  Location where;
};

// How much a training may take, and what it computes again to take less.
struct MemoryUse {
  std::optional<int64_t> limit;              // bytes of states and arena
  std::optional<std::vector<Named>> blocks;  // globs over paths of blocks that are computed again
  bool automatic = true;                     // as many others as the limit asks for
};

struct Train {
  std::map<std::string, int64_t, std::less<>>
      sizes;                             // free dimensions as `batch` binds them, the batch dimension included
  std::optional<int64_t> epochs, steps;  // where both are given, whichever ends first
  int64_t seed = 0;
  bool drop_last = false;
  int64_t accumulate = 1;    // micro-batches of a step, which divide the batch
  std::vector<Part> losses;  // what is trained is their weighted sum
  std::vector<Part> metrics;
  std::optional<Optimizer> optimizer;
  std::vector<TrainPhase> phases;  // in the place of `optimizer` and `clip_norm`
  std::optional<double> clip_norm;
  bool gradient_norm = false;  // each step tells the norm of all gradients
  std::optional<Average> average;
  std::vector<WeightRule> regularize;  // each is a term of the loss
  std::vector<WeightRule> constrain;   // one after the other, after each optimizer step
  std::string precision = "f32";       // of all products of f32, in evaluations and predictions too
  std::optional<LossScale> loss_scale;
  std::optional<StoredParameters> stored;  // nothing: in f32
  std::vector<Named> freeze;               // globs over parameter paths
  std::optional<Lora> lora;
  std::optional<Prune> prune;
  MemoryUse memory;
  std::optional<EarlyStop> early_stop;
  CheckpointRule checkpoint;
  std::optional<Part> init;  // of dense, conv and embedding weights that have none of their own
  Location where;
  std::optional<Quantize> quantize;
};

// A source of rows. `columns` says where each model input comes from: files, or names and indices of columns.
struct DataReader {
  std::string op;
  std::map<std::string, std::vector<Named>, std::less<>> columns;  // by model input
  std::vector<runtime::data::ReaderSetting> settings;              // every other key, checked
  Location where;
};

// Which of the training rows serve as validation, where they are drawn.
struct ValidationDraw {
  int64_t seed = 0;
  Named by;                     // an input or a column: each of its values gives its share of rows; empty: none
  Named group;                  // likewise: rows of one value stay together
  int64_t folds = 0, fold = 0;  // part `fold`, from 0 on, of so many of all rows; 0: a fraction of the rows
};

// Rows that are shorter than the model's go through entries that are made for their length.
struct Buckets {
  std::vector<Named> by;         // inputs that hold the length of a row: the largest counts
  Named let;                     // the size that is the length of rows
  int64_t longest = 0;           // the model's own
  std::vector<int64_t> lengths;  // of shorter rows, ascending
  Location where, lengths_where;
};

struct Data {
  std::optional<DataReader> train, validation, test;
  double validation_fraction = 0;  // of the rows of train; 0: none
  Location fraction_where;
  std::optional<Buckets> buckets;
  std::optional<ValidationDraw> draw;                                 // of the fraction; nothing: the last rows
  std::map<std::string, std::vector<ir::DataMap>, std::less<>> maps;  // by model input
  Location where;
};

// Tensors of other programs' files that become parameters: by one pattern one, or several.
struct RenamedTensor {
  Named from;
  std::vector<Named> to;  // several: the tensor is cut along axis 0
  bool transpose = false;
  std::optional<int64_t> part;  // which of the tensors that are joined along axis 0
  NamePattern from_pattern;
  std::vector<NamePattern> to_patterns;  // they hold what `from` holds
};

// How other programs call the parameters. What it does not name keeps its name.
struct WeightsTable {
  std::vector<Named> prefix;           // what is taken off names that begin with one of them
  std::vector<RenamedTensor> names;    // of a name that several match, the first
  std::vector<Named> ignore, missing;  // globs: tensors that are left out; parameters that a training may begin without
  Location where;
};

struct Model {
  std::string name;
  ImageLayout layout = ImageLayout::nhwc;
  Scope let;
  std::vector<InputDef> inputs;
  std::map<std::string, Block, std::less<>> blocks;
  std::vector<NodeDef> nodes;
  std::vector<OutputDef> outputs;
  Train train;
  Data data;
  std::optional<WeightsTable> weights;
  std::string batch_dimension;  // "N"
  const SourceFile* file = nullptr;
  // The same model of shorter rows, for each of data.buckets: its `length`, which is 0 of the model itself. They have no
  // readers.
  std::vector<Model> shorter;
  int64_t length = 0;
};

}  // namespace heddle::frontend
