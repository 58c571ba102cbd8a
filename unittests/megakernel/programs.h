/* Helpers for tests of interpreted programs.
 *
 * SPDX-License-Identifier: Apache-2.0 */
#ifndef VYRE_UNITTESTS_PROGRAMS_H
#define VYRE_UNITTESTS_PROGRAMS_H

#ifdef MEGA_CPU
enum { RANDOM_RUNS = 600 };
#else
enum { RANDOM_RUNS = 40 };
#endif

static inline vyre_mega_programs *
start_programs(vyre_mega_programs_options options)
{
  vyre_mega_programs *p = NULL;
  ok(device_open());
#ifdef MEGA_CUDA
  if (!device_is_real()) /* each lane of the simulator costs time */
    options.groups = options.groups ? options.groups : 1;
#endif
  ok(vyre_mega_programs_start(ops, device, &options, &p));
  return p;
}

static inline void
stop_programs(vyre_mega_programs *p)
{
  ok(vyre_mega_programs_stop(p, NULL, NULL));
}

static inline vyre_mega_slot
run_item(vyre_mega_programs *p, vyre_mega_program_item item)
{
  vyre_mega_program_ticket ticket;
  vyre_mega_slot slot;
  bool published = false;
  while (!published)
    ok(vyre_mega_programs_publish(p, &item, &ticket, &published));
  ok(vyre_mega_programs_wait(p, ticket, &slot));
  return slot;
}

static inline void
print_program(const vyre_module *module, uint32_t program)
{
  vyre_bytes text = {0};
  (void)program;
  ok(vyre_text_print(module, NULL, &text));
  print_message("%.*s\n", (int)text.size, text.data);
  vyre_bytes_free(&text);
}

/* Returns the first row of the k-th buffer of a dispatch. */
static inline uint32_t
buffer_row(const vyre_module *module, uint32_t program, uint32_t k)
{
  const vyre_view *v = vyre_module_view(module);
  uint32_t rows[64], count = 0;
  for (uint32_t row = v->first[program]; row; row = v->next[row]) {
    const vyre_space space = VYRE_BUFFER_SPACE(v->imm_hi[row]);
    if (VYRE_ROW_OP(v->op[row]) != VYRE_OP_buffer || space > VYRE_SPACE_PUSH)
      continue;
    bool is_new = true;
    for (uint32_t i = 0; i < count && is_new; i++) {
      const vyre_buffer_info a = *vyre_buffer_info_of((vyre_module *)module, (vyre_row){row}),
                             b = *vyre_buffer_info_of((vyre_module *)module, (vyre_row){rows[i]});
      const bool is_push = space == VYRE_SPACE_PUSH, other_is_push = VYRE_BUFFER_SPACE(v->imm_hi[rows[i]]) == VYRE_SPACE_PUSH;
      is_new = is_push || other_is_push ? is_push != other_is_push : a.set != b.set || a.binding != b.binding;
    }
    if (is_new)
      rows[count++] = row;
  }
  assert_true(k < count);
  return rows[k];
}

#endif
