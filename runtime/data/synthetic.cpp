#include "runtime/data/synthetic.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <map>
#include <thread>

#include "ir/check.h"
#include "runtime/data/in_parallel.h"
#include "runtime/data/keyed_random.h"

namespace heddle::runtime::data {
namespace {

constexpr int64_t kMostBytes = int64_t{1} << 36;

// Filled at start-up and frozen after.
std::map<std::string, SyntheticKind, std::less<>>& registry() {
  static std::map<std::string, SyntheticKind, std::less<>> kinds;
  return kinds;
}

void draw_rows(const ReaderRequest& request, const SyntheticKind& kind, Table& table, int64_t begin, int64_t end) {
  const auto seed = static_cast<uint64_t>(request.integer("seed"));
  for (size_t i = 0; i < table.columns.size(); ++i) {
    Column& column = table.columns[i];
    const SyntheticColumn& drawn = kind.find(request.columns[i]);
    for (int64_t row = begin; row < end; ++row)
      drawn.draw({request, request.columns[i], seed, row}, column.bytes.data() + row * column.row_bytes());
  }
}

}  // namespace

const SyntheticColumn& SyntheticKind::find(const ColumnRequest& c) const {
  const auto it = std::ranges::find(columns, c.source(), &SyntheticColumn::source);
  if (it != columns.end()) return *it;
  std::vector<std::string> sources;
  for (const SyntheticColumn& column : columns) sources.push_back('"' + column.source + '"');
  throw UserError(c.where, fmt::format("synthetic {} have {}, not \"{}\"", name, fmt::join(sources, ", "), c.source()));
}

RegisterSynthetic::RegisterSynthetic(SyntheticKind kind) {
  const std::string name = kind.name;
  HEDDLE_CHECK(registry().emplace(name, std::move(kind)).second, "the drawn rows " + name + " are registered twice");
}

std::vector<std::string> synthetic_names() {
  std::vector<std::string> names;
  for (const auto& [name, kind] : registry()) names.push_back(name);
  return names;
}

const SyntheticKind& synthetic_kind(const ReaderRequest& request) {
  const auto it = registry().find(request.text("kind"));
  HEDDLE_CHECK(it != registry().end(), "the reader checks the kind");
  return it->second;
}

bool is_held_out(uint64_t first, uint64_t second) {
  constexpr uint64_t kOneOf = 10;
  return KeyedRandom(first, second).below(kOneOf) == 0;
}

void require_number(const ReaderRequest& request, const ColumnRequest& c) {
  const std::vector<int64_t> dims = c.dims;
  if (!std::ranges::all_of(dims, [](int64_t n) { return n == 1; }))
    throw UserError(c.where, fmt::format("\"{}\" of synthetic {} is one number a row, input '{}' has [{}]", c.source(),
                                         request.text("kind"), c.input, fmt::join(dims, ",")));
}

void require_picture(const ReaderRequest& request, const ColumnRequest& c, int64_t channels) {
  const auto side = [](int64_t n) { return n >= kMinPictureSide && n <= kMaxPictureSide; };
  const bool rank = c.dims.size() == 2 || (c.dims.size() == 3 && (c.dims[2] == 1 || c.dims[2] == channels));
  if (!rank || !side(c.dims[0]) || !side(c.dims[1]))
    throw UserError(c.where, fmt::format("synthetic {} are pictures [height,width] or [height,width,{}] with sides of "
                                         "{} to {}, input '{}' has [{}]",
                                         request.text("kind"), channels == 1 ? "1" : "1 or 3", kMinPictureSide,
                                         kMaxPictureSide, c.input, fmt::join(c.dims, ",")));
}

TableHeader synthetic_header(const ReaderRequest& request) {
  const SyntheticKind& kind = synthetic_kind(request);
  if (request.flag("held_out") && !kind.holds_out)
    throw UserError(request.where,
                    fmt::format("synthetic {} hold nothing out: no rows of them are kept from others", kind.name),
                    "leave \"held_out\" away; rows of another \"seed\" are other rows");
  TableHeader header{.rows = request.integer("rows"), .types = {}};
  for (const ColumnRequest& c : request.columns) {
    const SyntheticColumn& drawn = kind.find(c);
    drawn.check(request, c);
    const Column column{.input = c.input, .type = drawn.type, .dims = c.dims, .bytes = {}};
    if (header.rows > kMostBytes / column.row_bytes())
      throw UserError(request.where, "the rows exceed 64 GiB", "fewer rows, or smaller ones");
    header.types.push_back(drawn.type);
    header.tokenizers.push_back(drawn.tokenizer ? drawn.tokenizer() : "");
  }
  return header;
}

Table draw_table(const ReaderRequest& request) {
  const SyntheticKind& kind = synthetic_kind(request);
  const TableHeader header = synthetic_header(request);
  const int64_t rows = header.rows;
  Table table{.rows = rows, .columns = {}};
  for (size_t i = 0; i < request.columns.size(); ++i) {
    const ColumnRequest& c = request.columns[i];
    Column column{.input = c.input, .type = header.types[i], .dims = c.dims, .bytes = {}};
    column.bytes.resize(static_cast<size_t>(rows * column.row_bytes()));
    table.columns.push_back(std::move(column));
  }
  const int64_t parts = std::clamp<int64_t>(static_cast<int64_t>(std::thread::hardware_concurrency()), 1, 16);
  const auto draw = [&](int64_t p) { draw_rows(request, kind, table, rows * p / parts, rows * (p + 1) / parts); };
  in_parallel(parts, draw);
  return table;
}

}  // namespace heddle::runtime::data
