// ldmatrix and mma.sync with accumulation in f32.
//
// Products are exact and their sum is rounded to f32 once. Tensor cores add in an order and with a width that PTX does
// not say; the result here is the best of those that they may give.
#include "tests/ptx/access.h"
#include "tests/ptx/decoding.h"
#include "tests/ptx/lanes.h"
#include "tests/ptx/real.h"

namespace heddle::ptx {
namespace {

constexpr size_t kRows = 8;  // of one matrix, of 16 bytes each

// slot[0..3]: the matrices' parts of the thread; slot[8]: the address of a row. `mode` 1: transposed.
void execute_ldmatrix(Warp& w, const Instruction& i, Lanes lanes) {
  if (lanes != kAllLanes) stop(w.block, Check::member_mask, i, "needs all lanes of the warp");
  Addresses at;
  addresses_of(w, i, lanes, 8, at);
  const size_t rows = kRows * i.count;
  uint16_t matrix[4][kRows][kRows];
  for (size_t r = 0; r < rows; ++r) {
    const Place p = locate(w, i, static_cast<int>(r), at[r], 16, 16);
    check_touch(w, i, static_cast<int>(r), p, 16, Touch::read, Use::weak);
    std::memcpy(matrix[r / kRows][r % kRows], p.data, 16);
  }
  count_request(w, Space::shared, at, rows == kLanes ? kAllLanes : (1U << rows) - 1, 16, Touch::read);
  for (size_t m = 0; m < i.count; ++m)
    each_lane(lanes, [&](int l) {
      const auto row = static_cast<size_t>(l / 4), column = static_cast<size_t>(l % 4 * 2);
      const bool turned = i.mode == 1;
      const uint32_t low = turned ? matrix[m][column][row] : matrix[m][row][column];
      const uint32_t high = turned ? matrix[m][column + 1][row] : matrix[m][row][column + 1];
      set<uint32_t>(w.at(i.slot[m]), l, low | high << 16);
    });
}

void decode_ldmatrix(Decoding& d) {
  if (!d.take("sync") || !d.take("aligned") || !d.take("m8n8")) d.refuse("only .sync.aligned.m8n8 is executed");
  static constexpr uint8_t counts[] = {1, 2, 4};
  const int count = d.take_one_of({"x1", "x2", "x4"});
  if (count < 0) d.refuse("a number of matrices is missing");
  d.out.count = counts[count];
  d.out.mode = d.take("trans") ? 1 : 0;
  if (!d.take("shared") && !d.take("shared::cta")) d.refuse("only .shared is executed");
  if (!d.take("b16")) d.refuse("only .b16 is executed");
  d.out.space = Space::shared;
  const std::vector<std::string> parts = d.elements(0);
  if (parts.size() != d.out.count) d.refuse("another number of registers is expected");
  for (size_t k = 0; k < parts.size(); ++k) d.out.slot[k] = d.destination(parts[k], Type::b32);
  d.address(d.operand(1), 8);
  d.out.kind = Kind::collective;
  d.out.execute = execute_ldmatrix;
}

enum class Element : uint32_t { f16, bf16, tf32 };

float element(uint32_t word, size_t half, Element type) {
  if (type == Element::tf32) return tf32_operand(word);
  const auto bits = static_cast<uint16_t>(word >> (16 * half));
  return type == Element::f16 ? from_f16(bits) : from_bf16(bits);
}

// A is 16 x k, B is k x 8; where the elements of a thread lie: PTX ISA 9.0, 9.7.14.5.
struct Operands {
  float a[16][16] = {}, b[16][8] = {};
};

Operands gather(Warp& w, const Instruction& i, Element type) {
  Operands o;
  const size_t per_word = type == Element::tf32 ? 1 : 2, a_words = i.count, b_words = i.count / 2;
  for (int lane = 0; lane < kLanes; ++lane) {
    const auto group = static_cast<size_t>(lane / 4), in_group = static_cast<size_t>(lane % 4);
    for (size_t word = 0; word < a_words; ++word)
      for (size_t e = 0; e < per_word; ++e)
        o.a[group + 8 * (word % 2)][in_group * per_word + e + 4 * per_word * (word / 2)] =
            element(get<uint32_t>(w.at(i.slot[4 + word]), lane), e, type);
    for (size_t word = 0; word < b_words; ++word)
      for (size_t e = 0; e < per_word; ++e)
        o.b[in_group * per_word + e + 4 * per_word * word][group] =
            element(get<uint32_t>(w.at(i.slot[8 + word]), lane), e, type);
  }
  return o;
}

// slot: d[4], a[4], b[2], then c[4] from 10 on. `count`: words of a. `mode`: the element.
void execute_mma(Warp& w, const Instruction& i, Lanes lanes) {
  if (lanes != kAllLanes) stop(w.block, Check::member_mask, i, "needs all lanes of the warp");
  const Operands o = gather(w, i, static_cast<Element>(i.mode));
  float result[4][kLanes];
  for (size_t lane = 0; lane < kLanes; ++lane)
    for (size_t k = 0; k < 4; ++k) {
      const size_t row = lane / 4 + 8 * (k / 2), column = lane % 4 * 2 + k % 2;
      double sum = get<float>(w.at(i.slot[10 + k]), static_cast<int>(lane));
      for (size_t at = 0; at < 16; ++at) sum += double{o.a[row][at]} * double{o.b[at][column]};
      result[k][lane] = static_cast<float>(sum);
    }
  for (size_t k = 0; k < 4; ++k)
    for (int lane = 0; lane < kLanes; ++lane) set<float>(w.at(i.slot[k]), lane, result[k][lane]);
}

void decode_mma(Decoding& d) {
  if (!d.take("sync") || !d.take("aligned")) d.refuse("only .sync.aligned is executed");
  const int shape = d.take_one_of({"m16n8k16", "m16n8k8"});
  if (shape < 0 || !d.take("row") || !d.take("col")) d.refuse("only m16n8k16 and m16n8k8, row by column, are executed");
  if (!d.take("f32") || !d.take("f32")) d.refuse("only accumulation in f32 is executed");
  const int type = d.take_one_of({"f16", "bf16", "tf32"});
  if (type < 0 || d.take_one_of({"f16", "bf16", "tf32"}) != type) d.refuse("two equal types are expected");
  const bool tf32 = static_cast<Element>(type) == Element::tf32;
  if (tf32 && shape == 0) d.refuse("m16n8k16 of tf32 does not exist");
  d.out.mode = static_cast<uint32_t>(type);
  d.out.count = tf32 || shape == 0 ? 4 : 2;
  const auto take = [&](size_t operand, size_t first, size_t count, bool result) {
    const std::vector<std::string> parts = d.elements(operand);
    if (parts.size() != count) d.refuse("another number of registers is expected");
    for (size_t k = 0; k < count; ++k)
      d.out.slot[first + k] = result ? d.destination(parts[k], Type::b32) : d.source(parts[k], Type::b32);
  };
  take(0, 0, 4, true);
  take(1, 4, d.out.count, false);
  take(2, 8, d.out.count / 2U, false);
  take(3, 10, 4, false);
  d.out.kind = Kind::collective;
  d.out.execute = execute_mma;
}

}  // namespace

bool decode_tensor(Decoding& d) {
  if (d.root() == "mma") {
    decode_mma(d);
  } else if (d.root() == "ldmatrix") {
    decode_ldmatrix(d);
  } else {
    return false;
  }
  return true;
}

}  // namespace heddle::ptx
