# Tests of the Python package: test_vyre.py EXAMPLES PASSMGR INCLUDE.  VYRE_LIBRARY names libvyre.
# SPDX-License-Identifier: Apache-2.0
import ctypes
import gc
import inspect
import os
import pathlib
import pickle
import shutil
import subprocess
import sys
import tempfile
import threading
import tracemalloc
import unittest

import vyre
from vyre import _native

EXAMPLES, PASSMGR, INCLUDE = (pathlib.Path(argument).absolute() for argument in sys.argv[1:4])
SHADERS = {path: path.read_bytes() for path in sorted(EXAMPLES.glob("*.comp"))}
SMALL = """#version 450
layout(local_size_x = 64) in;
layout(constant_id = 3) const int N = 4;
layout(binding = 0) buffer B { int a[]; };
void main() {
  int sum = 0;
  for (int i = 0; i < N; i++) sum += FACTOR;
  a[gl_GlobalInvocationID.x] = sum;
}
"""
DEFINES = {"FACTOR": 8}


def optimize_by_tool(path, *options):
    return subprocess.run([PASSMGR, "-O2", path, "-o", "-", "-emit=spirv", *options], check=True, capture_output=True).stdout


class Optimize(unittest.TestCase):
    def test_bytes_are_those_of_the_tool(self):
        self.assertGreater(len(SHADERS), 5)
        for path, data in SHADERS.items():
            self.assertEqual(vyre.optimize(data, path=path), optimize_by_tool(path), path)

    def test_forms_of_input_and_output(self):
        text = vyre.optimize(SMALL, emit="vir", defines=DEFINES).decode()
        self.assertIn("program @main", text)
        for form, part in (("spvasm", b"OpCapability Shader"), ("glsl", b"#version"), ("hlsl", b"numthreads"), ("msl", b"kernel"),
                           ("c", b"int32_t"), ("ptx", b".entry")):
            self.assertIn(part, vyre.optimize(text, emit=form), form)
        spirv = vyre.optimize(SMALL, "", defines=DEFINES)
        self.assertEqual(vyre.optimize(spirv, passes=""), spirv)
        once = vyre.optimize(spirv)
        self.assertEqual(vyre.optimize(bytearray(spirv)), once)
        self.assertEqual(vyre.optimize(memoryview(spirv)), once)

    def test_specialization(self):
        for name in (3, "3", "N"):
            text = vyre.optimize(SMALL, emit="vir", defines=DEFINES, spec={name: 5}, freeze_spec=True).decode()
            self.assertIn("5i32", text)
            self.assertNotIn("spec", text)
        self.assertIn("spec", vyre.optimize(SMALL, emit="vir", defines=DEFINES, spec={"N": 5}).decode())

    def test_includes_and_names_that_are_not_ascii(self):
        with tempfile.TemporaryDirectory() as folder:
            place = pathlib.Path(folder, "größe")
            place.mkdir()
            (place / "factor.h").write_text("#define FACTOR 3\n")
            text = SMALL.replace("layout(local", "#extension GL_GOOGLE_include_directive : enable\n#include \"factor.h\"\nlayout(local", 1)
            self.assertIn("3i32", vyre.optimize(text, emit="vir", include_dirs=[place]).decode())
            self.assertIn("3i32", vyre.optimize(text, emit="vir", path=place / "a.comp").decode())

    def test_threads_get_the_same_bytes(self):
        data = [vyre.optimize(data, "", path=path) for path, data in SHADERS.items()]
        expected = [vyre.optimize(shader) for shader in data]
        wrong = []

        def work():
            for i in range(1000):
                if vyre.optimize(data[i % len(data)]) != expected[i % len(data)]:
                    wrong.append(i)

        threads = [threading.Thread(target=work) for _ in range(4)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        self.assertEqual(wrong, [])
        self.assertEqual(vyre.optimize_many(data * 20, threads=4), expected * 20)

    def test_memory_does_not_grow(self):
        spirv = vyre.optimize(SMALL, "", defines=DEFINES)

        def work(count):
            for _ in range(count):
                vyre.optimize(spirv)
                with self.assertRaises(vyre.InputError):
                    vyre.optimize(spirv[:-8])
                with vyre.Module(spirv) as module:
                    module.op[1]
            gc.collect()

        work(50)
        tracemalloc.start()
        work(50)
        before, pages = tracemalloc.get_traced_memory()[0], pages_of_process()
        work(500)
        self.assertLess(tracemalloc.get_traced_memory()[0] - before, 20_000)
        tracemalloc.stop()
        self.assertLess(pages_of_process() - pages, 1000)  # 4 MB; a leak of one module each would be 500 times as much


def pages_of_process():
    return int(pathlib.Path("/proc/self/statm").read_text().split()[1])


class Errors(unittest.TestCase):
    def test_a_wrong_shader(self):
        with self.assertRaises(vyre.InputError) as caught:
            vyre.optimize("#version 450\nvoid main() { x = 1; }\n", path="bad.comp")
        error = caught.exception
        first = error.diagnostics[0]
        self.assertEqual((first.severity, first.file, first.line, error.code), (vyre.Severity.ERROR, "bad.comp", 2, 1))
        self.assertIn("undeclared", first.message)
        self.assertIn("bad.comp:2: error:", str(error))
        self.assertIn("Fix: ", str(error))
        copy = pickle.loads(pickle.dumps(error))
        self.assertEqual((str(copy), copy.diagnostics, copy.code), (str(error), error.diagnostics, 1))

    def test_wrong_arguments(self):
        for options, part in (({"passes": "dce,,"}, "passes:1:5"), ({"emit": "exe"}, "'exe'"), ({"plugins": ["/nowhere/no.so"]}, "no.so"),
                              ({"language": "cg"}, "'cg'"), ({"stage": "x"}, "'x'"), ({"target_env": "dx12"}, "'dx12'"),
                              ({"path": "a\0b"}, "null character")):
            with self.assertRaises(vyre.UsageError, msg=options) as caught:
                vyre.optimize(SMALL, **options)
            self.assertIn(part, str(caught.exception))
            self.assertIn("Fix: ", str(caught.exception))
        with self.assertRaises(vyre.InputError):
            vyre.optimize(SMALL, defines=DEFINES, spec={"MISSING": 1})
        with self.assertRaises(TypeError):
            vyre.optimize(SMALL, include_dirs="folder")
        for name, call in (("optimize", lambda: vyre.optimize(SMALL, no_such_option=1)),
                           ("optimize_many", lambda: vyre.optimize_many([SMALL], no_such_option=1))):
            with self.assertRaisesRegex(TypeError, f"^{name}\\(\\) got an unexpected keyword argument 'no_such_option'"):
                call()
        for call in (lambda: vyre.optimize(None), lambda: vyre.optimize(5), lambda: vyre.optimize(pathlib.Path("a.comp")),
                     lambda: vyre.optimize_many(b"abc"), lambda: vyre.optimize_many({"a.comp": SMALL})):
            with self.assertRaises(TypeError):
                call()
        for call in (lambda: vyre.optimize(SMALL, max_growth=-1), lambda: vyre.optimize_many([], threads=-1)):
            with self.assertRaises(vyre.UsageError):
                call()
        with vyre.Module(SMALL.replace("FACTOR", "8"), None) as module:
            self.assertGreater(module.rows, 1)

    def test_damaged_modules(self):
        spirv = vyre.optimize(SMALL, "", defines=DEFINES)
        for size in range(0, len(spirv), 4):
            with self.assertRaises(vyre.InputError):
                vyre.optimize(spirv[:size])

    def test_one_wrong_shader_of_many(self):
        good, seen = (("good.comp", SMALL.replace("FACTOR", "8"))), []
        results = vyre.optimize_many([good, ("bad.comp", "#version 450\nvoid main() { x; }\n"), good], threads=2, on_diagnostic=seen.append)
        self.assertEqual(results[0], results[2])
        self.assertIsInstance(results[1], vyre.InputError)
        self.assertEqual(results[1].diagnostics, seen)
        self.assertEqual(seen[0].file, "bad.comp")
        self.assertEqual(vyre.optimize_many([]), [])
        with self.assertRaises(vyre.UsageError):
            vyre.optimize_many([good], "nope")

    def test_an_exception_of_the_callback_arrives(self):
        def fail(_diagnostic):
            raise KeyError("mine")

        for call in (lambda: vyre.optimize("#version 450\nvoid main() { x; }\n", on_diagnostic=fail),
                     lambda: vyre.optimize_many(["#version 450\nvoid main() { x; }\n"] * 8, threads=4, on_diagnostic=fail)):
            with self.assertRaises(KeyError) as caught:
                call()
            self.assertEqual(caught.exception.args, ("mine",))


class Signatures(unittest.TestCase):
    def test_both_functions_have_the_same_options(self):
        first, many = (dict(inspect.signature(function).parameters) for function in (vyre.optimize, vyre.optimize_many))
        del first["data"], many["items"], many["threads"]
        self.assertEqual(list(first.values()), list(many.values()))
        self.assertTrue(all(p.kind == p.KEYWORD_ONLY for name, p in first.items() if name != "passes"))

    def test_each_option_is_documented(self):
        text = (EXAMPLES.parents[1] / "docs" / "python.md").read_text()
        for name in inspect.signature(vyre.optimize).parameters:
            self.assertIn(f"`{name}`", text)
            self.assertIn(name, vyre.optimize.__doc__)


class Modules(unittest.TestCase):
    def test_columns(self):
        with vyre.Module(SMALL.replace("FACTOR", "8")) as module:
            rows = module.rows
            names = [module.op_name(row) for row in range(1, rows)]
            self.assertEqual(names.count("program"), 1)
            self.assertIn("store", names)
            for name in ("op", "imm", "imm_hi", "a", "b", "c", "parent", "prev", "next", "first", "last"):
                column = getattr(module, name)
                self.assertEqual((len(column), column.format, column.readonly), (rows, "I", True))
            program = names.index("program") + 1
            row, inside = module.first[program], []
            while row:
                self.assertEqual(module.parent[row], program)
                inside.append(row)
                row = module.next[row]
            self.assertEqual(inside[-1], module.last[program])
            self.assertIn("program @main", module.text())
            with self.assertRaises(IndexError):
                module.op_name(rows)

    def test_a_column_outlives_its_module(self):
        module = vyre.Module(SMALL.replace("FACTOR", "8"))
        column, before = module.op, bytes(module.op)
        module.close()
        del module
        gc.collect()
        for _ in range(10):
            vyre.Module(SMALL.replace("FACTOR", "9"))
        self.assertEqual(bytes(column), before)

    def test_a_closed_module_is_refused(self):
        module = vyre.Module(SMALL.replace("FACTOR", "8"))
        module.close()
        module.close()
        for use in (lambda: module.rows, lambda: module.op, module.text, lambda: module.op_name(1)):
            with self.assertRaisesRegex(ValueError, "closed"):
                use()
        with self.assertRaises(vyre.InputError):
            vyre.Module("nonsense")

    def test_numpy(self):
        try:
            import numpy
        except ImportError:
            self.skipTest("numpy is not installed")
        with vyre.Module(SMALL.replace("FACTOR", "8")) as module:
            op = numpy.asarray(module.op)
            self.assertEqual((op.dtype, op.shape), (numpy.uint32, (module.rows,)))
            self.assertEqual(numpy.count_nonzero(op & 0xFFFF), module.rows - 1)


class Package(unittest.TestCase):
    def test_the_example_of_the_documentation_runs(self):
        text = (EXAMPLES.parents[1] / "docs" / "python.md").read_text()
        with tempfile.TemporaryDirectory() as folder:
            shutil.copytree(EXAMPLES, folder, dirs_exist_ok=True)
            result = subprocess.run([sys.executable, "-c", text.split("```python\n")[1].split("```")[0]], cwd=folder, check=True,
                                    stdout=subprocess.PIPE, text=True)
            size = pathlib.Path(folder, "blur.spv").stat().st_size
        self.assertRegex(result.stdout, f"^{size} bytes, [1-9][0-9]* loads\n$")

    def test_pip_installs_the_source_tree(self):
        with tempfile.TemporaryDirectory() as folder:
            copy, place = pathlib.Path(folder, "source"), pathlib.Path(folder, "site")  # pip writes into the source tree
            shutil.copytree(pathlib.Path(__file__).parents[1], copy)
            subprocess.run([sys.executable, "-m", "pip", "install", "-q", "--no-index", "--no-build-isolation", "--no-deps", "--target", place,
                            copy], check=True)
            result = subprocess.run([sys.executable, "-c", "import vyre; print(vyre.__file__)"], check=True, capture_output=True, text=True,
                                    env={**os.environ, "PYTHONPATH": str(place)})
        self.assertEqual(pathlib.Path(result.stdout.strip()).parent, place / "vyre")

    def test_structs_have_the_layout_of_c(self):
        lines, expected = [], []
        for name, struct in _native.STRUCTS.items():
            lines.append(f'printf("%zu\\n", sizeof({name}));')
            expected.append(ctypes.sizeof(struct))
            for field, *_ in struct._fields_:
                lines.append(f'printf("%zu\\n", offsetof({name}, {field}));')
                expected.append(getattr(struct, field).offset)
        with tempfile.TemporaryDirectory() as folder:
            source = pathlib.Path(folder, "layout.c")
            source.write_text("#include <stddef.h>\n#include <stdio.h>\n#include <vyre/vyre.h>\nint main(void) {" + "\n".join(lines) + "}\n")
            subprocess.run([os.environ.get("CC", "cc"), "-std=c17", f"-I{INCLUDE}", source, "-o", source.with_suffix("")], check=True)
            found = subprocess.run([source.with_suffix("")], check=True, capture_output=True, text=True).stdout
        self.assertEqual([int(line) for line in found.split()], expected)

    def test_a_missing_library_is_explained(self):
        result = subprocess.run([sys.executable, "-c", "import vyre"], capture_output=True, text=True,
                                env={**os.environ, "VYRE_LIBRARY": "/nowhere/libvyre.so.0"})
        self.assertEqual(result.returncode, 1)
        self.assertIn("ImportError: cannot use libvyre: /nowhere/libvyre.so.0", result.stderr)
        self.assertIn("Fix: ", result.stderr)


if __name__ == "__main__":
    unittest.main(argv=sys.argv[:1])
