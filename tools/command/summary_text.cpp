// The table of heddle summary in a number of columns, and the same facts as JSON.
#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <initializer_list>

#include "runtime/json_text.h"
#include "runtime/process/terminal.h"
#include "tools/command/grouped.h"
#include "tools/command/summary.h"

namespace heddle::tools {
namespace {

using frontend::SummaryNode;
using runtime::JsonObject;

constexpr int kLeastColumns = 20;  // below, the table could say nothing
constexpr size_t kLeastName = 12;  // of the first column, before another one is left out

// "1.25 M": three digits and a unit of a thousand.
std::string short_number(double n, const std::string& unit) {
  const char* prefixes[] = {"", "k", "M", "G", "T", "P"};
  size_t i = 0;
  while (n >= 999.5 && i + 1 < std::size(prefixes)) n /= 1000, ++i;
  const std::string rest = fmt::format("{}{}", prefixes[i], unit);
  return fmt::format("{}{}{}", i == 0 ? fmt::format("{:.0f}", n) : fmt::format("{:.3g}", n), rest.empty() ? "" : " ",
                     rest);
}

int64_t parameters_of(const SummaryFacts& f, const SummaryNode& n) {
  int64_t sum = 0;
  for (const int64_t i : n.parameters) {
    const frontend::SummaryParameter& p = f.model.parameters[static_cast<size_t>(i)];
    if (!p.buffer) sum += p.elements;
  }
  return sum;
}

// A row of the table: the first column is cut where there is no room, the others are whole or left out.
using Row = std::vector<std::string>;

std::string name_of(const SummaryNode& n) {
  const size_t dot = n.path.rfind('.');
  // Unnamed nodes are called after their operators.
  const std::string op = n.block ? "block " + n.op : n.op;
  const bool unnamed = n.path == n.op || (dot != std::string::npos && n.path.substr(0, dot).ends_with(n.op));
  const std::string indent = fmt::format("{:{}}", "", 2 * std::min(n.depth, 8));
  return fmt::format("{}{}{}", indent, n.path, unnamed ? "" : fmt::format(" ({})", op));
}

std::vector<Row> rows_of(const SummaryFacts& f) {
  std::vector<Row> rows{{"layer", "output", "parameters", "memory", "flops"}};
  for (size_t i = 0; i < f.model.nodes.size(); ++i) {
    const SummaryNode& n = f.model.nodes[i];
    Row row{name_of(n), fmt::format("{}", fmt::join(n.shapes, " "))};
    if (n.block) {
      row.insert(row.end(), {"", "", ""});
    } else {
      row.push_back(grouped(parameters_of(f, n)));
      row.push_back(short_number(static_cast<double>(n.result_bytes + f.state_bytes[i]), "B"));
      row.push_back(short_number(n.flops, ""));
    }
    rows.push_back(std::move(row));
  }
  return rows;
}

// The spaces that fill a text up to `columns` columns.
std::string spaces(size_t columns, const std::string& text) {
  const size_t taken = runtime::columns_of(text);
  return fmt::format("{:{}}", "", taken < columns ? columns - taken : 0);
}

// A layer's cell in so many columns: without its indent, without its operator, at last the end of its path.
std::string fitted(const std::string& cell, size_t columns) {
  if (runtime::columns_of(cell) <= columns) return cell;
  std::string text = cell.substr(std::min(cell.find_first_not_of(' '), cell.size()));
  if (runtime::columns_of(text) <= columns) return text;
  text = text.substr(0, text.find(" ("));
  if (text.size() <= columns) return text;
  return columns > 6 ? ".." + text.substr(text.size() - (columns - 2)) : runtime::cut(text, columns);
}

std::string table(const std::vector<Row>& rows, size_t columns) {
  std::vector<size_t> widths(rows[0].size(), 0);
  for (const Row& row : rows)
    for (size_t i = 0; i < row.size(); ++i) widths[i] = std::max(widths[i], runtime::columns_of(row[i]));
  std::vector<size_t> shown{2};  // parameters, then what else there is room for
  size_t taken = widths[2] + 2;
  for (const size_t i : std::initializer_list<size_t>{3, 1, 4}) {
    const size_t name = std::min(widths[0], kLeastName + (i == 4 ? 8 : 4));
    if (taken + widths[i] + 2 + name > columns) continue;
    taken += widths[i] + 2;
    shown.push_back(i);
  }
  std::sort(shown.begin(), shown.end());
  const size_t name = std::min(widths[0], columns > taken ? columns - taken : 1);
  std::string text;
  for (const Row& row : rows) {
    std::string line = fitted(row[0], name);
    line += spaces(name, line);
    for (const size_t i : shown) {
      const std::string space = spaces(widths[i], row[i]);
      line += i == 1 ? fmt::format("  {}{}", row[i], space) : fmt::format("  {}{}", space, row[i]);
    }
    while (line.ends_with(' ')) line.pop_back();
    text += runtime::cut(line, columns) + "\n";
  }
  return text;
}

// Words in lines of so many columns; a word that is longer is cut. Lines but the first begin two columns later.
std::string wrapped(const std::string& text, size_t columns) {
  std::string out, line;
  size_t begin = 0;
  while (begin < text.size()) {
    size_t end = std::min(text.find(' ', begin), text.size());
    const std::string word = text.substr(begin, end - begin);
    const bool fits = runtime::columns_of(line) + runtime::columns_of(word) + 1 <= columns;
    if (!line.empty() && !fits)
      out += runtime::cut(line, columns) + "\n", line = fmt::format("  {}", word);
    else
      line += fmt::format("{}{}", line.empty() ? "" : " ", word);
    begin = end + 1;
  }
  return out + runtime::cut(line, columns) + "\n";
}

struct ParameterCounts {
  int64_t trained = 0, frozen = 0, buffers = 0;
};
ParameterCounts counts_of(const SummaryFacts& f) {
  ParameterCounts n;
  for (const frontend::SummaryParameter& p : f.model.parameters)
    (p.buffer ? n.buffers : p.trained ? n.trained : n.frozen) += p.elements;
  return n;
}

std::vector<std::string> paths_of(const SummaryFacts& f, const std::vector<int64_t>& parameters) {
  std::vector<std::string> paths;
  paths.reserve(parameters.size());
  for (const int64_t i : parameters) paths.push_back(f.model.parameters[static_cast<size_t>(i)].path);
  return paths;
}

int64_t elements_of(const SummaryFacts& f, const std::vector<int64_t>& parameters) {
  int64_t sum = 0;
  for (const int64_t i : parameters) sum += f.model.parameters[static_cast<size_t>(i)].elements;
  return sum;
}

// "phase actor, every 2 steps: loss mse; optimizer adam; 12 parameters: actor.*"
std::string phase_line(const SummaryFacts& f, const frontend::SummaryPhase& phase) {
  return fmt::format("phase {}{}: loss {}; optimizer {}; {} parameters: {}", phase.name,
                     phase.every > 1 ? fmt::format(", every {} steps", phase.every) : "",
                     fmt::join(phase.losses, " + "), phase.optimizer, grouped(elements_of(f, phase.parameters)),
                     fmt::join(phase.match, ", "));
}

// "pruned: 0.5 of 12 parameters, from step 0 to step 100: fc.weight"
std::string pruned_line(const SummaryFacts& f, const frontend::SummaryPruned& pruned) {
  return fmt::format("pruned: {} of {} parameters, from step {} to step {}: {}", pruned.amount,
                     grouped(elements_of(f, pruned.parameters)), pruned.begin, pruned.end,
                     fmt::join(paths_of(f, pruned.parameters), ", "));
}

// "quantised: 12 parameters in 8 bits, behind step 100, inputs by minmax: fc.weight"
std::string quantized_line(const SummaryFacts& f, const frontend::SummaryQuantized& quantized) {
  return fmt::format("quantised: {} parameters in 8 bits, behind step {}, inputs by {}: {}",
                     grouped(elements_of(f, quantized.parameters)), quantized.start, quantized.observer,
                     fmt::join(paths_of(f, quantized.parameters), ", "));
}

double forward_flops(const SummaryFacts& f) {
  double sum = 0;
  for (const SummaryNode& n : f.model.nodes) sum += n.flops;
  return sum;
}

std::vector<std::string> total_lines(const SummaryFacts& f) {
  const ParameterCounts n = counts_of(f);
  std::vector<std::string> lines{fmt::format("parameters: {} trained, {} frozen{}", grouped(n.trained),
                                             grouped(n.frozen),
                                             n.buffers > 0 ? fmt::format(", {} in buffers", grouped(n.buffers)) : "")};
  for (const frontend::SummaryParameter& p : f.model.parameters)
    if (!p.readers.empty())
      lines.push_back(
          fmt::format("shared: {} is read by {}, too, and counted once", p.path, fmt::join(p.readers, ", ")));
  for (const frontend::SummaryPhase& phase : f.model.phases) lines.push_back(phase_line(f, phase));
  if (f.model.pruned) lines.push_back(pruned_line(f, *f.model.pruned));
  if (f.model.quantized) lines.push_back(quantized_line(f, *f.model.quantized));
  lines.push_back(
      fmt::format("flops of a batch: {} forward{}", short_number(forward_flops(f), ""),
                  f.step_flops > 0 ? fmt::format(", {} for a step of training", short_number(f.step_flops, "")) : ""));
  lines.push_back(fmt::format("memory of a run for {}: {} bytes", f.target, grouped(f.memory.parts_bytes())));
  for (const NamedBytes& part : f.memory.parts)
    lines.push_back(fmt::format("  {}: {} bytes, {}", part.name, grouped(part.bytes), part.meaning));
  if (!f.data_note.empty()) lines.push_back("  data: not counted: " + runtime::visible(f.data_note));
  if (f.memory.constants.empty()) return lines;
  lines.push_back(fmt::format("beside it the process takes at most {} bytes", grouped(f.memory.constants_bytes())));
  for (const NamedBytes& part : f.memory.constants)
    lines.push_back(fmt::format("  {}: {} bytes, {}", part.name, grouped(part.bytes), part.meaning));
  return lines;
}

std::string bytes_json(const std::vector<NamedBytes>& parts) {
  JsonObject out;
  for (const NamedBytes& part : parts) out.integer(part.name, part.bytes);
  return out.str();
}

std::string node_json(const SummaryFacts& f, size_t i) {
  const SummaryNode& n = f.model.nodes[i];
  JsonObject out;
  out.text("path", n.path).text("op", n.op).flag("block", n.block).integer("depth", n.depth);
  out.raw("outputs", runtime::json_texts(n.shapes)).raw("parameters", runtime::json_texts(paths_of(f, n.parameters)));
  out.integer("parameter_count", parameters_of(f, n)).integer("state_bytes", f.state_bytes[i]);
  return out.integer("result_bytes", n.result_bytes).number("flops", n.flops).str();
}

std::string parameter_json(const frontend::SummaryParameter& p) {
  JsonObject out;
  out.text("path", p.path).text("shape", p.shape).integer("count", p.elements).integer("bytes", p.bytes);
  return out.flag("trained", p.trained)
      .flag("buffer", p.buffer)
      .raw("shared_with", runtime::json_texts(p.readers))
      .str();
}

std::string phase_json(const SummaryFacts& f, const frontend::SummaryPhase& phase) {
  JsonObject out;
  out.text("name", phase.name).raw("losses", runtime::json_texts(phase.losses)).text("optimizer", phase.optimizer);
  out.integer("every", phase.every).raw("parameters", runtime::json_texts(paths_of(f, phase.parameters)));
  return out.integer("parameter_count", elements_of(f, phase.parameters)).str();
}

std::string pruned_json(const SummaryFacts& f, const frontend::SummaryPruned& pruned) {
  JsonObject out;
  out.text("amount", pruned.amount).integer("begin", pruned.begin).integer("end", pruned.end);
  out.raw("parameters", runtime::json_texts(paths_of(f, pruned.parameters)));
  return out.integer("parameter_count", elements_of(f, pruned.parameters)).str();
}

std::string quantized_json(const SummaryFacts& f, const frontend::SummaryQuantized& quantized) {
  JsonObject out;
  out.integer("bits", 8).integer("start", quantized.start).text("observer", quantized.observer);
  out.raw("parameters", runtime::json_texts(paths_of(f, quantized.parameters)));
  return out.integer("parameter_count", elements_of(f, quantized.parameters)).str();
}

}  // namespace

std::string summary_text(const SummaryFacts& f, int columns) {
  const auto width = static_cast<size_t>(std::max(columns, kLeastColumns));
  std::string text = wrapped(fmt::format("{}, batch of {} = {}", runtime::visible(f.name),
                                         f.model.batch_name.empty() ? "rows" : f.model.batch_name, f.model.batch),
                             width);
  text += table(rows_of(f), width);
  for (const std::string& line : total_lines(f)) {
    const bool part = line.starts_with("  ");
    text += part ? fmt::format("  {}", wrapped(line.substr(2), width - 2)) : wrapped(line, width);
  }
  return text;
}

std::string summary_json(const SummaryFacts& f) {
  std::vector<std::string> nodes, parameters, phases;
  nodes.reserve(f.model.nodes.size());
  parameters.reserve(f.model.parameters.size());
  for (size_t i = 0; i < f.model.nodes.size(); ++i) nodes.push_back(node_json(f, i));
  for (const frontend::SummaryParameter& p : f.model.parameters) parameters.push_back(parameter_json(p));
  for (const frontend::SummaryPhase& phase : f.model.phases) phases.push_back(phase_json(f, phase));
  const ParameterCounts n = counts_of(f);
  JsonObject memory, out;
  memory.integer("total", f.memory.parts_bytes()).raw("parts", bytes_json(f.memory.parts));
  memory.raw("constants", bytes_json(f.memory.constants));
  out.text("model", f.name).text("target", f.target).integer("batch", f.model.batch);
  out.raw("layers", runtime::json_list(nodes)).raw("parameters", runtime::json_list(parameters));
  out.raw("phases", runtime::json_list(phases));
  if (f.model.pruned) out.raw("pruned", pruned_json(f, *f.model.pruned));
  if (f.model.quantized) out.raw("quantized", quantized_json(f, *f.model.quantized));
  out.integer("trained", n.trained).integer("frozen", n.frozen).integer("buffers", n.buffers);
  out.number("forward_flops", forward_flops(f)).number("step_flops", f.step_flops).raw("memory", memory.str());
  return out.str() + "\n";
}

}  // namespace heddle::tools
