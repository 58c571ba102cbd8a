/* A pool of vyre-glsl processes.  A process is started if none is idle, and kept for the next shader.
 *
 * An idle process waits in read and ends when its socket is closed, at the latest when this process ends.  A forked process, or one
 * that has changed its user, starts its own vyre-glsl.
 *
 * SPDX-License-Identifier: Apache-2.0 */
#include "glslang.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <pthread.h>
#include <signal.h>
#include <spawn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <sys/wait.h>
#include <unistd.h>

#include "vyre/io.h"

#define PROGRAM "vyre-glsl"

extern char **environ;

typedef struct worker {
  int fd;
  pid_t pid; /* 0 for a connection to a server */
} worker;

enum { MOST_IDLE = 256 };

/* The idle processes: the only state of this folder in a process. */
static struct {
  pthread_mutex_t lock;
  worker idle[MOST_IDLE];
  uint32_t count;
  pid_t owner;
  uid_t user;
  gid_t group;
} pool = {.lock = PTHREAD_MUTEX_INITIALIZER};

/* ---- starting one --------------------------------------------------------------------------------------------------------- */

/* Finds vyre-glsl in vyre/, ../lib/vyre/ or ../../lib/vyre/, relative to the folder of libvyre.so or of the program that contains
 * this code. */
static bool
find_program(char out[PATH_MAX + 32])
{
  static const char *const places[] = {"vyre", "../lib/vyre", "../../lib/vyre"};
  char folder[PATH_MAX];
  if (!vyre_own_folder(folder, sizeof(folder)))
    return false;
  for (size_t i = 0; i < sizeof places / sizeof places[0]; i++) {
    snprintf(out, PATH_MAX + 32, "%s/%s/" PROGRAM, folder, places[i]);
    if (access(out, X_OK) == 0)
      return true;
  }
  return false;
}

static int
spawn(const char *path, int socket, pid_t *out)
{
  char *const arguments[] = {(char *)(uintptr_t)PROGRAM, NULL};
  posix_spawn_file_actions_t actions;
  posix_spawnattr_t attributes;
  sigset_t none, all;
  sigemptyset(&none);
  sigfillset(&all);
  if (posix_spawn_file_actions_init(&actions) != 0)
    return ENOMEM;
  if (posix_spawnattr_init(&attributes) != 0) {
    posix_spawn_file_actions_destroy(&actions);
    return ENOMEM;
  }
  int error = posix_spawn_file_actions_adddup2(&actions, socket, STDIN_FILENO);
  for (int fd = STDOUT_FILENO; fd <= STDERR_FILENO && !error;
       fd++) /* so that a reader of this process's output does not wait for it */
    error = posix_spawn_file_actions_addopen(&actions, fd, "/dev/null", O_WRONLY, 0);
  if (!error)
    error = posix_spawn_file_actions_addclosefrom_np(&actions, STDERR_FILENO + 1);
  posix_spawnattr_setsigmask(&attributes, &none);
  posix_spawnattr_setsigdefault(&attributes, &all);
  posix_spawnattr_setflags(&attributes, POSIX_SPAWN_SETSIGMASK | POSIX_SPAWN_SETSIGDEF);
  if (!error)
    error = posix_spawn(out, path, &actions, &attributes, arguments, environ);
  posix_spawnattr_destroy(&attributes);
  posix_spawn_file_actions_destroy(&actions);
  return error;
}

/* Returns a socket connected to the server that VYRE_GLSL_SERVER names, or -1 if the variable is unset or no server listens. */
static int
connect_to_server(void)
{
  const char *path = secure_getenv("VYRE_GLSL_SERVER");
  struct sockaddr_un address = {.sun_family = AF_UNIX};
  if (!path || strlen(path) >= sizeof address.sun_path)
    return -1;
  memcpy(address.sun_path, path, strlen(path));
  const int fd = socket(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0);
  if (fd >= 0 && connect(fd, (const struct sockaddr *)&address, sizeof address) == 0)
    return fd;
  if (fd >= 0)
    close(fd);
  return -1;
}

static vyre_status
start(worker *out)
{
  static const char fix[] = "install " PROGRAM " in vyre/ beside libvyre.so, or give SPIR-V made by "
                            "glslangValidator -V";
  char path[PATH_MAX + 32];
  int sockets[2];
  *out = (worker){connect_to_server(), 0};
  if (out->fd >= 0)
    return VYRE_OK;
  if (!find_program(path))
    return VYRE_ERROR(VYRE_CODE_INPUT, "cannot find the GLSL compiler, " PROGRAM "\nFix: %s", fix);
  if (socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, sockets) != 0)
    return VYRE_ERROR(VYRE_CODE_INPUT, "cannot start the GLSL compiler: cannot create a socket: %s\nFix: close files",
                      strerror(errno));
  const int error = spawn(path, sockets[1], &out->pid);
  close(sockets[1]);
  out->fd = sockets[0];
  if (!error)
    return VYRE_OK;
  close(sockets[0]);
  return VYRE_ERROR(VYRE_CODE_INPUT, "cannot start the GLSL compiler '%s': %s\nFix: %s", path, strerror(error), fix);
}

/* ---- idle processes ------------------------------------------------------------------------------------------------------ */

static void
acquire(void)
{
  pthread_mutex_lock(&pool.lock);
}

static void
release(void)
{
  pthread_mutex_unlock(&pool.lock);
}

/* A process that forks while another thread holds the lock would have a locked one in the child. */
__attribute__((constructor)) static void
release_in_children(void)
{
  (void)pthread_atfork(acquire, release, release);
}

static void
stop(const worker *w, bool ours)
{
  close(w->fd);
  while (ours && w->pid && waitpid(w->pid, NULL, 0) < 0 && errno == EINTR)
    ;
}

/* Drops workers of another process or user.  The lock is held. */
static void
check_owner(void)
{
  const bool ours = pool.owner == getpid();
  if (ours && pool.user == geteuid() && pool.group == getegid())
    return;
  while (pool.count)
    stop(&pool.idle[--pool.count], ours);
  pool.owner = getpid();
  pool.user = geteuid();
  pool.group = getegid();
}

static bool
pop_idle(worker *out)
{
  acquire();
  check_owner();
  const bool found = pool.count > 0;
  if (found)
    *out = pool.idle[--pool.count];
  release();
  return found;
}

static void
put_back(const worker *w)
{
  acquire();
  check_owner();
  const bool kept = pool.count < MOST_IDLE;
  if (kept)
    pool.idle[pool.count++] = *w;
  release();
  if (!kept)
    stop(w, true);
}

/* Runs when the library is unloaded or the process ends. */
__attribute__((destructor)) static void
stop_idle(void)
{
  const bool ours = pool.owner == getpid();
  while (pool.count)
    stop(&pool.idle[--pool.count], ours);
}

/* ---- requests ------------------------------------------------------------------------------------------------------------ */

static bool
send_packet(int fd, const void *data, size_t bytes)
{
  ssize_t sent;
  do
    sent = send(fd, data, bytes, MSG_NOSIGNAL);
  while (sent < 0 && errno == EINTR);
  return sent == (ssize_t)bytes;
}

static bool
send_all(int fd, const glsl_request *request, const vyre_bytes *rest)
{
  if (!send_packet(fd, request, sizeof *request))
    return false;
  for (size_t at = 0; at < rest->size; at += GLSL_PIECE) {
    const size_t left = rest->size - at;
    if (!send_packet(fd, rest->data + at, left < GLSL_PIECE ? left : GLSL_PIECE))
      return false;
  }
  return true;
}

/* The state of reading an answer. */
typedef struct answer {
  void (*append_log)(void *user, const char *line);
  void *user;
  vyre_bytes *text; /* may be NULL */
  vyre_bytes *output;
  vyre_status status;
  bool begun; /* a packet has arrived */
  glsl_end end;
} answer;

/* Reads the answer to its end.  Returns false if the process has ended.  After an error the rest is read, too, so that the next
 * answer follows. */
static bool
receive_all(int fd, char *packet, answer *out)
{
  for (;;) {
    const ssize_t got = recv(fd, packet, GLSL_PIECE, 0);
    uint32_t kind;
    if (got < 0 && errno == EINTR)
      continue;
    if (got < (ssize_t)sizeof kind)
      return false;
    out->begun = true;
    memcpy(&kind, packet, sizeof kind);
    packet[got] = '\0';
    if (kind == GLSL_LOG)
      out->append_log(out->user, packet + sizeof kind);
    else if (kind == GLSL_TEXT && out->text && !out->status)
      out->status = vyre_bytes_append(out->text, packet + sizeof kind, (size_t)got - sizeof kind);
    else if (kind == GLSL_OUTPUT && !out->status)
      out->status = vyre_bytes_append(out->output, packet + sizeof kind, (size_t)got - sizeof kind);
    else if (kind == GLSL_END && got == sizeof out->end) {
      memcpy(&out->end, packet, sizeof out->end);
      return true;
    }
  }
}

static bool
send_request(const worker *w, const glsl_request *request, const vyre_bytes *rest, char *packet, answer *out)
{
  const bool done = send_all(w->fd, request, rest) && receive_all(w->fd, packet, out);
  if (done)
    put_back(w);
  else
    stop(w, true);
  return done;
}

vyre_status
glsl_work(const glsl_request *request, const vyre_bytes *rest, void (*append_log)(void *user, const char *line), void *user,
          vyre_bytes *text, vyre_bytes *output, glsl_end *out)
{
  worker w;
  answer a = {.append_log = append_log, .user = user, .text = text, .output = output};
  char *packet = malloc(GLSL_PIECE + 1);
  if (!packet)
    return VYRE_OUT_OF_MEMORY("for the GLSL compiler");
  bool done = false;
  while (!done && !a.begun && pop_idle(&w)) /* tries the next idle process if one was killed while it was idle */
    done = send_request(&w, request, rest, packet, &a);
  if (!done && !a.begun) {
    a.status = start(&w);
    done = !a.status && send_request(&w, request, rest, packet, &a);
  }
  if (!done && !a.status)
    a.status = VYRE_ERROR(VYRE_CODE_INPUT, "the process of the GLSL compiler was killed\nFix: run the command again");
  free(packet);
  *out = a.end;
  return a.status;
}
