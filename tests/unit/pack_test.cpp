// Interval packing: no two live buffers overlap, and the arena stays close to the lower bound.
#include <gtest/gtest.h>

#include <random>

#include "passes/memory/pack_intervals.h"

namespace heddle::passes {
namespace {

constexpr int64_t kAlignment = 256;

void expect_no_overlap(const std::vector<Interval>& items, const Packing& packing) {
  ASSERT_EQ(packing.offsets.size(), items.size());
  for (size_t i = 0; i < items.size(); ++i) {
    EXPECT_GE(packing.offsets[i], 0);
    EXPECT_EQ(packing.offsets[i] % kAlignment, 0);
    EXPECT_LE(packing.offsets[i] + items[i].bytes, packing.bytes);
    for (size_t j = 0; j < i; ++j) {
      const bool together = items[i].begin < items[j].end && items[j].begin < items[i].end;
      const bool overlap = packing.offsets[i] < packing.offsets[j] + items[j].bytes &&
                           packing.offsets[j] < packing.offsets[i] + items[i].bytes;
      if (together && overlap) ADD_FAILURE() << "buffers " << j << " and " << i << " overlap";
    }
  }
}

double ratio(const Packing& p) { return static_cast<double>(p.bytes) / static_cast<double>(p.max_live); }

int64_t below(std::mt19937& random, int64_t bound) { return static_cast<int64_t>(random()) % bound; }

// A training step: activations live from their forward step to its mirror image, gradients and scratch for a step or
// two.
std::vector<Interval> training_step(std::mt19937& random, int layers) {
  std::vector<Interval> items;
  const int64_t end = 2 * layers + 1;
  const auto size = [&](int64_t most) { return 4 + below(random, most); };
  for (int64_t layer = 0; layer < layers; ++layer) {
    const int64_t bytes = size(1 << 20);
    items.push_back({layer, end - layer, bytes});                               // kept for the backward pass
    if (random() % 2 == 0) items.push_back({layer, layer + 2, size(1 << 20)});  // read by the next layer only
    if (random() % 3 == 0) items.push_back({layer, layer + 1, size(1 << 18)});  // workspace
    items.push_back({end - layer - 1, end - layer + 1, bytes});                 // the gradient of the activation
    if (random() % 2 == 0) items.push_back({end - layer - 1, end + 1, size(1 << 16)});  // a weight gradient
  }
  return items;
}

TEST(PackIntervals, NothingNeedsNoArena) {
  const Packing packing = pack_intervals({}, kAlignment);
  EXPECT_EQ(packing.bytes, 0);
  EXPECT_EQ(packing.max_live, 0);
}

TEST(PackIntervals, BuffersOfDifferentTimesShareMemory) {
  const std::vector<Interval> items = {{0, 2, 256}, {1, 3, 256}, {2, 4, 512}};
  const Packing packing = pack_intervals(items, kAlignment);
  expect_no_overlap(items, packing);
  EXPECT_EQ(packing.bytes, 768);  // steps 1: 256 + 256, 2: 256 + 512
  EXPECT_EQ(packing.max_live, 768);
}

TEST(PackIntervals, ABufferThatEndsWhereAnotherBeginsMayGiveItsPlace) {
  const std::vector<Interval> items = {{0, 1, 100}, {1, 2, 100}};
  EXPECT_EQ(pack_intervals(items, kAlignment).bytes, 256);  // 100 rounded up, once
}

TEST(PackIntervals, BuffersOfOneStepDoNot) {
  const std::vector<Interval> items = {{0, 1, 100}, {0, 1, 100}};
  EXPECT_EQ(pack_intervals(items, kAlignment).bytes, 512);
}

TEST(PackIntervals, RandomBuffersNeverOverlap) {
  std::mt19937 random(7);
  for (int round = 0; round < 200; ++round) {
    std::vector<Interval> items;
    const int64_t count = below(random, 60);
    for (int64_t i = 0; i < count; ++i) {
      const int64_t begin = below(random, 40);
      items.push_back({begin, begin + 1 + below(random, 20), below(random, 100000)});
    }
    const Packing packing = pack_intervals(items, kAlignment);
    expect_no_overlap(items, packing);
    EXPECT_GE(packing.bytes, packing.max_live);
  }
}

TEST(PackIntervals, TrainingStepsComeWithinAPercentOfTheBound) {
  std::mt19937 random(11);
  for (int round = 0; round < 40; ++round) {
    const std::vector<Interval> items = training_step(random, 4 + static_cast<int>(below(random, 40)));
    const Packing packing = pack_intervals(items, kAlignment);
    expect_no_overlap(items, packing);
    EXPECT_LE(ratio(packing), 1.01) << "round " << round;
  }
}

// So many live at the same time that overlaps are not listed.
TEST(PackIntervals, DeepTrainingStepsComeWithinFivePercentOfTheBound) {
  std::mt19937 random(13);
  const std::vector<Interval> items = training_step(random, 700);
  ASSERT_GT(items.size(), 2000U);
  const Packing packing = pack_intervals(items, kAlignment);
  expect_no_overlap(items, packing);
  EXPECT_LE(ratio(packing), 1.05);
}

// The lowest place that is free of all before it, in the order of the last to die and, among those, the largest.
int64_t naive_arena(std::vector<Interval> items) {
  std::stable_sort(items.begin(), items.end(), [](const Interval& a, const Interval& b) {
    return a.end != b.end ? a.end > b.end : a.bytes > b.bytes;
  });
  std::vector<int64_t> offsets;
  int64_t arena = 0;
  for (size_t i = 0; i < items.size(); ++i) {
    std::vector<std::pair<int64_t, int64_t>> taken;
    for (size_t j = 0; j < i; ++j)
      if (items[j].begin < items[i].end && items[i].begin < items[j].end)
        taken.emplace_back(offsets[j], offsets[j] + items[j].bytes);
    std::sort(taken.begin(), taken.end());
    int64_t at = 0;
    for (const auto& [from, to] : taken) {
      if (from - at >= items[i].bytes) break;
      at = std::max(at, to);
    }
    offsets.push_back(at);
    arena = std::max(arena, at + items[i].bytes);
  }
  return arena;
}

// Many buffers of random lives: never worse than the plain way of the first order that is tried.
TEST(PackIntervals, ManyBuffersTakeNoMoreThanTheirFirstOrderGives) {
  std::mt19937 random(17);
  for (int round = 0; round < 6; ++round) {
    std::vector<Interval> items;
    for (int i = 0; i < 900; ++i) {
      const int64_t begin = below(random, 400);
      items.push_back({begin, begin + 1 + below(random, round < 3 ? 400 - begin : 60), 256 * (1 + below(random, 40))});
    }
    const Packing packing = pack_intervals(items, kAlignment);
    expect_no_overlap(items, packing);
    EXPECT_LE(packing.bytes, naive_arena(items)) << "round " << round;
  }
}

// Byte by byte and step by step: a part never meets another buffer's, and a buffer's parts keep their distances.
void expect_no_part_overlaps(const std::vector<Buffer>& buffers, const Packing& packing) {
  ASSERT_EQ(packing.offsets.size(), buffers.size());
  for (size_t i = 0; i < buffers.size(); ++i) {
    EXPECT_GE(packing.offsets[i], 0);
    EXPECT_EQ(packing.offsets[i] % kAlignment, 0);
    EXPECT_LE(packing.offsets[i] + buffers[i].bytes, packing.bytes);
    for (size_t j = 0; j < i; ++j)
      for (const ir::BufferPart& a : buffers[i].parts)
        for (const ir::BufferPart& b : buffers[j].parts) {
          const int64_t from = packing.offsets[i] + a.offset, other = packing.offsets[j] + b.offset;
          const bool together = a.live.begin < b.live.end && b.live.begin < a.live.end;
          if (together && from < other + b.live.bytes && other < from + a.live.bytes)
            ADD_FAILURE() << "parts of buffers " << j << " and " << i << " overlap";
        }
  }
}

// All gradients lie in one buffer; activations end where gradients begin, so that one lies in the other.
TEST(PackBuffers, OthersLieWhereAPartIsNotNeededYet) {
  const std::vector<Buffer> buffers = {
      {4096, {{0, {3, 9, 1024}}, {1024, {5, 9, 3072}}}}, {3072, {{0, {0, 5, 3072}}}}, {1024, {{0, {0, 3, 1024}}}}};
  const Packing packing = pack_buffers(buffers, kAlignment);
  expect_no_part_overlaps(buffers, packing);
  EXPECT_EQ(packing.max_live, 4096);
  EXPECT_EQ(packing.bytes, 4096);
}

// Of 100 bytes more than a multiple of the alignment, and parts that begin at no multiple.
TEST(PackBuffers, RandomPartsNeverOverlap) {
  std::mt19937 random(23);
  for (const int64_t most : {20, 60, 500}) {  // with 500 there are too many overlaps for lists of them
    for (int round = 0; round < (most > 100 ? 1 : 15); ++round) {
      std::vector<Buffer> buffers;
      for (int64_t i = 1 + below(random, most); i > 0; --i) {
        Buffer b;
        for (int64_t parts = random() % 3 == 0 ? 1 + below(random, 9) : 1; parts > 0; --parts) {
          const int64_t begin = below(random, 40), bytes = 16 * (1 + below(random, 400));
          b.parts.push_back({b.bytes, {begin, begin + 1 + below(random, 30), bytes}});
          b.bytes += bytes;
        }
        buffers.push_back(b);
      }
      const Packing packing = pack_buffers(buffers, kAlignment);
      expect_no_part_overlaps(buffers, packing);
      EXPECT_GE(packing.bytes, packing.max_live);
    }
  }
}

TEST(PackIntervals, TheSameBuffersGetTheSamePlaces) {
  std::mt19937 random(3);
  const std::vector<Interval> items = training_step(random, 30);
  EXPECT_EQ(pack_intervals(items, kAlignment).offsets, pack_intervals(items, kAlignment).offsets);
}

}  // namespace
}  // namespace heddle::passes
