#include "runtime/host/onednn_builder.h"

namespace heddle::runtime::onednn {

// Batched products are cut along the batch. A single one is cut along its columns where there are at least as many as
// rows, else along its rows: each slice packs the whole other side again (128x784x128 in four slices: 213 us by
// columns, 264 by rows, 204 in one; 512x512x512: 2.3 ms against 3.2). A transposed left side is packed in any case, and
// rows are cheaper then. A slice of columns is written without gaps and copied to its place: oneDNN's faster kernels write
// nothing else (128x784x32: 57 us, with gaps 65).
void Builder::matmul() {
  const auto& a = call_.operands[0].dims;
  const auto& c = call_.results[0].dims;
  Product p{};
  p.ta = integers(call_, "transpose_a", {0})[0] != 0;
  p.tb = integers(call_, "transpose_b", {0})[0] != 0;
  p.m = c[c.size() - 2];
  p.n = c[c.size() - 1];
  p.k = a[a.size() - (p.ta ? 2 : 1)];
  p.batch = 1;
  for (size_t i = 0; i + 2 < c.size(); ++i) p.batch *= c[i];

  constexpr int64_t kVector = 16, kLeastColumns = 32;
  const bool by_columns = p.batch == 1 && !p.ta && p.n >= p.m && p.n >= 2 * kLeastColumns;
  const int64_t unit = by_columns ? kVector : 1;
  const int64_t extent = p.batch > 1 ? p.batch : by_columns ? p.n : p.m;
  const int64_t units = (extent + unit - 1) / unit;
  const int64_t count = by_columns ? cuts(p.n / kLeastColumns) : cuts(units);
  for (int64_t i = 0; i < count; ++i) {
    const Share s = share(units, i, count);
    const int64_t begin = s.begin * unit, size = std::min(s.end * unit, extent) - begin;
    Product part = p;
    (p.batch > 1 ? part.batch : by_columns ? part.n : part.m) = size;
    matmul_slice(p, part, p.batch > 1 ? begin : 0, p.batch == 1 && !by_columns ? begin : 0, by_columns ? begin : 0);
  }
}

namespace {

// Part of the inner side, whole vectors of it.
Share run_of(int64_t k, int64_t run, int64_t runs) {
  constexpr int64_t kUnit = 64;
  if (runs == 1) return {0, k};
  const Share units = share((k + kUnit - 1) / kUnit, run, runs);
  return {units.begin * kUnit, std::min(units.end * kUnit, k)};
}

}  // namespace

// A long inner side is worked off in runs, of which the first takes the bias.
void Builder::matmul_slice(const Product& p, const Product& part, int64_t batch, int64_t row, int64_t column) {
  const bool apart = part.n < p.n;
  float* const place = at(result(), batch * p.m * p.n + row * p.n + column);
  const int64_t length = part.batch * part.m * part.n, runs = runs_of(p.k, kProductRun);
  float* const written = apart ? take(static_cast<size_t>(length) * sizeof(float)) : place;
  double* const total = runs == 1 ? nullptr : take_doubles(length);
  OnednnTasks& tasks = parts_.slices.emplace_back();
  Scratch scratch;
  for (int64_t i = 0; i < runs; ++i) {
    const Share k = run_of(p.k, i, runs);
    const MatmulDescs d = matmul_descs(p, part, k.size());
    std::vector<dnnl_exec_arg_t> arguments = {
        {DNNL_ARG_SRC,
         bind(d.a, at(operand(0), batch * p.m * p.k + row * (p.ta ? 1 : p.k) + k.begin * (p.ta ? p.m : 1)))},
        {DNNL_ARG_WEIGHTS,
         bind(d.b, at(operand(1), batch * p.k * p.n + column * (p.tb ? p.k : 1) + k.begin * (p.tb ? 1 : p.n)))},
        {DNNL_ARG_DST, bind(d.c, written)}};
    const bool bias = has_bias() && i == 0;
    if (bias) arguments.push_back({DNNL_ARG_BIAS, bind(d.bias, at(operand(2), column))});
    const auto desc = bias ? describe<dnnl::matmul>(d.a, d.b, d.bias, d.c) : describe<dnnl::matmul>(d.a, d.b, d.c);
    add(tasks, desc, dnnl::matmul(desc), std::move(arguments), scratch);
    if (runs > 1) tasks.back().addition = {total, written, length, i == 0, i + 1 == runs};
  }
  if (has_relu()) tasks.back().relu = {written, part.batch * part.m, part.n, part.n};
  if (apart) tasks.back().placement = {written, place, part.m, part.n, p.n};
}

// Of a part of the inner side of `k`. What is written has no gaps.
Builder::MatmulDescs Builder::matmul_descs(const Product& p, const Product& part, int64_t k) {
  const auto matrix = [&](int64_t rows, int64_t columns, int64_t of_batch, int64_t row_stride, int64_t column_stride) {
    if (p.batch == 1) return memory::desc({rows, columns}, kF32, Dims{row_stride, column_stride});
    return memory::desc({part.batch, rows, columns}, kF32, Dims{of_batch, row_stride, column_stride});
  };
  return {.a = matrix(part.m, k, p.m * p.k, p.ta ? 1 : p.k, p.ta ? p.m : 1),
          .b = matrix(k, part.n, p.k * p.n, p.tb ? 1 : p.n, p.tb ? p.k : 1),
          .c = matrix(part.m, part.n, p.m * p.n, part.n, 1),
          .bias = memory::desc(p.batch == 1 ? Dims{1, part.n} : Dims{1, 1, part.n}, kF32,
                               p.batch == 1 ? memory::format_tag::ab : memory::format_tag::abc)};
}

}  // namespace heddle::runtime::onednn
