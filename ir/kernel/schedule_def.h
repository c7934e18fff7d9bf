// KernelScheduleDef: a schedule of kernels: its attributes, how a kernel is planned, and what it does. Each has a
// file in ir/schedules. A new schedule is that file, an alternative in kernel_schedule.h, and the place in `fuse`
// that chooses it: three files.
//
//   pointwise   plan: a space in which every access is affine    loops: all threads share the points, and store results
#pragma once
#include "ir/loop/loops.h"

namespace heddle::ir {

// An attribute as the text of a kernel has it. Of an integer, between `least` and `most` lies what
// makes sense. Sizes in bytes that follow from integers at their most fit in 64 bits.
template <class Schedule>
struct Attribute {
  const char* name;
  std::variant<bool Schedule::*, int64_t Schedule::*, std::string Schedule::*, Dims Schedule::*,
               ProductPrecision Schedule::*>
      member;
  int64_t least = 0, most = 0;
};
template <class Schedule>
using Attributes = std::vector<Attribute<Schedule>>;

inline constexpr int64_t kMostThreads = 1024, kMostAtOnce = 65535;  // what CUDA takes, whatever the device

// Those of every schedule whose text is generated, and of every schedule with a domain, before its own.
template <class Schedule>
Attributes<Schedule> of_generated(Attributes<Schedule> own) {
  own.insert(own.begin(), {{"threads", &Schedule::threads, 1, kMostThreads}, {"index", &Schedule::index, 32, 64}});
  return own;
}
template <class Schedule>
Attributes<Schedule> of_domain(Attributes<Schedule> own) {
  own.insert(own.begin(), {{"domain", &Schedule::domain}, {"split", &Schedule::split, 0, 64}});
  return of_generated(std::move(own));
}

// Where a kernel's result may lie.
enum class WritesOver {
  nothing,
  operand,  // over the operator's first operand, where the operator says so
  planned   // over any operand of which the plan shows that each element is read before it is written
};

// What the compiler asks of a schedule, whichever it is.
struct ScheduleTraits {
  bool points_as_they_lie = true;  // threads take neighbouring points: a transposed operand is read across its lines
  bool packets = true;             // a thread may take several elements at once: vector_width
  WritesOver writes_over = WritesOver::planned;
};
const ScheduleTraits& traits_of(const KernelSchedule& schedule);

template <class Schedule>
struct KernelScheduleDef {
  const char* name;
  Attributes<Schedule> attributes;
  // Throws Refusal. None of a library's call, which has no loops either.
  KernelPlan (*plan)(const Graph& kernel, const Schedule& schedule) = nullptr;
  loop::Statements (*loops)(const Graph& kernel, const Schedule& schedule, const KernelPlan& plan) = nullptr;
  ScheduleTraits traits = {};
};

}  // namespace heddle::ir
