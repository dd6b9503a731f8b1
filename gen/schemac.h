/* What schemac.c resolves and schemac_emit.c writes. */
#ifndef QC_SCHEMAC_H
#define QC_SCHEMAC_H

#include "qc.h"
#include "proto_tree.h"

#include <stdio.h>

/* The value of an option of a field, or null. */
const struct proto_option *proto_find_option(const struct proto_field *f,
                                             const char *name);
/* Bits of (qc.dialects), 1 << enum qc_dialect; 0: all. */
unsigned proto_dialects(const struct proto_field *f);

void emit_header(FILE *to, const struct proto *p, const char *sources);
void emit_tables(FILE *to, const struct proto *p, const char *sources);
void emit_docs(FILE *to, const struct proto *p, const char *sources);

#endif
