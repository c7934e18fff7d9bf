// What generates of a model: the logits of the next token, the text that they are of, and the source beside it.
//
//   translation: english i32[N,12], size i32[N], other i32[N,12] -> logits f32[N,12,135]
//     -> text %other, source %english, its sizes %size; decoded as passes/decode says
#pragma once
#include <string>

#include "frontend/model.h"
#include "passes/decode/decode.h"

namespace heddle::driver {

// What the loss compares with the next tokens; else the only output. Throws UserError where it is not known.
frontend::OutputDef logits_of(const frontend::Model& model);

struct DecodedText {
  ir::ValueId text, source,
      sizes;          // inputs of the graph: [N,T], [N,S], [N]; the latter are invalid where there are none
  int64_t chunk = 1;  // tokens of @prefill
  passes::Decoded decoded;
};

// `forward` is the graph of predictions of `m` with the logits as its only output. A text is alone in its row: inputs
// that hold the "document" and the "position" of a window's tokens are known. Of several texts the one is written of
// which the model makes the tokens one after the other. An encoder does not: it reads a source as a whole. Throws
// UserError where the model does not generate.
DecodedText decode_text(const frontend::Model& model, const ir::Module& m, const ir::Graph& forward);

}  // namespace heddle::driver
