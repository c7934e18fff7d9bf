// Package: a model with the machine code of its programs in one file, for machines without a compiler.
//
//   Package p = read_package("mnist.heddle");          // checksums, format, version
//   p.targets[0].programs[0].entries                   // "train 128, train_last 96"
//   require_program(p.file, p.targets[0], program);        // throws unless the package was made with this very program
//
// The file is a sealed one (runtime/weights/sealed.h): the model's text and the code are its tensors, the manifest is
// JSON in its metadata. No address stands in it. Programs are made anew from the model, which takes no compiler but
// this one, and each must be the one that the package was made with, to the last address; so no number of a file
// decides where memory is touched. The code itself is executed as it is: who makes packages is trusted with that.
#pragma once
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "codegen/program.h"
#include "ir/kernel/target.h"
#include "runtime/compile/packed_code.h"
#include "runtime/weights/safetensors.h"

namespace heddle::driver {

struct PackedProgram {
  std::string purpose;  // "train", "evaluate", "predict"
  std::string entries;  // "train 128, train_last 96, eval 128"
  std::string hash;     // of the program's text, addresses included, and of its kernels'
  int64_t state_bytes = 0, arena_bytes = 0, ring_bytes = 0, kernels = 0;
};

// What a program is compiled for.
struct PackedTarget {
  std::string name;   // of an ir::Target: "host", "h200"
  std::string arch;   // "native", "haswell"; "sm_90a"
  std::string ptx;    // on a GPU: what cards that it does not know compile, "compute_90"
  std::string maker;  // "g++ (Debian 12.2.0-14) 12.2.0", "NVRTC 13.0"
  // Of the host:
  std::string machine;                    // "x86_64"
  std::vector<std::string> instructions;  // that the code may need: "avx2", "fma"
  std::string onednn;                     // the version whose calls the programs plan with
  int64_t predict_rows = 0;               // at once; 0: nothing is predicted
  std::vector<PackedProgram> programs;

  bool gpu() const { return name != "host"; }
  std::string folder() const { return gpu() ? arch : name; }  // of its code
  ir::Target target() const;
};

struct Package {
  std::string file;    // for messages
  std::string heddle;  // version
  std::string model_name;
  std::vector<PackedTarget> targets;
  std::string model;                 // the model's text
  std::vector<std::string> outputs;  // that predict computes, by the names that were asked for; none: the model's
  runtime::WeightsFile content;      // the code

  // Of the target's programs, and none else: whoever loads others is refused.
  runtime::PackedCode code_of(const PackedTarget& target) const;
};

// Whether the file is to be read as a package: by its name, m.heddle, or its first bytes.
bool is_package(const std::string& path);
// Of a command that makes other programs than packages hold. Throws UserError (exit 1) where the file is a package.
void require_model_file(const std::string& path, const std::string& help =
                                                     "train, evaluate, predict, summary and inspect take packages, and "
                                                     "nothing that makes other programs");
// Of a model's text on standard input. Throws UserError (exit 2) where it is a package.
void require_no_package(std::string_view text);
// Throws UserError, in one line and with what to do: damaged, of another format or version, or no package.
Package read_package(const std::string& path);
// Throws UserError unless a package could be written there now: what is there is absent, empty or a package.
void require_package_path(const std::string& path);
void write_package(const std::string& path, const Package& package);

// What the package was made of, to be compared: throws UserError (exit 1) where no program of the target is this one.
void require_program(const std::string& file, const PackedTarget& target, const codegen::Program& program);
PackedProgram describe_program(const codegen::Program& program);

// The manifest, as it stands in the file.
std::string print_manifest(const Package& package);
// Throws UserError at the value that does not fit. `package.file` and `content` are there.
void read_manifest(Package& package, const std::string& text);

}  // namespace heddle::driver
