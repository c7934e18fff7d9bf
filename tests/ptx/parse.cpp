#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "tests/ptx/block_order.h"
#include "tests/ptx/builder.h"
#include "tests/ptx/control.h"
#include "tests/ptx/decoding.h"
#include "tests/ptx/module.h"
#include "tests/ptx/statements.h"

namespace heddle::ptx {
namespace {

using Labels = std::map<std::string, uint32_t>;
using Open = std::vector<std::pair<size_t, std::string>>;  // instructions and the names they go to

// The part of a head in the brackets that open at `at`.
std::string bracketed(const std::string& text, size_t at) { return text.substr(at + 1, text.find(')', at) - at - 1); }

void read_parameters(Builder& builder, const std::string& list, int line, std::vector<Parameter>& to) {
  for (const std::string& one : split(list, ','))
    if (!one.empty()) to.push_back(builder.declare_parameter(one, line));
}

// ".visible .entry k(...) .maxntid 256, 1, 1" and ".func (.param .b64 r) f(...)"
void read_head(Builder& builder, const std::string& text, int line) {
  Function& f = builder.function();
  f.entry = text.find(".entry") != std::string::npos;
  size_t at = text.find(f.entry ? ".entry" : ".func") + (f.entry ? 6 : 5);
  at = text.find_first_not_of(' ', at);
  if (text[at] == '(') {
    read_parameters(builder, bracketed(text, at), line, f.results);
    at = text.find_first_not_of(' ', text.find(')', at) + 1);
  }
  const size_t open = text.find('(', at);
  f.name = trimmed(text.substr(at, open - at));
  if (open != std::string::npos) read_parameters(builder, bracketed(text, open), line, f.parameters);
  if (const size_t most = text.find(".maxntid"); most != std::string::npos) {
    f.max_threads = 1;
    for (const std::string& n : split(text.substr(most + 8), ','))
      f.max_threads *= static_cast<uint32_t>(std::max(1, std::stoi(n)));
  }
}

class Reader {
 public:
  explicit Reader(const std::string& text) : statements_(statements_of(text)) {}

  Module run() {
    while (at_ < statements_.size()) {
      const Statement& s = statements_[at_++];
      if (s.kind == Statement::Kind::function) {
        read_function(s);
      } else if (s.kind == Statement::Kind::directive) {
        read_directive(s);
      } else {
        throw ParseError(s.line, s.text, "not expected outside of a function");
      }
    }
    resolve_calls();
    for (Function& f : module_.functions) order_blocks(f);
    return std::move(module_);
  }

 private:
  struct Call {
    uint32_t function;
    size_t instruction;
    std::string name;
  };

  // A function may be defined behind what calls it.
  void resolve_calls() {
    for (const Call& c : calls_) {
      Instruction& i = module_.functions[c.function].code[c.instruction];
      const auto it = functions_.find(c.name);
      if (it == functions_.end()) throw ParseError(i.line, i.text, "unknown function " + c.name);
      i.target = it->second;
    }
    calls_.clear();
  }

  // Behind all shared variables of this translation unit, as declared here: where those of open length lie.
  uint32_t end_of_shared() const {
    constexpr uint32_t kAlignment = 128;
    uint32_t end = 0;
    for (size_t i = at_; i < statements_.size() && !statements_[i].text.starts_with(".version"); ++i) {
      const Statement& s = statements_[i];
      if (!s.text.starts_with(".shared ") && !s.text.starts_with(".extern .shared ")) continue;
      const Declaration d = read_declaration(s.text, s.line);
      end = (end + d.align - 1) / d.align * d.align + static_cast<uint32_t>(d.bytes());
    }
    return (end + kAlignment - 1) / kAlignment * kAlignment;
  }

  void read_directive(const Statement& s) {
    if (s.text.starts_with(".version")) {  // another translation unit
      resolve_calls();
      symbols_.clear();
      functions_.clear();
      shared_ = 0;
      open_shared_ = end_of_shared();
    }
    for (const char* known : {".version", ".target", ".address_size", ".file", ".loc ", ".pragma"})
      if (s.text.starts_with(known)) return;
    if (s.text.find(".func") != std::string::npos || s.text.find(".entry") != std::string::npos) return;
    const Declaration d = read_declaration(s.text, s.line);
    if (d.space == Space::shared && d.open) {
      symbols_[d.name] = {Space::shared, open_shared_, 0};
    } else if (d.space == Space::shared) {
      shared_ = (shared_ + d.align - 1) / d.align * d.align;
      symbols_[d.name] = {Space::shared, shared_, d.bytes()};
      shared_ += static_cast<uint32_t>(d.bytes());
    } else if (d.space == Space::global) {
      symbols_[d.name] = declare_global(module_, d, s.line);
    } else {
      throw ParseError(s.line, s.text, "not expected outside of a function");
    }
  }

  void read_function(const Statement& head) {
    Function f;
    f.open_shared = open_shared_;
    Builder builder(module_, symbols_, f);
    read_head(builder, head.text, head.line);
    Labels labels;
    Open branches, calls;
    int depth = 0;
    do {
      if (at_ == statements_.size()) throw ParseError(head.line, head.text, "its end is missing");
      const Statement& s = statements_[at_++];
      depth += s.kind == Statement::Kind::open;
      depth -= s.kind == Statement::Kind::close;
      if (s.kind == Statement::Kind::label) {
        labels[s.text] = static_cast<uint32_t>(f.code.size());
      } else {
        read_inner(builder, s, branches, calls);
      }
    } while (depth > 0);
    for (const auto& [where, label] : branches) {
      const auto it = labels.find(label);
      if (it == labels.end()) throw ParseError(f.code[where].line, f.code[where].text, "unknown label " + label);
      f.code[where].target = it->second;
    }
    const auto number = static_cast<uint32_t>(module_.functions.size());
    functions_[f.name] = number;
    for (auto& [where, name] : calls) calls_.push_back({number, where, std::move(name)});
    module_.functions.push_back(std::move(f));
  }

  void read_inner(Builder& builder, const Statement& s, Open& branches, Open& calls) {
    if (s.kind == Statement::Kind::open) return builder.open();
    if (s.kind == Statement::Kind::close) return builder.close();
    if (s.kind == Statement::Kind::instruction) return read_instruction(builder, s, branches, calls);
    if (s.text.starts_with(".reg")) return builder.declare_registers(s.text, s.line);
    if (s.text.starts_with(".loc ") || s.text.starts_with(".pragma")) return;
    builder.declare_variable(s.text, s.line);
  }

  void read_instruction(Builder& builder, const Statement& s, Open& branches, Open& calls) {
    Instruction i;
    i.line = s.line;
    i.text = s.text;
    std::string rest = s.text;
    if (rest[0] == '@') {
      const size_t blank = rest.find(' ');
      i.negated = rest[1] == '!';
      const std::string name = rest.substr(i.negated ? 2 : 1, blank - (i.negated ? 2 : 1));
      const Register* guard = builder.find_register(name);
      if (guard == nullptr || guard->type != Type::pred) throw ParseError(s.line, s.text, name + " is no predicate");
      i.guard = guard->slot;
      rest = trimmed(rest.substr(blank));
    }
    Decoding d(builder, i, rest);
    const ControlContext context{branches, calls, builder.function().code.size()};
    const bool known = decode_control(d, context) || decode_memory(d) || decode_integer(d) || decode_bits(d) ||
                       decode_float(d) || decode_convert(d) || decode_compare(d) || decode_atomic(d) ||
                       decode_async(d) || decode_collective(d) || decode_tensor(d);
    if (!known) d.refuse("unknown instruction");
    d.finish();
    i.next = static_cast<uint32_t>(context.here) + 1;
    builder.function().code.push_back(std::move(i));
  }

  std::vector<Statement> statements_;
  size_t at_ = 0;
  Module module_;
  Symbols symbols_;
  std::map<std::string, uint32_t> functions_;
  std::vector<Call> calls_;
  uint32_t shared_ = 0, open_shared_ = 0;
};

}  // namespace

ParseError::ParseError(int line, const std::string& text, const std::string& why)
    : std::runtime_error(fmt::format("PTX line {}: {}: {}", line, text, why)) {}

const Function* Module::find_entry(const std::string& name) const {
  for (const Function& f : functions)
    if (f.entry && f.name == name) return &f;
  return nullptr;
}

Module parse(const std::string& text) { return Reader(text).run(); }

}  // namespace heddle::ptx
