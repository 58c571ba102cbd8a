/* The corpus and checks of printed texts, for the tests of the text form.
 *
 * SPDX-License-Identifier: Apache-2.0 */
#ifndef VYRE_TEXT_TEST_H
#define VYRE_TEXT_TEST_H

#include "../module.h"
#include "vyre/io.h"

static const char *const corpus[] = {"ops", "control", "memory", "functions", "names", "literals", "opaque", "subgroups"};
#define CORPUS_COUNT (sizeof(corpus) / sizeof(*corpus))

/* Returns the text of a file of the corpus, to be freed. */
static inline vyre_bytes
read_corpus(const char *name)
{
  char path[1024];
  vyre_bytes out = {0};
  snprintf(path, sizeof(path), "%s%s.vir", CORPUS, name);
  assert_ok(vyre_file_read(path, &out));
  return out;
}

static inline vyre_module *
parse_corpus(const char *name)
{
  vyre_bytes text = read_corpus(name);
  vyre_module *module = parse(text.data);
  vyre_bytes_free(&text);
  return module;
}

/* Asserts that the printed text parses to a module that prints alike, and returns the text, to be freed. */
static inline vyre_bytes
check_fixed_point(const vyre_module *module)
{
  vyre_bytes text = print(module, NULL);
  vyre_module *again = parse(text.data ? text.data : "");
  vyre_bytes second = print(again, NULL);
  assert_int_equal(text.size, second.size);
  if (text.size)
    assert_string_equal(text.data, second.data);
  vyre_bytes_free(&second);
  vyre_module_destroy(again);
  return text;
}

/* Asserts that the module prints as wanted, and that the text parses to a module that prints alike. */
static inline void
check_prints(const vyre_module *module, const char *wanted)
{
  vyre_bytes text = check_fixed_point(module);
  assert_string_equal(text.data, wanted);
  vyre_bytes_free(&text);
}

#endif
