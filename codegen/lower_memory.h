// Where things lie: the state segment's table, addresses of planned values, the lower bound of an entry's arena.
#pragma once
#include <map>

#include "codegen/program.h"
#include "ir/storage/storage.h"

namespace heddle::codegen {

// The states of all graphs by name, each at one offset: graphs share them.
struct StateTable {
  std::map<std::string, int64_t> offsets;
  std::vector<Buffer> buffers;  // members of a flat state are listed instead of it
  int64_t bytes = 0;

  int64_t reserve(int64_t size, int64_t alignment = ir::kArenaAlignment);
};
StateTable state_table(const ir::Module& m);

Buffer buffer(const ir::Value& v, BufferRole role, const Address& at);

// The address of a planned value: its own place, or inside the storage it is a view of.
Address address(const ir::Graph& g, ir::ValueId v, const StateTable& states);

// The largest sum of live sizes at one step, each rounded up to the alignment, scratch of calls included. No plan needs
// less.
int64_t max_live_bytes(const ir::Module& m, const ir::Graph& g);

}  // namespace heddle::codegen
