// The text format of LIBSVM's and svmlight's data sets (Chang and Lin 2011, csie.ntu.edu.tw/~cjlin/libsvm): a row is a
// target and those features that are not 0.
//
//   -1 3:0.5 7:1   # remarks   ->   target -1; features 3 and 7, counted from 1, are 0.5 and 1, all others 0
#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <vector>

#include "runtime/data/check_column.h"
#include "runtime/data/csv_file.h"
#include "runtime/data/parse_number.h"
#include "runtime/data/path.h"
#include "runtime/data/printable.h"
#include "runtime/data/table.h"

namespace heddle::runtime::data {
namespace {

class LibsvmTable {
 public:
  LibsvmTable(const ReaderRequest& request, const std::filesystem::path& root)
      : request_(request),
        name_(request.text("file")),
        where_(request.place("file")),
        path_(resolve(root, name_, where_)),
        first_(request.flag("zero_based") ? 0 : 1) {
    for (const ColumnRequest& column : request.columns) {
      const bool features = column.source() == "features";
      if (!features && column.source() != "target")
        throw UserError(column.where, fmt::format("a row holds \"features\" and a \"target\", no \"{}\"",
                                                  printable(column.source())));
      if (features != (column.dims.size() == 1))
        throw UserError(column.where, features ? "\"features\" are a vector for each row: [N, number of features]"
                                               : "a \"target\" is one number for each row: [N]");
      types_.push_back(filled_type(column));
    }
  }

  TableHeader header() const { return {.rows = count(), .types = types_}; }

  Table read() const {
    Table table{.rows = count(), .columns = {}};
    std::vector<std::byte*> to;
    for (size_t i = 0; i < types_.size(); ++i) {
      const ColumnRequest& asked = request_.columns[i];
      to.push_back(add_column(table, {.input = asked.input, .type = types_[i], .dims = asked.dims}, request_.resident));
    }
    const int64_t rows = each_row([&](const std::vector<CsvField>& fields, int64_t row, const CsvFile& file) {
      if (row >= table.rows) changed();
      std::byte target[sizeof(double)];
      store(fields[0].text, ElementType::f64, fields[0], file, target);
      for (size_t i = 0; i < types_.size(); ++i) {
        if (request_.columns[i].source() == "target") {
          store(fields[0].text, types_[i], fields[0], file, to[i]);
        } else {
          store_features(fields, i, file, to[i]);
        }
        to[i] += table.columns[i].row_bytes();
      }
    });
    if (rows != table.rows) changed();
    return table;
  }

 private:
  // Words between blanks and tabs, up to a remark; lines without words are no rows.
  template <class F>
  int64_t each_row(const F& f) const {
    CsvFile file(path_, name_, where_, {.delimiter = ' '});
    std::vector<CsvField> parts, row;
    int64_t rows = 0;
    while (file.next(parts)) {
      row.clear();
      for (const CsvField& part : parts)
        if (!add_words(part, row)) break;
      if (!row.empty()) f(row, rows++, file);
    }
    return rows;
  }

  // Of what stands between two blanks; false where a remark begins.
  static bool add_words(const CsvField& part, std::vector<CsvField>& row) {
    for (size_t at = 0; at < part.text.size();) {
      const size_t end = std::min(part.text.find('\t', at), part.text.size());
      const std::string_view word = part.text.substr(at, end - at);
      if (word.starts_with('#')) return false;
      if (!word.empty()) row.push_back({word, part.line, part.column + static_cast<int64_t>(at)});
      at = end + 1;
    }
    return true;
  }

  int64_t count() const {
    const int64_t rows = each_row([](const std::vector<CsvField>&, int64_t, const CsvFile&) {});
    if (rows == 0) throw UserError(where_, name_ + ": no rows", kNoRowsHelp);
    return rows;
  }

  [[noreturn]] void changed() const { throw UserError(where_, name_ + ": changed while it was read"); }

  static void store(std::string_view text, ElementType type, const CsvField& at, const CsvFile& file, std::byte* to) {
    const std::string fault = parse_number(text, type, to);
    if (!fault.empty()) file.fail(at.line, at.column, fmt::format("'{}' {}", printable(text), fault));
  }

  void store_features(const std::vector<CsvField>& fields, size_t column, const CsvFile& file, std::byte* to) const {
    const int64_t width = request_.columns[column].dims[0], size = size_of(types_[column]);
    std::fill_n(to, width * size, std::byte{0});
    int64_t last = first_ - 1;
    for (size_t i = 1; i < fields.size(); ++i) {
      const std::string_view word = fields[i].text;
      const auto fail = [&](const std::string& what, const std::string& help = {}) {
        file.fail(fields[i].line, fields[i].column, what, help);
      };
      const size_t colon = word.find(':');
      int64_t feature = 0;
      const auto [end, error] = std::from_chars(word.data(), word.data() + std::min(colon, word.size()), feature);
      if (colon == std::string_view::npos || error != std::errc{} || end != word.data() + colon)
        fail(fmt::format("'{}' is no feature, expected NUMBER:VALUE", printable(word)));
      if (feature < first_)
        fail(fmt::format("feature {}, but they are counted from {}", feature, first_),
             feature == 0 ? "\"zero_based\": true counts from 0" : "");
      if (feature - first_ >= width)
        fail(fmt::format("feature {}, but a row of input '{}' has {}", feature, request_.columns[column].input, width));
      if (feature <= last) fail(fmt::format("feature {} behind feature {}: they ascend", feature, last));
      last = feature;
      store(word.substr(colon + 1), types_[column], fields[i], file, to + (feature - first_) * size);
    }
  }

  const ReaderRequest& request_;
  std::string name_;
  Location where_;
  std::filesystem::path path_;
  int64_t first_;
  std::vector<ElementType> types_;
};

const RegisterReader libsvm({
    .name = "libsvm",
    .doc = "a text file of LIBSVM or svmlight: rows of a target and the features that are not 0; an input is "
           "\"features\" or \"target\"",
    .keys = {{.name = "file", .type = KeyType::path, .doc = "plain or .gz", .required = true},
             {.name = "zero_based", .type = KeyType::flag, .doc = "features are counted from 0", .fallback = false}},
    .header = [](const ReaderRequest& request,
                 const std::filesystem::path& root) { return LibsvmTable(request, root).header(); },
    .read = [](const ReaderRequest& request,
               const std::filesystem::path& root) { return LibsvmTable(request, root).read(); },
});

}  // namespace
}  // namespace heddle::runtime::data
