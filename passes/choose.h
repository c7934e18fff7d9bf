// choose: one chooser among the ways to execute a part of a graph, by the time that each is
// predicted to take.
//
//   onednn             4.1 us estimated
//   generated text     33 us estimated at least        ->  onednn: "onednn in 4 slices, .., 4.1 us estimated; not generated
//   other              cannot: 64 columns at most           text: 33 us estimated at least; not other: 64 columns at most"
//
// Who offers candidates is a file of its own (passes/select/offer.h); nothing here knows which
// there are.
#pragma once
#include <functional>
#include <optional>
#include <string>
#include <vector>

namespace heddle::passes {

// Where a figure comes from.
enum class FigureSource {
  estimated,  // bytes and operations against the target's rates
  counted,    // what the generated text executes and asks for
  table,      // a table of measurements, which comes with the target
  measured,   // here
};

struct Figure {
  double seconds = 0;
  FigureSource source = FigureSource::estimated;
  bool at_least = false;  // it takes no less; what is known no better cannot be preferred to a figure
};
std::string to_string(const Figure& figure);  // "33 us estimated at least"

struct Candidate {
  std::string name;     // "onednn"
  std::string refusal;  // why it cannot be taken, or ""
  std::string detail;   // what it is like: "in 4 slices, f32 products, 512 bytes of scratch"
  // How long it takes. `best` is the least of those before it: where it is known to take longer,
  // how long at least will do. Not asked where only one candidate can be taken.
  std::function<Figure(double best)> figure;
};

struct Choice {
  std::optional<size_t> taken;  // none where none can be
  std::string reason;           // all candidates, the taken one first
};
// The one that takes the least time; of equals the first, so that candidates are in order of preference.
Choice choose(const std::vector<Candidate>& candidates);

}  // namespace heddle::passes
