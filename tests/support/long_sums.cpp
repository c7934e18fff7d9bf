#include "tests/support/long_sums.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

namespace heddle::testing {

using namespace ir;

namespace {

constexpr int64_t kSide = 3, kWidth = 1000, kImageWidth = 400;

int64_t each(int64_t element, int64_t) { return element; }
int64_t along_row(int64_t element, int64_t n) { return element % n; }
int64_t along_column(int64_t element, int64_t) { return element / kSide; }
int64_t around_middle(int64_t e, int64_t) { return e / (kSide * kWidth) * kWidth + e % kWidth; }

Dims line(int64_t n) { return {n}; }
Dims rows(int64_t n) { return {kSide, n}; }
Dims columns(int64_t n) { return {n, kSide}; }
Dims image(int64_t n) { return {1, n / kImageWidth, kImageWidth, kSide}; }
Dims crossed(int64_t n) { return {n / kWidth, kSide, kWidth}; }
Dims matrix(int64_t n) { return {n / kWidth, kWidth}; }

using Build = std::function<ValueId(Builder&, ValueId)>;
Build reduce(const char* op, const Dims& axes) {
  return [=](Builder& b, ValueId x) { return b(op, {x}, {{"axes", axes}}); };
}

ValueId ones(Builder& b, ValueId like, const Dims& dims) { return b.constant(1, {b.type(like).dtype, dims}); }

// By an index for each.
ValueId gathered(Builder& b, ValueId x) {
  const ValueId places = b("iota", {}, {{"shape", b.type(x).dims}, {"dtype", std::string("i32")}});
  const ValueId found = b("gather", {x, places}, {{"axis", int64_t{0}}});
  return b("reduce_sum", {found}, {{"axes", Dims{0}}});
}

// With another sum that the result needs.
ValueId beside_a_mean(Builder& b, ValueId x) {
  const ValueId one = b("add", {b("mul", {x, b.like(0, x)}), b.like(1, x)});
  return b("mul", {gathered(b, x), b("reduce_mean", {one}, {{"axes", Dims{0}}})});
}

// With sums of rows, and a result for each point.
ValueId beside_rows(Builder& b, ValueId x) {
  const ValueId row = b("reduce_sum", {b("mul", {x, b.like(0, x)})}, {{"axes", Dims{1}}});
  const ValueId all = b("broadcast", {row}, {{"dims", Dims{0}}, {"shape", b.type(x).dims}});
  return b("reduce_sum", {b("add", {x, all})}, {{"axes", Dims{0, 1}}});
}

ValueId product(Builder& b, ValueId x) { return b("matmul", {x, ones(b, x, {b.type(x).dims[1], 2})}); }
ValueId filter_gradient(Builder& b, ValueId x) {
  const Dims dims = b.type(x).dims;
  return b("conv2d_filter_grad", {ones(b, x, {1, dims[1], dims[2], 2}), x}, {{"filter", Dims{kSide, 1, 1, 2}}});
}
ValueId window(Builder& b, ValueId x) {
  const Dims dims = b.type(x).dims;
  return b("avg_pool2d", {x}, {{"window", Dims{dims[1], dims[2]}}});
}
ValueId prefixes(Builder& b, ValueId x) { return b("cumsum", {x}, {{"axis", int64_t{0}}}); }
ValueId squares(Builder& b, ValueId x) { return b("squared_norm", {b("sqrt", {x})}); }
ValueId equal_indices(Builder& b, ValueId x) {
  const Dims dims = b.type(x).dims;
  const ValueId table = b.constant(0, {b.type(x).dtype, {2, kSide}});
  const ValueId y = b("scatter", {table, b.constant(1, {DType::i32, {dims[0]}}), x}, {{"combine", std::string("add")}});
  return b("slice", {y}, {{"starts", Dims{1, 0}}, {"limits", Dims{2, kSide}}, {"strides", Dims{1, 1}}});
}

std::vector<WayOfAdding> all_ways() {
  constexpr bool kMean = true, kPrefixes = true;
  return {{"total", line, each, reduce("reduce_sum", {0})},
          {"mean", line, each, reduce("reduce_mean", {0}), kMean},
          {"row", rows, along_row, reduce("reduce_sum", {1})},
          {"column", columns, along_column, reduce("reduce_mean", {0}), kMean},
          {"plane", image, along_column, reduce("reduce_mean", {1, 2}), kMean},
          {"crossed", crossed, around_middle, reduce("reduce_sum", {0, 2})},
          {"beside_rows", matrix, each, beside_rows},
          {"gathered", line, each, gathered},
          {"beside_a_mean", line, each, beside_a_mean},
          {"window", image, along_column, window, kMean},
          {"product", rows, along_row, product},
          {"filter_gradient", image, along_column, filter_gradient},
          {"squares", line, each, squares, false, false, /*signs=*/false},
          {"prefixes", line, each, prefixes, false, kPrefixes},
          {"prefixes_side_by_side", columns, along_column, prefixes, false, kPrefixes},
          {"equal_indices", columns, along_column, equal_indices}};
}

double epsilon(DType dtype) {
  switch (dtype) {
    case DType::f64: return 0x1p-52;
    case DType::f32: return 0x1p-23;
    case DType::f16: return 0x1p-10;
    default: return 0x1p-7;  // bf16
  }
}

// Of long doubles, with what each addition loses.
struct Known {
  long double sum = 0, lost = 0, magnitudes = 0;
  void add(long double x) {
    const long double all = sum + x, of_x = all - sum;
    lost += (sum - (all - of_x)) + (x - of_x);
    sum = all;
    magnitudes += std::abs(x);
  }
};

}  // namespace

std::vector<Terms> known_terms() {
  return {{"tenths", [](int64_t, int64_t) { return 0.1; }},
          {"alternating", [](int64_t j, int64_t) { return j % 2 == 0 ? 3.0 : -1.0; }},
          {"one_large", [](int64_t j, int64_t n) { return j == n / 3 ? 4096.0 : 0x1p-12; }},
          {"series", [](int64_t j, int64_t n) { return static_cast<double>(j) / static_cast<double>(n); }}};
}

LongSums::LongSums(DType dtype, Terms terms, int64_t n) : dtype_(dtype), terms_(std::move(terms)), n_(n) {
  for (const WayOfAdding& w : all_ways()) {
    if (!w.signs && terms_.at(1, n) < 0) continue;
    Graph& g = module.graphs.emplace_back();
    g.name = w.name;
    Builder b(g);
    const ValueId x = g.add_input("x", {dtype, w.shape(n)}, Role::input);
    g.outputs = {w.build(b, x)};
    ways_.push_back(w);
  }
}

std::vector<std::string> LongSums::names() const {
  std::vector<std::string> names;
  for (const WayOfAdding& w : ways_) names.push_back(w.name);
  return names;
}

const WayOfAdding& LongSums::way(const std::string& name) const {
  return *std::find_if(ways_.begin(), ways_.end(), [&](const WayOfAdding& w) { return w.name == name; });
}

double LongSums::term(int64_t j) const { return round_to(dtype_, terms_.at(j, n_)); }

NamedTensors LongSums::inputs(const std::string& name) const {
  Tensor x({dtype_, way(name).shape(n_)});
  for (int64_t i = 0; i < x.elements(); ++i) x.real[static_cast<size_t>(i)] = term(way(name).term(i, n_));
  return {{"x", std::move(x)}};
}

std::string LongSums::fault(const std::string& name, const Tensor& got) const {
  const WayOfAdding& w = way(name);
  const int64_t of_each = got.elements() / (w.prefixes ? n_ : 1);
  Known known;
  for (int64_t j = 0, i = 0; j < n_; ++j) {
    known.add(term(j));
    if (!w.prefixes && j + 1 < n_) continue;
    const auto count = static_cast<double>(j + 1);
    const long double parts = w.mean ? count : 1;
    const double magnitudes = static_cast<double>(known.magnitudes / parts);
    const double bound = 4 * std::max(1.0, std::log2(count)) * epsilon(dtype_) * magnitudes;
    for (const int64_t last = i + of_each; i < last; ++i) {
      const auto expected = static_cast<double>((known.sum + known.lost) / parts);
      const double error = std::abs(got.at(i) - expected);
      if (!(error <= bound))
        return fmt::format("{} of {} terms, element {}: {}, expected {}: {} times the error that is allowed", name,
                           count, i, got.at(i), expected, error / bound);
    }
  }
  return {};
}

}  // namespace heddle::testing
