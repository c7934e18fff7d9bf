#include "ir/kernel/kernel_schedule.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <concepts>
#include <utility>

#include "ir/check.h"
#include "ir/kernel/schedule_def.h"
#include "ir/visit.h"

namespace heddle::ir {
namespace {

constexpr std::array<const char*, 4> kPrecisions = {"f32", "tf32", "bf16", "f16"};

}  // namespace

std::string to_string(ProductPrecision precision) { return kPrecisions.at(static_cast<size_t>(precision)); }

ProductPrecision parse_precision(const std::string& text) {
  const auto* const found = std::find(kPrecisions.begin(), kPrecisions.end(), text);
  if (found == kPrecisions.end())
    throw InferError(fmt::format("kernel schedule: precision is {}, expected f32, tf32, bf16 or f16", text));
  return static_cast<ProductPrecision>(found - kPrecisions.begin());
}

int64_t schedules::OverDomain::rows() const {
  return product({domain.begin(), domain.begin() + std::min(split, static_cast<int64_t>(domain.size()))});
}

int64_t schedules::OverDomain::columns() const {
  return product({domain.begin() + std::min(split, static_cast<int64_t>(domain.size())), domain.end()});
}

const schedules::Generated& generated(const KernelSchedule& schedule) {
  const schedules::Generated* found = visit_schedule(
      schedule, [](const schedules::LibraryCall&) -> const schedules::Generated* { return nullptr; },
      [](const schedules::Generated& f) { return &f; });
  HEDDLE_CHECK(found != nullptr, "a library's call has no text");
  return *found;
}

const schedules::OverDomain* over_domain(const KernelSchedule& schedule) {
  return std::visit(
      []<class Schedule>(const Schedule& f) -> const schedules::OverDomain* {
        if constexpr (std::derived_from<Schedule, schedules::OverDomain>)
          return &f;
        else
          return nullptr;
      },
      schedule.how);
}

ThreadWork thread_work(const KernelSchedule& schedule) {
  return std::visit(
      [](const auto& f) {
        ThreadWork work;
        if constexpr (requires { f.team; }) work.team = f.team;
        if constexpr (requires { f.vector_width; }) work.vector_width = f.vector_width;
        if constexpr (requires { f.prefetch_distance; }) work.prefetch_distance = f.prefetch_distance;
        return work;
      },
      schedule.how);
}

const ScheduleTraits& traits_of(const KernelSchedule& schedule) {
  return std::visit([](const auto& f) -> const ScheduleTraits& { return f.def().traits; }, schedule.how);
}

std::string to_string(const KernelSchedule& schedule) {
  return visit_schedule(
      schedule,
      [](const schedules::LibraryCall& call) { return std::string(call.contraction ? "contract" : "opaque"); },
      [](const auto& f) { return std::string(f.def().name); });
}

namespace {

template <class T>
const T& expect(const std::string& name, const Attr& value) {
  if (const T* v = std::get_if<T>(&value)) return *v;
  throw InferError(fmt::format("kernel schedule: {} = {} is of the wrong type", name, to_string(value)));
}

// --- one attribute ---

template <class Schedule, class T>
void read(const Attribute<Schedule>& a, const Attr& value, T& to) {
  to = expect<T>(a.name, value);
}
template <class Schedule>
void read(const Attribute<Schedule>& a, const Attr& value, ProductPrecision& to) {
  to = parse_precision(expect<std::string>(a.name, value));
}
template <class Schedule>
void read(const Attribute<Schedule>& a, const Attr& value, int64_t& to) {
  to = expect<int64_t>(a.name, value);
  if (to < a.least)
    throw InferError(fmt::format("kernel schedule: {} is {}, expected at least {}", a.name, to, a.least));
  if (to > a.most) throw InferError(fmt::format("kernel schedule: {} is {}, expected at most {}", a.name, to, a.most));
}

template <class T>
Attr attr(const T& value) {
  return value;
}
Attr attr(ProductPrecision value) { return to_string(value); }

// --- all of them ---

const Attributes<KernelSchedule>& of_every_schedule() {
  constexpr int64_t kMostScratch = int64_t{1} << 48;
  static const Attributes<KernelSchedule> all = {{"workspace", &KernelSchedule::workspace, 0, kMostScratch}};
  return all;
}

// Sets the attribute where the schedule has it.
template <class Schedule>
bool set(Schedule& schedule, const Attributes<Schedule>& all, const std::string& name, const Attr& value) {
  const auto a =
      std::find_if(all.begin(), all.end(), [&](const Attribute<Schedule>& known) { return name == known.name; });
  if (a == all.end()) return false;
  std::visit([&](auto member) { read(*a, value, schedule.*member); }, a->member);
  return true;
}
bool set(KernelSchedule& schedule, const std::string& name, const Attr& value) {
  return set(schedule, of_every_schedule(), name, value) ||
         std::visit([&](auto& f) { return set(f, f.def().attributes, name, value); }, schedule.how);
}

template <class Schedule>
void print(const Schedule& schedule, const Attributes<Schedule>& all, Attrs& to) {
  static const Schedule defaults;
  for (const Attribute<Schedule>& a : all)
    std::visit(
        [&](auto member) {
          if (schedule.*member != defaults.*member) to[a.name] = attr(schedule.*member);
        },
        a.member);
}

using How = decltype(KernelSchedule::how);
template <size_t... I>
std::vector<KernelSchedule> each_schedule(std::index_sequence<I...>) {
  return {KernelSchedule{.how = std::variant_alternative_t<I, How>{}}...};
}
std::vector<KernelSchedule> each_schedule() {
  return each_schedule(std::make_index_sequence<std::variant_size_v<How>>());
}

KernelSchedule schedule_named(const std::string& text) {
  std::vector<std::string> names;
  for (const KernelSchedule& schedule : each_schedule()) {
    if (text == to_string(schedule)) return schedule;
    names.push_back(to_string(schedule));
  }
  const std::string hint = did_you_mean(text, names);
  throw InferError(fmt::format("kernel schedule '{}' is unknown{}", text, hint.empty() ? "" : "; " + hint));
}

// The first schedule that has the attribute, with this value.
KernelSchedule schedule_with(const std::string& name, const Attr& value) {
  for (KernelSchedule schedule : each_schedule())
    if (set(schedule, name, value)) return schedule;
  throw InferError(fmt::format("kernel schedule has no field '{}'", name));
}

void check_domain(const Dims& domain) {
  constexpr int64_t kMostPoints = int64_t{1} << 40;
  int64_t points = 1;
  for (const int64_t extent : domain) {
    if (extent < 1)
      throw InferError(fmt::format("kernel schedule: domain {} has an extent below 1", to_string(domain)));
    if (__builtin_mul_overflow(points, extent, &points) || points > kMostPoints)
      throw InferError(fmt::format("kernel schedule: domain {} has more than 2^40 points", to_string(domain)));
  }
}

void check_tile(const Dims& tile) {
  constexpr int64_t kMostSide = 1024;
  const bool sides = std::all_of(tile.begin(), tile.end(), [](int64_t s) { return s > 0 && s <= kMostSide; });
  if (!tile.empty() && (tile.size() != 3 || !sides))
    throw InferError(fmt::format("kernel schedule: tile is {}, expected rows, columns and depth, each of 1 to {}",
                                 to_string(tile), kMostSide));
}

// Whatever the schedule: what it does not have is refused later, but makes sense.
void check_attributes(const Attrs& attrs) {
  for (const auto& [name, value] : attrs)
    if (name == "schedule")
      schedule_named(expect<std::string>(name, value));
    else
      schedule_with(name, value);
  const auto index = value_or<int64_t>(attrs, "index", 32), split = value_or<int64_t>(attrs, "split", 0);
  if (index != 32 && index != 64)
    throw InferError(fmt::format("kernel schedule: index is {}, expected 32 or 64 bits", index));
  const auto domain = value_or<Dims>(attrs, "domain", {});
  check_domain(domain);
  check_tile(value_or<Dims>(attrs, "tile", {}));
  if (split > std::ssize(domain))
    throw InferError(fmt::format("kernel schedule: split {} is beyond the domain {}", split, to_string(domain)));
}

}  // namespace

Attrs to_attrs(const KernelSchedule& schedule) {
  Attrs attrs = schedule.misplaced;
  attrs["schedule"] = to_string(schedule);
  print(schedule, of_every_schedule(), attrs);
  std::visit([&](const auto& f) { print(f, f.def().attributes, attrs); }, schedule.how);
  return attrs;
}

KernelSchedule schedule_from_attrs(const Attrs& attrs) {
  if (!attrs.contains("schedule")) throw InferError("a kernel needs a schedule");
  check_attributes(attrs);
  KernelSchedule schedule = schedule_named(std::get<std::string>(attrs.at("schedule")));
  // A library's product has the name of one through tiles.
  if (std::holds_alternative<schedules::Product>(schedule.how) && !value_or<std::string>(attrs, "impl", "").empty())
    schedule.how = schedules::LibraryCall{.contraction = true, .impl = ""};
  for (const auto& [name, value] : attrs) {
    if (name == "schedule" || set(schedule, name, value)) continue;
    const Attrs others = to_attrs(schedule_with(name, value));  // without the attribute where it says what is so anyway
    if (others.contains(name)) schedule.misplaced[name] = value;
  }
  return schedule;
}

}  // namespace heddle::ir
