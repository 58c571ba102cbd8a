# SPDX-License-Identifier: Apache-2.0
# The configuration of vyre's lit tests.  ctest -R '^lit$' runs all tests, and this command runs one:
#   python3 /usr/lib/llvm-14/build/utils/lit/lit.py -v BUILD/lit-tests/Pipeline/errors.test
import os
import shutil
import sys

import lit.formats

config.name = "vyre"
config.suffixes = [".vir", ".test", ".comp", ".spvasm"]
config.excludes = ["Inputs"]
config.test_source_root = os.path.join(config.vyre_source, "lit-tests")
HOUSE = os.path.join(config.test_source_root, "house")
sys.path.insert(0, HOUSE)
import shell_test  # of HOUSE; a module, because lit's workers are separate processes
import glsl  # of HOUSE

# --param phases=1 runs GPU passes by their phases, --param target=NAME runs them on that target; both write into separate folders.
# A bundle (scripts/gpu-bundle.sh) has no compilers and no solver.
PHASES, TARGET, BUNDLE = "phases" in lit_config.params, lit_config.params.get("target"), getattr(config, "vyre_bundle", False)
DEVICE = " -device=sim" if TARGET == "cuda" else ""  # so that no test depends on the machine's card
PASS_OPTIONS = " -phases" if PHASES else f" -target={TARGET}{DEVICE} -validate" if TARGET else ""
config.test_exec_root = os.path.join(config.vyre_obj, "phases" if PHASES else TARGET or "")
config.test_format = shell_test.ShTest(config.test_source_root, [TARGET, "phases" if PHASES else None, "bundle" if BUNDLE else None],
                                     int(os.environ.get("VYRE_COMMAND_LIMIT", config.vyre_limit)))  # set by the build: VYRE_TEST_LIMIT

# Tests with random programs, or with all inputs of the tests, run one of SHARE cases (CMakePresets.json).
SHARE = int(os.environ.get("VYRE_SHARE", "1"), 0) or 1
config.environment["NO_COLOR"] = "1"  # Tool/terminal.vir tests the colors
config.environment["VYRE_SHARE"] = str(SHARE)
if SHARE == 1:  # `REQUIRES: all`: scripts/test.sh skips the test
    config.available_features.add("all")

def program(name):
    return os.path.join(config.vyre_bin, name)

# Longer names first: lit replaces the names in this order, and before %s, %S, %t, %p.
config.substitutions += [
    ("%passmgr", program("vyre-passmgr") + PASS_OPTIONS),
    ("%plugindir", config.vyre_plugins),
    ("%examples", os.path.join(config.vyre_source, "examples")),
    # %not CODE command...: checks that the command ends with exactly this code, and not by a signal.
    ("%not", os.path.join(HOUSE, "expect-exit")),
    # %holds FILE FILE-TO-WRITE [pipeline...]: checks programs against their expected values, before and after each pass.
    ("%holds", f"{sys.executable} {os.path.join(HOUSE, 'holds.py')} '{config.vyre_bin}{PASS_OPTIONS}'"),
    # %batched DIR FOLDER... -- PIPELINE...: checks that all inputs in the folders have the same outputs in batches as one by one.
    ("%batched", f"{sys.executable} {os.path.join(HOUSE, 'batched.py')} {config.vyre_bin} {config.spirv_as}"),
    # %functions DIR COUNT SEED PIPELINE [OPTION...]: checks stores of random GLSL with functions, before and after the pipeline.
    ("%functions", f"{sys.executable} {os.path.join(HOUSE, 'functions.py')} {config.vyre_bin} {config.spirv_val}"),
    # %pointers DIR COUNT SEED PIPELINE: checks that random programs over physical pointers of several strides keep their results.
    ("%pointers", f"{sys.executable} {os.path.join(HOUSE, 'pointers.py')} {config.vyre_bin} {config.spirv_as} {config.spirv_dis} {config.spirv_val}"),
    # %cc: the compiler that built vyre, with the flags of docs/c.md.
    ("%cc", f"{config.cc} -std=c17 -Wall -Wextra -Wconversion -Werror -ffp-contract=off"),
    ("%python", sys.executable),
    ("%house", HOUSE),
    ("%bin", config.vyre_bin),
    # The Vulkan library with faults that FAKE_VULKAN_LOSE and FAKE_VULKAN_STORAGE select: unittests/vulkan/fake_vulkan.h.
    ("%fake-vulkan", os.path.join(config.vyre_unittests, "libfake-vulkan.so")),
    # %full-device PATH: creates a device at PATH that is always full.
    ("%full-device", os.path.join(HOUSE, "full-device")),
    # %terminal command...: runs the command with an output that looks like a terminal.
    ("%terminal", f"env LD_PRELOAD={config.vyre_plugins}/terminal.so"),
    # %noproc command...: runs the command without the files of /proc.
    ("%noproc", f"env LD_PRELOAD={config.vyre_plugins}/noproc.so"),
    ("%prove", program("vyre-prove")),
    ("%kernelc", program("vyre-kernelc")),
    ("%new-pass", program("vyre-new-pass")),
    ("%megac", program("vyre-megac")),
    ("%mega", program("vyre-mega")),
    ("%run", program("vyre-run")),
    ("%wrap", program("vyre-wrap")),
    ("%queue", program("vyre-queue")),
    ("%fuzz", program("vyre-fuzz")),
    ("%spirv-val", config.spirv_val),
    ("%spirv-as", config.spirv_as),
    ("%spirv-dis", config.spirv_dis),
    ("%vyre-version", config.vyre_version),
    # %count(N), for these N: the number of random programs, N if all run.
    *((rf"%count\({n}\)", str(max(1, n // SHARE))) for n in (5, 15, 20, 25, 40, 150)),
    (r"\bFileCheck\b", config.filecheck + " --allow-unused-prefixes=false --enable-var-scope --dump-input-context=20"),
    (r"\bsplit-file\b", os.path.join(HOUSE, "split-file")),
]

# One GLSL compiler serves all tests, because a new process needs a quarter of a second for its tables.
glsl_server = glsl.start_server(os.path.join(config.vyre_bin, "..", "lib", "vyre", "vyre-glsl"))
if glsl_server is None:
    lit_config.fatal("vyre-glsl does not start as a server\nFix: build it, or run lit from the build folder")
config.environment["VYRE_GLSL_SERVER"] = glsl_server

config.environment["XDG_CACHE_HOME"] = config.vyre_cache  # not the user's home
if "VYRE_NO_VALIDATION" in os.environ:
    config.substitutions.append((r"(vulkan[^|]*?) -validate(?![\w=-])", r"\1"))
if config.vyre_sanitize:
    config.available_features.add("sanitized")
if config.vyre_build_type == "Debug":
    config.available_features.add("debug")
# Tools of the tests.  A missing tool is a failure: a skipped test would hide errors.
for tool, package in ((config.spirv_val, "spirv-tools"), (config.spirv_as, "spirv-tools"), (config.spirv_dis, "spirv-tools"),
                      (config.filecheck, "llvm-14-tools"), ("z3", "z3")):
    if BUNDLE and tool == "z3":
        continue
    if not shutil.which(tool):
        lit_config.fatal(f"{tool} is missing, and tests need it\n"
                         f"Fix: install the package {package} (scripts/install-packages.sh tests installs all), and configure again")
# Many tests have the same kernels: Mesa caches compiled kernels in a folder that all tests share, and no other program does.
config.environment["MESA_SHADER_CACHE_DIR"] = config.vyre_cache
for name in ("ASAN_OPTIONS", "UBSAN_OPTIONS", "LSAN_OPTIONS", "HOME", "XDG_RUNTIME_DIR", "VK_ICD_FILENAMES", "VK_DRIVER_FILES", "VK_LAYER_PATH",
             "VYRE_NO_VALIDATION", "LP_NUM_THREADS", "MESA_SHADER_CACHE_DIR", "__GL_SHADER_DISK_CACHE_PATH", "XDG_CACHE_HOME",
             "VYRE_COVERAGE"):
    if name in os.environ:
        config.environment[name] = os.environ[name]
