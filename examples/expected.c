/* Inputs and expected results of the example shaders, computed by plain C from the purpose of each shader, not from its text.
 *
 *   example-expected list              lists the names
 *   example-expected NAME prepare DIR  writes DIR/BUFFER.in and DIR/args (vyre-run's options, one a line)
 *   example-expected NAME check DIR    compares DIR/BUFFER.out with the expected results; exit code 1 if they differ
 *
 * Integers must be equal.  Floats may differ by a part in 10^5: a driver may fuse a multiplication and an addition if the shader
 * does not use `precise`.
 *
 * SPDX-License-Identifier: Apache-2.0 */
#include <math.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

typedef enum layout { WORDS, FLOATS, PARTICLES } layout;

typedef struct buffer {
  const char *name;
  layout layout;
  size_t words;
  uint32_t *input;
  uint32_t *expected; /* NULL: only read */
} buffer;

typedef struct example {
  const char *name;
  void (*make)(struct example *example);
  uint32_t groups[3];
  const char *options[4]; /* more of vyre-run's */
  buffer buffers[4];
  uint32_t buffer_count;
} example;

/* ---- helpers ------------------------------------------------------------------------------------------------------------- */

static void
fail(const char *what, const char *name)
{
  fprintf(stderr, "example-expected: error: %s: %s\n", name, what);
  exit(1);
}

static uint32_t random_state = 12345;

static uint32_t
random_word(void)
{
  random_state = random_state * 1664525u + 1013904223u;
  return random_state ^ random_state >> 16;
}

static float
random_float(void) /* in [-1, 1) */
{
  return (float)(int32_t)(random_word() & 0xffffffu) / 8388608.0f - 1.0f;
}

static uint32_t
bits_of(float f)
{
  uint32_t bits;
  memcpy(&bits, &f, sizeof bits);
  return bits;
}

static float
float_of(uint32_t bits)
{
  float f;
  memcpy(&f, &bits, sizeof f);
  return f;
}

/* A zeroed buffer; its expected contents, if it is written, start as a copy made by expect(). */
static buffer *
add(example *e, const char *name, layout format, size_t words)
{
  buffer *b = &e->buffers[e->buffer_count++];
  *b = (buffer){name, format, words, calloc(words, sizeof(uint32_t)), NULL};
  if (!b->input)
    fail("out of memory", e->name);
  return b;
}

static uint32_t *
expect(example *e, buffer *b)
{
  b->expected = malloc(b->words * sizeof(uint32_t));
  if (!b->expected)
    fail("out of memory", e->name);
  memcpy(b->expected, b->input, b->words * sizeof(uint32_t));
  return b->expected;
}

/* ---- the examples -------------------------------------------------------------------------------------------------------- */

static void
make_saxpy(example *e)
{
  enum { N = 1000 };
  buffer *x = add(e, "X", FLOATS, 1024), *y = add(e, "Y", FLOATS, 1024), *params = add(e, "Params", WORDS, 2);
  const float a = 2.5f;
  for (uint32_t i = 0; i < 1024; i++) {
    x->input[i] = bits_of(random_float());
    y->input[i] = bits_of(random_float());
  }
  params->input[0] = bits_of(a);
  params->input[1] = N;
  uint32_t *want = expect(e, y);
  for (uint32_t i = 0; i < N; i++)
    want[i] = bits_of(a * float_of(x->input[i]) + float_of(y->input[i]));
}

static void
make_matmul(example *e)
{
  enum { ROWS = 19, INNER = 21, COLUMNS = 13 };
  buffer *a = add(e, "MatrixA", FLOATS, ROWS * INNER), *b = add(e, "MatrixB", FLOATS, INNER * COLUMNS);
  buffer *c = add(e, "MatrixC", FLOATS, ROWS * COLUMNS), *size = add(e, "Size", WORDS, 3);
  for (uint32_t i = 0; i < ROWS * INNER; i++)
    a->input[i] = bits_of(random_float());
  for (uint32_t i = 0; i < INNER * COLUMNS; i++)
    b->input[i] = bits_of(random_float());
  memcpy(size->input, (uint32_t[]){ROWS, INNER, COLUMNS}, 12);
  uint32_t *want = expect(e, c);
  for (uint32_t row = 0; row < ROWS; row++)
    for (uint32_t column = 0; column < COLUMNS; column++) {
      double sum = 0;
      for (uint32_t k = 0; k < INNER; k++)
        sum += (double)float_of(a->input[row * INNER + k]) * (double)float_of(b->input[k * COLUMNS + column]);
      want[row * COLUMNS + column] = bits_of((float)sum);
    }
}

static void
make_reduce(example *e)
{
  enum { N = 450, GROUP = 128, GROUPS = 4 };
  buffer *data = add(e, "Input", WORDS, N), *out = add(e, "Output", WORDS, 3 * GROUPS);
  for (uint32_t i = 0; i < N; i++)
    data->input[i] = random_word() >> 4;
  uint32_t *want = expect(e, out);
  for (uint32_t group = 0; group < GROUPS; group++) {
    uint32_t sum = 0, smallest = UINT32_MAX, greatest = 0;
    for (uint32_t i = group * GROUP; i < (group + 1) * GROUP && i < N; i++) {
      const uint32_t value = data->input[i];
      sum += value;
      smallest = value < smallest ? value : smallest;
      greatest = value > greatest ? value : greatest;
    }
    memcpy(want + 3 * group, (uint32_t[]){sum, smallest, greatest}, 12);
  }
}

static void
make_scan(example *e)
{
  enum { N = 700, GROUP = 256, GROUPS = 3 };
  buffer *data = add(e, "Input", WORDS, N), *sums = add(e, "Output", WORDS, N), *totals = add(e, "Totals", WORDS, GROUPS);
  for (uint32_t i = 0; i < N; i++)
    data->input[i] = random_word() % 2001u - 1000u;
  uint32_t *want = expect(e, sums), *want_totals = expect(e, totals);
  for (uint32_t i = 0; i < N; i++) {
    want[i] = data->input[i] + (i % GROUP ? want[i - 1] : 0);
    want_totals[i / GROUP] = want[i];
  }
}

static void
make_compact(example *e)
{
  enum { N = 450, GROUP = 128, GROUPS = 4 };
  buffer *data = add(e, "Input", WORDS, N), *kept = add(e, "Kept", WORDS, GROUP * GROUPS),
         *out = add(e, "Output", WORDS, 3 * GROUPS);
  for (uint32_t i = 0; i < N; i++)
    data->input[i] = random_word() >> 4;
  uint32_t *want = expect(e, kept), *totals = expect(e, out);
  for (uint32_t i = 0; i < N; i++) {
    const uint32_t value = data->input[i];
    uint32_t *total = totals + 3 * (i / GROUP); /* count, sum, greatest */
    if (value % 3 == 0)
      continue;
    want[i / GROUP * GROUP + total[0]++] = value;
    total[1] += value;
    total[2] = value > total[2] ? value : total[2];
  }
}

static void
make_histogram(example *e)
{
  enum { N = 3000 };
  buffer *words = add(e, "Input", WORDS, N), *bins = add(e, "Bins", WORDS, 256), *greatest = add(e, "Greatest", WORDS, 2);
  for (uint32_t i = 0; i < N; i++)
    words->input[i] = i % 7 ? random_word() : 0;
  for (uint32_t i = 0; i < 256; i++)
    bins->input[i] = i;
  uint32_t *want = expect(e, bins), *want_greatest = expect(e, greatest);
  for (uint32_t i = 0; i < N; i++) {
    const uint32_t word = words->input[i];
    for (uint32_t byte = 0; byte < 4; byte++)
      want[word >> 8 * byte & 255]++;
    if (word > want_greatest[0])
      want_greatest[0] = word;
  }
  want_greatest[1] = N;
}

static uint32_t
rotate_left(uint32_t x, uint32_t n)
{
  return x << n | x >> (32 - n);
}

/* The first 32 bits of the fraction of n's root of that degree: where FIPS 180-4 takes its constants from. */
static uint32_t
root_fraction(uint32_t n, uint32_t degree)
{
  const long double root = degree == 2 ? sqrtl(n) : cbrtl(n);
  return (uint32_t)((root - floorl(root)) * 4294967296.0L);
}

static void
sha256_block(const uint32_t block[16], uint32_t digest[8])
{
  uint32_t k[64], w[64], v[8], prime = 1;
  for (uint32_t i = 0; i < 64; i++) {
    bool composite = true;
    while (composite) {
      prime++;
      composite = false;
      for (uint32_t d = 2; d * d <= prime; d++)
        composite |= prime % d == 0;
    }
    k[i] = root_fraction(prime, 3);
    if (i < 8)
      digest[i] = root_fraction(prime, 2);
    if (i < 16)
      w[i] = block[i];
    else
      w[i] = w[i - 16] + w[i - 7] + (rotate_left(w[i - 15], 25) ^ rotate_left(w[i - 15], 14) ^ w[i - 15] >> 3) +
             (rotate_left(w[i - 2], 15) ^ rotate_left(w[i - 2], 13) ^ w[i - 2] >> 10);
  }
  memcpy(v, digest, sizeof v);
  for (uint32_t i = 0; i < 64; i++) {
    const uint32_t s1 = rotate_left(v[4], 26) ^ rotate_left(v[4], 21) ^ rotate_left(v[4], 7);
    const uint32_t s0 = rotate_left(v[0], 30) ^ rotate_left(v[0], 19) ^ rotate_left(v[0], 10);
    const uint32_t t1 = v[7] + s1 + (v[6] ^ (v[4] & (v[5] ^ v[6]))) + k[i] + w[i];
    const uint32_t t2 = s0 + ((v[0] & v[1]) | (v[2] & (v[0] | v[1])));
    memmove(v + 1, v, 7 * sizeof v[0]);
    v[4] += t1;
    v[0] = t1 + t2;
  }
  for (uint32_t i = 0; i < 8; i++)
    digest[i] += v[i];
}

static void
make_sha256(example *e)
{
  enum { N = 100 };
  /* FIPS 180-4's own example, so that this code is checked against something else: SHA-256("abc"). */
  uint32_t abc[16] = {0x61626380u}, digest[8];
  abc[15] = 24;
  sha256_block(abc, digest);
  if (digest[0] != 0xba7816bfu || digest[7] != 0xf20015adu)
    fail("this program's SHA-256 is wrong", e->name);

  buffer *messages = add(e, "Messages", WORDS, 8 * N), *digests = add(e, "Digests", WORDS, 8 * N);
  for (uint32_t i = 0; i < 8 * N; i++)
    messages->input[i] = random_word();
  uint32_t *want = expect(e, digests);
  for (uint32_t i = 0; i < N; i++) {
    uint32_t block[16] = {0};
    memcpy(block, messages->input + 8 * i, 32);
    block[8] = 0x80000000u;
    block[15] = 256;
    sha256_block(block, want + 8 * i);
  }
}

static void
make_mandelbrot(example *e)
{
  enum { WIDTH = 30, HEIGHT = 22, LIMIT = 60 };
  const float centre_x = -0.5f, centre_y = 0.125f, pixel = 0.1f;
  buffer *view = add(e, "View", WORDS, 6), *image = add(e, "Image", WORDS, WIDTH * HEIGHT);
  memcpy(view->input, (uint32_t[]){bits_of(centre_x), bits_of(centre_y), bits_of(pixel), WIDTH, HEIGHT, LIMIT}, 24);
  uint32_t *want = expect(e, image);
  for (uint32_t y = 0; y < HEIGHT; y++)
    for (uint32_t x = 0; x < WIDTH; x++) {
      const float sx = ((float)x - 0.5f * (float)WIDTH) * pixel, sy = ((float)y - 0.5f * (float)HEIGHT) * pixel;
      const float cx = centre_x + sx, cy = centre_y + sy;
      float zx = 0, zy = 0;
      uint32_t n = 0;
      for (; n < LIMIT && zx * zx + zy * zy <= 4.0f; n++) {
        const float xx = zx * zx, yy = zy * zy, xy = zx * zy;
        const float difference = xx - yy, twice = xy + xy;
        zx = difference + cx;
        zy = twice + cy;
      }
      want[y * WIDTH + x] = n;
    }
}

static void
make_blur(example *e)
{
  enum { WIDTH = 37, HEIGHT = 11, RADIUS = 3 };
  static const double weights[] = {0.2270270270, 0.1945945946, 0.1216216216, 0.0540540541, 0.0162162162};
  buffer *source = add(e, "Source", FLOATS, 4 * WIDTH * HEIGHT), *target = add(e, "Target", FLOATS, 4 * WIDTH * HEIGHT);
  buffer *size = add(e, "Size", WORDS, 2);
  for (uint32_t i = 0; i < 4 * WIDTH * HEIGHT; i++)
    source->input[i] = bits_of(random_float());
  memcpy(size->input, (uint32_t[]){WIDTH, HEIGHT}, 8);
  uint32_t *want = expect(e, target);
  for (int y = 0; y < HEIGHT; y++)
    for (int x = 0; x < WIDTH; x++)
      for (int channel = 0; channel < 4; channel++) {
        double sum = 0;
        for (int d = -RADIUS; d <= RADIUS; d++) { /* VERTICAL is set */
          const int from = y + d < 0 ? 0 : y + d >= HEIGHT ? HEIGHT - 1 : y + d;
          sum += weights[abs(d)] * (double)float_of(source->input[(from * WIDTH + x) * 4 + channel]);
        }
        want[(y * WIDTH + x) * 4 + channel] = bits_of((float)sum);
      }
}

/* Offsets in words, std430: Motion {vec3 0, mass 3, vec3 4, kind 7}, Particle {motion 0, colour 8, age 12}, 16 a particle. */
enum { POSITION = 0, MASS = 3, VELOCITY = 4, KIND = 7, COLOUR = 8, AGE = 12, PARTICLE = 16 };

static void
step_particle(uint32_t *p, const double turn[9], const double gravity[3], double ground, double restitution, int substeps,
              double dt)
{
  double position[3], velocity[3], mass = (double)float_of(p[MASS]);
  for (int i = 0; i < 3; i++) {
    position[i] = (double)float_of(p[POSITION + i]);
    velocity[i] = (double)float_of(p[VELOCITY + i]);
  }
  for (int s = 0; s < substeps; s++) {
    double f[3] = {0, 0, 0};
    const double wind[3] = {1.0, 0.25, (double)(int32_t)p[AGE]};
    if (p[KIND] == 2) {
      for (int row = 0; row < 3; row++)
        for (int column = 0; column < 3; column++)
          f[row] += turn[3 * column + row] * wind[column];
    } else if (p[KIND] != 0) {
      for (int i = 0; i < 3; i++)
        f[i] = gravity[i] * mass + (i == 1 && p[KIND] != 1 ? 0.125 : 0);
    }
    for (int i = 0; i < 3; i++) {
      velocity[i] += f[i] / mass * dt;
      position[i] += velocity[i] * dt;
    }
    if (position[1] < ground && velocity[1] >= 0) {
      position[1] = ground;
    } else if (position[1] < ground) {
      velocity[1] *= -restitution;
      position[1] = 2 * ground - position[1];
    }
  }
  p[AGE]++;
  double length = 0, direction[4] = {0, 0, 0, 1};
  for (int i = 0; i < 3; i++)
    length += (velocity[i] + 0.001) * (velocity[i] + 0.001);
  for (int i = 0; i < 3; i++) {
    direction[i] = (velocity[i] + 0.001) / sqrt(length);
    p[POSITION + i] = bits_of((float)position[i]);
    p[VELOCITY + i] = bits_of((float)velocity[i]);
  }
  for (int i = 0; i < 4; i++)
    p[COLOUR + i] = bits_of((float)(0.75 * (double)float_of(p[COLOUR + i]) + 0.25 * direction[i]));
}

static void
make_particles(example *e)
{
  enum { N = 50, COUNT = 47 };
  static const double turn[9] = {0.8, 0.6, 0, -0.6, 0.8, 0.125, 0, 0.25, 1}, gravity[3] = {0, -9.75, 0.5};
  const double ground = -0.25, seconds = 0.125;
  buffer *particles = add(e, "Particles", PARTICLES, PARTICLE * N), *world = add(e, "World", WORDS, 16),
         *step = add(e, "Step", WORDS, 2);
  for (uint32_t i = 0; i < N; i++) {
    uint32_t *p = particles->input + PARTICLE * i;
    for (uint32_t k = 0; k < COLOUR + 4; k++)
      p[k] = bits_of(random_float());
    p[MASS] = bits_of(1.0f + fabsf(random_float()));
    p[KIND] = i % 5;
    p[AGE] = i % 3;
  }
  for (int column = 0; column < 3; column++)
    for (int row = 0; row < 3; row++)
      world->input[4 * column + row] = bits_of((float)turn[3 * column + row]);
  for (int i = 0; i < 3; i++)
    world->input[12 + i] = bits_of((float)gravity[i]);
  world->input[15] = bits_of((float)ground);
  step->input[0] = bits_of((float)seconds);
  step->input[1] = COUNT;
  uint32_t *want = expect(e, particles);
  for (uint32_t i = 0; i < COUNT; i++) /* RESTITUTION 0.75, SUBSTEPS 3 */
    step_particle(want + PARTICLE * i, turn, gravity, ground, 0.75, 3, seconds / 3);
}

static example examples[] = {
    {.name = "saxpy", .make = make_saxpy, .groups = {16, 1, 1}},
    {.name = "matmul", .make = make_matmul, .groups = {4, 5, 1}, .options = {"-spec=0=4"}},
    {.name = "reduce", .make = make_reduce, .groups = {4, 1, 1}},
    {.name = "scan", .make = make_scan, .groups = {3, 1, 1}},
    {.name = "compact", .make = make_compact, .groups = {4, 1, 1}},
    {.name = "histogram", .make = make_histogram, .groups = {5, 1, 1}},
    {.name = "sha256", .make = make_sha256, .groups = {2, 1, 1}},
    {.name = "mandelbrot", .make = make_mandelbrot, .groups = {4, 3, 1}},
    {.name = "blur", .make = make_blur, .groups = {3, 3, 1}, .options = {"-spec=0=1", "-spec=1=3"}},
    {.name = "particles", .make = make_particles, .groups = {2, 1, 1}, .options = {"-spec=3=0.75", "-spec=4=3"}},
};

/* ---- files --------------------------------------------------------------------------------------------------------------- */

static FILE *
open_file(const char *folder, const char *name, const char *suffix, const char *mode)
{
  char path[4096];
  snprintf(path, sizeof path, "%s/%s%s", folder, name, suffix);
  FILE *file = fopen(path, mode);
  if (!file)
    fail("cannot open", path);
  return file;
}

static void
prepare(const example *e, const char *folder)
{
  FILE *args = open_file(folder, "args", "", "w");
  fprintf(args, "-groups=%u,%u,%u\n", e->groups[0], e->groups[1], e->groups[2]);
  for (uint32_t i = 0; i < 4 && e->options[i]; i++)
    fprintf(args, "%s\n", e->options[i]);
  for (uint32_t i = 0; i < e->buffer_count; i++) {
    const buffer *b = &e->buffers[i];
    FILE *file = open_file(folder, b->name, ".in", "wb");
    if (fwrite(b->input, sizeof(uint32_t), b->words, file) != b->words || fclose(file) != 0)
      fail("cannot write", b->name);
    fprintf(args, "-buffer=%s=%s/%s.in\n", b->name, folder, b->name);
    if (b->expected)
      fprintf(args, "-write=%s=%s/%s.out\n", b->name, folder, b->name);
  }
  if (fclose(args) != 0)
    fail("cannot write", "args");
}

static bool
is_float(const buffer *b, size_t word)
{
  const size_t field = word % PARTICLE;
  return b->layout == FLOATS || (b->layout == PARTICLES && field != KIND && field < AGE);
}

static bool
near(uint32_t got, uint32_t want)
{
  const double a = (double)float_of(got), b = (double)float_of(want);
  return fabs(a - b) <= 1e-5 * fmax(1.0, fabs(b));
}

static int
check(const example *e, const char *folder)
{
  for (uint32_t i = 0; i < e->buffer_count; i++) {
    const buffer *b = &e->buffers[i];
    if (!b->expected)
      continue;
    uint32_t *got = calloc(b->words + 1, sizeof *got);
    FILE *file = open_file(folder, b->name, ".out", "rb");
    if (!got || fread(got, sizeof *got, b->words + 1, file) != b->words)
      fail("another size than expected", b->name);
    fclose(file);
    for (size_t k = 0; k < b->words; k++)
      if (is_float(b, k) ? !near(got[k], b->expected[k]) : got[k] != b->expected[k]) {
        fprintf(stderr, "example-expected: error: %s: %s[%zu] is 0x%08x (%g), expected 0x%08x (%g)\n", e->name, b->name, k, got[k],
                (double)float_of(got[k]), b->expected[k], (double)float_of(b->expected[k]));
        return 1;
      }
    free(got);
  }
  return 0;
}

/* The expected result must differ from the input, and not be one value throughout: else a shader that does nothing would pass. */
static void
check_example(const example *e)
{
  for (uint32_t i = 0; i < e->buffer_count; i++) {
    const buffer *b = &e->buffers[i];
    if (!b->expected)
      continue;
    bool differs = false, varies = false;
    for (size_t k = 0; k < b->words; k++) {
      differs |= b->expected[k] != b->input[k];
      varies |= b->expected[k] != b->expected[0];
    }
    if (!differs || !varies)
      fail("the expected result shows nothing", e->name);
  }
}

int
main(int argc, char **argv)
{
  const size_t count = sizeof examples / sizeof examples[0];
  if (argc == 2 && strcmp(argv[1], "list") == 0) {
    for (size_t i = 0; i < count; i++)
      printf("%s\n", examples[i].name);
    return 0;
  }
  for (size_t i = 0; argc == 4 && i < count; i++) {
    example *e = &examples[i];
    if (strcmp(argv[1], e->name) != 0)
      continue;
    e->make(e);
    check_example(e);
    if (strcmp(argv[2], "prepare") == 0)
      return prepare(e, argv[3]), 0;
    if (strcmp(argv[2], "check") == 0)
      return check(e, argv[3]);
  }
  fprintf(stderr, "usage: example-expected list | NAME prepare DIR | NAME check DIR\n");
  return 2;
}
