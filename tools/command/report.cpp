#include "tools/command/report.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>

#include "codegen/predict.h"
#include "runtime/json_text.h"

namespace heddle::tools {
namespace {

using runtime::JsonObject;
using runtime::KernelResources;

// The numbers of an entry's launches, calls and copies over all turns of loops, and their predicted time.
struct Launches {
  int64_t generated = 0, library = 0, copies = 0;
  double predicted_seconds = 0, least_seconds = 0;
};

Launches count(const codegen::Program& p, const codegen::Entry& e) {
  Launches n;
  codegen::for_each_step(e.steps, [&](const codegen::Step& step, int64_t times) {
    const auto often = static_cast<double>(times);
    n.predicted_seconds += often * codegen::predicted_seconds(p, step);
    if (const auto* launch = std::get_if<codegen::Launch>(&step.what)) {
      n.generated += times;
      const codegen::Kernel& kernel = p.kernels[static_cast<size_t>(launch->kernel)];
      n.least_seconds += often * kernel.least_seconds;
    } else if (const auto* call = std::get_if<codegen::Library>(&step.what)) {
      n.library += times;
      n.least_seconds += often * call->least_seconds;
    } else {
      n.copies += times;  // the least time is that without any
    }
  });
  return n;
}

const KernelResources* find(const std::vector<KernelResources>& list, const std::string& name) {
  const auto found = std::find_if(list.begin(), list.end(), [&](const KernelResources& r) { return r.name == name; });
  return found == list.end() ? nullptr : &*found;
}

std::string entry_json(const codegen::Program& p, const codegen::Entry& e) {
  const Launches n = count(p, e);
  JsonObject out;
  out.text("name", e.name).integer("arena_bytes", e.arena_bytes).integer("max_live_bytes", e.max_live_bytes);
  out.integer("launches", n.generated + n.library).integer("library_calls", n.library).integer("copies", n.copies);
  out.number("predicted_us", n.predicted_seconds * 1e6);
  return out.number("least_us", n.least_seconds * 1e6).str();
}

std::string counts_json(const codegen::KernelCounts& c) {
  JsonObject out;
  out.integer("blocks", c.blocks).number("sectors_read", c.sectors_read).number("sectors_written", c.sectors_written);
  out.number("shared_wavefronts", c.shared_wavefronts).number("ideal_wavefronts", c.ideal_wavefronts);
  out.number("instructions", c.instructions).number("dependent_loads", c.dependent_loads);
  return out.number("dependent_after_last", c.dependent_after_last).str();
}

std::string kernel_json(const codegen::Kernel& k, const KernelResources* r) {
  JsonObject out;
  out.text("name", k.name).text("title", k.title).text("schedule", k.schedule);
  if (r)
    out.integer("registers", r->registers)
        .integer("shared_bytes", r->shared_bytes)
        .integer("spill_bytes", r->spill_bytes);
  if (!r) out.raw("registers", "null").raw("shared_bytes", "null").raw("spill_bytes", "null");
  out.integer("bytes", k.bytes_read + k.bytes_written)
      .integer("bytes_read", k.bytes_read)
      .integer("bytes_written", k.bytes_written);
  out.integer("threads", k.block).raw("counts", k.counts ? counts_json(*k.counts) : "null");
  out.number("flops", k.flops).number("predicted_us", k.predicted_seconds * 1e6);
  return out.number("least_us", k.least_seconds * 1e6).str();
}

std::string call_json(const codegen::Library& c) {
  JsonObject out;
  out.text("title", c.title).text("impl", c.impl).text("op", c.op).integer("batch_split", c.batch_split);
  out.text("precision", c.precision);
  out.integer("workspace_bytes", c.workspace.bytes).integer("bytes", c.bytes_read + c.bytes_written);
  return out.number("flops", c.flops).number("predicted_us", c.predicted_seconds * 1e6).str();
}

// Each library call once, whatever entries make it.
std::map<std::string, const codegen::Library*> library_calls(const codegen::Program& p) {
  std::map<std::string, const codegen::Library*> calls;
  for (const codegen::Entry& e : p.entries)
    codegen::for_each_step(e.steps, [&](const codegen::Step& step, int64_t) {
      if (const auto* call = std::get_if<codegen::Library>(&step.what)) calls.emplace(call->title, call);
    });
  return calls;
}

// "1.25 M": four digits and less room than the number takes.
std::string short_number(double n) {
  const char* unit = n < 1e4 ? "" : n < 1e7 ? " k" : n < 1e10 ? " M" : " G";
  const double scaled = n < 1e4 ? n : n < 1e7 ? n / 1e3 : n < 1e10 ? n / 1e6 : n / 1e9;
  return fmt::format("{:.{}f}{}", scaled, n < 1e4 ? 0 : 1, unit);
}

// The counts of each kernel on a GPU, with the predicted time and the least possible time.
std::string counts_table(const codegen::Program& p) {
  std::string text = fmt::format("\n{:<48} {:>6} {:>7} {:>9} {:>9} {:>9} {:>6} {:>12} {:>6} {:>6} {:>12} {:>12}\n",
                                 "kernel", "blocks", "threads", "read", "written", "shared", "ideal", "instructions",
                                 "waits", "after", "predicted", "least");
  for (const codegen::Kernel& k : p.kernels) {
    if (!k.counts) continue;
    const codegen::KernelCounts& c = *k.counts;
    const double ideal = c.ideal_wavefronts > 0 ? c.shared_wavefronts / c.ideal_wavefronts : 1;
    text +=
        fmt::format("{:<48} {:>6} {:>7} {:>9} {:>9} {:>9} {:>5.2f}x {:>12} {:>6.0f} {:>6.0f} {:>9.2f} us {:>9.2f} us\n",
                    k.name, c.blocks, k.block, short_number(c.sectors_read), short_number(c.sectors_written),
                    short_number(c.shared_wavefronts), ideal, short_number(c.instructions), c.dependent_loads,
                    c.dependent_after_last, k.predicted_seconds * 1e6, k.least_seconds * 1e6);
  }
  for (const codegen::Entry& e : p.entries) {
    const Launches n = count(p, e);
    text += fmt::format("{:<118} {:>9.2f} us {:>9.2f} us\n", fmt::format("all of {}, {} launches", e.name, n.generated),
                        n.predicted_seconds * 1e6, n.least_seconds * 1e6);
  }
  return text +
         "read, written: sectors of 32 bytes; shared: wavefronts, and of the ideal number; instructions: of warps;\n"
         "waits: loads of global memory one after another, of these after the last row\n";
}

bool is_counted(const codegen::Program& p) {
  return std::any_of(p.kernels.begin(), p.kernels.end(), [](const codegen::Kernel& k) { return k.counts.has_value(); });
}

std::string choices_json(const std::vector<passes::Remark>& choices) {
  std::vector<std::string> list;
  list.reserve(choices.size());
  for (const passes::Remark& c : choices)
    list.push_back(JsonObject().text("graph", c.graph).text("value", c.subject).text("choice", c.reason).str());
  return runtime::json_list(list);
}

}  // namespace

std::string report_json(const codegen::Program& p, const std::string& arch,
                        const std::vector<KernelResources>& resources, const std::vector<passes::Remark>& choices) {
  std::vector<std::string> entries, kernels, calls;
  for (const codegen::Entry& e : p.entries) entries.push_back(entry_json(p, e));
  for (const codegen::Kernel& k : p.kernels) kernels.push_back(kernel_json(k, find(resources, k.name)));
  for (const auto& [title, call] : library_calls(p)) calls.push_back(call_json(*call));
  JsonObject out;
  out.text("model", p.name).text("target", p.target).text("arch", arch);
  out.integer("state_bytes", p.state_bytes).integer("arena_bytes", p.arena_bytes);
  out.raw("entries", runtime::json_list(entries)).raw("kernels", runtime::json_list(kernels));
  out.raw("library_calls", runtime::json_list(calls));
  if (!choices.empty()) out.raw("choices", choices_json(choices));
  return out.str() + "\n";
}

std::string report_table(const codegen::Program& p, const std::string& arch,
                         const std::vector<KernelResources>& resources, const std::vector<passes::Remark>& choices) {
  std::string text =
      fmt::format("{} for {}: state {} bytes, arena {} bytes\n\n", p.name, p.target, p.state_bytes, p.arena_bytes);
  text += fmt::format("{:<12} {:>12} {:>12} {:>7} {:>9} {:>8} {:>7} {:>10}\n", "entry", "arena", "max live", "ratio",
                      "generated", "library", "copies", "predicted");
  for (const codegen::Entry& e : p.entries) {
    const Launches n = count(p, e);
    const double ratio =
        e.max_live_bytes > 0 ? static_cast<double>(e.arena_bytes) / static_cast<double>(e.max_live_bytes) : 1;
    text += fmt::format("{:<12} {:>12} {:>12} {:>7.4f} {:>9} {:>8} {:>7} {:>7.1f} us\n", e.name, e.arena_bytes,
                        e.max_live_bytes, ratio, n.generated, n.library, n.copies, n.predicted_seconds * 1e6);
  }
  text += fmt::format("\n{:<48} {:<10} {:>12} {:>12} {:>10} {:>5} {:>6} {:>6}\n", "kernel", "schedule", "bytes",
                      "flops", "predicted", "regs", "shared", "spills");
  for (const codegen::Kernel& k : p.kernels) {
    const KernelResources* r = find(resources, k.name);
    text += fmt::format("{:<48} {:<10} {:>12} {:>12.0f} {:>7.1f} us {:>5} {:>6} {:>6}\n", k.name, k.schedule,
                        k.bytes_read + k.bytes_written, k.flops, k.predicted_seconds * 1e6,
                        r ? std::to_string(r->registers) : "-", r ? std::to_string(r->shared_bytes) : "-",
                        r ? std::to_string(r->spill_bytes) : "-");
  }
  for (const auto& [title, c] : library_calls(p))
    text += fmt::format("{:<48} {:<10} {:>12} {:>12.0f} {:>7.1f} us\n", title, c->impl,
                        c->bytes_read + c->bytes_written, c->flops, c->predicted_seconds * 1e6);
  for (const passes::Remark& c : choices)
    text += fmt::format("{}@{} {}: {}\n", &c == choices.data() ? "\n" : "", c.graph, c.subject, c.reason);
  if (is_counted(p)) text += counts_table(p);
  if (!resources.empty()) text += fmt::format("\nregisters, shared memory and spills are those of {}\n", arch);
  return text;
}

}  // namespace heddle::tools
