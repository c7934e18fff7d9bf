// heddle_random_graphs: checks random graphs, or one file, and reduces what fails.
//
//   heddle_random_graphs --first 0 --count 300         checks graphs 0 to 299
//   heddle_random_graphs --first 17 --count 1 --print  prints graph 17 and checks it
//   heddle_random_graphs --first 1 --step 4 --count 900     checks 900 of those that scan
//   heddle_random_graphs --reduce fails.hir            prints the smallest module that fails as this one does
//
// --pairs: afterwards every pair of operators must have been compared; graphs that name those left
// out are added. --batch N: graphs of one program (20). --seconds N: of one reduction (60; 0:
// none). --most N: ends after N faults (10).
#include <fmt/format.h>

#include <algorithm>
#include <cstdio>
#include <fstream>
#include <sstream>

#include "ir/diagnostic.h"
#include "ir/text/parse.h"
#include "ir/text/print.h"
#include "tests/random/campaign.h"
#include "tests/random/reduce.h"

namespace heddle::testing {
namespace {

constexpr size_t kFewestGraphs = 300;  // that the share is asked of: among fewer some large ones hold most elements
// Share of elements that may be anything: where rounding decides an integer, say. Of the first 300 graphs 4.2 %.
constexpr double kMostUnbounded = 0.05;
constexpr uint64_t kRounds = 60;  // of graphs that name the pairs which are left: some meet in one of fifty

struct Arguments {
  uint64_t first = 0, count = 300, step = 1, batch = 20, most = 10;
  double seconds = 60;
  bool print = false, pairs = false;
  std::string file;
};

Arguments parse_arguments(int argc, char** argv) {
  Arguments a;
  for (int i = 1; i < argc; ++i) {
    const std::string word = argv[i];
    const auto value = [&] {
      if (i + 1 == argc) throw UserError(ExitCode::usage, word + " needs a value");
      return std::string(argv[++i]);
    };
    if (word == "--first")
      a.first = std::stoull(value());
    else if (word == "--count")
      a.count = std::stoull(value());
    else if (word == "--step")
      a.step = std::stoull(value());
    else if (word == "--batch")
      a.batch = std::stoull(value());
    else if (word == "--most")
      a.most = std::stoull(value());
    else if (word == "--seconds")
      a.seconds = std::stod(value());
    else if (word == "--reduce")
      a.file = value();
    else if (word == "--print")
      a.print = true;
    else if (word == "--pairs")
      a.pairs = true;
    else
      throw UserError(ExitCode::usage, "unknown argument " + word);
  }
  return a;
}

void report(uint64_t number, const Fault& fault) {
  fmt::print("FAILED graph {} (heddle_random_graphs --first {} --count 1), {}: {}\n", number, number, fault.stage,
             fault.text);
}

void report_reduced(const ir::Module& m, const Fault& fault, double seconds) {
  if (seconds <= 0) return;
  fmt::print("reduced:\n{}\n", ir::print(reduce(m, fault, seconds)));
  std::fflush(stdout);
}

class Campaign {
 public:
  explicit Campaign(const Arguments& a) : a_(a) {}

  int run() {
    std::vector<uint64_t> numbers;
    for (uint64_t i = 0; i < a_.count; ++i) numbers.push_back(a_.first + i * a_.step);
    check(numbers);
    for (uint64_t round = 1; a_.pairs && round <= kRounds && faults_ < a_.most && !missing().empty(); ++round)
      check(naming_missing(round));
    print_table();
    const bool left_out = a_.pairs && !missing().empty();
    const bool vague = checked_ >= kFewestGraphs && unbounded_share() > kMostUnbounded;
    if (vague) fmt::print("more than {} % of the elements may be anything\n", 100 * kMostUnbounded);
    return faults_ == 0 && !left_out && !vague ? 0 : 1;
  }

 private:
  void check(const std::vector<uint64_t>& numbers) {
    for (size_t i = 0; i < numbers.size() && faults_ < a_.most; i += a_.batch) {
      std::fflush(stdout);
      const size_t end = std::min<size_t>(numbers.size(), i + a_.batch);
      check_some(
          {numbers.begin() + static_cast<std::ptrdiff_t>(i), numbers.begin() + static_cast<std::ptrdiff_t>(end)});
      fmt::print(stderr, "{} graphs, {} faults, {} of {} pairs\n", checked_, faults_, covered_.size(),
                 all_pairs().size());
    }
  }

  void check_some(const std::vector<uint64_t>& numbers) {
    if (a_.print)
      for (const uint64_t n : numbers) fmt::print("{}\n", ir::print(generate(n).module));
    const BatchResult result = check_batch(numbers);
    checked_ += numbers.size();
    for (const auto& [pair, times] : result.covered) covered_[pair] += times;
    elements_ += result.elements;
    unbounded_ += result.unbounded;
    uint64_t last = ~uint64_t{0};
    for (const auto& [number, fault] : result.faults) {
      report(number, fault);
      if (number == last) continue;  // the first fault of a graph is reduced
      last = number;
      ++faults_;
      report_reduced(generate(number).module, fault, a_.seconds);
    }
  }

  std::vector<Pair> missing() const {
    std::vector<Pair> list;
    for (const Pair& pair : all_pairs())
      if (!covered_.count(pair)) list.push_back(pair);
    return list;
  }

  std::vector<uint64_t> naming_missing(uint64_t round) const {
    std::set<Pair> wanted;
    for (const Pair& pair : missing()) wanted.insert(pair);
    std::vector<uint64_t> numbers;
    for (uint64_t block = 0; block < numbers_per_round(); ++block) {
      const std::vector<Pair> named = pairs_of(block);
      const bool helps = std::any_of(named.begin(), named.end(), [&](const Pair& p) { return wanted.count(p) != 0; });
      if (helps) numbers.push_back(block + round * numbers_per_round() * 1000);
    }
    return numbers;
  }

  double unbounded_share() const {
    return static_cast<double>(unbounded_) / static_cast<double>(std::max<int64_t>(1, elements_));
  }

  void print_table() const {
    fmt::print("{} graphs, {} faults; {} of {} pairs of operators compared\n", checked_, faults_, covered_.size(),
               all_pairs().size());
    fmt::print("{} elements compared, {:.1f} % without a bound\n", elements_, 100 * unbounded_share());
    if (!a_.pairs) return;
    for (const auto& [first, second] : missing()) fmt::print("not compared: {} -> {}\n", first, second);
  }

  const Arguments& a_;
  uint64_t checked_ = 0, faults_ = 0;
  std::map<Pair, int> covered_;
  int64_t elements_ = 0, unbounded_ = 0;
};

int reduce_file(const Arguments& a) {
  std::ifstream in(a.file, std::ios::binary);
  if (!in) throw UserError(ExitCode::failed, "cannot read " + a.file);
  std::ostringstream text;
  text << in.rdbuf();
  const SourceFile file{a.file, text.str()};
  const ir::Module m = ir::parse(file);
  const std::vector<Fault> faults = check_alone(m);
  for (const Fault& f : faults) fmt::print(stderr, "{}: {}\n", f.stage, f.text);
  if (faults.empty()) {
    fmt::print(stderr, "{} is right: nothing to reduce\n", a.file);
    return 0;
  }
  fmt::print("{}", ir::print(reduce(m, faults[0], a.seconds)));
  return 1;
}

}  // namespace
}  // namespace heddle::testing

int main(int argc, char** argv) {
  using namespace heddle;
  using namespace heddle::testing;
  try {
    const Arguments a = parse_arguments(argc, argv);
    return a.file.empty() ? Campaign(a).run() : reduce_file(a);
  } catch (const UserError& error) {
    std::fputs(error.what(), stderr);
    return static_cast<int>(error.code());
  }
}
