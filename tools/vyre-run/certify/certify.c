/* Certifies a target: runs the programs of suite.vir on it and on the interpreter, and writes or compares a certificate.
 *
 * A certificate is JSON with a member on each line, in a fixed order, so that two certificates are compared line by line. The
 * programs and their inputs never depend on options.
 *
 * SPDX-License-Identifier: Apache-2.0 */
#include "../run.h"

#include "base/json.h"
#include "cli/options/console.h"
#include "vyre/ir.h"
#include "vyre/text.h"
#include "vyre/verify.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#define XXH_INLINE_ALL
#include <xxhash.h>

enum { ELEMENTS = 256 };

extern const char certify_suite[]; /* generated from suite.vir */

/* ---- the suite ----------------------------------------------------------------------------------------------------------- */

/* The text of a program: from "program @" to the next one. */
typedef struct piece {
  const char *text;
  size_t length;
  char name[32];
} piece;

/* Finds the next program from `at` on. Returns false if there is none. */
static bool
find_piece(const char *at, piece *out)
{
  static const char head[] = "\nprogram @";
  const char *begin = strstr(at, head);
  if (!begin)
    return false;
  const char *name = begin + strlen(head), *end = strstr(name, head);
  *out = (piece){.text = begin + 1, .length = end ? (size_t)(end - begin) : strlen(begin + 1)};
  snprintf(out->name, sizeof out->name, "%.*s", (int)strcspn(name, " "), name);
  return true;
}

static vyre_status
load(const piece *p, const run_options *options, const vyre_device_info *info, run_program *out)
{
  vyre_verify_errors errors = {0};
  *out = (run_program){.path = p->name};
  VYRE_TRY(vyre_module_create(NULL, 0, &out->module));
  VYRE_TRY(vyre_text_parse(out->module, p->text, p->length, out->path, console_diagnostics));
  vyre_status status = vyre_verify(out->module, &errors);
  vyre_verify_errors_free(&errors);
  VYRE_TRY(status);
  out->row = (vyre_row){vyre_module_view(out->module)->first[0]};
  VYRE_TRY(run_program_reflect(out, &options->setup, false));
  return run_program_write(out, info);
}

/* ---- running ------------------------------------------------------------------------------------------------------------- */

typedef struct verdict {
  const char *word; /* "equal", "different", "rejected" or "failed" */
  char text[512];   /* the place of the difference or the first line of the error, or "" */
  uint64_t hash;    /* of all buffers after the run, or 0 */
} verdict;

static uint64_t
hash_of(const run_inputs *inputs, const run_results *results)
{
  XXH64_state_t state;
  XXH64_reset(&state, 0);
  for (uint32_t i = 0; i < inputs->count; i++)
    XXH64_update(&state, results->items[i], inputs->items[i].size);
  return XXH64_digest(&state);
}

static void
compare(const run_options *options, const run_program *program, const run_inputs *inputs, const run_results *expected,
        const run_results *got, verdict *out)
{
  run_comparison c;
  run_compare(&options->setup, inputs, program, expected, program, got, &c);
  out->word = c.where ? "different" : "equal";
  out->hash = hash_of(inputs, got);
  if (c.where)
    run_comparison_place(&c, out->text, sizeof out->text);
}

static vyre_status
run_both(const run_options *options, const run_program *program, verdict *out)
{
  run_inputs inputs = {0};
  run_results expected = {0}, got = {0};
  vyre_status status = run_inputs_make(&options->setup, program, NULL, &inputs);
  if (!status)
    status = run_execute(options, NULL, program, &inputs, &expected);
  if (!status)
    status = run_execute(options, options->target, program, &inputs, &got);
  if (!status)
    compare(options, program, &inputs, &expected, &got, out);
  run_results_free(&got);
  run_results_free(&expected);
  run_inputs_free(&inputs);
  return status;
}

/* Runs a program. A rejection and a failure are verdicts; only out of memory ends the certification. */
static vyre_status
judge(const run_options *options, const vyre_device_info *info, const piece *p, verdict *out)
{
  run_program program;
  *out = (verdict){0};
  vyre_status status = load(p, options, info, &program);
  const bool is_rejected = status != VYRE_OK; /* it cannot be written for the device */
  if (!status)
    status = run_both(options, &program, out);
  run_program_free(&program);
  if (!status || vyre_status_is_out_of_memory(status))
    return status;
  const char *text = vyre_status_text(status);
  out->word = is_rejected || vyre_status_failure(status) == VYRE_FAILURE_REJECTED ? "rejected" : "failed";
  snprintf(out->text, sizeof out->text, "%.*s", (int)strcspn(text, "\n"), text);
  vyre_status_free(status);
  return VYRE_OK;
}

/* ---- writing ------------------------------------------------------------------------------------------------------------- */

static vyre_status
write_head(run_target target, const vyre_device_info *info, vyre_bytes *out)
{
  char opset[12], suite[24];
  snprintf(opset, sizeof opset, "%" PRIu32, vyre_opset_version());
  snprintf(suite, sizeof suite, "%016" PRIx64, (uint64_t)XXH64(certify_suite, strlen(certify_suite), 0));
  VYRE_TRY(vyre_bytes_printf(out, "{\n"));
  VYRE_TRY(vyre_json_member("", "certificate", "1", out));
  VYRE_TRY(vyre_json_member(",\n", "vyre", vyre_version(), out));
  VYRE_TRY(vyre_json_member(",\n", "opset", opset, out));
  VYRE_TRY(vyre_json_member(",\n", "suite", suite, out));
  VYRE_TRY(vyre_json_member(",\n", "target", target->name, out));
  VYRE_TRY(vyre_json_member(",\n", "device", info->name, out));
  VYRE_TRY(vyre_json_member(",\n", "driver", info->driver, out));
  return vyre_json_member(",\n", "architecture", info->architecture, out);
}

static vyre_status
write_verdict(const char *name, const verdict *v, vyre_bytes *out)
{
  char hash[24] = "";
  if (v->hash)
    snprintf(hash, sizeof hash, " %016" PRIx64, v->hash);
  char whole[600];
  snprintf(whole, sizeof whole, "%s%s%s%s", v->word, hash, v->text[0] ? ": " : "", v->text);
  return vyre_json_member(",\n", name, whole, out);
}

/* Writes the certificate. *out_bad is the number of programs that are different or failed. */
static vyre_status
make(const run_options *options, vyre_bytes *out, uint32_t *out_bad)
{
  vyre_device_info info;
  piece p = {.text = certify_suite};
  *out_bad = 0;
  VYRE_TRY(run_device_describe(options, options->target, &info));
  VYRE_TRY(write_head(options->target, &info, out));
  while (find_piece(p.text, &p)) {
    verdict v;
    VYRE_TRY(judge(options, &info, &p, &v));
    const bool is_bad = strcmp(v.word, "equal") != 0 && strcmp(v.word, "rejected") != 0;
    *out_bad += is_bad;
    if (is_bad)
      printf("%s: %s: %s\n", p.name, v.word, v.text);
    VYRE_TRY(write_verdict(p.name, &v, out));
    p.text += p.length - 1;
  }
  return vyre_bytes_printf(out, "\n}\n");
}

/* ---- comparing ----------------------------------------------------------------------------------------------------------- */

/* Copies the line that begins at `at`, without a final comma. Returns the start of the next line. */
static const char *
take_line(const char *at, char *out, size_t capacity)
{
  const size_t length = strcspn(at, "\n");
  snprintf(out, capacity, "%.*s", (int)(length && at[length - 1] == ',' ? length - 1 : length), at);
  return at + length + (at[length] == '\n');
}

/* Prints the lines of two certificates that differ. Returns their number. */
static uint32_t
print_differences(const char *before, const char *now)
{
  uint32_t count = 0;
  while (*before || *now) {
    char a[2048], b[2048];
    before = take_line(before, a, sizeof a);
    now = take_line(now, b, sizeof b);
    if (strcmp(a, b) == 0)
      continue;
    printf("then: %s\nnow:  %s\n", a, b);
    count++;
  }
  return count;
}

static vyre_status
compare_files(const char *path, const vyre_bytes *now, bool *out_equal)
{
  static const char head[] = "{\n\"certificate\": \"1\",\n";
  vyre_bytes before = {0};
  VYRE_TRY(vyre_file_read(path, &before));
  vyre_status status = VYRE_OK;
  if (before.size < strlen(head) || memcmp(before.data, head, strlen(head)) != 0 || memchr(before.data, '\0', before.size))
    status = VYRE_ERROR(VYRE_CODE_INPUT,
                        "%s: the file is not a certificate of this format\n"
                        "Fix: name a certificate that vyre-run wrote, unchanged, or a file that does not exist",
                        path);
  if (!status) {
    const uint32_t count = print_differences(before.data, now->data);
    *out_equal = count == 0;
    if (count)
      printf("%s: %" PRIu32 " lines differ\n", path, count);
    else
      printf("%s: the same results\n", path);
  }
  vyre_bytes_free(&before);
  return status;
}

vyre_status
run_certify(const run_options *options, bool *out_equal)
{
  run_options own = *options;
  uint32_t bad;
  vyre_bytes text = {0};
  own.setup = (run_setup){.seed = 1, .elements = ELEMENTS};
  own.compare = "the interpreter"; /* so that it has the device's subgroups */
  own.compare_target = NULL;
  vyre_status status = make(&own, &text, &bad);
  *out_equal = bad == 0;
  if (!status && access(options->certify, F_OK) != 0) {
    status = vyre_file_write(options->certify, text.data, text.size);
    if (!status)
      printf("%s: written\n", options->certify);
  } else if (!status) {
    bool is_same;
    status = compare_files(options->certify, &text, &is_same);
    *out_equal = *out_equal && !status && is_same;
  }
  vyre_bytes_free(&text);
  return status;
}
