#include "frontend/read/foreign_names.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <set>
#include <sstream>

#include "frontend/initializer.h"
#include "frontend/layer_def.h"
#include "frontend/read/planned.h"
#include "frontend/training/training_def.h"
#include "frontend/training/weight_rules.h"
#include "ir/map_def.h"
#include "runtime/data/reader_def.h"
#include "tests/unit/built_model.h"

namespace heddle::frontend {
namespace {

TEST(ForeignNames, AreCalledOurs) {
  EXPECT_EQ(foreign_hint("Linear", layer_names()), "'Linear' is called 'dense' here");
  EXPECT_EQ(foreign_hint("MaxPooling2D", layer_names()), "'MaxPooling2D' is called 'max_pool2d' here");
  EXPECT_EQ(foreign_hint("GlobalMaxPool2D", layer_names()), "'GlobalMaxPool2D' is called 'global_max_pool' here");
  EXPECT_EQ(foreign_hint("SeparableConv", layer_names()), "'SeparableConv' is called 'separable_conv2d' here");
  EXPECT_EQ(foreign_hint("gradient_clip_val", {"epochs", "clip_norm"}),
            "'gradient_clip_val' is called 'clip_norm' here");
  EXPECT_EQ(foreign_hint("swish", layer_names()), "'swish' is called 'silu' here");
  EXPECT_EQ(foreign_hint("randn_like", layer_names()), "'randn_like' is called 'random_normal' here");
  EXPECT_EQ(foreign_hint("SparseCategoricalCrossentropy", loss_names()),
            "'SparseCategoricalCrossentropy' is called 'cross_entropy' here");
  EXPECT_EQ(foreign_hint("mean_iou", metric_names()), "'mean_iou' is called 'iou' here");
  EXPECT_EQ(foreign_hint("AdamW", optimizer_names()), "'AdamW' is called 'adamw' here");
  EXPECT_EQ(foreign_hint("CosineAnnealingWarmRestarts", schedule_names()),
            "'CosineAnnealingWarmRestarts' is called 'cosine_restarts' here");
  EXPECT_EQ(foreign_hint("xavier_uniform", initializer_names()), "'xavier_uniform' is called 'glorot_uniform' here");
  EXPECT_EQ(foreign_hint("lecun_normal", initializer_names()), "write {\"op\": \"variance_scaling\"}");
}

// What is only similar is not called so.
TEST(ForeignNames, SayWhatIsNearest) {
  EXPECT_EQ(foreign_hint("Muon", optimizer_names()), "adamw is the nearest");
  EXPECT_EQ(foreign_hint("SoftMarginLoss", loss_names()),
            "binary_cross_entropy, with targets of 0 and 1 instead of -1 and 1");
}

// What a word means depends on where it stands, and where it can mean nothing, nothing is said.
TEST(ForeignNames, MeanWhatMayStandThere) {
  EXPECT_EQ(foreign_hint("kernel_size", {"filters", "kernel"}), "'kernel_size' is called 'kernel' here");
  EXPECT_EQ(foreign_hint("kernel_size", {"window", "stride"}), "'kernel_size' is called 'window' here");
  EXPECT_EQ(foreign_hint("kernel_size", {"units"}), "");
  EXPECT_EQ(foreign_hint("num_embeddings", {"vocab", "units"}), "'num_embeddings' is called 'vocab' here");
  EXPECT_EQ(foreign_hint("embedding_dim", {"vocab", "units"}), "'embedding_dim' is called 'units' here");
  EXPECT_EQ(foreign_hint("index_select", layer_names()), "'index_select' is called 'gather' here");
  EXPECT_EQ(foreign_hint("gatherND", layer_names()), "'gatherND' is called 'gather_nd' here");
  EXPECT_EQ(foreign_hint("scatter_add", layer_names()), "'scatter_add' is called 'scatter' here");
  EXPECT_EQ(foreign_hint("l2", loss_names()), "'l2' is called 'mse' here");
  EXPECT_EQ(foreign_hint("l2", {"lr", "weight_decay"}), "'l2' is called 'weight_decay' here");
  EXPECT_EQ(foreign_hint("Linear", schedule_names()), "'Linear' is called 'linear' here");
  EXPECT_EQ(foreign_hint("p", {"rate"}), "'p' is called 'rate' here");
  EXPECT_EQ(foreign_hint("p", {"op", "probability"}), "'p' is called 'probability' here");
  EXPECT_EQ(foreign_hint("frobnicate", layer_names()), "");
}

// Whatever a model can name, so that no row of the table speaks of what is not there.
std::set<std::string> all_our_names() {
  std::set<std::string> names = {"inputs",    "nodes",         "data",       "train",      "batch",      "epochs",
                                 "steps",     "loss",          "seed",       "optimizer",  "average",    "precision",
                                 "clip_norm", "gradient_norm", "groups",     "early_stop", "checkpoint", "NHWC",
                                 "NCHW",      "valid",         "same",       "op",         "draw",       "by",
                                 "group",     "every",         "accumulate", "memory"};
  const auto add = [&](const std::vector<std::string>& more) { names.insert(more.begin(), more.end()); };
  const auto add_settings = [&](const std::vector<Key>& settings) {
    for (const Key& setting : settings) {
      names.insert(setting.name);
      add(setting.words);
    }
  };
  for (const std::string& name : layer_names()) add_settings(find_layer(name)->settings);
  for (const std::string& name : loss_names()) add_settings(find_loss(name)->settings);
  for (const std::string& name : metric_names()) add_settings(find_metric(name)->settings);
  for (const std::string& name : optimizer_names()) add_settings(find_optimizer(name)->settings);
  for (const std::string& name : schedule_names()) add_settings(find_schedule(name)->settings);
  for (const std::string& name : initializer_names()) add_settings(find_initializer(name)->settings);
  for (const auto& list :
       {layer_names(), loss_names(), metric_names(), optimizer_names(), schedule_names(), initializer_names(),
        regularizer_names(), constraint_names(), ir::map_names(), runtime::data::reader_names()})
    add(list);
  for (const std::string& name : ir::map_names())
    for (const ir::Key& key : ir::find_map(name)->keys) names.insert(key.name);
  for (const std::string& name : runtime::data::reader_names())
    for (const ir::Key& key : runtime::data::find_reader(name)->keys) names.insert(key.name);
  for (const ir::DType dtype : ir::all_dtypes()) names.insert(ir::to_string(dtype));
  return names;
}

TEST(ForeignNames, AreWordsOfSettings) {
  EXPECT_EQ(foreign_hint("sum", {"set", "add", "mul", "max", "min"}), "'sum' is called 'add' here");
  EXPECT_EQ(foreign_hint("SAME", {"valid", "same"}), "'SAME' is called 'same' here");
  EXPECT_EQ(foreign_hint("channels_last", {"NHWC", "NCHW"}), "'channels_last' is called 'NHWC' here");
  EXPECT_EQ(foreign_hint("minimize", {"min", "max"}), "'minimize' is called 'min' here");
}

TEST(ForeignNames, AreRowsThatSaySomethingOfWhatThereIs) {
  const std::set<std::string> known = all_our_names();
  size_t count = 0;
  for (const ForeignName& row : foreign_names()) {
    ASSERT_FALSE(row.names.empty() || row.ours.empty());
    for (const std::string_view ours : row.ours) EXPECT_EQ(known.count(std::string(ours)), 1u) << ours;
    for (const std::string_view name : row.names) {
      EXPECT_EQ(plain_word(name), name);
      for (const std::string_view ours : row.ours) {
        const std::string hint = foreign_hint(name, {std::string(ours)});
        EXPECT_EQ(hint, row.advice.empty() ? "'" + std::string(name) + "' is called '" + std::string(ours) + "' here"
                                           : std::string(row.advice))
            << "a row before says something else of " << name << " as " << ours;
      }
      ++count;
    }
  }
  EXPECT_GE(count, 400u);
}

// "a b c" -> those of which nothing is said where one of `candidates` may stand.
std::vector<std::string> silent(const std::string& names, const std::vector<std::string>& candidates,
                                PlannedKind kind = PlannedKind::op) {
  std::vector<std::string> out;
  std::istringstream words(names);
  for (std::string name; words >> name;) {
    const bool ours = std::find(candidates.begin(), candidates.end(), name) != candidates.end();
    if (!ours && foreign_hint(name, candidates).empty() && find_planned(kind, name) == nullptr) out.push_back(name);
  }
  return out;
}

using Names = std::vector<std::string>;

// The modules of torch.nn 2.15, losses apart, but AdaptiveLogSoftmaxWithLoss.
TEST(ForeignNames, KnowTheLayersOfPyTorch) {
  EXPECT_EQ(
      silent(
          "AdaptiveAvgPool1d AdaptiveAvgPool2d AdaptiveAvgPool3d AdaptiveMaxPool1d AdaptiveMaxPool2d AdaptiveMaxPool3d "
          "AlphaDropout AvgPool1d AvgPool2d AvgPool3d BatchNorm1d BatchNorm2d BatchNorm3d Bilinear CELU ChannelShuffle "
          "CircularPad1d CircularPad2d CircularPad3d ConstantPad1d ConstantPad2d ConstantPad3d Container Conv1d Conv2d "
          "Conv3d ConvTranspose1d ConvTranspose2d ConvTranspose3d CosineSimilarity CrossMapLRN2d DataParallel Dropout "
          "Dropout1d Dropout2d Dropout3d ELU Embedding EmbeddingBag FeatureAlphaDropout Flatten Fold "
          "FractionalMaxPool2d "
          "FractionalMaxPool3d GELU GLU GRU GRUCell GroupNorm Hardshrink Hardsigmoid Hardswish Hardtanh Identity "
          "InstanceNorm1d InstanceNorm2d InstanceNorm3d LPPool1d LPPool2d LPPool3d LSTM LSTMCell LayerNorm "
          "LazyBatchNorm1d LazyBatchNorm2d LazyBatchNorm3d LazyConv1d LazyConv2d LazyConv3d LazyConvTranspose1d "
          "LazyConvTranspose2d LazyConvTranspose3d LazyInstanceNorm1d LazyInstanceNorm2d LazyInstanceNorm3d LazyLinear "
          "LeakyReLU Linear LocalResponseNorm LogSigmoid LogSoftmax MaxPool1d MaxPool2d MaxPool3d MaxUnpool1d "
          "MaxUnpool2d "
          "MaxUnpool3d Mish ModuleDict ModuleList MultiheadAttention PReLU PairwiseDistance ParameterDict "
          "ParameterList "
          "PixelShuffle PixelUnshuffle RMSNorm RNN RNNBase RNNCell RNNCellBase RReLU ReLU ReLU6 ReflectionPad1d "
          "ReflectionPad2d ReflectionPad3d ReplicationPad1d ReplicationPad2d ReplicationPad3d SELU Sequential SiLU "
          "Sigmoid Softmax Softmax2d Softmin Softplus Softshrink Softsign SyncBatchNorm Tanh Tanhshrink Threshold "
          "Transformer TransformerDecoder TransformerDecoderLayer TransformerEncoder TransformerEncoderLayer Unflatten "
          "Unfold Upsample UpsamplingBilinear2d UpsamplingNearest2d ZeroPad1d ZeroPad2d ZeroPad3d",
          layer_names()),
      Names{});
}

TEST(ForeignNames, KnowTheLayersOfKeras) {
  EXPECT_EQ(
      silent(
          "Activation ActivityRegularization Add AlphaDropout Attention Average AveragePooling1D AveragePooling2D "
          "AveragePooling3D BatchNormalization Bidirectional CategoryEncoding CenterCrop Concatenate Conv1D "
          "Conv1DTranspose Conv2D Conv2DTranspose Conv3D Conv3DTranspose ConvLSTM1D ConvLSTM2D Cropping1D Cropping2D "
          "Cropping3D Dense DepthwiseConv1D DepthwiseConv2D Dot Dropout ELU Embedding Flatten GRU GRUCell "
          "GaussianDropout "
          "GaussianNoise GlobalAveragePooling1D GlobalAveragePooling2D GlobalAveragePooling3D GlobalMaxPooling1D "
          "GlobalMaxPooling2D GlobalMaxPooling3D GroupNormalization Identity InputLayer LSTM LSTMCell Lambda "
          "LayerNormalization LeakyReLU Masking MaxPooling1D MaxPooling2D MaxPooling3D Maximum Minimum "
          "MultiHeadAttention "
          "Multiply Normalization PReLU Permute RMSNormalization RandomCrop RandomFlip RandomTranslation ReLU "
          "RepeatVector Rescaling Reshape Resizing SeparableConv1D SeparableConv2D SimpleRNN Softmax SpatialDropout1D "
          "SpatialDropout2D SpatialDropout3D Subtract TimeDistributed UnitNormalization UpSampling2D ZeroPadding1D "
          "ZeroPadding2D ZeroPadding3D",
          layer_names()),
      Names{"ActivityRegularization"});
}

// Functions of torch and torch.nn.functional.
TEST(ForeignNames, KnowFunctions) {
  EXPECT_EQ(
      silent("addmm arange bincount bucketize clamp_min clamp_max detach eye cross floor_divide frac hypot isfinite "
             "histc isinf isnan linspace logit median "
             "masked_select moveaxis mv nan_to_num nonzero ones_like outer searchsorted std swapaxes tensordot tril "
             "trunc unique var zeros_like",
             layer_names()),
      Names{});
}

TEST(ForeignNames, KnowWhatTrains) {
  EXPECT_EQ(
      silent("BCELoss BCEWithLogitsLoss CTCLoss CosineEmbeddingLoss CrossEntropyLoss GaussianNLLLoss "
             "HingeEmbeddingLoss HuberLoss KLDivLoss L1Loss LinearCrossEntropyLoss MSELoss MarginRankingLoss "
             "MultiLabelMarginLoss MultiLabelSoftMarginLoss MultiMarginLoss NLLLoss NLLLoss2d PoissonNLLLoss "
             "SmoothL1Loss SoftMarginLoss TripletMarginLoss TripletMarginWithDistanceLoss BinaryCrossentropy "
             "BinaryFocalCrossentropy CategoricalCrossentropy CategoricalHinge CosineSimilarity CTC Dice Hinge Huber "
             "KLDivergence LogCosh MeanAbsoluteError MeanAbsolutePercentageError MeanSquaredError "
             "MeanSquaredLogarithmicError Poisson SparseCategoricalCrossentropy SquaredHinge Tversky "
             "AdaptiveLogSoftmaxWithLoss complete_box_iou_loss giou log_loss pinball quantile triplet",
             loss_names()),
      Names{});
  EXPECT_EQ(
      silent("Accuracy AUC BinaryAccuracy BinaryIoU CategoricalAccuracy F1Score FBetaScore IoU MeanAbsoluteError "
             "MeanIoU MeanSquaredError OneHotIoU OneHotMeanIoU Precision R2Score Recall RootMeanSquaredError "
             "SparseCategoricalAccuracy SparseTopKCategoricalAccuracy TopKCategoricalAccuracy average_precision "
             "balanced_accuracy CohenKappa bleu cross_entropy log_loss map MatthewsCorrCoef mrr ndcg roc_auc_score "
             "spearman specificity",
             metric_names()),
      Names{});
  EXPECT_EQ(
      silent("ASGD Adadelta Adafactor Adagrad Adam AdamW Adamax Ftrl LBFGS Lamb Lion Muon NAdam Nadam RAdam RMSprop "
             "Rprop SGD SparseAdam",
             optimizer_names()),
      Names{});
  EXPECT_EQ(silent("ChainedScheduler ConstantLR CosineAnnealingLR CosineAnnealingWarmRestarts CosineDecay "
                   "CosineDecayRestarts CyclicLR ExponentialDecay ExponentialLR InverseTimeDecay LambdaLR LinearLR "
                   "MultiStepLR MultiplicativeLR OneCycleLR PiecewiseConstantDecay PolynomialDecay PolynomialLR "
                   "ReduceLROnPlateau SequentialLR StepLR",
                   schedule_names()),
            Names{});
  EXPECT_EQ(
      silent("constant_ dirac_ eye_ kaiming_normal_ kaiming_uniform_ normal_ ones_ orthogonal_ sparse_ trunc_normal_ "
             "uniform_ xavier_normal_ xavier_uniform_ zeros_ GlorotNormal GlorotUniform HeNormal HeUniform Identity "
             "LecunNormal LecunUniform Orthogonal RandomNormal RandomUniform TruncatedNormal VarianceScaling",
             initializer_names()),
      Names{});
}

TEST(ForeignNames, KnowWhereRowsComeFrom) {
  EXPECT_EQ(
      silent("MNIST FashionMNIST CIFAR10 CIFAR100 ImageFolder image_dataset_from_directory TensorDataset tfrecord "
             "parquet hdf5 tsv jsonl text_dataset_from_directory TextLineDataset",
             runtime::data::reader_names()),
      Names{});
  EXPECT_EQ(
      silent("RandomHorizontalFlip RandomFlip RandomCrop RandomErasing ToTensor Rescaling Normalize StandardScaler "
             "Resize CutMix MixUp OneHot Pad AutoAugment CenterCrop ColorJitter Compose ConvertImageDtype GaussianBlur "
             "Grayscale RandAugment RandomAffine RandomResizedCrop RandomRotation RandomVerticalFlip "
             "TrivialAugmentWide Lambda "
             "Permute",
             ir::map_names()),
      Names{});
}

// What is planned is told by ours and by their names, and each says what to use instead.
TEST(Planned, SaysWhatToUseInstead) {
  for (const Planned& plan : planned()) {
    EXPECT_GE(plan.instead.size(), 20u) << plan.name;
    EXPECT_EQ(find_planned(plan.kind, plan.name), &plan);
    for (const std::string_view name : plan.foreign) EXPECT_EQ(find_planned(plan.kind, name), &plan) << name;
    const bool there = plan.kind == PlannedKind::op && find_layer(plan.name) != nullptr;
    EXPECT_FALSE(there) << plan.name;
  }
  EXPECT_EQ(find_planned(PlannedKind::op, "nn.LSTM"), nullptr);
  EXPECT_EQ(find_planned(PlannedKind::op, "tokens"), nullptr);
}

// What stands in for a planned operation is a model that is accepted.
TEST(Planned, IsReplacedByWhatIsSaid) {
  const std::string sequence = R"("x": {"shape": ["N", 16, 6]})",
                    words = R"("x": {"shape": ["N", 16], "dtype": "i32"})";
  const auto accepted = [](const std::string& inputs, const std::string& nodes) {
    EXPECT_NE(build(model(inputs, nodes, R"(, "outputs": {"y": "y"})")), nullptr) << nodes;
  };
  accepted(sequence, R"({"name": "c", "op": "conv1d", "filters": 8, "kernel": 3, "dilation": 2, "pad": "same",
      "activation": "relu"}, {"op": "mean", "axis": 1}, {"name": "y", "op": "dense", "units": 4})");
  accepted(sequence,
           R"({"name": "c", "op": "conv1d", "filters": 8, "kernel": 3}, {"name": "y", "op": "max", "axis": 1})");
  accepted(words,
           R"({"name": "e", "op": "embedding", "vocab": 50, "units": 8}, {"name": "y", "op": "mean", "axis": 1})");
  accepted(sequence,
           R"({"name": "q", "op": "dense", "units": 8, "in": "x"}, {"name": "k", "op": "dense", "units": 8, "in": "x"},
      {"name": "v", "op": "dense", "units": 8, "in": "x"}, {"op": "matmul", "in": ["q", "k"], "transpose_b": true, "name": "s"},
      {"name": "p", "op": "softmax"}, {"name": "y", "op": "matmul", "in": ["p", "v"]})");
  accepted(R"("x": {"shape": ["N", 4, 6, 6, 2]})", R"({"op": "transpose", "perm": [0, 2, 3, 1, 4]},
      {"op": "reshape", "shape": ["N", 6, 6, 8]}, {"name": "y", "op": "conv2d", "filters": 5, "kernel": 3})");
  accepted(R"("x": {"shape": ["N", 4, 6, 6, 2]})", R"({"name": "y", "op": "window_max", "window": [1, 2, 2, 2, 1],
      "strides": [1, 2, 2, 2, 1]})");
  accepted(sequence, R"({"name": "y", "op": "cumsum", "axis": 1})");
}

}  // namespace
}  // namespace heddle::frontend
