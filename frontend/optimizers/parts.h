// Parts of update rules that several optimizers share.
#pragma once
#include <string>
#include <vector>

#include "frontend/training/training_def.h"

namespace heddle::frontend {

// Coupled weight decay: gradient + decay * parameter.
ir::ValueId with_decay(UpdateContext& c);
// Decoupled weight decay: parameter - lr * decay * parameter.
ir::ValueId shrunk(UpdateContext& c);
// old * share + fresh * (1 - share)
ir::ValueId moving_average(UpdateContext& c, ir::ValueId old, ir::ValueId fresh, double share, const std::string& name);
// sqrt(v) + eps
ir::ValueId root_and_eps(UpdateContext& c, ir::ValueId v);
// parameter - direction * rate. `rate` is a scalar that is the same for all parameters.
ir::ValueId stepped(UpdateContext& c, ir::ValueId parameter, ir::ValueId direction, ir::ValueId rate);

// 1 - beta^t at t = step + 1, computed as -expm1(t log beta), which is accurate in f32 where 1 - pow would lose most
// bits. 1 if beta is 0.
ir::ValueId bias_correction(UpdateContext& c, double beta, const std::string& name, ir::DType dtype = ir::DType::f32);
// t = step + 1
ir::ValueId step_number(UpdateContext& c, const std::string& name, ir::DType dtype);
// step, computed as t - 1. A direct read of the state `step` here could prevent its update in place, if dropout reads
// it, too.
ir::ValueId finished_steps(UpdateContext& c, ir::DType dtype);
// Scalars that are too inaccurate in f32 are computed in f64: lr as f64, and a cast of a result to f32.
ir::ValueId wide_rate(UpdateContext& c);
ir::ValueId narrow(UpdateContext& c, ir::ValueId v, const std::string& name);

struct Betas {
  double first = 0.9, second = 0.999;
};
Betas betas_of(const Settings& settings, const Betas& fallback = {});
void check_betas(const Settings& settings);  // checks that there are two

// The keys "betas" and "eps".
std::vector<Key> moment_settings(double eps = 1e-8);
std::vector<std::string> moments(const Settings&);  // the states {"m", "v"}

}  // namespace heddle::frontend
