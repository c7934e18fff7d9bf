#include "passes/choose.h"

#include <fmt/format.h>

#include <algorithm>
#include <limits>

namespace heddle::passes {
namespace {

const char* name_of(FigureSource source) {
  switch (source) {
    case FigureSource::estimated: return "estimated";
    case FigureSource::counted: return "counted";
    case FigureSource::table: return "by the table";
    case FigureSource::measured: return "measured";
  }
  return "";
}

using Figures = std::vector<std::optional<Figure>>;  // by candidate

Figures figures_of(const std::vector<Candidate>& candidates) {
  Figures figures(candidates.size());
  const auto can = [](const Candidate& c) { return c.refusal.empty(); };
  if (std::ranges::count_if(candidates, can) < 2) return figures;
  double best = std::numeric_limits<double>::infinity();
  for (size_t i = 0; i < candidates.size(); ++i) {
    if (!can(candidates[i]) || !candidates[i].figure) continue;
    figures[i] = candidates[i].figure(best);
    if (!figures[i]->at_least) best = std::min(best, figures[i]->seconds);
  }
  return figures;
}

// An exact figure is preferred to a lower bound, and a lower bound to no figure.
bool is_better(const std::optional<Figure>& a, const std::optional<Figure>& b) {
  const auto rank = [](const std::optional<Figure>& f) { return !f ? 2 : f->at_least ? 1 : 0; };
  if (rank(a) != rank(b)) return rank(a) < rank(b);
  return a && a->seconds < b->seconds;
}

std::string text_of(const Candidate& c, const std::optional<Figure>& figure) {
  if (!c.refusal.empty()) return fmt::format("{}: {}", c.name, c.refusal);
  return figure ? fmt::format("{}: {}", c.name, to_string(*figure)) : c.name;
}

}  // namespace

std::string to_string(const Figure& figure) {
  constexpr double kMost = 999.5;  // in three digits
  const double us = figure.seconds * 1e6;
  const std::string time = us < kMost         ? fmt::format("{:.3g} us", us)
                           : us < kMost * 1e3 ? fmt::format("{:.3g} ms", us / 1e3)
                                              : fmt::format("{:.3g} s", us / 1e6);
  return fmt::format("{} {}{}", time, name_of(figure.source), figure.at_least ? " at least" : "");
}

Choice choose(const std::vector<Candidate>& candidates) {
  const Figures figures = figures_of(candidates);
  Choice choice;
  for (size_t i = 0; i < candidates.size(); ++i) {
    if (!candidates[i].refusal.empty()) continue;
    if (!choice.taken || is_better(figures[i], figures[*choice.taken])) choice.taken = i;
  }
  if (choice.taken) {
    const Candidate& taken = candidates[*choice.taken];
    choice.reason = taken.name + (taken.detail.empty() ? "" : " ") + taken.detail;
    if (const auto& figure = figures[*choice.taken]) choice.reason += ", " + to_string(*figure);
  }
  for (size_t i = 0; i < candidates.size(); ++i)
    if (i != choice.taken)
      choice.reason += (choice.reason.empty() ? "not " : "; not ") + text_of(candidates[i], figures[i]);
  return choice;
}

}  // namespace heddle::passes
