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
  fwrite(text.data, 1, text.size, stderr); /* longer than a message may be */
  vyre_bytes_free(&text);
}

static inline vyre_module *
parse_program(const char *text)
{
  vyre_module *module;
  assert_null(vyre_module_create(NULL, 0, &module));
  ok(vyre_text_parse(module, text, strlen(text), "text", (vyre_diagnostics){0}));
  return module;
}

/* Returns whether two bindings are of one descriptor. */
static inline bool
is_one_descriptor(const vyre_module *module, const vyre_binding *a, const vyre_binding *b)
{
  const vyre_view *v = vyre_module_view(module);
  const bool a_is_push = VYRE_BUFFER_SPACE(v->imm_hi[a->buffer.id]) == VYRE_SPACE_PUSH;
  if (a_is_push || VYRE_BUFFER_SPACE(v->imm_hi[b->buffer.id]) == VYRE_SPACE_PUSH)
    return a_is_push && VYRE_BUFFER_SPACE(v->imm_hi[b->buffer.id]) == VYRE_SPACE_PUSH;
  const vyre_buffer_info x = *vyre_buffer_info_of((vyre_module *)(uintptr_t)module, a->buffer);
  const vyre_buffer_info y = *vyre_buffer_info_of((vyre_module *)(uintptr_t)module, b->buffer);
  return x.set == y.set && x.binding == y.binding && a->element == b->element;
}

#endif
