// The functions of the library, as they are loaded at run time. src/arch/functions.rs and raw.rs
// have the same types.
#pragma once

#include <stdint.h>

#define GYRASE_GPU_VERSION 4

// What a call comes to.
enum gyrase_gpu_code {
    GYRASE_GPU_FINE = 0,
    // It takes more memory than it may, or has a read that is too long.
    GYRASE_GPU_DECLINED = 1,
    // A bucket points outside of its partition.
    GYRASE_GPU_DAMAGED = 2,
    // The device failed; gyrase_gpu_error has why.
    GYRASE_GPU_FAILED = 3,
};

struct gyrase_gpu_device {
    char name[128];
    uint64_t memory;
    uint64_t free;
    int32_t major;
    int32_t minor;
};

// How windows are sketched: see crates/kmer/src/sketch/shape.rs and feature.rs.
struct gyrase_gpu_shape {
    uint32_t k;
    uint32_t window;
    uint32_t stride;
    // The most features of a window where the smallest are chosen; 0 where one in so many is.
    uint32_t smallest;
    uint32_t smers;
    uint32_t s;
    uint32_t margin;
    uint32_t limit;
};

// Where a partition is among the words of the database: see crates/table/src/gydb/partition.rs.
struct gyrase_gpu_partition {
    uint64_t start;
    uint32_t words;
    uint32_t buckets;
};

// Partitions of one of the databases that are asked at once.
struct gyrase_gpu_slice {
    const uint32_t *words;
    // A multiple of 16.
    uint64_t word_count;
    // 4,096 of them; those that are not of the slice have no words.
    const gyrase_gpu_partition *partitions;
    // What its windows are counted from.
    uint32_t first_window;
    uint32_t unused;
};

struct gyrase_gpu_database {
    gyrase_gpu_shape shape;
    const gyrase_gpu_slice *slices;
    uint64_t slice_count;
    // Of each target, and how many windows all have.
    const uint32_t *first_windows;
    uint32_t targets;
    uint32_t all_windows;
};

// One sequence of a read.
struct gyrase_gpu_sequence {
    const uint8_t *letters;
    uint32_t length;
    uint32_t windows;
    uint32_t read;
    uint32_t unused;
};

struct gyrase_gpu_batch {
    // In the order of the reads.
    const gyrase_gpu_sequence *sequences;
    uint32_t sequence_count;
    uint32_t reads;
    // Of each read: windows that a region of it has at most, 1 to 65,536. Null where all hits are
    // wanted, and no regions.
    const uint32_t *spans;
};

// The best region of a target.
struct gyrase_gpu_region {
    uint32_t target;
    uint32_t first;
    uint32_t last;
    uint32_t hits;
};

// What was found; it stays until the pipeline is given the next batch. Of regions and all hits
// there are those that were asked for.
struct gyrase_gpu_answers {
    const uint32_t *features;
    const gyrase_gpu_region *regions;
    // The windows, counted from the first of the region, in the upper 16 bits; below the number of
    // the feature within the read.
    const uint32_t *hits;
    // All hits, ascending within each read: in the upper half the window, below the number of the
    // feature within the read.
    const uint64_t *all_hits;
    // Where the features, the regions and all hits of each read begin, and where those of the last
    // end.
    const uint32_t *feature_begins;
    const uint32_t *region_begins;
    const uint32_t *hit_begins;
    uint64_t feature_count;
    uint64_t region_count;
    uint64_t hit_count;
    uint64_t all_hit_count;
};

// What lists are made by: of each target its first window, ascending, the checksum of its name
// (crates/classify/src/cap.rs), and the number of its taxon.
struct gyrase_gpu_targets {
    const uint32_t *first_windows;
    const uint64_t *names;
    const uint32_t *taxa;
    uint32_t count;
    uint32_t all_windows;
};

// The lists of a partition: of each the place of its feature, and how many windows it has; all
// windows, one list behind the other; how many lists have as many as they may.
struct gyrase_gpu_lists {
    const uint32_t *places;
    const uint8_t *counts;
    const uint32_t *windows;
    uint32_t list_count;
    uint32_t window_count;
    uint32_t full;
};

// A set of texts whose suffixes are sorted.
struct gyrase_gpu_text {
    // Codes of letters from 1 on, and 0 for a sentinel, which ends each text.
    const uint8_t *letters;
    uint64_t length;
    // How many codes there are with the sentinel's, 2 to 256.
    uint32_t codes;
    uint32_t unused;
};

// k-mers that share a minimizer: see crates/kmer/src/superkmer.rs. The lowest byte says how many,
// up to 60; none make room, as do those behind the last of a part.
struct gyrase_gpu_super_kmer {
    uint64_t low;
    uint64_t high;
};

// A part of a bin: the first and the last key that are wanted of its super-k-mers.
struct gyrase_gpu_part {
    uint64_t first;
    uint64_t last;
    // The task that its super-k-mers begin with.
    uint32_t first_task;
    uint32_t unused;
};

// Super-k-mers whose k-mers are counted. A task is 32 of them, of one part; tasks are in the order
// of the parts.
struct gyrase_gpu_super_kmers {
    const gyrase_gpu_super_kmer *super_kmers;
    // How often each came.
    const uint32_t *weights;
    const uint32_t *parts_of_tasks;
    const gyrase_gpu_part *parts;
    uint32_t tasks;
    uint32_t part_count;
    // Bases of a k-mer, 1 to 32; 1 where it is not its canonical form that is counted, else 0.
    uint32_t k;
    uint32_t stranded;
    // Counts that are wanted, both included.
    uint32_t least_count;
    uint32_t most_count;
};

// Bytes that go from one device of a group to another.
struct gyrase_gpu_transfer {
    uint32_t from;
    uint32_t to;
    // Where they are in the buffer of the one, and where they go in that of the other.
    uint64_t from_byte;
    uint64_t to_byte;
    uint64_t bytes;
    // The transfer that brings them, which stands before this one; GYRASE_GPU_NONE where they are
    // there at first.
    uint32_t after;
    uint32_t unused;
};

#define GYRASE_GPU_NONE UINT32_MAX

// A transfer of some chunks of the message that a device has for another one.
struct gyrase_gpu_hop {
    uint32_t from;
    uint32_t to;
    uint32_t source;
    uint32_t target;
    uint32_t first_chunk;
    uint32_t end_chunk;
    // As above.
    uint32_t after;
    uint32_t unused;
};

// How all devices of a group send each other messages, whatever their sizes.
struct gyrase_gpu_routes {
    const gyrase_gpu_hop *hops;
    uint32_t hop_count;
    // Of each message.
    uint32_t chunks;
};

// Records that are read at a time, at most, and room behind them.
#define GYRASE_GPU_MOST_READ (1u << 19)
#define GYRASE_GPU_READ_SLACK 16u

#ifdef __cplusplus
extern "C" {
#endif

int32_t gyrase_gpu_version(void);
// Why the last call of this thread did not come to an end as it should.
const char *gyrase_gpu_error(void);
// How many devices there are; -1 where nobody can say.
int32_t gyrase_gpu_devices(void);
int32_t gyrase_gpu_describe(int32_t device, gyrase_gpu_device *to);
// Brings a database to a device; null where it fails.
void *gyrase_gpu_open(int32_t device, const gyrase_gpu_database *database);
void gyrase_gpu_close(void *index);
// What one batch at a time goes through, with up to so many bytes of the device, and of pinned
// memory of the host; null where it fails.
void *gyrase_gpu_pipeline(void *index, uint64_t bytes, uint64_t host_bytes);
void gyrase_gpu_pipeline_close(void *pipeline);
// Begins with a batch, whose letters are copied before it returns.
int32_t gyrase_gpu_submit(void *pipeline, const gyrase_gpu_batch *batch);
// Waits for the batch that was submitted.
int32_t gyrase_gpu_collect(void *pipeline, gyrase_gpu_answers *to);
// Sorts the suffixes of a text with up to so many bytes of the device: where they begin, and how
// many letters each shares with the one before, unless that is null.
int32_t gyrase_gpu_suffixes(int32_t device, const gyrase_gpu_text *text, uint64_t bytes,
                            uint32_t *positions, uint32_t *common);
// The same on logical devices of these numbers, which may come several times, with so many bytes of
// each.
int32_t gyrase_gpu_suffixes_among(const int32_t *numbers, const uint64_t *bytes, uint32_t count,
                                  const gyrase_gpu_routes *routes, const gyrase_gpu_text *text,
                                  uint32_t *positions, uint32_t *common);
// The records of a build with up to so many bytes of the device, of features from a partition on;
// null where it fails. A record is a feature's place and a window that has it.
void *gyrase_gpu_records(int32_t device, uint64_t bytes, uint32_t first_partition);
void gyrase_gpu_records_close(void *records);
// What sketches for records with up to so many bytes of the device, and of pinned memory of the
// host; null where it fails.
void *gyrase_gpu_sketcher(void *records, const gyrase_gpu_shape *shape, uint64_t bytes,
                          uint64_t host_bytes);
void gyrase_gpu_sketcher_close(void *sketcher);
// Keeps records of the features of sequences, whose windows have numbers from that of the first on.
int32_t gyrase_gpu_sketch(void *sketcher, const gyrase_gpu_sequence *sequences, uint32_t count,
                          uint32_t first_window);
// Sorts the records by places and windows. Those of a batch have numbers from `came` on, which
// ascend, and become those from `numbers` on. Says where those of each partition begin, and where
// those of the last end, in 4,097 numbers; and the partition from which on there are none, since
// they were too many.
int32_t gyrase_gpu_sort(void *records, const uint32_t *came, const uint32_t *numbers,
                        uint32_t batches, uint32_t *begins, uint32_t *end_partition);
// Brings what lists are made by.
int32_t gyrase_gpu_targets_of(void *records, const gyrase_gpu_targets *targets);
// What makes lists of sorted records, of up to `most` windows each (1 to 254), with up to so many
// bytes of the device, and of pinned memory of the host; null where it fails. Taxa have numbers
// below `taxa`, and those of targets without one that.
void *gyrase_gpu_lister(void *records, uint32_t taxa, uint32_t most, uint64_t bytes,
                        uint64_t host_bytes);
void gyrase_gpu_lister_close(void *lister);
// The lists of a partition with so many records from one on. They stay until the next are made.
int32_t gyrase_gpu_list(void *lister, uint32_t partition, uint64_t first, uint32_t count,
                        gyrase_gpu_lists *to);
// Of each taxon, and at last of none, how many features have windows of it, in all lists so far.
int32_t gyrase_gpu_distinct(void *lister, uint64_t *to);
// What reads sorted records with up to so many bytes of pinned memory of the host; null where it
// fails.
void *gyrase_gpu_reader(void *records, uint64_t host_bytes);
void gyrase_gpu_reader_close(void *reader);
// Some records, and a few behind them that may be read too: the place within the partition in the
// upper 20 bits, the window below. They stay until the next are read.
int32_t gyrase_gpu_read(void *reader, uint64_t first, uint32_t count, const uint64_t **to);
// What counts k-mers with up to so many bytes of the device; null where it fails.
void *gyrase_gpu_counter(int32_t device, uint64_t bytes);
void gyrase_gpu_counter_close(void *counter);
// Counts: where the rows of each part begin, and where those of the last end. They stay until the
// next.
int32_t gyrase_gpu_count(void *counter, const gyrase_gpu_super_kmers *given, uint32_t *row_begins);
// Some rows: keys, which ascend within a part, and their counts.
int32_t gyrase_gpu_rows(void *counter, uint64_t first, uint64_t count, uint64_t *keys,
                        uint32_t *counts);
// Logical devices with a buffer of so many bytes each, on the devices of these numbers, which may
// come several times; null where it fails.
void *gyrase_gpu_group(const int32_t *numbers, const uint64_t *bytes, uint32_t count);
void gyrase_gpu_group_close(void *group);
// Brings bytes into the buffer of a device, and out of it.
int32_t gyrase_gpu_put(void *group, uint32_t device, uint64_t at, const uint8_t *from,
                       uint64_t bytes);
int32_t gyrase_gpu_get(void *group, uint32_t device, uint64_t at, uint8_t *to, uint64_t bytes);
// Moves bytes between the buffers, and waits for all: those from one device to another in their
// order.
int32_t gyrase_gpu_exchange(void *group, const gyrase_gpu_transfer *transfers, uint32_t count);

#ifdef __cplusplus
}
#endif
