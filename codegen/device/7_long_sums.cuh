#pragma once
// Accumulators of threads for long sums, in runs (5_monoids.cuh). The surrounding loop flushes them, also after its
// last turn. `sums` then returns ordinary accumulators, because few additions follow.
namespace hd {

template <class M, i64 columns>
struct LongAccumulator {
  static constexpr int count = sizeof(Accumulator<M, columns>) / sizeof(M);
  Accumulator<M, columns> run;
  Wide<decltype(M().value), count> runs;
  HD_DEVICE M& operator[](int i) { return run[i]; }
  HD_DEVICE void flush() {
    HD_IVDEP for (int i = 0; i < count; ++i) {
      runs.add(i, run[i].value);
      run[i] = M();
    }
  }
  HD_DEVICE const Accumulator<M, columns>& sums() {
    for (int i = 0; i < count; ++i) run[i].value = runs.result(i);
    return run;
  }
};
template <class M, int columns, int team, int width>
struct LongColumnResults {
  using Results = ColumnResults<M, columns, team, width>;
  static constexpr int count = sizeof(Results) / sizeof(M);
  Results run;
  Wide<decltype(M().value), count> runs;
  HD_DEVICE auto& operator[](int i) { return run[i]; }
  HD_DEVICE M& at(int i) { return run[i / HD_WIDTH(width)][i % HD_WIDTH(width)]; }
  HD_DEVICE void flush() {
    HD_IN_REGISTERS
    HD_IVDEP for (int i = 0; i < count; ++i) {
      runs.add(i, at(i).value);
      at(i) = M();
    }
  }
  HD_DEVICE Results& sums() {
    HD_IN_REGISTERS
    HD_IVDEP for (int i = 0; i < count; ++i) at(i).value = runs.result(i);
    return run;
  }
};

template <int team, class M, i64 columns>
HD_DEVICE M combine(LongAccumulator<M, columns>& a) {
  return combine<team>(a.sums());
}
template <int team, class M, i64 columns>
HD_DEVICE void put_total(M* partials, LongAccumulator<M, columns>& mine) {
  put_total<team>(partials, mine.sums());
}
template <class M, int columns, int team, int width>
HD_DEVICE void put_columns(M* partials, LongColumnResults<M, columns, team, width>& mine) {
  put_columns<M, columns, team, width>(partials, mine.sums());
}
template <int nearest, class M>
HD_DEVICE Long<M> merge_lanes(const Long<M>& m) {
  return {merge_lanes<nearest>(m.sum()), {}};
}

}  // namespace hd
