#pragma once
// Marks the smallest elements of a row without sorting: it finds a bound bit by bit, with a pass over the row that
// counts keys for each.
namespace hd {

// The number of positions of a row for which `holds` is true. Every thread of the team gets it.
template <int team, int n, class Holds>
HD_DEVICE int count_places(const Holds& holds) {
#if defined(HD_CUDA)
  Accumulator<Sum<int>, 1> sum;
  for (int i = thread(); i < n; i += threads()) sum[0].value += holds(i) ? 1 : 0;
  return combine<team>(sum).value;
#else
  int sum = 0;
  for (int i = 0; i < n; ++i) sum += holds(i) ? 1 : 0;
  return sum;
#endif
}

// The largest number of `bits` bits with fewer than `count` keys below it. That is the count-th smallest key.
template <class Number, class Below>
HD_DEVICE Number find_nth(int bits, int count, const Below& below) {
  Number found = 0;
  for (int bit = bits - 1; bit >= 0; --bit) {
    const Number next = found | ((Number)1 << bit);
    if (below(next) < count) found = next;
  }
  return found;
}

// Sets y to 1 for the `count` smallest elements of each row of n. Among equal elements the earlier ones come first. If
// count is 0,
// nothing is searched.
template <i64 rows, int n, int index_bits, int team, class S>
HD_DEVICE void smallest(const S* x, const int* count, u8* y) {
  using Key = decltype(sort_key(x[0]));
  const int wanted = least(*count, n);
  HD_ROWS(i64, row, rows, team) {
    const S* const from = x + row * n;
    u8* const to = y + row * n;
    Key key = 0;
    int last = -1;
    if (wanted > 0) {
      key = find_nth<Key>(8 * (int)sizeof(Key), wanted, [&](Key k) {
        return count_places<team, n>([&](int i) { return sort_key(from[i]) < k; });
      });
      const int equals = wanted - count_places<team, n>([&](int i) { return sort_key(from[i]) < key; });
      last = find_nth<int>(index_bits, equals, [&](int place) {
        return count_places<team, n>([&](int i) { return i < place && sort_key(from[i]) == key; });
      });
    }
#if defined(HD_CUDA)
    for (int i = thread(); i < n; i += threads())
#else
    for (int i = 0; i < n; ++i)
#endif
      to[i] = sort_key(from[i]) < key || (sort_key(from[i]) == key && i <= last) ? 1 : 0;
  }
}

}  // namespace hd
