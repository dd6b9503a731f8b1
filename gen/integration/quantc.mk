# Tables from configurations in a GNU make build. After
#
#     include quantc.mk
#     $(eval $(call quantc_tables,PREFIX,OUTDIR,CONFIG,OPTIONS))
#
# OUTDIR/PREFIX_tables.c and .h are targets that are renewed when any of their
# inputs changes. OPTIONS are those of `quantc compile`: --model, --record ...
# The macro may be used several times with different prefixes.
#
#   QUANTC         the program (default: the installed one)
#   QUANTRT_CFLAGS for compiling the tables and what includes them
#   QUANTRT_LIBS   the runtime for this host; a cross build links its own
#   QUANTRT_SRC    sources of the runtime, to compile for a target

QUANTC_PREFIX  := $(abspath $(dir $(lastword $(MAKEFILE_LIST)))/../..)
QUANTC         ?= $(QUANTC_PREFIX)/bin/quantc
QUANTRT_CFLAGS := -I$(QUANTC_PREFIX)/include/quantc
QUANTRT_LIBS   := $(QUANTC_PREFIX)/lib/libquantrt.a
QUANTRT_SRC    := $(filter-out %_f32.c,$(wildcard $(QUANTC_PREFIX)/share/quantc/runtime/*.c))

# quantc leaves tables alone that would not change, so the rule hangs on the
# depfile, which it always renews.
define quantc_tables
$(2)/$(1)_tables.d: $(3)
	$$(QUANTC) compile $(3) $(4) --prefix $(1) -o $(2)
$(2)/$(1)_tables.c $(2)/$(1)_tables.h: $(2)/$(1)_tables.d ;
-include $(2)/$(1)_tables.d
endef
