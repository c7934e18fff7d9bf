// Parameters of bf16 (train.precision.params): gradients, moments and the update are of f32, and what the step leaves
// is rounded. Two parts of the frontend make that of a training that is built as one of f32:
//
//   rounded_parameter, in the update:    %w.next: f32[8]            ->   %w.rounded: bf16[8] = round_stochastic(%w.next, %w.draw)
//                                        update %w <- %w.next            %w.stored: f32[8] = cast(%w.rounded)
//                                                                        update %w <- %w.stored
//   store_parameters, once all is built: param %w: f32[8]           ->   param %w: bf16[8]
//                                        %y = mul(%x, %w)                %w.f32: f32[8] = cast(%w)
//                                                                        %y = mul(%x, %w.f32)
//
// So whatever reads a parameter behind its update, such as a later phase, an average or a copy, reads what is stored.
// Gradients are by %w.f32, and so of f32.
#pragma once
#include "frontend/instantiate/instantiate.h"

namespace heddle::frontend {

// Whether this one is kept in bf16. Buffers are not.
bool is_stored(const Train& train, const Parameter& p);
inline ir::Type stored_type(const Parameter& p) { return {ir::DType::bf16, p.type.dims}; }
// The f32 copy of a parameter that the optimizer renews: "fc.weight.master".
std::string master_of(const std::string& path);
ir::ValueId master_state(ir::Graph& g, const Parameter& p);
// The state that the optimizer renews: that copy, or the parameter.
ir::ValueId trained_state(Instance& e, const Train& train, const Parameter& p);
// What the step leaves of the next value, f32 whose numbers bf16 holds.
ir::ValueId rounded_parameter(Instance& e, ir::Builder& b, const Train& train, const Parameter& p, ir::ValueId next);
// The nearest, as f32.
ir::ValueId nearest_stored(ir::Builder& b, ir::ValueId v);

// Parameters of f32 become bf16 in all graphs.
void store_parameters(ir::Module& m);

}  // namespace heddle::frontend
