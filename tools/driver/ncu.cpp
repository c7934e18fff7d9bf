#include "tools/driver/ncu.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <array>
#include <charconv>
#include <filesystem>
#include <optional>
#include <utility>

#include "ir/diagnostic.h"
#include "ir/read_text.h"
#include "runtime/files/temporary.h"
#include "runtime/process/process.h"
#include "tools/driver/profile.h"

namespace heddle::driver {
namespace {

// Names of Nsight Compute's metrics and what they are times, so that seconds are seconds.
struct Metric {
  const char *ncu, *ours;
  double scale = 1;
};
constexpr std::array<Metric, 6> kMetrics = {{{"gpu__time_duration.sum", "seconds", 1e-9},
                                             {"dram__bytes.sum", "dram_bytes"},
                                             {"l1tex__t_sectors_pipe_lsu_mem_global_op_ld.sum", "sectors_read"},
                                             {"l1tex__t_sectors_pipe_lsu_mem_global_op_st.sum", "sectors_written"},
                                             {"l1tex__data_pipe_lsu_wavefronts_mem_shared.sum", "shared_wavefronts"},
                                             {"smsp__inst_executed.sum", "instructions"}}};
constexpr const char* kName = "Kernel Name";
constexpr double kMostSeconds = 900;  // each kernel is executed once for each group of counters
constexpr size_t kMostBytes = size_t{256} << 20;

// "a,\"b,c\"" -> a; b,c
std::vector<std::string> fields(std::string_view line) {
  std::vector<std::string> all(1);
  bool quoted = false;
  for (const char c : line) {
    if (c == '"')
      quoted = !quoted;
    else if (c == ',' && !quoted)
      all.emplace_back();
    else
      all.back() += c;
  }
  return all;
}

std::vector<std::vector<std::string>> rows(std::string_view csv) {
  std::vector<std::vector<std::string>> all;
  while (!csv.empty()) {
    const size_t end = std::min(csv.find('\n'), csv.size());
    std::string_view line = csv.substr(0, end);
    csv.remove_prefix(std::min(end + 1, csv.size()));
    if (line.ends_with('\r')) line.remove_suffix(1);
    // What ncu tells people begins with "==PROF=="; the table begins with its header.
    if (line.empty() || line.starts_with("==")) continue;
    std::vector<std::string> row = fields(line);
    const bool header = std::find(row.begin(), row.end(), kName) != row.end();
    if (!all.empty() || header) all.push_back(std::move(row));
  }
  return all;
}

// "1,234.5" is how ncu writes for people of some countries.
std::optional<double> number(std::string text) {
  std::erase(text, ',');
  double value = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (error != std::errc() || end != text.data() + text.size()) return std::nullopt;
  return value;
}

UserError failed(const std::string& what) {
  return {ExitCode::failed, "ncu " + what, "heddle profile without --ncu needs no counters"};
}

// The line that says why: ncu begins those with ==ERROR==.
std::string reason(const std::string& output) {
  const size_t at = output.find("==ERROR==");
  std::string line = at == std::string::npos ? output : output.substr(at + 9);
  line.erase(0, line.find_first_not_of(" \n"));
  line.resize(std::min(line.find('\n'), line.size()));
  return line;
}

}  // namespace

std::string find_ncu() {
  std::string path = runtime::find_program("ncu");
  if (path.empty())
    throw UserError(ExitCode::missing, "--ncu: there is no ncu in $PATH",
                    "it is part of Nsight Compute, which comes with the CUDA toolkit; or leave --ncu out");
  return path;
}

std::map<std::string, Counters> parse_ncu(std::string_view csv) {
  const std::vector<std::vector<std::string>> table = rows(csv);
  if (table.size() < 3) throw failed("counted no kernel");
  const auto column = [&](const char* name) {
    const auto found = std::find(table[0].begin(), table[0].end(), name);
    return found == table[0].end() ? table[0].size() : static_cast<size_t>(found - table[0].begin());
  };
  const size_t name = column(kName);
  std::map<std::string, std::map<std::string, std::vector<double>>> all;
  for (size_t r = 2; r < table.size(); ++r)  // behind the units
    for (const Metric& m : kMetrics) {
      const size_t at = column(m.ncu);
      if (table[r].size() != table[0].size() || at == table[0].size()) continue;
      if (const std::optional<double> value = number(table[r][at]))
        all[table[r][name].substr(0, table[r][name].find('('))][m.ours].push_back(*value * m.scale);
    }
  std::map<std::string, Counters> medians;
  for (auto& [kernel, values] : all)
    for (auto& [metric, list] : values) medians[kernel][metric] = median(list);
  if (medians.empty()) throw failed("wrote a table without the counters that it was asked for");
  return medians;
}

std::map<std::string, Counters> ncu_counters(const std::vector<std::string>& command, int64_t launches) {
  const runtime::TemporaryFolder folder;
  const std::string csv = folder.path() + "/counters.csv";
  std::vector<std::string> names;
  names.reserve(std::size(kMetrics));
  for (const Metric& m : kMetrics) names.emplace_back(m.ncu);
  std::vector<std::string> words = {runtime::find_program("env"), "HEDDLE_CUDA_STEPS=launches", find_ncu()};
  words.insert(words.end(), {"--clock-control", "none", "--csv", "--page", "raw", "--print-units", "base"});
  words.insert(words.end(), {"--metrics", fmt::format("{}", fmt::join(names, ","))});
  words.insert(words.end(), {"--launch-count", std::to_string(launches), "--force-overwrite", "--log-file", csv});
  words.insert(words.end(), command.begin(), command.end());
  const runtime::ProcessResult done = runtime::run_process(words, folder.path() + "/log", kMostSeconds);
  if (done.timed_out) throw failed(fmt::format("did not end within {} s", kMostSeconds));
  std::error_code ec;
  const std::string text = std::filesystem::exists(csv, ec) ? read_text(csv, "ncu's table", kMostBytes) : "";
  if (done.status != 0) {
    const std::string why = reason(text.find("==ERROR==") == std::string::npos ? done.output : text);
    throw failed(fmt::format("ended with exit code {}{}", done.status, why.empty() ? "" : ": " + why));
  }
  return parse_ncu(text);
}

}  // namespace heddle::driver
