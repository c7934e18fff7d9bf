// Every check of the interpreter: a text that it speaks of, and the nearest one that it does not.
#include <gtest/gtest.h>

#include "tests/ptx/small_kernel.h"

namespace heddle::ptx {
namespace {

struct Pair {
  Check check;
  std::string name, wrong, right, variables;
  Shape shape = {};
};

void PrintTo(const Pair& p, std::ostream* stream) { *stream << p.name; }

const char* const kTile = ".shared .align 16 .b8 tile[512];";
// %r4: where the thread's word of the tile lies; %r5: its neighbour's.
const std::string kPlaces = "shl.b32 %r4, %r0, 2; mov.u32 %r6, tile; add.s32 %r4, %r4, %r6; xor.b32 %r5, %r4, 4;";
const std::string kStore = kPlaces + "st.shared.u32 [%r4], %r0;";
const std::string kLoadOther = "ld.shared.u32 %r7, [%r5]; st.global.u32 [%rd4], %r7;";
// Only the first thread of a block goes on; all meet again at $done.
const std::string kFirst = "setp.ne.s32 %p1, %r0, 0; @%p1 bra $done;";

// Block 0 writes a word and says so in a flag; block 1 waits for the flag and reads the word.
std::string message(const std::string& before_flag, const std::string& store, const std::string& load,
                    const std::string& behind_flag) {
  return kFirst + "setp.ne.s32 %p2, %r1, 0; @%p2 bra $reader;" + "st.global.u32 [%rd2], 7;" + before_flag + store +
         " [%rd3], 1; bra $done; $reader:" + load + " %r8, [%rd3]; setp.eq.s32 %p3, %r8, 0; @%p3 bra $reader;" +
         behind_flag + "ld.global.u32 %r9, [%rd2]; st.global.u32 [%rd2+8], %r9; $done:";
}

std::vector<Pair> memory_pairs() {
  return {
      {Check::out_of_bounds, "global", "st.global.u32 [%rd1+4096], %r0;", "st.global.u32 [%rd4], %r0;", ""},
      {Check::out_of_bounds, "before", "ld.global.u32 %r2, [%rd1+-4];", "ld.global.u32 %r2, [%rd1];", ""},
      {Check::out_of_bounds, "shared", "st.shared.u32 [tile+512], 0;", kStore, kTile},
      {Check::misaligned, "word", "ld.global.u32 %r2, [%rd1+2];", "ld.global.u32 %r2, [%rd1+4];", ""},
      {Check::misaligned, "vector", "ld.global.v4.u32 {%r2,%r3,%r4,%r5}, [%rd1+8];",
       "ld.global.v2.u32 {%r2,%r3}, [%rd1+8];", ""},
      {Check::unwritten_shared, "tile", kPlaces + "bar.sync 0;" + kLoadOther, kStore + "bar.sync 0;" + kLoadOther,
       kTile},
      {Check::read_only_written, "in_place", "st.global.u32 [%rd4], %r0; ld.global.nc.u32 %r2, [%rd4];",
       "ld.global.nc.u32 %r2, [%rd4]; st.global.u32 [%rd4], %r0;", ""},
  };
}

std::vector<Pair> race_pairs() {
  const std::string fence = "membar.gl;";
  const Shape two{.grid = {2}, .cooperative = true};
  return {
      {Check::shared_race,
       "read_after_write",
       kStore + kLoadOther,
       kStore + "bar.sync 0;" + kLoadOther,
       kTile,
       {.block = {64}}},
      {Check::shared_race, "warp", kStore + kLoadOther, kStore + "bar.warp.sync 0xffffffff;" + kLoadOther, kTile},
      {Check::shared_race, "write_after_read",
       kStore + "bar.sync 0; ld.shared.u32 %r7, [%r5]; st.shared.u32 [%r4], %r7;",
       kStore + "bar.sync 0; ld.shared.u32 %r7, [%r5]; bar.sync 0; st.shared.u32 [%r4], %r7;", kTile},
      {Check::shared_race, "write_after_write", kPlaces + "st.shared.u32 [tile], %r0;",
       kFirst + "st.shared.u32 [tile], %r0; $done:", kTile},
      {Check::shared_race, "bytes",
       "mov.u32 %r6, tile; shr.u32 %r4, %r0, 1; add.s32 %r4, %r4, %r6; st.shared.u8 [%r4], %r0;",
       "mov.u32 %r6, tile; add.s32 %r4, %r0, %r6; st.shared.u8 [%r4], %r0;", kTile},
      {Check::global_race, "same_word", "st.global.u32 [%rd1], %r0;", "st.global.u32 [%rd4], %r0;", ""},
      {Check::global_race,
       "of_blocks",
       "st.global.u32 [%rd4], %r1;",
       "atom.global.exch.b32 %r2, [%rd4], %r1;",
       "",
       {.grid = {2}}},
      {Check::global_race, "scalar_in_place",
       "ld.global.u32 %r2, [%rd1]; setp.ne.s32 %p1, %r0, 0; @!%p1 st.global.u32 [%rd1], %r2;",
       "setp.ne.s32 %p1, %r0, 0; @!%p1 ld.global.u32 %r2, [%rd1]; @!%p1 st.global.u32 [%rd1], %r2;", ""},
      {Check::global_race, "flag_without_fence",
       message("", "st.relaxed.gpu.global.u32", "ld.relaxed.gpu.global.u32", ""),
       message("", "st.release.gpu.global.u32", "ld.acquire.gpu.global.u32", ""), "", two},
      {Check::global_race, "fence_before_only", message(fence, "st.volatile.global.u32", "ld.volatile.global.u32", ""),
       message(fence, "st.volatile.global.u32", "ld.volatile.global.u32", fence), "", two},
      {Check::global_race, "fence_of_the_block",
       message("fence.acq_rel.cta;", "st.relaxed.gpu.global.u32", "ld.relaxed.gpu.global.u32", "fence.acq_rel.gpu;"),
       message("fence.acq_rel.gpu;", "st.relaxed.gpu.global.u32", "ld.relaxed.gpu.global.u32", "fence.acq_rel.gpu;"),
       "", two},
      {Check::global_race, "scope_of_the_block",
       message("", "st.release.cta.global.u32", "ld.acquire.cta.global.u32", ""),
       message("", "st.release.sys.global.u32", "ld.acquire.gpu.global.u32", ""), "", two},
  };
}

// All threads write, then the block that arrives last reads what all wrote.
std::string last_block(const std::string& before, const std::string& between, const std::string& after_arrival,
                       const std::string& behind) {
  return "mul.wide.u32 %rd5, %r1, 128; add.s64 %rd5, %rd5, %rd4; st.global.u32 [%rd5], %r0;" + before + "bar.sync 0;" +
         kFirst + between + "atom.global.add.u32 %r2, [%rd3], 1;" + after_arrival +
         "st.shared.u32 [tile], %r2; $done: bar.sync 0;" + behind +
         "ld.shared.u32 %r3, [tile]; setp.ne.s32 %p2, %r3, 3; @%p2 bra $end;" +
         "ld.global.u32 %r4, [%rd4]; ld.global.u32 %r5, [%rd4+128]; add.s32 %r4, %r4, %r5; st.global.u32 [%rd2], %r4;"
         " $end:";
}

// Half of the warp goes through a loop at the end of the text, and meets the other half at a barrier.
std::string back_from_the_end(const std::string& of_the_others) {
  return "setp.lt.s32 %p1, %r0, 16; @%p1 bra $rare;" + of_the_others +
         "$join: bar.sync 0; ret; $rare: mov.u32 %r2, 0;"
         "$again: add.s32 %r2, %r2, 1; setp.lt.s32 %p2, %r2, %r0; @%p2 bra $again; bra $join;";
}

std::vector<Pair> control_pairs() {
  const Shape four{.grid = {4}, .block = {32}, .options = {}};
  const std::string gl = "membar.gl;", ar = "fence.acq_rel.gpu;";
  const std::string alone = "st.global.u32 [%rd2], %r4;";
  const auto one = [&](std::string text) {  // the result is written by one thread
    const size_t at = text.find(alone);
    return text.replace(at, alone.size(), "setp.eq.s32 %p3, %r0, 0; @%p3 " + alone);
  };
  // By one atomic operation instead of fences.
  const auto counted = [&](const std::string& order, const std::string& scope = "gpu") {
    const std::string plain = "atom.global";
    std::string text = one(last_block("", "", "", ""));
    return text.replace(text.find(plain), plain.size(), "atom." + order + "." + scope + ".global");
  };
  return {
      {Check::global_race, "last_block_without_fence", one(last_block("", "", "", "")), one(last_block(gl, "", "", gl)),
       kTile, four},
      {Check::global_race, "fences_of_all_threads_must_be_sequential", one(last_block(ar, "", "", ar)),
       one(last_block("", ar, ar, "")), kTile, four},
      {Check::global_race, "count_that_orders_nothing", counted("relaxed"), counted("acq_rel"), kTile, four},
      {Check::global_race, "count_that_acquires_nothing", counted("release"), counted("acq_rel"), kTile, four},
      {Check::global_race, "count_that_releases_nothing", counted("acquire"), counted("acq_rel"), kTile, four},
      {Check::global_race, "count_of_the_block", counted("acq_rel", "cta"), counted("acq_rel"), kTile, four},
      {Check::divergent_barrier, "branch",
       "setp.lt.s32 %p1, %r0, 16; @%p1 bra $other; bar.sync 0; bra $end; $other: bar.sync 0; $end:",
       "setp.lt.s32 %p1, %r0, 16; @%p1 bra $end; add.s32 %r0, %r0, 1; $end: bar.sync 0;", ""},
      // Lanes of $rare come back to $join, as compilers lay out what they take for rare; only the
      // first barrier is wrong.
      {Check::divergent_barrier, "back_from_the_end", back_from_the_end("bar.sync 1;"), back_from_the_end(""), ""},
      {Check::exited_at_barrier,
       "exit",
       "setp.lt.s32 %p1, %r0, 32; @%p1 ret; bar.sync 0;",
       "bar.sync 0; setp.lt.s32 %p1, %r0, 32; @%p1 ret;",
       "",
       {.block = {64}}},
      {Check::member_mask, "not_in_mask", "shfl.sync.bfly.b32 %r2, %r0, 1, 31, 0xfffffffe;",
       "shfl.sync.bfly.b32 %r2, %r0, 1, 31, 0xffffffff;", ""},
      {Check::member_mask, "reads_outside",
       "setp.ge.s32 %p1, %r0, 16; @%p1 ret; shfl.sync.bfly.b32 %r2, %r0, 16, 31, 0xffff;",
       "setp.ge.s32 %p1, %r0, 16; @%p1 ret; shfl.sync.bfly.b32 %r2, %r0, 8, 31, 0xffff;", ""},
      {Check::deadlock, "shuffle",
       "setp.lt.s32 %p1, %r0, 16; @%p1 bra $other; shfl.sync.bfly.b32 %r2, %r0, 1, 31, 0xffffffff; bra $end;"
       "$other: shfl.sync.bfly.b32 %r2, %r0, 1, 31, 0xffffffff; $end:",
       "setp.lt.s32 %p1, %r0, 16; @%p1 bra $other; shfl.sync.bfly.b32 %r2, %r0, 1, 31, 0xffff0000; bra $end;"
       "$other: shfl.sync.bfly.b32 %r2, %r0, 1, 31, 0x0000ffff; $end:",
       ""},
      {Check::too_long,
       "loop",
       "$again: bra $again;",
       "mov.u32 %r2, 0; $again: add.s32 %r2, %r2, 1; setp.lt.s32 %p1, %r2, 9; @%p1 bra $again;",
       "",
       {.options = {.most_instructions = 1000}}},
      {Check::trap, "trap", "trap;", "@%p1 trap;", ""},
      {Check::shared_race,
       "copy_not_waited_for",
       "cp.async.ca.shared.global [tile], [%rd1], 4; cp.async.commit_group; ld.shared.u32 %r2, [tile];",
       "cp.async.ca.shared.global [tile], [%rd1], 4; cp.async.commit_group; cp.async.wait_group 0; ld.shared.u32 %r2, "
       "[tile];",
       kTile,
       {.block = {1}}},
  };
}

class PtxCheck : public ::testing::TestWithParam<Pair> {};

TEST_P(PtxCheck, SpeaksOfTheWrongTextOnly) {
  const Pair& p = GetParam();
  const Outcome wrong = SmallKernel(p.wrong, p.variables).run(p.shape);
  EXPECT_GE(count(wrong, p.check), 1U) << p.wrong << "\n" << all_findings(wrong);
  if (p.name == "trap") return;  // the guard of the other holds anything
  const Outcome right = SmallKernel(p.right, p.variables).run(p.shape);
  EXPECT_EQ(all_findings(right), "") << p.right;
  EXPECT_TRUE(right.completed);
}

std::string name_of(const ::testing::TestParamInfo<Pair>& info) { return info.param.name; }
INSTANTIATE_TEST_SUITE_P(Memory, PtxCheck, ::testing::ValuesIn(memory_pairs()), name_of);
INSTANTIATE_TEST_SUITE_P(Races, PtxCheck, ::testing::ValuesIn(race_pairs()), name_of);
INSTANTIATE_TEST_SUITE_P(Control, PtxCheck, ::testing::ValuesIn(control_pairs()), name_of);

TEST(PtxCheckOfGlobals, UnwrittenMemoryIsFoundWhereWritesAreFollowed) {
  SmallKernel k("ld.global.u32 %r2, [%rd1]; st.global.u32 [%rd2], %r2; ld.global.u32 %r2, [%rd2];", "", true);
  const Shape one{.block = {1}};
  EXPECT_EQ(count(k.run(one), Check::unwritten_global), 1U);
  k.set_words(k.a, {1});
  EXPECT_EQ(all_findings(k.run(one)), "");
}

TEST(PtxLaunch, IsRefusedAsTheDriverWould) {
  SmallKernel k("");
  EXPECT_EQ(count(k.run({.block = {1025}}), Check::bad_launch), 1U);
  EXPECT_TRUE(k.run({.block = {1024}}).completed);
}

TEST(PtxText, WhatIsNotKnownIsRefusedWithItsLine) {
  const auto message = [](const std::string& body) -> std::string {
    try {
      parse(small_ptx(body, ""));
    } catch (const ParseError& e) {
      return e.what();
    }
    return "accepted";
  };
  EXPECT_EQ(message("frobnicate.u32 %r1, %r2;"), "PTX line 10: frobnicate.u32 %r1, %r2: unknown instruction");
  EXPECT_EQ(message("add.huge.u32 %r1, %r2, %r3;"), "PTX line 10: add.huge.u32 %r1, %r2, %r3: unknown modifier .huge");
  EXPECT_EQ(message("add.u32 %r1, %r2, %q3;"), "PTX line 10: add.u32 %r1, %r2, %q3: unknown operand %q3");
  EXPECT_EQ(message("bra $nowhere;"), "PTX line 10: bra $nowhere: unknown label $nowhere");
  EXPECT_EQ(message("add.u32 %r1, %rd2, %r3;"), "PTX line 10: add.u32 %r1, %rd2, %r3: %rd2 has another width");
}

// Of a buffer that a launch names in part: what lies beside is another's.
TEST(PtxCheckOfGlobals, WhatALaunchDoesNotNameIsNotItsOwn) {
  const auto findings = [](const std::string& body, bool written, uint64_t bytes) {
    SmallKernel k(body);
    Shape shape{.block = {32}, .options = {}};
    shape.touches = {{k.a, bytes, written}};
    return count(k.run(shape), Check::not_declared);
  };
  const std::string store = "st.global.u32 [%rd4], %r0;", load = "ld.global.u32 %r2, [%rd4];";
  EXPECT_EQ(findings(store, true, 128), 0U);
  EXPECT_EQ(findings(store, true, 124), 1U);
  EXPECT_EQ(findings(store, false, 128), 1U);
  EXPECT_EQ(findings(load, false, 128), 0U);
  EXPECT_EQ(findings(load, true, 120), 1U);
  EXPECT_EQ(findings("st.global.u32 [%rd2], %r0;", false, 128), 0U);  // of another buffer nothing is said
}

TEST(PtxMemory, TheHostFaultsWhereItTouchesADeviceAddress) {
  DeviceMemory memory;
  const uint64_t address = memory.allocate(64);
  EXPECT_DEATH(*reinterpret_cast<volatile int*>(address) = 1, "");  // NOLINT(performance-no-int-to-ptr)
  EXPECT_THROW(memory.fill(address + 60, 0, 8), MemoryError);
  EXPECT_EQ(memory.find(address + 64, 1), nullptr);
}

}  // namespace
}  // namespace heddle::ptx
