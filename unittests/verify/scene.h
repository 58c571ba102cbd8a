/* A program with reads in it and what each should see, for tests of versions.
 *
 * SPDX-License-Identifier: Apache-2.0 */
#ifndef VYRE_UNITTESTS_VERIFY_SCENE_H
#define VYRE_UNITTESTS_VERIFY_SCENE_H

#include "fixture.h"
#include "vyre/view.h"

#include <stdlib.h>

#define WORKGROUP_BARRIER VYRE_ORDER(2, 2, 0x108)
#define DEVICE_BARRIER    VYRE_ORDER(4, 1, 0x48)
#define MAX_READS         16

/* A program being built, and the reads in it with the rows whose state they should see. */
typedef struct scene {
  fixture x;
  vyre_row s, t; /* vars of f32 */
  vyre_row five;
  struct {
    vyre_row read, seen;
  } reads[MAX_READS];
  uint32_t count;
} scene;

static inline void
start(scene *k)
{
  memset(k, 0, sizeof *k);
  fixture_open(&k->x);
  k->s = vyre_build_var(&k->x.b, F32);
  k->t = vyre_build_var(&k->x.b, F32);
  k->five = literal(&k->x, F32, 0x40a00000);
}

/* This read should see the state of that row; NONE: said later by sees(). */
static inline vyre_row
expect(scene *k, vyre_row read, vyre_row seen)
{
  assert_true(k->count < MAX_READS);
  k->reads[k->count].read = read;
  k->reads[k->count++].seen = seen;
  return read;
}

static inline vyre_row
get(scene *k, vyre_row var, vyre_row seen)
{
  return expect(k, vyre_build_get(&k->x.b, var), seen);
}

static inline vyre_row
set(scene *k, vyre_row var)
{
  return vyre_build_set(&k->x.b, var, k->five);
}

static inline vyre_row
load(scene *k, vyre_row buffer, vyre_row seen)
{
  return expect(k, vyre_build_load(&k->x.b, vyre_build_at_literal(&k->x.b, buffer, 0), 0), seen);
}

static inline vyre_row
store(scene *k, vyre_row buffer)
{
  return vyre_build_store(&k->x.b, vyre_build_at_literal(&k->x.b, buffer, 0), k->five, 0);
}

static inline void
leave(scene *k, vyre_row control)
{
  vyre_builder_leave(&k->x.b, control);
}

static inline vyre_row
region(scene *k, vyre_row control, uint32_t index)
{
  return vyre_region_of(k->x.m, control, index);
}

static inline void
into(scene *k, vyre_row region_row)
{
  vyre_builder_at_end(&k->x.b, region_row);
}

static inline vyre_row
build_for(scene *k)
{
  vyre_row zero = literal(&k->x, U32, 0), ten = literal(&k->x, U32, 10), one = literal(&k->x, U32, 1);
  return vyre_build_for(&k->x.b, zero, ten, one);
}

/* Seals, makes versions, and compares. */
static inline void
finish(scene *k)
{
  vyre_verify_errors errors = {0};
  uint32_t *map = calloc(k->x.v->rows, sizeof *map);
  vyre_status status = vyre_verify(k->x.m, &errors);
  if (status)
    print_message("%s\n", vyre_status_text(status));
  assert_null(status);
  assert_null(vyre_module_seal(k->x.m, map));
  assert_null(vyre_module_make_analyses(k->x.m, VYRE_VERSIONS));
  assert_null(vyre_verify_analyses(k->x.m, VYRE_VERSIONS));
  for (uint32_t i = 0; i < k->count; i++) {
    uint32_t seen = vyre_version_row(k->x.v, k->x.v->version[map[k->reads[i].read.id]]);
    if (seen != map[k->reads[i].seen.id])
      print_message("read %u sees row %u (%s), not row %u\n", i, seen, vyre_op_infos[VYRE_ROW_OP(k->x.v->op[seen])].text,
                    map[k->reads[i].seen.id]);
    assert_int_equal(seen, map[k->reads[i].seen.id]);
  }
  /* a wrong version is noticed */
  if (k->count) {
    uint32_t row = map[k->reads[0].read.id];
    ((uint32_t *)k->x.v->version)[row] ^= 1;
    status = vyre_verify_analyses(k->x.m, VYRE_VERSIONS);
    assert_non_null(status);
    assert_non_null(strstr(vyre_status_text(status), "but it is"));
    vyre_status_free(status);
  }
  vyre_verify_errors_free(&errors);
  free(map);
  fixture_close(&k->x);
}

#define TEST(name) static void name(void **state)

#endif
