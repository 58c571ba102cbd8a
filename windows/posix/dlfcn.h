/* SPDX-License-Identifier: Apache-2.0 */
#ifndef VYRE_WINDOWS_DLFCN_H
#define VYRE_WINDOWS_DLFCN_H

#define RTLD_NOW   0
#define RTLD_LOCAL 0

typedef struct Dl_info {
  const char *dli_fname; /* until the next call in this thread */
} Dl_info;

/* LoadLibrary and GetProcAddress.  Errors are reported by dlerror, without a dialog. */
void *dlopen(const char *path, int flags);
void *dlsym(void *library, const char *name);
const char *dlerror(void);
int dladdr(const void *address, Dl_info *out);

#endif
