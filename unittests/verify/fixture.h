/* A program with a row of every kind, for tests that break one thing in it.
 *
 * SPDX-License-Identifier: Apache-2.0 */
#ifndef VYRE_UNITTESTS_VERIFY_FIXTURE_H
#define VYRE_UNITTESTS_VERIFY_FIXTURE_H

#include "../module.h"
#include "vyre/verify.h"

#define TUPLE VYRE_TYPE(VYRE_TUPLE, 1)
#define PATH  VYRE_TYPE(VYRE_PATH, 1)
#define NONE  VYRE_NONE

typedef struct fixture {
  vyre_module *m;
  const vyre_view *v;
  vyre_builder b;
  vyre_row program, workgroup, other; /* `other` is a row of another program */
  vyre_type_id floats, uints, particle;
  vyre_row in, out, counters, wo, uniform, tile, particles; /* buffers */
  vyre_row var, spec;
  vyre_row u, i, f, cond, vec, uvec, bvec, matrix; /* values */
  vyre_row pair;                                   /* tuple of two u32 */
} fixture;

static inline vyre_row
op0(fixture *x, vyre_opcode op, vyre_type type)
{
  return vyre_build(&x->b, op, type, 0, 0, 0, NONE, NONE, NONE);
}

static inline vyre_row
op3(fixture *x, vyre_opcode op, vyre_type type, vyre_row a, vyre_row b, vyre_row c)
{
  return vyre_build(&x->b, op, type, 0, 0, 0, a, b, c);
}

static inline vyre_row
literal(fixture *x, vyre_type type, uint64_t bits)
{
  return vyre_build_const(&x->b, type, bits);
}

static inline vyre_row
fixture_buffer(fixture *x, vyre_type_id type, vyre_space space, uint32_t access, uint32_t binding)
{
  return vyre_build_buffer(&x->b, type, space, access, 0, binding);
}

static inline void
fixture_memory(fixture *x)
{
  const vyre_member members[] = {
      {vyre_string_intern(x->m, "pos", 3), F32X3, VYRE_OFFSET_AUTO, VYRE_ACCESS_NO_WRITE},
      {vyre_string_intern(x->m, "id", 2), U32, VYRE_OFFSET_AUTO, 0},
  };
  x->floats = vyre_type_runtime_array(x->m, F32, 0);
  x->uints = vyre_type_runtime_array(x->m, U32, 0);
  x->particle = vyre_type_struct(x->m, vyre_string_intern(x->m, "Particle", 8), members, 2, 0);
  x->in = fixture_buffer(x, x->floats, VYRE_SPACE_STORAGE, VYRE_ACCESS_NO_WRITE, 0);
  x->out = fixture_buffer(x, x->floats, VYRE_SPACE_STORAGE, 0, 1);
  x->counters = fixture_buffer(x, x->uints, VYRE_SPACE_STORAGE, 0, 2);
  x->wo = fixture_buffer(x, x->floats, VYRE_SPACE_STORAGE, VYRE_ACCESS_NO_READ, 3);
  x->uniform = fixture_buffer(x, U32, VYRE_SPACE_UNIFORM, 0, 4);
  x->tile = fixture_buffer(x, vyre_type_array(x->m, F32, 16, NONE, 0), VYRE_SPACE_WORKGROUP, 0, 0);
  x->particles = fixture_buffer(x, vyre_type_runtime_array(x->m, x->particle, 0), VYRE_SPACE_STORAGE, 0, 5);
}

static inline void
fixture_open(fixture *x)
{
  vyre_row gid, float_index, columns[2];
  *x = (fixture){.m = new_module()};
  x->v = vyre_module_view(x->m);
  vyre_build_program(x->m, "other", 0, vyre_module_add_input(x->m, "test"), &x->b);
  x->other = op0(x, VYRE_OP_lindex, U32);
  x->program = vyre_build_program(x->m, "main", 0, 0, &x->b);
  x->workgroup = row_of(x->v->last[x->program.id]);
  x->spec = vyre_build_spec(&x->b, U32, 8, 3);
  fixture_memory(x);
  x->var = vyre_build_var(&x->b, F32);
  gid = op0(x, VYRE_OP_gid, VYRE_TYPE(VYRE_U32, 3));
  x->uvec = gid;
  x->u = vyre_build_lane(&x->b, gid, 0);
  x->i = vyre_build_convert(&x->b, VYRE_OP_bitcast, I32, x->u);
  x->f = vyre_build_convert(&x->b, VYRE_OP_convert, F32, x->u);
  x->cond = vyre_build_imm(&x->b, VYRE_OP_ult, x->u, 7);
  float_index = vyre_build_binary(&x->b, VYRE_OP_add, x->f, x->f);
  x->vec = vyre_build_join(&x->b, (const vyre_row[]){x->f, float_index}, 2);
  x->bvec = vyre_build_binary(&x->b, VYRE_OP_flt, x->vec, x->vec);
  columns[0] = columns[1] = x->vec;
  x->matrix = vyre_build_tuple(&x->b, columns, 2);
  x->pair = vyre_build_tuple(&x->b, (const vyre_row[]){x->u, x->u}, 2);
}

/* Writes a cell of a column without the module's functions. */
static inline void
put(const uint32_t *column, vyre_row row, uint32_t value)
{
  ((uint32_t *)column)[row.id] = value;
}

#endif
