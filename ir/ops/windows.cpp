#include "ir/ops/windows.h"

#include <fmt/format.h>

namespace heddle::ir {
namespace {

// A list with an entry for each axis; an empty one stands for `fallback`.
Dims each_axis(const Signature& s, std::string_view name, const Dims& fallback, int64_t low) {
  return s.integers(name).empty() ? fallback : checked_list(s, name, fallback.size(), low);
}

struct WindowsCase {
  Dims dims, window, strides, pads, dilations;
};

const std::vector<WindowsCase>& windows_cases() {
  static const std::vector<WindowsCase> cases = {{{9}, {3}, {}, {}, {}},
                                                 {{1}, {1}, {}, {}, {}},
                                                 {{13}, {4}, {1}, {3, 2}, {}},
                                                 {{7, 33}, {3, 2}, {2, 1}, {}, {}},
                                                 {{5, 8}, {2, 3}, {3, 4}, {}, {}},
                                                 {{6, 7}, {3, 3}, {1, 2}, {2, 0, 1, 2}, {}},
                                                 {{3, 9, 4}, {1, 3, 2}, {1, 2, 1}, {0, 1, 0, 0, 1, 1}, {}},
                                                 {{2, 7, 9, 3}, {1, 3, 2, 1}, {1, 1, 1, 1}, {}, {1, 2, 3, 1}},
                                                 {{8, 7}, {2, 3}, {2, 3}, {1, 2, 0, 1}, {3, 2}}};
  return cases;
}

}  // namespace

std::vector<Key> windows_attributes() {
  const auto lists = [](const char* name, const char* doc) -> Key {
    return {.name = name, .type = KeyType::integer, .count = Count::several, .doc = doc, .fallback = Dims{}};
  };
  return {{.name = "window",
           .type = KeyType::integer,
           .count = Count::several,
           .doc = "elements along each axis",
           .required = true},
          lists("strides", "steps along each axis; none: 1"),
          lists("pads", "before each axis, then behind each axis; none: 0"),
          lists("dilations", "distance of the window's elements along each axis; none: 1")};
}

std::vector<Window> windows(const Signature& s, const Dims& dims) {
  const size_t rank = dims.size();
  if (rank == 0) throw InferError("expected an operand with axes, got a scalar");
  const Dims& window = checked_list(s, "window", rank, 1);
  const Dims strides = each_axis(s, "strides", Dims(rank, 1), 1);
  const Dims pads = each_axis(s, "pads", Dims(2 * rank, 0), 0);
  const Dims dilations = each_axis(s, "dilations", Dims(rank, 1), 1);
  std::vector<Window> axes;
  for (size_t d = 0; d < rank; ++d) {
    const Window w{.size = window[d],
                   .stride = strides[d],
                   .dilation = dilations[d],
                   .low = pads[d],
                   .high = pads[rank + d],
                   .input = dims[d]};
    check_reach(w, pads, window);
    axes.push_back(placed(w, "window", fmt::format("axis {} of", d)));
  }
  return axes;
}

Dims windowed(const std::vector<Window>& axes) {
  Dims dims;
  for (const Window& w : axes) dims.push_back(w.output);
  return dims;
}

ReductionDomain windows_domain(const Signature& s) {
  const std::vector<Window> axes = windows(s, s.operands[0].dims);
  const int rank = static_cast<int>(axes.size());
  ReductionDomain domain;
  for (const Window& w : axes) domain.extents.push_back(w.size);
  IndexMap map;
  map.extents = windowed(axes);
  map.extents.insert(map.extents.end(), domain.extents.begin(), domain.extents.end());
  for (int d = 0; d < rank; ++d) read_input(map, axes[static_cast<size_t>(d)], d, rank + d);
  domain.maps.push_back(std::move(map));
  return domain;
}

int64_t place_in_window(const std::vector<Window>& axes, const Tensor& x, const Dims& at, bool largest) {
  int64_t best = -1;
  for_each_in_window(axes, x.type.dims, at, [&](int64_t from) {
    if (best < 0 || comes_first(x, from, best, largest)) best = from;
  });
  return best;
}

std::vector<Sample> apart(std::vector<Sample> samples) {
  for (Sample& sample : samples) {
    sample.low = -1000;
    sample.high = 1000;
  }
  return samples;
}

std::vector<Sample> windows_samples(bool with_source) {
  std::vector<Sample> samples;
  for (const WindowsCase& c : windows_cases()) {
    Sample sample{.shapes = {c.dims}, .attrs = {{"window", c.window}}};
    if (!c.strides.empty()) sample.attrs["strides"] = c.strides;
    if (!c.pads.empty()) sample.attrs["pads"] = c.pads;
    if (!c.dilations.empty()) sample.attrs["dilations"] = c.dilations;
    if (with_source) {
      Dims source;
      for (size_t d = 0; d < c.dims.size(); ++d) {
        const int64_t dilation = c.dilations.empty() ? 1 : c.dilations[d],
                      stride = c.strides.empty() ? 1 : c.strides[d];
        const int64_t padded = c.dims[d] + (c.pads.empty() ? 0 : c.pads[d] + c.pads[c.dims.size() + d]);
        source.push_back((padded - (c.window[d] - 1) * dilation - 1) / stride + 1);
      }
      sample.shapes.push_back(source);
    }
    samples.push_back(std::move(sample));
  }
  return samples;
}

}  // namespace heddle::ir
