/* Pipeline text: printing is a fixed point, mutated text never breaks the parser, every allocation may fail.
 *
 * SPDX-License-Identifier: Apache-2.0 */
#include "../pipeline.h"
#include "../test_allocator.h"

static vyre_status
run(vyre_pass_ctx *ctx, vyre_module *module, vyre_result *out)
{
  (void)ctx;
  (void)module;
  *out = VYRE_UNCHANGED;
  return VYRE_OK;
}

static const vyre_param params[] = {
    {sizeof(vyre_param), VYRE_PARAM_UINT, "zeta", "a number", 1, UINT64_MAX, 4, NULL},
    {sizeof(vyre_param), VYRE_PARAM_FLAG, "quiet", "off", 0, 0, 0, NULL},
    {sizeof(vyre_param), VYRE_PARAM_FLAG, "careful", "on", 0, 0, 1, NULL},
    {sizeof(vyre_param), VYRE_PARAM_WORD, "mode", "words", 0, 0, 0, "fast|small|x86_64"},
    {sizeof(vyre_param), VYRE_PARAM_UINT, "a", "another", 0, 10, 0, NULL},
    {sizeof(vyre_param), VYRE_PARAM_TEXT, "rules", "a text", 0, 0, 0, "FILE"},
};
static const vyre_pass plain = {
    .struct_size = sizeof(vyre_pass), .name = "dce", .long_name = "dead-code", .summary = "s", .run = run};
static const vyre_pass rich = {.struct_size = sizeof(vyre_pass),
                               .name = "cf",
                               .summary = "s",
                               .params = params,
                               .param_count = sizeof(params) / sizeof(params[0]),
                               .run = run};
VYRE_PLUGIN("core", "1", &plain, &rich)

static vyre_registry *registry;

static int
make_registry(void **state)
{
  (void)state;
  registry = registry_with(vyre_plugin_query_v1, "core.so", VYRE_ORIGIN_CORE);
  return 0;
}

static int
end_registry(void **state)
{
  (void)state;
  vyre_registry_destroy(registry);
  return 0;
}

/* Parses the text and prints its pipeline.  Returns false if the text is invalid; then its message begins with the position. */
static bool
parse_and_print(const char *text, size_t length, vyre_bytes *out)
{
  vyre_pipeline *pipeline;
  vyre_status status = vyre_pipeline_parse(registry, text, length, "-passes", &pipeline);
  if (status) {
    assert_null(pipeline);
    assert_int_equal(strncmp(vyre_status_text(status), "-passes:", 8), 0);
    assert_error(status, VYRE_CODE_USAGE, "");
    return false;
  }
  assert_null(vyre_pipeline_print(pipeline, out));
  vyre_pipeline_destroy(pipeline);
  return true;
}

/* print(parse(print(p))) == print(p) */
static void
check_fixed_point(const vyre_bytes *once)
{
  vyre_bytes twice = {0};
  assert_true(parse_and_print(once->data, once->size, &twice));
  assert_string_equal(once->data, twice.data);
  vyre_bytes_free(&twice);
}

static const char *
any_param(uint64_t *random)
{
  static const char *const texts[] = {"zeta=7",
                                      "zeta = 0xfFfF",
                                      "quiet",
                                      "no-quiet",
                                      "quiet=true",
                                      "careful=false",
                                      "no-careful",
                                      "mode=\"small\"",
                                      "fast",
                                      "mode = x86_64 ",
                                      "a=10",
                                      "\"small\"",
                                      "9",
                                      "",
                                      "rules=a/b-c.rules",
                                      "rules = \"a b\\\"\\\\\\n\\t;>\"",
                                      "rules=\"\""};
  return texts[test_random(random, sizeof(texts) / sizeof(texts[0]))];
}

/* Writes a random pipeline with blanks and comments.  A parameter may occur twice, which is an error. */
static void
write_random(uint64_t *random, int depth, vyre_bytes *out)
{
  static const char *const blanks[] = {"", "", "", " ", "\n\t", " # x,(\n"};
  uint32_t count = 1 + test_random(random, 3);
  for (uint32_t i = 0; i < count; i++) {
    const char *blank = blanks[test_random(random, 6)];
    switch (test_random(random, depth > 0 ? 7 : 4)) {
    case 0:
      assert_null(vyre_bytes_printf(out, "dce%s", blank));
      break;
    case 1:
      assert_null(vyre_bytes_printf(out, "%sdead-code", blank));
      break;
    case 2:
    case 3:
      assert_null(vyre_bytes_printf(out, "cf<%s%s;%s%s>", any_param(random), blank, any_param(random), blank));
      break;
    case 4:
      assert_null(vyre_bytes_printf(out, "repeat<%u>%s(", 1 + test_random(random, 3), blank));
      write_random(random, depth - 1, out);
      assert_null(vyre_bytes_printf(out, ")"));
      break;
    case 5:
      assert_null(vyre_bytes_printf(out, "fixpoint<on-limit=%s>(", test_random(random, 2) ? "quiet" : "warn"));
      write_random(random, depth - 1, out);
      assert_null(vyre_bytes_printf(out, "%s)", blank));
      break;
    default:
      assert_null(vyre_bytes_printf(out, "(%s", blank));
      write_random(random, depth - 1, out);
      assert_null(vyre_bytes_printf(out, ")"));
    }
    if (i + 1 < count || test_random(random, 4) == 0)
      assert_null(vyre_bytes_printf(out, "%s,%s", blank, blank));
  }
}

TEST(printing_is_a_fixed_point)
{
  uint64_t random = 1;
  uint32_t accepted = 0;
  for (int i = 0; i < 5000; i++) {
    vyre_bytes text = {0}, once = {0};
    write_random(&random, 3, &text);
    if (parse_and_print(text.data, text.size, &once)) {
      accepted++;
      check_fixed_point(&once);
    }
    vyre_bytes_free(&text);
    vyre_bytes_free(&once);
  }
  assert_true(accepted > 1000);
}

/* Changes, drops and doubles bytes of valid texts.  Each result is a pipeline whose print is a fixed point, or has a message. */
TEST(mutated_texts_parse_or_have_a_message)
{
  static const char seed[] =
      "dce,cf<zeta=0x10;quiet;mode=\"fast\";a=1>,repeat<2>((dce),cf<careful=false>),# c\nfixpoint<max=8>(dead-code,),";
  static const char alphabet[] = "acdefnoprtx<>()[],;=@\"\\#. \n\t-_019\xc3\xa4\x80";
  uint64_t random = 7;
  uint32_t accepted = 0;
  for (int i = 0; i < 30000; i++) {
    char text[sizeof(seed) + 16];
    size_t length = sizeof(seed) - 1;
    memcpy(text, seed, length);
    for (uint32_t n = 1 + test_random(&random, 4); n > 0; n--) {
      size_t at = test_random(&random, (uint32_t)length);
      char c = alphabet[test_random(&random, (uint32_t)sizeof(alphabet) - (test_random(&random, 8) ? 1u : 0u))];
      switch (test_random(&random, 3)) {
      case 0:
        text[at] = c;
        break;
      case 1:
        memmove(text + at, text + at + 1, --length - at);
        break;
      default:
        memmove(text + at + 1, text + at, length++ - at);
        text[at] = c;
      }
    }
    vyre_bytes once = {0};
    size_t start = i % 2 ? 0 : test_random(&random, (uint32_t)length); /* the whole text, or a tail of it */
    if (parse_and_print(text + start, length - start, &once)) {
      accepted++;
      check_fixed_point(&once);
    }
    vyre_bytes_free(&once);
  }
  assert_true(accepted > 500);
}

/* A text that is not a word is quoted, and no text is cut. */
TEST(texts_are_printed_whole)
{
  static const char *const texts[][2] = {
      {"cf<rules=\"word\">", "cf<rules=word>"},
      {"cf<rules=\"two words\">", "cf<rules=\"two words\">"},
      {"cf<rules=\" word\">", "cf<rules=\" word\">"},
      {"cf<rules=\"a\\\"b\\\\c\\nd\\te\">", "cf<rules=\"a\\\"b\\\\c\\nd\\te\">"},
  };
  for (size_t i = 0; i < sizeof(texts) / sizeof(texts[0]); i++) {
    vyre_bytes once = {0};
    assert_true(parse_and_print(texts[i][0], strlen(texts[i][0]), &once));
    assert_string_equal(once.data, texts[i][1]);
    vyre_bytes_free(&once);
  }
}

/* The byte after the text is a digit. */
TEST(the_parser_reads_no_byte_after_the_text)
{
  static const char text[] = "cf<-5";
  vyre_pipeline *pipeline;
  assert_error(vyre_pipeline_parse(registry, text, strlen("cf<-"), "-passes", &pipeline), VYRE_CODE_USAGE,
               "-passes:1:4: pass 'cf' has no parameter '-'");
}

static vyre_status
parse_within(const vyre_allocator *allocator, void *user)
{
  static const char text[] = "dce,cf<zeta=3;quiet>,repeat<2>((dce),cf,dce,dce,dce),dce,dce,dce,cf<a=1>";
  vyre_registry *own;
  vyre_pipeline *pipeline = NULL;
  (void)user;
  VYRE_TRY(vyre_registry_create(allocator, &own));
  vyre_status status = vyre_registry_add(own, vyre_plugin_query_v1, "core.so", VYRE_ORIGIN_CORE);
  if (!status)
    status = vyre_pipeline_parse(own, text, sizeof(text) - 1, "-passes", &pipeline);
  vyre_pipeline_destroy(pipeline);
  vyre_registry_destroy(own);
  return status;
}

TEST(every_allocation_may_fail)
{
  assert_in_range(test_each_failure(parse_within, NULL, false, 1), 10, 1000);
}

TEST_MAIN(make_registry, end_registry)
