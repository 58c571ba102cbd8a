/* Files: writes are complete or have no effect, links and modes are kept, devices and FIFOs are not replaced; the kinds of
 * inputs.
 *
 * SPDX-License-Identifier: Apache-2.0 */
#include "../status.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <sys/resource.h>
#include <signal.h>
#include <sys/stat.h>
#include <sys/sysmacros.h>
#include <sys/wait.h>
#include <unistd.h>

#include "vyre/environment.h"
#include "vyre/io.h"

static char folder[] = "/tmp/vyre-io-XXXXXX";

static int
enter(void **state)
{
  (void)state;
  return mkdtemp(folder) && chdir(folder) == 0 ? 0 : -1;
}

static int
leave(void **state)
{
  (void)state;
  char command[64];
  snprintf(command, sizeof(command), "rm -rf '%s'", folder);
  return chdir("/") == 0 && system(command) == 0 ? 0 : -1;
}

static void
check_content(const char *path, const char *content)
{
  vyre_bytes bytes = {0};
  assert_null(vyre_file_read(path, &bytes));
  assert_string_equal(bytes.data, content);
  vyre_bytes_free(&bytes);
}

/* Checks the message, and if `message` has no fix, that the error has one. */
static void
check_fails(vyre_status status, const char *message)
{
  const char *text = vyre_status_text(status);
  const char *fix = strstr(text, "\nFix: ");
  assert_non_null(fix);
  char head[1024];
  snprintf(head, sizeof head, "%.*s", strstr(message, "\nFix: ") ? (int)strlen(text) : (int)(fix - text), text);
  assert_string_equal(head, message);
  assert_error(status, VYRE_CODE_INPUT, "");
}

/* Asserts that no temporary file is left. */
static void
check_clean(void)
{
  DIR *here = opendir(".");
  assert_non_null(here);
  for (struct dirent *entry = readdir(here); entry; entry = readdir(here))
    assert_int_not_equal(strncmp(entry->d_name, ".vyre-", 6), 0);
  closedir(here);
}

TEST(a_new_file_is_written)
{
  umask(022);
  assert_null(vyre_file_write("new", "text", 4));
  check_content("new", "text");
  struct stat file;
  assert_int_equal(stat("new", &file), 0);
  assert_int_equal(file.st_mode & 0777, 0644);
  assert_null(vyre_file_write("empty", "", 0));
  check_content("empty", "");
  check_clean();
}

static mode_t
mode_of(const char *path)
{
  struct stat file;
  assert_int_equal(stat(path, &file), 0);
  return file.st_mode & 0777;
}

/* The umask is changed as by a pass in another thread: the files are written between the beginning and the end of its call. */
TEST(umasks_of_foreign_code_do_not_affect_files)
{
  vyre_foreign_call outer, inner;
  sigset_t all, signals;
  umask(022);
  vyre_foreign_begin(&outer);
  umask(077);
  assert_null(vyre_file_write("strict", "text", 4));
  vyre_foreign_begin(&inner);
  umask(0);
  assert_null(vyre_file_write("loose", "text", 4));
  sigfillset(&all);
  pthread_sigmask(SIG_BLOCK, &all, NULL);
  vyre_foreign_end(&inner);
  pthread_sigmask(SIG_SETMASK, NULL, &signals);
  assert_false(sigismember(&signals, SIGTERM));
  assert_int_equal(umask(077), 022);
  vyre_foreign_end(&outer);
  assert_int_equal(mode_of("strict"), 0644);
  assert_int_equal(mode_of("loose"), 0644);
  assert_int_equal(umask(027), 022);
  assert_null(vyre_file_write("later", "text", 4)); /* a change by the program itself is effective */
  assert_int_equal(mode_of("later"), 0640);
  umask(022);
}

TEST(an_old_file_is_replaced_with_its_mode)
{
  assert_null(vyre_file_write("old", "long text", 9));
  assert_int_equal(chmod("old", 0755), 0);
  struct stat before, after;
  assert_int_equal(stat("old", &before), 0);
  assert_null(vyre_file_write("old", "new", 3));
  check_content("old", "new");
  assert_int_equal(stat("old", &after), 0);
  assert_int_equal(after.st_mode & 0777, 0755);
  assert_int_not_equal(before.st_ino, after.st_ino); /* readers of the old file keep reading it */
  check_clean();
}

/* The new content does not keep the setuid and setgid bits of the old file, also if the folder accepts no new file. */
TEST(setuid_bits_are_not_kept)
{
  struct stat file;
  assert_int_equal(mkdir("shut", 0777), 0);
  for (int closed = 0; closed < 2; closed++) {
    const char *path = closed ? "shut/program" : "program";
    assert_null(vyre_file_write(path, "long text", 9));
    assert_int_equal(chmod(path, 06755), 0);
    if (closed)
      assert_int_equal(chmod("shut", 0555), 0); /* root can create files there anyway */
    assert_null(vyre_file_write(path, "new", 3));
    check_content(path, "new");
    assert_int_equal(stat(path, &file), 0);
    assert_int_equal(file.st_mode & 07777, 0755);
  }
  assert_int_equal(chmod("shut", 0755), 0);
}

static void
end_abandoning(int number)
{
  (void)number;
  vyre_file_abandon();
  _exit(7);
}

/* Sends a signal in the middle of a write: SIGXFSZ arrives when the second piece exceeds the limit. */
TEST(a_temporary_file_can_be_abandoned)
{
  static char big[100000];
  const pid_t child = fork();
  assert_true(child >= 0);
  if (child == 0) {
    const struct rlimit limit = {4096, 4096};
    signal(SIGXFSZ, end_abandoning);
    if (setrlimit(RLIMIT_FSIZE, &limit) != 0)
      _exit(8);
    vyre_status status = vyre_file_write("too-big", big, sizeof(big));
    _exit(status ? 9 : 10);
  }
  int ended;
  assert_int_equal(waitpid(child, &ended, 0), child);
  assert_true(WIFEXITED(ended));
  assert_int_equal(WEXITSTATUS(ended), 7);
  assert_int_not_equal(access("too-big", F_OK), 0);
  check_clean();
}

TEST(links_are_kept)
{
  struct stat link;
  assert_null(vyre_file_write("target", "old", 3));
  assert_int_equal(symlink("target", "link"), 0);
  assert_int_equal(symlink("link", "link-to-link"), 0);
  assert_null(vyre_file_write("link-to-link", "new", 3));
  check_content("target", "new");
  assert_int_equal(lstat("link", &link), 0);
  assert_true(S_ISLNK(link.st_mode));
  assert_int_equal(mkdir("sub", 0777), 0);
  assert_int_equal(symlink("../made-through-link", "sub/dangling"), 0);
  assert_null(vyre_file_write("sub/dangling", "made", 4));
  check_content("made-through-link", "made");
  assert_int_equal(symlink("round", "round"), 0);
  check_fails(vyre_file_write("round", "x", 1), "cannot write 'round': Too many levels of symbolic links");
  check_clean();
}

TEST(a_failed_write_keeps_the_old_file)
{
  assert_null(vyre_file_write("kept", "old", 3));
  struct rlimit limit = {1000, RLIM_INFINITY}, before;
  signal(SIGXFSZ, SIG_IGN);
  assert_int_equal(getrlimit(RLIMIT_FSIZE, &before), 0);
  limit.rlim_max = before.rlim_max;
  assert_int_equal(setrlimit(RLIMIT_FSIZE, &limit), 0);
  static char big[5000];
  memset(big, 'x', sizeof(big));
  vyre_status kept = vyre_file_write("kept", big, sizeof(big)), fresh = vyre_file_write("fresh", big, sizeof(big));
  assert_int_equal(setrlimit(RLIMIT_FSIZE, &before), 0);
  check_fails(kept, "cannot write 'kept': File too large");
  check_fails(fresh, "cannot write 'fresh': File too large");
  check_content("kept", "old");
  assert_int_not_equal(access("fresh", F_OK), 0);
  check_clean();
}

TEST(writing_to_invalid_places_is_an_error)
{
  assert_int_equal(mkdir("folder", 0777), 0);
  check_fails(vyre_file_write("folder", "x", 1), "cannot write 'folder': Is a directory");
  check_fails(vyre_file_write("nowhere/file", "x", 1), "cannot write 'nowhere/file': No such file or directory");
  check_fails(vyre_file_write("", "x", 1), "cannot write '': No such file or directory");
  assert_null(vyre_file_write("file", "x", 1));
  check_fails(vyre_file_write("file/below", "x", 1), "cannot write 'file/below': Not a directory");
  check_clean();
}

/* Writes as a user who may not create files in a folder, or may not write a file. */
TEST(permissions_are_respected)
{
  bool root = geteuid() == 0;
  assert_int_equal(chmod(".", 0755), 0);
  assert_null(vyre_file_write("locked", "old", 3));
  assert_int_equal(mkdir("closed", 0755), 0);
  assert_null(vyre_file_write("closed/open-file", "long text", 9));
  assert_int_equal(chmod("closed/open-file", 0666), 0);
  assert_int_equal(mkdir("open", 0755), 0);
  assert_null(vyre_file_write("open/locked", "old", 3));
  assert_int_equal(chmod("open/locked", 0444), 0);
  assert_int_equal(chmod("open", 0777), 0);
  assert_int_equal(chmod("closed", 0555), 0);
  if (root)
    assert_int_equal(seteuid(65534), 0);
  vyre_status fresh = vyre_file_write("closed/fresh", "x", 1), locked = vyre_file_write("open/locked", "x", 1);
  vyre_status in_place = vyre_file_write("closed/open-file", "new", 3); /* not replaceable, but writable */
  if (root)
    assert_int_equal(seteuid(0), 0);
  check_fails(fresh, "cannot write 'closed/fresh': Permission denied");
  check_fails(locked, "cannot write 'open/locked': Permission denied");
  assert_string_equal(vyre_status_text(in_place), "");
  check_content("open/locked", "old");
  check_content("closed/open-file", "new");
  assert_int_equal(chmod("closed", 0755), 0);
}

/* Makes a device of the test, because a fault would replace a device of the machine.  Only root can make or replace devices. */
static void
make_device(const char *name, unsigned number)
{
  char device[32];
  snprintf(device, sizeof(device), "/dev/%s", name);
  assert_true(mknod(name, S_IFCHR | 0666, makedev(1, number)) == 0 || (geteuid() != 0 && symlink(device, name) == 0));
}

TEST(a_device_is_written_directly)
{
  struct stat before, after;
  make_device("full", 7);
  make_device("null", 3);
  assert_int_equal(stat("full", &before), 0);
  check_fails(vyre_file_write("full", "x", 1), "cannot write 'full': No space left on device");
  assert_int_equal(symlink("full", "full-link"), 0);
  check_fails(vyre_file_write("full-link", "x", 1), "cannot write 'full-link': No space left on device");
  assert_int_equal(stat("full", &after), 0);
  assert_true(S_ISCHR(after.st_mode));
  assert_int_equal(before.st_ino, after.st_ino);
  assert_null(vyre_file_write("null", "x", 1));
  assert_int_equal(stat("null", &after), 0);
  assert_true(S_ISCHR(after.st_mode));
}

TEST(a_fifo_is_written_directly)
{
  assert_int_equal(mkfifo("fifo", 0666), 0);
  int reader = open("fifo", O_RDONLY | O_NONBLOCK);
  assert_true(reader >= 0);
  assert_null(vyre_file_write("fifo", "through", 7));
  char got[16] = "";
  assert_int_equal(read(reader, got, sizeof(got)), 7);
  assert_string_equal(got, "through");
  close(reader);
  struct stat fifo;
  assert_int_equal(lstat("fifo", &fifo), 0);
  assert_true(S_ISFIFO(fifo.st_mode));
}

/* A name for an open descriptor is that descriptor: its file is neither replaced nor truncated. */
TEST(a_descriptor_is_written_directly)
{
  int fd = open("through", O_RDWR | O_CREAT | O_TRUNC, 0666);
  assert_true(fd >= 0);
  assert_int_equal(write(fd, "first ", 6), 6);
  char name[32];
  snprintf(name, sizeof(name), "/proc/self/fd/%d", fd);
  assert_null(vyre_file_write(name, "second", 6));
  close(fd);
  check_content("through", "first second");
}

TEST(reading_unreadable_files_is_an_error)
{
  vyre_bytes bytes = {0};
  check_fails(vyre_file_read("is-not", &bytes), "cannot read 'is-not': No such file or directory");
  check_fails(vyre_file_read("/", &bytes), "cannot read '/': Is a directory");
  /* None of these files is opened, because the call would block or would read without an end. */
  assert_int_equal(mkfifo("no-writer", 0666), 0);
  assert_int_equal(symlink("/dev/zero", "endless"), 0);
  static const char fix[] = "\nFix: give a file, or - with the contents on standard input";
  char message[200];
  snprintf(message, sizeof(message), "cannot read 'no-writer': it is a FIFO, not a file%s", fix);
  check_fails(vyre_file_read("no-writer", &bytes), message);
  snprintf(message, sizeof(message), "cannot read 'endless': it is a device, not a file%s", fix);
  check_fails(vyre_file_read("endless", &bytes), message);
  snprintf(message, sizeof(message), "cannot read '/dev/null': it is a device, not a file%s", fix);
  check_fails(vyre_file_read("/dev/null", &bytes), message);
  vyre_bytes_free(&bytes);
}

/* Reads a FIFO that is already open, as a shell passes it. */
TEST(a_descriptor_is_read_directly)
{
  int ends[2];
  char name[32];
  assert_int_equal(pipe(ends), 0);
  assert_int_equal(write(ends[1], "piped", 5), 5);
  close(ends[1]);
  snprintf(name, sizeof(name), "/dev/fd/%d", ends[0]);
  check_content(name, "piped");
  close(ends[0]);
}

TEST(reading_appends)
{
  static char big[300000];
  memset(big, 'y', sizeof(big));
  assert_null(vyre_file_write("big", big, sizeof(big)));
  vyre_bytes bytes = {0};
  assert_null(vyre_bytes_append(&bytes, "head", 4));
  assert_null(vyre_file_read("big", &bytes));
  assert_int_equal(bytes.size, sizeof(big) + 4);
  assert_memory_equal(bytes.data, "heady", 5);
  assert_int_equal(bytes.data[bytes.size], 0);
  vyre_bytes_free(&bytes);
}

/* A plain file is read under each name.  Streams are refused, and "-" is the name of a file. */
TEST(a_plain_file_is_not_a_stream)
{
  int ends[2];
  char name[32], message[200];
  vyre_bytes bytes = {0};
  assert_int_equal(pipe(ends), 0);
  snprintf(name, sizeof(name), "/dev/fd/%d", ends[0]);
  snprintf(message, sizeof(message), "cannot read '%s': it is a FIFO, not a file\nFix: give a file", name);
  check_fails(vyre_file_read_as(name, VYRE_FILE_PLAIN, &bytes), message);
  check_fails(vyre_file_read_as("-", VYRE_FILE_PLAIN, &bytes), "cannot read '-': No such file or directory");
  assert_null(vyre_file_write_as("-", VYRE_FILE_PLAIN, "dash", 4));
  assert_null(vyre_file_read_as("-", VYRE_FILE_PLAIN, &bytes));
  assert_string_equal(bytes.data, "dash");
  vyre_bytes_free(&bytes);
  close(ends[0]);
  close(ends[1]);
}

TEST(a_plain_file_replaces_links_and_fifos)
{
  struct stat file;
  umask(022);
  assert_null(vyre_file_write("victim", "precious", 8));
  assert_int_equal(symlink("victim", "plain-link"), 0);
  assert_int_equal(mkfifo("plain-fifo", 0666), 0);
  assert_int_equal(mkdir("plain-folder", 0777), 0);
  static const char *const names[] = {"plain-link", "plain-fifo"};
  for (size_t i = 0; i < 2; i++) {
    assert_null(vyre_file_write_as(names[i], VYRE_FILE_PLAIN, "new", 3));
    assert_int_equal(lstat(names[i], &file), 0);
    assert_true(S_ISREG(file.st_mode));
    assert_int_equal(file.st_mode & 0777, 0644);
    check_content(names[i], "new");
  }
  check_content("victim", "precious");
  check_fails(vyre_file_write_as("plain-folder", VYRE_FILE_PLAIN, "x", 1), "cannot write 'plain-folder': Is a directory");
  check_clean();
}

TEST(a_text_has_no_byte_order_mark)
{
  static const struct {
    const char *bytes;
    size_t size;
    const char *text; /* NULL for UTF-16 */
  } cases[] = {{"\xef\xbb\xbfone", 6, "one"},
               {"\xef\xbb\xbf", 3, ""},
               {"\xef\xbb", 2, "\xef\xbb"},
               {"", 0, ""},
               {"one\xef\xbb\xbf", 6, "one\xef\xbb\xbf"},
               {"\xff\xfeo\0", 4, NULL},
               {"\xfe\xff\0o", 4, NULL},
               {"\xff", 1, "\xff"}};
  for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
    vyre_bytes bytes = {0};
    assert_null(vyre_bytes_append(&bytes, "head", 4));
    assert_null(vyre_file_write("marked", cases[i].bytes, cases[i].size));
    vyre_status status = vyre_file_read_as("marked", VYRE_FILE_TEXT, &bytes);
    if (!cases[i].text)
      check_fails(status, "cannot read 'marked': the text is UTF-16\nFix: save it as UTF-8");
    else
      assert_null(status);
    assert_int_equal(bytes.size, 4 + (cases[i].text ? strlen(cases[i].text) : 0));
    if (cases[i].text)
      assert_string_equal(bytes.data + 4, cases[i].text);
    bytes.size = 0;
    assert_null(vyre_file_read("marked", &bytes)); /* a read of bytes keeps the mark */
    assert_int_equal(bytes.size, cases[i].size);
    vyre_bytes_free(&bytes);
  }
}

TEST(opening_does_not_block_or_follow_links)
{
  assert_int_equal(mkfifo("open-fifo", 0666), 0);
  assert_int_equal(symlink("open-new", "open-link"), 0);
  const int fifo = vyre_file_open(VYRE_FILE_HERE, "open-fifo", VYRE_FILE_READS);
  assert_true(fifo >= 0);
  assert_int_equal(fcntl(fifo, F_GETFL) & O_NONBLOCK, 0);
  assert_true(fcntl(fifo, F_GETFD) & FD_CLOEXEC);
  close(fifo);
  assert_int_equal(vyre_file_open(VYRE_FILE_HERE, "open-fifo", VYRE_FILE_UPDATES), -1);
  assert_int_equal(errno, ESPIPE);
  assert_int_equal(vyre_file_open(VYRE_FILE_HERE, "open-link", VYRE_FILE_CREATES), -1);
  assert_int_equal(errno, EEXIST);
  assert_int_equal(access("open-new", F_OK), -1);
  assert_int_equal(vyre_file_open(VYRE_FILE_HERE, ".", VYRE_FILE_READS), -1);
  assert_int_equal(errno, EISDIR);
  assert_int_equal(vyre_file_open(-1, "open-fifo", VYRE_FILE_READS), -1);
  assert_int_equal(errno, EBADF);
  const int here = vyre_file_open(VYRE_FILE_HERE, ".", VYRE_FILE_FOLDER),
            made = vyre_file_open(here, "open-new", VYRE_FILE_UPDATES);
  assert_true(here >= 0 && made >= 0);
  assert_int_equal(access("open-new", F_OK), 0);
  close(here);
  close(made);
}

TEST(input_kinds_follow_from_contents)
{
  static const struct {
    const char *path, *text;
    vyre_input_kind kind;
    size_t size; /* 0 for the length of the text */
  } cases[] = {
      {"a.comp", "program @a workgroup(1, 1, 1) {}", VYRE_INPUT_VIR, 0},
      {"a", "; program of no kind\n\n \t; more\nstruct @s { x : f32 }", VYRE_INPUT_VIR, 0},
      {"a", "func @f() {}", VYRE_INPUT_VIR, 0},
      {"a", "\xef\xbb\xbf#version 450\n", VYRE_INPUT_GLSL, 0},
      {"a", "program@a {}", VYRE_INPUT_VIR, 0},
      {"a.vir", "#version 450\nvoid main() {}", VYRE_INPUT_GLSL, 0},
      {"a", "// words\n  # version 450\nvoid main() {}", VYRE_INPUT_GLSL, 0},
      {"a", "struct S { int x; };\n#version 450\n", VYRE_INPUT_GLSL, 0},
      {"a.comp", "void main() {}", VYRE_INPUT_GLSL, 0},
      {"a.comp", "", VYRE_INPUT_GLSL, 0},
      {"a.vert", "void main() {}", VYRE_INPUT_GLSL, 0},
      {"a.vertex", "void main() {}", VYRE_INPUT_UNKNOWN, 0},
      {"a.vir", "", VYRE_INPUT_VIR, 0},
      {"a.vir", "programme", VYRE_INPUT_VIR, 0},
      {"a", "programme", VYRE_INPUT_UNKNOWN, 0},
      {"a", "#verboten 450\n", VYRE_INPUT_UNKNOWN, 0},
      {"a.spv", "short", VYRE_INPUT_SPIRV, 0},
      {"a.vir", "\x03\x02\x23\x07\0\0\1\0\0\0\0\0\1\0\0\0\0\0\0", VYRE_INPUT_SPIRV, 20},
      {"a", "\x07\x23\x02\x03\0\1\0\0\0\0\0\0\0\0\0\1\0\0\0", VYRE_INPUT_SPIRV, 20},
      {"a.vir", "VIR0", VYRE_INPUT_VIR0, 0},
      {"a.hlsl", "struct S { int x; };", VYRE_INPUT_HLSL, 0},
      {"a", "; SPIR-V\n", VYRE_INPUT_ASSEMBLY, 0},
      {"a.comp", "; mine\n  OpCapability Shader\n", VYRE_INPUT_ASSEMBLY, 0},
      {"a.spvasm", "!1\n", VYRE_INPUT_ASSEMBLY, 0},
      {"a.hlsl", "", VYRE_INPUT_HLSL, 0},
      {"a.hlsl", "#version 450\n", VYRE_INPUT_GLSL, 0},
      {"a.hlsl", "VIR0", VYRE_INPUT_VIR0, 0},
      {"a.vir0", "", VYRE_INPUT_VIR0, 0},
      {"a.vir0", "program @a {}", VYRE_INPUT_VIR, 0},
      {"a", "VIR", VYRE_INPUT_UNKNOWN, 0},
      {"a", "", VYRE_INPUT_UNKNOWN, 0},
      {"a", "program", VYRE_INPUT_UNKNOWN, 0},
      {"vir", "", VYRE_INPUT_UNKNOWN, 0},
      {"acomp", "", VYRE_INPUT_UNKNOWN, 0},
  };
  for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
    size_t size = cases[i].size ? cases[i].size : strlen(cases[i].text);
    if (vyre_input_detect(cases[i].path, cases[i].text, size) != cases[i].kind)
      fail_msg("case %zu: %s", i, cases[i].text);
  }
}

TEST_MAIN(enter, leave)
