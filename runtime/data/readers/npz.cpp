#include <fmt/format.h>
#include <fmt/ranges.h>

#include <vector>

#include "runtime/data/npy.h"
#include "runtime/data/path.h"
#include "runtime/data/printable.h"
#include "runtime/data/zip.h"

namespace heddle::runtime::data {
namespace {

ZipArchive open(const ReaderRequest& request, const std::filesystem::path& root) {
  const Location where = request.place("file");
  return {resolve(root, request.text("file"), where), request.text("file"), where};
}

std::string title(const ReaderRequest& request, const ColumnRequest& column) {
  return fmt::format("{}: array '{}'", request.text("file"), column.source());
}

const ZipMember& find_array(const ZipArchive& archive, const ReaderRequest& request, const ColumnRequest& column) {
  if (const ZipMember* member = archive.find(column.source() + ".npy")) return *member;
  std::vector<std::string> names;
  for (const ZipMember& m : archive.members())
    if (m.name.ends_with(".npy")) names.push_back(printable(m.name.substr(0, m.name.size() - 4)));
  constexpr size_t kFew = 16;
  const bool few = !names.empty() && names.size() <= kFew;
  throw UserError(
      column.where, fmt::format("{}: there is no array '{}'", request.text("file"), column.source()),
      few ? fmt::format("the file holds '{}'", fmt::join(names, "', '")) : did_you_mean(column.source(), names));
}

NpyHeader array_header(const ZipArchive& archive, const ZipMember& member, const std::string& name,
                       const Location& where) {
  const std::vector<std::byte> start = archive.start(member, kMaxNpyHeader);
  return parse_npy({reinterpret_cast<const char*>(start.data()), start.size()}, member.size, name, where);
}

TableHeader read_header(const ReaderRequest& request, const std::filesystem::path& root) {
  const ZipArchive archive = open(request, root);
  TableHeader header;
  for (const ColumnRequest& column : request.columns) {
    const ZipMember& member = find_array(archive, request, column);
    const NpyHeader npy = array_header(archive, member, title(request, column), column.where);
    add_header(header, request, npy.dims[0], npy.stored());
  }
  return header;
}

// Stored where kernels can read it: mapped. What is deflated is unpacked into memory, or into a
// temporary file where it is large.
Column read_array(const ZipArchive& archive, const ZipMember& member, const NpyHeader& npy, const std::string& name,
                  const Location& where, int64_t resident) {
  Column column{.input = {}, .type = npy.stored(), .dims = {npy.dims.begin() + 1, npy.dims.end()}};
  if (!member.deflated || member.size > resident) {
    const Mapping all = archive.mapped(member);
    const Mapping elements = all.part(npy.begin, npy.bytes());
    const auto place = reinterpret_cast<uintptr_t>(elements.bytes().data());
    if (npy.as_it_lies() && place % kAlignment == 0) {
      column.mapping = elements;
    } else {
      npy_elements(npy, elements.bytes(), name, where, resident, column);
    }
    return column;
  }
  std::vector<std::byte> all = archive.content(member);
  if (npy.as_it_lies()) {
    all.erase(all.begin(), all.begin() + npy.begin);
    column.bytes = std::move(all);
  } else {
    npy_elements(npy, std::span<const std::byte>(all).subspan(static_cast<size_t>(npy.begin)), name, where, resident,
                 column);
  }
  return column;
}

Table read_arrays(const ReaderRequest& request, const std::filesystem::path& root) {
  const ZipArchive archive = open(request, root);
  Table table;
  for (const ColumnRequest& column : request.columns) {
    const ZipMember& member = find_array(archive, request, column);
    const std::string name = title(request, column);
    const NpyHeader npy = array_header(archive, member, name, column.where);
    add_column(table, request, npy.dims[0], read_array(archive, member, npy, name, column.where, request.resident));
  }
  return table;
}

const RegisterReader npz({
    .name = "npz",
    .doc = "a file of numpy.savez or savez_compressed; an input is the name of an array in it",
    .keys = {{.name = "file", .type = KeyType::path, .doc = "the archive", .required = true}},
    .header = read_header,
    .read = read_arrays,
});

}  // namespace
}  // namespace heddle::runtime::data
