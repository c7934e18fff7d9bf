#include "runtime/data/idx.h"

#include "runtime/data/path.h"
#include "runtime/data/table.h"

namespace heddle::runtime::data {
namespace {

TableHeader read_header(const ReaderRequest& request, const std::filesystem::path& root) {
  TableHeader header;
  for (const ColumnRequest& column : request.columns) {
    const IdxArray array = read_idx_header(resolve(root, column.source(), column.where), column.source(), column.where);
    add_header(header, request, array.dims[0], array.type);
  }
  return header;
}

Table read_files(const ReaderRequest& request, const std::filesystem::path& root) {
  Table table;
  for (const ColumnRequest& column : request.columns) {
    IdxArray array = read_idx(resolve(root, column.source(), column.where), column.source(), column.where);
    add_column(table, request, array.dims[0],
               {.input = {},
                .type = array.type,
                .dims = {array.dims.begin() + 1, array.dims.end()},
                .bytes = std::move(array.bytes)});
  }
  return table;
}

const RegisterReader idx({
    .name = "idx",
    .doc = "a file for each input, plain or .gz",
    .column = {.name = {}, .type = KeyType::path},
    .header = read_header,
    .read = read_files,
});

}  // namespace
}  // namespace heddle::runtime::data
