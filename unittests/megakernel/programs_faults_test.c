/* Interpreted items while the device is lost and memory runs out: each is done once, or is FAULT (LOST).
 *
 * SPDX-License-Identifier: Apache-2.0 */
#include "frail.h"

#include "vyre/ir.h"
#include "vyre/megakernel_programs.h"
#include "vyre/text.h"
#include "vyre/view.h"

#include "../hang.h"
#include "programs.h"

enum { LANES = 4, FLIGHT = 8, TIMES = 200 };

/* Each invocation adds 1 to a word in each of many iterations, so that an item takes several turns. */
static const char counts[] = "program @counts workgroup(4, 1, 1) {\n"
                             "  buffer %out : u32[] storage rw set(0) binding(0)\n"
                             "  for %k = 0u32 to 200u32 step 1u32 { atomic_add %out[gid.x], 1u32 }\n"
                             "}\n";

static uint32_t
amount(void)
{
#ifdef MEGA_CPU
  return 400;
#elif defined(MEGA_CUDA)
  return 32; /* the simulator is slow */
#else
  return 40;
#endif
}

typedef struct flight {
  vyre_mega_range range;
  vyre_mega_program_ticket ticket;
} flight;

static void
publish(vyre_mega_programs *p, uint32_t program, flight *f)
{
  bool published = false;
  ok(vyre_mega_programs_allocate(p, LANES * 4, &f->range));
  const vyre_mega_program_item item = {.program = program, .buffers = &f->range, .buffer_count = 1, .groups = {1, 1, 1}};
  while (!published)
    ok(vyre_mega_programs_publish(p, &item, &f->ticket, &published));
}

/* Waits for an item.  Returns whether it is DONE. */
static bool
finish(vyre_mega_programs *p, flight *f)
{
  vyre_mega_slot slot;
  uint32_t words[LANES];
  ok(vyre_mega_programs_wait(p, f->ticket, &slot));
  ok(vyre_mega_programs_read(p, f->range, words));
  ok(vyre_mega_programs_free(p, f->range));
  if (slot.state == VYRE_MEGA_FAULT)
    assert_int_equal(slot.reason, VYRE_MEGA_REASON_LOST);
  for (uint32_t k = 0; k < LANES; k++)
    if (slot.state == VYRE_MEGA_DONE ? words[k] != TIMES : words[k] > TIMES)
      fail_msg("%s, but invocation %u counted %u times", vyre_mega_state_text(slot.state), k, words[k]);
  return slot.state == VYRE_MEGA_DONE;
}

TEST(every_interpreted_item_is_done_once_or_lost)
{
  vyre_target *target = world_target();
  frail *f = frail_of(target);
  vyre_module *module = parse_program(counts);
  vyre_mega_programs *p;
  vyre_mega_programs_counts device_counts;
  vyre_mega_control control;
  uint32_t program, done = 0;
  const uint32_t items = amount();
  ok(vyre_mega_programs_start(
      &frail_ops, target,
      &(vyre_mega_programs_options){
          .struct_size = sizeof(vyre_mega_programs_options), .memory = 4 << 20, .scratch = 16 << 10, .groups = 2, .slice = 4},
      &p));
  ok(vyre_mega_programs_register(p, module, (vyre_row){vyre_module_view(module)->first[0]}, NULL, &program));
  f->most = 20;
  f->every = items > 32 ? 7 : 4;
  for (uint32_t i = 0; i < items; i += FLIGHT) {
    flight flights[FLIGHT];
    for (uint32_t k = 0; k < FLIGHT; k++)
      publish(p, program, &flights[k]);
    for (uint32_t k = 0; k < FLIGHT; k++)
      done += finish(p, &flights[k]);
    hang_progress();
  }
  vyre_mega_programs_count(p, &device_counts);
  ok(vyre_mega_programs_stop(p, &control, NULL));
  assert_int_equal(control.done, done);
  assert_int_equal(control.done + control.faults, items);
  assert_int_equal(device_counts.items, done); /* all of them were interpreted on the device */
  assert_true(f->recoveries > 1);
  vyre_module_destroy(module);
  world_target_end(target);
}

TEST_MAIN(NULL, device_end)
