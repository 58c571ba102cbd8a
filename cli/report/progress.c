/* Draws the line at most ten times a second, and leaves the cursor at its start, so that output of a driver or of a crashing
 * process overwrites it.
 *
 * SPDX-License-Identifier: Apache-2.0 */
#include "progress.h"
#include "base/clock.h"

#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "cli/process.h"

#define SECOND UINT64_C(1000000000)

/* The state of the progress line.  The lock of stderr protects it. */
static struct {
  uint32_t total, done, failed; /* total is 0 without a line */
  uint64_t start, drawn;        /* times in nanoseconds */
  int length;                   /* characters of the visible line, or 0 */
} line;

/* Draws the line.  Estimates the remaining time from the finished inputs. */
static void
draw(uint64_t now)
{
  char text[128];
  const double seconds = (double)(now - line.start) / (double)SECOND;
  int length = snprintf(text, sizeof(text), "%u/%u", line.done, line.total);
  if (line.done && now > line.start)
    length += snprintf(text + length, sizeof(text) - (size_t)length, ", %.1f a second, %.0f s left", line.done / seconds,
                       seconds * (line.total - line.done) / line.done);
  if (line.failed)
    length += snprintf(text + length, sizeof(text) - (size_t)length, ", %u failed", line.failed);
  fprintf(stderr, "%-*s\r", line.length, text); /* overwrites the last line */
  line.length = length;
  line.drawn = now;
}

void
progress_begin(uint32_t total)
{
  memset(&line, 0, sizeof(line));
  if (total < 2 || !isatty(STDERR_FILENO))
    return;
  line.total = total;
  line.start = clock_now();
  draw(line.start);
}

void
progress_step(int failed)
{
  if (!line.total)
    return;
  flockfile(stderr);
  line.done++;
  line.failed += failed != 0;
  const uint64_t now = clock_now();
  if (line.done == line.total)
    progress_clear();
  else if (now - line.drawn >= SECOND / 10)
    draw(now);
  funlockfile(stderr);
}

void
progress_print(const char *text)
{
  const uint64_t now = clock_now();
  if (!isatty(STDERR_FILENO) || now - line.drawn < SECOND / 10)
    return;
  flockfile(stderr);
  fprintf(stderr, "%-*s\r", line.length, text);
  line.length = (int)strlen(text);
  line.drawn = now;
  funlockfile(stderr);
}

void
progress_clear(void)
{
  flockfile(stderr);
  if (line.length)
    fprintf(stderr, "%*s\r", line.length, "");
  line.length = 0;
  funlockfile(stderr);
}
