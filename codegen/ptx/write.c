/* Writes programs as PTX kernels.  The cost is linear in the rows and their lanes.
 *
 * SPDX-License-Identifier: Apache-2.0 */
#include "internal.h"
#include "base/options.h"
#include "vyre/environment.h"

#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>

/* ---- one program --------------------------------------------------------------------------------------------------------- */

static bool
make_columns(gen *g)
{
  uint32_t **const words[] = {&g->w.uses, &g->values, &g->offsets, &g->exits, &g->agains};
  uint8_t **const bytes[] = {&g->seen, &g->is_wide, &g->leaks};
  if (!code_make_columns(&g->w, words, sizeof(words) / sizeof(*words), bytes, sizeof(bytes) / sizeof(*bytes)))
    return false;
  while (vyre_ptx_buffer_row(g->module, (vyre_row){g->program}, g->slot_count).id)
    g->slot_count++;
  g->slots = pgen_resize(g, NULL, 0, (g->slot_count + 1) * sizeof(*g->slots));
  if (g->slots)
    memset(g->slots, 0, (g->slot_count + 1) * sizeof(*g->slots));
  return g->slots != NULL;
}

/* Returns whether all constructs that contain the row are blocks. */
static bool
is_at_top(const gen *g, uint32_t row)
{
  uint32_t region = g->v->parent[row];
  while (region != g->program && op_of(g, g->v->parent[region]) == VYRE_OP_block)
    region = g->v->parent[g->v->parent[region]];
  return region == g->program;
}

/* Refuses `return` before a grid barrier, unless invocations that returned can go from one grid barrier to the next.  Then the grid
 * barriers are at the top of the program, and the remaining invocations of a workgroup do not wait for each other elsewhere. */
static bool
check_returns(gen *g)
{
  uint32_t refused = 0;
  for (uint32_t row = g->program + 1; row < g->end && g->ends_early; row++)
    if (op_of(g, row) == VYRE_OP_barrier && VYRE_ORDER_EXECUTION(g->v->imm[row]) < 3 &&
        (g->wide || VYRE_ORDER_EXECUTION(g->v->imm[row]) == 2 || !is_at_top(g, row)))
      refused = row;
  return !refused || pgen_fail(g, refused,
                               "a barrier waits for the whole grid, but invocations that `return` never arrive\n"
                               "Fix: put the code after the `return` into an `if`");
}

/* Refuses programs that cannot be written as PTX. */
static bool
can_be_written(gen *g)
{
  bool returns = false;
  g->w.status = code_refuse_opaque(g->module, g->program, "PTX");
  for (uint32_t row = g->program + 1; row < g->end && !g->w.status; row++) {
    const vyre_opcode op = op_of(g, row);
    if (op == VYRE_OP_buffer && VYRE_BUFFER_SPACE(g->v->imm_hi[row]) == VYRE_SPACE_HANDLE)
      return pgen_fail(g, row, "images, samplers and pointers cannot be written as PTX\nFix: write SPIR-V");
    g->grid_barrier = g->grid_barrier || (op == VYRE_OP_barrier && VYRE_ORDER_EXECUTION(g->v->imm[row]) < 2);
    returns = returns || op == VYRE_OP_return;
  }
  g->ends_early = g->grid_barrier && returns;
  return !g->w.status;
}

static bool
find_sizes(gen *g)
{
  const vyre_ptx_options *o = g->options;
  uint64_t descriptors;
  if (!vyre_workgroup_size(g->module, (vyre_row){g->program}, o->specs, o->spec_count, g->local))
    return pgen_fail(g, g->program, "the workgroup size is not constant");
  const uint64_t plane = (uint64_t)g->local[0] * g->local[1];
  if (plane == 0 || plane > 1024 || g->local[2] == 0 || g->local[2] > 64 || plane * g->local[2] > 1024)
    return pgen_fail(g, g->program,
                     "a workgroup has %u x %u x %u invocations, but a device runs 1 to 1024, and at most 64 along z\n"
                     "Fix: choose another workgroup size",
                     g->local[0], g->local[1], g->local[2]);
  g->count = (uint32_t)plane * g->local[2];
  if (!code_lay_out(&g->w))
    return false;
  descriptors = code_first_descriptor(&g->w, g->slot_count);
  for (uint32_t row = g->v->first[g->program]; row; row = g->v->next[row]) {
    if (op_of(g, row) != VYRE_OP_buffer)
      continue;
    if (VYRE_BUFFER_SPACE(g->v->imm_hi[row]) == VYRE_SPACE_PUSH && code_buffer_size(&g->w, row) > g->push_bytes)
      g->push_bytes = code_buffer_size(&g->w, row) < UINT32_MAX ? (uint32_t)code_buffer_size(&g->w, row) : UINT32_MAX;
    if (code_is_bound(&g->w, row) && code_is_table(&g->w, row) && !vyre_buffer_descriptor_steps(g->module, row))
      return pgen_fail(g, row, "one binding is both a buffer and an array of buffers whose length is open\nFix: declare it once");
  }
  if (descriptors * 16 + g->push_bytes + 8 > VYRE_PTX_PARAMETERS)
    return pgen_fail(g, g->program,
                     "%" PRIu64 " buffers and %u bytes of push constants exceed the %u bytes of a kernel's parameters\n"
                     "Fix: use fewer",
                     descriptors, g->push_bytes, VYRE_PTX_PARAMETERS);
  g->descriptors = (uint32_t)descriptors;
  return true;
}

static bool
is_printable(const char *text)
{
  for (; *text; text++)
    if (*text < ' ' || *text > '~')
      return false;
  return true;
}

static void
put_head(gen *g)
{
  const char *name = vyre_row_name(g->module, (vyre_row){g->program});
  pgen_put(g, "// @%s\n", name && is_printable(name) ? name : g->kernel);
  for (uint32_t k = 0; k < g->slot_count; k++) {
    const uint32_t row = vyre_ptx_buffer_row(g->module, (vyre_row){g->program}, k).id;
    const vyre_buffer_info info = *code_buffer_info(&g->w, row);
    pgen_put(g, "//   buffers[%u]: set %u, binding %u%s\n", code_first_descriptor(&g->w, k), info.set, info.binding,
             code_is_table(&g->w, row) ? ", a table" : "");
  }
  pgen_put(g, ".visible .entry %s(.param .u64 dispatch", g->kernel);
  if (g->descriptors)
    pgen_put(g, ", .param .align 8 .b8 buffers[%u]", g->descriptors * 16);
  if (g->push_bytes)
    pgen_put(g, ", .param .align 16 .b8 push[%u]", g->push_bytes);
  pgen_put(g, ")\n.reqntid %u, %u, %u\n", g->local[0], g->local[1], g->local[2]);
  /* With at least one block per multiprocessor the assembler uses all registers that the kernel needs.  Otherwise it spills
   * some to fit more blocks. */
  if (g->options->most_registers)
    pgen_put(g, ".maxnreg %u\n{\n", g->options->most_registers);
  else
    pgen_put(g, ".minnctapersm 1\n{\n");
}

static void
put_registers(gen *g)
{
  static const char *const types[REG__COUNT] = {NULL, ".pred %p", ".b16 %h", ".b32 %r", ".b64 %d"};
  for (reg_class klass = REG_PRED; klass < REG__COUNT; klass++)
    if (g->made[klass])
      pgen_put(g, "\t.reg %s<%u>;\n", types[klass], g->made[klass]);
}

/* Writes the program's rows.  Recurses into constructs. */
static void
write_rows(void *argument)
{
  gen *g = argument;
  pgen_region(g, g->program);
}

static void
write_kernel(gen *g, vyre_bytes *kernels)
{
  const uint32_t end = pgen_new_label(g);
  g->w.out = &g->body;
  g->join = end;
  pgen_survey(g);
  if (!check_returns(g))
    return;
  pgen_start(g);
  const vyre_status status = vyre_call_nested(g->nests, write_rows, g);
  g->w.status = vyre_status_join(g->w.status, status);
  if (g->wide)
    pgen_label(g, end);
  if (g->ends_early)
    pgen_label(g, g->next_grid);
  pgen_code(g, "ret", NULL, 0);
  if (g->shared_bytes > VYRE_PTX_SHARED)
    pgen_fail(g, g->program, "%" PRIu64 " bytes of workgroup memory exceed the limit of %u\nFix: use less", g->shared_bytes,
              VYRE_PTX_SHARED);
  g->w.out = kernels;
  code_put_bytes(&g->w, &g->tables);
  put_head(g);
  put_registers(g);
  pgen_put_memory(g);
  code_put_bytes(&g->w, &g->body);
  pgen_put(g, "}\n");
}

static vyre_status
write_program(const vyre_module *module, uint32_t program, const vyre_ptx_options *options, const char *name, vyre_bytes *kernels)
{
  const vyre_view *v = vyre_module_view(module);
  const vyre_allocator *allocator = vyre_module_allocator(module);
  const bool strict = (v->imm[program] & VYRE_PROGRAM_RELAXED) == 0;
  gen g = {.module = module,
           .v = v,
           .options = options,
           .program = program,
           .end = vyre_program_end(v, program),
           .sm = options->sm ? options->sm : VYRE_PTX_SM_LEAST,
           .strict = strict,
           .approximate = options->is_approximate,
           .kernel = name,
           .body = {.allocator = allocator},
           .tables = {.allocator = allocator},
           .w = {.module = module,
                 .program = program,
                 .end = vyre_program_end(v, program),
                 .v = v,
                 .task = "while writing PTX",
                 .specs = options->specs,
                 .spec_count = options->spec_count,
                 .in_bounds = options->in_bounds,
                 .all_in_bounds = !strict && !options->is_robust,
                 .open_descriptors = options->open_descriptors ? options->open_descriptors : CODE_UNBOUNDED}};
  if (can_be_written(&g) && make_columns(&g) && find_sizes(&g))
    write_kernel(&g, kernels);
  code_writer_free(&g.w);
  pgen_resize(&g, g.slots, (g.slot_count + 1) * sizeof(*g.slots), 0);
  pgen_resize(&g, g.regs, g.reg_capacity * sizeof(*g.regs), 0);
  vyre_bytes_free(&g.body);
  vyre_bytes_free(&g.tables);
  return g.w.status;
}

/* ---- names ---------------------------------------------------------------------------------------------------------------- */

/* The words of PTX instructions, which names must not equal. */
static const char reserved[] =
    " abs add addc alloca and applypriority atom bar barrier bfe bfi bfind bmsk bra brev brkpt brx call clz cnot copysign cos cp "
    "createpolicy cvt cvta discard div dp2a dp4a elect ex2 exit fence fma fns getctarank griddepcontrol isspacep istypep ld "
    "ldmatrix ldu lg2 lop3 mad mad24 madc mapa match max mbarrier membar min mma mov movmatrix mul mul24 nanosleep neg not or "
    "pmevent popc prefetch prefetchu prmt rcp red redux rem ret rsqrt sad selp set setmaxnreg setp shf shfl shl shr sin slct "
    "sqrt st stackrestore stacksave stmatrix sub subc suld suq sured sust szext tanh tensormap testp tex tld4 trap txq vabsdiff "
    "vadd vmad vmax vmin vote vset vshl vshr vsub wgmma wmma xor WARP_SZ ";

/* Makes a kernel's name.  Returns whether it equals the text. */
static bool
clean_name(const char *text, char name[CODE_NAME])
{
  char spaced[CODE_NAME + 3];
  const bool clean = code_clean_name(text, "v", code_is_letter, name);
  snprintf(spaced, sizeof(spaced), " %s ", name);
  return clean && !strstr(reserved, spaced);
}

static vyre_status
write_programs(const vyre_module *module, vyre_row program, const vyre_ptx_options *options, vyre_bytes *kernels)
{
  const vyre_view *v = vyre_module_view(module);
  for (uint32_t row = program.id ? program.id : v->first[0]; row; row = program.id ? 0 : v->next[row]) {
    char name[CODE_NAME];
    const char *own = vyre_row_name(module, (vyre_row){row});
    const bool clean = clean_name(options->name ? options->name : own ? own : "program", name);
    const size_t length = strlen(name);
    if (options->name && !clean)
      return VYRE_ERROR(VYRE_CODE_USAGE,
                        "'%s' is not a kernel name\nFix: use at most 48 letters, digits and _, but not an instruction's name",
                        options->name);
    if (!clean) /* other names may become the same identifier */
      snprintf(name + length, sizeof(name) - length, "_r%u", row);
    VYRE_TRY(vyre_bytes_printf(kernels, "\n"));
    VYRE_TRY(write_program(module, row, options, name, kernels));
  }
  return VYRE_OK;
}

vyre_row
vyre_ptx_buffer_row(const vyre_module *module, vyre_row program, uint32_t k)
{
  return (vyre_row){code_buffer_row(module, program.id, false, k)};
}

vyre_status
vyre_ptx_write(const vyre_module *module, vyre_row program, const vyre_ptx_options *options, vyre_bytes *out)
{
  VYRE_OWN_ENVIRONMENT;
  vyre_ptx_options o;
  VYRE_TRY(vyre_options_read(&o, sizeof o, options, "vyre_ptx_options"));
  const size_t start = out->size;
  const uint32_t sm = o.sm ? o.sm : VYRE_PTX_SM_LEAST;
  if (!vyre_module_is_sealed(module))
    return VYRE_ERROR(VYRE_CODE_INTERNAL, "writing PTX of a module that is not sealed");
  if (sm < VYRE_PTX_SM_LEAST)
    return VYRE_ERROR(VYRE_CODE_USAGE, "sm_%u is older than sm_%u\nFix: choose a newer one", sm, VYRE_PTX_SM_LEAST);
  /* Devices newer than sm_100 execute its text. */
  vyre_status status = vyre_bytes_printf(out,
                                         "// Generated by vyre.  include/vyre/ptx.h describes how to launch it.\n"
                                         ".version %s\n.target sm_%u\n.address_size 64\n",
                                         sm >= 100 ? "8.6" : "7.8", sm > 100 ? 100u : sm);
  if (!status)
    status = write_programs(module, program, &o, out);
  return vyre_bytes_undo(out, start, status);
}
