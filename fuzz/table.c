/* Fuzz target: IR tables with changed words.  The input is the number of a base program (2 bytes) and a list of changes of 8 bytes
 * each: column (1), kind of change (1), row (2), value (4).  The verifier must terminate.  A module that the verifier accepts is
 * passed to every function that takes a module.  A refused module is printed and sealed, and verified again if sealing succeeds.
 *
 * Base programs are the .vir files of the folder VYRE_FUZZ_BASES (environment), by default the text corpus of the build, sorted
 * by name.  Files that do not verify are left out.
 *
 * SPDX-License-Identifier: Apache-2.0 */
#include "fuzz.h"

#include <dirent.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "vyre/io.h"
#include "vyre/text.h"
#include "vyre/verify.h"

#define MOST_BASES   512
#define MOST_CHANGES 24u

static vyre_module *bases[MOST_BASES];
static uint32_t base_count;

static void
read_base(const char *path)
{
  vyre_bytes text = {0};
  vyre_verify_errors errors = {0};
  vyre_module *module = fuzz_module(0);
  fuzz_require(vyre_file_read(path, &text), path);
  if (text.size < 8192 && fuzz_allow(vyre_text_parse(module, text.data, text.size, path, (vyre_diagnostics){0}), path) &&
      fuzz_allow(vyre_verify(module, &errors), path) && vyre_module_view(module)->rows > 1)
    fuzz_require(vyre_module_clone(module, &bases[base_count++]), path);
  vyre_verify_errors_free(&errors);
  vyre_bytes_free(&text);
}

static void
read_bases(void)
{
  struct dirent **entries;
  const char *folder = getenv("VYRE_FUZZ_BASES");
  folder = folder ? folder : VYRE_FUZZ_CORPUS "/text";
  int count = scandir(folder, &entries, NULL, alphasort);
  if (count < 0)
    fuzz_fail("no folder %s with base programs: fuzz/run.sh makes it", folder);
  for (int i = 0; i < count; i++) {
    char path[4096];
    snprintf(path, sizeof path, "%s/%s", folder, entries[i]->d_name);
    if (entries[i]->d_name[0] != '.' && base_count < MOST_BASES)
      read_base(path);
    free(entries[i]);
  }
  free(entries);
  if (base_count == 0)
    fuzz_fail("no base program in %s", folder);
}

static void
change(const vyre_view *v, const uint8_t bytes[8])
{
  const uint32_t *const columns[] = {v->op,  v->imm,    v->imm_hi, v->a,    v->b,     v->c,   v->op,
                                     v->imm, v->parent, v->prev,   v->next, v->first, v->last};
  uint32_t *column = (uint32_t *)columns[bytes[0] % (sizeof columns / sizeof columns[0])]; /* not const in the module */
  uint32_t row = ((uint32_t)bytes[2] | (uint32_t)bytes[3] << 8) % v->rows, value;
  memcpy(&value, bytes + 4, sizeof value);
  switch (bytes[1] % 8) {
  case 0:
    column[row] = value;
    break;
  case 1:
    column[row] ^= 1u << (value & 31);
    break;
  case 2:
    column[row] = value % v->rows;
    break;
  case 3:
    column[row] = value % 300;
    break;
  case 4:
    column[row] += value % 3 - 1;
    break;
  case 5: /* uses the word of another row */
    column[row] = column[value % v->rows];
    break;
  case 6: /* changes only the opcode */
    column = (uint32_t *)v->op;
    column[row] = (column[row] & 0xffff0000u) | value % VYRE_OP__COUNT;
    break;
  default: /* changes only the type */
    column = (uint32_t *)v->op;
    column[row] = (column[row] & 0xff00ffffu) | value % 60 << 16;
    break;
  }
}

/* Unlinks the last row and inserts it at the end of its region.  The module then counts as not sealed and its names as not
 * unique. */
static void
unseal(vyre_module *module)
{
  const vyre_view *v = vyre_module_view(module);
  vyre_row row = {v->rows - 1}, region = {v->parent[row.id]};
  vyre_row_unlink(module, row);
  vyre_row_insert(module, row, region, VYRE_NONE);
}

/* Returns whether the verifier accepts the module.  Otherwise formats the errors. */
static bool
accepted(const vyre_module *module)
{
  vyre_verify_errors errors = {0};
  vyre_bytes text = {0};
  bool right = fuzz_allow(vyre_verify(module, &errors), "verifying");
  if (!right)
    fuzz_require(vyre_verify_print(module, &errors, &text), "printing errors");
  vyre_bytes_free(&text);
  vyre_verify_errors_free(&errors);
  return right;
}

int
LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
  vyre_module *module;
  if (base_count == 0)
    read_bases();
  if (size < 2)
    return 0;
  uint32_t base = ((uint32_t)data[0] | (uint32_t)data[1] << 8) % base_count;
  fuzz_require(vyre_module_clone(bases[base], &module), "a base program");
  unseal(module);
  for (size_t i = 2; i + 8 <= size && i < 2 + MOST_CHANGES * 8; i += 8)
    change(vyre_module_view(module), data + i);
  bool right = accepted(module);
  vyre_status status = vyre_module_seal(module, NULL);
  if (right)
    fuzz_require(status, "sealing what the verifier accepts");
  if (!status) {
    bool still = accepted(module);
    if (right && !still)
      fuzz_fail("sealed, the module does not verify any more");
    if (still)
      fuzz_exercise(module, false);
  }
  vyre_status_free(status);
  vyre_module_destroy(module);
  return 0;
}
