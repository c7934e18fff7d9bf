#include "ir/check.h"
#include "runtime/host/onednn_builder.h"

namespace heddle::runtime::onednn {

// Batched products are cut along the batch. A single one is cut along its columns where there are
// at least as many as rows, else along its rows: each slice packs the whole other side again
// (128x784x128 in four slices: 213 us by columns, 264 by rows, 204 in one; 512x512x512: 2.3 ms
// against 3.2). A transposed left side is packed in any case, and rows are cheaper then. A slice of
// columns is written without gaps and copied to its place: oneDNN's faster kernels write nothing
// else (128x784x32: 57 us, with gaps 65).
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
    const int64_t batch = p.batch > 1 ? begin : 0, row = p.batch == 1 && !by_columns ? begin : 0;
    const int64_t column = by_columns ? begin : 0;
    has_lone_rows(p) ? row_slice(p, part, batch, row, column) : matmul_slice(p, part, batch, row, column);
  }
}

bool widens_weight(const codegen::Library& call) {
  return call.matrix_product && call.operands.size() >= 2 && call.operands[0].dtype == "f32" &&
         call.operands[1].dtype == "i8" && call.operands[1].dims.size() == 2 &&
         integers(call, "transpose_a", {0})[0] == 0 && integers(call, "transpose_b", {0})[0] != 0;
}

// Whether rows are computed alone (row_product.h): the program asks for it, and a's rows lie without gaps. Weights of
// 8 bits are multiplied in this way alone.
bool Builder::has_lone_rows(const Product& p) const {
  return widens_weight(call_) || (integers(call_, "lone_rows", {0})[0] != 0 && !p.ta);
}

void Builder::row_slice(const Product& p, const Product& part, int64_t batch, int64_t row, int64_t column) {
  float* const c = at(result(), batch * p.m * p.n + row * p.n + column);
  const bool widens = widens_weight(call_);
  const int64_t b = batch * p.k * p.n + column * (p.tb ? p.k : 1);
  RowProducts products{.first = {.a = at(operand(0), batch * p.m * p.k + row * p.k),
                                 .b = widens ? nullptr : at(operand(1), b),
                                 .wholes = widens ? reinterpret_cast<const int8_t*>(bytes_of(1, b)) : nullptr,
                                 .scale = has_scale() ? at(operand(2), column) : nullptr,
                                 .bias = has_bias() ? at(operand(has_scale() ? 3 : 2), column) : nullptr,
                                 .c = c,
                                 .m = part.m,
                                 .n = part.n,
                                 .k = p.k,
                                 .b_stride = p.tb ? p.k : p.n,
                                 .c_stride = p.n,
                                 .transposed = p.tb,
                                 .ends_in_zeros = p.batch > 1},
                       .count = part.batch,
                       .a_apart = p.m * p.k,
                       .b_apart = p.k * p.n,
                       .c_apart = p.m * p.n};
  HEDDLE_CHECK(!widens || part.batch == 1, "an int8 weight is one matrix");
  if (widens) products.first.room = take(static_cast<size_t>(room_for_wholes(products.first)) * sizeof(float));
  OnednnTask task{.rows = products};
  if (has_relu()) task.relu = {c, part.batch * part.m, part.n, p.n};
  parts_.slices.emplace_back().push_back(std::move(task));
}

// One batched product computes as many runs as have 64 KB of results. The last run is a separate product, which can add
// a bias.
std::vector<Builder::Runs> Builder::matmul_runs(const Product& p, const Product& part) {
  constexpr int64_t kAtOnce = 32, kFloats = 16'384;
  if (p.k <= kWholeProduct) return {{0, p.k, 1}};
  const int64_t parts = p.batch > 1 ? 1 : std::clamp<int64_t>(kFloats / (part.m * part.n), 1, kAtOnce);
  const int64_t run = kProductRun * ((p.k - 1) / (kProductRun * parts * kMostTasks) + 1), full = (p.k - 1) / run;
  std::vector<Runs> all;
  for (int64_t i = 0; i < full; i += parts) all.push_back({i * run, run, std::min(parts, full - i)});
  all.push_back({full * run, p.k - full * run, 1});
  return all;
}

void Builder::matmul_slice(const Product& p, const Product& part, int64_t batch, int64_t row, int64_t column) {
  const bool apart = part.n < p.n;
  float* const place = at(result(), batch * p.m * p.n + row * p.n + column);
  const int64_t length = part.batch * part.m * part.n;
  const auto bytes = static_cast<size_t>(length) * sizeof(float);
  float* const written = apart ? take(bytes) : place;
  const std::vector<Runs> all = matmul_runs(p, part);
  const bool whole = all.size() == 1;
  double* const total = whole ? nullptr : take_doubles(length);
  float* const parts = whole ? written : take(bytes * static_cast<size_t>(all.front().parts));
  OnednnTasks& tasks = parts_.slices.emplace_back();
  Scratch scratch;
  for (const Runs& runs : all) {
    const bool first = &runs == &all.front(), last = &runs == &all.back(), bias = has_bias() && last;
    const MatmulPrimitive& made = matmul_primitive(p, part, runs, bias);
    const MatmulDescs& d = made.memory;
    const int64_t a = batch * p.m * p.k + row * (p.ta ? 1 : p.k) + runs.begin * (p.ta ? p.m : 1);
    const int64_t b = batch * p.k * p.n + column * (p.tb ? p.k : 1) + runs.begin * (p.tb ? 1 : p.n);
    std::vector<dnnl_exec_arg_t> arguments = {{DNNL_ARG_SRC, bind(d.a, at(operand(0), a))},
                                              {DNNL_ARG_WEIGHTS, bind(d.b, at(operand(1), b))},
                                              {DNNL_ARG_DST, bind(d.c, parts)}};
    if (bias) arguments.push_back({DNNL_ARG_BIAS, bind(d.bias, at(operand(2), column))});
    add(tasks, made.desc, made.primitive, std::move(arguments), scratch);
    if (!whole) tasks.back().addition = {total, parts, written, runs.parts, length, first, last};
  }
  if (has_relu()) tasks.back().relu = {written, part.batch * part.m, part.n, part.n};
  if (apart) tasks.back().placement = {written, place, part.m, part.n, p.n};
}

const Builder::MatmulPrimitive& Builder::matmul_primitive(const Product& p, const Product& part, const Runs& runs,
                                                          bool bias) {
  const std::array<int64_t, 5> size{part.batch, part.m, part.n, runs.k, runs.parts};
  const auto same = [&](const MatmulPrimitive& m) { return m.size == size && m.bias == bias; };
  if (const auto known = std::ranges::find_if(products_, same); known != products_.end()) return *known;
  const MatmulDescs d = matmul_descs(p, part, runs);
  const auto desc = bias ? describe<dnnl::matmul>(d.a, d.b, d.bias, d.c) : describe<dnnl::matmul>(d.a, d.b, d.c);
  products_.push_back({size, bias, d, desc, dnnl::matmul(desc)});
  return products_.back();
}

// What is written has no gaps.
Builder::MatmulDescs Builder::matmul_descs(const Product& p, const Product& part, const Runs& runs) {
  const int64_t matrices = std::max(part.batch, runs.parts);  // of the batch, or parts of one product
  const bool flat = p.batch == 1 && runs.parts == 1;
  const auto matrix = [&](int64_t rows, int64_t columns, int64_t apart, int64_t row_stride, int64_t column_stride) {
    if (flat) return memory::desc({rows, columns}, kF32, Dims{row_stride, column_stride});
    return memory::desc({matrices, rows, columns}, kF32, Dims{apart, row_stride, column_stride});
  };
  const int64_t a = runs.parts > 1 ? runs.k * (p.ta ? p.m : 1) : p.m * p.k;
  const int64_t b = runs.parts > 1 ? runs.k * (p.tb ? 1 : p.n) : p.k * p.n;
  return {.a = matrix(part.m, runs.k, a, p.ta ? 1 : p.k, p.ta ? p.m : 1),
          .b = matrix(runs.k, part.n, b, p.tb ? 1 : p.n, p.tb ? p.k : 1),
          .c = matrix(part.m, part.n, part.m * part.n, part.n, 1),
          .bias = memory::desc(flat ? Dims{1, part.n} : Dims{1, 1, part.n}, kF32,
                               flat ? memory::format_tag::ab : memory::format_tag::abc)};
}

}  // namespace heddle::runtime::onednn
