/* Writes programs as functions of C17.  The cost is linear in the rows and their lanes.
 *
 * SPDX-License-Identifier: Apache-2.0 */
#include "internal.h"
#include "base/options.h"
#include "vyre/environment.h"

#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>

void
cgen_begin_line(cgen *g)
{
  for (uint32_t i = 0; i < g->indent && i < 20; i++)
    cgen_put(g, "  ");
}

void
cgen_line(cgen *g, const char *format, ...)
{
  va_list arguments;
  cgen_begin_line(g);
  va_start(arguments, format);
  code_put_text(&g->w, format, arguments);
  va_end(arguments);
  cgen_put(g, "\n");
}

void
cgen_value_line(cgen *g, const char *before, uint32_t value, uint32_t lane, bool tight, const char *after)
{
  cgen_begin_line(g);
  cgen_put(g, "%s", before);
  cgen_value(g, value, lane, tight);
  cgen_put(g, "%s\n", after);
}

void
cgen_fault(cgen *g, uint32_t row)
{
  const char *name = vyre_row_name(g->module, (vyre_row){row});
  cgen_put(g, "return %u; /* fault %u: %s", g->faults + 1, g->faults + 1, vyre_op_infos[cgen_op(g, row)].text);
  if (name && cgen_clean_name(name, (char[CODE_NAME]){0}))
    cgen_put(g, " %%%s", name);
  cgen_put(g, " */\n");
  g->faults++;
}

/* ---- one program --------------------------------------------------------------------------------------------------------- */

static bool
make_columns(cgen *g)
{
  uint32_t **const words[] = {&g->w.uses, &g->writes, &g->segment, &g->seen, &g->user};
  uint8_t **const bytes[] = {&g->form, &g->level, &g->twice, &g->is_wide, &g->spilled, &g->left, &g->again, &g->uniform, &g->known};
  return code_make_columns(&g->w, words, sizeof(words) / sizeof(*words), bytes, sizeof(bytes) / sizeof(*bytes));
}

/* Refuses programs that cannot be written as C. */
static bool
can_be_written(cgen *g)
{
  if (g->v->imm[g->program] & VYRE_PROGRAM_FLOAT_MODES)
    return cgen_fail(g, g->program,
                     "the program has float modes, but its C form always keeps denormals and rounds to nearest\n"
                     "Fix: remove the program's float modes");
  g->w.status = code_refuse_opaque(g->module, g->program, "C");
  for (uint32_t row = g->program + 1; row < g->end && !g->w.status; row++) {
    const vyre_opcode op = cgen_op(g, row);
    if (op == VYRE_OP_barrier && VYRE_ORDER_EXECUTION(g->v->imm[row]) < 2)
      return cgen_fail(g, row,
                       "a barrier waits for the whole grid, but the C function runs workgroups one after the other\n"
                       "Fix: split the program at the barrier into two dispatches");
  }
  return !g->w.status;
}

static bool
find_sizes(cgen *g)
{
  const vyre_c_options *o = g->options;
  if (!vyre_workgroup_size(g->module, (vyre_row){g->program}, o->specs, o->spec_count, g->local))
    return cgen_fail(g, g->program, "the workgroup size is not constant");
  const uint64_t plane = (uint64_t)g->local[0] * g->local[1];
  if (plane == 0 || plane > 65536 || g->local[2] == 0 || plane * g->local[2] > 65536)
    return cgen_fail(g, g->program,
                     "a workgroup has %u x %u x %u invocations, but C code supports 1 to 65536\n"
                     "Fix: choose another workgroup size",
                     g->local[0], g->local[1], g->local[2]);
  g->count = (uint32_t)plane * g->local[2];
  g->subgroup = o->subgroup ? o->subgroup : 32;
  if (g->subgroup > 128 || (g->subgroup & (g->subgroup - 1)) != 0)
    return cgen_fail(g, g->program, "a subgroup cannot have %u lanes\nFix: choose a power of two from 1 to 128", g->subgroup);
  return code_lay_out(&g->w);
}

bool
cgen_body_has(const cgen *g, const char *word)
{
  const size_t length = strlen(word);
  bool found = false;
  for (const char *at = g->body.data; at && !found && (at = strstr(at, word)); at++)
    found = !code_is_word(at[-1]) && !code_is_word(at[length]);
  return found;
}

static void
put_invocations(cgen *g)
{
  cgen_begin_invocations(g, false);
  cgen_declare_own(g);
  cgen_region(g, g->program);
  cgen_end_invocations(g);
}

/* Writes the text for one workgroup. */
static void
write_group(cgen *g)
{
  g->w.out = &g->body;
  g->indent = 3;
  if (g->wide)
    cgen_declare_state(g);
  if (g->state.size) {
    cgen_begin_line(g);
    cgen_mark(g, &g->marks, CGEN_MARK_LINE);
    cgen_put(g, "struct %s_state g = {0};\n", g->function);
  }
  cgen_declare_shared(g);
  if (g->wide) {
    cgen_wide_region(g, g->program);
    return;
  }
  cgen_put_inside(g);
  g->inside = g->split;
  put_invocations(g);
  g->faults = 0;
  if (!g->inside)
    return;
  g->inside = false;
  put_invocations(g);
}

/* Begins the loops over workgroups: one division per line of workgroups, and a plain loop along the line. */
static void
put_lines(cgen *g)
{
  const bool has_y = cgen_body_has(g, "wy"), has_z = cgen_body_has(g, "wz");
  if (cgen_body_has(g, "alone"))
    cgen_put(g, "  const bool alone = d->first == 0 && d->count == (uint64_t)d->groups[0] * d->groups[1] * d->groups[2];\n");
  cgen_put(g, "  for (uint64_t n = d->first, rest = d->count; rest > 0;) {\n"
              "    const uint32_t begin = (uint32_t)(n %% d->groups[0]);\n"
              "    const uint32_t until = rest < d->groups[0] - begin ? begin + (uint32_t)rest : d->groups[0];\n");
  if (has_y)
    cgen_put(g, "    const uint32_t wy = (uint32_t)(n / d->groups[0] %% d->groups[1]);\n");
  if (has_z)
    cgen_put(g, "    const uint32_t wz = (uint32_t)(n / d->groups[0] / d->groups[1]);\n");
  cgen_put(g, "    n += until - begin;\n    rest -= until - begin;\n"
              "    for (uint32_t wx = begin; wx < until; wx++) {\n");
}

static void
write_function(cgen *g, vyre_bytes *out)
{
  const char *name = vyre_row_name(g->module, (vyre_row){g->program});
  write_group(g);
  cgen_prune(g, &g->body, &g->marks, NULL);
  cgen_prune(g, &g->tables, &g->table_marks, &g->body);
  if (g->state_bytes > CGEN_MOST_STATE)
    cgen_fail(g, g->program,
              "a workgroup's state has %" PRIu64 " bytes, but at most 4 MiB of stack are allowed\n"
              "Fix: choose a smaller workgroup",
              g->state_bytes);
  if (g->w.status)
    return;
  g->w.out = out;
  cgen_put(g, "/* @%s: workgroups of %u x %u x %u", cgen_clean_name(name ? name : "", (char[CODE_NAME]){0}) ? name : "?",
           g->local[0], g->local[1], g->local[2]);
  cgen_note_buffers(g);
  cgen_put(g, " */\n");
  code_put_bytes(&g->w, &g->tables);
  if (g->state.size) {
    cgen_put(g, "struct %s_state {\n", g->function);
    code_put_bytes(&g->w, &g->state);
    cgen_put(g, "};\n\n");
  }
  /* parameters, because compilers use `restrict` of parameters but not of variables */
  cgen_put(g, "static uint32_t\n%s_groups(const vyre_c_dispatch *d", g->function);
  cgen_put_buffers(g, true);
  cgen_put(g, ")\n{\n");
  if (g->parks)
    cgen_put_states(g);
  g->indent = 1;
  cgen_declare_outside(g);
  put_lines(g);
  code_put_bytes(&g->w, &g->body);
  cgen_put(g, "    }\n  }\n  return 0;\n}\n\nuint32_t\n%s(const vyre_c_dispatch *d)\n{\n", g->function);
  cgen_put(g, "  return %s_groups(d", g->function);
  cgen_put_buffers(g, false);
  cgen_put(g, ");\n}\n");
}

static vyre_status
write_program(const vyre_module *module, uint32_t program, const vyre_c_options *options, const char *function, cgen_file *file,
              vyre_bytes *out)
{
  const vyre_view *v = vyre_module_view(module);
  cgen g = {.module = module, .v = v, .options = options, .file = file, .program = program, .end = vyre_program_end(v, program)};
  g.w = (code_writer){.module = module,
                      .program = program,
                      .end = g.end,
                      .v = v,
                      .task = "while writing C",
                      .specs = options->specs,
                      .spec_count = options->spec_count,
                      .in_bounds = options->in_bounds,
                      .has_push = true,
                      .open_descriptors = CODE_UNBOUNDED,
                      .out = &g.body};
  g.function = function;
  g.body.allocator = g.state.allocator = g.tables.allocator = vyre_module_allocator(module);
  if (find_sizes(&g) && can_be_written(&g) && make_columns(&g)) {
    cgen_survey(&g);
    write_function(&g, out);
  }
  code_writer_free(&g.w);
  cgen_free_marks(&g, &g.marks);
  cgen_free_marks(&g, &g.table_marks);
  vyre_bytes_free(&g.body);
  vyre_bytes_free(&g.state);
  vyre_bytes_free(&g.tables);
  return g.w.status;
}

/* ---- a file -------------------------------------------------------------------------------------------------------------- */

static const char head[] =
    "/* Generated by vyre.  include/vyre/c.h describes how to call it, docs/c.md how to compile it. */\n"
    "#include <float.h>\n#include <math.h>\n#include <stdbool.h>\n#include <stddef.h>\n#include <stdint.h>\n#include <string.h>\n\n"
    "#if defined(__FAST_MATH__) || FLT_EVAL_METHOD != 0\n"
    "#error \"vyre needs exact floats: compile without -ffast-math, and with SSE instead of the x87\"\n#endif\n"
    "#ifdef __clang__\n#pragma STDC FP_CONTRACT OFF\n#endif\n\n"
    "#ifndef VYRE_C_DISPATCH\n#define VYRE_C_DISPATCH\n"
    "typedef struct vyre_c_buffer {\n  void *data;\n  size_t bytes;\n} vyre_c_buffer;\n\n"
    "typedef struct vyre_c_dispatch {\n  uint32_t groups[3];\n  uint64_t first, count;\n  const vyre_c_buffer *buffers;\n"
    "} vyre_c_dispatch;\n#endif\n\n";

static const char wide_integers[] =
    "__extension__ typedef __int128 vyre_i128;\n__extension__ typedef unsigned __int128 vyre_u128;\n\n";

static vyre_status
write_programs(const vyre_module *module, vyre_row program, const vyre_c_options *options, cgen_file *file, vyre_bytes *functions)
{
  const vyre_view *v = vyre_module_view(module);
  uint32_t count = 0;
  for (uint32_t row = program.id ? program.id : v->first[0]; row; row = program.id ? 0 : v->next[row], count++) {
    char name[CODE_NAME];
    const char *own = vyre_row_name(module, (vyre_row){row});
    const bool clean = cgen_clean_name(options->name ? options->name : own ? own : "program", name);
    const size_t length = strlen(name);
    if (options->name && !clean)
      return VYRE_ERROR(VYRE_CODE_USAGE, "'%s' is not a function name\nFix: use at most 48 letters, digits and _", options->name);
    if (options->name && count)
      snprintf(name + length, sizeof(name) - length, "_%u", count);
    else if (!clean) /* other names may become the same identifier */
      snprintf(name + length, sizeof(name) - length, "_r%u", row);
    else if (!options->name && cgen_is_reserved(name)) /* most often `main` */
      snprintf(name + length, sizeof(name) - length, "_program");
    if (functions->size)
      VYRE_TRY(vyre_bytes_printf(functions, "\n"));
    VYRE_TRY(write_program(module, row, options, name, file, functions));
  }
  return VYRE_OK;
}

vyre_row
vyre_c_buffer_row(const vyre_module *module, vyre_row program, uint32_t k)
{
  return (vyre_row){code_buffer_row(module, program.id, true, k)};
}

vyre_status
vyre_c_write(const vyre_module *module, vyre_row program, const vyre_c_options *options, vyre_bytes *out)
{
  VYRE_OWN_ENVIRONMENT;
  vyre_c_options o;
  VYRE_TRY(vyre_options_read(&o, sizeof o, options, "vyre_c_options"));
  const size_t start = out->size;
  cgen_file file = {0};
  vyre_bytes functions = {.allocator = vyre_module_allocator(module)};
  if (!vyre_module_is_sealed(module))
    return VYRE_ERROR(VYRE_CODE_INTERNAL, "writing C of a module that is not sealed");
  file.helpers.allocator = vyre_module_allocator(module);
  vyre_status status = write_programs(module, program, &o, &file, &functions);
  cgen g = {.module = module, .w = {.module = module, .task = "while writing C", .status = status}};
  cgen_prune(&g, &file.helpers, &file.helper_marks, &functions);
  status = g.w.status;
  if (!status)
    status = vyre_bytes_append(out, head, sizeof(head) - 1);
  if (!status && file.helpers.size && (strstr(file.helpers.data, "vyre_i128") || strstr(file.helpers.data, "vyre_u128")))
    status = vyre_bytes_append(out, wide_integers, sizeof(wide_integers) - 1);
  if (!status && file.helpers.size)
    status = vyre_bytes_append(out, file.helpers.data, file.helpers.size);
  if (!status && functions.size)
    status = vyre_bytes_append(out, functions.data, functions.size);
  vyre_bytes_free(&functions);
  vyre_bytes_free(&file.helpers);
  return vyre_bytes_undo(out, start, status);
}
