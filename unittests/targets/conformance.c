/* The runner: chooses the tests that a target must pass, and runs them in processes.
 *
 * A target's list (lists/NAME.txt) has its forms and its missing capabilities, with a reason for each:
 *
 *     forms C VIR                 the forms of its kernels
 *     unsupported NEED: reason    a missing capability; FORM.NEED if it is missing only for kernels of one form
 *     fails TEST: reason          a test that is expected to fail; the runner fails if it passes
 *
 * The first test compares the list to the capabilities that the target describes.
 *
 * SPDX-License-Identifier: Apache-2.0 */
#include "../hang.h"
#include "conformance.h"

#include "bundle.h"

#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

extern const vyre_target_ops CONFORM_TARGET;

enum { MOST_TESTS = 128 };

static conform_test tests[MOST_TESTS];
static uint32_t test_count;

void
conform_add(conform_test test)
{
  if (test_count == MOST_TESTS)
    abort();
  tests[test_count++] = test;
}

static const struct {
  const char *name;
  uint32_t bit;
} needs[] = {
    {"images", VYRE_TARGET_IMAGES}, {"grid-barriers", VYRE_TARGET_GRID_BARRIERS},
    {"import", VYRE_TARGET_IMPORT}, {"addresses", VYRE_TARGET_ADDRESSES},
    {"parts", VYRE_TARGET_PARTS},   {"indirect", VYRE_TARGET_INDIRECT},
    {"async", VYRE_TARGET_ASYNC},   {"device-time", VYRE_TARGET_DEVICE_TIME},
    {"kernels", NEEDS_KERNELS},     {"specs", NEEDS_SPECS},
    {"faults", NEEDS_FAULTS},
};
enum { NEED_COUNT = sizeof needs / sizeof *needs };

static const char *const forms[] = {
    [VYRE_KERNEL_SPIRV] = "SPIRV", [VYRE_KERNEL_PTX] = "PTX", [VYRE_KERNEL_C] = "C", [VYRE_KERNEL_VIR] = "VIR", [NO_FORM] = "none"};

/* ---- lists --------------------------------------------------------------------------------------------------------------- */

typedef struct lists {
  uint32_t forms;
  uint32_t lacks[VYRE_KERNEL_FORM__COUNT + 1]; /* by form, the needs that are listed as unsupported */
  char text[1 << 14];                          /* of the file; each line is a string */
  const char *lines[256];
  uint32_t line_count;
} lists;

static lists said;
static const char *list_path;

static void
die(const char *what, const char *line)
{
  fprintf(stderr, "%s: %s: %s\n", list_path, what, line);
  exit(2);
}

/* Returns the reason in the line "KIND FORM.NAME: reason" or "KIND NAME: reason", or NULL if there is none. */
static const char *
reason_of(const char *kind, const char *form, const char *name)
{
  char wanted[200], general[200];
  snprintf(wanted, sizeof wanted, "%s %s.%s: ", kind, form, name);
  snprintf(general, sizeof general, "%s %s: ", kind, name);
  for (uint32_t i = 0; i < said.line_count; i++) {
    if (strncmp(said.lines[i], wanted, strlen(wanted)) == 0)
      return said.lines[i] + strlen(wanted);
    if (strncmp(said.lines[i], general, strlen(general)) == 0)
      return said.lines[i] + strlen(general);
  }
  return NULL;
}

static bool
is_test(const char *name, size_t length)
{
  for (uint32_t i = 0; i < test_count; i++)
    if (strlen(tests[i].name) == length && strncmp(tests[i].name, name, length) == 0)
      return true;
  return false;
}

static bool
is_need(const char *name, size_t length)
{
  for (uint32_t i = 0; i < NEED_COUNT; i++)
    if (strlen(needs[i].name) == length && strncmp(needs[i].name, name, length) == 0)
      return true;
  return false;
}

static void
check_line(const char *line)
{
  const char *name = strchr(line, ' '), *colon = strstr(line, ": ");
  if (strncmp(line, "forms", 5) == 0)
    return;
  if (!name || !colon || colon[2] == '\0')
    die("the line is not 'KIND NAME: REASON'", line);
  name++;
  for (uint32_t form = 0; form < NO_FORM; form++)
    if (strncmp(name, forms[form], strlen(forms[form])) == 0 && name[strlen(forms[form])] == '.')
      name += strlen(forms[form]) + 1;
  const size_t length = (size_t)(colon - name);
  if (!(strncmp(line, "unsupported ", 12) == 0 && is_need(name, length)) &&
      !(strncmp(line, "fails ", 6) == 0 && is_test(name, length)))
    die("the line names no capability and no test of the suite", line);
}

static void
take_forms(const char *line)
{
  for (uint32_t form = 0; form < NO_FORM; form++)
    said.forms |= strstr(line, forms[form]) ? 1u << form : 0;
}

static void
read_lists(void)
{
  FILE *file = fopen(list_path, "r");
  if (!file)
    die("the list cannot be read", "");
  said.text[fread(said.text, 1, sizeof said.text - 1, file)] = '\0';
  fclose(file);
  for (char *line = strtok(said.text, "\n"); line; line = strtok(NULL, "\n"))
    if (line[0] != '#')
      said.lines[said.line_count++] = line;
  for (uint32_t i = 0; i < said.line_count; i++) {
    check_line(said.lines[i]);
    if (strncmp(said.lines[i], "forms", 5) == 0)
      take_forms(said.lines[i]);
  }
  for (uint32_t form = 0; form <= NO_FORM; form++)
    for (uint32_t i = 0; i < NEED_COUNT; i++)
      said.lacks[form] |= reason_of("unsupported", forms[form], needs[i].name) ? needs[i].bit : 0;
}

/* Returns the needs that the target lacks by its description and by the form.  C and PTX have literals instead of specialization
 * constants, C has no grid barriers, and SPIR-V reports no faults. */
static uint32_t
lacks_by_itself(const conform *c, uint32_t form)
{
  uint32_t lacks = 0;
  for (uint32_t i = 0; i < NEED_COUNT; i++)
    lacks |= needs[i].bit < NEEDS_KERNELS && !(c->info.capabilities & needs[i].bit) ? needs[i].bit : 0;
  if (c->info.forms == 0)
    lacks |= NEEDS_KERNELS | NEEDS_SPECS | NEEDS_FAULTS;
  if (form == VYRE_KERNEL_C)
    lacks |= NEEDS_SPECS | VYRE_TARGET_GRID_BARRIERS;
  if (form == VYRE_KERNEL_PTX)
    lacks |= NEEDS_SPECS;
  if (form == VYRE_KERNEL_SPIRV)
    lacks |= NEEDS_FAULTS;
  return lacks;
}

CONFORM(its_list_agrees_with_its_capabilities, 0)
{
  assert_int_equal(c->info.forms, said.forms);
  for (uint32_t form = 0; form <= NO_FORM; form++)
    for (uint32_t i = 0; i < NEED_COUNT; i++) {
      if (form == NO_FORM ? said.forms != 0 : !(said.forms >> form & 1))
        continue;
      const bool lacks = lacks_by_itself(c, form) & needs[i].bit, listed = said.lacks[form] & needs[i].bit;
      if (lacks != listed)
        fail_msg("%s.%s: the target %s it, but by its list it %s it", forms[form], needs[i].name, lacks ? "lacks" : "has",
                 listed ? "lacks" : "has");
    }
}

/* ---- running ------------------------------------------------------------------------------------------------------------- */

typedef struct job {
  const conform_test *test;
  vyre_kernel_form form;
} job;

static conform shared; /* the target that the tests of a process share */

static void
run_job(void **state)
{
  const job *j = *state;
  const vyre_target_options options = {
      .struct_size = sizeof options, .library = test_library(CONFORM_LIBRARY), .validate = test_validates(), .threads = 3};
  shared.ops = &CONFORM_TARGET;
  if (!shared.target)
    assert_ok(shared.ops->open(&options, NULL, &shared.target));
  conform c = shared;
  c.form = j->form;
  c.ops->describe(c.target, &c.info);
  j->test->run(&c);
}

static void
close_shared(void **state)
{
  (void)state;
  assert_ok(CONFORM_TARGET.close(shared.target));
}

static bool
runs_well(const char *name, CMUnitTestFunction function, job *j)
{
  const struct CMUnitTest one = {name, function, NULL, NULL, j};
  const bool well = hang_run(name, &one, 1, NULL, NULL) == 0;
  fflush(NULL);
  return well;
}

/* Runs the tests that it reads from `jobs`, on one target.  Ends at the first failure, because the target may then be damaged.
 * Returns 0 if all tests pass and the target closes without an error. */
static int
serve(int jobs, int verdicts)
{
  job j;
  while (read(jobs, &j, sizeof j) == sizeof j) {
    const bool well = runs_well(j.test->name, run_job, &j);
    if (write(verdicts, &well, sizeof well) != sizeof well || !well)
      return 1;
  }
  return runs_well("closing", close_shared, NULL) ? 0 : 1;
}

/* A process that runs tests. */
typedef struct server {
  pid_t pid; /* 0 if there is none */
  int jobs, verdicts;
  FILE *messages;
} server;

static server one_for_all;

static void
start(server *s)
{
  int jobs[2], verdicts[2];
  s->messages = tmpfile();
  fflush(stdout);
  s->pid = s->messages && pipe(jobs) == 0 && pipe(verdicts) == 0 ? fork() : -1;
  if (s->pid < 0)
    die("cannot start a process", "for tests");
  if (s->pid == 0) {
    close(jobs[1]);
    close(verdicts[0]);
    dup2(fileno(s->messages), STDOUT_FILENO);
    dup2(fileno(s->messages), STDERR_FILENO);
    exit(serve(jobs[0], verdicts[1]));
  }
  close(jobs[0]);
  close(verdicts[1]);
  s->jobs = jobs[1];
  s->verdicts = verdicts[0];
}

static void
show_messages(const server *s)
{
  char text[4096];
  rewind(s->messages);
  for (size_t size; (size = fread(text, 1, sizeof text, s->messages)) != 0;)
    fwrite(text, 1, size, stdout);
}

/* Ends the process, and returns whether its tests and the closing of its target succeeded.  Prints its messages if the result is
 * not `should`. */
static bool
end(server *s, bool should)
{
  int status = 0;
  if (s->pid == 0)
    return true;
  close(s->jobs);
  while (waitpid(s->pid, &status, 0) < 0)
    ;
  close(s->verdicts);
  const bool well = WIFEXITED(status) && WEXITSTATUS(status) == 0;
  if (well != should)
    show_messages(s);
  fclose(s->messages);
  s->pid = 0;
  return well;
}

/* Returns whether the process of the shared target ended without an error. */
static bool
end_shared(void)
{
  const bool well = end(&one_for_all, true);
  if (!well)
    printf("none closing the target: FAILS\n");
  return well;
}

/* Runs a test and returns whether it passes.  Prints its messages if the result is not `should`. */
static bool
passes(const conform_test *test, vyre_kernel_form form, bool should)
{
  const job j = {test, form};
  server own = {0}, *s = test->needs & NEEDS_ITS_OWN ? &own : &one_for_all;
  bool well = false;
  if (s->pid == 0)
    start(s);
  if (ftruncate(fileno(s->messages), 0) != 0)
    die("cannot clear the messages", test->name);
  rewind(s->messages);
  if (write(s->jobs, &j, sizeof j) != sizeof j || read(s->verdicts, &well, sizeof well) != sizeof well)
    well = false;
  if (!well || s == &own)
    return end(s, should) && well;
  if (!should)
    show_messages(s);
  return true;
}

/* Runs a test, and returns whether the result is the one that the list expects. */
static bool
run_one(const conform_test *test, vyre_kernel_form form)
{
  const char *expected = reason_of("fails", forms[form], test->name);
  printf("%s %s: ", forms[form], test->name);
  for (uint32_t i = 0; i < NEED_COUNT; i++)
    if (test->needs & said.lacks[form] & needs[i].bit) {
      printf("unsupported: %s\n", reason_of("unsupported", forms[form], needs[i].name));
      return true;
    }
  const bool passed = passes(test, form, !expected);
  if (passed && !expected)
    printf("ok\n");
  else if (!passed && expected)
    printf("fails, as expected: %s\n", expected);
  else
    printf("%s\n", passed ? "PASSES, but the list expects a failure" : "FAILS");
  return passed == !expected;
}

/* Runs a test once for each form of kernel, or once if it has no kernels.  Returns the number of wrong outcomes. */
static uint32_t
run_forms(const conform_test *test)
{
  const bool has_kernels = test->needs & NEEDS_KERNELS;
  uint32_t wrong = 0;
  for (uint32_t form = 0; form <= NO_FORM; form++)
    if (form == NO_FORM ? !has_kernels || said.forms == 0 : has_kernels && (said.forms >> form & 1))
      wrong += !run_one(test, (vyre_kernel_form)form);
  return wrong;
}

/* Arguments: the name of the only test to run, and another list, for tests of the runner. */
int
main(int argc, char **argv)
{
  const char *only = argc > 1 && argv[1][0] ? argv[1] : NULL;
  list_path = argc > 2 ? argv[2] : strdup(test_file("unittests/targets/lists/%s.txt", CONFORM_NAME));
  read_lists();
  signal(SIGPIPE, SIG_IGN);
  uint32_t wrong = 0;
  for (uint32_t i = 0; i < test_count; i++)
    if (!only || strcmp(only, tests[i].name) == 0)
      wrong += run_forms(&tests[i]);
  wrong += !end_shared();
  printf("%u wrong\n", wrong);
  return wrong ? 1 : 0;
}
