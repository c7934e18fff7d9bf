// heddle_model_rows: the rows that a model trains and tests on, for its twins in other frameworks.
//
//   heddle_model_rows models/unet.json FOLDER    writes FOLDER/train.image.npy, FOLDER/train.mask.npy, FOLDER/test.image.npy ...
//
// As the reader has them: no map is applied.
#include <fmt/format.h>
#include <fmt/ranges.h>

#include <cstdio>
#include <fstream>

#include "frontend/read/read_model.h"
#include "frontend/training/training_plan.h"
#include "ir/diagnostic.h"
#include "runtime/data/table.h"

namespace heddle::testing {
namespace {

using runtime::data::Column;
using runtime::data::ElementType;

std::string numpy_type(ElementType type) {
  if (runtime::data::is_floating(type)) return fmt::format("<f{}", runtime::data::size_of(type));
  return type == ElementType::u8 ? "|u1" : fmt::format("<i{}", runtime::data::size_of(type));
}

void write_npy(const std::string& path, int64_t rows, const Column& column) {
  std::vector<int64_t> dims = {rows};
  dims.insert(dims.end(), column.dims.begin(), column.dims.end());
  std::string header = fmt::format("{{'descr': '{}', 'fortran_order': False, 'shape': ({},), }}",
                                   numpy_type(column.type), fmt::join(dims, ","));
  constexpr size_t kBefore = 10, kAlign = 64;  // magic, version and the header's length
  header.append(kAlign - (kBefore + header.size() + 1) % kAlign, ' ').push_back('\n');
  std::ofstream file(path, std::ios::binary);
  file << "\x93NUMPY\x01" << '\0' << static_cast<char>(header.size() & 0xFF) << static_cast<char>(header.size() >> 8)
       << header;
  const auto content = column.content();
  file.write(reinterpret_cast<const char*>(content.data()), static_cast<std::streamsize>(content.size()));
  if (!file.flush()) throw UserError({}, path + ": not written");
}

void write_split(const frontend::TrainingPlan& plan, const std::optional<frontend::DataReader>& reader,
                 const std::filesystem::path& root, const std::string& to) {
  if (!reader) return;
  runtime::data::ReaderRequest request{
      .op = reader->op, .columns = {}, .settings = reader->settings, .where = reader->where};
  for (const frontend::PlannedInput& input : plan.inputs) {
    request.columns.push_back({.input = input.name,
                               .sources = {{reader->columns.at(input.name).at(0).text}},
                               .dtype = ir::to_string(input.row.dtype),
                               .dims = input.row.dims,
                               .classes = std::max<int64_t>(input.below, 0),
                               .where = reader->where});
    request.columns.back().looked_up = input.looked_up;
  }
  const runtime::data::Table table = runtime::data::read_table(request, root);
  for (const Column& column : table.columns) write_npy(fmt::format("{}.{}.npy", to, column.input), table.rows, column);
}

int run(const std::filesystem::path& path, const std::string& folder) {
  frontend::Sources sources;
  const frontend::Model model = frontend::read_model(sources, path, {.set = {}, .small = false});
  const frontend::TrainingPlan plan = frontend::plan_training(model);
  write_split(plan, plan.data.train, path.parent_path(), folder + "/train");
  write_split(plan, plan.data.test, path.parent_path(), folder + "/test");
  return 0;
}

}  // namespace
}  // namespace heddle::testing

int main(int argc, char** argv) {
  if (argc != 3) {
    std::fputs("usage: heddle_model_rows MODEL.json FOLDER\n", stderr);
    return 2;
  }
  try {
    return heddle::testing::run(argv[1], argv[2]);
  } catch (const heddle::UserError& error) {
    std::fprintf(stderr, "%s\n", error.what());
    return 1;
  }
}
