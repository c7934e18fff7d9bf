#include "tools/generate/beams.h"

#include <algorithm>
#include <limits>
#include <utility>

#include "ir/check.h"
#include "tools/generate/beam_search.h"

namespace heddle::tools {
namespace {

// A text that has a source does not go on without its begin.
int64_t room(const driver::Generator& generator, size_t tokens) {
  if (!generator.source() || generator.context() == 0) return std::numeric_limits<int64_t>::max();
  return std::max<int64_t>(1, generator.context() + 1 - static_cast<int64_t>(tokens));
}

}  // namespace

std::vector<Continuation> beams(driver::Generator& generator, const TextOfModel& text, const SourceFile& prompt,
                                const BeamSettings& settings, const GenerateCalls& calls) {
  HEDDLE_CHECK(settings.width <= generator.rows(), "a row for each beam");
  auto [ids, source] = prompt_tokens(generator, text, prompt);
  if (generator.source())  // all beams have one: what is kept of it needs no other order
    encode_sources(generator, text, std::vector(static_cast<size_t>(generator.rows()), &std::as_const(source)));
  WrittenText written([&](std::span<const uint32_t> some) { return text.decode(some); }, settings.stops, ids);
  const SearchSettings search{.width = settings.width,
                              .length_penalty = settings.length_penalty,
                              .tokens = std::min(settings.tokens, room(generator, ids.size())),
                              .vocabulary = text.size(),
                              .ends = [&](uint32_t id) { return text.is_end(id); }};
  BeamSearch one(search, std::move(ids), std::move(written));
  bool told = false, moved = false;
  while (read_beams(generator, {&one, 1}, &moved))
    if (moved && !std::exchange(told, true) && calls.note) calls.note(window_note(generator.context()));
  return one.found();
}

}  // namespace heddle::tools
