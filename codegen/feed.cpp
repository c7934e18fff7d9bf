#include "codegen/feed.h"

#include <fmt/ranges.h>

#include <algorithm>

#include "codegen/c_text.h"
#include "codegen/feed_text.h"
#include "ir/check.h"

namespace heddle::codegen {

using namespace ir;  // NOLINT: this file speaks of little else

namespace {

std::string kernel_text(const Kernel& facts, const std::vector<std::string>& parameters,
                        const std::vector<std::string>& body) {
  std::string text = fmt::format("// kernel {}\n", facts.schedule);
  const std::string head =
      fmt::format("HD_KERNEL({}, {})(\n    {})", facts.name, facts.block, joined(parameters, ",\n    "));
  for (const std::string& line : block(head, body)) text += line + "\n";
  return text + fmt::format("HD_HOST_ENTRY({}, {})\n", facts.name, facts.arguments);
}

}  // namespace

bool draws(const FeedSpec& spec) {
  return std::ranges::any_of(spec.maps, [](const DataMap& map) { return map.def->training; });
}

EmittedKernel emit_feed(const std::vector<Buffer>& inputs, const std::vector<FeedSpec>& columns, int64_t rows,
                        bool training, const std::string& symbol) {
  EmittedKernel out;
  Kernel& k = out.facts;
  k.name = symbol, k.title = k.schedule = "feed";
  k.arguments = 1 + std::ssize(inputs);
  k.block = kFeedThreads;
  Names names;
  const std::string cursor = "hd::u64* " + names.fresh("cursor");
  for (const char* used : {"row", "other_row", "from", "from_other", "to", "wrong", "column", "slot", "k"})
    names.fresh(used);
  std::vector<std::string> parameters, body, tables;
  for (const Buffer& input : inputs) {
    const auto spec = std::ranges::find(columns, input.name, &FeedSpec::input);
    HEDDLE_CHECK(spec != columns.end(), "no column feeds input '" + input.name + "'");
    const int64_t first_draw = training ? kCursorColumns + std::ssize(columns) : 0;
    FeedText text(input, *spec, spec - columns.begin(), rows, first_draw, symbol, names);
    body.push_back(text.comment);
    for (std::string& line : text.lines()) body.push_back(std::move(line));
    parameters.push_back(text.declaration());
    tables.insert(tables.end(), text.tables.begin(), text.tables.end());
    k.bytes_read += text.bytes_read(), k.bytes_written += text.bytes_written();
    k.flops += text.flops();
    k.max_blocks = std::max(k.max_blocks, text.most_blocks());
  }
  parameters.push_back(cursor);
  for (const std::string& table : tables) out.text += table + "\n";
  out.text += kernel_text(k, parameters, body);
  return out;
}

EmittedKernel emit_record(const Recorded& recorded, int64_t rows, int64_t records, const std::string& symbol) {
  EmittedKernel out;
  Kernel& k = out.facts;
  k.name = symbol, k.title = k.schedule = "record";
  k.block = kFeedThreads;
  std::vector<std::string> parameters;
  const auto add = [&](const Buffer* b, const char* name) {
    if (b == nullptr) return;
    const std::optional<DType> dtype = parse_dtype(b->dtype);
    HEDDLE_CHECK(dtype.has_value(), "what is recorded has a dtype: " + b->name);
    parameters.push_back(fmt::format("const {}* __restrict__ {}", storage_type(*dtype), name));
    k.bytes_read += b->bytes;
  };
  add(recorded.loss, "loss"), add(recorded.count, "count"), add(recorded.outside, "outside");
  add(recorded.norm, "norm");
  parameters.emplace_back("hd::u64* cursor");
  parameters.emplace_back("hd::u64* ring");
  k.arguments = std::ssize(parameters);
  k.bytes_written = (kRecordWords + 3 + (recorded.norms ? 1 : 0)) * 8;
  const std::string outside =
      recorded.outside == nullptr ? "nullptr, 0" : fmt::format("outside, {}", recorded.outside->dims.at(0));
  const std::string norm = !recorded.norms
                               ? ""
                               : fmt::format("hd::record_norm(cursor, ring, {}, {}), ", records,
                                             recorded.norm != nullptr ? "(double)norm[0]" : "hd::nothing<double>()");
  out.text = kernel_text(
      k, parameters,
      {fmt::format("HD_ONE_OF_ALL {}hd::record(cursor, ring, {}, {}, (double)loss[0], (double){}, {});", norm, records,
                   rows, recorded.count != nullptr ? "count[0]" : integer_literal(rows), outside)});
  return out;
}

}  // namespace heddle::codegen
