/* Telemetry of a live kernel, for people and for Prometheus.
 *
 * SPDX-License-Identifier: Apache-2.0 */
#include "mega.h"

#include <inttypes.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>
#include <unistd.h>

enum { PERIOD = 200 /* milliseconds */ };

struct mega_watch {
  vyre_mega_live *live;
  vyre_mega_telemetry last;
  bool is_terminal, stops;
  vyre_status status;
  pthread_t thread;
  pthread_mutex_t lock;
  pthread_cond_t woken;
};

/* Prints a line.  On a terminal it replaces the previous one. */
static vyre_status
print_line(mega_watch *w, bool is_last)
{
  vyre_mega_telemetry now;
  VYRE_TRY(vyre_mega_telemetry_read(w->live, &now));
  const vyre_mega_window_stats s = vyre_mega_window_between(&w->last, &now);
  fprintf(stderr, "%swatch: done %" PRIu32 ", faults %" PRIu32 ", depth %" PRIu32 " of %" PRIu32 ", %.0f items/s%s%s%s",
          w->is_terminal ? "\r" : "", now.control.done, now.control.faults, now.depth, now.slots, s.rate, s.is_idle ? ", idle" : "",
          s.may_be_stuck ? ", nothing ends" : "", w->is_terminal ? "\033[K" : "");
  if (!w->is_terminal || is_last)
    fputc('\n', stderr);
  fflush(stderr);
  w->last = now;
  return VYRE_OK;
}

static void *
run(void *user)
{
  mega_watch *w = user;
  pthread_mutex_lock(&w->lock);
  while (!w->stops && !w->status) {
    struct timespec until;
    clock_gettime(CLOCK_REALTIME, &until);
    until.tv_nsec += PERIOD * 1000000L;
    until.tv_sec += until.tv_nsec / 1000000000;
    until.tv_nsec %= 1000000000;
    pthread_cond_timedwait(&w->woken, &w->lock, &until);
    if (!w->stops)
      w->status = print_line(w, false);
  }
  pthread_mutex_unlock(&w->lock);
  return NULL;
}

vyre_status
mega_watch_start(vyre_mega_live *live, mega_watch **out)
{
  *out = NULL;
  mega_watch *w = calloc(1, sizeof *w);
  if (!w)
    return VYRE_OUT_OF_MEMORY("for -watch");
  *w = (mega_watch){.live = live, .is_terminal = isatty(STDERR_FILENO)};
  pthread_mutex_init(&w->lock, NULL);
  pthread_cond_init(&w->woken, NULL);
  vyre_status status = vyre_mega_telemetry_read(live, &w->last);
  if (!status && pthread_create(&w->thread, NULL, run, w) != 0)
    status = VYRE_ERROR(VYRE_CODE_DEVICE, "cannot create a thread for -watch\nFix: leave out -watch");
  if (status) {
    free(w);
    return status;
  }
  *out = w;
  return VYRE_OK;
}

vyre_status
mega_watch_stop(mega_watch *w)
{
  if (!w)
    return VYRE_OK;
  pthread_mutex_lock(&w->lock);
  w->stops = true;
  pthread_cond_signal(&w->woken);
  pthread_mutex_unlock(&w->lock);
  pthread_join(w->thread, NULL);
  vyre_status status = w->status ? w->status : print_line(w, true);
  pthread_cond_destroy(&w->woken);
  pthread_mutex_destroy(&w->lock);
  free(w);
  return status;
}

vyre_status
mega_write_metrics(vyre_mega_live *live, const char *path)
{
  vyre_mega_telemetry now;
  vyre_bytes text = {0};
  VYRE_TRY(vyre_mega_telemetry_read(live, &now));
  vyre_status status = vyre_mega_telemetry_text(&now, &text);
  if (!status)
    status = vyre_file_write(path, text.data, text.size);
  vyre_bytes_free(&text);
  return status;
}
