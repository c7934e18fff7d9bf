// plateau, by torch.optim.lr_scheduler.ReduceLROnPlateau: at the end of each epoch the rate may fall.
#include <fmt/format.h>

#include <limits>

#include "frontend/schedules/parts.h"

namespace heddle::frontend {
namespace {

using ir::ValueId;

// The states, all 0 at first: epochs that have ended, the best measure, epochs without a better one, epochs of rest
// after the last fall, and the rate.
struct States {
  ValueId epochs, best, bad, rest, rate;
};
States states_of(const ScheduleContext& c) { return {c.states[0], c.states[1], c.states[2], c.states[3], c.states[4]}; }

ValueId emit(ScheduleContext& c, std::string_view op, const ir::Values& operands, const std::string& name) {
  return c.b(op, operands, {}, "lr." + name);
}
ValueId number(ScheduleContext& c, double value) { return c.b.constant(value, {ir::DType::f64, {}}); }

ValueId first_epoch(ScheduleContext& c) { return emit(c, "eq", {states_of(c).epochs, number(c, 0)}, "first"); }
ValueId current_rate(ScheduleContext& c) {
  return emit(c, "select", {first_epoch(c), number(c, rate(c, "value")), states_of(c).rate}, "current");
}

ValueId build(ScheduleContext& c) {
  c.b.prefix = "lr.constant";
  const double warmup = warmup_steps(c), value = rate(c, "value");
  const ValueId current = c.b("cast", {current_rate(c)}, {{"dtype", std::string("f32")}}, "lr.of_epoch");
  return with_warmup(c, warmup, value, current);
}

double not_negative(const ScheduleContext& c, const std::string& name) {
  const double value = c.settings.real(name);
  if (!(value >= 0)) c.settings.fail(name, fmt::format("'{}' must not be negative, is {}", name, value));
  return value;
}

bool is_least(const ScheduleContext& c) { return c.settings.text("mode") == "min"; }

// Better than the best by the threshold.
ValueId is_better(ScheduleContext& c, ValueId best) {
  const double threshold = not_negative(c, "threshold");
  const bool least = is_least(c), relative = c.settings.text("threshold_mode") == "rel";
  const double change = least ? -threshold : threshold;
  const ValueId limit = relative ? emit(c, "mul", {best, number(c, 1 + change)}, "limit")
                                 : emit(c, "add", {best, number(c, change)}, "limit");
  return emit(c, least ? "lt" : "gt", {c.measured, limit}, "better");
}

ir::Values after_epoch(ScheduleContext& c) {
  const States old = states_of(c);
  const double factor = c.settings.real("factor");
  if (!(factor > 0 && factor < 1)) c.settings.fail("factor", fmt::format("'factor' must lie in (0, 1), is {}", factor));
  const double worst = std::numeric_limits<double>::infinity() * (is_least(c) ? 1 : -1);
  const ValueId zero = number(c, 0), one = number(c, 1);
  const ValueId known = emit(c, "select", {first_epoch(c), number(c, worst), old.best}, "known");
  const ValueId better = is_better(c, known);
  const ValueId missed = emit(c, "select", {better, zero, emit(c, "add", {old.bad, one}, "missed")}, "bad_or_none");
  const ValueId resting = emit(c, "gt", {old.rest, zero}, "resting");
  const ValueId bad = emit(c, "select", {resting, zero, missed}, "bad_now");
  const ValueId rest = emit(c, "select", {resting, emit(c, "sub", {old.rest, one}, "rest_less"), zero}, "rest_now");
  const ValueId falls = emit(c, "gt", {bad, number(c, not_negative(c, "patience"))}, "falls");
  const ValueId current = current_rate(c);
  const ValueId times = emit(c, "mul", {current, number(c, factor)}, "times");
  const ValueId lower = emit(c, "max", {times, number(c, rate(c, "min"))}, "lower");
  const ValueId enough =
      emit(c, "gt", {emit(c, "sub", {current, lower}, "fall"), number(c, not_negative(c, "eps"))}, "enough");
  return {emit(c, "add", {old.epochs, one}, "epochs.next"), emit(c, "select", {better, c.measured, known}, "best.next"),
          emit(c, "select", {falls, zero, bad}, "bad.next"),
          emit(c, "select", {falls, number(c, not_negative(c, "cooldown")), rest}, "rest.next"),
          emit(c, "select", {emit(c, "and", {falls, enough}, "does_fall"), lower, current}, "rate.next")};
}

Key word(const std::string& name, const std::string& doc, const std::string& fallback,
         const std::vector<std::string>& words = {}) {
  return {.name = name, .type = KeyType::text, .doc = doc, .fallback = fallback, .words = words};
}
Key real(const std::string& name, const std::string& doc, double fallback) {
  return {.name = name, .type = KeyType::real, .doc = doc, .fallback = fallback};
}

const RegisterSchedule plateau(
    {.name = "plateau",
     .doc = "value, times factor after more than `patience` epochs without a better measure, as PyTorch's "
            "ReduceLROnPlateau",
     .settings = {rate_setting("value", "the first rate"),
                  word("on", "a loss or metric, of the validation", "loss"),
                  word("mode", "what is better: min or max", "min", {"min", "max"}),
                  real("factor", "of each fall", 0.1),
                  {.name = "patience", .doc = "epochs without a better measure", .fallback = int64_t{10}},
                  real("threshold", "by how much better is better", 1e-4),
                  word("threshold_mode", "rel or abs", "rel", {"rel", "abs"}),
                  {.name = "cooldown", .doc = "epochs after a fall that do not count", .fallback = int64_t{0}},
                  low_setting("the last rate"),
                  real("eps", "falls that are not larger are left out", 1e-8),
                  warmup_setting()},
     .build = build,
     .states = {"epochs", "best", "bad", "rest", "rate"},
     .after_epoch = after_epoch});

}  // namespace
}  // namespace heddle::frontend
