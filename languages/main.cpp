/* vyre-glsl: serves requests from the socket at its standard input, each in a process of its own.  It compiles GLSL, HLSL and
 * SPIR-V assembly, writes modules as GLSL, HLSL and MSL, and runs SPIRV-Tools over modules.
 *
 * The main process reads a request, makes glslang's tables for that version of GLSL by compiling a small shader, and forks.  The
 * child limits its memory and time, compiles, and writes the result to the socket.  The main process reports how the child ended.
 * With -listen it is a server for many processes (glslang.h).
 *
 * SPDX-License-Identifier: Apache-2.0 */
#include "compile.h"

#include <algorithm>
#include <cerrno>
#include <csignal>
#include <cstdlib>
#include <cstring>
#include <new>
#include <poll.h>
#include <set>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <sys/wait.h>
#include <unistd.h>

#include <glslang/Public/ShaderLang.h>

/* ---- memory -------------------------------------------------------------------------------------------------------------- */

/* The process ends when memory runs out or a string exceeds its limit, because glslang does not survive a failed allocation. */

namespace
{
size_t most_at_once = SIZE_MAX;
}

void
glsl_bound_string(size_t bytes)
{
  most_at_once = bytes ? bytes + 4096 : SIZE_MAX;
}

/* The thread sanitizer has its own allocation functions and allows no others, so its builds have no limit. */
#ifdef __has_feature
#if __has_feature(thread_sanitizer)
#define HAS_OPERATOR_NEW
#endif
#endif

#ifndef HAS_OPERATOR_NEW
void *
operator new(size_t bytes)
{
  if (bytes > most_at_once)
    _exit(GLSL_TOO_LARGE);
  void *memory = std::malloc(bytes ? bytes : 1);
  if (!memory)
    _exit(GLSL_NO_MEMORY);
  return memory;
}

/* The address sanitizer replaces this form, too, which std::stable_sort uses. */
void *
operator new(size_t bytes, const std::nothrow_t &) noexcept
{
  return operator new(bytes);
}

void
operator delete(void *memory) noexcept
{
  std::free(memory);
}

void
operator delete(void *memory, size_t) noexcept
{
  std::free(memory);
}
#endif

namespace
{

/* ---- packets ---------------------------------------------------------------------------------------------------------------- */

bool
send_packet(const void *data, size_t bytes)
{
  ssize_t sent;
  do
    sent = send(STDIN_FILENO, data, bytes, MSG_NOSIGNAL);
  while (sent < 0 && errno == EINTR);
  return sent == static_cast<ssize_t>(bytes);
}

/* Sends the data in packets.  Ends the process if a packet cannot be sent, for example because the caller has ended. */
void
send_pieces(glsl_kind kind, const char *data, size_t bytes)
{
  static char packet[GLSL_PIECE];
  const uint32_t number = kind;
  constexpr size_t room = sizeof packet - sizeof number - 1;
  std::memcpy(packet, &number, sizeof number);
  for (size_t at = 0; at < bytes; at += room) {
    const size_t piece = bytes - at < room ? bytes - at : room;
    std::memcpy(packet + sizeof number, data + at, piece);
    if (!send_packet(packet, sizeof number + piece))
      _exit(GLSL_FAILED);
    if (kind == GLSL_LOG)
      return; /* a long line is cut, not split */
  }
}

void
send_line(const char *line)
{
  send_pieces(GLSL_LOG, line, std::strlen(line));
}

void
send_text(const char *text)
{
  send_pieces(GLSL_TEXT, text, std::strlen(text));
}

void
send_output(const void *data, size_t bytes)
{
  send_pieces(GLSL_OUTPUT, static_cast<const char *>(data), bytes);
}

/* ---- a request -------------------------------------------------------------------------------------------------------------- */

struct request {
  glsl_request head;
  std::vector<char> rest;
  const char *path, *folder, *text;
  std::vector<const char *> strings;
  vyre_glsl_options options;
};

ssize_t
receive(void *data, size_t bytes)
{
  ssize_t got;
  do
    got = recv(STDIN_FILENO, data, bytes, 0);
  while (got < 0 && errno == EINTR);
  return got;
}

bool
receive_request(request *r)
{
  if (receive(&r->head, sizeof r->head) != static_cast<ssize_t>(sizeof r->head) || r->head.text_bytes > r->head.bytes)
    return false;
  r->rest.resize(r->head.bytes + 1);
  for (size_t at = 0; at < r->head.bytes;) {
    const ssize_t got = receive(r->rest.data() + at, r->head.bytes - at);
    if (got <= 0)
      return false;
    at += static_cast<size_t>(got);
  }
  const char *at = r->rest.data(), *end = at + (r->head.bytes - r->head.text_bytes);
  r->strings.clear();
  while (at < end) {
    r->strings.push_back(at);
    at += std::strlen(at) + 1;
  }
  if (at != end || r->strings.size() != 4 + size_t{r->head.include_dir_count} + r->head.define_count + r->head.setting_count)
    return false;
  r->path = r->strings[0];
  r->folder = r->strings[1];
  r->text = end;
  r->options = {};
  r->options.struct_size = sizeof r->options;
  r->options.include_root = r->strings[2][0] ? r->strings[2] : nullptr;
  r->options.entry_point = r->strings[3][0] ? r->strings[3] : nullptr;
  r->options.include_dirs = r->strings.data() + 4;
  r->options.include_dir_count = r->head.include_dir_count;
  r->options.defines = r->strings.data() + 4 + r->head.include_dir_count;
  r->options.define_count = r->head.define_count;
  r->options.settings = r->options.defines + r->head.define_count;
  r->options.setting_count = r->head.setting_count;
  r->options.debug = r->head.debug != 0;
  r->options.debug_info = r->head.debug >= 2;
  r->options.debug_source = r->head.debug >= 3;
  r->options.target_env = static_cast<vyre_glsl_env>(r->head.target_env);
  r->options.most_expansion = r->head.most_expansion;
  r->options.stage = static_cast<vyre_glsl_stage>(r->head.stage);
  r->options.language = static_cast<vyre_glsl_language>(r->head.language);
  return true;
}

/* ---- tables ----------------------------------------------------------------------------------------------------------------- */

/* Returns the version after the first #version, such as "450 core" or "310 es", or "". */
std::string
version_of(const char *text, size_t length)
{
  static const char word[] = "version";
  for (size_t at = 0; at < length; at++) {
    if (text[at] != '#')
      continue;
    size_t to = at + 1;
    while (to < length && (text[to] == ' ' || text[to] == '\t'))
      to++;
    if (length - to < sizeof word || std::memcmp(text + to, word, sizeof word - 1) != 0)
      continue;
    std::string version;
    for (to += sizeof word - 1; to < length && version.size() < 24; to++) {
      const char c = text[to];
      const bool good = c == ' ' || c == '\t' || (c >= '0' && c <= '9') || (c >= 'a' && c <= 'z');
      if (!good)
        break;
      version += c;
    }
    return version;
  }
  return "";
}

void
ignore_line(const char *)
{
}

void
ignore_output(const void *, size_t)
{
}

/* Makes glslang's tables for a language, version and target, which glslang keeps, or opens SPIRV-Cross. */
void
make_tables(const request &r)
{
  static std::set<std::string> known;
  if (r.head.task == GLSL_WRITE) {
    cross_load(); /* once for all modules; a failure is reported by the module's process */
    return;
  }
  if (r.options.language == VYRE_LANGUAGE_ASSEMBLY || (r.head.task != GLSL_COMPILE && r.head.task != GLSL_PREPROCESS))
    return;
  const bool is_hlsl = r.options.language == VYRE_LANGUAGE_HLSL;
  const std::string version = is_hlsl ? "hlsl" : version_of(r.text, r.head.text_bytes);
  static const char *const settings[] = {"no-spirv"}; /* OpenGL has tables of its own */
  uint32_t setting_count = 0;
  for (uint32_t i = 0; i < r.options.setting_count; i++)
    setting_count |= std::strcmp(r.options.settings[i], settings[0]) == 0;
  const std::string target = setting_count != 0 ? settings[0] : std::to_string(r.head.target_env);
  if (known.size() >= 32 || !known.insert(version + "/" + target).second)
    return;
  const std::string text = is_hlsl ? "[numthreads(1, 1, 1)] void main() {}\n"
                                   : (version.empty() ? "" : "#version " + version + "\n") + "void main() {}\n";
  vyre_glsl_options plain = {};
  plain.struct_size = sizeof plain;
  plain.target_env = r.options.target_env;
  plain.language = r.options.language;
  plain.stage = VYRE_STAGE_COMPUTE;
  plain.settings = settings;
  plain.setting_count = setting_count;
  glsl_compile({text.data(), text.size(), "tables", VYRE_STAGE_COMPUTE}, &plain, GLSL_COMPILE,
               {ignore_line, ignore_line, ignore_output});
}

/* ---- one shader ------------------------------------------------------------------------------------------------------------- */

void
bound(int what, rlim_t most)
{
  struct rlimit limit;
  if (getrlimit(static_cast<__rlimit_resource>(what), &limit) != 0)
    _exit(GLSL_FAILED);
  if (limit.rlim_max == RLIM_INFINITY || limit.rlim_max > most)
    limit.rlim_cur = most;
  else
    limit.rlim_cur = limit.rlim_max;
  if (setrlimit(static_cast<__rlimit_resource>(what), &limit) != 0)
    _exit(GLSL_FAILED);
}

glsl_result
write(const request &r, const glsl_sink &sink)
{
  const size_t count = r.head.binding_count, size = count * sizeof(vyre_cross_binding);
  if (size > r.head.text_bytes)
    return GLSL_FAILED;
  std::vector<vyre_cross_binding> bindings(count);
  std::vector<uint32_t> words((r.head.text_bytes - size) / sizeof(uint32_t)); /* a copy, because the text is not aligned */
  std::copy_n(r.text, size, reinterpret_cast<char *>(bindings.data()));
  std::copy_n(r.text + size, words.size() * sizeof words[0], reinterpret_cast<char *>(words.data()));
  cross_request request = {words.data(), words.size(), {}};
  request.options.struct_size = sizeof request.options;
  request.options.language = static_cast<vyre_cross_language>(r.head.language);
  request.options.platform = static_cast<vyre_cross_platform>(r.head.platform);
  request.options.version = r.head.version;
  request.options.entry_point = r.options.entry_point != nullptr ? r.options.entry_point : "";
  request.options.bindings = bindings.data();
  request.options.binding_count = r.head.binding_count;
  return cross_write(request, sink);
}

glsl_result
run(const request &r)
{
  const glsl_source source = {r.text, r.head.text_bytes, r.path, static_cast<vyre_glsl_stage>(r.head.stage_of_name)};
  const glsl_sink sink = {send_line, send_text, send_output};
  switch (r.head.task) {
  case GLSL_DISASSEMBLE:
  case GLSL_LIST:
    return assembly_write(source, r.head.task == GLSL_LIST, sink);
  case GLSL_WRITE:
    return write(r, sink);
  case GLSL_TOOLS:
    return spirv_tools_run(source, &r.options, sink);
  default:
    return r.options.language == VYRE_LANGUAGE_ASSEMBLY
               ? assembly_compile(source, &r.options, sink)
               : glsl_compile(source, &r.options, static_cast<glsl_task>(r.head.task), sink);
  }
}

[[noreturn]] void
work_alone(const request &r)
{
  bound(RLIMIT_CORE, 0);
  bound(RLIMIT_CPU, r.head.most_seconds);
#ifndef VYRE_SANITIZED /* a sanitizer reserves terabytes of address space */
  bound(RLIMIT_AS, static_cast<rlim_t>(r.head.most_memory) << 20);
#endif
  if (r.folder[0] && chdir(r.folder) != 0)
    _exit(GLSL_FAILED);
  glsl_result result = GLSL_FAILED;
  try {
    result = run(r);
  } catch (...) {
  }
  _exit(result); /* does not free memory, because freeing takes time */
}

void
work_on(const request &r)
{
  glsl_end end = {GLSL_END, GLSL_FAILED, 0};
  const pid_t child = fork();
  if (child == 0)
    work_alone(r);
  int status = 0;
  pid_t waited = child;
  while (child > 0 && (waited = waitpid(child, &status, 0)) < 0 && errno == EINTR)
    ;
  if (waited > 0 && WIFEXITED(status) && WEXITSTATUS(status) < GLSL_FAILED)
    end.result = static_cast<uint32_t>(WEXITSTATUS(status));
  if (waited > 0 && WIFSIGNALED(status))
    end.signal = static_cast<uint32_t>(WTERMSIG(status));
  if (!send_packet(&end, sizeof end))
    _exit(0);
}

/* Serves requests from the socket at the standard input until the caller closes the socket. */
[[noreturn]] void
serve()
{
  request r;
  while (receive_request(&r)) {
    make_tables(r);
    work_on(r);
  }
  _exit(0); /* immediately, because the process that closed the socket waits for this process */
}

/* ---- a server --------------------------------------------------------------------------------------------------------------- */

/* Makes glslang's tables for the versions that most shaders use. */
void
make_common_tables()
{
  static const char *const texts[] = {"#version 450\n", "#version 460\n", ""};
  for (const char *text : texts) {
    request r = {};
    r.text = text;
    r.head.text_bytes = std::strlen(text);
    r.options.language = *text ? VYRE_LANGUAGE_GLSL : VYRE_LANGUAGE_HLSL;
    make_tables(r);
  }
}

/* Returns a socket that listens at the path, or -1 on failure. */
int
listen_at(const char *path)
{
  sockaddr_un address = {};
  address.sun_family = AF_UNIX;
  if (std::strlen(path) >= sizeof address.sun_path)
    return -1;
  std::strcpy(address.sun_path, path);
  const int fd = socket(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0);
  return bind(fd, reinterpret_cast<const sockaddr *>(&address), sizeof address) == 0 && listen(fd, SOMAXCONN) == 0 ? fd : -1;
}

/* Listens at the socket `path` and serves each connection in a process of its own.  Returns when the standard input is closed. */
int
run_server(const char *path)
{
  const int listening = listen_at(path);
  if (listening < 0)
    return 1;
  make_common_tables();
  signal(SIGCHLD, SIG_IGN); /* the kernel reaps the processes of the connections */
  for (;;) {
    pollfd sources[] = {{STDIN_FILENO, POLLIN, 0}, {listening, POLLIN, 0}};
    if (poll(sources, 2, -1) < 0)
      continue;
    if (sources[0].revents != 0)
      break;
    const int connection = accept(listening, nullptr, nullptr);
    if (connection >= 0 && fork() == 0) {
      signal(SIGCHLD, SIG_DFL);
      close(listening);
      dup2(connection, STDIN_FILENO);
      close(connection);
      serve();
    }
    close(connection);
  }
  unlink(path);
  return 0;
}

} // namespace

int
main(int argc, char **argv)
{
  int type;
  socklen_t size = sizeof type;
  glslang::InitializeProcess();
  if (argc == 3 && std::strcmp(argv[1], "-listen") == 0)
    return run_server(argv[2]);
  if (getsockopt(STDIN_FILENO, SOL_SOCKET, SO_TYPE, &type, &size) != 0 || type != SOCK_SEQPACKET)
    return 2; /* only the library starts this program */
  serve();
}
