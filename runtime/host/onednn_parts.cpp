#include "runtime/host/onednn_parts.h"

#include <algorithm>
#include <optional>

#include "runtime/host/onednn_descriptors.h"
#include "runtime/host/thread_pool.h"

namespace heddle::runtime {
namespace {

using dnnl::memory;
using Dims = memory::dims;
constexpr auto kF32 = memory::data_type::f32;
constexpr int64_t kAlign = 256;

struct Convolution {
  int64_t n, h, w, c, oh, ow, o, kh, kw, groups;
  Dims strides, dilations, low, high;
};

// Matrix sizes and strides in elements; `batch` matrices follow each other.
struct Product {
  int64_t batch, m, n, k;
  bool ta, tb;
};

std::vector<int64_t> integers(const codegen::Library& call, const std::string& key,
                              const std::vector<int64_t>& fallback) {
  const auto it = call.integers.find(key);
  return it == call.integers.end() ? fallback : it->second;
}

dnnl::fpmath_mode fpmath_mode(const std::string& precision) {
  return precision == "bf16" ? dnnl::fpmath_mode::bf16 : dnnl::fpmath_mode::strict;
}

// Builds the parts of one call.
class Builder {
 public:
  Builder(const codegen::Library& call, std::span<void* const> arguments, void* workspace)
      : call_(call), arguments_(arguments.begin(), arguments.end()), base_(static_cast<char*>(workspace)) {
    arguments_.resize(call.operands.size() + call.results.size(), nullptr);
  }

  OnednnParts build() {
    if (!call_.convolution) {
      matmul();
      return std::move(parts_);
    }
    const codegen::ConvolutionRoles& roles = *call_.convolution;
    const Convolution g = geometry(dims_of(roles.image), dims_of(roles.filter), dims_of(roles.result));
    if (roles.image == codegen::ConvolutionRoles::kMade)
      data_grad(g);
    else if (roles.filter == codegen::ConvolutionRoles::kMade)
      filter_grad(g);
    else
      forward(g);
    return std::move(parts_);
  }

 private:
  const Dims& dims_of(int role) const {
    return (role < 0 ? call_.results[0] : call_.operands[static_cast<size_t>(role)]).dims;
  }
  float* operand(size_t i) const { return static_cast<float*>(arguments_[i]); }
  float* result() const { return static_cast<float*>(arguments_[call_.operands.size()]); }
  // A null address stays null: nothing is run then.
  static float* at(float* p, int64_t elements) { return p == nullptr ? nullptr : p + elements; }

  float* take(size_t bytes) {
    const int64_t offset = parts_.workspace;
    parts_.workspace += (static_cast<int64_t>(bytes) + kAlign - 1) / kAlign * kAlign;
    return base_ == nullptr ? nullptr : reinterpret_cast<float*>(base_ + offset);
  }

  dnnl_memory_t bind(const memory::desc& desc, void* address) {
    parts_.memories.emplace_back(desc, parts_.engine, address == nullptr ? DNNL_MEMORY_NONE : address);
    return parts_.memories.back().get();
  }

  bool has_bias() const {
    return std::ranges::any_of(call_.epilogue, [](const codegen::EpilogueStep& step) { return step.bias; });
  }
  bool has_relu() const {
    return std::ranges::any_of(call_.epilogue, [](const codegen::EpilogueStep& step) { return step.at_least == 0.0; });
  }

  // Attributes are handles: each primitive gets its own.
  dnnl::primitive_attr attributes() const {
    dnnl::primitive_attr attr;
    attr.set_scratchpad_mode(dnnl::scratchpad_mode::user);
    attr.set_fpmath_mode(fpmath_mode(call_.precision));  // whatever ONEDNN_DEFAULT_FPMATH_MODE says
    return attr;
  }

  template <class Primitive, class... Arguments>
  typename Primitive::primitive_desc describe(Arguments&&... arguments) const {
    return described<Primitive>(parts_.engine, attributes(), std::forward<Arguments>(arguments)...);
  }

  // Scratch memory of one slice, so that slices may run at the same time. The tasks of a slice run one after another and
  // share it.
  struct Scratch {
    float* at = nullptr;
    size_t bytes = 0;
  };

  template <class Descriptor>
  void add(OnednnTasks& list, const Descriptor& desc, const dnnl::primitive& primitive,
           std::vector<dnnl_exec_arg_t> arguments, Scratch& scratch) {
    const memory::desc needed = desc.scratchpad_desc();
    if (const size_t bytes = needed.get_size(); bytes > 0) {
      if (bytes > scratch.bytes) scratch = {take(bytes), bytes};
      arguments.push_back({DNNL_ARG_SCRATCHPAD, bind(needed, scratch.at)});
    }
    list.push_back({primitive, std::move(arguments)});
  }

  // A slice of one primitive.
  template <class Descriptor>
  OnednnTask& add_slice(const Descriptor& desc, const dnnl::primitive& primitive,
                        std::vector<dnnl_exec_arg_t> arguments) {
    Scratch scratch;
    add(parts_.slices.emplace_back(), desc, primitive, std::move(arguments), scratch);
    return parts_.slices.back().back();
  }

  void reorder(OnednnTasks& list, const memory::desc& from, float* source, const memory::desc& to, float* target) {
    const dnnl::reorder::primitive_desc desc(parts_.engine, from, parts_.engine, to, attributes());
    Scratch scratch;
    add(list, desc, dnnl::reorder(desc), {{DNNL_ARG_FROM, bind(from, source)}, {DNNL_ARG_TO, bind(to, target)}},
        scratch);
  }

  // The weights in the layout that a primitive asks for: packed once per call, before its slices.
  float* packed(const memory::desc& plain, float* weights, const memory::desc& layout) {
    if (layout == plain) return weights;
    if (pack_.has_value() && *pack_ == layout) return packed_;
    pack_ = layout;
    packed_ = take(layout.get_size());
    reorder(parts_.before, plain, weights, layout, packed_);
    return packed_;
  }

  int64_t cuts(int64_t extent) const { return std::clamp<int64_t>(call_.slices, 1, extent); }

  void matmul();
  void matmul_slice(const Product& p, const Product& part, int64_t batch, int64_t row, int64_t column);
  Convolution geometry(const Dims& x, const Dims& w, const Dims& y) const;
  void forward(const Convolution& g);
  void forward_piece(const Convolution& g, Share images, OnednnTasks& tasks, Scratch& scratch);
  void data_grad(const Convolution& g);
  void filter_grad(const Convolution& g);

  // `n` images of a convolution, channels last.
  static memory::desc images(int64_t n, int64_t h, int64_t w, int64_t c) {
    return memory::desc({n, c, h, w}, kF32, memory::format_tag::nhwc);
  }
  // The library's dimensions are o, i, h, w wherever they lie; in memory channels are last, as in images.
  static memory::desc weights(const Convolution& g, bool any) {
    using Tag = memory::format_tag;
    if (g.groups == 1) return memory::desc({g.o, g.c, g.kh, g.kw}, kF32, any ? Tag::any : Tag::ohwi);
    return memory::desc({g.groups, g.o / g.groups, g.c / g.groups, g.kh, g.kw}, kF32, any ? Tag::any : Tag::gohwi);
  }
  dnnl::convolution_forward::primitive_desc forward_desc(const Convolution& g, int64_t n, bool bias) const {
    const auto x = images(n, g.h, g.w, g.c), y = images(n, g.oh, g.ow, g.o), w = weights(g, true);
    const auto kind = dnnl::prop_kind::forward_training;
    const auto direct = dnnl::algorithm::convolution_direct;
    const memory::desc b({g.o}, kF32, memory::format_tag::x);
    using Forward = dnnl::convolution_forward;
    if (bias) return describe<Forward>(kind, direct, x, w, b, y, g.strides, g.dilations, g.low, g.high);
    return describe<Forward>(kind, direct, x, w, y, g.strides, g.dilations, g.low, g.high);
  }
  template <class Primitive>
  typename Primitive::primitive_desc gradient(const Convolution& g,
                                              const dnnl::convolution_forward::primitive_desc& forward,
                                              const memory::desc& layout) const {
    return described_after<Primitive>(forward, parts_.engine, attributes(), dnnl::algorithm::convolution_direct,
                                      forward.src_desc(), layout, forward.dst_desc(), g.strides, g.dilations, g.low,
                                      g.high);
  }

  const codegen::Library& call_;
  std::vector<void*> arguments_;
  char* base_;
  OnednnParts parts_;
  std::optional<memory::desc> pack_;
  float* packed_ = nullptr;
};

// Batched products are cut along the batch. A single one is cut along its columns where there are at least as many as
// rows, else along its rows: each slice packs the whole other side again (128x784x128 in four slices: 213 us by
// columns, 264 by rows, 204 in one; 512x512x512: 2.3 ms against 3.2). A transposed left side is packed in any case, and
// rows are cheaper then. A slice of columns is written without gaps and copied to its place: oneDNN's faster kernels write
// nothing else (128x784x32: 57 us, with gaps 65).
void Builder::matmul() {
  const auto& a = call_.operands[0].dims;
  const auto& c = call_.results[0].dims;
  Product p{};
  p.ta = integers(call_, "transpose_a", {0})[0] != 0;
  p.tb = integers(call_, "transpose_b", {0})[0] != 0;
  p.m = c[c.size() - 2];
  p.n = c[c.size() - 1];
  p.k = a[a.size() - (p.ta ? 2 : 1)];
  p.batch = 1;
  for (size_t i = 0; i + 2 < c.size(); ++i) p.batch *= c[i];

  constexpr int64_t kVector = 16, kLeastColumns = 32;
  const bool by_columns = p.batch == 1 && !p.ta && p.n >= p.m && p.n >= 2 * kLeastColumns;
  const int64_t unit = by_columns ? kVector : 1;
  const int64_t extent = p.batch > 1 ? p.batch : by_columns ? p.n : p.m;
  const int64_t units = (extent + unit - 1) / unit;
  const int64_t count = by_columns ? cuts(p.n / kLeastColumns) : cuts(units);
  for (int64_t i = 0; i < count; ++i) {
    const Share s = share(units, i, count);
    const int64_t begin = s.begin * unit, size = std::min(s.end * unit, extent) - begin;
    Product part = p;
    (p.batch > 1 ? part.batch : by_columns ? part.n : part.m) = size;
    matmul_slice(p, part, p.batch > 1 ? begin : 0, p.batch == 1 && !by_columns ? begin : 0, by_columns ? begin : 0);
  }
}

void Builder::matmul_slice(const Product& p, const Product& part, int64_t batch, int64_t row, int64_t column) {
  const bool bias = has_bias();
  const auto matrix = [&](int64_t rows, int64_t columns, int64_t of_batch, int64_t row_stride, int64_t column_stride) {
    if (p.batch == 1) return memory::desc({rows, columns}, kF32, Dims{row_stride, column_stride});
    return memory::desc({part.batch, rows, columns}, kF32, Dims{of_batch, row_stride, column_stride});
  };
  const auto a = matrix(part.m, p.k, p.m * p.k, p.ta ? 1 : p.k, p.ta ? p.m : 1);
  const auto b = matrix(p.k, part.n, p.k * p.n, p.tb ? 1 : p.n, p.tb ? p.k : 1);
  const bool apart = part.n < p.n;
  const int64_t stride = apart ? part.n : p.n;
  const auto c = matrix(part.m, part.n, p.m * p.n, stride, 1);
  float* const place = at(result(), batch * p.m * p.n + row * p.n + column);
  float* const written = apart ? take(c.get_size()) : place;
  const memory::desc d(p.batch == 1 ? Dims{1, part.n} : Dims{1, 1, part.n}, kF32,
                       p.batch == 1 ? memory::format_tag::ab : memory::format_tag::abc);
  const auto desc = bias ? describe<dnnl::matmul>(a, b, d, c) : describe<dnnl::matmul>(a, b, c);
  std::vector<dnnl_exec_arg_t> arguments = {
      {DNNL_ARG_SRC, bind(a, at(operand(0), batch * p.m * p.k + row * (p.ta ? 1 : p.k)))},
      {DNNL_ARG_WEIGHTS, bind(b, at(operand(1), batch * p.k * p.n + column * (p.tb ? p.k : 1)))},
      {DNNL_ARG_DST, bind(c, written)}};
  if (bias) arguments.push_back({DNNL_ARG_BIAS, bind(d, at(operand(2), column))});
  OnednnTask& task = add_slice(desc, dnnl::matmul(desc), std::move(arguments));
  if (has_relu()) task.relu = {written, part.batch * part.m, part.n, stride};
  if (apart) task.placement = {written, place, part.m, part.n, p.n};
}

// x: [n,h,w,c], w: [o,kh,kw,c/groups], y: [n,oh,ow,o]. oneDNN counts dilation from 0.
Convolution Builder::geometry(const Dims& x, const Dims& w, const Dims& y) const {
  Convolution g{x[0], x[1], x[2], x[3], y[1], y[2], y[3], w[1], w[2], integers(call_, "groups", {1})[0],
                {},   {},   {},   {}};
  const auto pads = integers(call_, "pads", {0, 0, 0, 0});
  const auto dilations = integers(call_, "dilations", {1, 1});
  g.strides = integers(call_, "strides", {1, 1});
  g.dilations = {dilations[0] - 1, dilations[1] - 1};
  g.low = {pads[0], pads[1]};
  g.high = {pads[2], pads[3]};
  return g;
}

// Where relu follows, a slice is worked off in pieces whose result is still in the cache then.
void Builder::forward(const Convolution& g) {
  constexpr int64_t kPieceBytes = int64_t{1} << 19;
  const int64_t image = g.oh * g.ow * g.o, image_bytes = image * static_cast<int64_t>(sizeof(float));
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
  float* w = packed(weights(g, false), operand(1), desc.weights_desc());
  std::vector<dnnl_exec_arg_t> arguments = {
      {DNNL_ARG_SRC, bind(desc.src_desc(), at(operand(0), s.begin * g.h * g.w * g.c))},
      {DNNL_ARG_WEIGHTS, bind(desc.weights_desc(), w)},
      {DNNL_ARG_DST, bind(desc.dst_desc(), at(result(), s.begin * g.oh * g.ow * g.o))}};
  if (bias) arguments.push_back({DNNL_ARG_BIAS, bind(desc.bias_desc(), operand(2))});
  add(tasks, desc, dnnl::convolution_forward(desc), std::move(arguments), scratch);
}

void Builder::data_grad(const Convolution& g) {
  const int64_t count = cuts(g.n);
  for (int64_t i = 0; i < count; ++i) {
    const Share s = share(g.n, i, count);
    const auto hint = forward_desc(g, s.size(), false);
    const auto desc = gradient<dnnl::convolution_backward_data>(g, hint, weights(g, true));
    float* w = packed(weights(g, false), operand(1), desc.weights_desc());
    add_slice(desc, dnnl::convolution_backward_data(desc),
              {{DNNL_ARG_DIFF_DST, bind(desc.diff_dst_desc(), at(operand(0), s.begin * g.oh * g.ow * g.o))},
               {DNNL_ARG_WEIGHTS, bind(desc.weights_desc(), w)},
               {DNNL_ARG_DIFF_SRC, bind(desc.diff_src_desc(), at(result(), s.begin * g.h * g.w * g.c))}});
  }
}

// Each slice of the batch writes its own partial result in oneDNN's layout; their sum is unpacked last.
void Builder::filter_grad(const Convolution& g) {
  const int64_t count = cuts(g.n);
  const memory::desc plain = weights(g, false);
  memory::desc layout = weights(g, true);  // the first slice chooses, the others follow
  std::vector<float*>& partials = parts_.partials;
  for (int64_t i = 0; i < count; ++i) {
    const Share s = share(g.n, i, count);
    const auto hint = forward_desc(g, s.size(), false);
    const auto desc = gradient<dnnl::convolution_backward_weights>(g, hint, layout);
    layout = desc.diff_weights_desc();
    float* out = count == 1 && layout == plain ? result() : take(layout.get_size());
    partials.push_back(out);
    add_slice(desc, dnnl::convolution_backward_weights(desc),
              {{DNNL_ARG_SRC, bind(desc.src_desc(), at(operand(0), s.begin * g.h * g.w * g.c))},
               {DNNL_ARG_DIFF_DST, bind(desc.diff_dst_desc(), at(operand(1), s.begin * g.oh * g.ow * g.o))},
               {DNNL_ARG_DIFF_WEIGHTS, bind(layout, out)}});
  }
  const bool unpack = layout != plain;
  parts_.length = static_cast<int64_t>(layout.get_size() / sizeof(float));
  parts_.sum = unpack ? partials[0] : result();
  if (unpack) reorder(parts_.after, layout, partials[0], plain, result());
}

}  // namespace

OnednnParts build_onednn(const codegen::Library& call, std::span<void* const> arguments, void* workspace) {
  return Builder(call, arguments, workspace).build();
}

}  // namespace heddle::runtime
