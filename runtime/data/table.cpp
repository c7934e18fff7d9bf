#include "runtime/data/table.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <cmath>
#include <cstring>

#include "ir/check.h"
#include "runtime/data/digits.h"
#include "runtime/data/idx.h"
#include "runtime/data/path.h"

namespace heddle::runtime::data {
namespace {

std::string dims_text(const std::vector<int64_t>& dims) { return fmt::format("[{}]", fmt::join(dims, ",")); }

int64_t product(const std::vector<int64_t>& dims) {
  int64_t n = 1;
  for (int64_t d : dims) n *= d;
  return n;
}

// Whether rows of the file's dims can feed an input of the wanted dims: equal up to trailing axes of size 1, or
// flattened to one axis.
bool fits(std::vector<int64_t> have, const std::vector<int64_t>& want) {
  if (want.size() == 1 && product(have) == want[0]) return true;
  while (have.size() < want.size()) have.push_back(1);
  return have == want;
}

void check_dims(const ColumnRequest& request, const Column& column) {
  const std::vector<int64_t> want = request.one_hot ? std::vector<int64_t>{} : request.dims;
  if (fits(column.dims, want)) return;
  throw UserError(request.where, fmt::format("{}: rows are {}, input '{}' takes {}", request.source,
                                             dims_text(column.dims), request.input, dims_text(want)));
}

void check_type(const ColumnRequest& request, const Column& column) {
  const std::optional<ElementType> want = element_type(request.dtype);
  if (!want)
    throw UserError(request.where,
                    fmt::format("input '{}' is {}: readers do not fill that type", request.input, request.dtype));
  if ((request.classes > 0 || !is_floating(*want)) && is_floating(column.type)) {
    throw UserError(request.where, fmt::format("{}: elements are {}, input '{}' takes integers", request.source,
                                               to_string(column.type), request.input));
  }
}

// Every value must be a class number or -100, or at least fit the input's integer type.
void check_range(const ColumnRequest& request, const Column& column) {
  const std::optional<ElementType> want = element_type(request.dtype);
  const bool label = request.classes > 0;
  if (is_floating(column.type) || (!label && is_floating(*want))) return;
  const auto count = static_cast<size_t>(column.bytes.size()) / static_cast<size_t>(size_of(column.type));
  const auto allowed = [&](int64_t v) {
    if (label) return (v >= 0 && v < request.classes) || (v == kIgnoreIndex && !request.one_hot);
    return visit(*want, [&](auto zero) { return static_cast<int64_t>(static_cast<decltype(zero)>(v)) == v; });
  };
  visit(column.type, [&](auto zero) {
    using T = decltype(zero);
    for (size_t i = 0; i < count; ++i) {
      T value;
      std::memcpy(&value, column.bytes.data() + i * sizeof(T), sizeof(T));
      const auto v = static_cast<int64_t>(value);
      if (allowed(v)) continue;
      const auto row = static_cast<int64_t>(i) / column.row_elements();
      const std::string limits =
          label ? fmt::format("expected 0 ... {}", request.classes - 1) : "it does not fit " + request.dtype;
      throw UserError(request.where, fmt::format("{}: row {} holds {}, {}", request.source, row, v, limits));
    }
  });
}

Column read_idx_column(const ColumnRequest& request, const std::filesystem::path& root, int64_t& rows) {
  IdxArray array = read_idx(resolve(root, request.source, request.where), request.source, request.where);
  rows = array.dims[0];
  Column column{.input = request.input,
                .type = array.type,
                .dims = {array.dims.begin() + 1, array.dims.end()},
                .bytes = std::move(array.bytes)};
  check_dims(request, column);
  check_type(request, column);
  check_range(request, column);
  return column;
}

Table read_idx_table(const ReaderRequest& request, const std::filesystem::path& root) {
  Table table;
  for (const ColumnRequest& column : request.columns) {
    int64_t rows = 0;
    table.columns.push_back(read_idx_column(column, root, rows));
    if (table.columns.size() == 1) table.rows = rows;
    if (rows != table.rows) {
      throw UserError(column.where, fmt::format("{}: {} rows, but {} has {}", column.source, rows,
                                                request.columns[0].source, table.rows));
    }
  }
  return table;
}

}  // namespace

int64_t Column::row_elements() const { return product(dims); }

const Column* Table::find(const std::string& input) const {
  for (const Column& c : columns)
    if (c.input == input) return &c;
  return nullptr;
}

TableHeader read_table_header(const ReaderRequest& request, const std::filesystem::path& root) {
  TableHeader header{.rows = request.rows, .types = {}};
  for (const ColumnRequest& column : request.columns) {
    if (request.op != "idx") {
      header.types.push_back(ElementType::u8);  // digits
      continue;
    }
    const IdxArray array = read_idx_header(resolve(root, column.source, column.where), column.source, column.where);
    if (header.types.empty()) header.rows = array.dims[0];
    header.types.push_back(array.type);
  }
  return header;
}

void convert(Column& column, ElementType type) {
  if (column.type == type) return;
  visit(column.type, [&](auto from) {
    visit(type, [&](auto to) {
      using From = decltype(from);
      using To = decltype(to);
      HEDDLE_CHECK(std::is_floating_point_v<To> || std::is_integral_v<From>, "integers are made of integers only");
      const size_t n = column.bytes.size() / sizeof(From);
      std::vector<std::byte> bytes(n * sizeof(To));
      for (size_t i = 0; i < n; ++i) {
        From value;
        std::memcpy(&value, column.bytes.data() + i * sizeof(From), sizeof(From));
        const To converted = static_cast<To>(value);
        std::memcpy(bytes.data() + i * sizeof(To), &converted, sizeof(To));
      }
      column.bytes = std::move(bytes);
    });
  });
  column.type = type;
}

Table read_table(const ReaderRequest& request, const std::filesystem::path& root) {
  if (request.columns.empty()) throw UserError(request.where, "the reader fills no input");
  if (request.op == "idx") return read_idx_table(request, root);
  if (request.op != "synthetic") throw UserError(request.where, fmt::format("unknown reader '{}'", request.op));
  Table table = draw_digits(request);
  for (size_t i = 0; i < table.columns.size(); ++i) {
    check_type(request.columns[i], table.columns[i]);
    check_range(request.columns[i], table.columns[i]);
  }
  return table;
}

Table split_tail(Table& table, int64_t rows) {
  Table tail{.rows = rows, .columns = {}};
  table.rows -= rows;
  for (Column& column : table.columns) {
    const auto cut = column.bytes.begin() + table.rows * column.row_bytes();
    tail.columns.push_back({column.input, column.type, column.dims, {cut, column.bytes.end()}});
    column.bytes.erase(cut, column.bytes.end());
  }
  return tail;
}

}  // namespace heddle::runtime::data
