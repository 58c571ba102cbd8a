/* Implements dlfcn.h.
 *
 * SPDX-License-Identifier: Apache-2.0 */
#include <dlfcn.h>
#include <limits.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include <windows.h>

static _Thread_local char why[512], name[PATH_MAX];

void *
dlopen(const char *path, int flags)
{
  (void)flags;
  SetErrorMode(SEM_FAILCRITICALERRORS);
  HMODULE library = LoadLibraryExA(path, NULL, LOAD_WITH_ALTERED_SEARCH_PATH); /* and dependencies beside it */
  const DWORD error = library ? 0 : GetLastError();
  if (error && !FormatMessageA(FORMAT_MESSAGE_FROM_SYSTEM | FORMAT_MESSAGE_IGNORE_INSERTS, NULL, error, 0, why, sizeof why, NULL))
    snprintf(why, sizeof why, "error %lu", error);
  why[strcspn(why, "\r\n")] = '\0';
  return library;
}

const char *
dlerror(void)
{
  return why;
}

void *
dlsym(void *library, const char *symbol)
{
  return (void *)(uintptr_t)GetProcAddress(library, symbol);
}

int
dladdr(const void *address, Dl_info *out)
{
  HMODULE library;
  if (!GetModuleHandleExA(GET_MODULE_HANDLE_EX_FLAG_FROM_ADDRESS | GET_MODULE_HANDLE_EX_FLAG_UNCHANGED_REFCOUNT, address, &library))
    return 0;
  const DWORD length = GetModuleFileNameA(library, name, sizeof name);
  for (char *c = name; *c; c++)
    *c = *c == '\\' ? '/' : *c;
  *out = (Dl_info){name};
  return length > 0 && length < sizeof name;
}
