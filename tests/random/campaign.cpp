#include "tests/random/campaign.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstdio>
#include <sstream>

#include "ir/check.h"
#include "ir/diagnostic.h"
#include "tests/random/child.h"

namespace heddle::testing {
namespace {

constexpr unsigned kSecondsAlone = HEDDLE_SANITIZED ? 300 : 60;
constexpr unsigned kSecondsEach = HEDDLE_SANITIZED ? 60 : 10;  // of a batch
constexpr char kField = '\x1f';

// A line that the child says to its parent; everything else that it prints is talk.
void say(const std::vector<std::string>& fields) {
  std::string line = "@@";
  for (std::string field : fields) {
    std::replace(field.begin(), field.end(), '\n', ' ');
    line += kField + field;
  }
  std::puts(line.c_str());
}

void say_fault(const Fault& f) { say({"fault", f.graph, f.stage, f.text}); }

std::vector<std::vector<std::string>> said(const std::string& output, std::string& talk) {
  std::vector<std::vector<std::string>> lines;
  std::istringstream in(output);
  for (std::string line; std::getline(in, line);) {
    if (!line.starts_with("@@")) {
      talk += line + "\n";
      continue;
    }
    lines.emplace_back();
    std::istringstream fields(line.substr(3));
    for (std::string field; std::getline(fields, field, kField);) lines.back().push_back(field);
  }
  return lines;
}

std::vector<Fault> faults_of(const ChildResult& child) {
  std::string talk;
  std::vector<Fault> faults;
  for (const auto& fields : said(child.output, talk))
    if (fields.size() == 4 && fields[0] == "fault") faults.push_back({fields[1], fields[2], fields[3]});
  if (!child.ended) faults.push_back({"", "crash", child.how + "\n" + talk.substr(0, 4000)});
  return faults;
}

std::string owner(const std::string& graph) { return graph.substr(0, graph.find('.')); }

// In the child: the passes graph by graph, then all of them on the host.
void work_on(const std::vector<RandomGraph>& graphs) {
  ir::Module all;
  for (const RandomGraph& made : graphs) {
    for (const Fault& f : check_passes(made.module)) say_fault(f);
    all.bodies.insert(all.bodies.end(), made.module.bodies.begin(), made.module.bodies.end());
    all.graphs.insert(all.graphs.end(), made.module.graphs.begin(), made.module.graphs.end());
  }
  const HostReport report = check_host(all);
  for (const Fault& f : report.faults) say_fault(f);
  for (const std::string& value : report.compared) say({"compared", value});
  say({"counted", fmt::format("{}", report.elements), fmt::format("{}", report.unbounded)});
}

}  // namespace

std::vector<Fault> check_alone(const ir::Module& m) {
  return faults_of(run_in_child(
      [&] {
        const std::vector<Fault> faults = check_passes(m);
        for (const Fault& f : faults) say_fault(f);
        if (faults.empty())
          for (const Fault& f : check_host(m).faults) say_fault(f);
      },
      kSecondsAlone));
}

namespace {

void add(BatchResult& to, BatchResult&& from) {
  to.faults.insert(to.faults.end(), from.faults.begin(), from.faults.end());
  for (const auto& [pair, times] : from.covered) to.covered[pair] += times;
  to.elements += from.elements;
  to.unbounded += from.unbounded;
}

// Of a batch that ends early each half is tried: the rest of it must not go unchecked.
BatchResult check_halves(const std::vector<uint64_t>& numbers, const Fault& whole) {
  const auto middle = numbers.begin() + static_cast<std::ptrdiff_t>(numbers.size() / 2);
  BatchResult result = check_batch({numbers.begin(), middle});
  add(result, check_batch({middle, numbers.end()}));
  // On a busy machine a large program may take too long, and its halves may not.
  const bool slow = whole.text.find("did not finish") != std::string::npos || whole.text.starts_with("took longer");
  if (result.faults.empty() && !slow) result.faults.emplace_back(numbers[0], Fault{"", "batch crash", whole.text});
  return result;
}

}  // namespace

BatchResult check_batch(const std::vector<uint64_t>& numbers) {
  std::vector<RandomGraph> graphs;
  graphs.reserve(numbers.size());
  for (const uint64_t n : numbers) graphs.push_back(generate(n));
  const unsigned seconds = kSecondsEach * static_cast<unsigned>(numbers.size()) + kSecondsAlone;
  const ChildResult child = run_in_child([&] { work_on(graphs); }, seconds);
  const std::vector<Fault> faults = faults_of(child);
  if (!child.ended && numbers.size() > 1) return check_halves(numbers, faults.back());
  std::string talk;
  std::set<std::string> compared;
  BatchResult result;
  for (const auto& fields : said(child.output, talk)) {
    if (fields[0] == "compared") compared.insert(fields.at(1));
    if (fields[0] != "counted") continue;
    result.elements = std::stoll(fields.at(1));
    result.unbounded = std::stoll(fields.at(2));
  }
  for (const RandomGraph& made : graphs) {
    const auto mine = std::find_if(faults.begin(), faults.end(), [&](const Fault& f) {
      return f.stage == "crash" || owner(f.graph) == graph_name(made.number);
    });
    if (mine == faults.end()) {
      for (const auto& [pair, value] : made.pairs)
        if (compared.count(fmt::format("{}%{}", graph_name(made.number), value))) ++result.covered[pair];
      continue;
    }
    std::vector<Fault> alone = check_alone(made.module);
    if (alone.empty()) alone = {{mine->graph, "batch " + mine->stage, mine->text}};
    for (Fault& f : alone) result.faults.emplace_back(made.number, std::move(f));
  }
  return result;
}

}  // namespace heddle::testing
