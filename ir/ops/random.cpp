// random_uniform, random_normal: numbers that are functions of (seed, step, stream, element), by Philox4x32-7 (Salmon
// et al. 2011, "Parallel random numbers: as easy as 1, 2, 3", doi:10.1145/2063384.2063405).
//
// With fold(v) = low 32 bits xor high 32 bits, words little end first:
//   key     = fold(seed), fold(stream)
//   counter = element / 4 (two words), step (two words)
//   word    = output[element % 4]
//
// random_uniform_from, random_normal_from: the same for the elements from `first` on. So a graph of some rows of a
// batch draws the same numbers as a graph of the whole batch.
#include <fmt/format.h>

#include <array>
#include <cmath>

#include "ir/ops/shape.h"

namespace heddle::ir {
namespace {

using Words = std::array<uint32_t, 4>;

Words philox(Words counter, uint32_t key0, uint32_t key1) {
  for (int round = 0; round < 7; ++round) {
    const uint64_t p0 = uint64_t{0xD2511F53} * counter[0], p1 = uint64_t{0xCD9E8D57} * counter[2];
    counter = {static_cast<uint32_t>(p1 >> 32) ^ counter[1] ^ key0, static_cast<uint32_t>(p1),
               static_cast<uint32_t>(p0 >> 32) ^ counter[3] ^ key1, static_cast<uint32_t>(p0)};
    key0 += 0x9E3779B9;
    key1 += 0xBB67AE85;
  }
  return counter;
}

uint32_t low(int64_t v) { return static_cast<uint32_t>(static_cast<uint64_t>(v)); }
uint32_t high(int64_t v) { return static_cast<uint32_t>(static_cast<uint64_t>(v) >> 32); }
uint32_t fold(int64_t v) { return low(v) ^ high(v); }

// The 24 high bits, so that f32 holds the number exactly and never rounds it to 1.
double unit(uint32_t word) { return std::ldexp(static_cast<double>(word >> 8), -24); }

double uniform(const Words& words, size_t lane) { return unit(words[lane]); }

// Box and Muller (1958): lanes 0, 1 are the cosine and sine of one pair, lanes 2, 3 of another.
double normal(const Words& words, size_t lane) {
  const size_t first = lane / 2 * 2;
  const double radius = std::sqrt(-2 * std::log(unit(words[first]) + 0x1p-24));  // of (0, 1]
  const double angle = 6.283185307179586 * unit(words[first + 1]);
  return radius * (lane == first ? std::cos(angle) : std::sin(angle));
}

Eval eval_with(double (*number)(const Words&, size_t)) {
  return [number](const Signature& s, std::span<const Tensor* const> operands) {
    const int64_t seed = operands[0]->integer[0], step = operands[1]->integer[0];
    const int64_t first = operands.size() > 2 ? operands[2]->integer[0] : 0;
    Tensor y(s.results[0]);
    Words words{};
    for (int64_t i = 0; i < y.elements(); ++i) {
      const int64_t element = first + i;
      if (i == 0 || element % 4 == 0)
        words =
            philox({low(element / 4), high(element / 4), low(step), high(step)}, fold(seed), fold(s.integer("stream")));
      y.real[static_cast<size_t>(i)] = number(words, static_cast<size_t>(element % 4));
    }
    return std::vector<Tensor>{std::move(y)};
  };
}

std::vector<Type> infer(const Signature& s) {
  const Type scalar{DType::i64, {}};
  if (s.operands[0] != scalar || s.operands[1] != scalar) throw InferError("seed and step must be i64[]");
  if (s.operands.size() > 2 && s.operands[2] != scalar) throw InferError("first must be i64[]");
  const DType dtype = checked_dtype(s.text("dtype"));
  if (dtype != DType::f32 && dtype != DType::f64)
    throw InferError(fmt::format("expected dtype f32 or f64, got {}: cast the result", to_string(dtype)));
  return {checked_type(dtype, s.integers("shape"))};
}

Sample sample(const Dims& shape, int64_t stream, const std::string& dtype) {
  return {.shapes = {{}, {}},
          .attrs = {{"shape", shape}, {"stream", stream}, {"dtype", dtype}},
          .below = 1000,
          .dtypes = {DType::i64, DType::i64}};
}

// The samples with the further operand `first`, of the operators that draw from `first` on.
std::vector<Sample> from(std::vector<Sample> samples) {
  for (Sample& s : samples) s.shapes.emplace_back(), s.dtypes.push_back(DType::i64);
  return samples;
}

OpDef op(const std::string& name, const std::string& doc, double (*number)(const Words&, size_t), double flops) {
  return {.name = name,
          .doc = doc + ", a function of (seed, step, stream, element) by Philox4x32-7 (Salmon et al. 2011)",
          .operands = {"seed", "step"},
          .attrs = {{.name = "stream",
                     .type = KeyType::integer,
                     .doc = "tells the users of one seed apart",
                     .required = true,
                     .scalar = true},
                    {.name = "shape",
                     .type = KeyType::integer,
                     .count = Count::several,
                     .doc = "the result's shape",
                     .fallback = Dims{}},
                    {.name = "dtype", .type = KeyType::dtype, .doc = "f32 or f64", .fallback = "f32"}},
          .kind = Source{"hd::" + name + "<T>(seed, step, stream, i)"},
          .infer = infer,
          .eval = eval_with(number),
          .no_gradient = "its operands are integers",
          .flops = flops,
          .samples = {sample({4, 33}, 7, "f32"), sample({1}, -3, "f32"), sample({}, 0, "f32"),
                      sample({3, 1, 5}, int64_t{1} << 40, "f64"), sample({257}, 12345, "f32")}};
}

OpDef op_from(OpDef all) {
  all.kind = Source{"hd::" + all.name + "<T>(seed, step, stream, hd::behind(first, i))"};
  all.doc =
      all.name + " of the elements from `first` on, not negative: what a part of an array draws as the whole would";
  all.name += "_from";
  all.operands.emplace_back("first");
  all.samples = from(std::move(all.samples));
  return all;
}

const OpDef uniform_op(op("random_uniform", "uniform in [0, 1): 24 high bits of a word times 2^-24", uniform, 12));
const OpDef normal_op(op("random_normal",
                         "normal with mean 0 and variance 1 by Box and Muller's transform: words 0 and 1 make "
                         "elements 0 and 1 of four, words 2 and 3 the others; sqrt(-2 log(u + 2^-24)) times "
                         "cos(2 pi v) and sin(2 pi v)",
                         normal, 30));
const RegisterOp random_uniform(uniform_op), random_uniform_from(op_from(uniform_op));
const RegisterOp random_normal(normal_op), random_normal_from(op_from(normal_op));

}  // namespace
}  // namespace heddle::ir
