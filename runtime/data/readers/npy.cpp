#include "runtime/data/npy.h"

#include "runtime/data/path.h"

namespace heddle::runtime::data {
namespace {

TableHeader read_header(const ReaderRequest& request, const std::filesystem::path& root) {
  TableHeader header;
  for (const ColumnRequest& column : request.columns) {
    const NpyHeader npy = read_npy_header(resolve(root, column.source(), column.where), column.source(), column.where);
    add_header(header, request, npy.dims[0], npy.stored());
  }
  return header;
}

Table read_files(const ReaderRequest& request, const std::filesystem::path& root) {
  Table table;
  for (const ColumnRequest& column : request.columns) {
    const std::filesystem::path file = resolve(root, column.source(), column.where);
    const NpyHeader npy = read_npy_header(file, column.source(), column.where);
    add_column(table, request, npy.dims[0], read_npy(file, column.source(), column.where, request.resident));
  }
  return table;
}

const RegisterReader npy({
    .name = "npy",
    .doc = "a file of numpy.save for each input",
    .column = {.name = {}, .type = KeyType::path},
    .header = read_header,
    .read = read_files,
});

}  // namespace
}  // namespace heddle::runtime::data
