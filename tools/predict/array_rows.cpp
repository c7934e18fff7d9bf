// Rows of npy and idx files, some at a time.
#include <fcntl.h>
#include <fmt/format.h>

#include <algorithm>
#include <filesystem>
#include <limits>
#include <memory>

#include "runtime/data/check_column.h"
#include "runtime/data/idx.h"
#include "runtime/data/input_file.h"
#include "runtime/data/npy.h"
#include "runtime/files/file.h"
#include "tools/predict/row_source.h"

namespace heddle::tools {
namespace {

using namespace runtime::data;  // NOLINT: this file speaks of little else

// What both kinds of files have in common: rows of one type and shape, read in order.
struct ArrayRows {
  ColumnRequest request;
  size_t input = 0;
  Column like;  // without rows
  int64_t rows = 0, next = 0;
  std::function<std::vector<std::byte>(int64_t rows)> read;

  int64_t fill(int64_t most, PredictRows& into) {
    const int64_t count = std::min(most, rows - next);
    if (count == 0) return 0;
    Column column{.input = like.input, .type = like.type, .dims = like.dims};
    column.bytes = read(count);
    request.first_row = next;
    if (request.cuts(column.type)) cut_to_integers(request, column);
    check_range(request, column);
    into.columns.at(input) = std::move(column);
    next += count;
    return count;
  }
};

OpenedSource source_of(ArrayRows rows, const SourceRequest& asked) {
  check_dims(rows.request, rows.like);
  check_type(rows.request, rows.like.type);
  auto held = std::make_shared<ArrayRows>(std::move(rows));
  return {asked.name(), asked.inputs, [held](int64_t most, PredictRows& into) { return held->fill(most, into); }};
}

ArrayRows described(const driver::Predictor& predictor, const SourceRequest& asked, ElementType type,
                    const std::vector<int64_t>& dims) {
  ArrayRows rows;
  rows.input = asked.inputs.at(0);
  rows.request = predictor.inputs()[rows.input].request;
  rows.request.sources = {{asked.path}};
  rows.like = {.input = rows.request.input, .type = type, .dims = {dims.begin() + 1, dims.end()}};
  rows.rows = dims[0];
  return rows;
}

// An idx file, plain or compressed, whose header has been read before.
std::vector<std::byte> idx_rows(InputFile& in, ElementType type, int64_t bytes) {
  std::vector<std::byte> out(static_cast<size_t>(bytes));
  const size_t got = in.read(out.data(), out.size());
  if (got < out.size()) in.fail("truncated: the elements end early");
  const auto width = static_cast<ptrdiff_t>(size_of(type));
  for (auto at = out.begin(); width > 1 && at != out.end(); at += width) std::reverse(at, at + width);
  return out;
}

void require_end(InputFile& in) {
  std::byte extra{};
  if (in.read(&extra, 1) != 0) in.fail("longer than its header says");
}

// A regular file: a pipe is given as -, a folder holds pictures.
void require_file(const std::string& path) { runtime::File(path, O_RDONLY | O_NONBLOCK, 0, path).size(); }

}  // namespace

OpenedSource open_npy(const driver::Predictor& predictor, const SourceRequest& asked) {
  const NpyHeader header = read_npy_header(asked.path, asked.path, {}, Rows::any);
  ArrayRows rows = described(predictor, asked, header.stored(), header.dims);
  const auto file = std::make_shared<runtime::File>(asked.path, O_RDONLY | O_NONBLOCK, 0, asked.path);
  std::vector<std::byte> before(static_cast<size_t>(header.begin));
  file->read(before.data(), std::ssize(before));
  NpyHeader row = header;
  row.dims[0] = 1;
  const int64_t row_bytes = row.bytes();
  rows.read = [=, path = asked.path](int64_t count) {
    NpyHeader part = header;
    part.dims[0] = count;
    std::vector<std::byte> bytes(static_cast<size_t>(count * row_bytes));
    file->read(bytes.data(), std::ssize(bytes));
    Column made{.input = {}, .type = part.stored(), .dims = {part.dims.begin() + 1, part.dims.end()}};
    npy_elements(part, bytes, path, {}, std::numeric_limits<int64_t>::max(), made);
    return std::move(made.bytes);
  };
  return source_of(std::move(rows), asked);
}

OpenedSource open_idx(const driver::Predictor& predictor, const SourceRequest& asked) {
  require_file(asked.path);
  const IdxArray header = read_idx_header(asked.path, asked.path, {}, Rows::any);
  ArrayRows rows = described(predictor, asked, header.type, header.dims);
  const auto in = std::make_shared<InputFile>(asked.path, asked.path, Location{});
  std::vector<std::byte> before(4 + 4 * header.dims.size());
  in->read(before.data(), before.size());
  int64_t row_bytes = size_of(header.type);
  for (size_t d = 1; d < header.dims.size(); ++d) row_bytes *= header.dims[d];
  if (header.dims[0] == 0) require_end(*in);
  rows.read = [=, type = header.type, left = header.dims[0]](int64_t count) mutable {
    std::vector<std::byte> bytes = idx_rows(*in, type, count * row_bytes);
    left -= count;
    if (left == 0) require_end(*in);
    return bytes;
  };
  return source_of(std::move(rows), asked);
}

}  // namespace heddle::tools
