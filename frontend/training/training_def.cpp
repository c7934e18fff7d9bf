#include "frontend/training/training_def.h"

#include <fmt/format.h>

namespace heddle::frontend {

using ir::ValueId;

ValueId MeasureContext::emit(std::string_view op, const ir::Values& operands, ir::Attrs attrs,
                             std::string_view suffix) {
  return b(op, operands, std::move(attrs), fmt::format("{}.{}", name, suffix.empty() ? op : suffix));
}

ValueId MeasureContext::count(double n) {
  b.prefix = name + ".elements";
  return b.constant(n, {ir::DType::f32, {}});
}

ValueId UpdateContext::emit(std::string_view op, const ir::Values& operands, std::string_view suffix) {
  return b(op, operands, {}, fmt::format("{}.{}", path, suffix));
}

ValueId UpdateContext::scaled(ValueId v, double factor, std::string_view suffix) {
  b.prefix = fmt::format("{}.{}.factor", path, suffix);
  return emit("mul", {v, b.like(factor, v)}, suffix);
}

ValueId UpdateContext::spread(ValueId scalar, std::string_view suffix) {
  const ir::Dims dims = b.type(parameter).dims;
  if (dims.empty()) return scalar;
  return b("broadcast", {scalar}, {{"shape", dims}}, fmt::format("{}.{}", path, suffix));
}

}  // namespace heddle::frontend
