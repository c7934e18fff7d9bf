// What the interpreter computes: instructions against values worked out by hand, tensor operations against double
// precision, counters against requests counted by hand.
#include <gtest/gtest.h>

#include <algorithm>
#include <bit>
#include <cmath>
#include <random>

#include "tests/ptx/real.h"
#include "tests/ptx/small_kernel.h"

namespace heddle::ptx {
namespace {

// The word that one thread stores from %r9.
uint32_t result(const std::string& body) {
  SmallKernel k(body + "st.global.u32 [%rd1], %r9;");
  const Outcome done = k.run({.block = {1}});
  EXPECT_EQ(all_findings(done), "");
  return k.words(k.a, 1)[0];
}
float real_result(const std::string& body) { return std::bit_cast<float>(result(body + "mov.b32 %r9, %f9;")); }

struct Value {
  std::string body;
  uint32_t expected;
};

TEST(PtxExecution, Integers) {
  const std::vector<Value> values = {
      {"add.s32 %r9, 2147483647, 1;", 0x80000000U},
      {"mul.hi.u32 %r9, 0x80000000, 6;", 3},
      {"mul.hi.s32 %r9, -2, 3;", 0xffffffffU},
      {"mad.lo.s32 %r9, -3, 5, 7;", static_cast<uint32_t>(-8)},
      {"mov.u32 %r2, 0; div.u32 %r9, 5, %r2;", 0xffffffffU},
      {"mov.u32 %r2, 0; rem.s32 %r9, 5, %r2;", 5},
      {"div.s32 %r9, -7, 2;", static_cast<uint32_t>(-3)},
      {"add.cc.u32 %r2, -1, 1; addc.u32 %r9, 5, 6;", 12},
      {"sub.cc.u32 %r2, 0, 1; subc.u32 %r9, 5, 2;", 2},
      {"mad.lo.cc.u32 %r2, 0x80000000, 2, 0; madc.hi.u32 %r9, 0x80000000, 2, 4;", 5},
      {"dp2a.lo.u32.u32 %r9, 0x0003ffff, 0x04030201, 7;", 65535 + 3 * 2 + 7},
      {"dp2a.hi.s32.s32 %r9, 0x0003ffff, 0x04fd0201, 7;", 3 + 3 * 4 + 7},
      {"dp2a.hi.u32.s32 %r9, 0x00030001, 0x04fd0201, 0;", static_cast<uint32_t>(-3 + 3 * 4)},
      {"dp4a.s32.u32 %r9, 0xff020304, 0xff010203, -1;", static_cast<uint32_t>(-255 + 2 + 3 * 2 + 4 * 3 - 1)},
      {"shl.b32 %r9, 1, 32;", 0},
      {"shr.s32 %r9, -8, 99;", 0xffffffffU},
      {"shf.l.wrap.b32 %r9, 0x80000000, 1, 33;", 3},
      {"shf.r.clamp.b32 %r9, 5, 7, 40;", 7},
      {"bfe.s32 %r9, 0xf0, 4, 4;", 0xffffffffU},
      {"bfe.u32 %r9, 0xf0, 4, 4;", 15},
      {"bfi.b32 %r9, 5, 0xffffffff, 8, 4;", 0xfffff5ffU},
      // Bytes 0 to 7 are 11 to 88: 7 is 88, 0 is 11, c the sign of 55, f the sign of 88.
      {"prmt.b32 %r9, 0x44332211, 0x88776655, 0xfc07;", 0xff001188U},
      {"lop3.b32 %r9, 12, 10, 6, 0x96;", 12U ^ 10U ^ 6U},
      {"popc.b32 %r9, 0xf0f0;", 8},
      {"clz.b32 %r9, 1;", 31},
      {"bfind.u32 %r9, 0x00010000;", 16},
      {"brev.b32 %r9, 1;", 0x80000000U},
      {"mov.u64 %rd5, 0x1122334455667788; mov.b64 {%r8, %r9}, %rd5;", 0x11223344U},
      {"mov.u16 %rs1, 0xff80; cvt.s32.s8 %r9, %rs1;", static_cast<uint32_t>(-128)},
      {"min.s32 %r9, -1, 1;", 0xffffffffU},
      {"min.u32 %r9, -1, 1;", 1},
  };
  for (const Value& v : values) EXPECT_EQ(result(v.body), v.expected) << v.body;
}

TEST(PtxExecution, FloatsRoundAsTheInstructionSays) {
  EXPECT_EQ(real_result("add.rn.f32 %f9, 0f3F800000, 0f21800000;"), 1.0F);  // 1 + 2^-60
  EXPECT_EQ(real_result("add.rp.f32 %f9, 0f3F800000, 0f21800000;"), std::nextafter(1.0F, 2.0F));
  EXPECT_EQ(real_result("add.rz.f32 %f9, 0f3F800000, 0fA1800000;"), std::nextafter(1.0F, 0.0F));
  EXPECT_EQ(real_result("fma.rn.f32 %f9, 0f3F800001, 0f3F800001, 0fBF800002;"), 0x1p-46F);  // (1 + u)^2 - (1 + 2u)
  EXPECT_EQ(real_result("mul.rn.ftz.f32 %f9, 0f00400000, 0f3F800000;"), 0.0F);              // a subnormal
  EXPECT_EQ(real_result("add.sat.f32 %f9, 0f40000000, 0f3F800000;"), 1.0F);
  EXPECT_EQ(real_result("min.f32 %f9, 0f7FC00000, 0f3F800000;"), 1.0F);
  EXPECT_TRUE(std::isnan(real_result("min.NaN.f32 %f9, 0f7FC00000, 0f3F800000;")));
  EXPECT_EQ(result("mov.f32 %f1, 0f7FC00000; cvt.rzi.s32.f32 %r9, %f1;"), 0U);
  EXPECT_EQ(result("mov.f32 %f1, 0f4F800000; cvt.rzi.s32.f32 %r9, %f1;"), 0x7fffffffU);  // 2^32
  EXPECT_EQ(real_result("mov.f32 %f1, 0f40200000; cvt.rni.f32.f32 %f9, %f1;"), 2.0F);    // 2.5, ties to even
}

// Every half and bf16 goes through float and back; ties go to even, tf32 away from zero.
TEST(PtxExecution, NarrowFloatsAreExact) {
  for (uint32_t bits = 0; bits < 0x10000; ++bits) {
    const auto word = static_cast<uint16_t>(bits);
    const float half = from_f16(word), brain = from_bf16(word);
    ASSERT_EQ(to_f16(half), half == half ? word : 0x7fff);
    ASSERT_EQ(to_bf16(brain), brain == brain ? word : 0x7fff);
  }
  EXPECT_EQ(to_f16(2049), to_f16(2048));
  EXPECT_EQ(to_f16(65519), 0x7bff);
  EXPECT_EQ(to_f16(65520), 0x7c00);
  EXPECT_EQ(to_tf32(1 + 0x1p-11F), std::bit_cast<uint32_t>(1 + 0x1p-10F));
  EXPECT_EQ(result("mov.f32 %f1, 0f3F801000; cvt.rna.tf32.f32 %r9, %f1;"), 0x3f802000U);
  EXPECT_EQ(result("mov.f32 %f1, 0f3F800000; cvt.rn.bf16x2.f32 %r9, %f1, 0f40000000;"), 0x3f804000U);
}

TEST(PtxExecution, ComparisonsKnowNan) {
  const std::string nan = "mov.f32 %f1, 0f7FC00000; ";
  for (const auto& [name, expected] : std::vector<std::pair<std::string, uint32_t>>{
           {"lt", 0}, {"ltu", 1}, {"eq", 0}, {"equ", 1}, {"neu", 1}, {"ne", 0}, {"num", 0}, {"nan", 1}})
    EXPECT_EQ(result(nan + "setp." + name + ".f32 %p1, %f1, 0f00000000; selp.u32 %r9, 1, 0, %p1;"), expected) << name;
  EXPECT_EQ(result("setp.lt.and.s32 %p1|%p2, 1, 2, 0; selp.u32 %r9, 1, 0, %p1;"), 0U);
}

TEST(PtxExecution, LanesPartAndMeetAgain) {
  SmallKernel k(
      "mov.u32 %r2, 0; $again: setp.ge.u32 %p1, %r2, %r0; @%p1 bra $out; add.s32 %r2, %r2, 1; bra $again;"
      "$out: shl.b32 %r3, %r2, 1; shfl.sync.idx.b32 %r4, %r3, 5, 31, 0xffffffff; add.s32 %r3, %r3, %r4;"
      "st.global.u32 [%rd4], %r3;");
  const Outcome done = k.run();
  EXPECT_EQ(all_findings(done), "");
  for (uint32_t t = 0; t < 32; ++t) EXPECT_EQ(k.words(k.a, 32)[t], 2 * t + 10);
  EXPECT_EQ(done.counters.divergent_branches, 31U);  // each time one lane leaves, but the last goes alone
}

// Where a compiler puts what only some lanes execute makes no difference: not to values, not to counts.
TEST(PtxExecution, BlocksAtTheEndCountAsInTheirPlace) {
  const std::string start = "mov.u32 %r2, 0; setp.lt.s32 %p1, %r0, 5;";
  const std::string rare =
      "$rare: add.s32 %r2, %r2, 1; setp.lt.s32 %p2, %r2, %r0; @%p2 bra $rare; shl.b32 %r2, %r2, 1; bra $join;";
  const std::string join = "$join: add.s32 %r3, %r2, %r0; bar.sync 0; st.global.u32 [%rd4], %r3; ret;";
  SmallKernel in_place(start + "@!%p1 bra $join;" + rare + join), at_end(start + "@%p1 bra $rare;" + join + rare);
  const Outcome expected = in_place.run(), got = at_end.run();
  EXPECT_EQ(all_findings(expected) + all_findings(got), "");
  const std::vector<uint32_t> values = at_end.words(at_end.a, 32);
  EXPECT_EQ(values, in_place.words(in_place.a, 32));
  for (uint32_t t = 0; t < 32; ++t) EXPECT_EQ(values[t], t >= 5 ? t : t == 0 ? 2 : 3 * t);  // one turn at least
  EXPECT_EQ(got.counters.instructions, expected.counters.instructions);
  EXPECT_EQ(got.counters.global_store_sectors, 4U);  // all lanes store at once
}

// A block at the end of an inner loop's text may lead on in the outer loop.
TEST(PtxExecution, BlocksAtTheEndOfALoopStandInIt) {
  SmallKernel k(
      "mov.u32 %r2, 0; mov.u32 %r3, 0; $turn: setp.gt.s32 %p1, %r0, %r2; @%p1 bra $rare;"
      "$join: bar.sync 0; add.s32 %r2, %r2, 1; setp.lt.s32 %p2, %r2, 3; @%p2 bra $turn; st.global.u32 [%rd4], %r3; ret;"
      "$rare: mov.u32 %r4, 0; $again: add.s32 %r4, %r4, 1; add.s32 %r3, %r3, 1; setp.lt.s32 %p3, %r4, %r0;"
      "@%p3 bra $again; bra $join;");
  const Outcome done = k.run({.block = {64}});
  EXPECT_EQ(all_findings(done), "");
  EXPECT_EQ(done.counters.barriers, 3U);
  for (uint32_t t = 0; t < 64; ++t) EXPECT_EQ(k.words(k.a, 64)[t], t * std::min(t, 3U));  // its number in each turn
}

TEST(PtxExecution, ShufflesStayInTheirSegments) {
  const auto shuffled = [](const std::string& text) {
    SmallKernel k(text + "selp.u32 %r4, 100, 0, %p1; add.s32 %r3, %r3, %r4; st.global.u32 [%rd4], %r3;");
    EXPECT_EQ(all_findings(k.run()), "");
    return k.words(k.a, 32);
  };
  const auto up = shuffled("shfl.sync.up.b32 %r3|%p1, %r0, 2, 0x1800, 0xffffffff;");  // segments of 8
  const auto down = shuffled("shfl.sync.down.b32 %r3|%p1, %r0, 1, 0x181f, 0xffffffff;");
  for (uint32_t t = 0; t < 32; ++t) {
    EXPECT_EQ(up[t], t % 8 >= 2 ? t - 2 + 100 : t);
    EXPECT_EQ(down[t], t % 8 < 7 ? t + 1 + 100 : t);
  }
}

TEST(PtxExecution, VotesAndReductionsOfALane) {
  const std::string half = "setp.lt.u32 %p1, %r0, 16; ";
  EXPECT_EQ(result("vote.sync.ballot.b32 %r9, 1, 1;"), 1U);
  SmallKernel k(half +
                "vote.sync.ballot.b32 %r2, %p1, 0xffffffff; vote.sync.any.pred %p2, !%p1, 0xffffffff;"
                "vote.sync.all.pred %p3, %p1, 0xffffffff; selp.u32 %r3, 1, 0, %p2; selp.u32 %r4, 2, 0, %p3;"
                "redux.sync.add.s32 %r5, %r0, 0xffffffff; add.s32 %r2, %r2, %r3; add.s32 %r2, %r2, %r4;"
                "add.s32 %r2, %r2, %r5; st.global.u32 [%rd4], %r2;");
  EXPECT_EQ(all_findings(k.run()), "");
  EXPECT_EQ(k.words(k.a, 1)[0], 0xffffU + 1 + 496);  // 0 + 1 + ... + 31
}

TEST(PtxExecution, AtomicsOfAllBlocksAddUp) {
  SmallKernel k(
      "red.global.add.u32 [%rd2], 1; atom.global.max.u32 %r2, [%rd2+4], %r0; atom.global.inc.u32 %r3, [%rd2+8], 6;"
      "atom.global.cas.b32 %r4, [%rd2+12], 0, 77;");
  EXPECT_EQ(all_findings(k.run({.grid = {3}, .block = {64}})), "");
  EXPECT_EQ(k.words(k.b, 4), (std::vector<uint32_t>{192, 63, 192 % 7, 77}));
}

TEST(PtxExecution, BlocksOfACooperativeLaunchWaitForOneAnother) {
  SmallKernel k(
      "red.release.gpu.global.add.u32 [%rd2], 1; $again: ld.acquire.gpu.global.u32 %r2, [%rd2];"
      "setp.ne.s32 %p1, %r2, 5; @%p1 bra $again; setp.ne.s32 %p2, %r1, 0; @%p2 bra $end;"
      "st.global.u32 [%rd1], %r2; $end:");
  const Shape shape{.grid = {5}, .block = {1}, .cooperative = true, .options = {.most_instructions = 1000000}};
  EXPECT_EQ(all_findings(k.run(shape)), "");
  EXPECT_EQ(k.words(k.a, 1)[0], 5U);
  k.set_words(k.b, {0});
  EXPECT_EQ(count(k.run({.grid = {5}, .block = {1}, .options = {.most_instructions = 1000000}}), Check::too_long), 1U);
}

// 16 bytes a lane come by cp.async and are read back transposed and not.
TEST(PtxExecution, AsyncCopiesAndMatrices) {
  SmallKernel k(
      "mov.u32 %r2, tile; shl.b32 %r3, %r0, 4; add.s32 %r4, %r2, %r3; mul.wide.u32 %rd5, %r0, 16; add.s64 %rd6, %rd2, "
      "%rd5;"
      "cp.async.cg.shared.global [%r4], [%rd6], 16, 14; cp.async.commit_group; cp.async.wait_all; bar.sync 0;"
      "ldmatrix.sync.aligned.m8n8.x4.trans.shared.b16 {%r5, %r6, %r7, %r8}, [%r4]; add.s64 %rd7, %rd1, %rd5;"
      "st.global.v4.u32 [%rd7], {%r5, %r6, %r7, %r8};",
      ".shared .align 16 .b8 tile[512];");
  std::vector<uint32_t> words(128);
  for (uint32_t i = 0; i < 128; ++i) words[i] = (2 * i + 1) << 16 | 2 * i;  // element e is e
  k.set_words(k.b, words);
  const Outcome done = k.run();
  EXPECT_EQ(all_findings(done), "");
  const auto got = k.words(k.a, 128);
  // The last element of each row was not copied: zero.
  const auto element = [](uint32_t m, uint32_t row, uint32_t column) {
    return column == 7 ? 0 : m * 64 + row * 8 + column;
  };
  for (uint32_t l = 0; l < 32; ++l)
    for (uint32_t m = 0; m < 4; ++m)
      EXPECT_EQ(got[4 * l + m], element(m, l % 4 * 2 + 1, l / 4) << 16 | element(m, l % 4 * 2, l / 4));
  EXPECT_EQ(done.counters.shared_load_wavefronts, 4U);  // a matrix each: 8 rows of 16 bytes are all banks once
}

// D = A B + C of one warp: operands lie where the PTX ISA says, from memory in the threads' order.
void check_mma(const std::string& type, const std::string& shape, size_t depth, float (*round)(float)) {
  const bool tf32 = type == "tf32";
  SmallKernel k(
      "mul.wide.u32 %rd5, %r0, 16; add.s64 %rd6, %rd1, %rd5; add.s64 %rd7, %rd2, %rd5; add.s64 %rd8, %rd3, %rd5;"
      "ld.global.v4.u32 {%r2, %r3, %r4, %r5}, [%rd6]; ld.global.v2.u32 {%r6, %r7}, [%rd7];"
      "ld.global.v4.f32 {%f1, %f2, %f3, %f4}, [%rd8];"
      "mma.sync.aligned." +
      shape + ".row.col.f32." + type + "." + type +
      ".f32 {%f1, %f2, %f3, %f4}, {%r2, %r3, %r4, %r5}, {%r6, %r7}, {%f1, %f2, %f3, %f4};"
      "st.global.v4.f32 [%rd8], {%f1, %f2, %f3, %f4};");
  std::mt19937 random(1);
  const auto next = [&] { return round(static_cast<float>(random() % 2000) / 1000.0F - 1.0F); };
  std::vector<std::vector<float>> a(16, std::vector<float>(depth)), b(depth, std::vector<float>(8)),
      c(16, std::vector<float>(8));
  for (auto* m : {&a, &b, &c})
    for (auto& row : *m)
      for (float& x : row) x = next();
  const auto word = [&](float low, float high) -> uint32_t {
    if (tf32) return std::bit_cast<uint32_t>(low);
    return type == "f16" ? uint32_t{to_f16(high)} << 16 | to_f16(low) : uint32_t{to_bf16(high)} << 16 | to_bf16(low);
  };
  const size_t step = tf32 ? 1 : 2, half = depth / 2;
  std::vector<uint32_t> a_words(128), b_words(128);
  std::vector<float> c_words(128);
  for (size_t l = 0; l < 32; ++l) {
    const size_t row = l / 4, column = l % 4 * step;
    for (size_t q = 0; q < 4; ++q) {
      const size_t r = row + 8 * (q % 2), at = column + half * (q / 2);
      a_words[4 * l + q] = word(a[r][at], a[r][at + step - 1]);
      c_words[4 * l + q] = c[row + 8 * (q / 2)][l % 4 * 2 + q % 2];
    }
    for (size_t q = 0; q < 2; ++q)
      b_words[4 * l + q] = word(b[column + half * q][row], b[column + half * q + step - 1][row]);
  }
  k.set_words(k.a, a_words);
  k.set_words(k.b, b_words);
  k.set_floats(k.c, c_words);
  EXPECT_EQ(all_findings(k.run()), "");
  const std::vector<float> got = k.floats(k.c, 128);
  for (size_t l = 0; l < 32; ++l)
    for (size_t q = 0; q < 4; ++q) {
      const size_t r = l / 4 + 8 * (q / 2), n = l % 4 * 2 + q % 2;
      double sum = c[r][n];
      for (size_t z = 0; z < depth; ++z) sum += double{a[r][z]} * double{b[z][n]};
      EXPECT_FLOAT_EQ(got[4 * l + q], static_cast<float>(sum)) << type << " " << r << ", " << n;
    }
}

TEST(PtxExecution, ProductsOfTensorCores) {
  check_mma("f16", "m16n8k16", 16, [](float x) { return from_f16(to_f16(x)); });
  check_mma("bf16", "m16n8k16", 16, [](float x) { return from_bf16(to_bf16(x)); });
  check_mma("tf32", "m16n8k8", 8, [](float x) { return std::bit_cast<float>(to_tf32(x)); });
}

TEST(PtxCounters, RequestsAreCountedAsByHand) {
  SmallKernel k(
      "ld.global.u32 %r2, [%rd4];"  // 128 bytes in a row: 4 sectors
      "mul.wide.u32 %rd5, %r0, 64; add.s64 %rd5, %rd5, %rd2; ld.global.u32 %r3, [%rd5];"  // 64 bytes apart: 32
      "ld.global.u32 %r4, [%rd2]; st.global.v4.u32 [%rd2+16], {%r2,%r2,%r2,%r2};",        // one; one
      "");
  const Counters c = k.run({.options = {.races = false}}).counters;
  EXPECT_EQ(c.global_loads, 3U);
  EXPECT_EQ(c.global_load_sectors, 4U + 32 + 1);
  EXPECT_EQ(c.global_load_bytes, 3U * 128);
  EXPECT_EQ(c.global_stores, 1U);
  EXPECT_EQ(c.global_store_sectors, 1U);
  EXPECT_EQ(c.global_wavefronts, 1U + 16 + 1 + 4);  // 2 KB are 16 lines; the store moves 512 bytes
  EXPECT_EQ(c.instructions, 7U + 6 + 1);            // before the text; the text; ret
  EXPECT_EQ(c.thread_instructions, 32U * c.instructions);
}

uint64_t wavefronts(const std::string& address, const std::string& load) {
  SmallKernel k("mov.u32 %r2, tile; " + address + " add.s32 %r3, %r3, %r2; " + load,
                ".shared .align 16 .b8 tile[8192];");
  return k.run({.options = {.races = false}}).counters.shared_load_wavefronts;
}

TEST(PtxCounters, BanksConflictAsByHand) {
  const std::string word = "ld.shared.u32 %r4, [%r3];";
  EXPECT_EQ(wavefronts("mul.lo.u32 %r3, %r0, 4;", word), 1U);
  EXPECT_EQ(wavefronts("mul.lo.u32 %r3, %r0, 0;", word), 1U);     // one word for all
  EXPECT_EQ(wavefronts("mul.lo.u32 %r3, %r0, 8;", word), 2U);     // every second bank
  EXPECT_EQ(wavefronts("mul.lo.u32 %r3, %r0, 128;", word), 32U);  // one bank
  EXPECT_EQ(wavefronts("mul.lo.u32 %r3, %r0, 132;", word), 1U);   // a column of rows of 33 words
  EXPECT_EQ(wavefronts("mul.lo.u32 %r3, %r0, 16;", "ld.shared.v4.u32 {%r4,%r5,%r6,%r7}, [%r3];"), 4U);
}

TEST(PtxCounters, WaitsForLoads) {
  const auto counters = [&](const Shape& shape, const std::string& body) {
    return SmallKernel(body).run(shape).counters;
  };
  const Shape one{.block = {1}, .options = {.chains = true}};
  const std::string two = "ld.global.u32 %r2, [%rd1]; ld.global.u32 %r3, [%rd2]; add.u32 %r2, %r2, %r3;";
  EXPECT_EQ(counters(one, two + two).longest_waits, 1U);                           // under way together
  EXPECT_EQ(counters(one, two + "bra.uni next; next: " + two).longest_waits, 2U);  // a new piece
  const std::string volatile_ld = "ld.volatile.global.u32 %r2, [%rd1]; add.u32 %r2, %r2, 1;";
  const Counters c = counters({.block = {64}, .options = {.chains = true}},
                              two + "bar.sync 0;" + volatile_ld + "bar.sync 0;" + volatile_ld);
  EXPECT_EQ(c.longest_waits, 3U);
  EXPECT_EQ(c.longest_fresh_waits, 2U);
}

TEST(PtxCounters, ChainsOfLoads) {
  const Shape shape{.block = {1}, .options = {.chains = true}};
  const auto chain = [&](const std::string& body) { return SmallKernel(body).run(shape).counters; };
  EXPECT_EQ(chain("ld.global.u32 %r2, [%rd1]; ld.global.u32 %r3, [%rd2];").longest_chain, 1U);
  const std::string next = "cvt.u64.u32 %rd5, %r2; add.s64 %rd6, %rd1, %rd5; ld.global.u32 %r2, [%rd6];";
  EXPECT_EQ(chain("mov.u32 %r2, 0;" + next + next + next).longest_chain, 3U);
  EXPECT_EQ(
      chain("ld.global.u32 %r2, [%rd1]; setp.eq.s32 %p1, %r2, 9; @%p1 ret; ld.global.u32 %r3, [%rd2];").longest_chain,
      2U);
  const Counters c = chain("mov.u32 %r2, 0;" + next + "atom.global.add.u32 %r2, [%rd3], 0;" + next + next);
  EXPECT_EQ(c.longest_chain_after_arrival, 2U);
  const std::string turn = "ld.global.u32 %r2, [%rd1]; add.s32 %r2, %r2, 1; st.global.u32 [%rd1], %r2;";
  EXPECT_EQ(chain(turn + turn + turn).longest_chain, 3U);  // through memory that the kernel has written
}

}  // namespace
}  // namespace heddle::ptx
