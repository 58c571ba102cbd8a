/* Reading and writing files, and reading a program in any of its formats.
 *
 * Threads: any. The program itself must ignore SIGPIPE and SIGXFSZ.
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

/* How a file is read or written. Each kind of input has one of these two rules:
 *
 *     shaders, pipelines, files of arguments, queues, data     Any finite file; a stream too, which is read once.
 *     cost models, rules, archives, plugins, logs, and all     VYRE_FILE_PLAIN. They are read several times, or another
 *     entries of caches                                        program may have put a FIFO in their place on the disk. */
typedef enum vyre_file_flag {
  VYRE_FILE_TEXT = 1,  /* reading: skips a UTF-8 byte order mark; UTF-16 is an error */
  VYRE_FILE_PLAIN = 2, /* a regular file: reading rejects streams; writing replaces a link, device or FIFO */
} vyre_file_flag;

/* Appends the whole file, at most 2 GiB. The file is a regular one. Without VYRE_FILE_PLAIN it may also be a stream that is already
 * open: "-" (standard input), /dev/stdin, or /dev/fd/N, which a shell's process substitution uses. Any other device, FIFO or socket
 * is an error at once, because opening never waits. `flags` are vyre_file_flag. */
VYRE_MUST_USE vyre_status vyre_file_read_as(const char *path, uint32_t flags, vyre_bytes *out);
/* Calls vyre_file_read_as without flags. */
VYRE_MUST_USE vyre_status vyre_file_read(const char *path, vyre_bytes *out);

/* Writes the whole file, or leaves the path as it was. It writes a temporary file in the same folder and renames it, onto the
 * target if the path is a symbolic link. The mode is that of the replaced file, only permissions, or 0666 less the umask. Any other
 * file (a device, a FIFO, "-" and /dev/stdout: standard output) is written directly, and is never renamed or unlinked. With
 * VYRE_FILE_PLAIN the path always becomes a new regular file, which replaces a link, a device or a FIFO. */
VYRE_MUST_USE vyre_status vyre_file_write_as(const char *path, uint32_t flags, const void *data, size_t size);
/* Calls vyre_file_write_as without flags. */
VYRE_MUST_USE vyre_status vyre_file_write(const char *path, const void *data, size_t size);

/* The purpose for which a file is opened. */
typedef enum vyre_file_use {
  VYRE_FILE_READS,   /* reading any file but a folder, without waiting for it */
  VYRE_FILE_WRITES,  /* writing an existing file of any type; waits for a FIFO's reader */
  VYRE_FILE_CREATES, /* writing a new file; fails if the name exists, also as a link; mode 0666 */
  VYRE_FILE_UPDATES, /* reading and writing a regular file, created if missing; mode 0666 */
  VYRE_FILE_FOLDER,  /* the folder itself, for other calls */
  VYRE_FILE_PLACE,   /* only finding its type and path; does nothing to a device */
} vyre_file_use;

/* Opens a file; vyre opens all files by this function.  A path that is not absolute is relative to the open folder `folder`, or
 * to the current folder if `folder` is VYRE_FILE_HERE.  Child processes do not inherit the descriptor.  Returns -1 and sets errno
 * on failure.  The caller closes the descriptor. */
int vyre_file_open(int folder, const char *path, vyre_file_use use);
#define VYRE_FILE_HERE (-100) /* differs from -1, the descriptor of a folder that could not be opened */

/* Returns the size of the UTF-8 byte order mark at the start of a text: 3, or 0 if there is none. Returns -1 for UTF-16. */
static inline int
vyre_text_mark(const void *text, size_t size)
{
  const unsigned char *at = (const unsigned char *)text;
  if (size >= 2 && ((at[0] == 0xff && at[1] == 0xfe) || (at[0] == 0xfe && at[1] == 0xff)))
    return -1;
  return size >= 3 && at[0] == 0xef && at[1] == 0xbb && at[2] == 0xbf ? 3 : 0;
}
/* Unlinks the temporary files of all writes in progress, which then fail or never end. For code that ends the process.
 * Async-signal-safe. */
void vyre_file_abandon(void);
/* Stores the folder of the file that contains vyre's code, without a slash at its end: libvyre.so, or a program that is linked with
 * it. Returns false if /proc/self/maps does not have it, or if it does not fit. */
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

/* Returns the kind of an input. Content decides first: the magic number of SPIR-V or VIR0; text that, after comments, begins with
 * `program`, `struct` or `func`, or like SPIR-V assembly; text with a #version line. Then the name decides: .comp, .vert and so on,
 * .glsl, .vir, .spv, .vir0, .spvasm. Text without a #version line is HLSL only if its name ends in .hlsl. */
vyre_input_kind vyre_input_detect(const char *path, const void *data, size_t size);
/* Returns the same, except that text is of the given language, if one is given. */
vyre_input_kind vyre_input_detect_as(const char *path, const void *data, size_t size, vyre_glsl_language language);

/* Appends the bytes of an input: SPIR-V and VIR0 unchanged, text without its byte order mark. UTF-16 text is an INPUT error. */
VYRE_MUST_USE vyre_status vyre_input_load(const char *path, vyre_bytes *out);

/* Reads a file, detects its kind, parses or imports it, and seals the module. The programs become another input of the module; a
 * VIR0 file can only be read into an empty module. VIR0 is verified. Other input is verified if it is the first input, and SPIR-V
 * that breaks a rule of the table is kept verbatim (vyre_spirv_keep). An input without a program is an error. glsl may be NULL for
 * default options. Emits the messages of the parsers; the status has their number. */
VYRE_MUST_USE vyre_status vyre_input_read(vyre_module *module, const char *path, const vyre_glsl_options *glsl,
                                          vyre_diagnostics diagnostics, vyre_input_kind *out_kind);
/* Reads an input like vyre_input_read, but from bytes in memory. Skips the byte order mark of a text. The path appears in messages,
 * and its name helps to detect the kind. */
VYRE_MUST_USE vyre_status vyre_input_parse(vyre_module *module, const char *path, const void *data, size_t size,
                                           const vyre_glsl_options *glsl, vyre_diagnostics diagnostics, vyre_input_kind *out_kind);

/* Reads the cost model of a file (-cost-model=FILE). If path is NULL, stores NULL, which means vyre's own model. Returns a USAGE
 * error if the file cannot be read or is invalid. */
VYRE_MUST_USE vyre_status vyre_cost_model_read(const char *path, vyre_cost_model **out);

/* An input as it was read, for writing it. */
typedef struct vyre_source {
  const char *path; /* for messages */
  const void *data; /* borrowed */
  size_t size;
  vyre_input_kind kind;
  const vyre_glsl_options *glsl; /* or NULL */
  const vyre_bytes *words;       /* the SPIR-V that the text was compiled to, or NULL, which compiles the text again */
  vyre_diagnostics diagnostics;
} vyre_source;

struct vyre_pipeline_options; /* vyre/passmgr.h */
/* Verifies a module that was read from a source (vyre_module_check). If it is invalid, reads .vir text again with lines, so that the
 * message names the line. options may be NULL. */
VYRE_MUST_USE vyre_status vyre_source_check(const vyre_source *source, const vyre_module *module,
                                            const struct vyre_pipeline_options *options);
/* Writes SPIR-V like vyre_spirv_write. If SPIR-V cannot express a program any more, for example because inlining nested it too
 * deeply, an input that was SPIR-V or was compiled to it is written unchanged, with a remark. Out of memory remains an error. */
VYRE_MUST_USE vyre_status vyre_source_write(const vyre_module *module, uint32_t input, const vyre_spirv_options *options,
                                            const vyre_source *source, vyre_bytes *out);
/* Appends the bytes of SPIR-V input, or the SPIR-V that a shader's text is compiled to. */
VYRE_MUST_USE vyre_status vyre_source_copy(const vyre_source *source, vyre_bytes *out);

#ifdef __cplusplus
}
#endif
#endif
