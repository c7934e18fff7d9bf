#include "runtime/data/table.h"

#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <cstring>

#include "ir/check.h"
#include "runtime/data/check_column.h"

namespace heddle::runtime::data {
namespace {

const ReaderDef& reader_of(const ReaderRequest& request) {
  if (request.columns.empty()) throw UserError(request.where, "the reader fills no input");
  const ReaderDef* reader = find_reader(request.op);
  if (reader == nullptr) throw UserError(request.where, fmt::format("unknown reader '{}'", request.op));
  return *reader;
}

// The defaults that readers have.
ReaderValue as_value(const ir::Attr& fallback) {
  if (const auto* flag = std::get_if<bool>(&fallback)) return *flag;
  if (const auto* integer = std::get_if<int64_t>(&fallback)) return *integer;
  if (const auto* real = std::get_if<double>(&fallback)) return *real;
  return std::vector{std::get<std::string>(fallback)};
}

void require_equal(const ReaderRequest& request, size_t column, int64_t rows, int64_t before) {
  const ColumnRequest& asked = request.columns.at(column);
  if (rows != before)
    throw UserError(asked.where, fmt::format("{}: {} rows, but {} has {}", asked.source(), rows,
                                             request.columns[0].source(), before));
}

}  // namespace

int64_t Column::row_elements() const {
  int64_t n = 1;
  for (int64_t d : dims) n *= d;
  return n;
}

const Column* Table::find(const std::string& input) const {
  for (const Column& c : columns)
    if (c.input == input) return &c;
  return nullptr;
}

int64_t most_resident_bytes() { return int64_t{sysconf(_SC_PHYS_PAGES)} * sysconf(_SC_PAGESIZE) / 4; }

std::byte* make_room(Column& column, int64_t rows, int64_t resident) {
  constexpr int64_t kMost = int64_t{1} << 46;
  int64_t bytes = 0;
  HEDDLE_CHECK(!__builtin_mul_overflow(rows, column.row_bytes(), &bytes) && bytes <= kMost, "rows that files can hold");
  if (bytes > resident) {
    column.mapping = Mapping::scratch(bytes);
    return column.mapping.writable();
  }
  column.bytes.resize(static_cast<size_t>(bytes));
  return column.bytes.data();
}

std::byte* add_column(Table& table, Column column, int64_t resident) {
  return make_room(table.columns.emplace_back(std::move(column)), table.rows, resident);
}

Column with_room(const Column& like, ElementType type) {
  Column column{.input = like.input, .type = type, .dims = like.dims};
  make_room(column, std::ssize(like.content()) / like.row_bytes(), most_resident_bytes());
  return column;
}

const ReaderSetting* find_setting(const std::vector<ReaderSetting>& settings, std::string_view key) {
  const auto it = std::ranges::find(settings, key, &ReaderSetting::key);
  return it == settings.end() ? nullptr : &*it;
}

const ReaderSetting* ReaderRequest::find(std::string_view key) const { return find_setting(settings, key); }

Location ReaderRequest::place(std::string_view key) const {
  const ReaderSetting* setting = find(key);
  return setting == nullptr ? where : setting->where;
}

ReaderValue ReaderRequest::value(std::string_view key) const {
  if (const ReaderSetting* setting = find(key)) return setting->value;
  const ReaderDef* reader = find_reader(op);
  HEDDLE_CHECK(reader != nullptr, "a reader with settings is registered: " + op);
  const Key* declared = ir::find_key(reader->keys, key);
  HEDDLE_CHECK(declared != nullptr && declared->fallback, fmt::format("{} has '{}', or a default", op, key));
  return as_value(*declared->fallback);
}

bool ColumnRequest::cuts(ElementType type) const {
  const std::optional<ElementType> want = element_type(dtype);
  return cast && is_floating(type) && want && !is_floating(*want);
}

TableHeader read_table_header(const ReaderRequest& request, const std::filesystem::path& root) {
  TableHeader header = reader_of(request).header(request, root);
  if (header.rows > kMostRows)
    throw UserError(request.where, fmt::format("{} rows, at most {} are read", header.rows, kMostRows),
                    "split the files, and train on one after the other");
  for (size_t i = 0; i < header.types.size(); ++i)
    if (request.columns[i].cuts(header.types[i])) header.types[i] = *element_type(request.columns[i].dtype);
  return header;
}

void add_header(TableHeader& header, const ReaderRequest& request, int64_t rows, ElementType type) {
  if (header.types.empty()) header.rows = rows;
  require_equal(request, header.types.size(), rows, header.rows);
  header.types.push_back(type);
}

void add_column(Table& table, const ReaderRequest& request, int64_t rows, Column column) {
  const ColumnRequest& asked = request.columns.at(table.columns.size());
  column.input = asked.input;
  check_dims(asked, column);
  check_type(asked, column.type);
  if (table.columns.empty()) table.rows = rows;
  require_equal(request, table.columns.size(), rows, table.rows);
  table.columns.push_back(std::move(column));
}

void convert(Column& column, ElementType type) {
  if (column.type == type) return;
  visit(column.type, [&](auto from) {
    visit(type, [&](auto to) {
      using From = decltype(from);
      using To = decltype(to);
      HEDDLE_CHECK(std::is_floating_point_v<To> || std::is_integral_v<From>, "integers are made of integers only");
      const size_t n = column.content().size() / sizeof(From);
      Column made = with_room(column, type);
      for (size_t i = 0; i < n; ++i) {
        From value;
        std::memcpy(&value, column.content().data() + i * sizeof(From), sizeof(From));
        const To converted = static_cast<To>(value);
        std::memcpy(made.writable() + i * sizeof(To), &converted, sizeof(To));
      }
      column = std::move(made);
    });
  });
}

Table read_table(const ReaderRequest& request, const std::filesystem::path& root) {
  Table table = reader_of(request).read(request, root);
  for (size_t i = 0; i < table.columns.size(); ++i) {
    check_dims(request.columns[i], table.columns[i]);
    check_type(request.columns[i], table.columns[i].type);
    if (request.columns[i].cuts(table.columns[i].type)) cut_to_integers(request.columns[i], table.columns[i]);
    check_range(request.columns[i], table.columns[i]);
  }
  return table;
}

Table split_tail(Table& table, int64_t rows) {
  Table tail{.rows = rows, .columns = {}};
  table.rows -= rows;
  for (Column& column : table.columns) {
    Column& last = tail.columns.emplace_back(Column{.input = column.input, .type = column.type, .dims = column.dims});
    const int64_t head = table.rows * column.row_bytes();
    if (!column.mapping.empty()) {
      last.mapping = column.mapping.part(head, rows * column.row_bytes());
      column.mapping = column.mapping.part(0, head);
      continue;
    }
    last.bytes.assign(column.bytes.begin() + head, column.bytes.end());
    column.bytes.erase(column.bytes.begin() + head, column.bytes.end());
  }
  return tail;
}

Table split_rows(Table& table, const std::vector<uint8_t>& marked, int64_t resident) {
  HEDDLE_CHECK(std::ssize(marked) == table.rows, "each row is marked or not");
  Table out{.rows = std::ranges::count(marked, 1), .columns = {}};
  for (Column& column : table.columns) {
    Column& taken = out.columns.emplace_back(Column{.input = column.input, .type = column.type, .dims = column.dims});
    const int64_t rows = table.rows - out.rows, bytes = column.row_bytes();
    const bool in_place = column.mapping.empty() || column.mapping.can_write();
    Column left{.input = column.input, .type = column.type, .dims = column.dims};
    std::byte* to_taken = make_room(taken, out.rows, resident);
    std::byte* to_left = in_place ? column.writable() : make_room(left, rows, resident);
    const std::byte* from = column.content().data();
    for (size_t row = 0; row < marked.size(); ++row, from += bytes) {
      std::byte*& to = marked[row] != 0 ? to_taken : to_left;
      std::memmove(to, from, static_cast<size_t>(bytes));
      to += bytes;
    }
    if (!in_place) {
      column = std::move(left);
    } else if (!column.mapping.empty()) {
      column.mapping = column.mapping.part(0, rows * bytes);
    } else {
      column.bytes.resize(static_cast<size_t>(rows * bytes));
    }
  }
  table.rows -= out.rows;
  return out;
}

}  // namespace heddle::runtime::data
