// What an instance knows about its values; the model's inputs.
#include <fmt/format.h>

#include "frontend/instantiate/block_scope.h"
#include "frontend/instantiate/instantiate.h"
#include "frontend/keys/settings.h"
#include "frontend/limits.h"
#include "frontend/lora.h"

namespace heddle::frontend {

using ir::ValueId;

void check_size(const ir::Dims& dims, const Location& where, const std::string& what) {
  int64_t elements = 1;
  for (const int64_t size : dims) {
    if (size < 1) throw UserError(where, fmt::format("{}: {} is not a size", what, size));
    if (__builtin_mul_overflow(elements, size, &elements) || elements > kMaxElements) {
      throw UserError(where, fmt::format("{}: {} has more than {} elements", what, ir::to_string(dims), kMaxElements));
    }
  }
}

std::string Instance::body_name(const std::string& path) const {
  return fmt::format("{}.of_{}{}{}", path, batch, length > 0 ? fmt::format(".{}", length) : "",
                     training ? ".train" : "");
}

ValueId Instance::counter(const std::string& name) {
  const ValueId known = graph.find(name);
  return known.valid() ? known : graph.add_input(name, {ir::DType::i64, {}}, ir::Role::state);
}

UserError Instance::no_parameter(const Reference& reference) const {
  std::vector<std::string> known;
  for (const Parameter& p : parameters) known.push_back(p.path);
  return {reference.where, fmt::format("there is no parameter {}", quote(reference.name)),
          suggest_defined(reference.name, known)};
}

ValueId Instance::find(const Reference& reference) const {
  if (const auto it = values.find(reference.name); it != values.end()) return it->second;
  for (const Parameter& p : parameters) {
    if (p.path == reference.name) return p.value;
  }
  return {};
}

ValueId Instance::logical(ValueId v) {
  if (!v.valid()) return v;
  ir::Builder b(graph);
  b.loc = places[v];
  if (const auto found = adapted.find(v); found != adapted.end() && graph.def(v) == nullptr)
    return whole_weight(b, found->second);
  if (graph[v].layout.empty()) return v;
  const ValueId view =
      b("transpose", {v}, {{"perm", ir::inverse(graph[v].layout)}}, fmt::format("{}.logical", graph[v].name));
  made_by[view] = made_by[v];
  places[view] = places[v];
  return view;
}

std::string Instance::shape_text(const ir::Dims& dims) const {
  std::string text = "[";
  for (size_t i = 0; i < dims.size(); ++i) {
    const bool is_batch = i == 0 && dims[i] == batch && !batch_name.empty();
    text += (i == 0 ? "" : ",") + (is_batch ? batch_name : fmt::format("{}", dims[i]));
  }
  return text + "]";
}

Diagnostic Instance::origin(ValueId v) const {
  const auto what = made_by.find(v);
  const auto where = places.find(v);
  return {Severity::note,
          where == places.end() ? Location{} : where->second,
          fmt::format("input {} comes from {} here", shape_text(graph[v].type.dims),
                      what == made_by.end() ? "a node" : what->second),
          {},
          {}};
}

ir::Type input_type(const Model& model, const InputDef& input, int64_t batch) {
  const Scope scope = model_scope(model, batch);
  ir::Type type{input.dtype, {}};
  for (const Json& size : input.shape.items) {
    const std::string what = fmt::format("input '{}': 'shape'", input.name);
    if (size.kind == Json::Kind::text && is_name(size.text) && !scope.find(size.text)) {
      // One letter is no misspelling of another one: it is another size.
      const std::string near = size.text.size() > 1 ? did_you_mean(size.text, scope.all_names()) : "";
      throw UserError(size.where, fmt::format("input '{}': nothing says how large '{}' is", input.name, size.text),
                      near.empty() ? "add it to \"let\", or to train.batch" : near);
    }
    type.dims.push_back(evaluate_integer(size, scope, what));
    check_size({type.dims.back()}, size.where, what);
  }
  check_size(type.dims, input.shape.where, fmt::format("input '{}'", input.name));
  return type;
}

}  // namespace heddle::frontend
