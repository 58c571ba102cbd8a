/* Threads that run all steps on their own modules at once produce the same as one thread.  Under the thread sanitizer (preset
 * tsan) this shows that modules share nothing.
 *
 * SPDX-License-Identifier: Apache-2.0 */
#include "../test.h"
#include "whole.h"

#include <pthread.h>

enum { THREADS = 4, INPUTS = 5 };

static const char *const inputs[INPUTS] = {
    VYRE_TEST_SOURCES "/unittests/text/corpus/memory.vir",   VYRE_TEST_SOURCES "/examples/shaders/blur.comp",
    VYRE_TEST_SOURCES "/unittests/text/corpus/literals.vir", VYRE_TEST_SOURCES "/examples/shaders/particles.comp",
    VYRE_TEST_SOURCES "/unittests/vir0/version1.vir0",
};

typedef struct worker {
  pthread_t thread;
  uint32_t number;
  const vyre_pipeline *shared;
  vyre_bytes made[INPUTS];
  uint32_t messages;
  vyre_status status;
} worker;

static void
count_message(void *user, const vyre_diagnostic *diagnostic)
{
  char text[256];
  worker *w = user;
  w->messages++;
  vyre_diagnostic_format(diagnostic, text, sizeof(text));
}

/* Parses broken inputs.  Each error is reported to its own thread. */
static vyre_status
parse_broken(worker *me)
{
  static const char *const broken[] = {"program @p { %x = add 1u32, }", "#version 450\nvoid main() { int x = y; }\n", "VIR0....",
                                       "x"};
  vyre_diagnostics diagnostics = {count_message, me};
  for (size_t i = 0; i < sizeof(broken) / sizeof(*broken); i++) {
    vyre_module *module;
    vyre_input_kind kind;
    VYRE_TRY(vyre_module_create(NULL, 1u << 12, &module));
    vyre_status status = vyre_input_parse(module, "broken.comp", broken[i], strlen(broken[i]), NULL, diagnostics, &kind);
    vyre_module_destroy(module);
    if (!status)
      return VYRE_ERROR(VYRE_CODE_INTERNAL, "'%s' was accepted", broken[i]);
    vyre_status_free(vyre_status_note(status, "in thread %u", me->number));
  }
  return VYRE_OK;
}

/* Runs all inputs, beginning at another one in each thread. */
static void *
work(void *user)
{
  worker *me = user;
  for (uint32_t i = 0; i < INPUTS && !me->status; i++) {
    uint32_t input = (i + me->number) % INPUTS;
    whole w = {.path = inputs[input], .shared = me->shared, .diagnostics = {count_message, me}};
    me->status = vyre_status_note(whole_run(&w), "of %s in thread %u", inputs[input], me->number);
    me->made[input] = w.out;
    w.out = (vyre_bytes){0};
    whole_free(&w);
    if (!me->status)
      me->status = parse_broken(me);
  }
  return NULL;
}

/* Runs the threads first, so that several threads at once make the things that a process makes once. */
static void
run(const vyre_pipeline *shared)
{
  worker workers[THREADS + 1] = {{0}};
  for (uint32_t i = 0; i <= THREADS; i++) {
    workers[i].number = i;
    workers[i].shared = shared;
  }
  for (uint32_t i = 0; i < THREADS; i++)
    assert_int_equal(pthread_create(&workers[i].thread, NULL, work, &workers[i]), 0);
  for (uint32_t i = 0; i < THREADS; i++)
    assert_int_equal(pthread_join(workers[i].thread, NULL), 0);
  worker *alone = &workers[THREADS];
  work(alone);
  for (uint32_t i = 0; i <= THREADS; i++) {
    assert_string_equal(vyre_status_text(workers[i].status), "");
    assert_int_equal(workers[i].messages, alone->messages);
    for (uint32_t k = 0; k < INPUTS; k++) {
      assert_int_equal(workers[i].made[k].size, alone->made[k].size);
      assert_memory_equal(workers[i].made[k].data, alone->made[k].data, alone->made[k].size);
    }
  }
  assert_true(alone->messages > 0);
  for (uint32_t i = 0; i <= THREADS; i++)
    for (uint32_t k = 0; k < INPUTS; k++)
      vyre_bytes_free(&workers[i].made[k]);
}

TEST(threads_may_have_their_own_registries)
{
  run(NULL);
}

TEST(threads_may_share_a_registry)
{
  static const char text[] = "repeat<3>(cf,dce),default<O2>";
  vyre_registry *registry;
  vyre_pipeline *pipeline;
  assert_null(vyre_registry_create(NULL, &registry));
  assert_null(vyre_registry_load_core(registry));
  assert_null(vyre_pipeline_parse(registry, text, sizeof(text) - 1, "-passes", &pipeline));
  run(pipeline);
  vyre_pipeline_destroy(pipeline);
  vyre_registry_destroy(registry);
}
