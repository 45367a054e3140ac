/* Loaded before a rank, it makes files behave as on a bad machine:
   GYRASE_DELAY_MS=N        reads from the middle of a file of reads take N milliseconds longer;
   GYRASE_BROKEN_DISK=1     they fail;
   GYRASE_FULL_DISK=WORD    writes to a file whose path has the word find no space;
   GYRASE_SLOW_WRITE=WORD   the first write to such a file takes five seconds;
   GYRASE_SLOW_OPEN=WORD    to open such a file takes three seconds;
   GYRASE_NO_MEMORY=N       a worker that asks for N bytes of memory or more gets none. */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/types.h>
#include <sys/uio.h>
#include <time.h>
#include <unistd.h>

/* The path of what is open there, or an empty text. */
static const char *path_of(int file, char path[4096]) {
  char link[64];
  snprintf(link, sizeof link, "/proc/self/fd/%d", file);
  ssize_t length = readlink(link, path, 4095);
  path[length < 0 ? 0 : length] = 0;
  return path;
}

/* Waits, and says whether the read is to fail. The blocks of 4096 bytes that ranks compare before they read are many,
   and nobody waits for them. */
static int hinders_read(int file, size_t bytes) {
  char path[4096];
  size_t length = strlen(path_of(file, path));
  if (length < 3 || strcmp(path + length - 3, ".fq") != 0) return 0;
  const char *delay = getenv("GYRASE_DELAY_MS");
  long milliseconds = delay && bytes > 4096 ? atol(delay) : 0;
  struct timespec pause = {milliseconds / 1000, milliseconds % 1000 * 1000000};
  nanosleep(&pause, NULL);
  return getenv("GYRASE_BROKEN_DISK") != NULL;
}

static int hinders_write(int file) {
  char path[4096];
  static int waited;
  const char *word = getenv("GYRASE_FULL_DISK"), *slow = getenv("GYRASE_SLOW_WRITE");
  if (slow && !waited && strstr(path_of(file, path), slow)) {
    struct timespec pause = {5, 0};
    waited = 1;
    nanosleep(&pause, NULL);
  }
  return word && strstr(path_of(file, path), word);
}

#define REAL(name) static __typeof__(&name) real; if (!real) real = (__typeof__(&name))dlsym(RTLD_NEXT, #name)

ssize_t pread(int file, void *to, size_t bytes, off_t at) {
  REAL(pread);
  if (hinders_read(file, bytes)) { errno = EIO; return -1; }
  return real(file, to, bytes, at);
}

ssize_t pread64(int file, void *to, size_t bytes, off64_t at) {
  REAL(pread64);
  if (hinders_read(file, bytes)) { errno = EIO; return -1; }
  return real(file, to, bytes, at);
}

ssize_t write(int file, const void *from, size_t bytes) {
  REAL(write);
  if (hinders_write(file)) { errno = ENOSPC; return -1; }
  return real(file, from, bytes);
}

ssize_t writev(int file, const struct iovec *from, int pieces) {
  REAL(writev);
  if (hinders_write(file)) { errno = ENOSPC; return -1; }
  return real(file, from, pieces);
}

ssize_t pwrite64(int file, const void *from, size_t bytes, off64_t at) {
  REAL(pwrite64);
  if (hinders_write(file)) { errno = ENOSPC; return -1; }
  return real(file, from, bytes, at);
}

int open64(const char *path, int flags, ...) {
  REAL(open64);
  const char *word = getenv("GYRASE_SLOW_OPEN");
  struct timespec pause = {word && strstr(path, word) ? 3 : 0, 0};
  nanosleep(&pause, NULL);
  va_list more;
  va_start(more, flags);
  mode_t mode = flags & (O_CREAT | O_TMPFILE) ? va_arg(more, mode_t) : 0;
  va_end(more);
  return real(path, flags, mode);
}

void *__libc_malloc(size_t bytes);
void *__libc_calloc(size_t pieces, size_t bytes);
void *__libc_realloc(void *old, size_t bytes);

static int gets_none(size_t bytes) {
  char thread[16] = "";
  const char *most = bytes < 65536 ? NULL : getenv("GYRASE_NO_MEMORY");
  if (!most || bytes < (size_t)atol(most)) return 0;
  prctl(PR_GET_NAME, thread);
  errno = ENOMEM;
  return strncmp(thread, "worker", 6) == 0;
}

void *malloc(size_t bytes) { return gets_none(bytes) ? NULL : __libc_malloc(bytes); }
void *calloc(size_t pieces, size_t bytes) { return gets_none(pieces * bytes) ? NULL : __libc_calloc(pieces, bytes); }
void *realloc(void *old, size_t bytes) { return gets_none(bytes) ? NULL : __libc_realloc(old, bytes); }
