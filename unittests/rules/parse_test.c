/* Rules as text: their trees, their types, and errors with their positions.
 *
 * SPDX-License-Identifier: Apache-2.0 */
#include "rules_fixture.h"

#include "vyre/ir.h"

static rules_set
read_rules(arena *a, const char *text)
{
  rules_set set = {0};
  rules_errors errors;
  if (!rules_parse((rules_memory){arena_take, a}, "test.rules", text, strlen(text), &set, &errors))
    fail_msg("%u:%u: %s", errors.items[0].line, errors.items[0].column, errors.items[0].message);
  return set;
}

static uint32_t
count_typings(const rules_rule *rule)
{
  vyre_kind kinds[RULES_KINDS] = {0};
  uint32_t count = 0;
  while (rules_next_typing(rule, kinds))
    count++;
  return count;
}

TEST(rules_are_parsed_to_trees)
{
  arena a = {0};
  const rules_set set = read_rules(&a, "; a comment\n"
                                       "mul-pow2 (int): mul(x, C) => shl(x, log2(C))\n"
                                       "    where is_pow2(C) ; and more\n"
                                       "\n"
                                       "udiv-self (uint) relaxed: udiv(x, x) => 1");
  assert_int_equal(set.count, 2);
  const rules_rule *r = &set.rules[0];
  assert_string_equal(r->name, "mul-pow2");
  assert_int_equal(r->line, 2);
  assert_int_equal(r->length, strlen("mul-pow2 (int): mul(x, C) => shl(x, log2(C))\n    where is_pow2(C)"));
  assert_int_equal(r->modes, RULES_IN_STRICT | RULES_IN_RELAXED);
  const rules_node *mul = &r->nodes[r->pattern], *shl = &r->nodes[r->replacement];
  assert_int_equal(mul->op, VYRE_OP_mul);
  assert_int_equal(r->nodes[mul->operand[0]].sort, RULES_VARIABLE);
  assert_int_equal(r->nodes[mul->operand[1]].sort, RULES_CONSTANT);
  assert_int_equal(shl->op, VYRE_OP_shl);
  assert_true(r->nodes[shl->operand[1]].constant);
  assert_int_equal(r->condition_count, 1);
  assert_int_equal(r->rows, 1);
  assert_string_equal(r->kinds[mul->kind].name, "T");
  assert_int_equal(set.rules[1].modes, RULES_IN_RELAXED);
  assert_int_equal(set.rules[1].rows, 0);
  assert_int_equal(set.rules[1].line, 5);
  arena_free(&a);
}

TEST(a_rule_applies_to_each_kind_that_fits)
{
  static const struct {
    const char *text;
    uint32_t typings;
  } cases[] = {
      {"a (int): add(x, 0) => x", 8},
      {"a: not(not(x)) => x", 9}, /* integers and bool, as the op accepts */
      {"a: umin(x, x) => x", 4},
      {"a (u32|i8): add(x, 0) => x", 2},
      {"a (float): nmin(x, x) => x", 3},
      {"a (T U V uint): convert[V](convert[U](x:T)) => convert[V](x) where bits(T) < bits(U), bits(U) < bits(V)", 4},
      {"a (T int): convert[T](x:T) => x", 8},
      {"a (T U int): convert[T](convert[U](x:T)) => x where bits(T) < bits(U), bits(T) == 32", 4},
      {"a: select(not(c), x, y) => select(c, y, x)", 12},
      {"a (int): not(ult(x, y)) => ule(y, x)", 8},
  };
  for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
    arena a = {0};
    const rules_set set = read_rules(&a, cases[i].text);
    if (count_typings(&set.rules[0]) != cases[i].typings)
      fail_msg("%s: %u kinds, not %u", cases[i].text, count_typings(&set.rules[0]), cases[i].typings);
    arena_free(&a);
  }
}

TEST(constants_are_computed_in_their_type)
{
  arena a = {0};
  const rules_set set =
      read_rules(&a, "a (int): mul(mul(x, C), 3) => sub(shl(x, bits), least) where eq(C, ones)\n"
                     "b (int): sub(add(x, C), D) => add(x, sub(C, D))\n"
                     "c (T U int): convert[T](add(convert[U](x:T), C)) => add(x, convert[T](C)) where bits(T) <= bits(U)\n"
                     "d (float): mul(fabs(x), 0.5) => mul(x, -0.25)\n"
                     "e (num): mul(neg(x), 2) => mul(x, -1)\n");
  vyre_kind kinds[RULES_KINDS] = {VYRE_U8};
  uint64_t out, values[RULES_VARIABLES] = {0, 3, 5};
  const rules_rule *r = &set.rules[0];
  kinds[r->nodes[r->conditions[0]].kind] = VYRE_BOOL;
  values[1] = 0xff;
  assert_true(rules_evaluate(r, r->conditions[0], kinds, values, &out));
  assert_int_equal(out, 1);
  values[1] = 0xfe;
  assert_true(rules_evaluate(r, r->conditions[0], kinds, values, &out));
  assert_int_equal(out, 0);
  r = &set.rules[1];
  values[1] = 3;
  kinds[0] = kinds[1] = VYRE_U8;
  assert_true(rules_evaluate(r, r->nodes[r->replacement].operand[1], kinds, values, &out));
  assert_int_equal(out, 0xfe); /* 3 - 5 wraps */
  r = &set.rules[2];
  values[1] = 0x1ff;
  kinds[r->nodes[r->replacement].kind] = VYRE_I8;
  kinds[r->nodes[r->nodes[r->replacement].operand[1]].kind] = VYRE_I8;
  kinds[r->nodes[r->variables[1].node].kind] = VYRE_I32;
  assert_true(rules_evaluate(r, r->nodes[r->replacement].operand[1], kinds, values, &out));
  assert_int_equal(out, 0xff);
  r = &set.rules[3];
  const rules_node *quarter = &r->nodes[r->nodes[r->replacement].operand[1]];
  assert_int_equal(rules_literal_bits(quarter, VYRE_F16), 0xb400);
  assert_int_equal(rules_literal_bits(quarter, VYRE_F32), 0xbe800000);
  assert_true(rules_literal_bits(quarter, VYRE_F64) == UINT64_C(0xbfd0000000000000));
  r = &set.rules[4];
  const rules_node *minus_one = &r->nodes[r->nodes[r->replacement].operand[1]];
  assert_int_equal(rules_literal_bits(minus_one, VYRE_I8), 0xff);
  assert_int_equal(rules_literal_bits(minus_one, VYRE_F32), 0xbf800000);
  arena_free(&a);
}

/* Tests all dividends of 8 bits, and inverses at all widths. */
TEST(divisions_by_magic_numbers_are_exact)
{
  for (uint32_t d = 3; d < 256; d++) {
    if ((d & (d - 1)) == 0)
      continue;
    const uint64_t magic = rules_call(RULES_UDIV_MAGIC, VYRE_U8, d), shift = rules_call(RULES_UDIV_SHIFT, VYRE_U8, d);
    const uint64_t sign_magic = rules_call(RULES_SDIV_MAGIC, VYRE_I8, d), sign_shift = rules_call(RULES_SDIV_SHIFT, VYRE_I8, d);
    const int divisor = (int8_t)d, positive = divisor < 0 ? -divisor : divisor;
    assert_in_range(sign_shift, 0, 7);
    for (uint32_t x = 0; x < 256; x++) {
      const uint64_t t = x * magic >> 8;
      const uint64_t quotient = rules_call(RULES_UDIV_FITS, VYRE_U8, d) ? t >> shift : (((x - t) >> 1) + t) >> shift;
      if (quotient != x / d)
        fail_msg("%u / %u is %llu", x, d, (unsigned long long)quotient);
      int high = ((int)(int8_t)x * (int)(int8_t)sign_magic) >> 8;
      if ((int8_t)sign_magic < 0)
        high += (int8_t)x;
      if (positive > 1 && d != 128 && ((int)(int8_t)high >> sign_shift) + ((int8_t)x < 0) != (int8_t)x / positive)
        fail_msg("%d / %d", (int8_t)x, positive);
    }
  }
  for (uint64_t d = 1; d < 1000; d += 2)
    for (vyre_kind kind = VYRE_I8; kind <= VYRE_U64; kind++) {
      const uint64_t mask = UINT64_MAX >> (64 - vyre_kind_bits(kind));
      assert_true((rules_call(RULES_INVERSE, kind, d & mask) * d & mask) == 1);
    }
}

TEST(errors_have_line_and_column)
{
  static const struct {
    const char *text;
    uint32_t line, column;
    const char *message;
  } cases[] = {
      {"add(x, 0) => x", 1, 5, "not a kind"},
      {"a: x => 0", 1, 4, "a pattern must be an op"},
      {"a: add(1, 2) => 3", 1, 4, "a pattern must be an op"},
      {"a: add(x, 0) -> x", 1, 14, "expected '=>'"},
      {"a: add(x, 0) => y", 1, 17, "'y' does not occur in the pattern"},
      {"a: add(x) => x", 1, 4, "'add' has 2 operands, not 1"},
      {"a: addd(x, 0) => x", 1, 4, "neither an op nor a function"},
      {"a: add(x, is_pow2(C)) => x", 1, 11, "neither an op nor a function"},
      {"a: load(x) => x", 1, 4, "'load' cannot be used in a rule"},
      {"a: dot(x, y) => x", 1, 4, "'dot' cannot be used in a rule"},
      {"a (f32): mul(sin(x), C) => mul(x, cos(C))", 1, 35, "the result of 'cos' differs between devices"},
      {"a (int) add(x, 0) => x", 1, 9, "expected ':'"},
      {"a (integer): add(x, 0) => x", 1, 4, "not a kind"},
      {"a (float): and(x, 0) => x", 1, 1, "no term of the rule has type 'T'"},
      {"a (T U int): add(x:T, 0) => x", 1, 1, "no term of the rule has type 'U'"},
      {"a (T T int): add(x:T, 0) => x", 1, 6, "declared twice"},
      {"a: add(x:T, 0) => x", 1, 10, "type 'T' is not declared"},
      {"a: add(x, 0) => x where ult(x, 3)", 1, 25, "only use constants"},
      {"a: add(x, 0) => x\n  where add(x, 0)", 2, 9, "only use constants"},
      {"a: add(x, C) => x where C", 1, 8, "no type fits"},
      {"a (int): add(x, 300) => x", 1, 17, "does not fit into a kind"},
      {"a (float): mul(x, 0.1) => x", 1, 19, "does not fit into a kind"},
      {"a: add(x, 0) => umin(x)", 1, 17, "'umin' has 2 operands"},
      {"a: umin(x, C) => not(feq(x, C))", 1, 9, "no type fits"},
      {"a (int): add(x, 0) => x\na (int): sub(x, 0) => x", 2, 1, "'a' is defined twice"},
      {"a (int): add(x, y) => add(y, x)", 1, 23, "not lighter"},
      {"a (int): mul(x, 2) => add(x, x)", 1, 23, "more often"},
      {"a (uint): umulhi(x, y) => udiv(x, y)", 1, 27, "adds a heavy op"},
      {"a (uint): udiv(x, C) => sub(x, umod(x, C))", 1, 25, "adds a heavy op"},
      {"a: add(x, 0) => x)", 1, 18, "follows the rule's end"},
      {"a: add(x, 0", 1, 12, "expected ')', found the rule's end"},
      {"a: add(x, 12z) => x", 1, 11, "not a number"},
      {"a (u32): add(x, 0x) => x", 1, 17, "not a number"},
      {"a (u32): add(x, 0xg) => x", 1, 17, "not a number"},
      {"a (u32): add(x, 010) => x", 1, 17, "begins with a zero"},
      {"a (u64): mul(x, 99999999999999999999) => x", 1, 17, "is not from -2^63 to 2^64 - 1"},
      {"a (u64): mul(x, 18446744073709551616) => x", 1, 17, "is not from -2^63 to 2^64 - 1"},
      {"a (i64): mul(x, -9223372036854775809) => x", 1, 17, "is not from -2^63 to 2^64 - 1"},
      {"a (float): mul(x, 18446744073709551615) => x", 1, 19, "does not fit into a kind"},
      {"a (int): add(x, true) => x", 1, 17, "true and false have type bool"},
      {"a (int): add(x, y) => false", 1, 23, "true and false have type bool"},
      {"a (uint): ugt(x, C) => ult(C, x)", 1, 24, "a constant on the left, which canon mirrors"},
      {"a (float): not(fult(x, 1)) => fge(add(1, 1), x)", 1, 31, "a constant on the left, which canon mirrors"},
      {"a: add(x, $) => x", 1, 11, "expected a term, found '$'"},
      {"a: not(not(not(not(not(not(not(not(not(not(not(not(not(not(not(not(x)))))))))))))))) => x", 1, 68, "at most 16 deep"},
      {"a: select(a1, b1, select(c1, d1, select(e1, f1, select(g1, h1, i1)))) => a1", 1, 64, "at most 8 variables"},
  };
  for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
    arena a = {0};
    rules_set set = {0};
    rules_errors errors;
    const rules_error *error = errors.items;
    if (rules_parse((rules_memory){arena_take, &a}, "test.rules", cases[i].text, strlen(cases[i].text), &set, &errors))
      fail_msg("read: %s", cases[i].text);
    if (errors.count != 1 || error->line != cases[i].line || error->column != cases[i].column ||
        !strstr(error->message, cases[i].message))
      fail_msg("%s\n%u:%u: %s, not %u:%u", cases[i].text, error->line, error->column, error->message, cases[i].line, cases[i].column);
    assert_true(error->fix[0]);
    arena_free(&a);
  }
}

TEST(each_faulty_rule_has_an_error)
{
  static const char text[] = "a: nope(x) => x\n"
                             "good: not(not(x)) => x\n"
                             "b: add(x, 0\n"
                             "    => x\n"
                             "good: not(not(x)) => x\n"
                             "c: add(x, 1) => add(x, 2)\n";
  static const uint32_t lines[] = {1, 4, 5, 6};
  arena a = {0};
  rules_set set = {0};
  rules_errors errors;
  assert_false(rules_parse((rules_memory){arena_take, &a}, "test.rules", text, strlen(text), &set, &errors));
  assert_int_equal(set.count, 1);
  assert_int_equal(errors.count, 4);
  for (size_t i = 0; i < 4; i++)
    assert_int_equal(errors.items[i].line, lines[i]);
  arena_free(&a);
}

TEST(errors_beyond_the_limit_are_counted)
{
  char text[40 * 16] = "";
  arena a = {0};
  rules_set set = {0};
  rules_errors errors;
  for (int i = 0; i < 30; i++)
    strcat(text, "a: nope(x) => x\n");
  assert_false(rules_parse((rules_memory){arena_take, &a}, "test.rules", text, strlen(text), &set, &errors));
  assert_int_equal(errors.count, 30);
  assert_int_equal(rules_errors_kept(&errors), RULES_MOST_ERRORS);
  assert_int_equal(errors.items[RULES_MOST_ERRORS - 1].line, RULES_MOST_ERRORS);
  arena_free(&a);
}

static void *
no_memory(void *user, size_t bytes)
{
  (void)user;
  (void)bytes;
  return NULL;
}

TEST(exhausted_memory_is_an_error)
{
  rules_set set = {0};
  rules_errors errors;
  assert_false(rules_parse((rules_memory){no_memory, NULL}, "", "a: not(not(x)) => x", 19, &set, &errors));
  assert_int_equal(errors.count, 1);
  assert_non_null(strstr(errors.items[0].message, "out of memory"));
}
