/* Certifies a target: runs the programs of suite.vir on it and on the interpreter, and writes or compares a certificate.
 *
 * A certificate is JSON with a member on each line. Two certificates are compared by the names of their members. The programs and
 * their inputs never depend on options.
 *
 * SPDX-License-Identifier: Apache-2.0 */
#include "../run.h"

#include "base/json.h"
#include "cli/options/console.h"
#include "vyre/ir.h"
#include "vyre/text.h"
#include "vyre/verify.h"

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
  const char *word; /* "equal", "different" or "rejected" */
  char text[512];   /* the place of the difference or the first line of the rejection, or "" */
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

/* Runs a program. A rejection by the device is a verdict. Any other error ends the certification. */
static vyre_status
judge(const run_options *options, const vyre_device_info *info, const piece *p, verdict *out)
{
  run_program program;
  *out = (verdict){0};
  vyre_status status = load(p, options, info, &program);
  if (!status)
    status = run_both(options, &program, out);
  run_program_free(&program);
  if (!status)
    return VYRE_OK;
  if (vyre_status_failure(status) != VYRE_FAILURE_REJECTED)
    return vyre_status_note(status, "in the program '%s' of the suite", p->name);
  const char *text = vyre_status_text(status);
  out->word = "rejected"; /* the device lacks a feature */
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

/* Writes the certificate. *out_bad is the number of programs whose results are different. */
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
    if (strcmp(v.word, "different") == 0) {
      printf("%s: %s: %s\n", p.name, v.word, v.text);
      ++*out_bad;
    }
    VYRE_TRY(write_verdict(p.name, &v, out));
    p.text += p.length - 1;
  }
  return vyre_bytes_printf(out, "\n}\n");
}

/* ---- comparing ----------------------------------------------------------------------------------------------------------- */

static const char head[] = "{\n\"certificate\": \"1\",\n", foot[] = "\n}\n";

/* A member of a certificate: the rest of a line after its indented quote, without a final comma. */
typedef struct member {
  const char *name, *value;
  size_t name_length, value_length;
} member;

/* Reads the member on the line at `at`. Returns the start of the next line, or NULL if the line has no member. */
static const char *
read_member(const char *at, member *out)
{
  const char *between = strstr(at, "\": "), *end = at + strcspn(at, "\n");
  if (*at != '"' || !between || between > end)
    return NULL;
  *out = (member){.name = at + 1, .name_length = (size_t)(between - at - 1), .value = between + 3};
  out->value_length = (size_t)(end - out->value) - (end[-1] == ',');
  return end + (*end == '\n');
}

static bool
find_member(const char *certificate, const member *wanted, member *out)
{
  for (const char *at = certificate + strlen("{\n"); (at = read_member(at, out)) != NULL;)
    if (out->name_length == wanted->name_length && memcmp(out->name, wanted->name, wanted->name_length) == 0)
      return true;
  return false;
}

/* Prints the members that differ. *out_count is the number of results among them, which follow the architecture. */
static vyre_status
print_differences(const char *path, const char *before, const char *now, uint32_t *out_count)
{
  bool is_result = false;
  member is, was;
  *out_count = 0;
  for (const char *at = now + strlen("{\n"); (at = read_member(at, &is)) != NULL;) {
    const int length = (int)is.name_length;
    if (!find_member(before, &is, &was))
      return VYRE_ERROR(VYRE_CODE_INPUT,
                        "%s: the certificate has no member '%.*s'\nFix: write it again, from a file that does not exist", path,
                        length, is.name);
    const bool differs = is.value_length != was.value_length || memcmp(is.value, was.value, is.value_length) != 0;
    if (differs && strncmp(is.name, "suite\"", strlen("suite\"")) == 0)
      return VYRE_ERROR(VYRE_CODE_INPUT,
                        "%s: the certificate is of another suite of programs\nFix: write a new one, to another file", path);
    if (differs)
      printf("%.*s: %.*s, before %.*s\n", length, is.name, (int)is.value_length, is.value, (int)was.value_length, was.value);
    *out_count += is_result && differs;
    is_result |= strncmp(is.name, "architecture\"", strlen("architecture\"")) == 0;
  }
  return VYRE_OK;
}

/* Reads the certificate of an earlier run. Leaves `out` empty if the file does not exist. */
static vyre_status
read_before(const char *path, vyre_bytes *out)
{
  if (access(path, F_OK) != 0)
    return VYRE_OK;
  VYRE_TRY(vyre_file_read(path, out));
  if (out->size > strlen(head) + strlen(foot) && memcmp(out->data, head, strlen(head)) == 0 &&
      strcmp(out->data + out->size - strlen(foot), foot) == 0)
    return VYRE_OK;
  return VYRE_ERROR(VYRE_CODE_INPUT,
                    "%s: the file is not a certificate of this format\n"
                    "Fix: name a certificate that vyre-run wrote, unchanged, or a file that does not exist",
                    path);
}

static vyre_status
write_or_compare(const char *path, const vyre_bytes *before, const vyre_bytes *now, bool *out_equal)
{
  uint32_t count = 0;
  if (!before->size) {
    VYRE_TRY(vyre_file_write(path, now->data, now->size));
    printf("%s: written\n", path);
    return VYRE_OK;
  }
  VYRE_TRY(print_differences(path, before->data, now->data, &count));
  if (count)
    printf("%s: %" PRIu32 " result%s differ%s\n", path, count, count == 1 ? "" : "s", count == 1 ? "s" : "");
  else
    printf("%s: the same results\n", path);
  *out_equal &= count == 0;
  return VYRE_OK;
}

vyre_status
run_certify(const run_options *options, bool *out_equal)
{
  run_options own = *options;
  uint32_t bad = 0;
  vyre_bytes before = {0}, text = {0};
  own.setup = (run_setup){.seed = 1, .elements = ELEMENTS};
  own.compare = "the interpreter"; /* which then uses the device's subgroup size */
  own.compare_target = NULL;
  vyre_status status = read_before(options->certify, &before);
  if (!status)
    status = make(&own, &text, &bad);
  *out_equal = bad == 0;
  if (!status)
    status = write_or_compare(options->certify, &before, &text, out_equal);
  vyre_bytes_free(&before);
  vyre_bytes_free(&text);
  return status;
}
