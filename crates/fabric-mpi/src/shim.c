/* The few functions of MPI that Gyrase uses, in plain C types, so that one binary serves every MPI.
 *
 * `gyrase mpi-setup` compiles this file with the site's mpicc into a shared library, which is loaded at run time.
 * Every function returns MPI's error code, 0 for success, unless it says otherwise. One thread of each process calls
 * at a time. Operations that are under way are opaque pointers; their buffers stay where they are until
 * gyrase_mpi_test says that they ended. */

#define _GNU_SOURCE
#include <mpi.h>
#include <poll.h>
#include <pthread.h>
#include <signal.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* Changes with every change of the functions below: a library of another version is refused. */
#define SHIM_VERSION 5

#if defined(OPEN_MPI)
#define FAMILY "openmpi"
#elif defined(MPICH_VERSION) || defined(MPICH_NAME)
#define FAMILY "mpich"
#else
#define FAMILY "other"
#endif

/* Found in the bytes of the library. */
const char gyrase_mpi_family[] = "gyrase-mpi-family:" FAMILY ";";

/* Messages and pings are channels of gyrase_mpi_send. */
enum { MESSAGES, PINGS, COUNTS, BYTES, HEARTBEAT, OTHERS, CHANNELS };
static MPI_Comm channels[CHANNELS];

struct window {
    MPI_Win win;
    uint64_t *numbers;
};

int gyrase_mpi_version(void) { return SHIM_VERSION; }

/* A thread got no memory, of which nobody but its allocator is told: it aborts. It waits here, so that the thread
 * that calls MPI, if it is another, tells the other ranks, cleans up and ends this process. */
static volatile sig_atomic_t aborted;
static pthread_t caller;
/* The exit codes of this process where it gets no memory, and where MPI fails. */
static int code_of_memory, code_of_mpi;
static char last_words[256];

static void on_abort(int signal) {
    (void)signal;
    if (!aborted && write(STDERR_FILENO, last_words, strlen(last_words)) < 0) _exit(code_of_memory);
    aborted = 1;
    if (!pthread_equal(pthread_self(), caller)) poll(NULL, 0, 10000);
    _exit(code_of_memory);
}

static void listen_to_aborts(int rank) {
    struct sigaction action = {.sa_handler = on_abort};
    caller = pthread_self();
    snprintf(last_words, sizeof last_words,
             "gyrase: error: rank %d: the system gave no more memory: start fewer ranks on a machine, or give each less "
             "(--memory)\n",
             rank);
    sigaction(SIGABRT, &action, NULL);
}

/* Whether a thread of this process was aborted. */
int gyrase_mpi_aborted(void) { return aborted; }

/* What the library calls itself; may be called before gyrase_mpi_start. */
int gyrase_mpi_library(char *text, int room) {
    char whole[MPI_MAX_LIBRARY_VERSION_STRING];
    int length = 0;
    int code = MPI_Get_library_version(whole, &length);
    if (code == MPI_SUCCESS) {
        strncpy(text, whole, (size_t)room - 1);
        text[room - 1] = 0;
    }
    return code;
}

/* Open MPI 4 crashes in MPI_Compare_and_swap with its one-sided component `rdma`; Open MPI 5 has no other one between
 * machines without UCX. Who set the variable knows better. */
static void avoid_rdma(void) {
    char library[MPI_MAX_LIBRARY_VERSION_STRING];
    if (gyrase_mpi_library(library, sizeof library) == MPI_SUCCESS && strncmp(library, "Open MPI v4.", 12) == 0)
        setenv("OMPI_MCA_osc", "^rdma", 0);
}

static int starting;

/* MPICH ends a process that cannot start, with a code of its own. */
static void say_start_failed(void) {
    static const char text[] =
        "gyrase: error: MPI ended this process while it started, for the reason above: if that is memory, /dev/shm may "
        "be too small for the ranks of this machine (containers: --shm-size=1g); `gyrase doctor` says how much is free\n";
    if (starting && write(STDERR_FILENO, text, sizeof text - 1) > 0) _exit(code_of_mpi);
}

/* `threads` tells who may call: 0 where no thread may beside others, 1 where it is always the same, 2 where they may
 * take turns. */
int gyrase_mpi_start(int memory, int mpi, int *rank, int *ranks, int *threads) {
    int code, provided = MPI_THREAD_SINGLE;
    code_of_memory = memory;
    code_of_mpi = mpi;
    avoid_rdma();
    atexit(say_start_failed);
    starting = 1;
    code = MPI_Init_thread(NULL, NULL, MPI_THREAD_SERIALIZED, &provided);
    starting = 0;
    if (code != MPI_SUCCESS) return code;
    *threads = provided >= MPI_THREAD_SERIALIZED ? 2 : provided >= MPI_THREAD_FUNNELED;
    /* Duplicates inherit it. */
    code = MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN);
    for (int i = 0; i < CHANNELS && code == MPI_SUCCESS; i++) code = MPI_Comm_dup(MPI_COMM_WORLD, &channels[i]);
    if (code == MPI_SUCCESS) code = MPI_Comm_rank(MPI_COMM_WORLD, rank);
    if (code == MPI_SUCCESS) code = MPI_Comm_size(MPI_COMM_WORLD, ranks);
    listen_to_aborts(*rank);
    return code;
}

/* Nothing may be under way. */
int gyrase_mpi_finish(void) {
    for (int i = 0; i < CHANNELS; i++) {
        int code = MPI_Comm_free(&channels[i]);
        if (code != MPI_SUCCESS) return code;
    }
    return MPI_Finalize();
}

/* This process is about to exit without gyrase_mpi_finish, since operations are under way. MPICH's launcher kills the
 * others as soon as one does so, whatever they still do, unless that one says good-bye, as MPI_Finalize would (PMI
 * version 1). */
void gyrase_mpi_abandon(void) {
    static const char bye[] = "cmd=finalize\n";
    const char *launcher = getenv("PMI_FD");
    struct pollfd answer = {.fd = launcher == NULL ? -1 : atoi(launcher), .events = POLLIN};
    char text[64];
    if (getenv("MPI_LOCALNRANKS") == NULL || answer.fd < 0) return;
    if (write(answer.fd, bye, sizeof bye - 1) == (ssize_t)sizeof bye - 1 && poll(&answer, 1, 200) == 1) {
        /* What it says changes nothing. */
        if (read(answer.fd, text, sizeof text) < 0) return;
    }
}

/* Has the launcher end all processes of the job, those too that do nothing any more. */
void gyrase_mpi_abort(void) {
    MPI_Abort(MPI_COMM_WORLD, code_of_mpi);
    _exit(code_of_mpi);
}

void gyrase_mpi_error(int error, char *text, int room) {
    char whole[MPI_MAX_ERROR_STRING];
    int length = 0;
    if (MPI_Error_string(error, whole, &length) != MPI_SUCCESS) length = 0;
    whole[length < MPI_MAX_ERROR_STRING ? length : MPI_MAX_ERROR_STRING - 1] = 0;
    strncpy(text, whole, (size_t)room - 1);
    text[room - 1] = 0;
}

/* Whether the operation ended; then it is no more. */
int gyrase_mpi_test(void **operation, int *ended) {
    int code = MPI_Test((MPI_Request *)*operation, ended, MPI_STATUS_IGNORE);
    if (code == MPI_SUCCESS && *ended) {
        free(*operation);
        *operation = NULL;
    }
    return code;
}

/* Room for one operation. */
static MPI_Request *begin(void **operation) {
    MPI_Request *request = malloc(sizeof *request);
    if (request == NULL) abort();
    *operation = request;
    return request;
}

static int begun(int code, void **operation) {
    if (code != MPI_SUCCESS) {
        free(*operation);
        *operation = NULL;
    }
    return code;
}

int gyrase_mpi_alltoall(const uint32_t *sent, uint32_t *came, void **operation) {
    MPI_Request *request = begin(operation);
    return begun(MPI_Ialltoall(sent, 1, MPI_UINT32_T, came, 1, MPI_UINT32_T, channels[COUNTS], request), operation);
}

int gyrase_mpi_alltoallv(const void *sent, const int *sent_bytes, const int *sent_at, void *came, const int *came_bytes,
                         const int *came_at, void **operation) {
    MPI_Request *request = begin(operation);
    return begun(MPI_Ialltoallv(sent, sent_bytes, sent_at, MPI_BYTE, came, came_bytes, came_at, MPI_BYTE,
                                channels[BYTES], request),
                 operation);
}

/* The largest numbers as signed ones: MPICH 4.0 takes MPI_UINT64_T for signed in MPI_MAX. */
int gyrase_mpi_heartbeat(const uint64_t *mine, uint64_t *largest, int numbers, void **operation) {
    MPI_Request *request = begin(operation);
    return begun(MPI_Iallreduce(mine, largest, numbers, MPI_INT64_T, MPI_MAX, channels[HEARTBEAT], request), operation);
}

int gyrase_mpi_max(const uint64_t *mine, uint64_t *largest, int numbers, void **operation) {
    MPI_Request *request = begin(operation);
    return begun(MPI_Iallreduce(mine, largest, numbers, MPI_INT64_T, MPI_MAX, channels[OTHERS], request), operation);
}

int gyrase_mpi_sum(const uint64_t *mine, uint64_t *sum, int numbers, void **operation) {
    MPI_Request *request = begin(operation);
    return begun(MPI_Iallreduce(mine, sum, numbers, MPI_UINT64_T, MPI_SUM, channels[OTHERS], request), operation);
}

/* One number of each rank to rank 0. */
int gyrase_mpi_gather(const uint64_t *mine, uint64_t *all, void **operation) {
    MPI_Request *request = begin(operation);
    return begun(MPI_Igather(mine, 1, MPI_UINT64_T, all, 1, MPI_UINT64_T, 0, channels[OTHERS], request), operation);
}

/* Bytes of each rank to rank 0. */
int gyrase_mpi_gatherv(const void *mine, int bytes, void *all, const int *all_bytes, const int *all_at,
                       void **operation) {
    MPI_Request *request = begin(operation);
    return begun(MPI_Igatherv(mine, bytes, MPI_BYTE, all, all_bytes, all_at, MPI_BYTE, 0, channels[OTHERS], request),
                 operation);
}

int gyrase_mpi_barrier(void **operation) {
    MPI_Request *request = begin(operation);
    return begun(MPI_Ibarrier(channels[OTHERS], request), operation);
}

int gyrase_mpi_send(int channel, const void *message, int bytes, int rank, int tag, void **operation) {
    MPI_Request *request = begin(operation);
    return begun(MPI_Isend(message, bytes, MPI_BYTE, rank, tag, channels[channel], request), operation);
}

/* Whether a message is there; then it is this one, and gyrase_mpi_receive is to take it. */
int gyrase_mpi_arrived(int channel, int *there, int *tag, int *bytes, void **arrived) {
    MPI_Status status;
    MPI_Message *message = malloc(sizeof *message);
    int code;
    if (message == NULL) abort();
    *there = 0;
    code = MPI_Improbe(MPI_ANY_SOURCE, MPI_ANY_TAG, channels[channel], there, message, &status);
    if (code == MPI_SUCCESS && *there) code = MPI_Get_count(&status, MPI_BYTE, bytes);
    if (code != MPI_SUCCESS || !*there) {
        free(message);
        return code;
    }
    *tag = status.MPI_TAG;
    *arrived = message;
    return code;
}

int gyrase_mpi_receive(void *arrived, void *into, int bytes, void **operation) {
    MPI_Request *request = begin(operation);
    int code = MPI_Imrecv(into, bytes, MPI_BYTE, (MPI_Message *)arrived, request);
    free(arrived);
    return begun(code, operation);
}

/* Waits for all ranks to call it. The numbers are 0; others may use them once all ranks are here. */
int gyrase_mpi_window(uint64_t numbers, void **window) {
    struct window *made = calloc(1, sizeof *made);
    int code;
    if (made == NULL) abort();
    /* A whole number of cache lines: MPICH 4.0 takes others for 8 bytes from where they are, if the parts of ranks of
     * one machine are no multiple of 16 bytes. */
    numbers = (numbers + 7) / 8 * 8;
    code = MPI_Win_allocate((MPI_Aint)(numbers * sizeof(uint64_t)), sizeof(uint64_t), MPI_INFO_NULL, channels[OTHERS],
                            &made->numbers, &made->win);
    if (code == MPI_SUCCESS) code = MPI_Win_set_errhandler(made->win, MPI_ERRORS_RETURN);
    if (code == MPI_SUCCESS) {
        memset(made->numbers, 0, numbers * sizeof(uint64_t));
        code = MPI_Win_lock_all(MPI_MODE_NOCHECK, made->win);
    }
    if (code == MPI_SUCCESS) code = MPI_Win_sync(made->win);
    if (code != MPI_SUCCESS) {
        free(made);
        return code;
    }
    *window = made;
    return code;
}

/* Waits for all ranks to call it. */
int gyrase_mpi_window_free(void *window) {
    struct window *made = window;
    int code = MPI_Win_unlock_all(made->win);
    if (code == MPI_SUCCESS) code = MPI_Win_free(&made->win);
    free(made);
    return code;
}

enum { GET, ADD, PUT };

int gyrase_mpi_fetch(void *window, int what, int rank, uint64_t at, uint64_t number, uint64_t *before) {
    struct window *made = window;
    MPI_Op operation = what == GET ? MPI_NO_OP : what == ADD ? MPI_SUM : MPI_REPLACE;
    int code = MPI_Fetch_and_op(&number, before, MPI_UINT64_T, rank, (MPI_Aint)at, operation, made->win);
    return code == MPI_SUCCESS ? MPI_Win_flush(rank, made->win) : code;
}

int gyrase_mpi_compare_and_swap(void *window, int rank, uint64_t at, uint64_t expected, uint64_t number,
                                uint64_t *before) {
    struct window *made = window;
    int code = MPI_Compare_and_swap(&number, &expected, before, MPI_UINT64_T, rank, (MPI_Aint)at, made->win);
    return code == MPI_SUCCESS ? MPI_Win_flush(rank, made->win) : code;
}
