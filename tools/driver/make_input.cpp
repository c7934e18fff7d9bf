#include "tools/driver/make_input.h"

#include <algorithm>
#include <cmath>
#include <cstring>
#include <type_traits>

#include "ir/check.h"

namespace heddle::driver {
namespace {

using runtime::data::Column;

template <class T>
T load(const std::byte* from, size_t i) {
  T value;
  std::memcpy(&value, from + i * sizeof(T), sizeof(T));
  return value;
}

double single(double x) { return static_cast<double>(static_cast<float>(x)); }
double as_it_is(double x) { return x; }

// Where the elements of a row come from, and what the maps make of them. A sum or a product of two
// f32 is rounded once by way of double.
class RowMaps {
 public:
  RowMaps(const PredictInput& input, bool is_single)
      : input_(input), rows_(ir::rows_behind(input.maps, input.row)), round_(is_single ? single : as_it_is) {
    for (const int64_t d : input.request.dims) stored_elements_ *= d;
    moves_ = std::ranges::any_of(input.maps, [](const ir::DataMap& map) { return static_cast<bool>(map.def->find); });
    if (!moves_) return;
    stored_ = ir::stored_row(input.maps, input.row);
    channels_ = input.row.dims.size() == 2 ? 1 : input.row.channels();
  }

  // Element of the stored row that comes to `element`; map `from` is the last that fills it
  // instead, -1 where none does.
  struct Place {
    int64_t element;
    int from = -1;
  };
  Place find(int64_t element) const {
    if (!moves_) return {element};
    const ir::MapRow& row = input_.row;
    const int64_t plane = row.height() * row.width();
    const int64_t at = row.channels_first ? element % plane : element / channels_;
    const int64_t channel = row.channels_first ? element / plane : element % channels_;
    int64_t y = at / row.width(), x = at % row.width();
    for (size_t i = input_.maps.size(); i-- > 0;) {
      const ir::DataMap& map = input_.maps[i];
      if (map.def->find && !map.def->find(map, rows_[i], y, x)) return {0, static_cast<int>(i)};
    }
    return {row.channels_first ? (channel * stored_.height() + y) * stored_.width() + x
                               : (y * stored_.width() + x) * channels_ + channel};
  }

  double value(double x, int64_t element, int from) const {
    const ir::MapRow& row = input_.row;
    const int64_t plane = row.channels_first ? row.height() * row.width() : 1;
    const auto channel = static_cast<size_t>(element / plane % row.channels());
    if (from >= 0) x = round_(input_.maps[static_cast<size_t>(from)].number("fill"));
    const int first = from + 1;
    for (auto i = static_cast<size_t>(first); i < input_.maps.size(); ++i) {
      const ir::DataMap& map = input_.maps[i];
      if (map.def->evaluate)
        x = map.def->evaluate(map, moves_ && row.dims.size() == 2 ? column(element, i) : channel, x, round_);
    }
    return x;
  }

  int64_t stored_elements() const { return stored_elements_; }

 private:
  // Of a picture of two axes: in which column an element stands behind map i, whose numbers may be those of columns.
  size_t column(int64_t element, size_t i) const {
    int64_t y = element / input_.row.width(), x = element % input_.row.width();
    for (size_t j = input_.maps.size(); j-- > i + 1;)
      if (input_.maps[j].def->find) input_.maps[j].def->find(input_.maps[j], rows_[j], y, x);
    return static_cast<size_t>(x);
  }

  const PredictInput& input_;
  std::vector<ir::MapRow> rows_;
  double (*round_)(double);
  ir::MapRow stored_;
  int64_t stored_elements_ = 1, channels_ = 1;
  bool moves_ = false;
};

template <class From, class To>
std::optional<NotFiniteRow> fill(const PredictInput& input, const std::byte* from, int64_t rows, std::byte* to) {
  const RowMaps maps(input, sizeof(To) == sizeof(float));
  int64_t elements = 1;
  for (const int64_t d : input.row.dims) elements *= d;
  const int64_t depth = input.request.one_hot ? input.row.dims.back() : 1;
  for (int64_t row = 0; row < rows; ++row)
    for (int64_t e = 0; e < elements; ++e, to += sizeof(To)) {
      const RowMaps::Place place = maps.find(e);
      const From stored = load<From>(from, static_cast<size_t>(row * maps.stored_elements() + place.element / depth));
      To x = static_cast<To>(stored);
      if (input.request.one_hot) x = static_cast<int64_t>(stored) == e % depth ? To{1} : To{0};
      if constexpr (std::is_floating_point_v<To>) {
        x = static_cast<To>(maps.value(static_cast<double>(x), e, place.from));
        if (!input.allow_nan && !std::isfinite(x)) return NotFiniteRow{row, static_cast<double>(x)};
      } else if (place.from >= 0) {
        x = static_cast<To>(input.maps[static_cast<size_t>(place.from)].number("fill"));
      }
      std::memcpy(to, &x, sizeof(To));
    }
  return std::nullopt;
}

}  // namespace

std::optional<NotFiniteRow> make_input(const PredictInput& input, const Column& column, int64_t rows,
                                       std::span<std::byte> to) {
  HEDDLE_CHECK(std::ssize(column.bytes) >= rows * column.row_bytes(), "a column holds its rows");
  return runtime::data::visit(column.type, [&](auto from) {
    return runtime::data::visit(*runtime::data::element_type(input.request.dtype), [&](auto zero) {
      using From = decltype(from);
      using To = decltype(zero);
      std::optional<NotFiniteRow> fault;
      if constexpr (std::is_floating_point_v<To> || std::is_integral_v<From>)
        fault = fill<From, To>(input, column.bytes.data(), rows, to.data());
      else
        HEDDLE_CHECK(false, "what is floating has been cut to integers");
      return fault;
    });
  });
}

}  // namespace heddle::driver
