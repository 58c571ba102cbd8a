/* What the tests of the text share: parsing with messages caught, printing, the corpus.
 *
 * SPDX-License-Identifier: Apache-2.0 */
#ifndef VYRE_TEXT_TEST_H
#define VYRE_TEXT_TEST_H

#include "../test.h"
#include "vyre/text.h"

static const char *const corpus[] = {"ops", "control", "memory", "functions", "names", "literals", "opaque", "subgroups"};
#define CORPUS_COUNT (sizeof(corpus) / sizeof(*corpus))

/* Messages as "line:column: message | fix" lines. */
static inline void
catch_message(void *user, const vyre_diagnostic *d)
{
  vyre_bytes *out = user;
  assert_null(vyre_bytes_printf(out, "%u:%u: %s%s%s\n", d->line, d->column, d->message, d->fix ? " | " : "", d->fix ? d->fix : ""));
}

static inline vyre_module *
new_module(void)
{
  vyre_module *module;
  assert_null(vyre_module_create(NULL, 0, &module));
  return module;
}

/* A module of that text, which must be right. */
static inline vyre_module *
parse(const char *text, size_t length)
{
  vyre_bytes messages = {0};
  vyre_module *module = new_module();
  vyre_status status = vyre_text_parse(module, text, length, "test.vir", (vyre_diagnostics){catch_message, &messages});
  if (status)
    fail_msg("%s\n%s\n%.*s", vyre_status_text(status), messages.data, (int)length, text);
  vyre_bytes_free(&messages);
  return module;
}

static inline vyre_bytes
print(const vyre_module *module, const vyre_text_options *options)
{
  vyre_bytes out = {0};
  assert_null(vyre_text_print(module, options, &out));
  return out;
}

/* Reads a file of the corpus; `data` is to be freed. */
static inline vyre_bytes
read_corpus(const char *name)
{
  char path[1024];
  snprintf(path, sizeof(path), "%s%s.vir", CORPUS, name);
  FILE *file = fopen(path, "rb");
  assert_non_null(file);
  vyre_bytes out = {0};
  char buffer[4096];
  for (size_t size; (size = fread(buffer, 1, sizeof(buffer), file)) > 0;)
    assert_null(vyre_bytes_append(&out, buffer, size));
  fclose(file);
  return out;
}

/* The printed text reads back to a module that prints alike; the text. */
static inline vyre_bytes
check_fixed_point(const vyre_module *module)
{
  vyre_bytes first = print(module, NULL);
  vyre_module *again = parse(first.data ? first.data : "", first.size);
  vyre_bytes second = print(again, NULL);
  assert_int_equal(first.size, second.size);
  if (first.size)
    assert_string_equal(first.data, second.data);
  vyre_bytes_free(&second);
  vyre_module_destroy(again);
  return first;
}

#endif
