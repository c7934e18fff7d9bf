// The product itself: of operands as the compute type rounds them, summed in doubles.
#include <bit>
#include <cstring>
#include <vector>

#include "tests/fake_cublaslt/objects.h"
#include "tests/ptx/real.h"

namespace heddle::fake_cuda {
namespace {

constexpr int kF16 = 2, kBf16 = 14;
constexpr int kFastF16 = 74, kFastBf16 = 75, kFastTf32 = 77;
constexpr uint8_t kRubbish = 0xA5;

using Bytes = std::vector<std::byte>;

Bytes read(uint64_t at, uint64_t bytes) {
  Bytes all(bytes);
  world().memory.read(all.data(), at, bytes);
  return all;
}

float element(const Bytes& from, int type, size_t i) {
  if (type != kF16 && type != kBf16) {
    float x = 0;
    std::memcpy(&x, from.data() + i * sizeof x, sizeof x);
    return x;
  }
  uint16_t bits = 0;
  std::memcpy(&bits, from.data() + i * sizeof bits, sizeof bits);
  return type == kF16 ? ptx::from_f16(bits) : ptx::from_bf16(bits);
}

void put(Bytes& to, int type, size_t i, double value) {
  if (type != kF16 && type != kBf16) {
    const auto x = static_cast<float>(value);
    std::memcpy(to.data() + i * sizeof x, &x, sizeof x);
    return;
  }
  const uint16_t bits = type == kF16 ? ptx::to_f16(value) : ptx::to_bf16(static_cast<float>(value));
  std::memcpy(to.data() + i * sizeof bits, &bits, sizeof bits);
}

float rounded(float x, int compute) {
  if (compute == kFastTf32) return ptx::tf32_operand(ptx::to_tf32(x));
  if (compute == kFastBf16) return ptx::from_bf16(ptx::to_bf16(x));
  if (compute == kFastF16) return ptx::from_f16(ptx::to_f16(static_cast<double>(x)));
  return x;
}

// One of a batch: element [i, k] at i * row + k * column.
struct Matrix {
  std::vector<float> values;
  size_t row = 1, column = 1;
};

// All elements, rounded as the operands of the product are.
Matrix matrix(const MatrixLayout& l, bool transposed, uint64_t at, int compute) {
  Matrix m;
  const Bytes bytes = read(at, bytes_of(l));
  m.values.resize(bytes.size() / element_bytes(l.type));
  for (size_t i = 0; i < m.values.size(); ++i) m.values[i] = rounded(element(bytes, l.type, i), compute);
  const auto ld = static_cast<size_t>(l.ld);
  m.row = transposed ? ld : 1, m.column = transposed ? 1 : ld;
  return m;
}

}  // namespace

void multiply(const Problem& p, const Arrays& at) {
  const Multiplication& op = p.operation;
  const Matrix a = matrix(p.a, op.transpose_a == 1, at.a, op.compute);
  const Matrix b = matrix(p.b, op.transpose_b == 1, at.b, op.compute);
  const Bytes bias = (op.epilogue & 4U) != 0 ? read(op.bias, p.d.rows * element_bytes(p.d.type)) : Bytes();
  Bytes d = read(at.d, bytes_of(p.d));
  const size_t depth = op.transpose_a == 1 ? p.a.rows : p.a.columns;
  for (size_t z = 0; z < static_cast<size_t>(p.d.batch); ++z)
    for (size_t j = 0; j < p.d.columns; ++j)
      for (size_t i = 0; i < p.d.rows; ++i) {
        const float* x = a.values.data() + z * static_cast<size_t>(p.a.apart) + i * a.row;
        const float* y = b.values.data() + z * static_cast<size_t>(p.b.apart) + j * b.column;
        double sum = 0;
        for (size_t k = 0; k < depth; ++k)
          sum += static_cast<double>(x[k * a.column]) * static_cast<double>(y[k * b.row]);
        const size_t place = z * static_cast<size_t>(p.d.apart) + j * static_cast<size_t>(p.d.ld) + i;
        double value = static_cast<double>(at.alpha) * sum;
        if (at.beta != 0) value += static_cast<double>(at.beta * element(d, p.d.type, place));
        if (!bias.empty()) value += static_cast<double>(element(bias, p.d.type, i));
        if ((op.epilogue & 2U) != 0 && !(value > 0)) value = 0;  // nan too
        put(d, p.d.type, place, value);
      }
  world().memory.fill(at.workspace, kRubbish, p.workspace);
  world().memory.write(at.d, d.data(), d.size());
  ++world().counts["products"];
}

}  // namespace heddle::fake_cuda
