/* Loaded before a rank, it makes files whose path has the word GYRASE_NFS behave as on a network
   file system whose client keeps pages: what a process reads or writes of a page it goes on seeing,
   whatever others write there, and what it writes goes back to the file in whole pages, when the
   file is synced or closed. To open a file is to forget its pages that are not to go back.
   GYRASE_NFS_PAGE=N has pages of N bytes; 4096 if it is not set. */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/types.h>
#include <unistd.h>

struct page {
  dev_t device;
  ino_t inode;
  off_t number;
  int dirty;
  struct page *next;
  char bytes[];
};

#define CHAINS 4096
static struct page *chains[CHAINS];
/* Where each file ends, as this process sees it. */
static struct end { dev_t device; ino_t inode; off_t bytes; } ends[64];
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;

#define REAL(name) static __typeof__(&name) real; if (!real) real = (__typeof__(&name))dlsym(RTLD_NEXT, #name)

static ssize_t server_read(int file, void *to, size_t bytes, off_t at) {
  REAL(pread64);
  size_t done = 0;
  while (done < bytes) {
    ssize_t some = real(file, (char *)to + done, bytes - done, at + done);
    if (some <= 0) break;
    done += some;
  }
  return done;
}

static void server_write(int file, const void *from, size_t bytes, off_t at) {
  REAL(pwrite64);
  size_t done = 0;
  while (done < bytes) {
    ssize_t some = real(file, (const char *)from + done, bytes - done, at + done);
    if (some <= 0) abort();
    done += some;
  }
}

static size_t page_bytes(void) {
  const char *bytes = getenv("GYRASE_NFS_PAGE");
  return bytes ? (size_t)atol(bytes) : 4096;
}

/* True for a file on the network, of which `stat` is filled. */
static int is_far(int file, struct stat *stat) {
  char link[64], path[4096];
  const char *word = getenv("GYRASE_NFS");
  if (!word) return 0;
  snprintf(link, sizeof link, "/proc/self/fd/%d", file);
  ssize_t length = readlink(link, path, sizeof path - 1);
  path[length < 0 ? 0 : length] = 0;
  return strstr(path, word) && fstat(file, stat) == 0;
}

static off_t *end_of(const struct stat *stat) {
  for (int at = 0; at < 64; at++) {
    struct end *end = &ends[at];
    if (end->inode == 0) *end = (struct end){stat->st_dev, stat->st_ino, 0};
    if (end->device == stat->st_dev && end->inode == stat->st_ino) {
      if (end->bytes < stat->st_size) end->bytes = stat->st_size;
      return &end->bytes;
    }
  }
  abort();
}

static struct page **chain_of(const struct stat *stat, off_t number) {
  return &chains[(size_t)(stat->st_ino * 31 + number) % CHAINS];
}

/* The page as this process sees it; read now where it was not there and is not written whole. */
static struct page *page_of(int file, const struct stat *stat, off_t number, int whole) {
  struct page **chain = chain_of(stat, number);
  for (struct page *page = *chain; page; page = page->next)
    if (page->number == number && page->inode == stat->st_ino && page->device == stat->st_dev) return page;
  struct page *page = calloc(1, sizeof *page + page_bytes());
  *page = (struct page){stat->st_dev, stat->st_ino, number, 0, *chain};
  if (!whole) server_read(file, page->bytes, page_bytes(), number * page_bytes());
  return *chain = page;
}

static ssize_t far_write(int file, const struct stat *stat, const char *from, size_t bytes, off_t at) {
  size_t size = page_bytes(), done = 0;
  off_t *end = end_of(stat);
  while (done < bytes) {
    off_t number = (at + done) / size;
    size_t start = (at + done) % size, some = size - start;
    if (some > bytes - done) some = bytes - done;
    struct page *page = page_of(file, stat, number, some == size);
    memcpy(page->bytes + start, from + done, some);
    page->dirty = 1;
    done += some;
  }
  if (*end < at + (off_t)bytes) *end = at + bytes;
  return bytes;
}

static ssize_t far_read(int file, const struct stat *stat, char *to, size_t bytes, off_t at) {
  size_t size = page_bytes(), done = 0;
  off_t end = *end_of(stat);
  if (at >= end) return 0;
  if ((off_t)bytes > end - at) bytes = end - at;
  while (done < bytes) {
    size_t start = (at + done) % size, some = size - start;
    if (some > bytes - done) some = bytes - done;
    memcpy(to + done, page_of(file, stat, (at + done) / size, 0)->bytes + start, some);
    done += some;
  }
  return bytes;
}

/* Sends pages back, whole but for what is behind the end. */
static void flush(int file, const struct stat *stat) {
  size_t size = page_bytes();
  off_t end = *end_of(stat);
  for (int at = 0; at < CHAINS; at++)
    for (struct page *page = chains[at]; page; page = page->next) {
      off_t start = page->number * size;
      if (!page->dirty || page->inode != stat->st_ino || page->device != stat->st_dev) continue;
      server_write(file, page->bytes, end - start < (off_t)size ? (size_t)(end - start) : size, start);
      page->dirty = 0;
    }
}

static void forget(const struct stat *stat) {
  for (int at = 0; at < CHAINS; at++)
    for (struct page **link = &chains[at]; *link;) {
      struct page *page = *link;
      if (!page->dirty && page->inode == stat->st_ino && page->device == stat->st_dev) {
        *link = page->next;
        free(page);
      } else {
        link = &page->next;
      }
    }
}

#define FAR(file, stat, done)            \
  struct stat stat;                      \
  if (is_far(file, &stat)) {             \
    pthread_mutex_lock(&lock);           \
    __typeof__(done) answer = (done);    \
    pthread_mutex_unlock(&lock);         \
    return answer;                       \
  }

ssize_t pwrite64(int file, const void *from, size_t bytes, off64_t at) {
  FAR(file, stat, far_write(file, &stat, from, bytes, at));
  REAL(pwrite64);
  return real(file, from, bytes, at);
}

ssize_t pread64(int file, void *to, size_t bytes, off64_t at) {
  FAR(file, stat, far_read(file, &stat, to, bytes, at));
  REAL(pread64);
  return real(file, to, bytes, at);
}

static void send_back(int file) {
  struct stat stat;
  if (!is_far(file, &stat)) return;
  pthread_mutex_lock(&lock);
  flush(file, &stat);
  pthread_mutex_unlock(&lock);
}

int fsync(int file) {
  REAL(fsync);
  send_back(file);
  return real(file);
}

int fdatasync(int file) {
  REAL(fdatasync);
  send_back(file);
  return real(file);
}

int close(int file) {
  REAL(close);
  int flags = fcntl(file, F_GETFL);
  if (flags >= 0 && (flags & O_ACCMODE) != O_RDONLY) send_back(file);
  return real(file);
}

int open64(const char *path, int flags, ...) {
  REAL(open64);
  va_list more;
  va_start(more, flags);
  mode_t mode = flags & (O_CREAT | O_TMPFILE) ? va_arg(more, mode_t) : 0;
  va_end(more);
  int file = real(path, flags, mode);
  struct stat stat;
  if (file >= 0 && is_far(file, &stat)) {
    pthread_mutex_lock(&lock);
    forget(&stat);
    pthread_mutex_unlock(&lock);
  }
  return file;
}
