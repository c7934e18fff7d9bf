// Pictures as rows: files that are named, and those of folders in the order of their names, resized as the model's
// reader resizes them.
#include <fmt/format.h>

#include <algorithm>
#include <filesystem>
#include <memory>
#include <system_error>

#include "runtime/data/picture.h"
#include "runtime/data/picture_keys.h"
#include "tools/predict/row_source.h"

namespace heddle::tools {
namespace {

namespace fs = std::filesystem;
using runtime::data::ElementType;
using runtime::data::PictureSize;
using runtime::data::Resizing;

void add_folder(const std::string& folder, std::vector<std::string>& files) {
  std::vector<std::string> found;
  std::error_code error;
  for (fs::directory_iterator it(folder, error), end; !error && it != end; it.increment(error))
    if (runtime::data::named_picture(it->path()) && it->path().filename().string()[0] != '.')
      found.push_back(it->path().string());
  if (error) throw UserError(ExitCode::failed, fmt::format("{}: {}", folder, error.message()));
  if (found.empty())
    throw UserError(ExitCode::failed, fmt::format("{}: no pictures in the folder", folder),
                    fmt::format("{}; folders in it are not looked into", runtime::data::told_picture_endings()));
  std::ranges::sort(found);
  files.insert(files.end(), found.begin(), found.end());
}

PictureSize size_of_picture(const driver::PredictInput& input) {
  const std::vector<int64_t>& d = input.request.dims;
  if (d.size() == 2) return {.height = d[0], .width = d[1], .channels = 1};
  if (d.size() == 3 && (d[2] == 1 || d[2] == 3)) return {.height = d[0], .width = d[1], .channels = d[2]};
  throw UserError(
      ExitCode::usage,
      fmt::format("pictures are [height,width,1] or [height,width,3], input '{}' is not", input.request.input),
      "give its rows as npy, csv or jsonl");
}

// As the first reader resizes that makes the input of pictures, in the order in which sounds are looked for.
Resizing resizing_of_input(const frontend::Data& data, const std::string& input) {
  for (const auto* split : {&data.test, &data.validation, &data.train}) {
    if (!split->has_value() || (*split)->op != "image_folder") continue;
    const auto column = (*split)->columns.find(input);
    if (column != (*split)->columns.end() && column->second.at(0).text == "image")
      return runtime::data::resizing_of((*split)->settings);
  }
  return {};
}

struct Pictures {
  std::vector<std::string> files;
  PictureSize size;
  Resizing resizing;
  size_t input = 0, next = 0;
  std::string input_name;

  int64_t fill(int64_t most, PredictRows& into) {
    const size_t count = std::min(static_cast<size_t>(most), files.size() - next);
    runtime::data::Column& column = into.columns.at(input);
    column = {.input = input_name, .type = ElementType::u8, .dims = {size.height, size.width, size.channels}};
    column.bytes.resize(count * static_cast<size_t>(size.bytes()));
    for (size_t i = 0; i < count; ++i) {
      const std::string& file = files[next + i];
      runtime::data::read_picture(file, file, {}, size, column.bytes.data() + static_cast<int64_t>(i) * size.bytes(),
                                  resizing);
      into.names.push_back(file);
    }
    next += count;
    return static_cast<int64_t>(count);
  }
};

}  // namespace

int64_t picture_count(const std::string& path) {
  std::error_code ec;
  std::vector<std::string> files(1);
  if (fs::is_directory(path, ec)) files.clear(), add_folder(path, files);
  return std::ssize(files);
}

OpenedSource open_pictures(const driver::Predictor& predictor, const std::vector<SourceRequest>& requests) {
  const auto pictures = std::make_shared<Pictures>();
  pictures->input = requests.at(0).inputs.at(0);
  const driver::PredictInput& input = predictor.inputs()[pictures->input];
  pictures->size = size_of_picture(input);
  pictures->input_name = input.request.input;
  pictures->resizing = resizing_of_input(predictor.data(), pictures->input_name);
  for (const SourceRequest& request : requests) {
    std::error_code ec;
    if (fs::is_directory(request.path, ec))
      add_folder(request.path, pictures->files);
    else
      pictures->files.push_back(request.path);
  }
  return {requests[0].path, requests[0].inputs,
          [pictures](int64_t most, PredictRows& into) { return pictures->fill(most, into); }};
}

}  // namespace heddle::tools
