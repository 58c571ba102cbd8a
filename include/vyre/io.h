/* Reading and writing files, and reading a program in any of its formats.
 *
 * Threads: any; the program must ignore SIGPIPE and SIGXFSZ itself.
 *
 * SPDX-License-Identifier: Apache-2.0 */
#ifndef VYRE_IO_H
#define VYRE_IO_H

#include "vyre/cost.h"
#include "vyre/glsl.h"
#include "vyre/ir.h"
#include "vyre/spirv.h"

#ifdef __cplusplus
extern "C" {
#endif

/* How a file is read or written.  Each kind of input has one of these two rules:
 *
 *   shaders, pipelines, files of arguments, queues, data     any file that ends; may be a stream, which is read once
 *   cost models, rules, archives, plugins, logs, and all     VYRE_FILE_PLAIN: these are read several times, or are found
 *   entries of caches                                        on the disk, where another program may have put a FIFO */
typedef enum vyre_file_flag {
  VYRE_FILE_TEXT = 1,  /* read: leaves a byte order mark of UTF-8 out; UTF-16 is an error */
  VYRE_FILE_PLAIN = 2, /* a regular file, under each name: reads no stream; writes over no link, device or FIFO, but replaces it */
} vyre_file_flag;

/* Appends the whole file, at most 2 GiB.  The file is a regular one; without VYRE_FILE_PLAIN also a stream that is open already,
 * which "-" (standard input), /dev/stdin and /dev/fd/N name (a shell's process substitution is such a name).  A device, a FIFO or
 * a socket that has another name is an error, which is reported at once: opening never waits.  `flags`: of vyre_file_flag. */
VYRE_MUST_USE vyre_status vyre_file_read_as(const char *path, uint32_t flags, vyre_bytes *out);
/* Calls vyre_file_read_as without flags: bytes, of a file or of an open stream. */
VYRE_MUST_USE vyre_status vyre_file_read(const char *path, vyre_bytes *out);

/* Writes all of it or leaves the path as it was: into a temporary file in the same folder, then a rename (onto a symbolic link's
 * target, with the mode of the file that was there; the mode of a new file is 0666 less the umask).  Any other file (a device, a
 * FIFO, "-" and /dev/stdout: standard output) is written directly, never renamed over or unlinked.  Of a mode only permissions are
 * kept.  With VYRE_FILE_PLAIN the path names a new regular file in any case, which replaces a link, a device or a FIFO. */
VYRE_MUST_USE vyre_status vyre_file_write_as(const char *path, uint32_t flags, const void *data, size_t size);
/* Calls vyre_file_write_as without flags. */
VYRE_MUST_USE vyre_status vyre_file_write(const char *path, const void *data, size_t size);

/* The purpose for which a file is opened. */
typedef enum vyre_file_use {
  VYRE_FILE_READS,   /* reading; a file of any type but a folder, without waiting for it */
  VYRE_FILE_WRITES,  /* writing of a file that is there, of any type; waits for a FIFO's reader */
  VYRE_FILE_CREATES, /* writing of a new file, which nothing has the name of, not even a link; mode 0666 */
  VYRE_FILE_UPDATES, /* reading and writing of a regular file, which is created if there is none; mode 0666 */
  VYRE_FILE_FOLDER,  /* the folder itself, for other calls */
  VYRE_FILE_PLACE,   /* nothing but to find its type and its path; does nothing to a device */
} vyre_file_use;

/* Opens a file; vyre opens all files by this function.  A path that is not absolute is relative to the open folder `folder`, or
 * to the current folder if `folder` is VYRE_FILE_HERE.  Child processes do not inherit the descriptor.  Returns -1 and sets errno
 * on failure.  The caller closes the descriptor. */
int vyre_file_open(int folder, const char *path, vyre_file_use use);
#define VYRE_FILE_HERE (-100) /* -1 is a folder that could not be opened: an error */

/* Returns the size of the byte order mark of UTF-8 at the start of a text: 3, or 0 if there is none.  Returns -1 for UTF-16. */
static inline int
vyre_text_mark(const void *text, size_t size)
{
  const unsigned char *at = (const unsigned char *)text;
  if (size >= 2 && ((at[0] == 0xff && at[1] == 0xfe) || (at[0] == 0xfe && at[1] == 0xff)))
    return -1;
  return size >= 3 && at[0] == 0xef && at[1] == 0xbb && at[2] == 0xbf ? 3 : 0;
}
/* Unlinks the temporary files of all writes in progress, which then fail or never end: for code that ends the process, a signal
 * handler too.  Async-signal-safe. */
void vyre_file_abandon(void);
/* The folder, without a slash at its end, of the file that vyre's code came from: of libvyre.so, or of a program that has it in it.
 * False: /proc/self/maps does not say, or it does not fit. */
bool vyre_own_folder(char *out, size_t size);

typedef enum vyre_input_kind {
  VYRE_INPUT_UNKNOWN,
  VYRE_INPUT_VIR,
  VYRE_INPUT_SPIRV,
  VYRE_INPUT_GLSL,
  VYRE_INPUT_VIR0,
  VYRE_INPUT_HLSL,
  VYRE_INPUT_ASSEMBLY
} vyre_input_kind;

/* The kind, by content: the magic number of SPIR-V or VIR0; text that (after comments) starts with `program`, `struct` or
 * `func`, or as SPIR-V's assembly does; text with a #version line; and only then by name: .comp, .vert and so on, .glsl, .vir,
 * .spv, .vir0, .spvasm. HLSL has nothing that tells it: text without a #version line is that under the name .hlsl. */
vyre_input_kind vyre_input_detect(const char *path, const void *data, size_t size);
/* The same; but what has no magic number is of that language, where one is given. */
vyre_input_kind vyre_input_detect_as(const char *path, const void *data, size_t size, vyre_glsl_language language);

/* Appends an input's bytes: of SPIR-V and VIR0 as they are, of a text without its byte order mark.  INPUT: a text is UTF-16. */
VYRE_MUST_USE vyre_status vyre_input_load(const char *path, vyre_bytes *out);

/* Reads, detects, parses or imports, and seals: the programs become one more input of the module, or those of a VIR0 file,
 * which is read into an empty module only.  VIR0 is verified; so is all other input where it is the first input, and what
 * breaks a rule of the table there is kept word for word (vyre_spirv_keep).  Nothing else is verified.  An input without a program
 * is an error.  glsl NULL: default options.  Messages of the parsers are emitted; the status says how many they were. */
VYRE_MUST_USE vyre_status vyre_input_read(vyre_module *module, const char *path, const vyre_glsl_options *glsl,
                                          vyre_diagnostics diagnostics, vyre_input_kind *out_kind);
/* Does the same with bytes in memory; a byte order mark of a text is skipped.  The path is for messages and the name rule. */
VYRE_MUST_USE vyre_status vyre_input_parse(vyre_module *module, const char *path, const void *data, size_t size,
                                           const vyre_glsl_options *glsl, vyre_diagnostics diagnostics, vyre_input_kind *out_kind);

/* The cost model of a file (-cost-model=FILE); path NULL: NULL, which stands for vyre's own.  USAGE: it cannot be read, or is none.
 */
VYRE_MUST_USE vyre_status vyre_cost_model_read(const char *path, vyre_cost_model **out);

/* An input as it was read, for when it is written. */
typedef struct vyre_source {
  const char *path; /* for messages */
  const void *data; /* borrowed */
  size_t size;
  vyre_input_kind kind;
  const vyre_glsl_options *glsl; /* NULL: none */
  vyre_diagnostics diagnostics;
} vyre_source;

/* As vyre_spirv_write; but SPIR-V, or what was compiled to it, that has become a program that SPIR-V cannot express, such as one
 * that inlining made too deep, is written as it came, with a remark.  Running out of memory stays an error. */
VYRE_MUST_USE vyre_status vyre_source_write(const vyre_module *module, uint32_t input, const vyre_spirv_options *options,
                                            const vyre_source *source, vyre_bytes *out);

#ifdef __cplusplus
}
#endif
#endif
