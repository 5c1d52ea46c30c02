"""The style checks find what they are for, and let good files pass."""

import unittest

import files
import layers


class Layers(unittest.TestCase):
    def test_downwards_is_fine(self):
        self.assertEqual(layers.problems_in("vgpu/a.cpp", '#include "ir/op.hpp"\n#include <vector>\n'), [])
        self.assertEqual(layers.problems_in("cli/a.cpp", '#include "report/json.hpp"\n'), [])

    def test_upwards_and_sideways_are_not(self):
        for name, other in [("ir/a.cpp", "vgpu/w.hpp"), ("race/a.hpp", "ir/op.hpp"), ("report/a.cpp", "vgpu/w.hpp")]:
            self.assertEqual(len(layers.problems_in(name, f'// x\n #  include "{other}"\n')), 1, name)

    def test_nothing_sees_cli(self):
        for module in layers.MAY_INCLUDE:
            self.assertEqual(len(layers.problems_in(f"{module}/a.cpp", '#include "cli/main.hpp"\n')), 1, module)

    def test_unknown_modules_and_bare_names(self):
        self.assertEqual(len(layers.problems_in("misc/a.cpp", "")), 1)
        self.assertEqual(len(layers.problems_in("ir/a.cpp", '#include "op.hpp"\n')), 1)


class Files(unittest.TestCase):
    def test_good(self):
        self.assertEqual(files.problems_in("src/a.hpp", "// What it is.\n#pragma once\n"), [])

    def test_length(self):
        self.assertEqual(len(files.problems_in("src/a.cpp", "// x\n" * 501)), 1)
        self.assertEqual(files.problems_in("src/a.def", "// x\n" * 501), [])

    def test_head_and_guard(self):
        self.assertEqual(len(files.problems_in("src/a.hpp", "int x;\n")), 2)

    def test_marks(self):
        self.assertEqual(len(files.problems_in("src/a.cpp", "// x\n// TO" + "DO: y\n")), 1)

    def test_machine_paths(self):
        self.assertEqual(len(files.problems_in("a.py", "x = '/wo" + "rk/y'\n")), 1)
        self.assertEqual(files.problems_in("a.py", "x = 'src/wo" + "rk/y'\n"), [])


if __name__ == "__main__":
    unittest.main()
