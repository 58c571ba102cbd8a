# SPDX-License-Identifier: Apache-2.0
# How vyre's lit tests are found and run.  Run them with ctest -R '^lit$', or one of them with
#   python3 /usr/lib/llvm-14/build/utils/lit/lit.py -v BUILD/lit-tests/Pipeline/errors.test
import os
import shutil
import sys

import lit.formats

config.name = "vyre"
config.suffixes = [".vir", ".test", ".comp", ".spvasm"]
config.excludes = ["Inputs"]
config.test_format = lit.formats.ShTest(execute_external=False)
config.test_source_root = os.path.join(config.vyre_source, "lit-tests")
config.test_exec_root = config.vyre_obj

# What hangs is ended: lit's own timeout needs a Python package that Debian does not install with it.
LIMIT = "timeout 120 "
HOUSE = os.path.join(config.test_source_root, "house")

def program(name):
    return LIMIT + os.path.join(config.vyre_bin, name)

# Longer names first: lit replaces them in this order, and before its own %s, %S, %t, %p.
config.substitutions += [
    ("%passmgr", program("vyre-passmgr")),
    ("%plugindir", config.vyre_plugins),
    ("%examples", os.path.join(config.vyre_source, "examples")),
    # %not CODE command...: the command ends with exactly this code, and by no signal.
    ("%not", os.path.join(HOUSE, "expect-exit")),
    # %holds FILE FILE-TO-WRITE [pipeline...]: programs compute what they say, before and behind each pass.
    ("%holds", f"{LIMIT}{sys.executable} {os.path.join(HOUSE, 'holds.py')} {config.vyre_bin}"),
    # %full-device PATH: makes a device that is always full there.
    ("%full-device", os.path.join(HOUSE, "full-device")),
    ("%prove", program("vyre-prove")),
    ("%run", program("vyre-run")),
    ("%fuzz", program("vyre-fuzz")),
    ("%spirv-val", config.spirv_val),
    ("%spirv-as", config.spirv_as),
    ("%spirv-dis", config.spirv_dis),
    ("%vyre-version", config.vyre_version),
    (r"\bFileCheck\b", config.filecheck + " --allow-unused-prefixes=false --enable-var-scope --dump-input-context=20"),
    (r"\bsplit-file\b", config.split_file),
]

if config.vyre_sanitize:
    config.available_features.add("sanitized")
if config.vyre_build_type == "Debug":
    config.available_features.add("debug")
for feature, tool in (("spirv-val", config.spirv_val), ("spirv-as", config.spirv_as), ("spirv-dis", config.spirv_dis)):
    if tool and not tool.endswith("NOTFOUND"):
        config.available_features.add(feature)
if os.geteuid() == 0:
    config.available_features.add("root")
if os.path.exists("/dev/full"):
    config.available_features.add("dev-full")
if shutil.which("z3"):
    config.available_features.add("z3")
try:
    for end in os.openpty():
        os.close(end)
    config.available_features.add("terminal")
except OSError:
    pass  # no /dev/pts

for name in ("ASAN_OPTIONS", "UBSAN_OPTIONS", "LSAN_OPTIONS", "HOME", "XDG_RUNTIME_DIR", "VK_ICD_FILENAMES", "VK_DRIVER_FILES", "VK_LAYER_PATH"):
    if name in os.environ:
        config.environment[name] = os.environ[name]
