// Checkpoints: all that a training needs to go on bit for bit, in one sealed file (runtime/weights/sealed.h).
//
//   write_sealed(path, make_checkpoint(executable, state, {{"heddle.model", text}}));
//   const Checkpoint c = read_checkpoint(path);             // a UserError of one line says what is wrong with it
//   require_states(c, program); restore_states(executable, c);   // then train with TrainOptions::from = &c.state
//
// Every state of the program is there under its name, with the shape and the order of elements that files have; so
// another device, another number of threads or steps of a submission can go on with it. Numbers stand in the metadata.
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

// The states as they are now. What is thrown is the device's, nothing of a file's.
WeightsFile make_checkpoint(Executable& executable, const RunState& state,
                            const std::map<std::string, std::string>& metadata);
Checkpoint read_checkpoint(const std::string& path);
// Throws UserError where a state of the program is absent, or of another type or shape, or there is one that it lacks.
void require_states(const Checkpoint& checkpoint, const codegen::Program& program);
void restore_states(Executable& executable, const Checkpoint& checkpoint);

}  // namespace heddle::runtime
