// The preamble's GPU branch of loops and reductions, run by host threads: every block size, team and packet gives the
// same sums, which are exact here; masks and barriers are those that the threads need.
#include "tests/unit/gpu_threads.h"
#undef HD_IN_REGISTERS  // another pragma
#define HD_IN_REGISTERS
#include "codegen/device/7_collectives.cuh"

namespace {

struct Sum {
  float value = 0;
  void add(float x) { value += x; }
  void merge(const Sum& other) { value += other.value; }
  float result() const { return value; }
};

struct Results {
  std::vector<float> differences, row_sums, column_sums, total;
  std::vector<unsigned char> scratch;
  std::vector<unsigned> counters = std::vector<unsigned>(8, 0);
  int finished = 0;  // threads that were in the last block
  bool operator==(const Results& o) const {
    return differences == o.differences && row_sums == o.row_sums && column_sums == o.column_sums && total == o.total;
  }
};

// As printed from a kernel of schedule rows: row sums, x - its row's sum, column sums and the total.
// The blocks meet in groups of `gather`, or, where that is 0, all at once.
template <int rows, int columns, int team, int width, int gather>
void normalise(const float* x, Results& r) {
  hd::ColumnResults<Sum, columns, team, width> c_acc;
  hd::Accumulator<Sum, columns> t_acc;
  hd::Row<float, columns, team, width> x_row;
  HD_ROWS(int, row, rows, team) {
    hd::Accumulator<Sum, columns> s_acc;
    HD_IN_REGISTERS
    HD_REDUCE(int, column, slot, columns, team, width) {
      const auto x_packet = hd::load<width>(x + (row * columns + column));
      HD_EACH(k, width) {
        x_row[slot][k] = x_packet[k];
        s_acc[HD_LANE].add(x_packet[k]);
        c_acc[slot][k].add(x_packet[k]);
        t_acc[HD_LANE].add(x_packet[k]);
      }
    }
    const auto s_row = hd::combine<team>(s_acc);
    HD_IN_REGISTERS
    HD_COLUMNS(int, column, slot, columns, team, width) {
      hd::Packet<float, width> y_result;
      HD_EACH(k, width) y_result[k] = x_row[slot][k] - s_row.result();
      hd::store(r.differences.data() + (row * columns + column), y_result);
    }
    HD_ONE_OF_TEAM(team) r.row_sums[static_cast<size_t>(row)] += s_row.result();  // += : once, if the test passes
  }
  auto* c_partials = hd::partials_at<Sum>(r.scratch.data(), 0);
  hd::put_columns(c_partials, c_acc);
  auto* t_partials = hd::partials_at<Sum>(r.scratch.data(), hd::blocks() * columns * static_cast<int>(sizeof(Sum)));
  hd::put_total<team>(t_partials, t_acc);
  const auto finish = [&] {
    if (gather == 0 && gpu_counts_known != 1)
      GpuMeeting::fail("the last block reads before it has met the thread that counted it in");
    std::atomic_ref<int>(r.finished).fetch_add(1);
    const auto t_all = hd::get_total(t_partials);
    HD_ONE_OF_BLOCK r.total[0] += t_all.result();
    if constexpr (gather == 0)
      hd::add_blocks<4, 8, 2>(c_partials, columns);
    else
      hd::add_groups<gather, 2, 1, 2>(c_partials, columns);
    HD_FINISH(int, column, columns) {
      r.column_sums[static_cast<size_t>(column)] += hd::get_column(c_partials, columns, column).result();
    }
  };
  if constexpr (gather == 0) {
    if (hd::last_block(r.counters.data())) finish();
  } else if (hd::last_of_group<gather>(r.counters.data())) {
    hd::add_group<gather, 4, 1, 3>(c_partials, columns);
    if (hd::last_group<gather>(r.counters.data())) finish();
  }
}

Results empty(int rows, int columns, int blocks) {
  Results r;
  r.differences.assign(static_cast<size_t>(rows * columns), -1);
  r.row_sums.assign(static_cast<size_t>(rows), 0);
  r.column_sums.assign(static_cast<size_t>(columns), 0);
  r.total.assign(1, 0);
  r.scratch.assign(static_cast<size_t>(blocks * (columns + 1)) * sizeof(Sum), 0xff);  // nan
  return r;
}

// Small whole numbers: every order of additions gives the same.
std::vector<float> numbers(int count) {
  std::vector<float> x(static_cast<size_t>(count));
  for (size_t i = 0; i < x.size(); ++i) x[i] = static_cast<float>(i * 7 % 13) - 5;
  return x;
}

Results expected(const std::vector<float>& x, int rows, int columns) {
  Results r = empty(rows, columns, 0);
  for (size_t i = 0; i < x.size(); ++i) {
    r.row_sums[i / static_cast<size_t>(columns)] += x[i];
    r.column_sums[i % static_cast<size_t>(columns)] += x[i];
    r.total[0] += x[i];
  }
  for (size_t i = 0; i < x.size(); ++i) r.differences[i] = x[i] - r.row_sums[i / static_cast<size_t>(columns)];
  return r;
}

template <int rows, int columns, int team, int width, int gather = 0>
void expect_normalised(int blocks, int threads) {
  SCOPED_TRACE(::testing::Message() << rows << " x " << columns << ", team " << team << ", packet " << width << ", "
                                    << blocks << " blocks of " << threads);
  const std::vector<float> x = numbers(rows * columns);
  Results got = empty(rows, columns, blocks);
  gpu_launch(blocks, threads, [&] { normalise<rows, columns, team, width, gather>(x.data(), got); });
  EXPECT_EQ(got, expected(x, rows, columns));
  EXPECT_EQ(got.counters, std::vector<unsigned>(8, 0));  // ready for the next launch
  EXPECT_EQ(got.finished, threads);
}

TEST(GpuRows, TeamsOfAWarpSumAlike) {
  expect_normalised<13, 10, 1, 2>(/*blocks=*/3, /*threads=*/64);
  expect_normalised<13, 10, 2, 1>(2, 64);
  expect_normalised<9, 16, 4, 4>(2, 32);
  expect_normalised<21, 33, 8, 1>(3, 64);
  expect_normalised<7, 64, 16, 4>(2, 64);
  expect_normalised<11, 45, 32, 1>(3, 96);
}

TEST(GpuRows, ABlockSharesARow) {
  expect_normalised<5, 300, 96, 4>(/*blocks=*/2, /*threads=*/96);
  expect_normalised<3, 77, 64, 1>(4, 64);
}

// The last group may be smaller, or there may be one alone; a block may be alone in it.
TEST(GpuRows, BlocksMeetInGroups) {
  expect_normalised<13, 75, 4, 1, 2>(/*blocks=*/5, /*threads=*/64);
  expect_normalised<13, 40, 8, 4, 3>(6, 32);
  expect_normalised<5, 33, 32, 1, 4>(3, 64);
  expect_normalised<9, 200, 64, 4, 2>(4, 64);
}

TEST(GpuRows, OneBlockFinishesAlone) { expect_normalised<4, 8, 8, 1>(/*blocks=*/1, /*threads=*/32); }

// Each row once, from what was loaded of it, whatever part of the last batch there is.
template <int rows, int columns, int team, int width, int count>
void expect_batches(int blocks, int threads) {
  const std::vector<float> x = numbers(rows * columns);
  std::vector<float> y(x.size(), 0);
  gpu_launch(blocks, threads, [&] {
    HD_BATCHES(int, rows, team, count) {
      hd::Batch<float, columns, width, count> x_packet;
      HD_LOAD_BATCH(int, row, rows, team, count) {
        HD_COLUMNS(int, column, slot, columns, team, width) {
          x_packet.at(HD_TURN, column) = hd::load<width>(x.data() + (row * columns + column));
        }
      }
      HD_OF_BATCH(int, row, rows, team, count) {
        HD_COLUMNS(int, column, slot, columns, team, width) {
          HD_EACH(k, width) y[static_cast<size_t>(row * columns + column + k)] += x_packet.at(HD_TURN, column)[k];
        }
      }
    }
  });
  EXPECT_EQ(y, x) << rows << " x " << columns << ", " << count << " at once, " << blocks << " blocks of " << threads;
}

TEST(GpuRows, AreLoadedInBatches) {
  for (const int blocks : {1, 2, 5}) {
    expect_batches<37, 16, 4, 4, 3>(blocks, /*threads=*/32);
    expect_batches<3, 30, 16, 2, 4>(blocks, 64);
    expect_batches<64, 4, 1, 4, 2>(blocks, 32);
  }
}

// Each point once, whatever the grid; a single row may end in a part of a packet.
template <int rows, int columns, int width>
void expect_each_once(int blocks, int threads) {
  std::vector<float> visits(static_cast<size_t>(rows * columns), 0);
  gpu_launch(blocks, threads, [&] {
    HD_POINTS(int, row, column, rows, columns, width) {
      HD_EACH_OF(k, width, columns - column) visits[static_cast<size_t>(row * columns + column + k)] += 1;
    }
  });
  EXPECT_EQ(visits, std::vector<float>(visits.size(), 1)) << rows << " x " << columns << ", packet " << width;
}

TEST(GpuPoints, AreVisitedOnce) {
  for (const int blocks : {1, 3}) {
    expect_each_once<7, 12, 4>(blocks, /*threads=*/8);
    expect_each_once<1, 101, 4>(blocks, 8);
    expect_each_once<5, 3, 1>(blocks, 4);
  }
}

TEST(GpuSpan, VisitsEachColumnOnce) {
  for (const int blocks : {1, 3}) {
    std::vector<float> visits(1001, 0);
    gpu_launch(blocks, /*threads=*/16, [&] {
      HD_SPAN(int, column, 1001, 4) { HD_EACH_OF(k, 4, 1001 - column) visits[static_cast<size_t>(column + k)] += 1; }
    });
    EXPECT_EQ(visits, std::vector<float>(1001, 1));
  }
}

}  // namespace
