/* -watch: repeated runs, each over the inputs that have changed since the run before.
 *
 * The waiting process only reads the command line with its lists and patterns.  It forks a process for each run, so that each run
 * has its own plugins, devices and compilers.  Changes are found by the contents of files.  Notices of the system (inotify, for the
 * folders of the files, so that replaced files are noticed) only trigger the comparison.  Folders are watched before files are
 * read, so no change is missed.
 *
 * Limits: changes by other machines, and the replacement of a folder above a file by a link, are not noticed.  Each notice reads
 * all files.
 *
 * SPDX-License-Identifier: Apache-2.0 */
#include "watch.h"

#include "base/clock.h"
#include "base/grow.h"
#include "sight.h"

#include <errno.h>
#include <limits.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/inotify.h>
#include <sys/prctl.h>
#include <sys/signalfd.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

/* ---- notices ------------------------------------------------------------------------------------------------------------- */

typedef struct folders {
  int fd;
  char **paths; /* owned, by number of the watch; NULL for an unused number */
  uint32_t count, capacity;
} folders;

/* The notices that the watch handles.  A created file is not complete yet, and another notice reports its completion. */
#define NOTICES (IN_CLOSE_WRITE | IN_MOVED_TO | IN_CREATE | IN_DELETE_SELF | IN_MOVE_SELF | IN_ONLYDIR)

/* Watches the folder of a path, or its nearest existing parent. */
static vyre_status
watch_folder(folders *f, const char *path, bool *is_new)
{
  char folder[PATH_MAX];
  if ((size_t)snprintf(folder, sizeof folder, "%s", path) >= sizeof folder)
    return VYRE_OK;
  int watch = -1;
  do {
    char *slash = strrchr(folder, '/');
    if (!slash)
      strcpy(folder, ".");
    else
      slash[slash == folder] = '\0';
    watch = inotify_add_watch(f->fd, folder, NOTICES);
  } while (watch < 0 && (errno == ENOENT || errno == ENOTDIR) && strcmp(folder, "/") != 0 && strcmp(folder, ".") != 0);
  if (watch < 0)
    return VYRE_ERROR(VYRE_CODE_INPUT, "cannot watch the folder '%s': %s\nFix: %s", folder, strerror(errno),
                      errno == ENOSPC ? "allow more watches (/proc/sys/fs/inotify/max_user_watches)"
                                      : "name a file in a folder that can be read");
  if (!vyre_grow(NULL, &f->paths, &f->capacity, (uint64_t)watch + 1, sizeof *f->paths))
    return VYRE_OUT_OF_MEMORY("for -watch");
  while (f->count <= (uint32_t)watch)
    f->paths[f->count++] = NULL;
  *is_new |= !f->paths[watch];
  if (!f->paths[watch])
    f->paths[watch] = strdup(folder);
  return f->paths[watch] ? VYRE_OK : VYRE_OUT_OF_MEMORY("for -watch");
}

/* Watches the folders of all files, and of the files that links refer to. */
static vyre_status
watch_folders(folders *f, const sight_items *files, bool *is_new)
{
  char real[PATH_MAX];
  *is_new = false;
  for (uint32_t i = 0; i < files->count; i++) {
    VYRE_TRY(watch_folder(f, files->all[i].path, is_new));
    if (realpath(files->all[i].path, real))
      VYRE_TRY(watch_folder(f, real, is_new));
  }
  return VYRE_OK;
}

/* Handles a notice.  Returns whether a file may have changed. */
static bool
handle_notice(folders *f, const struct inotify_event *notice)
{
  char path[PATH_MAX];
  struct stat file;
  const char *folder = notice->wd >= 0 && (uint32_t)notice->wd < f->count ? f->paths[notice->wd] : NULL;
  if (notice->mask & (IN_IGNORED | IN_DELETE_SELF | IN_MOVE_SELF)) { /* the path may be another folder now */
    if (!(notice->mask & IN_IGNORED))
      inotify_rm_watch(f->fd, notice->wd);
    else if (folder) {
      free(f->paths[notice->wd]);
      f->paths[notice->wd] = NULL;
    }
    return true;
  }
  if (!(notice->mask & IN_CREATE) || (notice->mask & IN_ISDIR))
    return true;
  return folder && (size_t)snprintf(path, sizeof path, "%s/%s", folder, notice->len ? notice->name : "") < sizeof path &&
         lstat(path, &file) == 0 && (S_ISLNK(file.st_mode) || file.st_nlink > 1);
}

static bool
handle_notices(folders *f)
{
  _Alignas(struct inotify_event) char buffer[16384];
  bool is_change = false;
  for (ssize_t got; (got = read(f->fd, buffer, sizeof buffer)) > 0;)
    for (const char *at = buffer; at < buffer + got;) {
      const struct inotify_event *notice = (const struct inotify_event *)(const void *)at;
      is_change |= handle_notice(f, notice);
      at += sizeof *notice + notice->len;
    }
  return is_change;
}

/* ---- runs ---------------------------------------------------------------------------------------------------------------- */

typedef struct watcher {
  folders folders;
  int signals;     /* SIGINT and SIGCHLD, which are blocked */
  sigset_t before; /* the signal mask at the start */
  sight last;      /* the snapshot of the last run, inputs sorted by path */
  uint32_t runs;
  uint32_t looks; /* snapshots since the last complete one, see LOOKS_MOST */
  bool *left_out; /* whether an input is skipped, by input of this run */
  char *said;     /* the last error, which is not repeated */
} watcher;

/* Chooses the inputs that have changed.  A missing input is skipped, because an editor may be replacing it. */
static vyre_status
choose_inputs(watcher *w, const sight *now, uint32_t *out_due)
{
  *out_due = 0;
  free(w->left_out);
  w->left_out = calloc(now->inputs.count, sizeof *w->left_out);
  if (!w->left_out)
    return VYRE_OUT_OF_MEMORY("for -watch");
  for (uint32_t i = 0; i < now->inputs.count; i++) {
    const sight_item *at = &now->inputs.all[i], *last = sight_find(&w->last.inputs, at->path);
    const bool is_gone = w->runs && !at->hash[0] && !at->hash[1];
    w->left_out[i] = is_gone || (last && sight_is_same(last->hash, at->hash));
    *out_due += !w->left_out[i];
  }
  return VYRE_OK;
}

/* Prints "'a.comp' and 2 more changed: ". */
static void
print_changes(const watcher *w, const sight *now)
{
  const char *first = NULL;
  uint32_t count = 0;
  for (uint32_t i = 0; i < now->files.count; i++) {
    const sight_item *at = &now->files.all[i], *last = sight_find(&w->last.files, at->path);
    if (last ? sight_is_same(last->hash, at->hash) : !at->hash[0] && !at->hash[1])
      continue;
    first = first ? first : at->path;
    count++;
  }
  /* A file that appeared while a snapshot was taken is in the snapshot before. */
  for (uint32_t i = 0; i < now->inputs.count && !count; i++)
    first = first || w->left_out[i] ? first : now->inputs.all[i].path;
  if (first)
    fprintf(stderr, "'%s'", first);
  if (count > 1)
    fprintf(stderr, " and %u more", count - 1);
  fputs(first ? " changed: " : "changed: ", stderr);
}

static void
print_run(const watcher *w, const sight *now, uint32_t due, int status, uint64_t nanoseconds)
{
  fputs("vyre-passmgr: ", stderr);
  if (w->runs)
    print_changes(w, now);
  fprintf(stderr, "%u input%s in %.3f s", due, due == 1 ? "" : "s", (double)nanoseconds / 1e9);
  if (WIFSIGNALED(status))
    fprintf(stderr, ", ended by signal %d", WTERMSIG(status));
  else if (WEXITSTATUS(status))
    fprintf(stderr, ", exit code %d", WEXITSTATUS(status));
  fputs(w->runs ? "\n" : "; waiting for changes, until ^C\n", stderr);
}

/* Waits for the end of the run, or for notices if there is no run.  Returns false on ^C. */
static bool
wait_for(const watcher *w, pid_t run, int *out_status)
{
  struct pollfd files[2] = {{.fd = w->signals, .events = POLLIN}, {.fd = run ? -1 : w->folders.fd, .events = POLLIN}};
  for (;;) {
    struct signalfd_siginfo sign;
    if (poll(files, 2, -1) < 0 && errno != EINTR)
      return false;
    while (read(w->signals, &sign, sizeof sign) == (ssize_t)sizeof sign)
      if (sign.ssi_signo == SIGINT)
        return false;
    if (run && waitpid(run, out_status, WNOHANG) == run)
      return true;
    if (!run && (files[1].revents & POLLIN))
      return true;
  }
}

typedef enum step { STEP_WAITS, STEP_LOOKS_AGAIN, STEP_IS_RUN, STEP_ENDS } step;

/* Forks a run and waits for it.  Returns STEP_IS_RUN in the forked process. */
static step
run_once(watcher *w, sight *now, uint32_t due, vyre_status *out_status)
{
  const uint64_t start = clock_now();
  const pid_t parent = getpid();
  int ended = 0;
  fflush(NULL);
  const pid_t run = fork();
  if (run == 0) {
    prctl(PR_SET_PDEATHSIG, SIGTERM);
    if (getppid() != parent)
      raise(SIGTERM); /* the parent ended before prctl */
    sigprocmask(SIG_SETMASK, &w->before, NULL);
    return STEP_IS_RUN;
  }
  if (run < 0) {
    *out_status = VYRE_ERROR(VYRE_CODE_INPUT, "cannot create a process: %s\nFix: end other processes", strerror(errno));
    return STEP_ENDS;
  }
  if (!wait_for(w, run, &ended)) {
    kill(run, SIGTERM);
    while (waitpid(run, NULL, 0) < 0 && errno == EINTR)
      continue;
    return STEP_ENDS;
  }
  print_run(w, now, due, ended, clock_now() - start);
  return STEP_WAITS;
}

/* Records the snapshot of the last run. */
static void
keep_snapshot(watcher *w, sight *now)
{
  sight_sort(&now->inputs);
  sight_free(&w->last);
  w->last = *now;
  *now = (sight){0};
  w->runs++;
}

/* The most repetitions of a snapshot before a run.  A header that changes while a snapshot is taken is old for some inputs and
 * new for others, so the snapshot is repeated.  If files change all the time, the last snapshot is used, and later changes cause
 * another run. */
#define LOOKS_MOST 16

static bool
is_complete(watcher *w, bool has_new_folders)
{
  struct pollfd notices = {.fd = w->folders.fd, .events = POLLIN};
  const bool is = !has_new_folders && (w->looks >= LOOKS_MOST || poll(&notices, 1, 0) == 0);
  w->looks = is ? 0 : w->looks + 1;
  return is;
}

/* Takes a snapshot and runs the inputs that changed, if all folders were watched before the snapshot. */
static step
run_changed(watcher *w, int argc, char **argv, tool_options *o, vyre_status *out_status)
{
  outputs places = {0};
  sight now = {0};
  step then = STEP_WAITS;
  uint32_t due = 0;
  bool has_new_folders = false;
  vyre_status status = outputs_prepare(o, &places);
  if (!status)
    status = sight_refresh(argc, argv, o, &places, &now);
  if (!status)
    status = watch_folders(&w->folders, &now.files, &has_new_folders);
  if (!status && !is_complete(w, has_new_folders))
    then = STEP_LOOKS_AGAIN;
  if (!status && then == STEP_WAITS)
    status = choose_inputs(w, &now, &due);
  if (!status && due)
    then = run_once(w, &now, due, &status);
  if (!status && due && then == STEP_WAITS)
    keep_snapshot(w, &now);
  outputs_free(&places);
  sight_free(&now);
  *out_status = status;
  return then;
}

static bool
is_standard(const char *path)
{
  return path && (strcmp(path, "-") == 0 || strncmp(path, "/dev/", 5) == 0 || strncmp(path, "/proc/self/fd/", 14) == 0);
}

/* Refuses options that -watch cannot repeat: files that can be read only once, and options with runs of their own. */
static vyre_status
check(int argc, char **argv, const tool_options *o)
{
  if (o->bisect || o->reduce || o->run_reproducer)
    return VYRE_ERROR(VYRE_CODE_USAGE, "-watch cannot be combined with -%s\nFix: give one of them",
                      o->run_reproducer ? "run-reproducer"
                      : o->reduce       ? "reduce"
                                        : "bisect");
  const char *read = is_standard(o->passes_file) ? o->passes_file : NULL;
  if (o->passes && o->passes[0] == '@' && is_standard(o->passes + 1))
    read = o->passes + 1;
  for (int i = 1; i < argc; i++)
    if (argv[i][0] == '@' && is_standard(argv[i] + 1))
      read = argv[i] + 1;
  for (uint32_t i = 0; i < o->inputs.count; i++)
    if (is_standard(o->inputs.names[i]))
      read = o->inputs.names[i];
  if (read)
    return VYRE_ERROR(VYRE_CODE_USAGE, "-watch needs files, but '%s' is not a file\nFix: name a file", read);
  if (!o->outdir && (!o->output || is_standard(o->output)))
    return VYRE_ERROR(VYRE_CODE_USAGE, "-watch needs an output file\nFix: add -o FILE or -outdir DIR");
  return VYRE_OK;
}

static vyre_status
begin(watcher *w)
{
  sigset_t ours;
  sigemptyset(&ours);
  sigaddset(&ours, SIGINT);
  sigaddset(&ours, SIGCHLD);
  signal(SIGCHLD, SIG_DFL);
  sigprocmask(SIG_BLOCK, &ours, &w->before);
  w->signals = signalfd(-1, &ours, SFD_CLOEXEC | SFD_NONBLOCK);
  w->folders.fd = inotify_init1(IN_CLOEXEC | IN_NONBLOCK);
  if (w->signals < 0 || w->folders.fd < 0)
    return VYRE_ERROR(VYRE_CODE_INPUT, "-watch: cannot watch files: %s\nFix: end other programs that watch files", strerror(errno));
  return VYRE_OK;
}

static void
end(watcher *w)
{
  close(w->signals);
  close(w->folders.fd);
  for (uint32_t i = 0; i < w->folders.count; i++)
    free(w->folders.paths[i]);
  free(w->folders.paths);
  free(w->said);
  sight_free(&w->last);
}

/* Prints the error, unless it is the same as the last one. */
static void
print_new_error(vyre_status status, char **said)
{
  char *text = status ? strdup(vyre_status_text(status)) : NULL;
  if (text && *said && strcmp(text, *said) == 0)
    vyre_status_free(status);
  else
    tool_complain(status);
  free(*said);
  *said = text;
}

/* Waits until files may have changed and the command line, with its lists and patterns, can be parsed again. */
static step
wait_for_change(watcher *w, bool is_changed, int argc, char **argv, tool_options *o)
{
  for (;; is_changed = false) {
    if (!is_changed && !wait_for(w, 0, NULL))
      return STEP_ENDS;
    bool is_new = handle_notices(&w->folders) || is_changed;
    vyre_status status = VYRE_OK, watched = VYRE_OK;
    while (is_new && !watched) {
      vyre_status_free(status);
      options_free(o);
      status = options_parse(argc, argv, NULL, o);
      if (!status)
        return STEP_WAITS;
      watched = watch_folders(&w->folders, &w->last.files, &is_new); /* folders may disappear and appear again */
    }
    if (status || watched) /* does not end the watch: a file of arguments may be incomplete at the moment */
      print_new_error(vyre_status_join(status, watched), &w->said);
  }
}

bool
tool_watch(int argc, char **argv, tool *t, int *out_code)
{
  static watcher w; /* static, because the run uses left_out */
  if (t->options.inputs.count == 0)
    return true; /* the run reports that there is no input */
  vyre_status status = check(argc, argv, &t->options);
  step next = STEP_ENDS;
  if (!status)
    status = begin(&w);
  if (!status)
    next = run_changed(&w, argc, argv, &t->options, &status);
  while (next == STEP_LOOKS_AGAIN || (next == STEP_WAITS && w.runs)) {
    print_new_error(status, &w.said);
    next = wait_for_change(&w, next == STEP_LOOKS_AGAIN, argc, argv, &t->options);
    if (next == STEP_WAITS)
      next = run_changed(&w, argc, argv, &t->options, &status);
  }
  end(&w);
  t->left_out = w.left_out;
  *out_code = next == STEP_IS_RUN ? VYRE_CODE_OK : tool_complain(status);
  return next == STEP_IS_RUN;
}
