// Long sums whose values are known: every operator that adds up, along every kind of axes, alone and beside others. The error is at
// most 4 log2(n) eps times the sum of the magnitudes.
#include <gtest/gtest.h>

#include <cmath>
#include <functional>

#include "ir/builder.h"
#include "tests/support/host_run.h"

namespace heddle::testing {
namespace {

using namespace ir;

constexpr int64_t kTerms = 200000;

// The j-th of n terms.
struct Terms {
  const char* name;
  double (*at)(int64_t j, int64_t n);
};
const Terms kTenths{"tenths", [](int64_t, int64_t) { return 0.1; }};
const Terms kOnes{"ones", [](int64_t, int64_t) { return 1.0; }};
const Terms kSigns{"alternating", [](int64_t j, int64_t) { return j % 2 == 0 ? 3.0 : -1.0; }};
const Terms kOneLarge{"one_large", [](int64_t j, int64_t n) { return j == n / 3 ? 4096.0 : 0x1p-12; }};
const Terms kSeries{"series", [](int64_t j, int64_t n) { return static_cast<double>(j) / static_cast<double>(n); }};

// Their sum, and that of their magnitudes: of long doubles, with what each addition loses.
struct Known {
  long double sum = 0, lost = 0, magnitudes = 0;
  void add(long double x) {
    const long double all = sum + x, of_x = all - sum;
    lost += (sum - (all - of_x)) + (x - of_x);
    sum = all;
    magnitudes += std::abs(x);
  }
  long double total() const { return sum + lost; }
};

double epsilon(DType dtype) {
  switch (dtype) {
    case DType::f64: return 0x1p-52;
    case DType::f32: return 0x1p-23;
    case DType::f16: return 0x1p-10;
    default: return 0x1p-7;  // bf16
  }
}

// A way of adding n terms up: which term an element of the operand is, and what each result is of their sum.
struct Way {
  std::string name;
  std::function<Dims(int64_t n)> shape;
  std::function<int64_t(int64_t element, int64_t n)> term;  // -1: an element that counts nowhere
  std::function<Values(Builder&, ValueId x)> build;
  std::function<long double(long double sum, int64_t n)> result = [](long double sum, int64_t) { return sum; };
  bool library = true;
  bool prefixes = false;  // a result for each number of terms
  bool signs = true;      // terms may be negative
};

constexpr int64_t kSide = 3;

Values reduced(Builder& b, ValueId x, const char* op, const Dims& axes) { return {b(op, {x}, {{"axes", axes}})}; }
long double mean_of(long double sum, int64_t n) { return sum / static_cast<long double>(n); }
int64_t each(int64_t element, int64_t) { return element; }
int64_t of_row(int64_t element, int64_t n) { return element % n; }
int64_t of_column(int64_t element, int64_t) { return element / kSide; }

// Of every term an element of a table, by an index.
ValueId places(Builder& b, int64_t n) { return b("iota", {}, {{"shape", Dims{n}}, {"dtype", std::string("i32")}}); }

std::vector<Way> ways() {
  const auto line = [](int64_t n) { return Dims{n}; };
  const auto rows = [](int64_t n) { return Dims{kSide, n}; };
  const auto columns = [](int64_t n) { return Dims{n, kSide}; };
  const auto image = [](int64_t n) { return Dims{1, n / 400, 400, kSide}; };
  return {
      {"total", line, each, [](Builder& b, ValueId x) { return reduced(b, x, "reduce_sum", {0}); }},
      {"mean", line, each, [](Builder& b, ValueId x) { return reduced(b, x, "reduce_mean", {0}); }, mean_of},
      {"row", rows, of_row, [](Builder& b, ValueId x) { return reduced(b, x, "reduce_sum", {1}); }},
      {"column", columns, of_column, [](Builder& b, ValueId x) { return reduced(b, x, "reduce_mean", {0}); }, mean_of},
      {"plane", image, of_column, [](Builder& b, ValueId x) { return reduced(b, x, "reduce_mean", {1, 2}); }, mean_of},
      {"crossed", [](int64_t n) { return Dims{n / 1000, kSide, 1000}; },
       [](int64_t e, int64_t) { return e / (kSide * 1000) * 1000 + e % 1000; },
       [](Builder& b, ValueId x) { return reduced(b, x, "reduce_sum", {0, 2}); }},
      {"total_of_rows", [](int64_t n) { return Dims{n / 1000, 1000}; }, each,
       [](Builder& b, ValueId x) {
         const ValueId largest = b("reduce_max", {x}, {{"axes", Dims{1}}});
         const ValueId all = b("reduce_sum", {x}, {{"axes", Dims{0, 1}}});
         return Values{all, b("reduce_sum", {b("mul", {largest, b.like(0, largest)})}, {{"axes", Dims{0}}})};
       }},
      {"window", image, of_column,
       [](Builder& b, ValueId x) {
         const Dims dims = b.type(x).dims;
         return Values{b("avg_pool2d", {x}, {{"window", Dims{dims[1], dims[2]}}})};
       },
       mean_of},
      {"product", rows, of_row,
       [](Builder& b, ValueId x) {
         const int64_t n = b.type(x).dims[1];
         return Values{b("matmul", {x, b.constant(1, {b.type(x).dtype, {n, 2}})})};
       },
       [](long double sum, int64_t) { return sum; }, /*library=*/false},
      {"gathered", line, each,
       [](Builder& b, ValueId x) {
         const ValueId found = b("gather", {x, places(b, b.type(x).dims[0])}, {{"axis", int64_t{0}}});
         return Values{b("reduce_sum", {found}, {{"axes", Dims{0}}})};
       }},
      {"squared_norm", line, each,
       [](Builder& b, ValueId x) { return Values{b("squared_norm", {b("sqrt", {b("abs", {x})})})}; },
       [](long double sum, int64_t) { return sum; }, true, false, /*signs=*/false},
      {"prefixes", line, each, [](Builder& b, ValueId x) { return Values{b("cumsum", {x}, {{"axis", int64_t{0}}})}; },
       [](long double sum, int64_t) { return sum; }, true, true},
      {"prefixes_side_by_side", columns, of_column,
       [](Builder& b, ValueId x) { return Values{b("cumsum", {x}, {{"axis", int64_t{0}}})}; },
       [](long double sum, int64_t) { return sum; }, true, true},
      {"equal_indices", columns, of_column,
       [](Builder& b, ValueId x) {
         const DType dtype = b.type(x).dtype;
         const int64_t n = b.type(x).dims[0];
         const ValueId all = b.constant(1, {DType::i32, {n}});
         const ValueId y = b("scatter", {b.constant(0, {dtype, {2, kSide}}), all, x}, {{"combine", std::string("add")}});
         return Values{b("slice", {y}, {{"starts", Dims{1, 0}}, {"limits", Dims{2, kSide}}, {"strides", Dims{1, 1}}})};
       }},
  };
}

struct Case {
  Way way;
  DType dtype;
  Terms terms;
};
std::string to_string(const Case& c) {
  return c.way.name + "_" + ir::to_string(c.dtype) + "_" + c.terms.name;
}
void PrintTo(const Case& c, std::ostream* stream) { *stream << to_string(c); }

std::vector<Case> cases() {
  std::vector<Case> all;
  for (const Way& way : ways()) {
    for (const Terms& terms : {kTenths, kSigns, kOneLarge, kSeries})
      if (way.signs || terms.name != kSigns.name) all.push_back({way, DType::f32, terms});
    for (const Terms& terms : {kTenths, kSeries}) all.push_back({way, DType::f64, terms});
    all.push_back({way, DType::bf16, kOnes});
  }
  return all;
}

Tensor operand(const Case& c, const Type& type, int64_t n) {
  Tensor x(type);
  for (int64_t i = 0; i < x.elements(); ++i)
    x.real[static_cast<size_t>(i)] = round_to(c.dtype, c.terms.at(c.way.term(i, n), n));
  return x;
}

void expect_sum(const Case& c, const Known& known, double got, int64_t n) {
  const auto terms = static_cast<double>(n);
  const auto expected = static_cast<double>(c.way.result(known.total(), n));
  const double magnitudes = static_cast<double>(c.way.result(known.magnitudes, n));
  const double bound = 4 * std::max(1.0, std::log2(terms)) * epsilon(c.dtype) * magnitudes;
  ASSERT_LE(std::abs(got - expected), bound) << "of " << n << " terms: " << got << ", expected " << expected << ", off by "
                                             << std::abs(got - expected) / bound << " of what is allowed";
}

void check(const Case& c, int64_t n, const Target& target) {
  Module m;
  Graph& g = m.graphs.emplace_back();
  g.name = "sums";
  Builder b(g);
  const Type type{c.dtype, c.way.shape(n)};
  const ValueId x = g.add_input("x", type, Role::input);
  const Values sums = c.way.build(b, x);
  g.outputs = {sums[0]};
  const Tensor values = operand(c, type, n);
  std::vector<Known> prefixes(1);
  for (int64_t i = 0; i < n; ++i) {
    if (c.way.prefixes && i > 0) prefixes.push_back(prefixes.back());
    prefixes.back().add(round_to(c.dtype, c.terms.at(i, n)));
  }
  HostRun run(m, "sums", {.threads = 2, .library = c.way.library, .target = target});
  const Tensor got = run({{"x", values}}).outputs[0];
  const auto count = static_cast<int64_t>(prefixes.size());
  for (int64_t i = 0; i < got.elements(); ++i) {
    const int64_t j = c.way.prefixes ? i / (got.elements() / count) : 0;
    ASSERT_NO_FATAL_FAILURE(
        expect_sum(c, prefixes[static_cast<size_t>(j)], got.at(i), c.way.prefixes ? j + 1 : n));
  }
}

class LongSum : public ::testing::TestWithParam<Case> {};

TEST_P(LongSum, OnTheHost) { check(GetParam(), kTerms, host()); }
// The same text that a GPU executes, as the host does.
TEST_P(LongSum, InTheFormsOfAGpu) { check(GetParam(), kTerms, h200()); }

INSTANTIATE_TEST_SUITE_P(All, LongSum, ::testing::ValuesIn(cases()),
                         [](const auto& info) { return to_string(info.param); });

}  // namespace
}  // namespace heddle::testing
