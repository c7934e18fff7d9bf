#include "runtime/executable.h"

#include <fmt/format.h>

#include <algorithm>

#include "ir/check.h"
#include "ir/diagnostic.h"

namespace heddle::runtime {
namespace {

// Checks what devices rely on: that no step accesses memory outside of the segments.
void require_inside(const codegen::Program& program, const codegen::Entry& entry) {
  for (const codegen::Step& step : entry.steps)
    for (const codegen::Argument& a : codegen::touched_by(step)) {
      const int64_t size = program.bytes_of(a.at.segment);
      HEDDLE_CHECK(a.at.offset >= 0 && a.bytes >= 0 && a.at.offset <= size - a.bytes,
                   fmt::format("a step of '{}' touches {} bytes at {} of {}", entry.name, a.bytes, a.at.offset, size));
    }
}

}  // namespace

Executable::Executable(const codegen::Program& program, Device& device) : program_(program), device_(device) {
  for (const codegen::Entry& entry : program.entries) require_inside(program, entry);
  try {
    for (size_t i = 0; i < codegen::kSegments; ++i) {
      const auto segment = static_cast<codegen::Segment>(i);
      segments_[i] = device_.allocate(std::max<int64_t>(program.bytes_of(segment), 1),
                                      segment == codegen::Segment::ring ? Memory::shared : Memory::device);
    }
    device_.load(program, segments_);
  } catch (...) {
    release();
    throw;
  }
}

Executable::~Executable() {
  try {
    if (submitted_ > 0) device_.wait(submitted_);
  } catch (const UserError&) {  // a device that has failed executes nothing more
  }
  release();
}

void Executable::release() {
  for (void* segment : segments_)
    if (segment != nullptr) device_.release(segment);
}

void* Executable::locate(const codegen::Address& at) const {
  return static_cast<char*>(segments_[static_cast<size_t>(at.segment)]) + at.offset;
}

size_t Executable::index_of(const codegen::Entry& entry) const {
  const auto index = &entry - program_.entries.data();
  HEDDLE_CHECK(index >= 0 && index < std::ssize(program_.entries),
               fmt::format("entry '{}' of another program", entry.name));
  return static_cast<size_t>(index);
}

void Executable::run(const codegen::Entry& entry) { wait(submit(entry, 1)); }

// Checks that fed entries do not read beyond the rows provided.
void Executable::take_rows(const codegen::Entry& entry, int64_t repeats) {
  HEDDLE_CHECK(entry.fed_rows * repeats <= rows_, "entry '" + entry.name + "' reads rows that were provided");
  rows_ -= entry.fed_rows * repeats;
}

uint64_t Executable::submit(const codegen::Entry& entry, int64_t repeats) {
  take_rows(entry, repeats);
  return submitted_ = device_.submit(index_of(entry), repeats);
}

StepProfile Executable::profile(const codegen::Entry& entry, int64_t repeats, bool spans) {
  take_rows(entry, repeats);
  return device_.profile(index_of(entry), repeats, spans);
}

void Executable::write(const codegen::Buffer& buffer, const void* from) {
  device_.write(locate(buffer.at), from, buffer.bytes);
}

void Executable::write(const codegen::Address& at, const void* from, int64_t bytes) {
  device_.write(locate(at), from, bytes);
}

const uint64_t* Executable::ring() const {
  return static_cast<const uint64_t*>(segments_[static_cast<size_t>(codegen::Segment::ring)]);
}

void Executable::read(const codegen::Buffer& buffer, void* to) { device_.read(to, locate(buffer.at), buffer.bytes); }

void* Executable::host_address(const codegen::Buffer& buffer) {
  return device_.host_addressable() ? locate(buffer.at) : nullptr;
}

}  // namespace heddle::runtime
