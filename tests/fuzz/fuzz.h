/* What the fuzz targets share: quantc runs in this process, on files that exist
 * in memory only.
 *
 * The linker wraps a few functions (fuzz.sh): open and mmap, so that a file is
 * a buffer of exactly its size and a read behind it is seen; exit, so that
 * running out of memory ends a run and not the process; qc_commit and
 * qc_make_folder, so that nothing is written. */
#ifndef FUZZ_H
#define FUZZ_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

/* Makes a file. The name is not copied; the data are. */
void fuzz_file(const char *name, const void *data, size_t size);
void fuzz_text_file(const char *name, const char *text);
/* Takes the next file off the input, up to a line of four '='; when it is
 * empty, `otherwise` stands in unless that is null. */
void fuzz_take(const char *name, const uint8_t **at, size_t *size,
               const char *otherwise);
/* Runs `quantc ARGS...`, ended by null; its exit status. Aborts when it wrote
 * something although it failed, or reports success for a fault. */
int fuzz_quantc(const char *const *args);
/* The same for schemac --docs. */
int fuzz_schemac(const char *file);
/* Calls a function as a run of its own. */
void fuzz_call(void (*body)(void));
/* Forgets the files. */
void fuzz_end(void);
/* Puts a CRC-32 of data[from, size) to data[at, at + 4), little endian. */
void fuzz_crc(uint8_t *data, size_t at, size_t from, size_t size);
void fuzz_store(uint8_t *data, size_t at, uint64_t v, unsigned bytes);

/* The inputs of examples/digits, for what is not under test. */
extern const char ok_config[], ok_layers[], ok_record[];

#endif
