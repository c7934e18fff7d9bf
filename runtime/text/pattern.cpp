#define PCRE2_CODE_UNIT_WIDTH 8
#include "runtime/text/pattern.h"

#include <fmt/format.h>
#include <pcre2.h>

#include <array>

#include "runtime/data/printable.h"
#include "runtime/text/unicode.h"

namespace heddle::runtime::text {
namespace {

// Steps before a match is given up: a second at most.
constexpr uint32_t kMatchLimit = 1'000'000;
// What replacing may make of a text where it grows: a file may hold many replacements, each of which doubles it.
constexpr size_t kMostReplaced = size_t{32} << 20;
constexpr size_t kStackBytes = size_t{1} << 20;

template <auto release>
struct Release {
  template <class T>
  void operator()(T* object) const {
    release(object);
  }
};
using Code = std::unique_ptr<pcre2_code, Release<pcre2_code_free>>;
using Context = std::unique_ptr<pcre2_match_context, Release<pcre2_match_context_free>>;
using Stack = std::unique_ptr<pcre2_jit_stack, Release<pcre2_jit_stack_free>>;
using Match = std::unique_ptr<pcre2_match_data, Release<pcre2_match_data_free>>;

std::string message_of(int code) {
  std::array<PCRE2_UCHAR, 256> text{};
  pcre2_get_error_message(code, text.data(), text.size());
  return reinterpret_cast<const char*>(text.data());
}

// What a thread matches with: PCRE2 writes into it.
struct Workspace {
  Workspace()
      : stack(pcre2_jit_stack_create(32 << 10, kStackBytes, nullptr)),
        context(pcre2_match_context_create(nullptr)),
        match(pcre2_match_data_create(1, nullptr)) {
    pcre2_set_match_limit(context.get(), kMatchLimit);
    pcre2_set_heap_limit(context.get(), 64 << 10);  // KiB
    pcre2_jit_stack_assign(context.get(), nullptr, stack.get());
  }
  Stack stack;
  Context context;
  Match match;
};

}  // namespace

struct Pattern::Compiled {
  Code code;
  Location where;
  std::string text;
};

Pattern Pattern::expression(const std::string& expression, const Location& where) {
  int error = 0;
  PCRE2_SIZE offset = 0;
  Code code(pcre2_compile(reinterpret_cast<PCRE2_SPTR>(expression.data()), expression.size(),
                          PCRE2_UTF | PCRE2_UCP | PCRE2_NEVER_BACKSLASH_C, &error, &offset, nullptr));
  if (!code)
    throw UserError(where, fmt::format("the regular expression is not taken: {} at byte {}", message_of(error), offset),
                    "expressions are PCRE2's, with Unicode's classes");
  pcre2_jit_compile(code.get(), PCRE2_JIT_COMPLETE);  // where there is no JIT, the interpreter matches
  Pattern pattern;
  pattern.compiled_ = std::make_shared<const Compiled>(Compiled{std::move(code), where, expression});
  return pattern;
}

Pattern Pattern::literal(std::string text) {
  Pattern pattern;
  pattern.literal_ = std::move(text);
  return pattern;
}

Pattern Pattern::characters(std::function<bool(uint32_t)> matches) {
  Pattern pattern;
  pattern.matches_ = std::move(matches);
  return pattern;
}

void Pattern::each(std::string_view text, const std::function<void(Range)>& found) const {
  const auto range = [](size_t begin, size_t end) {
    return Range{static_cast<uint32_t>(begin), static_cast<uint32_t>(end)};
  };
  if (matches_) {
    for (size_t at = 0; at < text.size();) {
      const size_t begin = at;
      if (matches_(next_code(text, at))) found(range(begin, at));
    }
    return;
  }
  if (!compiled_) {
    for (size_t at = 0; !literal_.empty() && (at = text.find(literal_, at)) != std::string_view::npos;) {
      found(range(at, at + literal_.size()));
      at += literal_.size();
    }
    return;
  }
  thread_local const Workspace work;
  const auto* subject = reinterpret_cast<PCRE2_SPTR>(text.data());
  for (size_t at = 0; at <= text.size();) {
    const int count = pcre2_match(compiled_->code.get(), subject, text.size(), at, PCRE2_NO_UTF_CHECK, work.match.get(),
                                  work.context.get());
    if (count == PCRE2_ERROR_NOMATCH) return;
    if (count < 0)
      throw UserError(compiled_->where,
                      fmt::format("the regular expression takes too long on a text: {}", message_of(count)),
                      "write it without repetitions inside repetitions");
    const PCRE2_SIZE* ends = pcre2_get_ovector_pointer(work.match.get());
    const size_t begin = ends[0], end = ends[1];
    if (begin > end) return;  // \K in a lookahead
    found(range(begin, end));
    at = end;
    if (begin != end) continue;
    if (at >= text.size()) return;
    next_code(text, at);  // a match of nothing: go on behind the next character
  }
}

void Pattern::split(std::string_view text, Range range, Behavior behavior, bool invert, std::vector<Range>& out) const {
  bool previous = false, began = false;
  const size_t first = out.size();
  const auto part = [&](uint32_t begin, uint32_t end, bool match) {
    if (begin == end) return;
    const Range added{range.begin + begin, range.begin + end};
    const bool matched = match != invert;
    bool joins = false;
    switch (behavior) {
      case Behavior::removed:
        if (matched) return;
        break;
      case Behavior::isolated: break;
      case Behavior::contiguous: joins = began && matched == previous; break;
      case Behavior::merged_with_previous: joins = began && matched && !previous; break;
      case Behavior::merged_with_next: break;  // below, from right to left
    }
    joins ? void(out.back().end = added.end) : out.push_back(added);
    previous = matched, began = true;
  };
  std::vector<bool> flags;
  uint32_t done = 0;
  const auto note = [&](uint32_t begin, uint32_t end, bool match) {
    const size_t before = out.size();
    part(begin, end, match);
    if (behavior == Behavior::merged_with_next && out.size() > before) flags.push_back(match != invert);
  };
  each(text.substr(range.begin, range.end - range.begin), [&](Range match) {
    note(done, match.begin, false);
    note(match.begin, match.end, true);
    done = match.end;
  });
  note(done, range.end - range.begin, false);
  if (behavior != Behavior::merged_with_next) return;
  // A match joins what follows it, unless that is a match that has joined already.
  std::vector<Range> joined;
  previous = false;
  for (size_t i = out.size(); i-- > first;) {
    const bool matched = flags[i - first];
    if (matched && !previous && !joined.empty())
      joined.back().begin = out[i].begin;
    else
      joined.push_back(out[i]);
    previous = matched;
  }
  out.resize(first);
  out.insert(out.end(), joined.rbegin(), joined.rend());
}

std::string Pattern::replace(std::string_view text, std::string_view by) const {
  std::string out;
  uint32_t done = 0;
  each(text, [&](Range match) {
    out += text.substr(done, match.begin - done);
    out += by;
    if (out.size() > kMostReplaced && out.size() > text.size())
      throw UserError(ExitCode::limit,
                      fmt::format("the tokenizer's replacements make more than {} MiB of a text", kMostReplaced >> 20),
                      "replace by less, or give the text in shorter lines");
    done = match.end;
  });
  return out.append(text.substr(done));
}

}  // namespace heddle::runtime::text
