import json
import os
import shutil
import subprocess
import sys

# A module, since lit passes the format to its workers by name.
sys.path.insert(0, os.path.join(lit_config.params["source"], "tests", "support"))
import failed_command

config.name = "heddle"
config.test_format = failed_command.FailedCommand(execute_external=False)
config.suffixes = [".hir", ".json", ".test"]
config.excludes = ["Inputs", "unit", "numeric", "property", "fuzz", "robust", "training", "ptx", "package"]
config.test_source_root = os.path.dirname(__file__)
config.test_exec_root = os.path.join(lit_config.params["build"], "tests", "lit")

# A variable captured under one CHECK-LABEL is not visible under the next.
config.environment["FILECHECK_OPTS"] = "--enable-var-scope --allow-unused-prefixes=false"
config.environment["NO_COLOR"] = "1"
# Compiled kernels of the tests stay out of the user's cache, but live from one run to the next.
config.environment["HEDDLE_CACHE"] = os.path.join(lit_config.params["build"], "kernels")
tools = lit_config.params["tools"]
config.environment["PATH"] = os.pathsep.join([tools, lit_config.params.get("llvm", "/usr/lib/llvm-14/bin"), os.environ["PATH"]])
# A command that must refuse its input: exit code 1 and a place, in two seconds; the sanitizers' builds are several times slower.
seconds = 10 if lit_config.params.get("sanitize") == "ON" else 2
refused = os.path.join(lit_config.params["source"], "tests", "support", "refused.py")
config.substitutions.append(("%refused", f"{sys.executable} {refused} {seconds}"))
refuse_all = os.path.join(lit_config.params["source"], "tests", "support", "refuse_all.py")
config.substitutions.append(("%refuse_all", f"{sys.executable} {refuse_all} {seconds}"))
config.substitutions.append(("%models", os.path.join(lit_config.params["source"], "models")))

# Data sets that are not part of the project: tests that read them say REQUIRES: data.
data = os.environ.get("HEDDLE_DATA", "")
if data and os.path.isdir(data):
    config.available_features.add("data")
    config.substitutions.append(("%data", data))
config.substitutions.append(("%tools_bin", tools))
config.substitutions.append(("%tools", os.path.join(lit_config.params["source"], "tools")))
config.substitutions.append(("%python", sys.executable))

# Products of bytes by oneDNN: tests that see them say REQUIRES: vnni.
if os.path.exists("/proc/cpuinfo") and "avx512_vnni" in open("/proc/cpuinfo").read().split():
    config.available_features.add("vnni")

# Tests that fill a disk say REQUIRES: tmpfs; a mount namespace of one's own takes root.
mounted = subprocess.run(["unshare", "-m", "mount", "-t", "tmpfs", "none", "/mnt"], capture_output=True)
if mounted.returncode == 0:
    config.available_features.add("tmpfs")

if shutil.which("groff"):
    config.available_features.add("groff")

# AddressSanitizer reserves terabytes of address space, and its quarantine takes hundreds of megabytes: tests that limit
# or measure memory say REQUIRES: plain. So do those of minutes under sanitizers, where other tests run the same code.
if lit_config.params.get("sanitize") != "ON":
    config.available_features.add("plain")
config.substitutions.append(("%plain", "plain" if "plain" in config.available_features else ""))

# Tests that compile for a GPU say REQUIRES: nvrtc.
doctor = subprocess.run([os.path.join(tools, "heddle"), "doctor", "--json"], capture_output=True, text=True)
if doctor.returncode == 0 and json.loads(doctor.stdout)["nvrtc"]["ok"]:
    config.available_features.add("nvrtc")
# Tests of what is said where there is no GPU say REQUIRES: no-cuda.
if doctor.returncode == 0 and "cuda device" in json.loads(doctor.stdout):
    config.available_features.add("no-cuda")
# A command on the fake of NVIDIA's driver, which is the library of that name where the loader looks first; what it found is in %t.report.
fake = os.path.join(lit_config.params["build"], "fake_cuda")
config.substitutions.append(
    ("%fake_cuda", f"env LD_LIBRARY_PATH={fake} HEDDLE_CUBLASLT={fake} HEDDLE_CUDNN={fake} HEDDLE_CUDA_CODE=ptx HEDDLE_FAKE_CUDA_REPORT=%t.report"))
