#include "tests/ptx/control.h"

#include "tests/ptx/statements.h"

namespace heddle::ptx {
namespace {

void nothing(Warp&, const Instruction&, Lanes) {}

// "call.uni (retval0), name, (param0, param1)"
void decode_call(Decoding& d, const ControlContext& context) {
  d.take("uni");
  d.out.kind = Kind::call;
  const auto add = [&](const std::string& list) {
    for (const std::string& name : split(list.substr(1, list.size() - 2), ',')) {
      const Symbol* symbol = d.builder.find_symbol(name);
      if (symbol == nullptr || symbol->space != Space::local) d.refuse(name + " is no parameter");
      d.out.arguments.push_back(static_cast<uint32_t>(symbol->offset));
    }
  };
  size_t k = 0;
  if (d.operand(0).starts_with("(")) add(d.operand(k++));
  context.calls.emplace_back(context.here, d.operand(k++));
  if (k < d.operands()) add(d.operand(k));
}

}  // namespace

bool decode_control(Decoding& d, const ControlContext& context) {
  const std::string& root = d.root();
  if (root == "bra") {
    d.take("uni");
    d.out.kind = Kind::branch;
    context.branches.emplace_back(context.here, d.operand(0));
  } else if (root == "ret" || root == "exit") {
    d.take("uni");
    d.out.kind = Kind::exit;
  } else if (root == "call") {
    decode_call(d, context);
  } else if (root == "nanosleep" || root == "prefetch") {
    while (d.take("u32") || d.take("global") || d.take("local") || d.take("L1") || d.take("L2")) {
    }
    d.out.execute = nothing;
  } else {
    return false;
  }
  return true;
}

}  // namespace heddle::ptx
