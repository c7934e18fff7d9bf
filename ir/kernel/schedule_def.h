// KernelScheduleDef: the definition of a kernel schedule: its attributes, and the functions that plan a kernel and make
// its loops. Each schedule has a file in ir/schedules. To add a schedule, write that file, add an alternative in
// kernel_schedule.h, and let `fuse` choose it.
//
//   pointwise   plan: a space in which every access is affine    loops: all threads share the points, and store results
#pragma once
#include "ir/loop/loops.h"

namespace heddle::ir {

// An attribute of a schedule in IR text. An integer must lie between `least` and `most`. These limits are such that
// sizes in bytes computed from the integers fit in 64 bits.
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

inline constexpr int64_t kMostThreads = 1024, kMostAtOnce = 65535;  // limits of CUDA on all devices

// Puts the attributes of every schedule with generated text (or with a domain) before the schedule's own.
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

// The operands over which a kernel's result may be written.
enum class WritesOver {
  nothing,
  operand,  // the operator's first operand, if the operator declares it
  planned   // any operand whose elements, according to the plan, are all read before they are written
};

// Facts about a schedule that passes ask for.
struct ScheduleTraits {
  bool points_as_they_lie = true;  // neighbouring threads take neighbouring points, so transposed operands are strided
  bool packets = true;             // a thread may take several elements at once: vector_width
  WritesOver writes_over = WritesOver::planned;
};
const ScheduleTraits& traits_of(const KernelSchedule& schedule);

template <class Schedule>
struct KernelScheduleDef {
  const char* name;
  Attributes<Schedule> attributes;
  // `plan` throws Refusal. Both are null for a library call.
  KernelPlan (*plan)(const Graph& kernel, const Schedule& schedule) = nullptr;
  loop::Statements (*loops)(const Graph& kernel, const Schedule& schedule, const KernelPlan& plan) = nullptr;
  ScheduleTraits traits = {};
};

}  // namespace heddle::ir
