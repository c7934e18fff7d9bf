// Parts of update rules that several optimizers have.
#pragma once
#include <string>
#include <vector>

#include "frontend/training/training_def.h"

namespace heddle::frontend {

// Coupled decay: the gradient of the penalty joins the gradient.
ir::ValueId with_decay(UpdateContext& c);
// Decoupled decay: the parameter without its lr * decay-th part, apart from the gradient.
ir::ValueId shrunk(UpdateContext& c);
// old * share + fresh * (1 - share)
ir::ValueId moving_average(UpdateContext& c, ir::ValueId old, ir::ValueId fresh, double share, const std::string& name);
// sqrt(v) + eps
ir::ValueId root_and_eps(UpdateContext& c, ir::ValueId v);
// parameter - direction * rate; `rate` is a number of the whole step.
ir::ValueId stepped(UpdateContext& c, ir::ValueId parameter, ir::ValueId direction, ir::ValueId rate);

// 1 - beta^t at t = step + 1, as -expm1(t log beta): exact to the last bits in f32 where 1 - pow would lose most of
// them. 1 where nothing is kept.
ir::ValueId bias_correction(UpdateContext& c, double beta, const std::string& name, ir::DType dtype = ir::DType::f32);
// t = step + 1
ir::ValueId step_number(UpdateContext& c, const std::string& name, ir::DType dtype);
// step, by way of t: what reads the number as it was keeps it from being renewed in place where dropout reads it, too.
ir::ValueId finished_steps(UpdateContext& c, ir::DType dtype);
// Numbers of the whole step that lose too much in f32 are made in f64: lr there, and their way back.
ir::ValueId wide_rate(UpdateContext& c);
ir::ValueId narrow(UpdateContext& c, ir::ValueId v, const std::string& name);

struct Betas {
  double first = 0.9, second = 0.999;
};
Betas betas_of(const Settings& settings, const Betas& fallback = {});
void check_betas(const Settings& settings);  // that they are two

// The moments' settings, "betas" and "eps".
std::vector<Key> moment_settings(double eps = 1e-8);
std::vector<std::string> moments(const Settings&);  // {"m", "v"}

}  // namespace heddle::frontend
