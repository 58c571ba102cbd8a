/* Helpers of the megakernel's tests.  Each test is built for each target.
 *
 * SPDX-License-Identifier: Apache-2.0 */
#ifndef VYRE_UNITTESTS_MEGA_H
#define VYRE_UNITTESTS_MEGA_H

#include "../test.h"

#include "bundle.h"
#include "vyre/megakernel.h"
#ifdef MEGA_PASSES
#include "vyre/ir.h"
#include "vyre/passmgr.h"
#endif

#ifndef MEGA_LIBRARY
#define MEGA_LIBRARY NULL
#endif

#define ITEM(...) ((vyre_mega_item){__VA_ARGS__})

/* Options of a kernel. */
typedef struct way {
  const char *name;
  uint32_t workgroup; /* 0 for the default */
  bool is_alone;
  uint32_t subgroup;
  bool is_optimized;
} way;

/* The options to test on the target.  The last element has no name. */
static const way ways[] = {
#ifdef MEGA_CPU
    {"compiled C, or interpreted with handlers", 0, false, 0, false},
    {"interpreted, subgroups of 4 count together", 8, false, 4, false},
    {"interpreted, lanes count one by one", 8, true, 4, false},
#ifdef MEGA_PASSES
    {"interpreted, optimized", 8, false, 4, true},
#endif
#else
    {"lanes count together", 0, false, 0, false},
    {"lanes count one by one", 0, true, 0, false},
    {"workgroups of 4", 4, false, 0, false},
#ifdef MEGA_PASSES
    {"optimized", 0, false, 0, true},
#endif
#endif
    {0},
};

static inline void
ok(vyre_status status)
{
  if (status)
    print_error("%s\n", vyre_status_text(status));
  assert_null(status);
}

static inline void
refused(vyre_status status, const char *word)
{
  const char *text = vyre_status_text(status);
  if (!status || !strstr(text, word) || !strstr(text, "Fix: "))
    fail_msg("expected '%s', but the message is: %s", word, text);
  vyre_status_free(status);
}

/* An open target, a megakernel on it, live or not, and the images of its ring. */
typedef struct world {
  vyre_target *target;
  vyre_mega *mega;      /* NULL if there is none */
  vyre_mega_live *live; /* NULL if the kernel is not live */
  uint32_t slots, observables;
  uint32_t *control, *ring, debug[VYRE_MEGA_DEBUG_WORDS], io[VYRE_MEGA_IO_SLOTS * VYRE_MEGA_IO_WORDS];
  vyre_mega_output output;
  vyre_mega_results results;
  vyre_mega_stats stats;
} world;

#ifndef MEGA_OPS
#define MEGA_OPS MEGA_TARGET
#endif
static const vyre_target_ops *const ops = &MEGA_OPS;

/* The device stays open between tests, and the driver's cache is kept, because opening and compiling take longer than most
 * tests. */
static vyre_target *device;

static inline vyre_status
device_open_one(vyre_target **out)
{
  char cache[PATH_MAX];
  snprintf(cache, sizeof cache, "%s", test_file("unittests/mega-cache"));
  const vyre_target_options options = {.struct_size = sizeof options, .library = test_library(MEGA_LIBRARY), .cache = cache};
  return MEGA_TARGET.open(&options, NULL, out);
}

static inline vyre_status
device_open(void)
{
  return device ? VYRE_OK : device_open_one(&device);
}

static inline vyre_status
device_close(void)
{
  vyre_target *closed = device;
  device = NULL;
  return closed ? MEGA_TARGET.close(closed) : VYRE_OK;
}

/* Closes the device.  The teardown of the program. */
static inline int
device_end(void **state)
{
  (void)state;
  ok(device_close());
  return 0;
}

/* Returns whether the device is neither a simulator nor a driver that runs on the CPU. */
static inline bool
device_is_real(void)
{
  vyre_device_info info;
  ok(device_open());
  MEGA_TARGET.describe(device, &info);
  return info.kind != VYRE_DEVICE_CPU && !(info.capabilities & VYRE_TARGET_EMULATED);
}

/* Returns the device for one test, to be used with `ops`. */
#ifdef MEGA_IS_FRAIL
static vyre_target *world_target(void);
static void world_target_end(vyre_target *target);
#else
static inline vyre_target *
world_target(void)
{
  ok(device_open());
  return device;
}

static inline void
world_target_end(vyre_target *target)
{
  (void)target;
}
#endif

static inline void
world_reset(world *w)
{
  ok(vyre_mega_control_encode(&(vyre_mega_control_desc){.tenants = 29, .slots = w->slots, .observables = w->observables},
                              w->control, vyre_mega_control_size(w->observables)));
  ok(vyre_mega_ring_encode(w->slots, w->ring, vyre_mega_ring_size(w->slots)));
  ok(vyre_mega_debug_encode(w->debug, sizeof w->debug));
  ok(vyre_mega_io_encode(VYRE_MEGA_IO_SLOTS, w->io, sizeof w->io));
}

static inline world *
world_make(uint32_t slots, uint32_t observables)
{
  world *w = calloc(1, sizeof *w);
  assert_non_null(w);
  w->slots = slots;
  w->observables = observables;
  w->control = malloc(vyre_mega_control_size(observables));
  w->ring = malloc(vyre_mega_ring_size(slots));
  w->target = world_target();
  world_reset(w);
  return w;
}

/* Creates a megakernel, and a ring of its number of slots. */
static inline world *
world_with(vyre_mega_options options, uint32_t observables)
{
  world *w = world_make(options.slots, observables);
  ok(vyre_mega_create(ops, w->target, &options, &w->mega));
  return w;
}

static inline void
world_free(world *w)
{
  if (w->mega)
    ok(vyre_mega_destroy(w->mega));
  vyre_mega_output_free(&w->output);
  vyre_mega_results_free(&w->results);
  free(w->control);
  free(w->ring);
  world_target_end(w->target);
  free(w);
}

#ifdef MEGA_PASSES
static vyre_status
mega_optimize(void *user, vyre_module *module)
{
  static const char passes[] = "default<O2>";
  vyre_registry *registry = NULL;
  vyre_pipeline *pipeline = NULL;
  (void)user;
  vyre_status status = vyre_registry_create(NULL, &registry);
  if (!status)
    status = vyre_registry_load_folder(registry, test_file("lib/vyre/passes"), VYRE_ORIGIN_CORE);
  if (!status)
    status = vyre_pipeline_parse(registry, passes, strlen(passes), "-passes", &pipeline);
  const uint32_t rows = vyre_module_view(module)->rows;
  if (!status)
    status = vyre_pipeline_run(pipeline, module,
                               &(vyre_pipeline_options){.struct_size = sizeof(vyre_pipeline_options), .verify_each = true});
  assert_true(status || vyre_module_view(module)->rows < rows);
  vyre_pipeline_destroy(pipeline);
  vyre_registry_destroy(registry);
  return status;
}
#endif

static inline world *
world_in_way(const way *how, vyre_mega_program program, uint32_t slots, uint32_t observables)
{
  vyre_mega_options options = {.struct_size = sizeof options,
                               .program = program,
                               .slots = slots,
                               .workgroup = how->workgroup,
                               .is_alone = how->is_alone,
                               .subgroup = how->subgroup};
#ifdef MEGA_PASSES
  options.optimize = how->is_optimized ? mega_optimize : NULL;
#endif
  return world_with(options, observables);
}

static inline void
put(world *w, uint32_t slot, vyre_mega_item item)
{
  ok(vyre_mega_publish_io(w->ring, vyre_mega_ring_size(w->slots), slot, &item));
}

static inline vyre_mega_input
input_of(const world *w)
{
  return (vyre_mega_input){.control = w->control,
                           .ring = w->ring,
                           .debug = w->debug,
                           .io = w->io,
                           .control_size = vyre_mega_control_size(w->observables),
                           .ring_size = vyre_mega_ring_size(w->slots),
                           .debug_size = sizeof w->debug,
                           .io_size = sizeof w->io};
}

/* Allocates buffers on the device, and copies the images into them. */
static inline vyre_status
world_upload(world *w, vyre_mega_row *out)
{
  const vyre_mega_input input = input_of(w);
  const void *data[] = {input.control, input.ring, input.debug, input.io};
  const uint64_t sizes[] = {input.control_size, input.ring_size, input.debug_size, input.io_size};
  for (uint32_t k = 0; k < 4; k++) {
    out->buffers[k] = (vyre_range){.size = sizes[k]};
    VYRE_TRY(ops->allocate(w->target, sizes[k], &out->buffers[k].buffer));
    VYRE_TRY(vyre_target_write(ops, w->target, out->buffers[k].buffer, 0, sizes[k], data[k]));
  }
  return VYRE_OK;
}

/* Dispatches, and replaces the images by those that are read back. */
static inline void
go(world *w)
{
  const vyre_mega_input input = input_of(w);
  ok(vyre_mega_readback(w->mega, &input, &w->output, &w->results, &w->stats));
  memcpy(w->control, w->results.images[0].data, input.control_size);
  memcpy(w->ring, w->results.images[1].data, input.ring_size);
  memcpy(w->debug, w->results.images[2].data, input.debug_size);
  memcpy(w->io, w->results.images[3].data, input.io_size);
}

static inline uint32_t
state_of(const world *w, uint32_t slot)
{
  return w->ring[slot * 16];
}

static inline void
is_done(const world *w, uint32_t slot)
{
  if (state_of(w, slot) != VYRE_MEGA_DONE)
    fail_msg("slot %u is %s: %s", slot, vyre_mega_state_text(state_of(w, slot)), vyre_mega_reason_text(w->ring[slot * 16 + 15]));
}

static inline void
is_fault(const world *w, uint32_t slot, uint32_t reason)
{
  if (state_of(w, slot) != VYRE_MEGA_FAULT || w->ring[slot * 16 + 15] != reason)
    fail_msg("slot %u is %s, 0x%x (%s), not FAULT, 0x%x (%s)", slot, vyre_mega_state_text(state_of(w, slot)),
             w->ring[slot * 16 + 15], vyre_mega_reason_text(w->ring[slot * 16 + 15]), reason, vyre_mega_reason_text(reason));
}

#endif
