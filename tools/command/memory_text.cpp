#include "tools/command/memory_text.h"

#include <fmt/format.h>

#include <algorithm>

#include "runtime/json_text.h"
#include "runtime/process/terminal.h"
#include "tools/command/grouped.h"
#include "tools/driver/plan_batch.h"

namespace heddle::tools {
namespace {

using driver::MemoryPart;
using runtime::JsonObject;

constexpr size_t kMostLayers = 12;  // that are listed

int64_t peak_of(const MemoryFacts& f) { return f.state_bytes + f.arena_bytes + f.ring_bytes; }

std::string share(int64_t bytes, int64_t of) {
  return of == 0 ? "" : fmt::format("{:.1f} %", 100 * static_cast<double>(bytes) / static_cast<double>(of));
}

std::string part_line(const std::string& name, int64_t bytes, const std::string& behind) {
  return fmt::format("  {:<24}{:>18}  {:>7}\n", name, grouped(bytes), behind);
}

// "1.25 ms", "37.31 s"
std::string time_text(double seconds) {
  return seconds < 1e-3 ? fmt::format("{:.4g} us", 1e6 * seconds)
         : seconds < 1  ? fmt::format("{:.4g} ms", 1e3 * seconds)
                        : fmt::format("{:.4g} s", seconds);
}

// "4 of 9, stage1.0 to down2": they join in the order of the model.
std::string again_text(const MemoryFacts& f, size_t again) {
  if (again == 0) return "none";
  const std::string first = runtime::visible(f.blocks.front()), last = runtime::visible(f.blocks[again - 1]);
  return fmt::format("{} of {}: {}", again, f.blocks.size(), again == 1 ? first : fmt::format("{} to {}", first, last));
}

std::string parts_text(const MemoryFacts& f) {
  const int64_t peak = peak_of(f);
  std::string text;
  for (const auto* parts : {&f.parts.state, &f.parts.arena})
    for (const MemoryPart& part : *parts)
      if (part.bytes > 0) text += part_line(part.name, part.bytes, share(part.bytes, peak));
  text += part_line("ring", f.ring_bytes, share(f.ring_bytes, peak));
  text += part_line("data, beside it", f.data_bytes.value_or(0), "");
  if (!f.data_note.empty()) text += "  the data are not counted: " + runtime::visible(f.data_note) + "\n";
  return text;
}

std::string layers_text(const MemoryFacts& f) {
  if (f.parts.layers.empty()) return {};
  std::string text = "\nactivations by layer\n";
  const size_t shown = std::min(f.parts.layers.size(), kMostLayers);
  int64_t others = 0;
  for (size_t i = 0; i < f.parts.layers.size(); ++i) {
    const MemoryPart& layer = f.parts.layers[i];
    if (i < shown)
      text += part_line(runtime::visible(layer.name), layer.bytes, share(layer.bytes, peak_of(f)));
    else
      others += layer.bytes;
  }
  const size_t rest = f.parts.layers.size() - shown;
  if (rest > 0) text += part_line(fmt::format("{} others", rest), others, share(others, peak_of(f)));
  return text;
}

std::string rows_text(const MemoryFacts& f) {
  if (f.rows.empty()) return f.rows_note.empty() ? "" : fmt::format("\n{}\n", f.rows_note);
  std::string text =
      fmt::format("\n{:>20}  {:>7}  {:>11}  {}\n", "--memory-limit", "", "step", "blocks computed again");
  for (const LimitRow& row : f.rows)
    text += fmt::format("{:>20}  {:>7}  {:>11}  {}\n", fmt::format("{}B", row.limit_bytes),
                        share(row.limit_bytes, f.rows.front().limit_bytes), time_text(row.step_seconds),
                        again_text(f, row.again));
  text += fmt::format("below {} bytes a batch of {} is refused; times of a step are predicted\n",
                      grouped(f.rows.back().limit_bytes), f.batch);
  if (!f.rows_note.empty()) text += f.rows_note + "\n";
  return text;
}

std::string batch_text(const MemoryFacts& f) {
  if (!f.batch_note.empty()) return fmt::format("\n{}\n", f.batch_note);
  if (!f.largest) return {};
  const BatchAnswer& best = *f.largest;
  if (best.rows == 0)
    return fmt::format("\nno batch fits within {} bytes: {} {} refused\n", grouped(f.limit), best.next,
                       best.next == 1 ? "row is" : "rows are");
  const std::string next = best.next > 0                     ? fmt::format("{} are refused", best.next)
                           : best.rows == driver::kMostBatch ? std::string("larger ones are not looked for")
                                                             : std::string("there are no more rows");
  return fmt::format("\nlargest batch within {} bytes: {}; {}\n  {}: blocks computed again {}, step {}\n",
                     grouped(f.limit), best.rows, next, best.words, again_text(f, best.again),
                     time_text(best.step_seconds));
}

std::string parts_json(const std::vector<MemoryPart>& parts) {
  JsonObject out;
  for (const MemoryPart& part : parts) out.integer(part.name, part.bytes);
  return out.str();
}

std::string row_json(const MemoryFacts& f, const LimitRow& row) {
  const std::vector<std::string> blocks(f.blocks.begin(), f.blocks.begin() + static_cast<std::ptrdiff_t>(row.again));
  JsonObject out;
  out.integer("limit", row.limit_bytes).number("step_ms", 1e3 * row.step_seconds);
  return out.raw("recompute", runtime::json_texts(blocks)).str();
}

}  // namespace

std::string memory_text(const MemoryFacts& f) {
  std::string text = fmt::format("{} for {}, batch of {} = {}\n", runtime::visible(f.name), f.target,
                                 f.batch_name.empty() ? "rows" : f.batch_name, f.batch);
  text += fmt::format("peak memory: {} bytes, in {}{}\n", grouped(peak_of(f)), f.parts.entry,
                      f.parts.peak.empty() ? "" : " at " + runtime::visible(f.parts.peak));
  if (f.again > 0) text += fmt::format("blocks computed again: {}\n", again_text(f, f.again));
  text += "\n" + parts_text(f) + layers_text(f) + rows_text(f);
  if (f.refused) text += fmt::format("within {} bytes this batch is refused\n", grouped(f.limit));
  text += batch_text(f);
  return text + fmt::format("\nplans made: {}\n", f.plans);
}

std::string memory_json(const MemoryFacts& f) {
  std::vector<std::string> rows;
  rows.reserve(f.rows.size());
  for (const LimitRow& row : f.rows) rows.push_back(row_json(f, row));
  JsonObject out;
  out.text("model", f.name).text("target", f.target).integer("batch", f.batch).integer("peak_bytes", peak_of(f));
  out.integer("state_bytes", f.state_bytes).integer("arena_bytes", f.arena_bytes).integer("ring_bytes", f.ring_bytes);
  out.raw("data_bytes", f.data_bytes ? std::to_string(*f.data_bytes) : "null");
  out.text("entry", f.parts.entry).text("peak", f.parts.peak);
  out.raw("state", parts_json(f.parts.state)).raw("arena", parts_json(f.parts.arena));
  out.raw("layers", parts_json(f.parts.layers)).raw("limits", runtime::json_list(rows));
  if (f.limit > 0) out.integer("limit", f.limit).flag("refused", f.refused);
  if (f.largest) {
    const BatchAnswer& best = *f.largest;
    JsonObject batch;
    batch.integer("rows", best.rows).raw("refused", best.next > 0 ? std::to_string(best.next) : "null");
    batch.integer("recompute", static_cast<int64_t>(best.again)).number("step_ms", 1e3 * best.step_seconds);
    out.raw("largest_batch", batch.text("option", best.words).str());
  }
  return out.integer("plans", f.plans).str() + "\n";
}

}  // namespace heddle::tools
