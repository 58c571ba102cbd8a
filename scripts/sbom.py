#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Prints the parts of a portable archive as an SPDX document: vyre, the libraries that are linked in or copied, and the files.

usage: sbom.py PLATFORM VERSION FOLDER
"""
import datetime
import hashlib
import json
import os
import pathlib
import subprocess
import sys

# Debian packages whose code is in the archive: (package, license, platforms).
LINUX, ALL = ("linux-x86_64", "linux-arm64"), ("linux-x86_64", "linux-arm64", "windows-x86_64")
PARTS = [("glslang-dev", "BSD-3-Clause AND Apache-2.0", LINUX), ("spirv-tools", "Apache-2.0", LINUX), ("spirv-headers", "MIT", ALL),
         ("libspirv-cross-c-shared0", "Apache-2.0", LINUX), ("libjansson-dev", "MIT", LINUX),
         ("libhiredis-dev", "BSD-3-Clause", LINUX), ("libmd-dev", "BSD-3-Clause", LINUX), ("zlib1g-dev", "Zlib", ALL),
         ("libxxhash-dev", "BSD-2-Clause", LINUX), ("uthash-dev", "BSD-1-Clause", ALL), ("libvulkan-dev", "Apache-2.0 OR MIT", LINUX),
         ("libvulkan-volk-dev", "MIT", LINUX), ("liburing-dev", "LGPL-2.1-or-later OR MIT", LINUX)]


def version_of(package):
    done = subprocess.run(["dpkg-query", "-W", "-f=${Version}\n", package], capture_output=True, text=True)
    if done.returncode:
        sys.exit(f"sbom.py: the package {package} is not installed\nFix: scripts/install-packages.sh")
    return done.stdout.splitlines()[0]


def main():
    platform, version, folder = sys.argv[1], sys.argv[2], pathlib.Path(sys.argv[3])
    time = datetime.datetime.fromtimestamp(int(os.environ["SOURCE_DATE_EPOCH"]), datetime.timezone.utc)
    packages, relations = [], []

    def add(identifier, name, number, license_):
        packages.append({"SPDXID": identifier, "name": name, "versionInfo": number, "licenseConcluded": license_, "licenseDeclared": license_,
                         "copyrightText": "NOASSERTION", "downloadLocation": "NOASSERTION", "filesAnalyzed": False})

    add("SPDXRef-vyre", "vyre", version, "Apache-2.0")
    for package, license_, platforms in PARTS:
        if platform in platforms:
            add(f"SPDXRef-{package}", package, version_of(package), license_)
            relations.append(("SPDXRef-vyre", "CONTAINS", f"SPDXRef-{package}"))
    files = []
    for path in sorted(folder.rglob("*")):
        if path.is_file() and not path.is_symlink() and path.name != "vyre.spdx.json":
            files.append({"SPDXID": f"SPDXRef-file-{len(files)}", "fileName": f"./{path.relative_to(folder)}", "licenseConcluded": "NOASSERTION",
                          "copyrightText": "NOASSERTION",
                          "checksums": [{"algorithm": "SHA1", "checksumValue": hashlib.sha1(path.read_bytes()).hexdigest()},
                                        {"algorithm": "SHA256", "checksumValue": hashlib.sha256(path.read_bytes()).hexdigest()}]})
    name = f"vyre-{version}-{platform}"
    digest = hashlib.sha256(json.dumps(files).encode()).hexdigest()
    json.dump({"spdxVersion": "SPDX-2.3", "dataLicense": "CC0-1.0", "SPDXID": "SPDXRef-DOCUMENT", "name": name,
               "documentNamespace": f"urn:vyre:{name}:{digest}",
               "creationInfo": {"created": time.strftime("%Y-%m-%dT%H:%M:%SZ"), "creators": ["Tool: scripts/sbom.py"]},
               "documentDescribes": ["SPDXRef-vyre"], "packages": packages, "files": files,
               "relationships": [{"spdxElementId": a, "relationshipType": how, "relatedSpdxElement": b} for a, how, b in relations]},
              sys.stdout, indent=1)
    print()


main()
