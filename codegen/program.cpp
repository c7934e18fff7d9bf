#include "codegen/program.h"

#include <fmt/ranges.h>

#include <array>

#include "codegen/scalar_argument.h"

namespace heddle::codegen {
namespace {

std::string text(const Address& a) {
  constexpr std::array<const char*, kSegments> names = {"state", "arena", "ring"};
  std::string out = fmt::format("{}+{}", names.at(static_cast<size_t>(a.segment)), a.offset);
  for (size_t loop = 0; loop < a.strides.size();
       ++loop)  // arena+64+16t1: in turn t of the second loop 16 bytes further
    if (a.strides[loop] != 0) out += fmt::format("{}{}t{}", a.strides[loop] < 0 ? "" : "+", a.strides[loop], loop);
  return out;
}

std::string text(const Argument& a) { return fmt::format("{}:{}", text(a.at), a.bytes); }

// "arena+0:64, arena+64:4 -> arena+256:64; arena+512:32": what is read, written, both.
std::string text(const std::vector<Argument>& list) {
  std::string out;
  Access before = Access::read;
  for (const Argument& a : list) {
    if (a.access == before)
      out += out.empty() ? "" : ", ";
    else if (a.access == Access::write)
      out += out.empty() ? "-> " : " -> ";
    else
      out += "; ";
    out += text(a);
    before = a.access;
  }
  return out;
}

std::string text(const TensorDesc& t) { return fmt::format("{}[{}]", t.dtype, fmt::join(t.dims, ",")); }

std::string text(const Buffer& b) {
  const std::string layout = b.layout.empty() ? "" : fmt::format(" layout [{}]", fmt::join(b.layout, ","));
  return fmt::format("{} {}: {}{} at {}", to_string(b.role), b.name, text(TensorDesc{b.dtype, b.dims}), layout,
                     text(b.at));
}

std::string text(const Launch& launch, const Program& p) {
  std::string arguments = text(launch.arguments);
  for (const ScalarArgument& s : launch.scalars) arguments += fmt::format(", {} {}", s.dtype, scalar_text(s));
  return fmt::format("launch {}({})", p.kernels[static_cast<size_t>(launch.kernel)].name, arguments);
}

std::string text(const Library& call, const Program&) {
  std::string line = fmt::format("{} {}", call.impl, call.op);
  for (const EpilogueStep& e : call.epilogue) line += "." + e.op;
  line += fmt::format("({})", text(call.arguments));
  std::vector<std::string> types;
  for (const TensorDesc& t : call.operands) types.push_back(text(t));
  line += fmt::format(" : {} ->", fmt::join(types, ", "));
  for (const TensorDesc& t : call.results) line += " " + text(t);
  std::vector<std::string> attrs{fmt::format("batch_split = {}", call.batch_split)};
  if (call.precision != "f32") attrs.push_back("precision = " + call.precision);
  if (call.workspace.bytes > 0) attrs.push_back("workspace = " + text(call.workspace));
  for (const auto& [name, values] : call.integers)
    attrs.push_back(fmt::format("{} = [{}]", name, fmt::join(values, ",")));
  return line + fmt::format(" {{{}}}", fmt::join(attrs, ", "));
}

std::string text(const Copy& copy, const Program&) {
  return fmt::format("copy {} <- {}, {} bytes: {}", text(copy.to), text(copy.from), copy.bytes, copy.reason);
}

std::string text(const Step& step, const Program& p, size_t depth) {
  std::string out = std::string(2 * (depth + 1), ' ');
  if (const auto* loop = std::get_if<Loop>(&step.what))
    out += fmt::format("loop t{} of {}: {} turns", depth, loop->title, loop->count);
  else
    std::visit(
        [&]<class What>(const What& what) {
          if constexpr (!std::is_same_v<What, Loop>) out += text(what, p);
        },
        step.what);
  if (!step.origin.empty()) out += "  // " + step.origin;
  out += "\n";
  if (const auto* loop = std::get_if<Loop>(&step.what)) {
    const std::string indent(2 * (depth + 2), ' ');
    if (loop->persistent >= 0)
      out += fmt::format("{}persistent {}: {}\n", indent, p.kernels[static_cast<size_t>(loop->persistent)].name,
                         loop->persistent_facts);
    if (!loop->not_persistent.empty()) out += fmt::format("{}not persistent: {}\n", indent, loop->not_persistent);
    for (const Step& inner : loop->steps) out += text(inner, p, depth + 1);
  }
  return out;
}

std::string text(const Kernel& k) {
  std::string line = fmt::format("kernel {}: {}, {} arguments", k.name, k.schedule, k.arguments);
  if (!k.scalars.empty()) line += fmt::format(", scalars {}", fmt::join(k.scalars, " "));
  line += fmt::format(", block {}", k.block);
  line += k.blocks > 0 ? fmt::format(", blocks {}", k.blocks) : fmt::format(", at most {} blocks", k.max_blocks);
  return line + fmt::format(", reads {} bytes, writes {}, {} flops", k.bytes_read, k.bytes_written, k.flops);
}

std::string text(const Feeding& f) {
  if (f.columns.empty()) return {};
  std::string out = fmt::format("ring: {} records in {} bytes\ncursor: {} bytes at {}\n", f.records, f.ring_bytes(),
                                f.cursor_bytes(), text(f.cursor));
  for (const FeedColumn& c : f.columns) out += fmt::format("  column {}: {}\n", c.input, c.dtype);
  return out;
}

}  // namespace

std::string to_string(BufferRole role) {
  switch (role) {
    case BufferRole::param: return "param";
    case BufferRole::buffer: return "buffer";
    case BufferRole::state: return "state";
    case BufferRole::input: return "input";
    case BufferRole::result:
    case BufferRole::loss:
    case BufferRole::count:
    case BufferRole::norm:
    case BufferRole::outside: return "output";
  }
  return "";
}

std::string print(const Program& p) {
  std::string out = fmt::format("program {} for {} ({})\n", p.name, p.target, p.arch);
  out += fmt::format("state: {} bytes\n", p.state_bytes);
  for (const Buffer& b : p.states) out += "  " + text(b) + "\n";
  out += fmt::format("arena: {} bytes\n", p.arena_bytes);
  out += text(p.feeding);
  for (const Kernel& k : p.kernels) out += text(k) + "\n";
  for (const Entry& e : p.entries) {
    out += fmt::format("entry {}: arena {} bytes, max live {}\n", e.name, e.arena_bytes, e.max_live_bytes);
    if (e.fed_rows > 0) out += fmt::format("  takes {} rows of the data set\n", e.fed_rows);
    for (const Buffer& b : e.inputs) out += "  " + text(b) + "\n";
    for (const Step& step : e.steps) out += text(step, p, 0);
    if (e.persistent >= 0)
      out +=
          fmt::format("  persistent {}: {}\n", p.kernels[static_cast<size_t>(e.persistent)].name, e.persistent_facts);
    if (!e.not_persistent.empty()) out += fmt::format("  not persistent: {}\n", e.not_persistent);
    for (const Buffer& b : e.outputs) out += "  " + text(b) + "\n";
  }
  return out;
}

}  // namespace heddle::codegen
