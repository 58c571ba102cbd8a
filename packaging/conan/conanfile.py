# SPDX-License-Identifier: Apache-2.0
"""A Conan 2 recipe: conan create packaging/conan.  It builds the tree that it is in."""
import os

from conan import ConanFile
from conan.tools.cmake import CMake, CMakeDeps, CMakeToolchain, cmake_layout
from conan.tools.files import copy


class Vyre(ConanFile):
    name = "vyre"
    version = "0.1.0"
    license = "Apache-2.0"
    description = "Optimizer for GPU compute shaders, with passes as plugins"
    settings = "os", "arch", "compiler", "build_type"
    package_type = "shared-library"

    def export_sources(self):
        root = os.path.join(self.recipe_folder, "..", "..")
        copy(self, "*", root, self.export_sources_folder, excludes=("build/*", ".git/*"))

    def requirements(self):
        for package in ("glslang/[>=12]", "jansson/[>=2.14]", "spirv-cross/[>=1.3]", "spirv-tools/[>=1.3]", "zlib/[>=1.2.11]"):
            self.requires(package)
        for package in ("spirv-headers/[>=1.3]", "uthash/[>=2.3]", "volk/[>=1.3]", "vulkan-headers/[>=1.3]", "xxhash/[>=0.8]"):
            self.requires(package, headers=True, libs=False)

    def layout(self):
        cmake_layout(self)

    def generate(self):
        CMakeDeps(self).generate()
        toolchain = CMakeToolchain(self)
        toolchain.cache_variables["VYRE_TESTS"] = False
        toolchain.cache_variables["VYRE_REDIS"] = False
        toolchain.generate()

    def build(self):
        cmake = CMake(self)
        cmake.configure()
        cmake.build()

    def package(self):
        CMake(self).install()
        copy(self, "LICENSE", self.source_folder, os.path.join(self.package_folder, "licenses"))

    def package_info(self):
        self.cpp_info.libs = ["vyre"]
        self.cpp_info.set_property("cmake_target_name", "vyre::vyre")
