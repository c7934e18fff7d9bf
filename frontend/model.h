// Model: the content of a model file, as plain structs. read_model fills them, and build_module turns them into IR.
//
//   {"name": "fc1", "op": "dense", "in": "x", "units": "4*d"}
//     -> NodeDef {name = "fc1", op = "dense", in = {{name = "x"}}, settings = {units: "4*d"}}
//
// Settings that may depend on the sizes of a block stay JSON, with locations, until the node is instantiated.
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

struct Named {  // a word of the file and its location
  std::string text;
  Location where;
};

enum class ImageLayout { nhwc, nchw };

// One entry of `in`: a name or a number literal. `port` is set if `in` is an object. For losses and metrics, an empty
// Reference stands for an optional input that is left out before one that is given.
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
  std::vector<Reference> in;         // for losses and metrics
  std::optional<Reference> weights;  // for losses: an input with a weight for each row
  std::vector<Json> settings;        // all other keys
  std::vector<Json> nulls;           // other keys with the value null, which count as absent
  Location where, op_where;
};

struct NodeDef {
  std::string name;  // empty: unnamed
  std::string op;    // if `block`: the name of the block
  bool block = false;
  std::vector<Reference> in;  // empty: the output of the previous node
  bool in_given = false;
  std::vector<Named> out;  // empty: one result, named as the node
  std::vector<Json> settings;
  std::optional<Json> repeat;  // blocks only
  std::vector<Json> with;      // blocks only: sizes for the block's expressions
  std::optional<Named> share;  // an earlier node, the first of those that share settings and parameters with this one
  std::optional<Location> shares_repeats;  // blocks only: all repetitions share the parameters of the first
  Location where, op_where, name_where;
  std::optional<Location> recompute;  // blocks only: the backward sweep computes the values inside again
  std::optional<Json> average, copy;  // with `share`: the parameters are copies of those of the shared node
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

// A group of parameters with separate settings. A parameter belongs to the first group with a glob that matches its
// path.
struct OptimizerGroup {
  std::vector<Named> match;
  std::vector<Json> settings;  // the group's settings, and those of the optimizer that it does not replace
  bool has_lr = false;         // whether the group itself sets lr
  Location where;
};
struct Optimizer : Part {
  std::vector<OptimizerGroup> groups;
};

// An exponential moving average of the trained parameters.
struct Average {
  double decay = 0.999;  // the share of the average that a step keeps
  int64_t start = 0;     // steps before the average begins
};

// The scale of the losses in a mixed-precision training, so that 16-bit gradients do not become 0.
struct LossScale {
  double initial = 65536;
  double growth = 2, backoff = 0.5;  // factors after `interval` clean steps in a row, and after an overflow; 1: fixed
  int64_t interval = 2000;
  Location where;
};

// The intervals at which a run is saved. The first one to end triggers a checkpoint.
struct CheckpointRule {
  std::optional<int64_t> steps, epochs;
  std::optional<double> minutes;
  int64_t keep = 2;  // number of the newest checkpoints that stay
};

struct EarlyStop {
  std::string on = "loss";  // a loss or metric
  std::string mode;         // "min" or "max"; empty: the metric decides
  int64_t patience = 5;
  double min_delta = 0;
  bool restore_best = true;
  Location where;
};

// An entry of train.regularize, which adds a penalty to the loss, or of train.constrain, which changes updated
// parameters. It applies to the parameters whose paths match one of the globs.
struct WeightRule : Part {
  std::vector<Named> match;
};

// One of several players of a training (for example, in a GAN). Its losses change only its parameters, with a separate
// optimizer. Train::losses lists the losses of all phases, one phase after another.
struct TrainPhase {
  std::string name;               // "critic"
  size_t losses = 0;              // number of its losses
  std::vector<Named> parameters;  // globs
  std::optional<Optimizer> optimizer;
  std::optional<double> clip_norm;
  int64_t every = 1;  // runs in every so many steps
  Location where;
};

// Low-rank adapters: a product of two thin trained matrices is added to each matched matrix. Nothing else is trained,
// except `train`.
struct Lora {
  int64_t rank = 8;
  double alpha = 8;  // the product is multiplied by alpha / rank
  double dropout = 0;
  std::vector<Named> match;  // globs over paths of layers, blocks and weights
  std::vector<Named> train;  // likewise: parameters that are trained themselves, besides the adapters
  Location where, rank_where;
  double scale() const { return alpha / static_cast<double>(rank); }
};

// Magnitude pruning: a growing share of the elements of some weights becomes 0 and stays 0.
struct Prune {
  std::vector<Named> match;
  double amount = 0;                        // the final share of zeros in each weight
  bool two_of_four = false;                 // prune in each group of four neighbouring inputs
  int64_t begin = 0, end = 1, every = 100;  // steps
  Location where, amount_where;
};

// Quantization-aware training: some products compute in 8-bit whole numbers, as predictions will.
struct Quantize {
  std::vector<Named> match;  // globs over weights of products
  int64_t start = 0;         // number of first steps that only observe the ranges of inputs
  bool moving = false;       // ranges are moving averages over batches; otherwise the widest range so far
  double momentum = 0.01;    // share of a batch in the moving averages
  Location where;
};

// Parameters are stored in bf16 between steps.
struct StoredParameters {
  bool nearest = false;  // updated parameters are rounded to nearest; else stochastically
  bool master = false;   // the optimizer updates f32 copies, and the parameters are these, rounded to nearest
  Location where;
};

// The memory limit of a training, and the blocks whose values it computes again to need less.
struct MemoryUse {
  std::optional<int64_t> limit;              // bytes of states and arena
  std::optional<std::vector<Named>> blocks;  // globs over paths of blocks that are computed again
  bool automatic = true;                     // also compute other blocks again, as many as the limit requires
};

struct Train {
  std::map<std::string, int64_t, std::less<>>
      sizes;                             // sizes of free dimensions from `batch`, including the batch dimension
  std::optional<int64_t> epochs, steps;  // if both are given, the first limit ends the training
  int64_t seed = 0;
  bool drop_last = false;
  int64_t accumulate = 1;    // micro-batches per step; divides the batch
  std::vector<Part> losses;  // their weighted sum is minimized
  std::vector<Part> metrics;
  std::optional<Optimizer> optimizer;
  std::vector<TrainPhase> phases;  // replace `optimizer` and `clip_norm`
  std::optional<double> clip_norm;
  bool gradient_norm = false;  // each step returns the norm of all gradients
  std::optional<Average> average;
  std::vector<WeightRule> regularize;  // each one is a term of the loss
  std::vector<WeightRule> constrain;   // applied one after another after each optimizer step
  std::string precision = "f32";       // of all f32 products, also in evaluations and predictions
  std::optional<LossScale> loss_scale;
  std::optional<StoredParameters> stored;  // nothing: in f32
  std::vector<Named> freeze;               // globs over parameter paths
  std::optional<Lora> lora;
  std::optional<Prune> prune;
  MemoryUse memory;
  std::optional<EarlyStop> early_stop;
  CheckpointRule checkpoint;
  std::optional<Part> init;  // for dense, conv and embedding weights without an initializer of their own
  Location where;
  std::optional<Quantize> quantize;
};

// A source of rows. `columns` maps each model input to files, or to names or indices of columns.
struct DataReader {
  std::string op;
  std::map<std::string, std::vector<Named>, std::less<>> columns;  // by model input
  std::vector<runtime::data::ReaderSetting> settings;              // all other keys, already checked
  Location where;
};

// A random draw of the training rows that serve as validation rows.
struct ValidationDraw {
  int64_t seed = 0;
  Named by;                     // an input or a column: rows are drawn with the same share of each value; empty: none
  Named group;                  // an input or a column: rows with equal values stay together; empty: none
  int64_t folds = 0, fold = 0;  // part `fold`, from 0 on, of `folds` parts; 0 folds: a fraction of the rows
};

// Buckets of shorter rows. Rows that are shorter than the model's go through entries made for their length.
struct Buckets {
  std::vector<Named> by;         // inputs that hold the length of a row; the largest one counts
  Named let;                     // the name in `let` of the length of rows
  int64_t longest = 0;           // the length of the model itself
  std::vector<int64_t> lengths;  // the lengths of shorter rows, ascending
  Location where, lengths_where;
};

struct Data {
  std::optional<DataReader> train, validation, test;
  double validation_fraction = 0;  // share of the rows of train; 0: none
  Location fraction_where;
  std::optional<Buckets> buckets;
  std::optional<ValidationDraw> draw;                                 // of validation rows; nullopt: the last rows
  std::map<std::string, std::vector<ir::DataMap>, std::less<>> maps;  // by model input
  Location where;
};

// A rule that maps tensors in files of other programs to one or several parameters each.
struct RenamedTensor {
  Named from;
  std::vector<Named> to;  // if several: the tensor is cut along axis 0
  bool transpose = false;
  std::optional<int64_t> part;  // the number of this tensor among those that are joined along axis 0
  NamePattern from_pattern;
  std::vector<NamePattern> to_patterns;  // they use the parts that `from` holds
};

// The names of parameters in files of other programs. A tensor without a rule keeps its name.
struct WeightsTable {
  std::vector<Named> prefix;           // prefixes to remove from names
  std::vector<RenamedTensor> names;    // the first rule that matches a name applies
  std::vector<Named> ignore, missing;  // globs: tensors to leave out; parameters that a training may start without
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
  // The same model for shorter rows, one for each length of data.buckets, without readers. `length` is that length, and
  // 0 for the model itself.
  std::vector<Model> shorter;
  int64_t length = 0;
};

}  // namespace heddle::frontend
