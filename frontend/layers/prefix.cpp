// Layers that combine each element with those before it.
#include "frontend/layer_context.h"

namespace heddle::frontend {
namespace {

ir::Values build(LayerContext& c, const std::string& op, bool exclusive) {
  const int64_t axis = c.read_axis();
  if (c.type(c.in[0]).dtype == ir::DType::boolean) c.fail("bool has no sums and no order", "cast it to i32");
  ir::Attrs attrs = {{"axis", axis}, {"reverse", c.settings.flag("reverse")}};
  if (exclusive) attrs["exclusive"] = c.settings.flag("exclusive");
  return {c.emit(op, {c.in[0]}, attrs)};
}

LayerDef prefix(const std::string& name, const std::string& doc, bool exclusive) {
  LayerDef def{.name = name,
               .doc = doc,
               .settings = {{.name = "axis", .doc = "counted from the end where negative", .fallback = int64_t{-1}},
                            {.name = "reverse",
                             .type = KeyType::flag,
                             .doc = "from the last element to the first",
                             .fallback = false}},
               .build = [name, exclusive](LayerContext& c) { return build(c, name, exclusive); }};
  if (exclusive)
    def.settings.push_back(
        {.name = "exclusive", .type = KeyType::flag, .doc = "without the element itself", .fallback = false});
  return def;
}

const RegisterLayer cumsum(prefix("cumsum", "the sum of the elements up to each one along an axis", true));
const RegisterLayer cumprod(prefix("cumprod", "the product of the elements up to each one along an axis", true));
const RegisterLayer cummax(prefix("cummax", "the largest element up to each one along an axis", false));
const RegisterLayer cummin(prefix("cummin", "the smallest element up to each one along an axis", false));

}  // namespace
}  // namespace heddle::frontend
