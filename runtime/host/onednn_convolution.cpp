#include "runtime/host/onednn_builder.h"

namespace heddle::runtime::onednn {

// x: [n,...,c], w: [o,...,c/groups], y: [n,...,o], of two or three axes in between. oneDNN counts dilation from 0.
Convolution Builder::geometry(const Dims& x, const Dims& w, const Dims& y) const {
  const auto inner = [](const Dims& dims) { return Dims(dims.begin() + 1, dims.end() - 1); };
  Convolution g{.n = x.front(),
                .c = x.back(),
                .o = w.front(),
                .groups = integers(call_, "groups", {1})[0],
                .in = inner(x),
                .out = inner(y),
                .window = inner(w),
                .strides = {},
                .dilations = {},
                .low = {},
                .high = {}};
  const size_t axes = g.in.size();
  const auto half = static_cast<std::ptrdiff_t>(axes);
  const auto pads = integers(call_, "pads", Dims(2 * axes, 0));
  g.strides = integers(call_, "strides", Dims(axes, 1));
  g.dilations = integers(call_, "dilations", Dims(axes, 1));
  for (int64_t& dilation : g.dilations) --dilation;
  g.low.assign(pads.begin(), pads.begin() + half);
  g.high.assign(pads.begin() + half, pads.end());
  return g;
}

// Where relu follows, a slice is computed in pieces, so that each result is still in the cache.
void Builder::forward(const Convolution& g) {
  constexpr int64_t kPieceBytes = int64_t{1} << 19;
  const int64_t image = g.made(), image_bytes = image * static_cast<int64_t>(sizeof(float));
  const int64_t count = cuts(g.n);
  for (int64_t i = 0; i < count; ++i) {
    const Share slice = share(g.n, i, count);
    const int64_t pieces =
        has_relu() ? std::clamp<int64_t>(slice.size() * image_bytes / kPieceBytes, 1, slice.size()) : 1;
    OnednnTasks& tasks = parts_.slices.emplace_back();
    Scratch scratch;
    for (int64_t k = 0; k < pieces; ++k) {
      const Share s = share(slice.size(), k, pieces);
      forward_piece(g, {slice.begin + s.begin, slice.begin + s.end}, tasks, scratch);
      if (has_relu()) tasks.back().relu = {at(result(), (slice.begin + s.begin) * image), 1, s.size() * image, 0};
    }
  }
}

void Builder::forward_piece(const Convolution& g, Share s, OnednnTasks& tasks, Scratch& scratch) {
  const bool bias = has_bias();
  const auto desc = forward_desc(g, s.size(), bias);
  void* const w = packed(weights(g, false), operand(1), desc.weights_desc());
  std::vector<dnnl_exec_arg_t> arguments = {{DNNL_ARG_SRC, bind(desc.src_desc(), at(operand(0), s.begin * g.image()))},
                                            {DNNL_ARG_WEIGHTS, bind(desc.weights_desc(), w)},
                                            {DNNL_ARG_DST, bind(desc.dst_desc(), at(result(), s.begin * g.made()))}};
  if (bias) arguments.push_back({DNNL_ARG_BIAS, bind(desc.bias_desc(), operand(2))});
  add(tasks, desc, dnnl::convolution_forward(desc), std::move(arguments), scratch);
}

void Builder::data_grad(const Convolution& g) {
  const int64_t count = cuts(g.n);
  for (int64_t i = 0; i < count; ++i) {
    const Share s = share(g.n, i, count);
    const auto hint = forward_desc(g, s.size(), false);
    const auto desc = gradient<dnnl::convolution_backward_data>(g, hint, weights(g, true));
    void* const w = packed(weights(g, false), operand(1), desc.weights_desc());
    add_slice(desc, dnnl::convolution_backward_data(desc),
              {{DNNL_ARG_DIFF_DST, bind(desc.diff_dst_desc(), at(operand(0), s.begin * g.made()))},
               {DNNL_ARG_WEIGHTS, bind(desc.weights_desc(), w)},
               {DNNL_ARG_DIFF_SRC, bind(desc.diff_src_desc(), at(result(), s.begin * g.image()))}});
  }
}

namespace {

std::vector<Share> shares(int64_t n, int64_t count) {
  std::vector<Share> all;
  for (int64_t i = 0; i < count; ++i) all.push_back(share(n, i, count));
  return all;
}

// The rows of the image that rows of the result read, and the padding before and behind them. A row is all that has one
// index along the first axis.
struct Band {
  int64_t begin = 0, size = 0, low = 0, high = 0;
};
Band band_of(const Convolution& g, Share rows) {
  const int64_t first = rows.begin * g.strides[0] - g.low[0];
  const int64_t end = (rows.end - 1) * g.strides[0] + (g.window[0] - 1) * (g.dilations[0] + 1) + 1 - g.low[0];
  const int64_t begin = std::clamp<int64_t>(first, 0, g.in[0]), last = std::clamp<int64_t>(end, begin, g.in[0]);
  return {begin, last - begin, begin - first, end - last};
}

}  // namespace

// Cuts a slice's positions into runs: several images, one image, or bands of an image's rows. Runs that read only
// padding are left out, unless all do.
std::vector<Builder::FilterRun> Builder::filter_runs(const Convolution& g, Share images) {
  const int64_t image = product(g.out), runs = filter_runs_of(images.size() * image, g.row());
  std::vector<FilterRun> all;
  const int64_t groups = std::min(images.size(), runs);
  for (const Share& s : shares(images.size(), groups)) {
    const Share some{images.begin + s.begin, images.begin + s.end};
    const int64_t bands = std::clamp<int64_t>(runs / groups, 1, some.size() == 1 ? g.out[0] : 1);
    for (const Share& rows : shares(g.out[0], bands))
      if (band_of(g, rows).size > 0) all.push_back({some, rows});
  }
  if (all.empty()) all.push_back({images, {0, g.out[0]}});  // the gradient is 0
  return all;
}

// Each slice of the batch writes its own partial result in oneDNN's layout; their sum is unpacked last.
void Builder::filter_grad(const Convolution& g) {
  const int64_t count = cuts(g.n);
  const memory::desc plain = weights(g, false);
  memory::desc layout = weights(g, true);  // the first run chooses, the others follow
  for (int64_t i = 0; i < count; ++i) {
    OnednnTasks& tasks = parts_.slices.emplace_back();
    Scratch scratch;
    const std::vector<FilterRun> runs = filter_runs(g, share(g.n, i, count));
    double* total = nullptr;
    for (size_t k = 0; k < runs.size(); ++k) {
      const auto desc = filter_desc(g, runs[k], layout);
      layout = desc.diff_weights_desc();
      const auto length = static_cast<int64_t>(layout.get_size() / sizeof(float));
      if (k == 0) parts_.partials.push_back(count == 1 && layout == plain ? result() : take(layout.get_size()));
      if (k == 0 && runs.size() > 1) total = take_doubles(length);
      filter_task(g, runs[k], desc, tasks, scratch);
      if (runs.size() > 1)
        tasks.back().addition = {total,  parts_.partials.back(), parts_.partials.back(), 1, length,
                                 k == 0, k + 1 == runs.size()};
    }
  }
  const bool unpack = layout != plain;
  parts_.length = static_cast<int64_t>(layout.get_size() / sizeof(float));
  parts_.sum = unpack ? parts_.partials[0] : result();
  if (unpack) reorder(parts_.after, layout, parts_.partials[0], plain, result());
}

dnnl::convolution_backward_weights::primitive_desc Builder::filter_desc(const Convolution& g, const FilterRun& run,
                                                                        const memory::desc& layout) const {
  const Band band = band_of(g, run.rows);
  Convolution part = g;
  part.in[0] = band.size, part.out[0] = run.rows.size();
  part.low[0] = band.low, part.high[0] = band.high;
  if (run.rows.size() == g.out[0]) part = g;
  return gradient<dnnl::convolution_backward_weights>(part, forward_desc(part, run.images.size(), false), layout);
}

void Builder::filter_task(const Convolution& g, const FilterRun& run,
                          const dnnl::convolution_backward_weights::primitive_desc& desc, OnednnTasks& tasks,
                          Scratch& scratch) {
  const int64_t row = run.rows.size() == g.out[0] ? 0 : band_of(g, run.rows).begin;
  const int64_t x = run.images.begin * g.image() + row * (g.image() / g.in[0]);
  const int64_t dy = run.images.begin * g.made() + run.rows.begin * g.row() * g.o;
  add(tasks, desc, dnnl::convolution_backward_weights(desc),
      {{DNNL_ARG_SRC, bind(desc.src_desc(), at(operand(0), x))},
       {DNNL_ARG_DIFF_DST, bind(desc.diff_dst_desc(), at(operand(1), dy))},
       {DNNL_ARG_DIFF_WEIGHTS, bind(desc.diff_weights_desc(), parts_.partials.back())}},
      scratch);
}

}  // namespace heddle::runtime::onednn
