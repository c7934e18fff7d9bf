#include "frontend/foreign_names.h"

#include <fmt/format.h>

#include <algorithm>
#include <cctype>

namespace heddle::frontend {
namespace {

// Names in lower case without '_', '-' and '.'; what they are called here, of which the first that may stand there is
// meant; and, where that is not a name alone, what to write.
struct Foreign {
  std::vector<std::string_view> names;
  std::vector<std::string_view> ours;
  std::string_view advice = {};
};

const std::vector<Foreign>& table() {
  static const std::vector<Foreign> names = {
      // Layers and operations
      {{"linear", "fc", "fullyconnected", "innerproduct", "gemm"}, {"dense"}},
      {{"conv", "convolution", "convolution2d"}, {"conv2d"}},
      {{"maxpool", "maxpool2d", "maxpooling", "maxpooling2d"}, {"max_pool2d"}},
      {{"avgpool", "avgpool2d", "averagepool", "averagepooling2d"}, {"avg_pool2d"}},
      {{"globalaveragepooling2d", "globalaveragepool", "adaptiveavgpool2d"}, {"global_avg_pool"}},
      {{"globalmaxpooling2d", "globalmaxpool", "adaptivemaxpool2d"}, {"global_max_pool"}},
      {{"batchnormalization", "batchnorm", "batchnorm1d", "batchnorm2d", "bn"}, {"batch_norm"}},
      {{"layernormalization", "layernorm", "ln"}, {"layer_norm"}},
      {{"groupnormalization", "groupnorm"}, {"group_norm"}},
      {{"instancenorm2d", "instancenormalization", "instancenorm"}, {"instance_norm"}},
      {{"rmsnormalization", "rmsnorm"}, {"rms_norm"}},
      {{"convtranspose2d", "conv2dtranspose", "deconv", "deconvolution"}, {"conv2d_transpose"}},
      {{"upsampling2d", "upsample"}, {"upsample2d"}},
      {{"interpolate", "resize", "resizing"}, {"resize2d"}},
      {{"alphadropout", "featuredropout"}, {"dropout"}},
      {{"randn", "randnlike", "gaussiannoise", "randomnormallike"}, {"random_normal"}},
      {{"rand", "randlike", "randomuniformlike"}, {"random_uniform"}},
      {{"swish"}, {"silu"}},
      {{"reducemean", "average"}, {"mean"}},
      {{"reducesum"}, {"sum"}},
      {{"reducemax", "amax"}, {"max"}},
      {{"mm", "bmm", "dot", "batchmatmul"}, {"matmul"}},
      {{"lookup", "embeddingbag", "embeddinglookup"}, {"embedding"}},
      {{"take", "indexselect"}, {"gather"}},
      {{"gathernd"}, {"gather_nd"}},
      {{"takealongdim", "gatherelements"}, {"take_along_axis"}},
      {{"scatteradd", "scatterreduce", "indexadd", "segmentsum"}, {"scatter"}},
      {{"scatternd", "scatterelements", "tensorscatternd"}, {"scatter_nd"}},
      {{"onehot", "tocategorical", "categoryencoding"}, {"one_hot"}},
      {{"topk"}, {"top_k"}},
      {{"view"}, {"reshape"}},
      {{"permute"}, {"transpose"}},
      {{"cat", "concatenate"}, {"concat"}},
      {{"where"}, {"select"}},
      {{"clip"}, {"clamp"}},
      {{"multiply"}, {"mul"}},
      {{"subtract"}, {"sub"}},
      {{"divide"}, {"div"}},
      {{"arcsin"}, {"asin"}},
      {{"arccos"}, {"acos"}},
      {{"arctan"}, {"atan"}},
      {{"arctan2"}, {"atan2"}},
      {{"arcsinh"}, {"asinh"}},
      {{"arccosh"}, {"acosh"}},
      {{"arctanh"}, {"atanh"}},
      {{"erfinv"}, {"erf_inv"}},
      {{"gammaln", "loggamma"}, {"lgamma"}},
      {{"bitwiseand"}, {"and"}},
      {{"bitwiseor"}, {"or"}},
      {{"bitwisexor"}, {"xor"}},
      {{"bitwisenot", "invert"}, {"not"}},
      {{"leftshift", "bitwiseleftshift"}, {"shift_left"}},
      {{"rightshift", "bitwiserightshift"}, {"shift_right_arithmetic"}},
      {{"bitcount", "populationcount"}, {"popcnt"}},
      {{"parameter", "variable", "addweight"}, {"param"}},
      // Settings
      {{"numembeddings", "vocabsize", "vocabulary"}, {"vocab"}},
      {{"embeddingdim", "outputdim"}, {"units"}},
      {{"paddingidx"}, {"padding"}},
      {{"padding"}, {"pad"}},
      {{"kernelsize", "filtersize", "poolsize"}, {"kernel", "window"}},
      {{"strides"}, {"stride"}},
      {{"outfeatures", "hiddensize", "numunits"}, {"units"}},
      {{"outchannels", "numfilters", "channels"}, {"filters"}},
      {{"infeatures", "inchannels", "inputshape", "inputdim"},
       {"units", "filters"},
       "leave it out: it follows from what the node reads"},
      {{"usebias"}, {"bias"}},
      {{"dilationrate"}, {"dilation"}},
      {{"epsilon"}, {"eps"}},
      {{"kernelinitializer", "weightinit", "weightinitializer"}, {"init"}},
      {{"biasinitializer"}, {"bias_init"}},
      {{"dim"}, {"axis"}},
      {{"keepdim"}, {"keepdims"}},
      {{"p", "prob", "dropoutrate"}, {"rate"}},
      {{"negativeslope", "alpha"}, {"slope"}},
      {{"stddev", "scale"}, {"std"}},
      {{"minval", "minimum"}, {"low"}},
      {{"maxval", "maximum"}, {"high"}},
      {{"smoothing"}, {"label_smoothing"}},
      {{"learningrate"}, {"lr"}},
      {{"beta1", "beta2"}, {"betas"}, "both are one list: \"betas\": [0.9, 0.999]"},
      {{"l2", "weightdecayrate"}, {"weight_decay"}},
      {{"paramgroups"}, {"groups"}},
      // Inputs, nodes, top level
      {{"float32", "float", "single"}, {"f32"}},
      {{"float64", "double"}, {"f64"}},
      {{"float16", "half", "fp16"}, {"f16"}},
      {{"bfloat16"}, {"bf16"}},
      {{"fp32"}, {"f32"}},
      {{"int32", "int"}, {"i32"}},
      {{"int64", "long"}, {"i64"}},
      {{"int16", "short"}, {"i16"}},
      {{"int8"}, {"i8"}},
      {{"uint8", "byte"}, {"u8"}},
      {{"uint16"}, {"u16"}},
      {{"uint32"}, {"u32"}},
      {{"uint64"}, {"u64"}},
      {{"boolean"}, {"bool"}},
      {{"layers", "network", "graph"}, {"nodes"}},
      {{"dataset", "datasets"}, {"data"}},
      {{"training"}, {"train"}},
      // Training
      {{"batchsize"}, {"batch"}, "write \"batch\": {\"N\": 128}, with the inputs' first dimension"},
      {{"numepochs", "maxepochs"}, {"epochs"}},
      {{"numsteps", "maxsteps", "iterations"}, {"steps"}},
      {{"criterion", "lossfn", "objective"}, {"loss"}},
      {{"optim"}, {"optimizer"}},
      {{"lrscheduler", "scheduler", "lrschedule", "schedule"},
       {"optimizer"},
       "a schedule is the optimizer's rate: \"lr\": {\"op\": \"cosine\", \"peak\": 0.1}"},
      {{"randomseed"}, {"seed"}},
      {{"clipnorm", "maxgradnorm", "gradientclipnorm", "gradclip"}, {"clip_norm"}},
      {{"ema", "exponentialmovingaverage"}, {"average"}},
      {{"mixedprecision", "amp"}, {"precision"}, "write \"precision\": {\"compute\": \"bf16\"}"},
      {{"gradientaccumulationsteps", "accumulatesteps"}, {"batch"}, "a larger batch has the same gradient"},
      // Losses and metrics
      {{"categoricalcrossentropy", "sparsecategoricalcrossentropy", "crossentropyloss", "softmaxcrossentropy"},
       {"cross_entropy"}},
      {{"binarycrossentropyloss", "bce", "bceloss", "bcewithlogits", "bcewithlogitsloss",
        "binarycrossentropywithlogits"},
       {"binary_cross_entropy"}},
      {{"l1", "l1loss", "meanabsoluteerror"}, {"mae"}},
      {{"l2", "l2loss", "meansquarederror", "mseloss"}, {"mse"}},
      {{"rootmeansquarederror"}, {"rmse"}},
      {{"smoothl1", "smoothl1loss", "huberloss"}, {"huber"}},
      {{"nllloss", "negativeloglikelihood"}, {"nll"}},
      {{"kl", "kld", "kldiv", "kldivloss"}, {"kl_divergence"}},
      {{"acc", "categoricalaccuracy", "sparsecategoricalaccuracy"}, {"accuracy"}},
      {{"topk", "top5", "topkcategoricalaccuracy"}, {"top_k_accuracy"}},
      {{"confusionmatrix"}, {"confusion"}},
      {{"jaccard", "jaccardindex", "meaniou", "miou"}, {"iou"}},
      {{"f1score", "dice"}, {"f1"}},
      {{"rocauc", "auroc"}, {"auc"}},
      {{"r2score", "rsquared"}, {"r2"}},
      // Optimizers, schedules, initializers
      {{"sparseadam", "lazyadam"}, {"adam"}, "write \"adam\", and \"sparse\": true in the embedding"},
      {{"momentum", "nesterov"}, {"sgd"}, "write {\"op\": \"sgd\", \"momentum\": 0.9}"},
      {{"cosineannealing", "cosineannealinglr", "cosinedecay"}, {"cosine"}},
      {{"cosineannealingwarmrestarts", "cosinedecayrestarts"}, {"cosine_restarts"}},
      {{"steplr", "piecewiseconstantdecay", "multisteplr"}, {"step"}},
      {{"exponentiallr", "exponentialdecay"}, {"exponential"}},
      {{"polynomiallr", "polynomialdecay"}, {"polynomial"}},
      {{"linearlr", "lineardecay"}, {"linear"}},
      {{"constantlr"}, {"constant"}},
      {{"onecyclelr"}, {"one_cycle"}},
      {{"reducelronplateau"}, {"plateau"}},
      {{"xavieruniform", "xavier"}, {"glorot_uniform"}},
      {{"xaviernormal"}, {"glorot_normal"}},
      {{"gaussian", "randomnormal"}, {"normal"}},
      {{"randomuniform"}, {"uniform"}},
      {{"truncnormal"}, {"truncated_normal"}},
      {{"lecunnormal"}, {"variance_scaling"}, "write {\"op\": \"variance_scaling\"}"},
      {{"lecununiform"}, {"variance_scaling"}, "write {\"op\": \"variance_scaling\", \"distribution\": \"uniform\"}"},
  };
  return names;
}

std::string plain(std::string_view word) {
  std::string out;
  for (const char c : word)
    if (c != '_' && c != '-' && c != '.') out += static_cast<char>(std::tolower(static_cast<unsigned char>(c)));
  return out;
}

std::string called(std::string_view word, std::string_view ours) {
  return fmt::format("'{}' is called '{}' here", word, ours);
}

}  // namespace

std::string foreign_hint(std::string_view word, const std::vector<std::string>& candidates) {
  if (word.size() > 64) return "";
  const std::string wanted = plain(word);
  for (const std::string& candidate : candidates)
    if (plain(candidate) == wanted) return called(word, candidate);
  for (const Foreign& entry : table()) {
    if (std::find(entry.names.begin(), entry.names.end(), wanted) == entry.names.end()) continue;
    for (const std::string_view ours : entry.ours)
      if (std::find(candidates.begin(), candidates.end(), ours) != candidates.end())
        return entry.advice.empty() ? called(word, ours) : std::string(entry.advice);
  }
  return "";
}

std::string instead_of(std::string_view name) {
  struct Instead {
    std::string_view name, advice;
  };
  static const std::vector<Instead> advices = {
      {"accumulate", "a larger train.batch has the same gradient"},
      {"params", "parameters are f32; \"compute\" says to what operands of products may be rounded"},
      {"loss_scale", "leave it out: gradients are f32, which does not underflow"},
      {"parallel", "leave it out: one device trains"},
      {"memory", "leave it out: --memory-limit BYTES refuses what needs more"},
      {"tokens", "npy reads rows of numbers"},
      {"text_folder", "npy reads rows of numbers"},
      {"attention", "write it with matmul, softmax and transpose"},
      {"multi_head_attention", "write it with dense, reshape, transpose, matmul and softmax"},
  };
  const auto at = std::find_if(advices.begin(), advices.end(), [&](const Instead& i) { return i.name == name; });
  return at == advices.end() ? "heddle ops lists what there is, docs/model-format.md the rest of the format"
                             : std::string(at->advice);
}

}  // namespace heddle::frontend
