# SPDX-License-Identifier: Apache-2.0
"""Prints a `.vir` program of a family that grows with N: nests.py FAMILY N, or nests.py list."""
import sys

HEAD = '''program @p workgroup(8, 1, 1) {
  buffer %x : u32[] storage rw set(0) binding(0)
  buffer %y : u32[] storage rw set(0) binding(1)
  %i = gid.x
  %odd = and %i, 1u32
  %c = ne %odd, 0u32
'''


def variables(count):
    return ''.join(f'  var %v{j} : u32\n' for j in range(count))


def results(count):
    return ''.join(f'  store %y[{j}], get(%v{j})\n' for j in range(count))


def change(j, n):
    """Sets variable j to a function of another variable."""
    return f'set %v{j}, add(get(%v{j * 7 % n}), {j + 1}u32)\n'


def nest(n, opens, inner, closes, head=None, tail=None):
    """Returns a program of n nested constructs; the arguments are functions of the level."""
    text = HEAD + (variables(n) if head is None else head)
    text += ''.join(opens(j) for j in range(n)) + inner
    text += ''.join(closes(j) for j in reversed(range(n)))
    return text + (results(n) if tail is None else tail) + '}\n'


def for_loops(n):
    """Nested `for` that each set a variable."""
    return nest(n, lambda j: f'for %k{j} = 0u32 to %i {{ set %v{j}, add(get(%v{j * 7 % n}), %k{j})\n',
                'store %y[%i], 1u32\n', lambda j: '}\n')


def sets_behind(n):
    """Nested `for` that each set a variable at the end of their body."""
    return nest(n, lambda j: f'for %k{j} = 0u32 to %i {{\n', 'store %y[%i], 1u32\n', lambda j: change(j, n) + '}\n')


def plain_loops(n):
    """Nested `loop` with a test in the middle and a set in the continuing region."""
    return nest(n, lambda j: f'loop {{ if uge(get(%v{j}), %i) {{ break }}\n', 'store %y[%i], 1u32\n',
                lambda j: f'}} continuing {{ {change(j, n)} }}\n')


def ifs(n):
    """Nested `if` with sets before, after and in the else region."""
    return nest(n, lambda j: f'if ult(%i, {3 * j + 7}u32) {{ {change(j, n)}', '',
                lambda j: f'}} else {{ set %v{j}, {j}u32 }}\n')


def else_ifs(n):
    """A chain of `else if`, each arm with a set."""
    return nest(n, lambda j: f'if eq(%i, {j}u32) {{ {change(j, n)}}} else {{ ', '', lambda j: '}\n')


def switches(n):
    """Nested `switch` in a case after a `fallthrough`."""
    return nest(n, lambda j: f'switch %i {{ case {j}u32 {{ {change(j, n)} fallthrough }} case {j + 1}u32 {{\n', '',
                lambda j: f'}} default {{ set %v{j}, 9u32 }} }}\n')


def blocks(n):
    """Nested blocks, each with a `leave` of the outermost block."""
    return nest(n, lambda j: f'block %b{j} {{ {change(j, n)} if eq(get(%v{j}), {j}u32) {{ leave %b0 }}\n', '', lambda j: '}\n')


def left_blocks(n):
    """Nested blocks, with a `leave` of each in the innermost region."""
    leaves = ''.join(f'if eq(%i, {j}u32) {{ set %v{j}, 5u32 leave %b{j} }}\n' for j in range(n))
    return nest(n, lambda j: f'block %b{j} {{ {change(j, n)}', leaves, lambda j: '}\n')


def escapes(n):
    """Nested loops with a `leave` of a block around all of them, and a `break`."""
    return nest(n, lambda j: ('block %b {' if j == 0 else '') + f'for %k{j} = 0u32 to %i {{ {change(j, n)} if eq(%k{j}, {j}u32) {{ leave %b }}\n',
                'set %v0, 1u32\n', lambda j: 'if %c { break } }\n' + ('}' if j == 0 else ''))


def returns(n):
    """Nested loops with a `return` in each."""
    return nest(n, lambda j: f'for %k{j} = 0u32 to %i {{ if eq(get(%v{j}), %k{j}) {{ return }} {change(j, n)}', '', lambda j: '}\n')


def continues(n):
    """Nested loops, each with a `continue` before its variable is set."""
    return nest(n, lambda j: f'for %k{j} = 0u32 to %i {{ if eq(get(%v{j}), %k{j}) {{ continue }} {change(j, n)}', '', lambda j: '}\n')


def one_set(n):
    """Nested loops around n variables, which the innermost loop sets."""
    return nest(n, lambda j: f'for %k{j} = 0u32 to %i {{\n', ''.join(change(j, n) for j in range(n)), lambda j: '}\n')


def read_outside(n):
    """Variables that only the innermost loop reads."""
    head = variables(n) + ''.join(f'set %v{j}, add(%i, {j}u32)\n' for j in range(n))
    inner = ''.join(f'store %x[{j}], get(%v{j})\n' for j in range(n))
    return nest(n, lambda j: f'for %k{j} = 0u32 to %i {{\n', inner, lambda j: '}\n', head)


def one_variable(n):
    """Nested loops that all set and read one variable."""
    return nest(n, lambda j: f'for %k{j} = 0u32 to %i {{ set %v, add(get(%v), %k{j})\n', '', lambda j: 'set %v, add(get(%v), 1u32) }\n',
                'var %v : u32\n', 'store %y[%i], get(%v)\n')


def accesses(n):
    """Nested loops with a load and a store in each."""
    return nest(n, lambda j: f'for %k{j} = 0u32 to %i {{ store %y[add(%i, {j}u32)], load(%x[%k{j}])\n', '',
                lambda j: f'store %x[{j}], load(%y[{j}]) }}\n', '', '')


def buffers(n):
    """Nested loops that each store to one buffer and load all buffers in turn."""
    head = ''.join(f'buffer %m{j} : u32[4] private\n' for j in range(n))
    tail = ''.join(f'store %y[{j}], load(%m{j}[0])\n' for j in range(n))
    return nest(n, lambda j: f'for %k{j} = 0u32 to %i {{ store %m{j}[0], load(%m{j * 7 % n}[and(%k{j}, 3u32)])\n', '',
                lambda j: '}\n', head, tail)


def tables(n):
    """Nested ifs around accesses to memory with declared bounds."""
    head = 'buffer %m : u32[16] private\n'
    return nest(n, lambda j: f'if ult(load(%m[{j % 16}]), {j}u32) {{ store %m[{j * 3 % 16}], {j}u32\n', '',
                lambda j: '}\n', head, 'store %y[%i], load(%m[and(%i, 15u32)])\n')


def invariants(n):
    """An innermost loop with rows that are invariant in every enclosing loop."""
    inner = ''.join(f'store %y[{j}], mul(add(%i, {2 * j + 3}u32), add(load(%x[{j}]), %k{j}))\n' for j in range(n))
    return nest(n, lambda j: f'for %k{j} = 0u32 to %i {{\n', inner, lambda j: '}\n', '', '')


def equal_rows(n):
    """Nested ifs that compute equal rows."""
    return nest(n, lambda j: f'if ult(mul(%i, 5u32), {j * 9}u32) {{ store %y[{j}], mul(%i, {j % 5}u32)\n', '',
                lambda j: f'}} else {{ store %x[{j}], mul(%i, {j % 7}u32) }}\n', '', '')


def conditions(n):
    """Nested ifs whose conditions follow from the enclosing conditions."""
    return nest(n, lambda j: f'if eq(load(%x[{j}]), 3u32) {{ if %c {{ set %v{j}, load(%x[{j}])\n', '',
                lambda j: '} }\n')


def barriers(n):
    """Nested blocks with barriers and shared memory."""
    head = 'buffer %m : u32[8] workgroup\n'
    return nest(n, lambda j: f'for %k{j} = 0u32 to 2u32 {{ store %m[lindex], %k{j} barrier workgroup\n', '',
                lambda j: f'barrier workgroup store %y[{j}], load(%m[{j % 8}]) }}\n', head, '')


def subgroups(n):
    """Nested ifs with subgroup rows."""
    return nest(n, lambda j: f'if ult(%i, {j}u32) {{ store %y[{j}], subgroup_add(%i)\n', '',
                lambda j: '}\n', '', '')


def mixed(n):
    """Nested constructs of all kinds."""
    opens = [lambda j: f'if ult(%i, {j}u32) {{ {change(j, n)}', lambda j: f'for %k{j} = 0u32 to %i {{ {change(j, n)}',
             lambda j: f'loop {{ if uge(get(%v{j}), %i) {{ break }}\n', lambda j: f'switch %i {{ case {j}u32 {{ {change(j, n)}',
             lambda j: f'block %b{j} {{ {change(j, n)} if eq(get(%v{j}), {j}u32) {{ leave %b{j} }}\n']
    closes = ['} else { set %v0, 3u32 }\n', '}\n', '} continuing { set %v1, 7u32 }\n', '} default { set %v2, 5u32 } }\n', '}\n']
    return nest(n, lambda j: opens[j % 5](j), 'store %x[%i], 1u32\n', lambda j: closes[j % 5])


def rows(n, row, head='', tail=''):
    return HEAD + head + ''.join(row(j) for j in range(n)) + tail + '}\n'


def wide_loops(n):
    """Loops one after the other, each with a variable."""
    return rows(n, lambda j: f'for %k{j} = 0u32 to %i {{ {change(j, n)}}}\n', variables(n), results(n))


def wide_ifs(n):
    """Ifs one after the other that set one variable."""
    return rows(n, lambda j: f'if ult(%i, {j}u32) {{ set %v, add(get(%v), {j}u32) }}\n', 'var %v : u32\n', 'store %y[%i], get(%v)\n')


def wide_variables(n):
    """An if whose arm sets all variables."""
    return HEAD + variables(n) + 'if %c {\n' + ''.join(change(j, n) for j in range(n)) + '}\n' + results(n) + '}\n'


def wide_cases(n):
    """A switch whose cases fall into each other."""
    cases = ''.join(f'case {j}u32 {{ {change(j, n)} {"fallthrough" if j < n - 1 else ""} }}\n' for j in range(n))
    return HEAD + variables(n) + 'switch %i {\n' + cases + '}\n' + results(n) + '}\n'


def wide_leaves(n):
    """A block with many `leave`."""
    return rows(n, lambda j: f'{change(j, n)} if eq(%i, {j}u32) {{ leave %b }}\n', variables(n) + 'block %b {\n', '}\n' + results(n))


def wide_breaks(n):
    """A loop with many `break` and `continue`."""
    return rows(n, lambda j: f'{change(j, n)} if eq(%i, {j}u32) {{ break }} if eq(get(%v{j}), {j}u32) {{ continue }}\n',
                variables(n) + 'for %k = 0u32 to %i {\n', '}\n' + results(n))


def wide_stores(n):
    """Stores and loads without control."""
    return rows(n, lambda j: f'store %y[{j * 3 % n}], load(%x[{j}])\n')


def wide_barriers(n):
    """Barriers over many shared buffers."""
    head = ''.join(f'buffer %m{j} : u32[8] workgroup\n' for j in range(n))
    return rows(n, lambda j: f'store %m{j}[lindex], load(%m{j * 7 % n}[0]) barrier workgroup\n', head)


def chain(n):
    """A chain of values."""
    text = HEAD + '%r0 = load %x[%i]\n'
    ops = ['add', 'mul', 'xor', 'sub', 'umin', 'or']
    return text + ''.join(f'%r{j + 1} = {ops[j % 6]} %r{j}, %i\n' for j in range(n)) + f'store %y[%i], %r{n}\n}}\n'


def lane_chain(n):
    """Vectors of lanes of the previous vector."""
    text = HEAD + '%r0 = load %x[%i]\n%s0 = splat %r0 : u32x4\n'
    return text + ''.join(f'%s{j + 1} = insert %s{j}, add(lane(%s{j}, {j % 4}u32), %i), {(j + 1) % 4}u32\n' for j in range(n)) + f'store %y[%i], lane(%s{n}, 0u32)\n}}\n'


def structs(n):
    """Nested structs with an array in each."""
    text = 'struct @S0 { a : u32, b : u32 }\n' + ''.join(f'struct @S{j + 1} {{ a : @S{j}[1], b : u32 }}\n' for j in range(n))
    path = '.a[0]' * n
    return text + HEAD + f'buffer %s : @S{n} storage rw set(0) binding(2)\nbuffer %t : @S{n} private\n' + \
        f'store %s{path}.a, load(%s.b)\ncopy %t, %s\nstore %t{path}.b, %i\ncopy %s, %t\nstore %y[%i], load(%t{path}.a)\n}}\n'


def arrays(n):
    """An array of arrays."""
    return HEAD + f'buffer %s : u32{"[1]" * n} storage rw set(0) binding(2)\nbuffer %t : u32{"[1]" * n} private\n' + \
        f'store %s{"[0]" * n}, %i\ncopy %t, %s\nstore %t{"[%i]" * n}, %i\ncopy %s, %t\nstore %y[%i], load(%t{"[0]" * n})\n}}\n'


FAMILIES = [for_loops, sets_behind, plain_loops, ifs, else_ifs, switches, blocks, left_blocks, escapes, returns, continues, one_set,
            read_outside, one_variable, accesses, buffers, tables, invariants, equal_rows, conditions, barriers, subgroups, mixed,
            wide_loops, wide_ifs, wide_variables, wide_cases, wide_leaves, wide_breaks, wide_stores, wide_barriers, chain, lane_chain,
            structs, arrays]

if sys.argv[1] == 'list':
    print('\n'.join(f.__name__ for f in FAMILIES))
else:
    sys.stdout.write({f.__name__: f for f in FAMILIES}[sys.argv[1]](int(sys.argv[2])))
