// Package: one file with a model and the machine code of its programs, for machines without a compiler.
//
//   Package p = read_package("mnist.heddle");          // checksums, format, version
//   p.targets[0].programs[0].entries                   // "train 128, train_last 96"
//   require_program(p.file, p.targets[0], program);        // throws unless the package was made with this very program
//
// The file is sealed (runtime/weights/sealed.h). Its tensors hold the model's text and the code; its metadata hold the
// manifest as JSON. It holds no addresses: Heddle compiles the programs again from the model, without a system
// compiler. Each program must be identical to the one of the package, including all addresses. So no number of the file
// decides which memory is accessed. The code itself is executed without checks: the maker of a package must be trusted.
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
  std::string hash;     // of the program with its addresses, and of its kernels' text
  int64_t state_bytes = 0, arena_bytes = 0, ring_bytes = 0, kernels = 0;
};

// The target of a package's programs.
struct PackedTarget {
  std::string name;   // name of an ir::Target: "host", "h200"
  std::string arch;   // "native", "haswell"; "sm_90a"
  std::string ptx;    // for GPUs: the PTX that other GPUs compile, "compute_90"
  std::string maker;  // "g++ (Debian 12.2.0-14) 12.2.0", "NVRTC 13.0"
  // For the host:
  std::string machine;                    // "x86_64"
  std::vector<std::string> instructions;  // sets that the code may need: "avx2", "fma"
  std::string onednn;                     // the version that the programs were planned with
  int64_t predict_rows = 0;               // rows at once; 0: no predictions
  std::vector<PackedProgram> programs;

  bool gpu() const { return name != "host"; }
  std::string folder() const { return gpu() ? arch : name; }  // the folder of its code in the package
  ir::Target target() const;
};

struct Package {
  std::string file;    // for messages
  std::string heddle;  // version
  std::string model_name;
  std::vector<PackedTarget> targets;
  std::string model;                 // the model's text
  std::vector<std::string> outputs;  // of predictions, as requested; empty: the model's
  runtime::WeightsFile content;      // the file with the code

  // The code for the target's programs. Loading another program throws.
  runtime::PackedCode code_of(const PackedTarget& target) const;
};

// Whether the file is a package, by its name (m.heddle) or its first bytes.
bool is_package(const std::string& path);
// For commands that need programs that packages do not hold: throws UserError (exit 1) where the file is a package.
void require_model_file(const std::string& path, const std::string& help =
                                                     "train, evaluate, predict, summary and inspect take packages, and "
                                                     "nothing that makes other programs");
// For a model on standard input: throws UserError (exit 2) where the text is a package.
void require_no_package(std::string_view text);
// Throws UserError, in one line and with a remedy, where the file is damaged, of another format or version, or not a
// package.
Package read_package(const std::string& path);
// Throws UserError unless a package can be written there: the file is absent, empty or a package.
void require_package_path(const std::string& path);
void write_package(const std::string& path, const Package& package);

// Throws UserError (exit 1) where no program of the target equals this one.
void require_program(const std::string& file, const PackedTarget& target, const codegen::Program& program);
PackedProgram describe_program(const codegen::Program& program);

// The manifest as JSON text.
std::string print_manifest(const Package& package);
// Reads the manifest. `package.file` and `content` must be set. Throws UserError at the first invalid value.
void read_manifest(Package& package, const std::string& text);

}  // namespace heddle::driver
