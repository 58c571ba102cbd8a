/* SPDX-License-Identifier: Apache-2.0 */
#ifndef VYRE_WINDOWS_DLFCN_H
#define VYRE_WINDOWS_DLFCN_H

#define RTLD_NOW   0
#define RTLD_LOCAL 0

typedef struct Dl_info {
  const char *dli_fname; /* until the next call in this thread */
} Dl_info;

/* LoadLibrary and its like.  What goes wrong is said by dlerror, and in no box on the screen. */
void *dlopen(const char *path, int flags);
void *dlsym(void *library, const char *name);
const char *dlerror(void);
int dladdr(const void *address, Dl_info *out);

#endif
