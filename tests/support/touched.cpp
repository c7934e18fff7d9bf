#include "tests/support/touched.h"

#include <fmt/format.h>

#include <cstring>

#include "runtime/host/host_device.h"

namespace heddle::testing {
namespace {

using codegen::Access;
using codegen::Argument;
using codegen::Segment;
using Bytes = std::vector<std::byte>;  // of the state segment, then of the arena

constexpr std::byte kPoison{0xFF};  // nan, and -1

// Each step of the entry as an entry of its own.
codegen::Program by_step(const codegen::Program& program, const codegen::Entry& entry) {
  codegen::Program out = program;
  out.entries.clear();
  for (const codegen::Step& step : entry.steps) {
    codegen::Entry one;
    one.name = fmt::format("{}, step {}", entry.name, out.entries.size());
    one.steps = {step};
    out.entries.push_back(std::move(one));
  }
  return out;
}

class Stepper {
 public:
  Stepper(const codegen::Program& program, const codegen::Entry& entry)
      : program_(by_step(program, entry)),
        device_({.threads = 2, .kernel_cache = {}}),
        executable_(program_, device_) {}

  std::string run(const std::function<void(runtime::Executable&)>& fill) {
    store(Bytes(static_cast<size_t>(program_.state_bytes + program_.arena_bytes), std::byte{0}));
    fill(executable_);
    for (const codegen::Entry& step : program_.entries)
      if (std::string fault = check(step); !fault.empty()) return step.name + fault;
    return {};
  }

 private:
  std::byte* segment(Segment s) {
    codegen::Buffer first;
    first.at = {s, 0};
    return static_cast<std::byte*>(executable_.host_address(first));
  }
  Bytes load() {
    Bytes all(static_cast<size_t>(program_.state_bytes + program_.arena_bytes));
    std::memcpy(all.data(), segment(Segment::state), static_cast<size_t>(program_.state_bytes));
    std::memcpy(all.data() + program_.state_bytes, segment(Segment::arena), static_cast<size_t>(program_.arena_bytes));
    return all;
  }
  void store(const Bytes& all) {
    std::memcpy(segment(Segment::state), all.data(), static_cast<size_t>(program_.state_bytes));
    std::memcpy(segment(Segment::arena), all.data() + program_.state_bytes, static_cast<size_t>(program_.arena_bytes));
  }

  size_t begin(const Argument& a) const {
    return static_cast<size_t>(a.at.offset + (a.at.segment == Segment::state ? 0 : program_.state_bytes));
  }
  std::string place(size_t byte) const {
    const auto at = static_cast<int64_t>(byte);
    return at < program_.state_bytes ? fmt::format("state+{}", at) : fmt::format("arena+{}", at - program_.state_bytes);
  }
  // 1 for the bytes of `arguments` with the access or with both.
  Bytes mask(const std::vector<Argument>& arguments, Access access) const {
    Bytes all(static_cast<size_t>(program_.state_bytes + program_.arena_bytes), std::byte{0});
    for (const Argument& a : arguments)
      if (a.access == access || a.access == Access::read_write)
        std::memset(all.data() + begin(a), 1, static_cast<size_t>(a.bytes));
    return all;
  }

  Bytes run_on(const Bytes& memory, const codegen::Entry& step) {
    store(memory);
    executable_.run(step);
    return load();
  }

  std::string check(const codegen::Entry& step) {
    const std::vector<Argument> arguments = touched_by(step.steps[0]);
    const Bytes reads = mask(arguments, Access::read), writes = mask(arguments, Access::write);
    const Bytes before = load();
    Bytes poisoned = before;
    for (size_t i = 0; i < poisoned.size(); ++i)
      if (reads[i] == std::byte{0}) poisoned[i] = kPoison;
    const Bytes rest = run_on(poisoned, step), after = run_on(before, step);
    for (size_t i = 0; i < before.size(); ++i)
      if (writes[i] == std::byte{0} && (after[i] != before[i] || rest[i] != poisoned[i]))
        return fmt::format(": writes {}, which it does not name", place(i));
    for (const Argument& a : arguments)
      for (size_t i = begin(a); a.access == Access::write && i < begin(a) + static_cast<size_t>(a.bytes); ++i)
        if (after[i] != rest[i]) return fmt::format(": {} depends on memory that it does not name", place(i));
    return {};
  }

  codegen::Program program_;
  runtime::HostDevice device_;
  runtime::Executable executable_;
};

}  // namespace

std::string fault_of_touch(const codegen::Program& program, const codegen::Entry& entry,
                           const std::function<void(runtime::Executable&)>& fill) {
  return Stepper(program, entry).run(fill);
}

}  // namespace heddle::testing
