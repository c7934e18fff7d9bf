// heddle generate: texts that a model writes behind prompts.
#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <map>
#include <memory>
#include <optional>

#include "frontend/json/json.h"
#include "ir/read_text.h"
#include "runtime/json_text.h"
#include "tools/command/command_line.h"
#include "tools/command/commands.h"
#include "tools/command/device_arguments.h"
#include "tools/command/open_model.h"
#include "tools/command/output.h"
#include "tools/driver/generator.h"
#include "tools/driver/package.h"
#include "tools/driver/plan_batch.h"

namespace heddle::tools {
namespace {

constexpr size_t kMostPrompts = size_t{64} << 20;  // bytes of a file of prompts

struct GenerateArguments {
  ModelArguments model;
  driver::DeviceRequest device;
  std::vector<std::string> weights;
  std::string prefix, in, format, precision;
  std::vector<std::string> prompts;
  GenerateOptions options;
  int seed = 0;
  bool only_new = false, log_probabilities = false, time = false;
};

// Without the end of its last line: who types a line means what stands in it.
Prompt standard_input() {
  std::string text = read_text("-", "standard input", kMostPrompts);
  if (text.ends_with('\n')) text.pop_back();
  return {.text = std::move(text), .name = "<stdin>"};
}

// Of {"prompt": "..."} the text, told as the line.
Prompt prompt_of(const SourceFile& line, const std::string& file, int64_t number) {
  try {
    const frontend::Json object = frontend::parse_json(line);
    const frontend::Json* prompt = object.kind == frontend::Json::Kind::object ? object.find("prompt") : nullptr;
    if (prompt == nullptr || prompt->kind != frontend::Json::Kind::text)
      throw UserError(prompt == nullptr ? object.where : prompt->where, "expected a prompt",
                      R"(a line is {"prompt": "the text that is continued"})");
    return {.text = prompt->text, .name = fmt::format("{}:{}.prompt", file, number)};
  } catch (const UserError& error) {  // the line is gone when the message is read
    const Diagnostic& first = error.diagnostics().front();
    const int column = first.where.valid() ? line_column(first.where).column : 1;
    throw UserError(Location{}, fmt::format("{}:{}:{}: {}", file, number, column, first.message), first.help);
  }
}

std::vector<Prompt> prompts_of_lines(const std::string& path) {
  const std::string shown = path == "-" ? "<stdin>" : path, text = read_text(path, shown, kMostPrompts);
  std::vector<Prompt> prompts;
  int64_t number = 0;
  for (size_t begin = 0, end = 0; begin < text.size(); begin = end + 1) {
    end = std::min(text.find('\n', begin), text.size());
    const std::string line = text.substr(begin, end - begin);
    ++number;
    if (line.find_first_not_of(" \t\r") != std::string::npos)
      prompts.push_back(prompt_of({shown, line}, shown, number));
  }
  return prompts;
}

std::vector<Prompt> read_prompts(const GenerateArguments& a) {
  if (a.in.empty() == a.prompts.empty())
    throw UserError(
        ExitCode::usage, a.in.empty() ? "generate needs a prompt" : "--prompt and --in are both given",
        "--prompt TEXT, --prompt - for standard input, or --in FILE with a line {\"prompt\": TEXT} for each");
  if (!a.in.empty()) return prompts_of_lines(a.in);
  std::vector<Prompt> prompts;
  bool read = false;
  for (const std::string& prompt : a.prompts) {
    if (prompt == "-" && std::exchange(read, true))
      throw UserError(ExitCode::usage, "two prompts are standard input", "it is one: --in - reads lines of prompts");
    prompts.push_back(prompt == "-" ? standard_input() : Prompt{.text = prompt});
  }
  return prompts;
}

std::string line_of(const Prompt& prompt, size_t sample, const Generated& made, const GenerateArguments& a) {
  runtime::JsonObject line;
  line.text("prompt", prompt.text);
  if (a.options.samples > 1) line.integer("sample", static_cast<int64_t>(sample));
  line.text("text", made.text).text("end", made.end).integer("tokens", std::ssize(made.tokens));
  double sum = 0;
  std::vector<std::string> each, ids;
  for (size_t i = 0; i < made.tokens.size(); ++i) {
    sum += made.log_probabilities[i];
    each.push_back(runtime::json_number(made.log_probabilities[i]));
    ids.push_back(std::to_string(made.tokens[i]));
  }
  line.number("log_probability", sum);
  if (a.log_probabilities) line.raw("ids", runtime::json_list(ids)).raw("log_probabilities", runtime::json_list(each));
  return line.str() + "\n";
}

// How fast pieces come, from the first one to the last.
struct Pace {
  std::optional<std::chrono::steady_clock::time_point> first = {};
  std::chrono::steady_clock::time_point last;
  void note() {
    last = std::chrono::steady_clock::now();
    if (!first) first = last;
  }
  void tell(size_t tokens) const {
    if (!first) return;
    const double seconds = std::chrono::duration<double>(last - *first).count();
    print_note("{} tokens, {:.0f} a second\n", tokens, seconds > 0 ? static_cast<double>(tokens) / seconds : 0);
  }
};

// Results in the order of their prompts: each as soon as it and those before it are complete.
class InOrder {
 public:
  void write(size_t number, std::string text) {
    waiting_[number] = std::move(text);
    if (number != next_) return;
    for (auto at = waiting_.begin(); at != waiting_.end() && at->first == next_; at = waiting_.erase(at), ++next_)
      write_result(at->second);
    flush_result();
  }

 private:
  size_t next_ = 0;
  std::map<size_t, std::string> waiting_;
};

void require_options_that_are_read(const GenerateArguments& a, bool lines) {
  for (const std::string& stop : a.options.stop)
    if (stop.empty()) throw UserError(ExitCode::usage, "--stop: an empty text is everywhere", "leave it out");
  if (a.log_probabilities && !lines)
    throw UserError(ExitCode::usage, "--log-probabilities: text has no place for them", "add --format jsonl");
}

void generate(GenerateArguments& a) {
  const bool on_input = a.in == "-" || std::ranges::count(a.prompts, "-") > 0;
  bool begun = false;  // a text stands on the last line: notes wait until it ends
  std::vector<std::string> waiting;
  const auto note = [&](const std::string& text) { begun ? waiting.push_back(text) : print_as_note(text); };
  driver::require_model_file(a.model.model, "give the model file: a package holds no program that writes");
  if (!a.precision.empty()) compute_in_f32(a.model);
  heddle::Model model = open_model(a.model, a.device, on_input ? "the prompt" : "", note);
  const std::vector<Prompt> prompts = read_prompts(a);
  const bool lines = a.format.empty() ? !a.in.empty() : a.format == "jsonl";
  const bool live = !lines && prompts.size() == 1 && a.options.samples == 1 && a.options.beams == 0;
  require_options_that_are_read(a, lines);
  model.load_weights(a.weights, a.prefix);
  Pace pace;
  a.options.seed = static_cast<uint64_t>(a.seed);
  a.options.with_prompt = !lines && !a.only_new;
  a.options.each = [&](size_t, size_t, const std::string& piece) {
    pace.note();
    if (!live) return true;
    begun = true;
    write_result(piece);
    flush_result();
    return true;
  };
  InOrder results;
  size_t tokens = 0, found = 0;
  a.options.done = [&](size_t prompt, size_t sample, const Generated& made) {
    tokens += made.tokens.size();
    // A beam search may find fewer texts than requested, so they are counted. It finishes one prompt before the next.
    const size_t number = a.options.beams > 0 ? found++ : prompt * static_cast<size_t>(a.options.samples) + sample;
    results.write(number, lines ? line_of(prompts[prompt], sample, made, a) : (live && begun ? "" : made.text) + "\n");
    return true;
  };
  model.generate(prompts, a.options);
  for (const std::string& text : waiting) print_as_note(text);
  if (a.time) pace.tell(tokens);
}

}  // namespace

void add_generate(CommandLine& line) {
  Command command =
      line.add_subcommand("generate", "let a trained model continue a text, or write what a source becomes");
  const auto a = std::make_shared<GenerateArguments>();
  add_model_arguments(command, a->model, ShortForms::none);
  add_device_arguments(command, a->device);
  GenerateOptions& o = a->options;
  command.add_option("--weights", a->weights, "the weights (safetensors); again: adapters of train.lora")
      .takes(Takes::file)
      .required();
  command.add_option("--weights-prefix", a->prefix,
                     "remove this from the names of the first file's tensors: \"module.\", \"_orig_mod.\"");
  command.add_option(
      "--prompt", a->prompts,
      "the text to continue, or the source of an encoder-decoder; - for standard input; may be repeated");
  command.add_option("--in", a->in, "a file of lines {\"prompt\": TEXT}, or - for standard input").takes(Takes::file);
  command.add_option("--format", a->format, "the format of the results (default: text, and jsonl with --in)")
      .one_of({"text", "jsonl"});
  command.add_option("--tokens", o.tokens, "most tokens of a continuation (default 256)").between(1, 1 << 20);
  command
      .add_option("--temperature", o.temperature,
                  "below 1: likely tokens become likelier; 0: the likeliest each time (default 1)")
      .between(0.0, 100.0);
  command.add_option("--top-k", o.top_k, "draw only from the K likeliest tokens").between(1, 1 << 30);
  command.add_option("--top-p", o.top_p, "draw only from the fewest tokens whose probabilities add up to this")
      .between(1e-9, 1.0);
  command.add_option("--repetition-penalty", o.repetition_penalty, "above 1: tokens of the text become less likely")
      .between(1e-3, 100.0);
  command.add_option("--stop", o.stop, "a continuation ends before this text; may be repeated");
  command.add_option("--seed", a->seed, "of the random numbers (default 0)").between(0, 2147483647);
  command.add_option("--samples", o.samples, "continuations of each prompt (default 1)").between(1, 1 << 16);
  command
      .add_option("--beams", o.beams, "search for the likeliest continuation with this many beams instead of drawing")
      .between(1, 1 << 12);
  command
      .add_option("--length-penalty", o.length_penalty,
                  "with --beams: texts are compared by log probability / tokens^this (default 1)")
      .between(0.0, 100.0);
  command.add_option("--batch", o.batch, "texts of a batch (default: all, up to 64)")
      .between(static_cast<int>(driver::Generator::kFewestRows), driver::kMostBatch);
  command
      .add_option("--tokenizer", o.tokenizer, "a tokenizer.json, or a folder with one (default: that of the weights)")
      .takes(Takes::file);
  command.add_option("--precision", a->precision, "compute in f32, not as train.precision and int8 weights say")
      .one_of({"f32"});
  command.add_flag("--special", o.special,
                   "special tokens in prompts, such as <summary>, are those, and no plain text");
  command.add_flag("--only-new", a->only_new, "write continuations without their prompts");
  command.add_flag("--log-probabilities", a->log_probabilities,
                   "with jsonl: print the ids, and the log probability of each");
  command.add_flag("--time", a->time, "print the tokens per second");
  command.run([a] { generate(*a); });
}

}  // namespace heddle::tools
