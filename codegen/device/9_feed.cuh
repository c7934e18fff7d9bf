#pragma once
// The first and the last kernel of a step that reads its own batch: they gather rows of the data set, and write the
// step's record into the ring. ir/cursor.h defines the words of the cursor and of a record.
namespace hd {
// The position in the column of a row of the batch.
HD_DEVICE i64 fed_row(const u64* cursor, int row) {
  const i64 place = (i64)cursor[0] + row;
  const u32* order = reinterpret_cast<const u32*>(cursor[3]);
  return order ? (i64)order[place] : place;
}
// Four random words for map `map` of a row of the batch: a function of the seed, the epoch and the row's number in the
// data set. These words of the cursor begin at `draws`. No node uses this stream.
HD_DEVICE Words fed_draw(const u64* cursor, int row, int draws, int map) {
  const i64 drawn = (i64)cursor[0] + row;
  const u32* numbers = reinterpret_cast<const u32*>(cursor[draws]);
  const i64 number = numbers ? (i64)numbers[drawn] : drawn;
  return philox((i64)cursor[draws + 1], (i64)cursor[draws + 2], 0x706963747572, number * 64 + map);
}
// The same for one element of a row of `elements` elements. Paired inputs (MapDef::pairs) draw the same words.
HD_DEVICE Words fed_draw_element(const u64* cursor, int row, int draws, i64 element, i64 elements) {
  const i64 drawn = (i64)cursor[0] + row;
  const u32* numbers = reinterpret_cast<const u32*>(cursor[draws]);
  const i64 number = numbers ? (i64)numbers[drawn] : drawn;
  return philox((i64)cursor[draws + 1], (i64)cursor[draws + 2], 0x6d61736b6564, number * elements + element);
}
// A number in [0, n). The probabilities differ by at most n / 2^32, relatively.
HD_DEVICE int below(u32 word, int n) { return (int)((u64)word * (u64)n >> 32); }
template <class S>
HD_DEVICE const S* fed_column(const u64* cursor, int column) {
  return reinterpret_cast<const S*>(cursor[4 + column]);
}
template <class T>
HD_DEVICE int not_finite(T x) {
  return x - x != T(0);
}
// Notes an element that is not finite. Of all such elements of a batch, the cursor keeps that of the first input, and
// there of the first row.
template <class T>
HD_DEVICE void note_fault(u64* cursor, int input, int row, T x) {
  const u64 fault = (u64)input << 48 | (u64)row << 2 | (x != x ? 0u : x > T(0) ? 1u : 2u);
#if defined(HD_CUDA)
  atomicMin(cursor + 2, fault);
#else
  u64 before = __atomic_load_n(cursor + 2, __ATOMIC_RELAXED);
  while (fault < before && !__atomic_compare_exchange_n(cursor + 2, &before, fault, true, __ATOMIC_RELAXED, __ATOMIC_RELAXED)) {
  }
#endif
}
// Writes the norm of the step, after the records of the ring. Call it before the cursor advances.
HD_DEVICE void record_norm(const u64* cursor, u64* ring, int records, double norm) {
  ring[(u64)records * 6 + cursor[1] % (u64)records] = bits<u64>(norm);
}
// Writes the loss scale of the step, after the norms. Call it before the cursor advances.
HD_DEVICE void record_scale(const u64* cursor, u64* ring, int records, double scale) {
  ring[(u64)records * 7 + cursor[1] % (u64)records] = bits<u64>(scale);
}
// Writes the step's record and advances the cursor. One thread must call it. `outside` holds [place, index] for each
// check of indices; place is -1 if all indices were in range.
HD_DEVICE void record(u64* cursor, u64* ring, int records, int rows, double loss, double count, const i64* outside, int checks) {
  const u64 step = cursor[1];
  u64* to = ring + step % (u64)records * 6;
  to[0] = step;
  to[1] = bits<u64>(loss);
  to[2] = bits<u64>(count);
  to[3] = cursor[2];
  to[4] = ~u64(0), to[5] = 0;
  for (int check = checks; check-- > 0;)
    if (outside[2 * check] >= 0) to[4] = (u64)check << 40 | (u64)outside[2 * check], to[5] = (u64)outside[2 * check + 1];
  cursor[0] += (u64)rows;
  cursor[1] = step + 1;
  cursor[2] = ~u64(0);
}
}  // namespace hd
