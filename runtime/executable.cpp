#include "runtime/executable.h"

#include <fmt/format.h>

#include <algorithm>

#include "ir/check.h"

namespace heddle::runtime {
namespace {

char* locate(void* state, void* arena, const codegen::Address& at) {
  return static_cast<char*>(at.segment == codegen::Segment::state ? state : arena) + at.offset;
}

// What a device relies on: no step touches memory outside of the segments.
void require_inside(const codegen::Program& program, const codegen::Entry& entry) {
  for (const codegen::Step& step : entry.steps)
    for (const codegen::Argument& a : codegen::touched_by(step)) {
      const int64_t size = a.at.segment == codegen::Segment::state ? program.state_bytes : program.arena_bytes;
      HEDDLE_CHECK(a.at.offset >= 0 && a.bytes >= 0 && a.at.offset <= size - a.bytes,
                   fmt::format("a step of '{}' touches {} bytes at {} of {}", entry.name, a.bytes, a.at.offset, size));
    }
}

}  // namespace

Executable::Executable(const codegen::Program& program, Device& device) : program_(program), device_(device) {
  for (const codegen::Entry& entry : program.entries) require_inside(program, entry);
  try {
    state_ = device_.allocate(std::max<int64_t>(program.state_bytes, 1));
    arena_ = device_.allocate(std::max<int64_t>(program.arena_bytes, 1));
    device_.load(program, state_, arena_);
  } catch (...) {
    release();
    throw;
  }
}

Executable::~Executable() { release(); }

void Executable::release() {
  if (arena_ != nullptr) device_.release(arena_);
  if (state_ != nullptr) device_.release(state_);
}

size_t Executable::index_of(const codegen::Entry& entry) const {
  const auto index = &entry - program_.entries.data();
  HEDDLE_CHECK(index >= 0 && index < std::ssize(program_.entries),
               fmt::format("entry '{}' of another program", entry.name));
  return static_cast<size_t>(index);
}

void Executable::run(const codegen::Entry& entry) { device_.run(index_of(entry)); }

std::vector<StepTime> Executable::profile(const codegen::Entry& entry, int repeats) {
  return device_.profile(index_of(entry), repeats);
}

void Executable::write(const codegen::Buffer& buffer, const void* from) {
  device_.write(locate(state_, arena_, buffer.at), from, buffer.bytes);
}

void Executable::read(const codegen::Buffer& buffer, void* to) {
  device_.read(to, locate(state_, arena_, buffer.at), buffer.bytes);
}

void* Executable::host_address(const codegen::Buffer& buffer) {
  return device_.host_addressable() ? locate(state_, arena_, buffer.at) : nullptr;
}

}  // namespace heddle::runtime
