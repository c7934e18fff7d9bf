#include "frontend/initializer.h"

#include <fmt/format.h>

#include "frontend/keys/check_keys.h"
#include "frontend/layer_context.h"
#include "frontend/model.h"
#include "ir/check.h"

namespace heddle::frontend {

Fans fans(const ir::Dims& dims) {
  if (dims.empty()) return {};
  if (dims.size() == 1) return {static_cast<double>(dims[0]), static_cast<double>(dims[0])};
  double window = 1;
  for (size_t i = 2; i < dims.size(); ++i) window *= static_cast<double>(dims[i]);
  return {static_cast<double>(dims[1]) * window, static_cast<double>(dims[0]) * window};
}

Initializer make_initializer(const Part& part, const Scope& scope) {
  const InitializerDef* def = find_initializer(part.op);
  if (def == nullptr) {
    throw UserError(part.op_where, fmt::format("there is no initializer {}", quote(part.op)),
                    suggest(part.op, initializer_names()));
  }
  const std::string title = "initializer " + part.op;
  Diagnostics errors;
  check_keys({part.settings, part.nulls}, {def->settings}, {title, part.op_where, "setting"}, errors);
  errors.throw_if_any();
  const Settings settings(part.settings, def->settings, scope, title, part.op_where);
  Initializer init{.def = def, .values = {}, .words = {}};
  for (const Key& setting : def->settings) {
    if (setting.type == KeyType::text) {
      init.words[setting.name] = settings.text(setting.name);
      continue;
    }
    const double value = settings.real(setting.name);
    if (!fits(value, ir::DType::f32))
      settings.fail(setting.name, fmt::format("'{}' is not an f32: {}", setting.name, value));
    init.values[setting.name] = value;
  }
  if (def->check) def->check(settings);
  return init;
}

Initializer make_initializer(const std::string& name) {
  HEDDLE_CHECK(find_initializer(name) != nullptr, name);
  Part part;
  part.op = name;
  return make_initializer(part, {});
}

}  // namespace heddle::frontend
