// KernelScheduleDef: a schedule of kernels: its attributes, how a kernel is planned, and what it does. Each has a
// file in ir/schedules. A new schedule is a file, an alternative of KernelSchedule, and the place in `fuse`
// that chooses it.
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

template <class Schedule>
struct KernelScheduleDef {
  const char* name;
  Attributes<Schedule> attributes;
  // Throws Refusal. None of a library's call, which has no loops either.
  KernelPlan (*plan)(const Graph& kernel, const Schedule& schedule) = nullptr;
  loop::Statements (*loops)(const Graph& kernel, const Schedule& schedule, const KernelPlan& plan) = nullptr;
};

const KernelScheduleDef<schedules::Pointwise>& schedule_def(const schedules::Pointwise& schedule);
const KernelScheduleDef<schedules::Rows>& schedule_def(const schedules::Rows& schedule);
const KernelScheduleDef<schedules::Tile>& schedule_def(const schedules::Tile& schedule);
const KernelScheduleDef<schedules::Primitive>& schedule_def(const schedules::Primitive& schedule);
const KernelScheduleDef<schedules::Product>& schedule_def(const schedules::Product& schedule);
const KernelScheduleDef<schedules::LibraryCall>& schedule_def(const schedules::LibraryCall& schedule);

}  // namespace heddle::ir
