/* Compares all GPU passes on a device to plain C, on one large program and on many small programs.
 *
 *   unit-kernel-shapes [ROWS]      runs modules of ROWS rows
 *
 * SPDX-License-Identifier: Apache-2.0 */
#include "forms.h"

#include <inttypes.h>

enum { SMALL_PROGRAM = 50 };
#if defined VYRE_SANITIZED || defined FORMS_FEW
static uint32_t rows = 5000; /* with FORMS_FEW, the device is simulated */
#else
static uint32_t rows = 100000;
#endif

static form forms[] = {{.name = "on a device", .target = &FORMS_TARGET, .fused = true}};

static const char *const pipelines[] = {"canon,cf,pm", "shash,cid,cse", "limits", "simplify,dce"};

static int
open_forms(void **state)
{
  (void)state;
  forms_open(forms, 1);
  return 0;
}

static int
close_forms(void **state)
{
  (void)state;
  forms_close(forms, 1);
  return 0;
}

static void
take_submits(void *user, const char *name, uint64_t value)
{
  if (strcmp(name, "submits") == 0)
    *(uint64_t *)user = value;
}

static uint64_t
submits(void)
{
  uint64_t count = 0;
  forms[0].device->ops->metrics(forms[0].device->target, take_submits, &count);
  return count;
}

static void
compare(const char *what, uint32_t rows_a_program)
{
  vyre_bytes input = forms_grown(rows, rows_a_program);
  for (size_t i = 0; i < sizeof pipelines / sizeof *pipelines; i++) {
    const uint64_t before = submits();
    forms_compare(what, rows, &input, pipelines[i], forms, 1);
    if (submits() == before)
      fail_msg("%s, %" PRIu32 " rows: %s did not run on the device", what, rows, pipelines[i]);
  }
  vyre_bytes_free(&input);
}

TEST(device_and_plain_c_agree_on_one_large_program)
{
  compare("one program", rows);
}

TEST(device_and_plain_c_agree_on_many_small_programs)
{
  compare("programs of 50 rows", SMALL_PROGRAM);
}

int
main(int count, char **arguments)
{
  if (count > 1)
    rows = (uint32_t)strtoul(arguments[1], NULL, 10);
  return test_run(open_forms, close_forms);
}
