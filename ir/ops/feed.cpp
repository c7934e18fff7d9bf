// feed: gathers rows of a column of the data set as an input of the entry, which reads its own batches.
#include <fmt/format.h>

#include "ir/cursor.h"
#include "ir/fed_column.h"
#include "ir/map_samples.h"
#include "ir/ops/shape.h"

namespace heddle::ir {
namespace {

void require_word(const Type& cursor, int64_t last, std::string_view what) {
  if (cursor.dims[0] <= last)
    throw InferError(fmt::format("a cursor of {} words has no {}, which ends at word {}", cursor.dims[0], what, last));
}

std::vector<Type> infer(const Signature& s) {
  const Type& cursor = s.operands[0];
  if (cursor.rank() != 1) throw InferError("expected a cursor u64[n], got " + to_string(cursor));
  const Type batch = checked_type(checked_dtype(s.text("dtype")), s.integers("shape"));
  const FedInput fed = fed_input(s);
  require_word(cursor, kCursorColumns + fed.number, fmt::format("column {}", fed.number));
  if (fed.first_draw > 0) require_word(cursor, fed.first_draw + kCursorDraws - 1, "numbers of rows, seed and epoch");
  return {batch, cursor};
}

// A row's threads find where it lies and draw for it; then each takes packets.
PrimitivePlan plan(const Signature& s) {
  constexpr double kLanes = 32, kRow = 30, kDraw = 90, kPacket = 12, kElement = 3, kMap = 2, kPlace = 20,
                   kElementDraw = 70;
  const FedInput fed = fed_input(s);
  const FedThreads threads = threads_of(fed);
  const int64_t turns = (fed.elements() / threads.packet + threads.team - 1) / threads.team;
  const auto packets = static_cast<double>(turns);
  double row = kRow, element = kElement;
  for (const size_t i : fed.active()) {
    const MapDef& def = *fed.column.maps[i].def;
    row += def.training ? kDraw : 0;
    // The maps before it are computed once for each element that it reads.
    if (const SampleDef* sample = find_sample(def))
      element = kPlace + element * static_cast<double>(sample->taps(fed.column.maps[i]));
    element += def.place ? kPlace : def.evaluates ? kElementDraw : kMap;
  }
  const double of_thread = row + packets * (kPacket + static_cast<double>(threads.packet) * element);
  const double warps = static_cast<double>(fed.rows() * threads.team) / kLanes;
  return {.words = {},
          .threads = FedThreads::kOfBlock,
          .blocks = threads.blocks,
          .workers = threads.blocks,
          .instructions = warps * of_thread,
          .dependent_loads = 2 + packets};  // the order's place, the row's number, then packet after packet
}

PrimitiveBytes moved(const Signature& s) {
  const FedInput fed = fed_input(s);
  const int64_t once = fed.rows() * fed.stored_elements() * bits(fed.column.stored) / 8;
  return {.read = fed.mixes() ? 2 * once : once, .written = fed.type.bytes()};
}

FlopCounts flop_counts(const Signature& s) {
  const FedInput fed = fed_input(s);
  return {.flops = static_cast<double>(fed.type.elements()) * (1 + 2 * static_cast<double>(fed.active().size()))};
}

const RegisterOp op(
    {.name = "feed",
     .doc = "the next rows of a column of the data set, as an input has them; rows, types and maps stand in the "
            "attributes, where the rows lie in the cursor. The cursor notes the first element that is not finite",
     .operands = {"cursor"},
     .results = {"y", "noted"},
     .attrs = {{.name = "input",
                .type = KeyType::text,
                .doc = "the input's name, which a table's column has",
                .required = true},
               {.name = "column", .doc = "which of the cursor's columns it is", .required = true},
               {.name = "stored", .type = KeyType::dtype, .doc = "the column's dtype", .required = true},
               {.name = "dtype", .type = KeyType::dtype, .doc = "the input's dtype", .required = true},
               {.name = "shape",
                .type = KeyType::integer,
                .count = Count::several,
                .doc = "the input's shape: rows, then what a row is",
                .required = true},
               {.name = "maps",
                .type = KeyType::text,
                .doc = "what is done to each row: \"flip(probability = 0.5); scale(by = 0.5)\"",
                .fallback = std::string()},
               {.name = "classes",
                .doc = "above 0: a class number becomes so many zeros with a one, along the last axis",
                .fallback = int64_t{0}},
               {.name = "channels_first",
                .type = KeyType::flag,
                .doc = "whether a row is [c,h,w], where maps move pictures",
                .fallback = false},
               {.name = "stride",
                .doc =
                    "elements from one row of the column to the next one, of longer rows; the input has the first of "
                    "each; 0: as many as become the input",
                .fallback = int64_t{0}},
               {.name = "draws",
                .doc = "the word of the cursor from which random maps find the rows' numbers, the seed and the epoch; "
                       "0: they do not act",
                .fallback = int64_t{0}}},
     .dtypes = {DType::u64},
     .kind = Primitive{.call = "",
                       .plan = plan,
                       .bytes = moved,
                       .flop_counts = flop_counts,
                       .overwrites = {{.result = 1, .operand = 0}},
                       .joins = true},
     .traits = {.gathers_rows = true},
     .infer = infer,
     .no_gradient = "the data set is no value of the graph",
     .precondition = "the cursor's words are the addresses of columns of these types, with as many rows as are taken"});

}  // namespace
}  // namespace heddle::ir
