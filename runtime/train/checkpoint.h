// Checkpoints: everything that a training needs to continue bit for bit, in one sealed file (runtime/weights/sealed.h).
//
//   write_sealed(path, make_checkpoint(executable, state, {{"heddle.model", text}}));
//   const Checkpoint c = read_checkpoint(path);             // a UserError of one line says what is wrong with it
//   require_states(c, program); restore_states(executable, c);   // then train with TrainOptions::from = &c.state
//
// The file holds every state of the program under its name, with the shape and element order of files. So a training
// can continue on another device, and with another number of threads or of steps per submission. The numbers of
// RunState are in the metadata.
#pragma once
#include <map>
#include <string>

#include "runtime/executable.h"
#include "runtime/train/run_state.h"

namespace heddle::runtime {

constexpr int64_t kCheckpointFormat = 1;

struct Checkpoint {
  WeightsFile file;
  RunState state;
};

// Copies the current states. Errors can come only from the device, since no file is written.
WeightsFile make_checkpoint(Executable& executable, const RunState& state,
                            const std::map<std::string, std::string>& metadata);
Checkpoint read_checkpoint(const std::string& path);
// Throws UserError where a state of the program is absent in the checkpoint, or has another type or shape, or where the
// checkpoint has a state that the program lacks.
void require_states(const Checkpoint& checkpoint, const codegen::Program& program);
void restore_states(Executable& executable, const Checkpoint& checkpoint);

}  // namespace heddle::runtime
