// The layer that runs a block once for each step of a sequence. The instance builds it (frontend/instantiate/instantiate.cpp).
#include "frontend/layer_context.h"
#include "frontend/scan_use.h"
#include "ir/check.h"

namespace heddle::frontend {
namespace {

const RegisterLayer scan(
    {.name = "scan",
     .doc = "`block`, whose inputs `in` gives, once for each step of axis 1; `out` names the last values of the "
            "carries, then what is stacked "
            "along axis 1",
     .inputs = {},
     .settings =
         {{.name = "block",
           .type = KeyType::text,
           .doc = "the name of the block that is one step",
           .required = true,
           .hint = R"(for example "block": "cell")"},
          {.name = "carry",
           .type = KeyType::any,
           .count = Count::by_name,
           .doc = "inputs of the block that go from one step to the next, each with the value it starts as, or "
                  "the shape of zeros"},
          {.name = "next",
           .type = KeyType::text,
           .count = Count::by_name,
           .doc = "the node of the block that each carry becomes; without it, the block's output"},
          {.name = "slice",
           .type = KeyType::text,
           .count = Count::list,
           .doc = "inputs of the block that are one step of a sequence [N, steps, ...]"},
          {.name = "index", .type = KeyType::text, .doc = "the input of the block that is the step's number"},
          {.name = "stack",
           .type = KeyType::text,
           .count = Count::list,
           .doc = "nodes of the block that are kept of each step; without it, the block's output"},
          {.name = "reverse", .type = KeyType::flag, .doc = "from the last step to the first", .fallback = false},
          {.name = "count", .doc = "how many steps, where nothing is sliced"},
          {.name = "with", .type = KeyType::real, .count = Count::by_name, .doc = "sizes of the block"}},
     .results = scan_results,
     .runs_block = true,
     .build = [](LayerContext& c) -> ir::Values {
       HEDDLE_CHECK(false, "the instance builds " + c.node.op);
       return {};
     }});

}  // namespace
}  // namespace heddle::frontend
