#include "passes/choices.h"

#include <fmt/format.h>

#include <algorithm>

#include "ir/op_def.h"
#include "passes/select/cublaslt.h"
#include "passes/select/cudnn.h"
#include "passes/select/offer.h"
#include "passes/select/onednn.h"
#include "passes/select/winograd.h"

namespace heddle::passes {
using namespace ir;

std::string choice_body(const Graph& k) {
  std::string body;
  std::vector<int> number(k.value_count(), -1);
  int next = 0;
  for (const ValueId v : k.inputs) {
    body += (next == 0 ? "" : ", ") + to_string(k[v].type);
    number[static_cast<size_t>(v.index)] = next++;
  }
  const auto of = [&](ValueId v) { return fmt::format(" {}", number[static_cast<size_t>(v.index)]); };
  for (const NodeId n : k.order) {
    body += " | " + k[n].op->name;
    for (const ValueId v : k[n].operands) body += of(v);
    for (const auto& [name, value] : k[n].attrs) body += " " + name + "=" + to_string(value);
    for (const ValueId v : k[n].results) {
      number[static_cast<size_t>(v.index)] = next++;
      body += " " + to_string(k[v].type);
    }
  }
  body += " | return";
  for (const ValueId v : k.outputs) body += of(v);
  return body;
}

std::vector<std::string> candidate_names() {
  std::vector<std::string> names = {winograd().name, onednn().name, cublaslt().name, cudnn().name,
                                    kGeneratedText,  kDecomposed,   kLoops};
  for (const OpDef* op : all_ops())
    for (const Form& form : op->forms)
      if (std::ranges::count(names, form.name) == 0) names.push_back(form.name);
  return names;
}

}  // namespace heddle::passes
