/* The boundary between vyre and glslang and SPIRV-Cross: a separate program, vyre-glsl, at the other end of a socket.
 *
 * glslang bounds neither the memory nor the time that a shader takes, and some shaders crash it.  So each shader is compiled in a
 * process with limits.  vyre-glsl is started for the first shader, makes glslang's tables, which take far longer than a shader, and
 * forks for each shader.  A crash affects neither vyre nor the next shader.  SPIRV-Cross, which writes modules as text, runs there
 * for the same reasons.
 *
 * Packets (SOCK_SEQPACKET: each comes whole or not at all).  To it: a glsl_request, then its strings and the text in pieces.  Back:
 * packets that begin with their kind, the last one GLSL_END.  Both programs are built together, so there is no versioning.
 *
 * `vyre-glsl -listen SOCKET` has the tables of common versions and serves each process that connects, until its standard input
 * ends.  A process whose environment has VYRE_GLSL_SERVER=SOCKET connects to it.  The tests do, because most of their processes
 * compile one shader.
 *
 * SPDX-License-Identifier: Apache-2.0 */
#ifndef VYRE_FRONTENDS_GLSL_GLSLANG_H
#define VYRE_FRONTENDS_GLSL_GLSLANG_H

#include "vyre/cross.h"
#include "vyre/glsl.h"

#ifdef __cplusplus
extern "C" {
#endif

enum { GLSL_PIECE = 65536 }; /* bytes of a packet at most */

typedef enum glsl_task {
  GLSL_COMPILE,     /* compiles a text to a module */
  GLSL_PREPROCESS,  /* preprocesses a text */
  GLSL_LIMITS,      /* writes the limits, as the setting `limits` accepts them */
  GLSL_VERSIONS,    /* writes the versions of glslang */
  GLSL_DISASSEMBLE, /* writes a module, which is the text of the request, as assembly */
  GLSL_LIST,        /* writes a module in the form in which glslang lists modules */
  GLSL_WRITE,       /* writes a module as a text, with SPIRV-Cross */
  GLSL_TOOLS        /* runs SPIRV-Tools over a module; the defines of the request are the flags of SPIRV-Tools */
} glsl_task;

/* Precedes strings, each with its zero byte: path, working folder or "", include root or "", entry point or "", the include
 * folders, the defines, the settings.  The text follows them.  To write a module, the text is an array of vyre_cross_binding and
 * the module's words. */
typedef struct glsl_request {
  uint64_t bytes, text_bytes; /* bytes of strings and text together; bytes of the text */
  uint32_t include_dir_count, define_count, setting_count;
  uint32_t task;                                      /* glsl_task */
  uint32_t debug, target_env, language;               /* debug: 1, 2 with debug_info, 3 with debug_source */
  uint32_t stage, stage_of_name;                      /* VYRE_STAGE_AUTO if the options or the file's name do not give it */
  uint32_t platform, version, binding_count;          /* GLSL_WRITE; `language` is a vyre_cross_language */
  uint32_t most_seconds, most_memory, most_expansion; /* MiB */
} glsl_request;

typedef enum glsl_kind {
  GLSL_LOG,    /* a line of glslang's messages, or the reason why SPIRV-Cross refuses a module */
  GLSL_TEXT,   /* a piece of glslang's log in its own form */
  GLSL_OUTPUT, /* a piece of the output */
  GLSL_END     /* a glsl_end */
} glsl_kind;

/* The exit codes of the process of a shader. */
typedef enum glsl_result {
  GLSL_OK,
  GLSL_REJECTED,
  GLSL_NO_MEMORY,
  GLSL_TOO_LARGE,  /* the preprocessed text exceeds the limit */
  GLSL_MISUSED,    /* a setting is wrong; the only line of the log is the message */
  GLSL_WRONG_FLAG, /* a flag of GLSL_TOOLS is wrong */
  GLSL_NO_LIBRARY, /* SPIRV-Cross is not installed */
  GLSL_FAILED,     /* an exception, or the process could not be created */
} glsl_result;

typedef struct glsl_end {
  uint32_t kind;
  uint32_t result; /* glsl_result */
  uint32_t signal; /* the signal that ended the shader's process, or 0 */
} glsl_end;

/* Sends a request to an idle or new vyre-glsl and reads the answer.  Calls append_log with each line, which lives as long as the
 * call.  `text` receives the log in glslang's form, and may be NULL.  Any thread may call it. */
VYRE_MUST_USE vyre_status glsl_work(const glsl_request *request, const vyre_bytes *rest,
                                    void (*append_log)(void *user, const char *line), void *user, vyre_bytes *text,
                                    vyre_bytes *output, glsl_end *out);

#ifdef __cplusplus
}
#endif
#endif
