// Parts of learning-rate schedules: checked settings, warm-up, and curves over the steps after it.
#pragma once
#include <functional>
#include <string>

#include "frontend/training/training_def.h"

namespace heddle::frontend {

// A setting that is a learning rate. Throws UserError if it is negative or does not fit into f32.
double rate(const ScheduleContext& c, const std::string& name);
double warmup_steps(const ScheduleContext& c);
// The number of steps after the warm-up. Throws UserError if there are none.
double length_after(const ScheduleContext& c, double warmup);

ir::ValueId since(ScheduleContext& c, double warmup);  // step - warmup; negative during the warm-up
// (step - warmup) / length, clamped to [0, 1]
ir::ValueId share_of(ScheduleContext& c, double warmup, double length);
// peak * (step + 1) / (warmup + 1) during the warm-up, then `after`.
ir::ValueId with_warmup(ScheduleContext& c, double warmup, double peak, ir::ValueId after);
// low + (peak - low) (1 + cos(pi t)) / 2
ir::ValueId half_cosine(ScheduleContext& c, ir::ValueId t, double peak, double low);
// peak + (low - peak) t
ir::ValueId ramp(ScheduleContext& c, ir::ValueId t, double peak, double low);

// The rate from "peak" to "min" over all steps after "warmup", along a curve with t from 0 to 1.
using Curve = std::function<ir::ValueId(ScheduleContext& c, ir::ValueId t, double peak, double low)>;
ir::ValueId over_training(ScheduleContext& c, const Curve& curve);
// value * gamma^times
ir::ValueId decayed(ScheduleContext& c, double value, double gamma, ir::ValueId times, const std::string& name);

Key warmup_setting();
Key rate_setting(const std::string& name, const std::string& doc, ir::KeyRange range = {});  // a required key
Key low_setting(const std::string& doc);                                                     // "min", default 0

}  // namespace heddle::frontend
