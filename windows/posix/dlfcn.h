/* SPDX-License-Identifier: Apache-2.0 */
#ifndef VYRE_WINDOWS_DLFCN_H
#define VYRE_WINDOWS_DLFCN_H

#define RTLD_NOW   0
#define RTLD_LOCAL 0

typedef struct Dl_info {
  const char *dli_fname; /* valid until the next call of dladdr in this thread */
} Dl_info;

/* Call LoadLibrary and GetProcAddress.  dlerror returns the error.  No dialog is shown. */
void *dlopen(const char *path, int flags);
void *dlsym(void *library, const char *name);
const char *dlerror(void);
int dladdr(const void *address, Dl_info *out);

#endif
