/* Programs that damage, exceed or never end: each only ends its own item.  Programs that cannot be interpreted are refused by
 * name.
 *
 * SPDX-License-Identifier: Apache-2.0 */
#include "mega.h"

#include "programs/lower.h"
#include "vyre/ir.h"
#include "vyre/megakernel_programs.h"
#include "vyre/text.h"
#include "vyre/view.h"

#include "../budget.h"
#include "../hang.h"
#include "programs.h"

static const char doubles[] = "program @doubles workgroup(4, 1, 1) {\n"
                              "  buffer %x : u32[] storage rw set(0) binding(0)\n"
                              "  buffer %t : u32[4] workgroup = []\n"
                              "  buffer %p : u32[3] private\n"
                              "  store %t[lindex], load(%x[gid.x])\n"
                              "  barrier workgroup\n"
                              "  for %k = 0u32 to 3u32 step 1u32 { store %p[%k], add(load(%t[lindex]), %k) }\n"
                              "  if ult(gid.x, 7u32) { store %x[gid.x], mul(load(%p[1]), 2u32) }\n"
                              "}\n";
static const char endless[] = "program @endless workgroup(1, 1, 1) {\n"
                              "  buffer %x : u32[] storage rw set(0) binding(0)\n"
                              "  loop { store %x[0], add(load(%x[0]), 1u32) }\n"
                              "}\n";

static uint32_t
add(vyre_mega_programs *p, const char *text)
{
  vyre_module *module = parse_program(text);
  uint32_t number;
  ok(vyre_mega_programs_register(p, module, (vyre_row){vyre_module_view(module)->first[0]}, NULL, &number));
  vyre_module_destroy(module);
  return number;
}

static void
refuse(vyre_mega_programs *p, const char *text, const char *word)
{
  vyre_module *module = parse_program(text);
  uint32_t number;
  refused(vyre_mega_programs_register(p, module, (vyre_row){vyre_module_view(module)->first[0]}, NULL, &number), word);
  vyre_module_destroy(module);
}

static vyre_mega_programs *
start(uint32_t programs)
{
  return start_programs((vyre_mega_programs_options){.struct_size = sizeof(vyre_mega_programs_options),
                                                     .memory = 8 << 20,
                                                     .scratch = 64 << 10,
                                                     .programs = programs,
                                                     .by_priority = programs > 4});
}

/* ---- damaged tables ------------------------------------------------------------------------------------------------------- */

enum {
  WORDS = 16384,
  ENTRIES = 64,
  CONTEXTS = 128,
  CONTEXT = 1024,
  HOST = 4096,
  CODE = 4608,
  BUFFER = 12288,
  CANARY = 13000,
  END = 14000
};

/* Writes a data buffer with one program and one context. */
static void
make_image(uint32_t *image, const program_table *t)
{
  memset(image, 0, WORDS * 4);
  image[PROGRAM_HEAD_WORDS] = WORDS;
  image[PROGRAM_HEAD_ENTRIES] = ENTRIES;
  image[PROGRAM_HEAD_COUNT] = 2;
  image[PROGRAM_HEAD_CONTEXTS] = CONTEXTS;
  image[PROGRAM_HEAD_CONTEXT_COUNT] = 1;
  image[PROGRAM_HEAD_CONTEXT_WORDS] = CONTEXT;
  image[PROGRAM_HEAD_HOST] = HOST;
  uint32_t *entry = image + ENTRIES;
  entry[PROGRAM_ENTRY_GENERATION] = 1;
  entry[PROGRAM_ENTRY_CODE] = CODE;
  entry[PROGRAM_ENTRY_LENGTH] = t->length;
  entry[PROGRAM_ENTRY_POOL] = CODE + t->length * PROGRAM_INSTRUCTION;
  entry[PROGRAM_ENTRY_POOL_WORDS] = t->pool_words;
  entry[PROGRAM_ENTRY_REGISTERS] = t->registers;
  entry[PROGRAM_ENTRY_LANES] = t->lanes;
  entry[PROGRAM_ENTRY_PRIVATES] = t->privates;
  entry[PROGRAM_ENTRY_SHARED] = t->shared;
  entry[PROGRAM_ENTRY_BUFFERS] = t->buffers;
  assert_true(entry[PROGRAM_ENTRY_POOL] + t->pool_words < BUFFER);
  memcpy(image + CODE, t->code, (size_t)t->length * PROGRAM_INSTRUCTION * 4);
  memcpy(image + entry[PROGRAM_ENTRY_POOL], t->pool, (size_t)t->pool_words * 4);
  image[HOST] = BUFFER; /* the binding */
  image[HOST + 1] = 32;
  for (uint32_t i = 0; i < 8; i++)
    image[BUFFER + i] = i;
  for (uint32_t i = CANARY; i < END; i++)
    image[i] = i * 2654435761u;
}

typedef struct raw {
  world *w;
  vyre_range data;
  uint32_t image[WORDS], was[WORDS];
  program_table table;
} raw;

static raw *
raw_make(void)
{
  raw *r = calloc(1, sizeof *r);
  vyre_module *module = parse_program(doubles);
  vyre_mega_options options = {.struct_size = sizeof options,
                               .program = {.build = VYRE_MEGA_BY_PRIORITY, .has_programs = true},
                               .slots = 8,
                               .groups = 1,
                               .threads = 1};
  assert_non_null(r);
  ok(program_lower(module, (vyre_row){vyre_module_view(module)->first[0]}, &(program_lowering){.subgroup = 32}, &r->table));
  vyre_module_destroy(module);
  ok(device_open());
  vyre_device_info info;
  MEGA_TARGET.describe(device, &info);
#ifndef MEGA_CPU
  options.workgroup = options.slots = info.subgroup;
#endif
  r->w = world_with(options, 0);
  ok(MEGA_TARGET.allocate(device, sizeof r->image, &r->data.buffer));
  r->data.size = sizeof r->image;
  return r;
}

static void
raw_free(raw *r)
{
  ok(MEGA_TARGET.free(device, r->data.buffer));
  world_free(r->w);
  program_table_free(&r->table);
  free(r);
}

/* Dispatches one item with the image.  Stores its slot. */
static void
raw_run(raw *r, uint32_t steps, vyre_mega_slot *out)
{
  const vyre_mega_item item = ITEM(.op = VYRE_MEGA_OP_PROGRAM, .args = {0, 1, HOST, 0, 8, 2, 1, 1, steps});
  const size_t ring = vyre_mega_ring_size(r->w->slots);
  world_reset(r->w);
  memcpy(r->was, r->image, sizeof r->image);
  ok(vyre_mega_publish_io(r->w->ring, ring, 0, &item));
  ok(vyre_target_write(&MEGA_TARGET, device, r->data.buffer, 0, sizeof r->image, r->image));
  const vyre_mega_input input = {.control = r->w->control,
                                 .ring = r->w->ring,
                                 .debug = r->w->debug,
                                 .control_size = vyre_mega_control_size(0),
                                 .ring_size = ring,
                                 .debug_size = sizeof r->w->debug,
                                 .data = r->data};
  ok(vyre_mega_dispatch(r->w->mega, &input, &r->w->output, NULL));
  ok(vyre_mega_slot_read(r->w->output.images[1].data, r->w->output.images[1].size, 0, out));
  ok(vyre_target_read(&MEGA_TARGET, device, r->data.buffer, 0, sizeof r->image, r->image));
}

/* Checks that only the buffer, the context and counters have changed. */
static void
check_rest(const raw *r, const char *what, uint32_t at)
{
  for (uint32_t i = 0; i < WORDS; i++) {
    const bool may = (i >= BUFFER && i < BUFFER + 8) || (i >= CONTEXTS && i < CONTEXTS + CONTEXT) ||
                     (i >= PROGRAM_HEAD_ITEMS && i <= PROGRAM_HEAD_STEPS_HIGH);
    if (!may && r->image[i] != r->was[i])
      fail_msg("%s %u: word %u changed from 0x%x to 0x%x", what, at, i, r->was[i], r->image[i]);
  }
}

TEST(damaged_tables_only_end_their_item)
{
#ifdef MEGA_CPU
  const uint32_t runs = budget_runs(3000);
#else
  const uint32_t runs = budget_runs(60);
#endif
  static const uint32_t values[] = {0, 1, 2, 31, 0x7fffffff, 0x80000000, 0xffffffff, 0xfffffffe, 0x80000100, WORDS, CANARY, HOST};
  raw *r = raw_make();
  vyre_mega_slot slot;
  uint64_t random = budget_number("VYRE_SEED", 1);
  uint32_t faults = 0;
  make_image(r->image, &r->table);
  raw_run(r, 100000, &slot);
  assert_int_equal(slot.state, VYRE_MEGA_DONE);
  for (uint32_t i = 0; i < 8; i++)
    assert_int_equal(r->image[BUFFER + i], i < 7 ? (i + 1) * 2 : 7);
  assert_int_equal(r->image[PROGRAM_HEAD_ITEMS], 1);
  check_rest(r, "no damage", 0);
  for (uint32_t n = 0; n < runs; n++) {
    make_image(r->image, &r->table);
    const uint32_t all = r->table.length * PROGRAM_INSTRUCTION + r->table.pool_words;
    uint32_t at = 0;
    for (uint32_t k = 0; k <= n % 3; k++) {
      random = random * 6364136223846793005u + 1442695040888963407u;
      at = (uint32_t)(random >> 33) % (all + 9);
      at = at < all ? CODE + at : ENTRIES + 1 + at - all;
      const uint32_t how = (uint32_t)(random >> 20) % 16;
      r->image[at] = how < 12 ? values[how] : how < 14 ? r->image[at] ^ 1u << how : (uint32_t)(random >> 32);
    }
    raw_run(r, 3000, &slot);
    if (slot.state != VYRE_MEGA_DONE && slot.state != VYRE_MEGA_FAULT && slot.state != VYRE_MEGA_YIELD)
      fail_msg("damage %u of word %u: the slot is %s", n, at, vyre_mega_state_text(slot.state));
    faults += slot.state == VYRE_MEGA_FAULT;
    check_rest(r, "damage of word", at);
    hang_progress();
  }
  print_message("%u damaged tables, %u faults\n", runs, faults);
  assert_true(faults * 10 > runs);
  raw_free(r);
}

TEST(wrong_sizes_are_faults)
{
  static const struct {
    uint32_t word, value, reason;
  } wrong[] = {
      {ENTRIES + PROGRAM_ENTRY_GENERATION, 0, VYRE_MEGA_REASON_PROGRAM},
      {ENTRIES + PROGRAM_ENTRY_GENERATION, 2, VYRE_MEGA_REASON_PROGRAM},
      {ENTRIES + PROGRAM_ENTRY_CODE, WORDS + 1, VYRE_MEGA_REASON_PROGRAM},
      {ENTRIES + PROGRAM_ENTRY_LENGTH, WORDS, VYRE_MEGA_REASON_PROGRAM},
      {ENTRIES + PROGRAM_ENTRY_LENGTH, 0, VYRE_MEGA_REASON_PROGRAM},
      {ENTRIES + PROGRAM_ENTRY_POOL, 0xffffffff, VYRE_MEGA_REASON_PROGRAM},
      {ENTRIES + PROGRAM_ENTRY_POOL_WORDS, 0xffffffff, VYRE_MEGA_REASON_PROGRAM},
      {ENTRIES + PROGRAM_ENTRY_REGISTERS, 0x40000000, VYRE_MEGA_REASON_PROGRAM},
      {ENTRIES + PROGRAM_ENTRY_REGISTERS, 400, VYRE_MEGA_REASON_PROGRAM},
      {ENTRIES + PROGRAM_ENTRY_LANES, 0, VYRE_MEGA_REASON_PROGRAM},
      {ENTRIES + PROGRAM_ENTRY_LANES, 1025, VYRE_MEGA_REASON_PROGRAM},
      {ENTRIES + PROGRAM_ENTRY_PRIVATES, 0xffff, VYRE_MEGA_REASON_PROGRAM},
      {ENTRIES + PROGRAM_ENTRY_SHARED, 0xffff, VYRE_MEGA_REASON_PROGRAM},
      {ENTRIES + PROGRAM_ENTRY_BUFFERS, 65, VYRE_MEGA_REASON_BUFFER},
      {HOST, CODE - 4000, VYRE_MEGA_REASON_BUFFER},
      {HOST, WORDS + 1, VYRE_MEGA_REASON_BUFFER},
      {HOST + 1, (WORDS - BUFFER) * 4 + 1, VYRE_MEGA_REASON_BUFFER},
      {HOST + 1, 0xffffffff, VYRE_MEGA_REASON_BUFFER},
      {PROGRAM_HEAD_COUNT, 0, VYRE_MEGA_REASON_PROGRAM},
      {PROGRAM_HEAD_CONTEXT_COUNT, 0, VYRE_MEGA_REASON_PROGRAM},
  };
  raw *r = raw_make();
  for (uint32_t i = 0; i < sizeof wrong / sizeof *wrong; i++) {
    vyre_mega_slot slot;
    make_image(r->image, &r->table);
    r->image[wrong[i].word] = wrong[i].value;
    raw_run(r, 3000, &slot);
    if (slot.state != VYRE_MEGA_FAULT || slot.reason != wrong[i].reason)
      fail_msg("case %u: %s, reason %u", i, vyre_mega_state_text(slot.state), slot.reason);
    check_rest(r, "case", i);
    hang_progress();
  }
  raw_free(r);
}

/* ---- items ---------------------------------------------------------------------------------------------------------------- */

TEST(endless_loops_end_and_delay_nobody)
{
  vyre_mega_programs *p = start(4);
  const uint32_t never = add(p, endless), twice = add(p, doubles);
  vyre_mega_range ranges[2];
  vyre_mega_program_ticket ticket;
  vyre_mega_slot slot;
  bool published = false, ended;
  for (uint32_t i = 0; i < 2; i++)
    ok(vyre_mega_programs_allocate(p, 32, &ranges[i]));
  const vyre_mega_program_item item = {
      .program = never, .buffers = &ranges[0], .buffer_count = 1, .groups = {1, 1, 1}, .steps = 50000};
  assert_int_equal(run_item(p, item).reason, VYRE_MEGA_REASON_STEPS);
  vyre_mega_program_item longer = item;
  longer.steps = 0x7fffffff;
  while (!published)
    ok(vyre_mega_programs_publish(p, &longer, &ticket, &published));
  /* built-in items are done meanwhile, and other programs by other workgroups */
  for (uint32_t i = 0; i < 5; i++) {
    vyre_mega_ticket other;
    published = false;
    while (!published)
      ok(vyre_mega_live_publish(vyre_mega_programs_live(p), &ITEM(.op = 0), &other, &published));
    ok(vyre_mega_live_wait(vyre_mega_programs_live(p), other, &slot));
    assert_int_equal(slot.state, VYRE_MEGA_DONE);
  }
  ok(vyre_mega_programs_poll(p, ticket, &slot, &ended));
  assert_false(ended);
  /* an eviction ends the item, and its memory is used again */
  ok(vyre_mega_programs_remove(p, never));
  refused(vyre_mega_programs_remove(p, never), "not registered");
  refused(vyre_mega_programs_publish(p, &longer, &ticket, &published), "not registered");
  ok(vyre_mega_programs_wait(p, ticket, &slot));
  assert_int_equal(slot.state, VYRE_MEGA_FAULT);
  assert_int_equal(slot.reason, VYRE_MEGA_REASON_PROGRAM);
  assert_int_equal(add(p, endless), never);
  assert_int_equal(
      run_item(p, (vyre_mega_program_item){.program = twice, .buffers = &ranges[1], .buffer_count = 1, .groups = {2, 1, 1}}).state,
      VYRE_MEGA_DONE);
  stop_programs(p);
}

TEST(a_thousand_programs)
{
  enum { MANY = 1000 };
#ifdef MEGA_CPU
  const uint32_t step = 1;
#else
  const uint32_t step = 37; /* a device runs some of them, with the first and the last */
#endif
  vyre_mega_programs *p = start(MANY);
  vyre_mega_range range;
  uint32_t number, buffers, instructions;
  ok(vyre_mega_programs_allocate(p, 4 * MANY, &range));
  for (uint32_t i = 0; i < MANY; i++) {
    char text[256];
    snprintf(text, sizeof text,
             "program @p workgroup(1, 1, 1) {\n  buffer %%x : u32[] storage rw set(0) binding(0)\n"
             "  store %%x[%uu32], %uu32\n}\n",
             i, i * 7 + 1);
    number = add(p, text);
    assert_int_equal(number, i);
  }
  refuse(p, doubles, "which is the most");
  for (uint32_t i = 0; i < MANY; i += step)
    assert_int_equal(
        run_item(p, (vyre_mega_program_item){.program = i, .buffers = &range, .buffer_count = 1, .groups = {1, 1, 1}}).state,
        VYRE_MEGA_DONE);
  uint32_t *words = malloc(range.size);
  ok(vyre_mega_programs_read(p, range, words));
  for (uint32_t i = 0; i < MANY; i++)
    assert_int_equal(words[i], i % step ? 0 : i * 7 + 1);
  free(words);
  ok(vyre_mega_programs_remove(p, MANY / 2));
  refused(vyre_mega_programs_describe(p, MANY / 2, &buffers, &instructions), "not registered");
  assert_int_equal(add(p, doubles), MANY / 2);
  stop_programs(p);
}

TEST(a_kernel_stops_while_it_interprets)
{
  vyre_mega_programs *p = start(4);
  const uint32_t never = add(p, endless);
  vyre_mega_range range;
  vyre_mega_program_ticket ticket;
  bool published = false;
  ok(vyre_mega_programs_allocate(p, 32, &range));
  const vyre_mega_program_item item = {.program = never, .buffers = &range, .buffer_count = 1, .groups = {1, 1, 1}};
  while (!published)
    ok(vyre_mega_programs_publish(p, &item, &ticket, &published));
  for (uint32_t count = 0; count == 0;)
    ok(vyre_mega_programs_read(p, (vyre_mega_range){range.at, 4}, &count));
  stop_programs(p);
}

TEST(items_are_checked)
{
  vyre_mega_programs *p = start(4);
  const uint32_t twice = add(p, doubles);
  vyre_mega_program_ticket ticket;
  vyre_mega_range range;
  bool published;
  ok(vyre_mega_programs_allocate(p, 64, &range));
  const vyre_mega_program_item good = {.program = twice, .buffers = &range, .buffer_count = 1, .groups = {2, 1, 1}};
  vyre_mega_program_item item = good;
  item.program = 3;
  refused(vyre_mega_programs_publish(p, &item, &ticket, &published), "program 3 is not registered");
  item = good;
  item.buffer_count = 0;
  refused(vyre_mega_programs_publish(p, &item, &ticket, &published), "0 buffers");
  item = good;
  item.buffers = &(vyre_mega_range){range.at + 2, 8};
  refused(vyre_mega_programs_publish(p, &item, &ticket, &published), "buffer 0");
  item.buffers = &(vyre_mega_range){range.at, 1024};
  refused(vyre_mega_programs_publish(p, &item, &ticket, &published), "buffer 0");
  item.buffers = &(vyre_mega_range){0, 64};
  refused(vyre_mega_programs_publish(p, &item, &ticket, &published), "buffer 0");
  item = good;
  item.first = 5;
  item.count = 4;
  refused(vyre_mega_programs_publish(p, &item, &ticket, &published), "are not in a grid");
  item.groups[0] = item.groups[1] = item.groups[2] = 65536;
  refused(vyre_mega_programs_publish(p, &item, &ticket, &published), "2^31");
  assert_int_equal(run_item(p, good).state, VYRE_MEGA_DONE);
  stop_programs(p);
}

/* Only the invocations of an item run, and the others count as having returned. */
TEST(an_item_is_a_part_of_a_grid)
{
  vyre_mega_programs *p = start(2);
  const uint32_t number = add(p, "program @p workgroup(4, 1, 1) {\n  buffer %x : u32[] storage rw set(0) binding(0)\n"
                                 "  barrier workgroup\n  store %x[gid.x], add(gid.x, groups.x)\n}\n");
  vyre_mega_range range;
  uint32_t words[16];
  ok(vyre_mega_programs_allocate(p, sizeof words, &range));
  assert_int_equal(
      run_item(p,
               (vyre_mega_program_item){
                   .program = number, .buffers = &range, .buffer_count = 1, .groups = {4, 1, 1}, .first = 3, .count = 7})
          .state,
      VYRE_MEGA_DONE);
  ok(vyre_mega_programs_read(p, range, words));
  for (uint32_t i = 0; i < 16; i++)
    assert_int_equal(words[i], i >= 3 && i < 10 ? i + 4 : 0);
  stop_programs(p);
}

TEST(faults_have_their_reasons)
{
  vyre_mega_programs *p = start(4);
  vyre_mega_range range;
  ok(vyre_mega_programs_allocate(p, 64, &range));
  const uint32_t traps = add(p, "program @p workgroup(4, 1, 1) {\n  buffer %x : u32[] storage rw set(0) binding(0)\n"
                                "  if eq(gid.x, 6u32) { trap }\n  store %x[gid.x], 1u32\n}\n");
  const uint32_t parts = add(p, "program @p workgroup(4, 1, 1) {\n  buffer %x : u32[] storage rw set(0) binding(0)\n"
                                "  if ult(lindex, 2u32) { barrier workgroup }\n  store %x[gid.x], 1u32\n}\n");
  const vyre_mega_program_item item = {.program = traps, .buffers = &range, .buffer_count = 1, .groups = {2, 1, 1}};
  assert_int_equal(run_item(p, item).reason, VYRE_MEGA_REASON_TRAP);
  vyre_mega_program_item other = item;
  other.program = parts;
  assert_int_equal(run_item(p, other).reason, VYRE_MEGA_REASON_BARRIER);
  other.program = traps;
  other.groups[0] = 1; /* without the invocation that traps */
  assert_int_equal(run_item(p, other).state, VYRE_MEGA_DONE);
  stop_programs(p);
}

static vyre_status
register_text(vyre_mega_programs *p, const char *text, const vyre_mega_program_options *options, uint32_t *out)
{
  vyre_module *module = parse_program(text);
  vyre_status status = vyre_mega_programs_register(p, module, (vyre_row){vyre_module_view(module)->first[0]}, options, out);
  vyre_module_destroy(module);
  return status;
}

/* Refusals leave the kernel and the other programs as they were. */
TEST(wrong_registrations_and_ranges_are_refused)
{
  vyre_mega_programs *p = start(400);
  vyre_mega_range range, rest[64];
  uint32_t number, words[8] = {0}, count = 0, last = 0;
  const uint32_t twice = add(p, doubles);
  vyre_mega_program_options odd = {.struct_size = sizeof odd, .subgroup = 3};
  refused(register_text(p, doubles, &odd, &number), "a subgroup cannot have 3 lanes");
  odd.subgroup = 256;
  refused(register_text(p, doubles, &odd, &number), "a subgroup cannot have 256 lanes");
  odd.struct_size = 4096;
  refused(register_text(p, doubles, &odd, &number), "struct_size");
  refuse(p, "program @p workgroup(1025, 1, 1) {\n}\n", "a workgroup has 1025 invocations");
  refuse(p, "program @p workgroup(0, 1, 1) {\n}\n", "a workgroup has 0 invocations");
  ok(vyre_mega_programs_allocate(p, 32, &range));
  refused(vyre_mega_programs_free(p, (vyre_mega_range){range.at + 4, 28}), "no range begins");
  refused(vyre_mega_programs_write(p, (vyre_mega_range){range.at, 8 << 20}, words), "whole words");
  refused(vyre_mega_programs_read(p, (vyre_mega_range){UINT64_MAX - 3, 8}, words), "whole words");
  /* until the memory is full */
  while (count < 64 && !last) {
    vyre_status status = vyre_mega_programs_allocate(p, 1 << 18, &rest[count]);
    last = status != NULL;
    count += status == NULL;
    if (status)
      refused(status, "are left for");
  }
  assert_true(last);
  vyre_status full = VYRE_OK;
  for (last = 0; last < 399 && !full; last++)
    full = register_text(p, endless, NULL, &number);
  if (full)
    refused(full, "are left for a program's table");
  ok(vyre_mega_programs_free(p, rest[0]));
  refused(vyre_mega_programs_free(p, rest[0]), "no range begins");
  for (uint32_t i = 0; i < 8; i++)
    words[i] = i;
  ok(vyre_mega_programs_write(p, range, words));
  const vyre_mega_program_item item = {.program = twice, .buffers = &range, .buffer_count = 1, .groups = {2, 1, 1}};
  assert_int_equal(run_item(p, item).state, VYRE_MEGA_DONE);
  ok(vyre_mega_programs_read(p, range, words));
  for (uint32_t i = 0; i < 8; i++)
    assert_int_equal(words[i], i < 7 ? (i + 1) * 2 : 7);
  stop_programs(p);
}

TEST(what_cannot_be_interpreted_is_refused_by_name)
{
  vyre_mega_programs *p = start(4);
  refuse(p,
         "program @p workgroup(1, 1, 1) {\n  buffer %x : f64[] storage rw set(0) binding(0)\n  store %x[0], sin(load(%x[0]))\n}\n",
         "'sin' on f64");
  refuse(p, "program @p workgroup(1, 1, 1) {\n  buffer %x : u64[] storage rw set(0) binding(0)\n  atomic_add %x[0], 1u64\n}\n",
         "'atomic_add' on a scalar that has not 32 bits");
  refuse(p, "program @p workgroup(1, 1, 1) {\n  barrier device\n}\n", "a barrier for the whole grid");
  refuse(p, "program @p flush_f32 workgroup(1, 1, 1) {\n}\n", "float modes");
  refuse(p, "program @p workgroup(1, 1, 1) {\n  buffer %x : u32[100000] private\n  store %x[gid.x], 1u32\n}\n", "private");
  refuse(p, "program @p workgroup(64, 1, 1) {\n  buffer %x : u32[2000] private\n  store %x[gid.x], 1u32\n}\n", "bytes of scratch");
  refuse(p,
         "program @p workgroup(1, 1, 1) {\n  buffer %x : spirv TypeImage(type f32, 1, 0, 0, 0, 2, 4) handle ro set(0) binding(0)\n"
         "  %i = load %x\n  opaque_write ImageWrite(%i, 0u32x2, 0.0f32x4)\n}\n",
         "OpImageWrite");
  stop_programs(p);
}

TEST_MAIN(NULL, device_end)
