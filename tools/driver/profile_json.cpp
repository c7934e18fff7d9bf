#include "tools/driver/profile_json.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cmath>

#include "frontend/json/json.h"
#include "runtime/json_text.h"

namespace heddle::driver {
namespace {

using frontend::Json;
using runtime::JsonObject;

constexpr std::string_view kFormat = "heddle-profile/1";

std::string ceilings_json(const Ceilings& c) {
  std::vector<std::string> bandwidths;
  for (const runtime::Bandwidth& b : c.bandwidths)
    bandwidths.push_back(
        JsonObject().integer("up_to_bytes", b.up_to_bytes).number("bytes_per_second", b.bytes_per_second).str());
  return JsonObject()
      .text("source", c.source)
      .number("flops", c.flops)
      .raw("bandwidths", runtime::json_list(bandwidths))
      .str();
}

std::string numbers_json(const std::map<std::string, double>& numbers) {
  JsonObject out;
  for (const auto& [name, value] : numbers) out.number(name, value);
  return out.str();
}

std::string kernel_json(const ProfiledKernel& k) {
  JsonObject out;
  out.text("title", k.title).text("symbol", k.symbol).text("made_by", k.made_by).raw("ops", runtime::json_texts(k.ops));
  out.raw("lines", runtime::json_texts(k.lines)).text("results", k.results).text("loop", k.loop);
  out.integer("executions", k.executions).number("seconds", k.seconds);
  out.number("least_seconds", k.least_seconds).number("most_seconds", k.most_seconds);
  out.integer("bytes", k.bytes).number("flops", k.flops);
  out.number("predicted_seconds", k.predicted_seconds).number("bound_seconds", k.bound_seconds);
  for (const auto& [key, numbers] : {std::pair{"counts", &k.counts}, std::pair{"counters", &k.counters}})
    if (!numbers->empty()) out.raw(key, numbers_json(*numbers));
  return out.str();
}

// --- reading: every value is checked ---

class Reader {
 public:
  explicit Reader(const Json& object, std::string what)
      : object_(frontend::as_object(object, what)), what_(std::move(what)) {}

  const Json& at(std::string_view key) const {
    if (const Json* value = object_.find(key)) return *value;
    throw UserError(object_.where, fmt::format("{} has no '{}'", what_, key), kHelp);
  }
  std::string text(std::string_view key) const { return frontend::as_text(at(key), quoted(key)); }
  int64_t integer(std::string_view key) const {
    const int64_t value = frontend::as_integer(at(key), quoted(key));
    if (value < 0) throw UserError(at(key).where, fmt::format("{} is negative: {}", quoted(key), value), kHelp);
    return value;
  }
  double number(std::string_view key) const {
    const double value = frontend::as_real(at(key), quoted(key));
    if (!(value >= 0) || !std::isfinite(value))
      throw UserError(at(key).where, fmt::format("{} is no number from 0 on", quoted(key)), kHelp);
    return value;
  }
  std::vector<std::string> texts(std::string_view key) const {
    std::vector<std::string> words;
    for (const Json& item : frontend::as_list(at(key), quoted(key)).items)
      words.push_back(frontend::as_text(item, quoted(key)));
    return words;
  }
  const std::vector<Json>& list(std::string_view key) const { return frontend::as_list(at(key), quoted(key)).items; }
  // None where the key is not there.
  std::map<std::string, double> numbers(std::string_view key) const {
    std::map<std::string, double> all;
    if (const Json* object = object_.find(key))
      for (const Json& n : frontend::as_object(*object, quoted(key)).items)
        all[n.key] = frontend::as_real(n, quoted(n.key));
    return all;
  }

  static constexpr const char* kHelp = "heddle profile MODEL --json > FILE writes it anew";

 private:
  static std::string quoted(std::string_view key) { return fmt::format("'{}'", key); }
  const Json& object_;
  std::string what_;
};

ProfiledKernel read_kernel(const Json& json) {
  const Reader in(json, "a kernel");
  ProfiledKernel k;
  k.title = in.text("title"), k.symbol = in.text("symbol"), k.made_by = in.text("made_by");
  k.ops = in.texts("ops"), k.lines = in.texts("lines");
  k.results = in.text("results"), k.loop = in.text("loop");
  k.executions = in.integer("executions");
  k.seconds = in.number("seconds"), k.least_seconds = in.number("least_seconds"),
  k.most_seconds = in.number("most_seconds");
  k.bytes = in.integer("bytes"), k.flops = in.number("flops");
  k.predicted_seconds = in.number("predicted_seconds"), k.bound_seconds = in.number("bound_seconds");
  k.counts = in.numbers("counts"), k.counters = in.numbers("counters");
  return k;
}

Ceilings read_ceilings(const Json& json) {
  const Reader in(json, "'ceilings'");
  Ceilings c{.source = in.text("source"), .flops = in.number("flops"), .bandwidths = {}};
  for (const Json& item : in.list("bandwidths")) {
    const Reader b(item, "a bandwidth");
    c.bandwidths.push_back({b.integer("up_to_bytes"), b.number("bytes_per_second")});
  }
  return c;
}

std::string event_json(const Profile& p, size_t step, int thread, double begin, double seconds) {
  const ProfiledKernel& k = p.kernels[step];
  JsonObject facts;
  facts.text("ops", fmt::format("{}", fmt::join(k.ops, " "))).text("lines", fmt::format("{}", fmt::join(k.lines, " ")));
  facts.text("made by", k.made_by).text("results", k.results);
  const auto executions = static_cast<double>(std::max<int64_t>(k.executions, 1));
  facts.number("bytes", static_cast<double>(k.bytes) / executions).number("flops", k.flops / executions);
  facts.number("bound us", k.bound_seconds * 1e6 / executions);
  JsonObject event;
  event.text("name", k.title).text("cat", k.made_by).text("ph", "X").integer("pid", 1).integer("tid", thread + 1);
  return event.number("ts", begin * 1e6).number("dur", seconds * 1e6).raw("args", facts.str()).str();
}

std::string name_json(const std::string& of, int64_t thread, const std::string& name) {
  return JsonObject()
      .text("name", of)
      .text("ph", "M")
      .integer("pid", 1)
      .integer("tid", thread)
      .raw("args", JsonObject().text("name", name).str())
      .str();
}

}  // namespace

std::string profile_json(const Profile& p) {
  std::vector<std::string> kernels;
  for (const ProfiledKernel& k : p.kernels) kernels.push_back(kernel_json(k));
  JsonObject out;
  out.text("format", kFormat).text("model", p.model).text("entry", p.entry).text("device", p.device);
  out.integer("batch", p.batch).integer("rounds", p.rounds).integer("steps_per_round", p.steps_per_round);
  out.number("step_seconds", p.step_seconds).text("note", p.note).raw("ceilings", ceilings_json(p.ceilings));
  return out.raw("kernels", runtime::json_list(kernels)).str();
}

bool is_profile(std::string_view text) {
  return text.substr(0, 64).find("\"heddle-profile/") != std::string_view::npos;
}

Profile read_profile(const SourceFile& file) {
  const Json json = frontend::parse_json(file);
  const Reader in(json, "the profile");
  if (const Json& format = in.at("format"); frontend::as_text(format, "'format'") != kFormat)
    throw UserError(format.where, fmt::format("expected '{}', found {}", kFormat, frontend::quote(format.text)),
                    Reader::kHelp);
  Profile p;
  p.model = in.text("model"), p.entry = in.text("entry"), p.device = in.text("device");
  p.batch = in.integer("batch"), p.rounds = in.integer("rounds"), p.steps_per_round = in.integer("steps_per_round");
  p.step_seconds = in.number("step_seconds"), p.note = in.text("note");
  p.ceilings = read_ceilings(in.at("ceilings"));
  for (const Json& k : in.list("kernels")) p.kernels.push_back(read_kernel(k));
  return p;
}

std::string trace_json(const Profile& p, const std::vector<runtime::StepSpan>& spans) {
  std::vector<std::string> events = {
      name_json("process_name", 1, fmt::format("{} {} on {}", p.model, p.entry, p.device))};
  int threads = 1;
  double first = spans.empty() ? 0 : spans.front().begin;
  for (const runtime::StepSpan& s : spans) threads = std::max(threads, s.thread + 1), first = std::min(first, s.begin);
  for (int t = 0; t < threads; ++t)
    events.push_back(name_json("thread_name", t + 1, spans.empty() ? "kernels" : fmt::format("thread {}", t)));
  for (const runtime::StepSpan& s : spans)
    events.push_back(event_json(p, s.step, s.thread, s.begin - first, s.end - s.begin));
  double at = 0;
  for (size_t i = 0; spans.empty() && i < p.kernels.size(); at += p.kernels[i++].seconds)
    events.push_back(event_json(p, i, 0, at, p.kernels[i].seconds));
  std::string out(kTraceHead);
  out += JsonObject()
             .text("model", p.model)
             .text("entry", p.entry)
             .text("device", p.device)
             .text("note", p.note)
             .str()
             .replace(0, 1, ", ");
  out += ", \"displayTimeUnit\": \"ns\", \"traceEvents\": [\n";
  for (size_t i = 0; i < events.size(); ++i) out += events[i] + (i + 1 < events.size() ? ",\n" : "\n");
  return out + "]}\n";
}

}  // namespace heddle::driver
