/* The rest of the contract: several threads, kinds of failures, counters that are reset, and the measured profile.
 *
 * SPDX-License-Identifier: Apache-2.0 */
#include "bundle.h"
#include "conformance.h"

#include <pthread.h>
#include <stdlib.h>
#include <unistd.h>

/* ---- threads ------------------------------------------------------------------------------------------------------------- */

enum { THREADS = 4, ROUNDS = 25, WORDS = 64 };

typedef struct worker {
  const conform *c;
  vyre_kernel kernel; /* `mark`, or 0 */
  uint32_t number;
  char error[400]; /* of the first failure, or "" */
} worker;

/* Returns whether the status is an error, and notes it.  Other threads cannot use cmocka. */
static bool
fails(worker *w, vyre_status status, const char *what)
{
  if (status && !w->error[0])
    snprintf(w->error, sizeof w->error, "thread %u, %s: %.300s", w->number, what, vyre_status_text(status));
  vyre_status_free(status);
  return w->error[0] != '\0';
}

/* Uploads a ramp, fills one word, runs the kernel over the first words, and reads everything, with one call or in three. */
static vyre_status
run_round(const worker *w, vyre_device_buffer buffer, uint32_t round, uint32_t *words)
{
  const vyre_target_ops *ops = w->c->ops;
  uint32_t ramp[WORDS];
  for (uint32_t i = 0; i < WORDS; i++)
    ramp[i] = w->number << 24 | round << 8 | i;
  const vyre_range all = whole(buffer);
  const vyre_upload upload = {all, ramp};
  const vyre_step step = step_of(w->kernel, &all, 4);
  const vyre_read read = {all, words};
  vyre_timing timing;
  const vyre_sequence sequence = {UPLOADS(&upload, 1), STEPS(&step, w->kernel.id ? 1 : 0), READS(&read, 1)};
  if (round % 2)
    return ops->submit(w->c->target, &sequence, &timing);
  vyre_ticket ticket;
  bool is_done;
  VYRE_TRY(ops->begin(w->c->target, &sequence, &ticket));
  vyre_status status = ops->poll(w->c->target, ticket, &is_done);
  return vyre_status_join(status, ops->wait(w->c->target, ticket, &timing));
}

static bool
is_right(const worker *w, uint32_t round, const uint32_t *words)
{
  for (uint32_t i = 0; i < WORDS; i++)
    if (words[i] != (w->kernel.id && i < 4 ? i + 1 : (w->number << 24 | round << 8 | i)))
      return false;
  return true;
}

static void *
work(void *user)
{
  worker *w = user;
  const vyre_target_ops *ops = w->c->ops;
  vyre_device_info info;
  for (uint32_t round = 0; round < ROUNDS && !w->error[0]; round++) {
    uint32_t words[WORDS] = {0};
    vyre_device_buffer buffer, twins[2];
    const uint64_t sizes[2] = {16, 64 + round};
    if (fails(w, ops->allocate(w->c->target, sizeof words, &buffer), "allocate") ||
        fails(w, ops->allocate_many(w->c->target, sizes, 2, twins), "allocate_many") ||
        fails(w, run_round(w, buffer, round, words), "a sequence"))
      break;
    if (!is_right(w, round, words))
      snprintf(w->error, sizeof w->error, "thread %u read wrong words in round %u", w->number, round);
    ops->describe(w->c->target, &info);
    if (ops->is_lost(w->c->target))
      snprintf(w->error, sizeof w->error, "thread %u: the device is lost", w->number);
    fails(w, ops->free(w->c->target, buffer), "free");
    fails(w, ops->free_many(w->c->target, twins, 2), "free_many");
  }
  return NULL;
}

/* Threads run sequences in one target at the same time.  Each sees its own words, and the counters are exact. */
static void
run_threads(const conform *c, const char *kernel_name)
{
  const vyre_kernel kernel = kernel_name ? kernel_of(c, kernel_name) : (vyre_kernel){0};
  pthread_t threads[THREADS];
  worker workers[THREADS];
  const uint64_t submits = metric(c, "submits"), live = metric(c, "buffers_live"), launches = metric(c, "launches");
  for (uint32_t i = 0; i < THREADS; i++) {
    workers[i] = (worker){c, kernel, i + 1, ""};
    assert_int_equal(pthread_create(&threads[i], NULL, work, &workers[i]), 0);
  }
  for (uint32_t i = 0; i < THREADS; i++)
    assert_int_equal(pthread_join(threads[i], NULL), 0);
  for (uint32_t i = 0; i < THREADS; i++)
    assert_string_equal(workers[i].error, "");
  assert_int_equal(metric(c, "submits") - submits, THREADS * ROUNDS);
  assert_int_equal(metric(c, "launches") - launches, kernel.id ? THREADS * ROUNDS : 0);
  assert_int_equal(metric(c, "buffers_live"), live);
  assert_int_equal(metric(c, "in_flight"), 0);
}

/* The target becomes shared when threads meet, or is opened as shared. */
static void
run_on_both(const conform *c, const char *kernel_name)
{
  const vyre_target_options options = {
      .struct_size = sizeof options, .library = test_library(CONFORM_LIBRARY), .timeout = 600, .shared = true};
  conform other = *c;
  run_threads(c, kernel_name);
  assert_ok(c->ops->open(&options, NULL, &other.target));
  run_threads(&other, kernel_name);
  assert_ok(c->ops->close(other.target));
}

CONFORM(several_threads_may_use_a_target, NEEDS_ITS_OWN)
{
  run_on_both(c, NULL);
}

CONFORM(several_threads_may_run_kernels, NEEDS_KERNELS | NEEDS_ITS_OWN)
{
  run_on_both(c, "mark");
}

/* ---- errors -------------------------------------------------------------------------------------------------------------- */

static void
is_failure(vyre_status status, vyre_failure kind)
{
  if (vyre_status_failure(status) != kind)
    fail_msg("failure %d instead of %d: %s", (int)vyre_status_failure(status), (int)kind, vyre_status_text(status));
  vyre_status_free(status);
}

CONFORM(errors_have_one_kind, 0)
{
  const uint32_t code = 0;
  const vyre_kernel_desc unknown = {
      .label = "unknown", .form = VYRE_KERNEL_FORM__COUNT, .code = &code, .size = sizeof code, .workgroup = {1, 1, 1}};
  const vyre_target_options missing = {.struct_size = sizeof missing, .library = "no such library", .device = "no such device"};
  vyre_device_buffer buffer;
  vyre_kernel kernel;
  vyre_target *other;
  is_failure(VYRE_OK, VYRE_FAILURE_NONE);
  is_failure(c->ops->allocate(c->target, 0, &buffer), VYRE_FAILURE_BAD_INPUT);
  is_failure(c->ops->free(c->target, (vyre_device_buffer){0}), VYRE_FAILURE_BAD_INPUT);
  is_failure(c->ops->allocate(c->target, UINT64_MAX, &buffer), VYRE_FAILURE_REJECTED);
  is_failure(c->ops->supports(c->target, &unknown), VYRE_FAILURE_REJECTED);
  is_failure(c->ops->compile(c->target, &unknown, &kernel), VYRE_FAILURE_REJECTED);
  if (!(c->info.capabilities & VYRE_TARGET_EMULATED))
    is_failure(c->ops->open(&missing, NULL, &other), VYRE_FAILURE_BACKEND);
}

static void *
resize_nothing(void *user, void *memory, size_t old_size, size_t new_size)
{
  (void)user;
  if (new_size == 0)
    return vyre_allocator_default()->resize(NULL, memory, old_size, 0);
  return NULL;
}

CONFORM(running_out_of_memory_is_a_kind, 0)
{
  vyre_allocator poor = *vyre_allocator_default();
  vyre_target *other;
  poor.resize = resize_nothing;
  is_failure(c->ops->open(NULL, &poor, &other), VYRE_FAILURE_OUT_OF_MEMORY);
}

CONFORM(limits_of_kernels_are_rejections, NEEDS_KERNELS)
{
  conform_desc d;
  describe_kernel(c, "mark", &d);
  vyre_kernel kernel;
  d.desc.workgroup[0] = c->info.max_workgroup[0] + 1;
  is_failure(c->ops->compile(c->target, &d.desc, &kernel), VYRE_FAILURE_REJECTED);
  d.desc.workgroup[0] = 0;
  is_failure(c->ops->compile(c->target, &d.desc, &kernel), VYRE_FAILURE_BAD_INPUT);
  free_description(&d);
}

/* ---- counters and the profile -------------------------------------------------------------------------------------------- */

CONFORM(counters_are_reset, NEEDS_ITS_OWN)
{
  const uint32_t words[4] = {1, 2, 3, 4};
  const vyre_device_buffer buffer = buffer_with(c, words, 4);
  assert_int_equal(metric(c, "submits"), 1);
  assert_int_equal(metric(c, "bytes_up"), sizeof words);
  c->ops->reset_metrics(c->target);
  for (const vyre_counter_info *counter = vyre_target_counters; counter->name; counter++)
    if (counter->kind != VYRE_COUNTER_LEVEL)
      assert_int_equal(metric(c, counter->name), 0);
  assert_int_equal(metric(c, "buffers_live"), 1);
  assert_int_equal(metric(c, "bytes_live"), sizeof words);
  uint32_t back[4];
  read_words(c, buffer, back, 4);
  assert_int_equal(metric(c, "submits"), 1);
  assert_int_equal(metric(c, "bytes_down"), sizeof words);
  assert_int_equal(metric(c, "bytes_up"), 0);
}

/* The second measurement is read from the folder: it submits nothing.  Unknown facts are 0. */
CONFORM(the_profile_is_measured_once, NEEDS_ITS_OWN)
{
  char folder[] = "/tmp/vyre-measured-XXXXXX", command[64];
  vyre_device_info plain, first, second;
  assert_non_null(mkdtemp(folder));
  c->ops->describe(c->target, &plain);
  assert_int_equal(plain.measured, 0);
  assert_int_equal(plain.launch_ns, 0);
  second = plain;
  assert_false(vyre_target_recall(c->ops, folder, &second));
  assert_false(vyre_target_recall(c->ops, NULL, &second));
  assert_ok(vyre_target_measure(c->ops, c->target, folder, &first));
  assert_true(first.bandwidth > 0);
  assert_int_equal((first.measured & VYRE_DEVICE_MEASURED_BANDWIDTH) != 0, plain.bandwidth == 0);
  assert_int_equal((first.measured & VYRE_DEVICE_MEASURED_LAUNCH) != 0, plain.forms != 0);
  assert_int_equal(first.launch_ns != 0, plain.forms != 0);
  assert_int_equal(metric(c, "buffers_live"), 0);
  const uint64_t submits = metric(c, "submits");
  assert_ok(vyre_target_measure(c->ops, c->target, folder, &second));
  assert_int_equal(metric(c, "submits"), submits);
  assert_int_equal(second.bandwidth, first.bandwidth);
  assert_int_equal(second.launch_ns, first.launch_ns);
  assert_int_equal(second.measured, first.measured);
  second = plain;
  assert_true(vyre_target_recall(c->ops, folder, &second));
  assert_int_equal(second.bandwidth, first.bandwidth);
  snprintf(command, sizeof command, "rm -r %s", folder);
  assert_int_equal(system(command), 0);
}
