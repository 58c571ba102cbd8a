# The functions and structs of libvyre that the package uses, for ctypes.  The names are those of include/vyre/*.h.
# SPDX-License-Identifier: Apache-2.0
"""Declarations of libvyre for ctypes."""
from __future__ import annotations

import ctypes
import os
import pathlib
from ctypes import POINTER, c_bool, c_char_p, c_int, c_size_t, c_uint32, c_void_p

c_char_pp = POINTER(c_char_p)


class Bytes(ctypes.Structure):  # vyre_bytes
    _fields_ = [("data", c_void_p), ("size", c_size_t), ("capacity", c_size_t), ("allocator", c_void_p)]


class Diagnostic(ctypes.Structure):  # vyre_diagnostic
    _fields_ = [("severity", c_int), ("file", c_char_p), ("line", c_uint32), ("column", c_uint32), ("length", c_uint32),
                ("message", c_char_p), ("source", c_void_p), ("source_length", c_size_t), ("fix", c_char_p)]


Emit = ctypes.CFUNCTYPE(None, c_void_p, POINTER(Diagnostic))


class Diagnostics(ctypes.Structure):  # vyre_diagnostics
    _fields_ = [("emit", Emit), ("user", c_void_p)]


class Specialization(ctypes.Structure):  # vyre_specialization
    _fields_ = [("values", c_char_pp), ("count", c_uint32), ("optional", c_char_pp), ("optional_count", c_uint32), ("freeze", c_bool)]


class OptimizeOptions(ctypes.Structure):  # vyre_optimize_options
    _fields_ = [("struct_size", c_size_t), ("passes", c_char_p), ("emit", c_char_p), ("path", c_char_p), ("plugins", c_char_pp),
                ("plugin_count", c_uint32), ("max_growth", c_uint32), ("specialization", Specialization), ("language", c_char_p),
                ("target_env", c_char_p), ("stage", c_char_p), ("entry_point", c_char_p), ("defines", c_char_pp),
                ("define_count", c_uint32), ("include_dir_count", c_uint32), ("include_dirs", c_char_pp), ("debug", c_bool),
                ("strip", c_bool), ("keep_vectors", c_bool), ("diagnostics", Diagnostics), ("allocator", c_void_p)]


class OptimizeItem(ctypes.Structure):  # vyre_optimize_item
    _fields_ = [("path", c_char_p), ("data", c_char_p), ("size", c_size_t), ("out", Bytes), ("status", c_void_p),
                ("diagnostics", Diagnostics)]


class View(ctypes.Structure):  # vyre_view
    _fields_ = [("struct_size", c_uint32), ("rows", c_uint32)] + [
        (name, c_void_p) for name in ("op", "imm", "imm_hi", "a", "b", "c", "parent", "prev", "next", "first", "last", "op_infos", "loop",
                                      "loop_next", "loop_exit", "end", "level", "depth", "hash", "canonical", "version", "joins", "parts")
    ] + [(name, c_uint32) for name in ("join_count", "part_count", "op_count", "op_info_stride")]


class OpInfo(ctypes.Structure):  # the start of vyre_op_info
    _fields_ = [("text", c_char_p)]


# The structs that the tests compare with those of the C compiler.
STRUCTS = {"vyre_bytes": Bytes, "vyre_diagnostic": Diagnostic, "vyre_diagnostics": Diagnostics, "vyre_specialization": Specialization,
           "vyre_optimize_options": OptimizeOptions, "vyre_optimize_item": OptimizeItem, "vyre_view": View}

FUNCTIONS = {
    "vyre_optimize": (c_void_p, POINTER(OptimizeOptions), c_char_p, c_size_t, POINTER(Bytes)),
    "vyre_optimize_many": (c_void_p, POINTER(OptimizeOptions), POINTER(OptimizeItem), c_size_t, c_uint32, c_uint32),
    "vyre_optimize_end": (None,),
    "vyre_status_code": (c_int, c_void_p),
    "vyre_status_text": (c_char_p, c_void_p),
    "vyre_status_free": (None, c_void_p),
    "vyre_bytes_free": (None, POINTER(Bytes)),
    "vyre_module_create": (c_void_p, c_void_p, c_uint32, POINTER(c_void_p)),
    "vyre_module_destroy": (None, c_void_p),
    "vyre_module_view": (POINTER(View), c_void_p),
    "vyre_input_parse": (c_void_p, c_void_p, c_char_p, c_char_p, c_size_t, c_void_p, Diagnostics, POINTER(c_int)),
    "vyre_text_print": (c_void_p, c_void_p, c_void_p, POINTER(Bytes)),
}


def _load() -> ctypes.CDLL:
    """Opens libvyre: the file that VYRE_LIBRARY names, a copy beside this package, or the system's."""
    beside = pathlib.Path(__file__).with_name("libvyre.so.0")
    name = os.environ.get("VYRE_LIBRARY") or (str(beside) if beside.exists() else "libvyre.so.0")
    try:
        library = ctypes.CDLL(name)
        for function, (result, *arguments) in FUNCTIONS.items():
            getattr(library, function).restype = result
            getattr(library, function).argtypes = arguments
    except (OSError, AttributeError) as error:
        raise ImportError(f"cannot use libvyre: {error}\nFix: install the package libvyre0 of this version, or set VYRE_LIBRARY to the path "
                          "of libvyre.so.0") from None
    return library


library = _load()
