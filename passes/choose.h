// choose: selects the fastest candidate to execute a part of a graph, by measured or predicted time.
//
//   onednn             4.1 us estimated
//   generated text     33 us estimated at least        ->  onednn: "onednn in 4 slices, .., 4.1 us estimated; not generated
//   other              cannot: 64 columns at most           text: 33 us estimated at least; not other: 64 columns at most"
//
// passes/select/offer.h lists who offers candidates. This file knows no particular candidate.
#pragma once
#include <functional>
#include <optional>
#include <string>
#include <vector>

namespace heddle::passes {

// Where a figure comes from.
enum class FigureSource {
  estimated,  // bytes and operations against the target's rates
  counted,    // operations and memory requests of the generated text
  table,      // a table of measurements that comes with the target
  measured,   // a measured choice (passes/choices.h)
};

struct Figure {
  double seconds = 0;
  FigureSource source = FigureSource::estimated;
  bool at_least = false;  // a lower bound: never preferred to an exact figure
};
std::string to_string(const Figure& figure);  // "33 us estimated at least"

struct Candidate {
  std::string name;     // "onednn"
  std::string refusal;  // why it cannot be taken, or ""
  std::string detail;   // for remarks: "in 4 slices, f32 products, 512 bytes of scratch"
  // Returns the time that the candidate takes. `best` is the least time of the candidates before it. If this candidate
  // is known to take longer, a lower bound is enough. Not called if only one candidate can be taken.
  std::function<Figure(double best)> figure;
};

struct Choice {
  std::optional<size_t> taken;  // nullopt if every candidate refuses
  std::string reason;           // all candidates, the taken one first
};
// Takes the candidate with the least time. Of equally fast ones it takes the first, so `candidates` is in order of
// preference.
Choice choose(const std::vector<Candidate>& candidates);

}  // namespace heddle::passes
