#include "runtime/train/run_log.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <charconv>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <string_view>
#include <utility>

#include "ir/diagnostic.h"
#include "runtime/files/file.h"
#include "runtime/files/temporary.h"

namespace heddle::runtime {
namespace {

// How each line of a log begins, by which an older log is known.
constexpr std::string_view kBegin = "{\"event\": ";

const std::string kTaken = "it was removed, replaced or overwritten during the run";
const std::string kTakenHelp = "the log is lost or not complete; the run itself is not touched";

[[noreturn]] void refuse(const std::string& path, const std::string& reason, const std::string& help = {}) {
  throw UserError(ExitCode::failed, fmt::format("{}: cannot be written: {}", path, reason), help);
}

bool is_log_or_empty(const std::string& path) {
  std::string text(kBegin.size(), '\0');
  std::ifstream in(path, std::ios::binary);
  in.read(text.data(), static_cast<std::streamsize>(text.size()));
  return in.gcount() == 0 || text == kBegin;
}

// A descriptor of its own, so that closing the log leaves standard output open.
std::FILE* open_standard_output() {
  const int fd = ::fcntl(STDOUT_FILENO, F_DUPFD_CLOEXEC, STDERR_FILENO + 1);
  if (fd < 0) refuse("standard output", std::strerror(errno));
  std::FILE* file = ::fdopen(fd, "w");  // none where the command line has found it closed, and holds its place
  if (file == nullptr) ::close(fd), refuse("standard output", "it is closed");
  return file;
}

// Without O_NONBLOCK, opening a pipe that nobody reads would wait for ever.
std::FILE* open_log(const std::string& path) {
  if (path == "-") return open_standard_output();
  std::error_code ec;
  if (leads_to_temporary_name(path) && !std::filesystem::is_directory(path, ec))
    refuse(path, "files of such names are drafts, which later runs remove", "name another file");
  const int fd = ::open(path.c_str(), O_WRONLY | O_CREAT | O_APPEND | O_NONBLOCK | O_NOCTTY | O_CLOEXEC, 0666);
  if (fd < 0) refuse(path, std::strerror(errno), writing_remedy(errno));
  std::FILE* file = ::fdopen(fd, "w");
  ::fcntl(fd, F_SETFL, O_WRONLY | O_APPEND);
  return file;
}

void check_kind(const std::string& path, int fd) {
  struct stat info {};
  if (::fstat(fd, &info) != 0) refuse(path, std::strerror(errno));
  if (S_ISBLK(info.st_mode)) refuse(path, "it is a disk", "name a file");
  if (S_ISREG(info.st_mode) && ::flock(fd, LOCK_EX | LOCK_NB) != 0 && errno == EWOULDBLOCK)
    refuse(path, "another run is writing it", "name another file");
  if (S_ISREG(info.st_mode) && !is_log_or_empty(path))
    refuse(path, "it is a file of another kind than a log", "name another file, or remove this one first");
}

// Whether the path still leads to the log, and no other process has replaced it.
bool is_still_there(const std::string& path, int fd) {
  struct stat open {
  }, now{};
  if (::fstat(fd, &open) != 0 || !S_ISREG(open.st_mode)) return true;
  return ::stat(path.c_str(), &now) == 0 && now.st_dev == open.st_dev && now.st_ino == open.st_ino &&
         is_log_or_empty(path);
}

}  // namespace

RunLog::RunLog(const std::string& path)
    : path_(path),
      file_(path.empty() ? nullptr : open_log(path), std::fclose),
      begin_(std::chrono::steady_clock::now()) {
  if (file_ && !is_standard_output()) check_kind(path_, ::fileno(file_.get()));
}

namespace {

// The number behind a key of JSON that was found at `at`; 0 where it was not.
template <class Number>
Number number_behind(std::string_view key, std::string_view text, size_t at) {
  Number number = 0;
  if (at != std::string_view::npos) std::from_chars(text.data() + at + key.size(), text.data() + text.size(), number);
  return number;
}

int64_t step_of(std::string_view line) {
  constexpr std::string_view kKey = "\"step\": ";
  return number_behind<int64_t>(kKey, line, line.find(kKey));
}

// The time that the last line tells.
double last_time(std::string_view text) {
  constexpr std::string_view kKey = "\"at\": ";
  return number_behind<double>(kKey, text, text.rfind(kKey));
}

bool stays(std::string_view line, int64_t step) {
  if (!line.starts_with(kBegin) || !line.ends_with("}\n")) return false;
  const std::string_view name = line.substr(kBegin.size());
  return !name.starts_with("\"step\"") && !name.starts_with("\"epoch\"") && step_of(line) <= step;
}

// The lines after a checkpoint of step `step` that are kept.
std::string staying_lines(const std::string& tail, int64_t step) {
  std::string kept;
  for (size_t at = 0, end = 0; (end = tail.find('\n', at)) != std::string::npos; at = end + 1) {
    const std::string line = tail.substr(at, end + 1 - at);
    if (stays(line, step)) kept += line;
  }
  return kept;
}

std::string read_from(const std::string& path, int64_t offset) {
  std::ifstream in(path, std::ios::binary);
  in.seekg(offset);
  return {std::istreambuf_iterator<char>(in), {}};
}

}  // namespace

void RunLog::go_on(int64_t bytes, int64_t step, double seconds) {
  before_ = seconds, last_step_ = step;
  if (!file_) return;
  const int fd = ::fileno(file_.get());
  struct stat info {};
  if (::fstat(fd, &info) != 0 || !S_ISREG(info.st_mode)) return;
  // If the log was shortened, continue after its last complete line.
  const std::string all = read_from(path_, 0);
  const auto whole = static_cast<int64_t>(all.rfind('\n') == std::string::npos ? 0 : all.rfind('\n') + 1);
  const int64_t kept = std::min(bytes, whole);
  const std::string tail = staying_lines(all.substr(static_cast<size_t>(kept)), step);
  if (::ftruncate(fd, kept) != 0) note_failure();
  begun_ = kept > 0 || !tail.empty();
  before_ = std::max(before_, last_time(tail.empty() ? all.substr(0, static_cast<size_t>(kept)) : tail));
  if (std::fwrite(tail.data(), 1, tail.size(), file_.get()) != tail.size()) note_failure();
}

int64_t RunLog::sync() {
  const std::lock_guard lock(*mutex_);
  if (!file_) return 0;
  if (std::fflush(file_.get()) != 0 || ::fsync(::fileno(file_.get())) != 0)
    if (errno != EINVAL) note_failure();
  struct stat info {};
  return ::fstat(::fileno(file_.get()), &info) == 0 && S_ISREG(info.st_mode) ? info.st_size : 0;
}

int64_t RunLog::last_step() const {
  const std::lock_guard lock(*mutex_);
  return last_step_;
}

void RunLog::end(JsonObject fields) {
  const std::lock_guard lock(*mutex_);
  event("end", fields.integer("steps", last_step_));
}

bool RunLog::ended() const {
  const std::lock_guard lock(*mutex_);
  return ended_;
}

void RunLog::event(const std::string& name, JsonObject fields) {
  const std::lock_guard lock(*mutex_);
  if (std::exchange(ended_, ended_ || name == "end") || !file_ || failure_ != 0) return;
  if (is_standard_output()) begun_ = true;  // it is never emptied: others write there, too
  if (!begun_ && !is_still_there(path_, ::fileno(file_.get()))) refuse(path_, kTaken, kTakenHelp);
  if (!std::exchange(begun_, true) && ::ftruncate(::fileno(file_.get()), 0) != 0 && errno != EINVAL) note_failure();
  JsonObject line;
  line.text("event", name);
  fields.number("at", before_ + std::chrono::duration<double>(std::chrono::steady_clock::now() - begin_).count());
  const std::string rest = fields.str();
  const std::string head = line.str();
  const std::string text = head.substr(0, head.size() - 1) + ", " + rest.substr(1) + "\n";
  if (std::fwrite(text.data(), 1, text.size(), file_.get()) != text.size()) note_failure();
}

void RunLog::note_failure() {
  if (failure_ == 0) failure_ = errno;
}

void RunLog::moved_to(const std::string& path) {
  const std::lock_guard lock(*mutex_);
  path_ = path;
}

void RunLog::finish() {
  const std::lock_guard lock(*mutex_);
  if (!file_) return;
  if (std::fflush(file_.get()) != 0) note_failure();
  if (!is_standard_output() && !is_still_there(path_, ::fileno(file_.get()))) refuse(path_, kTaken, kTakenHelp);
  if (std::fclose(file_.release()) != 0) note_failure();
  if (failure_ != 0)
    refuse(is_standard_output() ? "standard output" : path_, std::strerror(failure_),
           "the log is not complete; the run itself is");
}

void RunLog::step(const StepEvent& e, std::optional<double> lr) {
  const std::lock_guard lock(*mutex_);
  last_step_ = e.total_step;
  JsonObject fields;
  fields.integer("step", e.total_step).integer("epoch", e.epoch).number("loss", e.loss);
  if (lr) fields.number("lr", *lr);
  if (e.gradient_norm) fields.number("gradient_norm", *e.gradient_norm);
  if (e.loss_scale) fields.number("loss_scale", *e.loss_scale);
  if (e.skipped) fields.raw("skipped", "true");
  event("step", fields);
}

void RunLog::epoch(const EpochEvent& e, std::optional<double> lr) {
  const std::lock_guard lock(*mutex_);
  JsonObject fields;
  fields.integer("epoch", e.epoch).integer("step", e.total_step);
  if (lr) fields.number("lr", *lr);
  fields.raw("train", metrics_json(e.train));
  if (e.validation) fields.raw("validation", metrics_json(*e.validation));
  event("epoch", fields);
  if (file_ && std::fflush(file_.get()) != 0) note_failure();
}

namespace {

// A number, a list of numbers, or a list of such lists, from the axis on; `next` is the number that comes next.
std::string json_of(const MetricValue& v, size_t axis, size_t& next) {
  if (v.dims.empty()) return json_number(v.value);
  if (axis == v.dims.size()) return json_number(v.values.at(next++));
  std::vector<std::string> items;
  for (int64_t i = 0; i < v.dims[axis]; ++i) items.push_back(json_of(v, axis + 1, next));
  return json_list(items);
}

}  // namespace

std::string metrics_json(const MetricValues& values) {
  JsonObject object;
  for (const MetricValue& v : values) {
    size_t next = 0;
    object.raw(v.name, json_of(v, 0, next));
  }
  return object.str();
}

}  // namespace heddle::runtime
