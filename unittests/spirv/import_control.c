/* Control flow through the importer.  Each case is one text that is both C and GLSL; the interpreter must compute the results of
 * the C.
 *
 * Each case runs as compiled by glslang and as optimized by spirv-opt -O, each also after the exporter has written it.
 *
 * SPDX-License-Identifier: Apache-2.0 */
#include "import_support.h"

#pragma GCC diagnostic ignored "-Wconversion"
#pragma GCC diagnostic ignored "-Wsign-conversion"
#pragma GCC diagnostic ignored "-Wsign-compare"
#ifndef __clang__
#pragma GCC diagnostic ignored "-Wimplicit-fallthrough"
#pragma GCC diagnostic ignored "-Wmaybe-uninitialized"
#endif
#pragma GCC diagnostic ignored "-Wunused-but-set-variable"

/* the names of glslang */
typedef uint32_t glsl_uint;
#define uint glsl_uint

/* Shaders keep their line breaks. */
/* clang-format off */
#define CASES                                                                                                                        \
  CASE(straight, uint a = x * 3u; a += i; uint b = a ^ x; a = b + a; return a;)                                                       \
  CASE(if_else, uint r; if (x > 20u) { r = x - 3u; } else { r = x + i; } return r * 2u;)                                               \
  CASE(if_one_arm, uint r = x; if ((x & 1u) == 1u) r = r * 3u + 1u; return r;)                                                         \
  CASE(if_nested, uint r = 1u; uint s = 2u; if (x > 8u) { if (i > 3u) { r = x; } else { s = i; } r += s; } else { s += x; }           \
       return r * 100u + s;)                                                                                                           \
  CASE(early_return, if (x < 5u) return 77u; uint r = x * x; if (r > 900u) { return r - i; } return r + 1u;)                           \
  CASE(return_in_both, if (x < 16u) { return x + 1u; } else { return x - 1u; })                                                        \
  CASE(value_of_surviving_arm, uint r; if (x < 10u) { return 5u; } else { r = x * 7u; } return r + i;)                                 \
  CASE(for_sum, uint s = 0u; for (uint k = 0u; k < x; k++) s += k * i; return s;)                                                      \
  CASE(zero_trip, uint s = 9u; for (uint k = 5u; k < 5u; k++) s = 1u; return s;)                                                       \
  CASE(while_loop, uint n = x + 1u; uint c = 0u; while (n != 1u && c < 200u) { n = (n & 1u) == 0u ? n / 2u : n * 3u + 1u; c++; }        \
       return c;)                                                                                                                      \
  CASE(do_while, uint n = x; uint c = 0u; do { n = n / 2u; c++; } while (n > 0u); return c;)                                           \
  CASE(do_while_continue, uint n = x; uint c = 0u; do { n = n / 2u; if ((n & 1u) == 1u) continue; c++; } while (n > 0u); return c;)    \
  CASE(break_middle, uint s = 0u; for (uint k = 0u; k < 100u; k++) { if (k * k > x) break; s += k; } return s;)                        \
  CASE(break_with_value, uint s = 7u; for (uint k = 0u; k < 9u; k++) { if (k == i) { s = k * 10u; break; } s = k; } return s;)         \
  CASE(continue_skips, uint s = 0u; for (uint k = 0u; k < x; k++) { if ((k & 3u) == 1u) continue; s += k; } return s;)                 \
  CASE(continue_with_effect, uint s = 0u; uint t = 0u; for (uint k = 0u; k < 10u; k += 1u + (t & 1u)) { if ((k + x) % 3u == 0u)         \
       { t += 5u; continue; } t++; s += k; } return s * 1000u + t;)                                                                    \
  CASE(nested_loops, uint s = 0u; for (uint a = 0u; a < 5u; a++) { for (uint b = a; b < 6u; b++) { if (b == x % 7u) break; s += a * b;  \
       } s = s * 3u; } return s;)                                                                                                      \
  CASE(return_from_two_loops, for (uint a = 0u; a < 6u; a++) for (uint b = 0u; b < 6u; b++) if (a * b == x % 20u) return a * 10u + b;  \
       return 99u;)                                                                                                                    \
  CASE(loop_value_behind, uint last = 0u; uint k = 0u; for (;;) { uint v = k * k + i; if (v > x) { last = v; break; } k++; }            \
       return last * 2u + k;)                                                                                                          \
  CASE(swap, uint a = 1u; uint b = x; for (uint k = 0u; k < 5u; k++) { uint t = a; a = b; b = t + k; } return a * 1000u + b;)          \
  CASE(rotate, uint a = x; uint b = i; uint c = 3u; uint d = 4u; for (uint k = 0u; k < 7u; k++) { uint t = d; d = c; c = b + k; b = a;  \
       a = t ^ (a << 1u); } return a + b * 3u + c * 5u + d * 7u;)                                                                      \
  CASE(switch_plain, uint r; switch (x % 5u) { case 0u: r = 1u; break; case 1u: r = i; break; case 3u: r = x; break;                    \
       default: r = 50u; break; } return r + 1u;)                                                                                      \
  CASE(switch_falls, uint r = 1u; switch (x % 4u) { case 0u: r += 1u; case 1u: r *= 3u; break; case 2u: r += 5u; default: r *= 7u; }    \
       return r;)                                                                                                                      \
  CASE(switch_falls_chain, uint r = x; switch (i % 6u) { case 0u: r += 1u; case 1u: r = r * 2u; case 2u: r ^= 5u; case 3u: r += 9u;     \
       break; case 4u: return 3u; } return r;)                                                                                          \
  CASE(switch_default_first, uint r = 0u; switch (x % 6u) { default: r = 1u; case 2u: r += 10u; break; case 3u: r = 4u; case 4u: r += 2u; \
       break; } return r;)                                                                                                             \
  CASE(switch_shared, uint r = 0u; switch (x % 8u) { case 0u: case 2u: case 4u: r = 11u; break; case 1u: case 3u: r = 22u; } return r;) \
  CASE(switch_in_loop, uint r = 0u; for (uint k = 0u; k < 12u; k++) { switch ((k + x) % 4u) { case 0u: continue; case 1u: r += k; break; \
       case 2u: if (k > 8u) break; r ^= k; default: r += 100u; } r++; } return r;)                                                     \
  CASE(switch_break_nested, uint r = i; switch (x & 3u) { case 1u: if (i > 4u) { r = 5u; break; } r = 6u; case 2u: r += 20u; break;      \
       default: for (uint k = 0u; k < 4u; k++) { if (k == i) break; r += k; } } return r;)                                             \
  CASE(switch_all_return, switch (x % 3u) { case 0u: return 5u; case 1u: return x; default: return i; })                                \
  CASE(loop_in_switch_in_loop, uint r = 0u; for (uint a = 0u; a < 4u; a++) { switch (a) { case 1u: for (uint b = 0u; b < x % 5u; b++)   \
       { if (b == 2u) break; r += b + 1u; } break; case 2u: r *= 2u; default: r += 3u; } } return r;)                                  \
  CASE(short_circuit, bool a = x > 9u && i < 7u; bool b = x < 30u || i == 2u; return (a ? 1u : 0u) + (b ? 2u : 0u)                      \
       + ((a && !b) || x == 12u ? 4u : 0u);)                                                                                             \
  CASE(negations, bool n = x > 9u; uint r; if (!n) { r = x + i; } else { r = x - i; } bool a = n || i < 3u; bool b = !n || i > 5u;             \
       bool c = !n && i > 2u; return r * 8u + (a ? 1u : 0u) + (b ? 2u : 0u) + (c ? 4u : 0u);)                                           \
  CASE(compound_condition, uint k = 0u; while (k < 20u && (k < i || (x >> (k & 15u) & 1u) == 1u)) k++; return k;)                       \
  CASE(ternary_chain, return x < 5u ? 1u : x < 10u ? i : x < 20u ? x * 2u : 4u;)                                                        \
  CASE(temp_in_loop, uint s = 0u; for (uint k = 0u; k < 6u; k++) { uint t; if ((k & 1u) == 0u) t = x; else t = i; s = s * 3u + t; }       \
       return s;)                                                                                                                      \
  CASE(variable_kept_in_loop, uint t = 5u; uint s = 0u; for (uint k = 0u; k < 8u; k++) { if (k == x % 8u) { t = i + 1u; } s += t; }      \
       return s;)                                                                                                                      \
  CASE(flag_leaves, bool done = false; uint n = 0u; for (uint k = 0u; k < 30u && !done; k++) { if (k * 3u >= x) { done = true; }          \
       n += k; } return n;)                                                                                                            \
  CASE(infinite_with_return, uint k = x; while (true) { if (k % 7u == 3u) return k; k++; })                                              \
  CASE(array_literal, uint a[4]; a[0] = x; a[1] = i; a[2] = a[0] + a[1]; a[3] = a[2] * 2u; return a[3] ^ a[1];)                         \
  CASE(array_dynamic, uint a[8]; for (uint k = 0u; k < 8u; k++) a[k] = k * x; a[i & 7u] += 3u; return a[x & 7u] + a[(i + 1u) & 7u];)       \
  CASE(array_table, const uint t[6] = {3u, 1u, 4u, 1u, 5u, 9u}; return t[x % 6u] * 10u + t[i % 6u];)                                     \
  CASE(array_initialized, uint t[4] = {x, 7u, i, 9u}; t[x & 3u] += 1u; return t[0] + t[1] * 3u + t[2] * 5u + t[3] * 7u;)                \
  CASE(array_in_loop, uint s = 0u; for (uint k = 0u; k < 4u; k++) { uint t[3] = {k, x, 2u}; t[k % 3u] += i; s = s * 5u + t[0] + t[1] + t[2]; } \
       return s;)                                                                                                                      \
  CASE(signed_loop, int s = 0; for (int k = -5; k < int_of(x & 7u); k++) s += k * k - 3; return uint_of(s);)                            \
  CASE(loop_of_loop_break_flag, uint found = 0u; for (uint a = 1u; a < 9u; a++) { bool stop = false; for (uint b = 1u; b < 9u; b++) {     \
       if (a * b == x) { found = a * 16u + b; stop = true; break; } } if (stop) break; } return found;)                                \
  CASE(calls_early, return helper_early(x, i) + helper_early(i, x) * 100u;)                                                             \
  CASE(calls_in_loop, uint s = 0u; for (uint k = 0u; k < helper_early(5u, i); k++) { s += helper_loop(k + x); } return s;)               \
  CASE(calls_in_condition, uint k = 0u; while (helper_early(k, x) < 9u && k < 12u) k++; return k;)                                       \
  CASE(calls_in_step, uint s = 0u; for (uint k = 0u; k < 30u; k += helper_loop(k & 3u) + 1u) { if (k == x) continue; s += k; } return s;)

/* Helpers in both languages. */
#define HELPERS                                                                                                                        \
  static uint helper_early(uint a, uint b) { if (a < 4u) return b; for (uint k = 0u; k < a; k++) { if (k * b > 12u) return k; }           \
    return a + 1u; }                                                                                                                   \
  static uint helper_loop(uint a) { uint r = 0u; for (uint k = 0u; k <= a; k++) r += k; return r % 17u; }

HELPERS
#define int_of(v) ((int)(v))
#define uint_of(v) ((uint)(v))
#define CASE(name, ...)                                                                                                                \
  static uint name(uint i, uint x)                                                                                                     \
  {                                                                                                                                    \
    (void)i;                                                                                                                           \
    (void)x;                                                                                                                           \
    __VA_ARGS__                                                                                                                        \
  }
CASES
#undef CASE

#define TEXT(...) TEXT_(__VA_ARGS__)
#define TEXT_(...) #__VA_ARGS__

typedef struct control_case {
  const char *name, *text;
  uint (*compute)(uint, uint);
} control_case;

#undef uint
#undef int_of
#undef uint_of
static const control_case cases[] = {
#define CASE(name, ...) {#name, #__VA_ARGS__, name},
  CASES
#undef CASE
};

#define ELEMENTS 300u /* two workgroups of 150: more than two words of a mask, and not a multiple of a word */

/* Runs the case and compares its results.  Returns the module as it is written again. */
static vyre_bytes
compare(const control_case *c, const vyre_bytes *words, const char *how)
{
  uint32_t in[ELEMENTS], out[ELEMENTS];
  for (uint32_t k = 0; k < ELEMENTS; k++) {
    in[k] = k * 7u % 41u;
    out[k] = 0xdeadbeef;
  }
  vyre_module *module = import_read(words);
  const import_buffer buffers[] = {{0, in, sizeof(in)}, {1, out, sizeof(out)}};
  import_run(module, ELEMENTS / 150, buffers, 2);
  for (uint32_t k = 0; k < ELEMENTS; k++) {
    const uint32_t i = k % 11u, expected = c->compute(i, in[k]);
    if (out[k] != expected)
      print_error("%s, %s: i %u x %u gives %u, not %u\n", c->name, how, i, in[k], out[k], expected);
    assert_int_equal(out[k], expected);
  }
  vyre_bytes written = import_write(module);
  vyre_module_destroy(module);
  return written;
}

static void
run_case(void **state)
{
  const control_case *c = *state;
  static char text[16384];
  snprintf(text, sizeof(text),
           "#version 450\n#define static\n#define int_of int\n#define uint_of uint\n"
           "layout(local_size_x = 150) in;\n"
           "layout(set = 0, binding = 0) readonly buffer In { uint x[]; };\n"
           "layout(set = 0, binding = 1) buffer Out { uint y[]; };\n"
           "%s\nuint f(uint i, uint x) { %s }\n"
           "void main() { uint n = gl_GlobalInvocationID.x; y[n] = f(n %% 11u, x[n]); }\n",
           TEXT(HELPERS), c->text);
  vyre_bytes words = import_compile(text);
  vyre_bytes optimized = import_optimize(&words);
  vyre_bytes written = compare(c, &words, "as compiled"), written_optimized = compare(c, &optimized, "as optimized");
  vyre_bytes again = compare(c, &written, "read, written, and read"), again_optimized = compare(c, &written_optimized, "optimized, read, written, and read");
  vyre_bytes *all[] = {&words, &optimized, &written, &written_optimized, &again, &again_optimized};
  for (size_t k = 0; k < sizeof(all) / sizeof(*all); k++)
    vyre_bytes_free(all[k]);
}

int
main(void)
{
  enum { COUNT = sizeof(cases) / sizeof(*cases) };
  static struct CMUnitTest tests[COUNT];
  for (size_t k = 0; k < COUNT; k++)
    tests[k] = (struct CMUnitTest){cases[k].name, run_case, NULL, NULL, (void *)(uintptr_t)&cases[k]};
  return cmocka_run_group_tests(tests, NULL, NULL);
}
