# SPDX-License-Identifier: Apache-2.0
"""Optimizes GPU shaders: bytes in, bytes out.

    spirv = vyre.optimize(open("blur.comp", "rb").read(), path="blur.comp")

Any number of threads may call the functions at a time.  The interpreter lock is released while vyre works.
"""
from __future__ import annotations

import ctypes
import enum
import os
import threading
from typing import Any, Callable, Iterable, List, Mapping, NamedTuple, NoReturn, Optional, Sequence, Tuple, Union

from . import _native
from ._native import library as _library

__all__ = ["Diagnostic", "Error", "InputError", "Module", "Severity", "UsageError", "optimize", "optimize_many"]
__version__ = "0.1.0"

Data = Union[bytes, bytearray, memoryview, str]
Path = Union[str, "os.PathLike[str]"]
Value = Union[bool, int, float, str]


# ---- messages and errors ------------------------------------------------------------------------------------------------------


class Severity(enum.IntEnum):
    NOTE = 0
    REMARK = 1
    WARNING = 2
    ERROR = 3


class Diagnostic(NamedTuple):
    """A message about an input.  line and column count from 1, and are 0 if they are unknown."""

    severity: Severity
    file: Optional[str]
    line: int
    column: int
    message: str
    fix: Optional[str]

    def __str__(self) -> str:
        place = "".join(f"{part}:" for part in (self.file, self.line, self.column) if part)
        return f"{place} {self.severity.name.lower()}: {self.message}".strip() + (f"\nFix: {self.fix}" if self.fix else "")


class Error(Exception):
    """An error that vyre reports.  `diagnostics` has the messages of the call.  `code` is the exit code of vyre's programs."""

    def __init__(self, text: str, code: int, diagnostics: Sequence[Diagnostic] = ()):
        super().__init__(text)
        self.code = code
        self.diagnostics = list(diagnostics)

    def __reduce__(self) -> Tuple[Any, ...]:
        return type(self), (str(self), self.code, self.diagnostics)


class InputError(Error):
    """The shader is wrong, or memory ran out."""


class UsageError(Error, ValueError):
    """An argument is wrong: the text of a pipeline, a name, a plugin."""


def _take_error(status: int, diagnostics: Sequence[Diagnostic]) -> Error:
    """Returns the error of a status, and frees the status."""
    code = _library.vyre_status_code(status)
    text = _library.vyre_status_text(status).decode(errors="replace")
    _library.vyre_status_free(status)
    kind = {1: InputError, 2: UsageError}.get(code, Error)
    lines = [str(d) for d in diagnostics if d.severity == Severity.ERROR]
    return kind("\n".join([*lines, text]), code, diagnostics)


class _Messages:
    """Collects the diagnostics of a call, and passes them to the caller's function."""

    def __init__(self, function: Optional[Callable[[Diagnostic], None]]):
        self.function = function
        self.all: List[Diagnostic] = []
        self.raised: Optional[BaseException] = None  # the exception of `function`, because no exception may pass through C
        self.emit = _native.Emit(self.receive)
        self.native = _native.Diagnostics(self.emit, None)

    def receive(self, _user: object, native: Any) -> None:
        try:
            d = native.contents
            text = lambda bytes_: None if bytes_ is None else bytes_.decode(errors="replace")  # noqa: E731
            self.all.append(Diagnostic(Severity(d.severity), text(d.file), d.line, d.column, text(d.message) or "", text(d.fix)))
            if self.function and self.raised is None:
                self.function(self.all[-1])
        except BaseException as error:  # includes KeyboardInterrupt
            self.raised = self.raised or error

    def check(self) -> None:
        if self.raised:
            raise self.raised


# ---- options ------------------------------------------------------------------------------------------------------------------


def _bytes_of(data: Data) -> bytes:
    if not isinstance(data, (bytes, bytearray, memoryview, str)):
        raise TypeError(f"data is a shader as bytes or str, not {type(data).__name__}; read a file with Path.read_bytes()")
    return data if isinstance(data, bytes) else data.encode() if isinstance(data, str) else bytes(data)


def _name_of(value: Optional[Path], what: str) -> Optional[bytes]:
    if value is None:
        return None
    name = os.fsencode(value)
    if b"\0" in name:
        raise UsageError(f"{what} contains a null character\nFix: leave it out", 2)
    return name


def _names_of(values: Iterable[Path], what: str) -> Tuple[Any, int]:
    if isinstance(values, (str, bytes)):
        raise TypeError(f"{what} is a list of strings, not one string")
    names = [_name_of(value, what) for value in values]
    return (ctypes.c_char_p * len(names))(*names), len(names)


def _setting(name: object, value: Value) -> str:
    return f"{name}={str(value).lower() if isinstance(value, bool) else value}"


def _options(given: Mapping[str, Any], messages: _Messages) -> _native.OptimizeOptions:
    """Converts the options in `given`, which has the arguments of optimize() or optimize_many() by name."""
    if not 0 <= given["max_growth"] < 2**32:
        raise UsageError(f"max_growth is {given['max_growth']}\nFix: give a number from 0 to 4294967295", 2)
    o = _native.OptimizeOptions(struct_size=ctypes.sizeof(_native.OptimizeOptions), diagnostics=messages.native)
    for name in ("debug", "strip", "keep_vectors", "max_growth"):
        setattr(o, name, given[name])
    for name in ("passes", "emit", "path", "language", "target_env", "stage", "entry_point"):
        setattr(o, name, _name_of(given[name], name))
    o.plugins, o.plugin_count = _names_of(given["plugins"], "plugins")
    o.include_dirs, o.include_dir_count = _names_of(given["include_dirs"], "include_dirs")
    defines, spec = given["defines"] or {}, given["spec"] or {}
    o.defines, o.define_count = _names_of([n if v is None else f"{n}={v}" for n, v in defines.items()], "defines")
    o.specialization.values, o.specialization.count = _names_of([_setting(*item) for item in spec.items()], "spec")
    o.specialization.freeze = given["freeze_spec"]
    return o


# ---- functions ----------------------------------------------------------------------------------------------------------------


def _take_bytes(native: _native.Bytes) -> bytes:
    """Returns a copy of the bytes, and frees them."""
    try:
        return ctypes.string_at(native.data, native.size) if native.size else b""
    finally:
        _library.vyre_bytes_free(native)


def optimize(data: Data, passes: Optional[str] = None, *, emit: Optional[str] = None, path: Optional[Path] = None,
             spec: Optional[Mapping[Union[int, str], Value]] = None, freeze_spec: bool = False, language: Optional[str] = None,
             target_env: Optional[str] = None, stage: Optional[str] = None, entry_point: Optional[str] = None,
             defines: Optional[Mapping[str, object]] = None, include_dirs: Iterable[Path] = (), plugins: Iterable[Path] = (),
             debug: bool = False, strip: bool = False, keep_vectors: bool = False, max_growth: int = 0,
             on_diagnostic: Optional[Callable[[Diagnostic], None]] = None) -> bytes:
    """Returns the optimized shader.

    data       SPIR-V, or the text of GLSL, HLSL, SPIR-V assembly or .vir
    passes     a pipeline; "default<O2>" by default, and "" for none
    emit       "spirv" (the default), "spvasm", "glsl", "hlsl", "msl", "reflection", "vir", "c" or "ptx"
    path       the name in messages; its ending helps to detect language and stage, and #include searches its folder
    spec       values of specialization constants by id or name: {0: 64, "USE_WAVES": True}
    freeze_spec         makes specialization constants ordinary constants
    language, target_env, stage, entry_point, defines={"NAME": value}, include_dirs    for texts
    plugins    paths of shared objects with passes
    debug      keeps the lines of a text
    strip      omits names and lines
    keep_vectors, max_growth                as the options of vyre-passmgr
    on_diagnostic       is called with each Diagnostic, such as a remark; an exception that it raises is raised after the call

    Raises InputError if the shader is wrong, and UsageError if another argument is wrong.
    """
    messages = _Messages(on_diagnostic)
    native = _options(locals(), messages)
    content = _bytes_of(data)
    out = _native.Bytes()
    status = _library.vyre_optimize(native, content, len(content), out)
    result = _take_bytes(out)
    error = _take_error(status, messages.all) if status else None
    messages.check()
    if error:
        raise error
    return result


def optimize_many(items: Iterable[Union[Data, Tuple[Path, Data]]], passes: Optional[str] = None, *, threads: int = 0,
                  emit: Optional[str] = None, path: Optional[Path] = None,
                  spec: Optional[Mapping[Union[int, str], Value]] = None, freeze_spec: bool = False, language: Optional[str] = None,
                  target_env: Optional[str] = None, stage: Optional[str] = None, entry_point: Optional[str] = None,
                  defines: Optional[Mapping[str, object]] = None, include_dirs: Iterable[Path] = (), plugins: Iterable[Path] = (),
                  debug: bool = False, strip: bool = False, keep_vectors: bool = False, max_growth: int = 0,
                  on_diagnostic: Optional[Callable[[Diagnostic], None]] = None) -> List[Union[bytes, Error]]:
    """Returns a list with the bytes of each optimized shader, or with its error.

    An item is the data, or a pair (path, data).  At most `threads` threads are used, and one for each processor if `threads` is 0.
    optimize() describes the other arguments.  Raises UsageError if the options are wrong.
    """
    messages = _Messages(None)
    native = _options(locals(), messages)
    lock = threading.Lock()

    def alone(diagnostic: Diagnostic) -> None:
        with lock:
            if on_diagnostic and not any(own.raised for own in all_messages):
                on_diagnostic(diagnostic)

    if isinstance(items, (str, bytes, bytearray, memoryview, Mapping)):
        raise TypeError("items is a list of shaders or of pairs (path, shader)")
    if not 0 <= threads < 2**16:
        raise UsageError(f"threads is {threads}\nFix: give a number from 0 to 65535", 2)
    pairs = [item if isinstance(item, tuple) else (None, item) for item in items]
    contents = [(_name_of(path, "path"), _bytes_of(data)) for path, data in pairs]
    all_messages = [_Messages(alone) for _ in contents]
    array = (_native.OptimizeItem * len(contents))()
    for item, (path, content), own in zip(array, contents, all_messages):
        item.path, item.data, item.size, item.diagnostics = path, content, len(content), own.native
    status = _library.vyre_optimize_many(native, array, ctypes.sizeof(_native.OptimizeItem), len(contents), threads)
    results: List[Union[bytes, Error]] = []
    for item, own in zip(array, all_messages):
        out = _take_bytes(item.out)
        results.append(_take_error(item.status, own.all) if item.status else out)
    whole = _take_error(status, messages.all) if status else None
    for own in all_messages:
        own.check()
    if whole and not any(isinstance(result, Error) for result in results):
        raise whole
    return results


class _Handle:
    """Owns a module of the library."""

    def __init__(self) -> None:
        self.pointer = ctypes.c_void_p()
        status = _library.vyre_module_create(None, 0, self.pointer)
        if status:
            raise _take_error(status, ())

    def __del__(self, destroy: Callable[[Any], None] = _library.vyre_module_destroy) -> None:
        destroy(self.pointer)


def _closed() -> NoReturn:
    raise ValueError("the module is closed\nFix: use it before close(), or inside of the with block")


class Module:
    """A shader as a table, for analyses.

        with vyre.Module(spirv) as module:
            loads = sum(module.op_name(row) == "load" for row in range(1, module.rows))

    `op`, `imm`, `imm_hi`, `a`, `b`, `c`, `parent`, `prev`, `next`, `first` and `last` are the columns: read-only memoryviews of 32-bit
    numbers with an element for each row.  docs/ir.md describes them.  A memoryview stays valid after the module is closed.  Raises
    InputError if the shader is wrong.  One thread at a time may use a module.
    """

    def __init__(self, data: Data, path: Optional[Path] = None):
        self._handle: Optional[_Handle] = None
        handle, messages, content = _Handle(), _Messages(None), _bytes_of(data)
        name = _name_of("shader" if path is None else path, "path")
        status = _library.vyre_input_parse(handle.pointer, name, content, len(content), None, messages.native, ctypes.c_int())
        if status:
            raise _take_error(status, messages.all)
        self._handle = handle

    def __enter__(self) -> "Module":
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def close(self) -> None:
        """Releases the module.  Its memory is freed when no memoryview of a column is left."""
        self._handle = None

    def _view(self) -> Any:
        return _library.vyre_module_view((self._handle or _closed()).pointer).contents

    @property
    def rows(self) -> int:
        """The number of rows, including row 0."""
        return int(self._view().rows)

    def _column(self, name: str) -> memoryview:
        view = self._view()
        array = type("Column", (ctypes.c_uint32 * view.rows,), {}).from_address(getattr(view, name))
        array.owner = self._handle  # keeps the module alive as long as the memoryview
        return memoryview(array).cast("B").cast("I").toreadonly()

    def op_name(self, row: int) -> str:
        """Returns the name of the row's operation, as in .vir text."""
        view = self._view()
        if not 0 <= row < view.rows:
            raise IndexError(f"row {row} of a module with {view.rows} rows")
        word = ctypes.c_uint32.from_address(view.op + 4 * row).value
        return _native.OpInfo.from_address(view.op_infos + view.op_info_stride * (word & 0xFFFF)).text.decode()

    def text(self) -> str:
        """Returns the module as .vir text."""
        out = _native.Bytes()
        status = _library.vyre_text_print((self._handle or _closed()).pointer, None, out)
        text = _take_bytes(out)
        if status:
            raise _take_error(status, ())
        return text.decode()

    op = property(lambda self: self._column("op"), doc="Operation, type and flags.")
    imm = property(lambda self: self._column("imm"), doc="The payload.")
    imm_hi = property(lambda self: self._column("imm_hi"), doc="The upper half of the payload.")
    a = property(lambda self: self._column("a"), doc="The first operand.")
    b = property(lambda self: self._column("b"), doc="The second operand.")
    c = property(lambda self: self._column("c"), doc="The third operand.")
    parent = property(lambda self: self._column("parent"), doc="The row that contains the row.")
    prev = property(lambda self: self._column("prev"), doc="The row before, with the same parent.")
    next = property(lambda self: self._column("next"), doc="The row after, with the same parent.")
    first = property(lambda self: self._column("first"), doc="The first row inside.")
    last = property(lambda self: self._column("last"), doc="The last row inside.")
