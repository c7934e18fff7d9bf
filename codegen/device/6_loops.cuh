#pragma once
// The loops of generated text. `width` is the packet, `team` the number of threads that share a row: a power of two up to 32, or
// the whole block. On the host a packet is one element and a team one thread.
namespace hd {
// The number of running results of a reduction on the host: a function of its length alone, never of the vector width.
HD_DEVICE constexpr int lanes(i64 length) { return length < 32 ? 4 : length < 128 ? 8 : 16; }
}  // namespace hd

#if defined(HD_CUDA)

namespace hd {
template <class Index>
HD_DEVICE constexpr Index packets(Index columns, int width) {
  return (columns + width - 1) / width;
}
HD_DEVICE int lane_of(int team) { return team > 32 ? thread() : thread() & (team - 1); }
HD_DEVICE int teams(int team) { return team > 32 ? 1 : threads() / team; }
HD_DEVICE int team_of(int team) { return team > 32 ? 0 : thread() / team; }
}  // namespace hd

// Tells the compiler that a counter is not negative: its quotients then take half the instructions.
#define HD_COUNTS(i) __builtin_assume((i) >= 0)
// Visits every point of rows x columns once, a packet at a time.
#define HD_POINTS(Index, row, column, rows, columns, width)                                                          \
  for (Index hd_point = (Index)hd::block() * hd::threads() + hd::thread(),                                           \
             hd_packets = hd::packets<Index>(columns, width);                                                        \
       hd_point < (Index)(rows) * hd_packets; hd_point += (Index)hd::blocks() * hd::threads())                       \
    if (const Index row = (HD_COUNTS(hd_point), (rows) == 1 ? 0 : hd_point / hd::packets<Index>(columns, width)),     \
        column = ((rows) == 1 ? hd_point : hd_point % hd::packets<Index>(columns, width)) * (width);                 \
        HD_COUNTS(row), HD_COUNTS(column), true)
#define HD_GROUPS HD_POINTS
#define HD_EACH_OF_GROUP HD_EACH
// The rows of this thread's team.
#define HD_ROWS(Index, row, rows, team)                                                                              \
  for (Index row = (Index)hd::block() * hd::teams(team) + hd::team_of(team); row < (rows);                           \
       row += (Index)hd::blocks() * hd::teams(team))                                                                 \
    if (HD_COUNTS(row), true)
// The same with long sums: `flush` runs after every `turns` rows.
#define HD_LONG_ROWS(Index, row, rows, team, turns, flush)                                                           \
  for (Index hd_apart = (Index)hd::blocks() * hd::teams(team), hd_run = (Index)hd::block() * hd::teams(team) + hd::team_of(team); \
       hd_run < (rows); hd_run += hd_apart * (turns), flush)                                                         \
    for (Index row = hd_run, hd_end = hd::least<Index>(hd_run + hd_apart * (turns), rows); row < hd_end; row += hd_apart) \
      if (HD_COUNTS(row), true)
// The same in batches of `count` rows. All rows of a batch are loaded before any is computed. HD_TURN is the number of
// the row in its batch. After the last row, HD_LOAD_BATCH loads the last row again, so that the loads of a batch need
// no branches.
#define HD_BATCHES(Index, rows, team, count)                                                                         \
  for (Index hd_batch = (Index)hd::block() * hd::teams(team) + hd::team_of(team); hd_batch < (rows);                 \
       hd_batch += (Index)hd::blocks() * hd::teams(team) * (count))
#define HD_LONG_BATCHES(Index, rows, team, count, turns, flush)                                                       \
  for (Index hd_apart = (Index)hd::blocks() * hd::teams(team) * (count),                                             \
             hd_run = (Index)hd::block() * hd::teams(team) + hd::team_of(team);                                      \
       hd_run < (rows); hd_run += hd_apart * (turns), flush)                                                         \
    for (Index hd_batch = hd_run, hd_end = hd::least<Index>(hd_run + hd_apart * (turns), rows); hd_batch < hd_end;     \
         hd_batch += hd_apart)
#define HD_LOAD_BATCH(Index, row, rows, team, count)                                                                 \
  HD_UNROLL                                                                                                          \
  for (int hd_turn = 0; hd_turn < (count); ++hd_turn)                                                                \
    if (const Index row = hd::least<Index>(hd_batch + (Index)hd::blocks() * hd::teams(team) * hd_turn, (rows) - 1);   \
        HD_COUNTS(row), true)
#define HD_OF_BATCH(Index, row, rows, team, count)                                                                   \
  HD_UNROLL                                                                                                          \
  for (int hd_turn = 0; hd_turn < (count); ++hd_turn)                                                                \
    if (const Index row = hd_batch + (Index)hd::blocks() * hd::teams(team) * hd_turn; HD_COUNTS(row), row < (rows))
#define HD_TURN hd_turn
// This thread's columns of a row; `slot` counts them.
#define HD_COLUMNS(Index, column, slot, columns, team, width)                                                        \
  for (int slot = 0; slot < (int)hd::packets<Index>(columns, (team) * (width)); ++slot)                              \
    if (const Index column = ((Index)slot * (team) + hd::lane_of(team)) * (width);                                   \
        HD_COUNTS(column), (columns) % ((team) * (width)) == 0 || column < (columns))
#define HD_REDUCE HD_COLUMNS
// The same where `flush` ends runs of `turns`.
#define HD_LONG_REDUCE(Index, column, slot, columns, team, width, turns, flush)                                      \
  for (int hd_run = 0; hd_run < (int)hd::packets<Index>(columns, (team) * (width)); hd_run += (turns), flush)          \
    for (int slot = hd_run; slot < hd::least(hd_run + (turns), (int)hd::packets<Index>(columns, (team) * (width))); ++slot) \
      if (const Index column = ((Index)slot * (team) + hd::lane_of(team)) * (width);                                 \
          HD_COUNTS(column), (columns) % ((team) * (width)) == 0 || column < (columns))
// This block's part of one long row.
#define HD_SPAN(Index, column, columns, width)                                                                       \
  for (Index column = ((Index)hd::block() * hd::threads() + hd::thread()) * (width);                                 \
       column < (columns); column += (Index)hd::blocks() * hd::threads() * (width))                                  \
    if (HD_COUNTS(column), true)
#define HD_LONG_SPAN(Index, column, columns, width, turns, flush)                                                    \
  for (Index hd_apart = (Index)hd::blocks() * hd::threads() * (width),                                               \
             hd_run = ((Index)hd::block() * hd::threads() + hd::thread()) * (width);                                 \
       hd_run < (columns); hd_run += hd_apart * (turns), flush)                                                      \
    for (Index column = hd_run, hd_end = hd::least<Index>(hd_run + hd_apart * (turns), columns); column < hd_end;     \
         column += hd_apart)                                                                                         \
      if (HD_COUNTS(column), true)
#define HD_LANE 0
#define HD_ROW_LANE(row) 0
// Unrolls the loop, so that arrays indexed by a slot stay in registers.
#define HD_IN_REGISTERS _Pragma("unroll")
#define HD_EACH(k, width) \
  HD_UNROLL               \
  for (int k = 0; k < (width); ++k)
#define HD_EACH_OF(k, width, rest) \
  HD_UNROLL                        \
  for (int k = 0; k < (width); ++k) if (k < (rest))
// A loop that each warp executes once; its lanes share the iterations. It is unrolled, so that many loads are in
// flight.
#define HD_SPREAD(Index, i, count)                                                                                   \
  _Pragma("unroll 16") for (Index hd_first = 0; hd_first < (count); hd_first += 32)                                  \
    if (const Index i = hd_first + (Index)(hd::thread() & 31); HD_COUNTS(i), (count) % 32 == 0 || i < (count))
#define HD_SPREAD_TURN(i) ((i) / 32)
// One thread of the team, of the block, of the grid. HD_FINISH: the threads of the last block, over `columns`.
#define HD_ONE_OF_TEAM(team) if (hd::lane_of(team) == 0)
#define HD_ONE_OF_BLOCK if (hd::thread() == 0)
#define HD_ONE_OF_ALL if (hd::block() == 0 && hd::thread() == 0)
#define HD_FINISH(Index, column, columns) \
  for (Index column = hd::thread(); column < (columns); column += hd::threads())

#else

namespace hd {
constexpr int kPiece = 16;  // parts of long rows start at multiples of this
// Worker `block` of `blocks` takes [first, last) of n.
template <class Index>
HD_DEVICE Index first(Index n) {
  return (Index)((i64)n * block() / blocks());
}
template <class Index>
HD_DEVICE Index last(Index n) {
  return (Index)((i64)n * (block() + 1) / blocks());
}
template <class Index>
HD_DEVICE Index first_column(Index n) {
  return (Index)((i64)(n / kPiece) * block() / blocks()) * kPiece;
}
template <class Index>
HD_DEVICE Index last_column(Index n) {
  return block() + 1 == blocks() ? n : (Index)((i64)(n / kPiece) * (block() + 1) / blocks()) * kPiece;
}
}  // namespace hd

#define HD_POINTS(Index, row, column, rows, columns, width)                                                          \
  for (Index row = (rows) == 1 ? 0 : hd::first<Index>(rows), hd_last = (rows) == 1 ? 1 : hd::last<Index>(rows);      \
       row < hd_last; ++row)                                                                                         \
    HD_IVDEP HD_LOOP for (Index column = (rows) == 1 ? hd::first_column<Index>(columns) : 0,                         \
                        hd_end = (rows) == 1 ? hd::last_column<Index>(columns) : (columns);                          \
                  column < hd_end; ++column)
// The same in groups of `width`, which divides the columns.
#define HD_GROUPS(Index, row, column, rows, columns, width)                                                          \
  for (Index row = (rows) == 1 ? 0 : hd::first<Index>(rows), hd_last = (rows) == 1 ? 1 : hd::last<Index>(rows);      \
       row < hd_last; ++row)                                                                                         \
    HD_IVDEP HD_LOOP for (Index hd_group = (rows) == 1 ? hd::first_column<Index>((columns) / (width)) : 0,           \
                        hd_end = (rows) == 1 ? hd::last_column<Index>((columns) / (width)) : (columns) / (width);    \
                  hd_group < hd_end; ++hd_group) if (const Index column = hd_group * (width); true)
#define HD_EACH_OF_GROUP(k, width) HD_UNROLL for (int k = 0; k < (width); ++k)
#define HD_ROWS(Index, row, rows, team) \
  for (Index row = hd::first<Index>(rows), hd_last = hd::last<Index>(rows); row < hd_last; ++row)
#define HD_LONG_ROWS(Index, row, rows, team, turns, flush)                                                           \
  for (Index hd_run = hd::first<Index>(rows), hd_last = hd::last<Index>(rows); hd_run < hd_last; hd_run += (turns), flush) \
    for (Index row = hd_run, hd_end = hd::least<Index>(hd_run + (turns), hd_last); row < hd_end; ++row)
#define HD_BATCHES(Index, rows, team, count) HD_ROWS(Index, hd_batch, rows, team)
#define HD_LONG_BATCHES(Index, rows, team, count, turns, flush) HD_LONG_ROWS(Index, hd_batch, rows, team, turns, flush)
#define HD_LOAD_BATCH HD_OF_BATCH
#define HD_OF_BATCH(Index, row, rows, team, count) if (const Index row = hd_batch; true)
#define HD_TURN 0
#define HD_COLUMNS(Index, column, slot, columns, team, width) \
  HD_IVDEP HD_LOOP for (Index column = 0; column < (columns); ++column) if (const Index slot = column; true)
#define HD_REDUCE_RANGE(Index, column, slot, from, to, columns)                                                      \
  for (Index hd_from = (from), hd_to = (to); hd_from < hd_to; hd_from += hd::lanes(columns))                                 \
    HD_IVDEP _Pragma("GCC unroll 1") for (int hd_lane = 0, hd_lanes = (columns) % hd::lanes(columns) == 0                                            \
                                                  ? hd::lanes(columns)                                                       \
                                                  : (int)hd::least<Index>(hd::lanes(columns), hd_to - hd_from);              \
                  hd_lane < hd_lanes; ++hd_lane) if (const Index column = hd_from + hd_lane, slot = column; true)
#define HD_REDUCE(Index, column, slot, columns, team, width) HD_REDUCE_RANGE(Index, column, slot, 0, columns, columns)
#define HD_SPAN(Index, column, columns, width) \
  HD_REDUCE_RANGE(Index, column, hd_slot, hd::first_column<Index>(columns), hd::last_column<Index>(columns), columns)
// The same where `flush` ends runs of `turns`.
#define HD_LONG_RANGE(Index, column, slot, from, to, columns, turns, flush)                                           \
  for (Index hd_run = (from), hd_last_run = (to); hd_run < hd_last_run; hd_run += (turns) * hd::lanes(columns), flush) \
    HD_REDUCE_RANGE(Index, column, slot, hd_run, hd::least<Index>(hd_run + (turns) * hd::lanes(columns), hd_last_run), columns)
#define HD_LONG_REDUCE(Index, column, slot, columns, team, width, turns, flush) \
  HD_LONG_RANGE(Index, column, slot, 0, columns, columns, turns, flush)
#define HD_LONG_SPAN(Index, column, columns, width, turns, flush)                                                   \
  HD_LONG_RANGE(Index, column, hd_slot, hd::first_column<Index>(columns), hd::last_column<Index>(columns), columns, turns, flush)
#define HD_LANE hd_lane
#define HD_ROW_LANE(row) ((row) % hd::lanes(1))
#define HD_IN_REGISTERS
#define HD_EACH(k, width) if (constexpr int k = 0; true)
#define HD_EACH_OF(k, width, rest) if (constexpr int k = 0; true)
#define HD_SPREAD(Index, i, count) HD_LOOP for (Index i = 0; i < (count); ++i)
#define HD_SPREAD_TURN(i) (i)
#define HD_ONE_OF_TEAM(team)
#define HD_ONE_OF_BLOCK
#define HD_ONE_OF_ALL if (hd::block() == 0)
#define HD_FINISH(Index, column, columns) for (Index column = 0; column < (columns); ++column)

#endif
