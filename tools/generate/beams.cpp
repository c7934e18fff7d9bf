#include "tools/generate/beams.h"

#include <algorithm>
#include <utility>

#include "ir/check.h"
#include "tools/generate/beam_search.h"

namespace heddle::tools {
std::vector<Continuation> beams(driver::Generator& generator, const TextOfModel& text, const SourceFile& prompt,
                                const BeamSettings& settings, const GenerateCalls& calls) {
  HEDDLE_CHECK(settings.width <= generator.rows(), "a row for each beam");
  auto [ids, source] = prompt_tokens(generator, text, prompt);
  if (generator.source())  // all beams have one: what is kept of it needs no other order
    encode_sources(generator, text, std::vector(static_cast<size_t>(generator.rows()), &std::as_const(source)));
  WrittenText written([&](std::span<const uint32_t> some) { return text.decode(some); }, settings.stops, ids);
  const SearchSettings search{.width = settings.width,
                              .length_penalty = settings.length_penalty,
                              .tokens = std::clamp<int64_t>(room_behind(generator, ids.size()), 1, settings.tokens),
                              .vocabulary = text.size(),
                              .ends = [&](uint32_t id) { return text.is_end(id); }};
  BeamSearch one(search, std::move(ids), std::move(written));
  bool told = false, moved = false;
  while (read_beams(generator, {&one, 1}, &moved))
    if (moved && !std::exchange(told, true) && calls.note) calls.note(window_note(generator.context()));
  return one.found();
}

}  // namespace heddle::tools
