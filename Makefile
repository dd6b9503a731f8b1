# quantc: the compiler (host) and libquantrt (target). `make help` lists what
# there is. Nothing outside this tree is touched, except that `make demo`,
# `make check` and `make deps*` install missing Debian packages.

BUILD     ?= build
PREFIX    ?= /usr/local
DESTDIR   ?=
QC_SHARED ?= ../shared

# Host: builds quantc, schemac and the tests.
CC        ?= cc
CFLAGS    ?= -O2 -g
FLEX      ?= flex
BISON     ?= bison
PKG_CONFIG ?= pkg-config

# Target: builds libquantrt.a. A cross build sets both and gets its own folder:
#   make runtime TARGET_CC=arm-none-eabi-gcc TARGET_CFLAGS="-mcpu=cortex-m4 -mthumb -Os"
TARGET_CC     ?= $(CC)
TARGET_CFLAGS ?= $(CFLAGS)
TARGET_AR     ?= $(if $(findstring -gcc,$(TARGET_CC)),$(TARGET_CC:gcc=ar),ar)
TARGET_BUILD  ?= $(BUILD)

# 0 leaves the offload dispatcher out of the library; programs define the same.
QRT_OFFLOAD ?= 1

WARN = -std=c99 -pedantic -Wall -Wextra -Wshadow -Wstrict-prototypes \
       -Wmissing-prototypes -Wundef -Wpointer-arith -Wcast-qual \
       -Wwrite-strings -Wvla -Wformat=2 -Wredundant-decls $(WERROR)
WARN_RT = $(WARN) -Wconversion -Wsign-conversion -Wcast-align -Wswitch-enum \
       -Wdouble-promotion -Wfloat-equal -ffreestanding -fno-builtin \
       -fstack-usage
PATHMAP = -ffile-prefix-map=$(CURDIR)=.

# cJSON writes plan.json and JSON diagnostics. CJSON=0 leaves these out, for
# cross builds of quantc without the library.
CJSON ?= 1
ifeq ($(CJSON),1)
CJSON_CFLAGS = -DQC_HAVE_CJSON=1
CJSON_LIBS   = -lcjson
endif

.DEFAULT_GOAL := all
.DELETE_ON_ERROR:
.SECONDARY:
.SUFFIXES:

# A line for each step, or with V=1 the commands, or with -s nothing.
V ?= 0
ifeq ($(V),0)
step = @$(if $(findstring s,$(firstword -$(MAKEFLAGS))),,printf '  %-6s %s\n' $(1) $@;)
endif

# ---- what there is to build ----

GEN_SRC    := $(sort $(filter-out gen/main.c gen/schemac.c,$(wildcard gen/*.c)))
RT_SRC     := $(sort $(filter-out %_f32.c $(wildcard runtime/*ascend*.c),$(wildcard runtime/*.c)))
RT_F32_SRC := $(sort $(wildcard runtime/*_f32.c))
# The Ascend backend wants a hosted Linux, and nothing of the vendor.
RT_ASCEND_SRC := $(sort $(wildcard runtime/*ascend*.c))
ifneq ($(QRT_OFFLOAD),0)
ifneq ($(findstring linux,$(shell $(TARGET_CC) -dumpmachine 2>/dev/null)),)
RT_ASCEND_LIB := $(TARGET_BUILD)/libquantrt-ascend.a
endif
endif
TEST_SRC   := $(wildcard tests/test_*.c)
PROTO_SRC  := $(wildcard proto/*.proto)

# schemac needs the base files and the proto grammar only.
SCHEMAC_OBJ := $(patsubst %,$(BUILD)/obj/gen/%.o,arena str tree source diag schema \
               schemac schemac_emit) \
               $(BUILD)/obj/gram/proto.tab.o $(BUILD)/obj/gram/proto.lex.o
GRAM_OBJ  := $(foreach g,text json,$(BUILD)/obj/gram/$(g).tab.o $(BUILD)/obj/gram/$(g).lex.o)
GEN_OBJ   := $(GEN_SRC:%.c=$(BUILD)/obj/%.o) $(BUILD)/obj/schema_tables.o $(GRAM_OBJ)
GEN_OBJ   := $(filter-out $(BUILD)/obj/gen/schemac%.o,$(GEN_OBJ))
RT_OBJ    := $(RT_SRC:%.c=$(TARGET_BUILD)/obj/%.o)
RT_F32_OBJ := $(RT_F32_SRC:%.c=$(TARGET_BUILD)/obj/%.o)
RT_ASCEND_OBJ := $(RT_ASCEND_SRC:%.c=$(TARGET_BUILD)/obj/%.o)
# quantc links the same kernels, built for the host.
HOST_RT    := $(if $(filter $(BUILD),$(TARGET_BUILD)),$(BUILD)/libquantrt.a,$(BUILD)/host/libquantrt.a)

all: deps-look $(BUILD)/quantc runtime ## build quantc and the runtime libraries
runtime: $(TARGET_BUILD)/libquantrt.a $(TARGET_BUILD)/libquantrt-f32.a $(RT_ASCEND_LIB) ## build only the runtime, for TARGET_CC

# ---- quantc ----

INC = -I. -Igen -Igrammar -Iruntime -I$(BUILD) -I$(BUILD)/gram

# What was built with other flags, or from other files, is built anew.
HOST_FLAGS   = $(CC) $(CFLAGS) $(LDFLAGS) $(CJSON_CFLAGS) $(CURDIR) $(GEN_OBJ)
TARGET_FLAGS = $(TARGET_CC) $(TARGET_CFLAGS) $(F32_CFLAGS) $(QRT_OFFLOAD) $(CURDIR) \
               $(RT_OBJ) $(RT_F32_OBJ) $(RT_ASCEND_OBJ)
$(BUILD)/host.flags: TEXT = $(HOST_FLAGS)
$(TARGET_BUILD)/target.flags: TEXT = $(TARGET_FLAGS)
$(BUILD)/host.flags $(TARGET_BUILD)/target.flags: always
	@mkdir -p $(@D)
	@echo '$(subst ','\'',$(TEXT))' | cmp -s - $@ || echo '$(subst ','\'',$(TEXT))' >$@
always:

$(BUILD)/obj/gen/%.o: gen/%.c $(BUILD)/host.flags
	@mkdir -p $(@D)
	$(call step,CC)$(CC) $(WARN) $(CFLAGS) $(PATHMAP) $(CJSON_CFLAGS) $(INC) -MMD -MP -c $< -o $@

$(BUILD)/gram/%.tab.c $(BUILD)/gram/%.tab.h: grammar/%.y
	@mkdir -p $(@D)
	$(call step,BISON)$(BISON) -Werror --file-prefix-map=$(BUILD)/=build/ --defines=$(BUILD)/gram/$*.tab.h -o $(BUILD)/gram/$*.tab.c $<

$(BUILD)/gram/%.lex.c $(BUILD)/gram/%.lex.h: grammar/%.l
	@mkdir -p $(@D)
	$(call step,FLEX)$(FLEX) --header-file=$(BUILD)/gram/$*.lex.h -o $(BUILD)/gram/$*.lex.c $<

$(BUILD)/obj/gram/%.o: $(BUILD)/gram/%.c $(BUILD)/host.flags
	@mkdir -p $(@D)
	$(call step,CC)$(CC) $(WARN) $(GRAM_WARN) $(CFLAGS) $(PATHMAP) $(INC) -I$(BUILD)/gram -MMD -MP -c $< -o $@

$(BUILD)/obj/gram/proto.lex.o $(BUILD)/obj/gram/proto.tab.o: $(BUILD)/gram/proto.tab.h $(BUILD)/gram/proto.lex.h
$(BUILD)/obj/gram/text.lex.o $(BUILD)/obj/gram/text.tab.o: $(BUILD)/gram/text.tab.h $(BUILD)/gram/text.lex.h
$(BUILD)/obj/gram/json.lex.o $(BUILD)/obj/gram/json.tab.o: $(BUILD)/gram/json.tab.h $(BUILD)/gram/json.lex.h

$(BUILD)/schemac: $(SCHEMAC_OBJ)
	$(call step,LINK)$(CC) $(CFLAGS) $(LDFLAGS) -o $@ $^

# A cross build of quantc needs a schemac that runs here: SCHEMAC=build/schemac.
SCHEMAC ?= $(BUILD)/schemac

$(BUILD)/schema_tables.h $(BUILD)/schema_tables.c &: $(SCHEMAC) $(PROTO_SRC)
	@mkdir -p $(BUILD)
	$(call step,SCHEMA)$(SCHEMAC) --tables $(BUILD) $(sort $(PROTO_SRC))

$(BUILD)/obj/schema_tables.o: $(BUILD)/schema_tables.c $(BUILD)/host.flags
	@mkdir -p $(@D)
	$(call step,CC)$(CC) $(WARN) $(CFLAGS) $(PATHMAP) $(INC) -MMD -MP -c $< -o $@

$(filter-out $(SCHEMAC_OBJ),$(GEN_OBJ)) $(BUILD)/obj/gen/main.o: | $(BUILD)/schema_tables.h $(foreach g,text json,$(BUILD)/gram/$(g).tab.h $(BUILD)/gram/$(g).lex.h)

$(BUILD)/libqc.a: $(GEN_OBJ) $(BUILD)/host.flags
	@rm -f $@
	$(call step,AR)ar rcD $@ $(filter %.o,$^)

$(BUILD)/quantc: $(BUILD)/obj/gen/main.o $(BUILD)/libqc.a $(HOST_RT) $(HOST_RT:%/libquantrt.a=%/libquantrt-f32.a)
	$(call step,LINK)$(CC) $(CFLAGS) $(LDFLAGS) -pthread -o $@ $^ $(CJSON_LIBS) -lm

# ---- runtime ----

$(TARGET_BUILD)/obj/runtime/%_f32.o: runtime/%_f32.c $(TARGET_BUILD)/target.flags
	@mkdir -p $(@D)
	$(call step,CC)$(TARGET_CC) $(filter-out -Wfloat-equal,$(WARN_RT)) $(TARGET_CFLAGS) $(F32_CFLAGS) -DQRT_OFFLOAD=$(QRT_OFFLOAD) $(PATHMAP) -Iruntime -MMD -MP -c $< -o $@

$(TARGET_BUILD)/obj/runtime/%.o: runtime/%.c $(TARGET_BUILD)/target.flags
	@mkdir -p $(@D)
	$(call step,CC)$(TARGET_CC) $(WARN_RT) $(TARGET_CFLAGS) -ffunction-sections -fdata-sections -DQRT_OFFLOAD=$(QRT_OFFLOAD) $(PATHMAP) -Iruntime -MMD -MP -c $< -o $@

$(RT_ASCEND_OBJ): $(TARGET_BUILD)/obj/%.o: %.c $(TARGET_BUILD)/target.flags
	@mkdir -p $(@D)
	$(call step,CC)$(TARGET_CC) $(filter-out -ffreestanding -fno-builtin,$(WARN_RT)) $(TARGET_CFLAGS) -D_POSIX_C_SOURCE=200809L -DQRT_OFFLOAD=$(QRT_OFFLOAD) $(PATHMAP) -Iruntime -MMD -MP -c $< -o $@

F32_CFLAGS ?= -O3 -ffp-contract=off -fno-trapping-math
# A histogram that gcc vectorises is 4 to 9 times slower.
$(TARGET_BUILD)/obj/runtime/ifmr_hist_f32.o: F32_CFLAGS := -O2 -ffp-contract=off -fno-tree-vectorize -fno-tree-slp-vectorize

$(TARGET_BUILD)/libquantrt.a: $(RT_OBJ) $(TARGET_BUILD)/target.flags
	@rm -f $@
	$(call step,AR)$(TARGET_AR) rcD $@ $(filter %.o,$^)

$(TARGET_BUILD)/libquantrt-f32.a: $(RT_F32_OBJ) $(TARGET_BUILD)/target.flags
	@rm -f $@
	$(call step,AR)$(TARGET_AR) rcD $@ $(filter %.o,$^)

$(TARGET_BUILD)/libquantrt-ascend.a: $(RT_ASCEND_OBJ) $(TARGET_BUILD)/target.flags
	@rm -f $@
	$(call step,AR)$(TARGET_AR) rcD $@ $(filter %.o,$^)

$(BUILD)/host/libquantrt.a $(BUILD)/host/libquantrt-f32.a &:
	$(MAKE) runtime TARGET_CC="$(CC)" TARGET_CFLAGS="$(CFLAGS)" TARGET_AR=ar TARGET_BUILD=$(BUILD)/host

# ---- tests ----

$(BUILD)/tests/%: tests/%.c $(BUILD)/libqc.a $(BUILD)/libquantrt.a $(BUILD)/libquantrt-f32.a
	@mkdir -p $(@D)
	$(call step,TEST)$(CC) -std=gnu99 -Wall -Wextra $(CFLAGS) -ffp-contract=off $(CJSON_CFLAGS) $(INC) -Itests -MMD -MP $< -o $@ $(TEST_EXTRA) \
	    $(BUILD)/libqc.a $(BUILD)/libquantrt-f32.a $(BUILD)/libquantrt.a -lcmocka -pthread $(CJSON_LIBS) -lm

tests: $(TEST_SRC:tests/%.c=$(BUILD)/tests/%) ## build the test programs

TEST_BIN := $(TEST_SRC:tests/%.c=$(BUILD)/tests/%)
TEST_SH  := $(sort $(wildcard tests/test_*.sh))

check: deps-check ## install what the tests need, build and run them
	@$(MAKE) --no-print-directory all tests
	@QUANTC=$(CURDIR)/$(BUILD)/quantc BUILD=$(CURDIR)/$(BUILD) CC="$(CC)" QC_SHARED=$(abspath $(QC_SHARED)) \
	    sh tests/run.sh $(BUILD)/logs $(TEST_SH) $(TEST_BIN)

bench: ## time what docs/bench.md has targets for; nothing fails
	@$(MAKE) --no-print-directory all
	@sh tests/bench/bench_text.sh "$(CC)" $(BUILD)
	@sh tests/bench/bench_json.sh "$(CC)" $(BUILD)
	@sh tests/bench/bench_weights.sh "$(CC)" $(BUILD)
	@sh tests/bench/budget.sh "$(CC)" $(BUILD)
	@sh tests/bench/bench.sh "$(CC)" $(BUILD)

coverage: ## tell which lines of gen/, grammar/ and runtime/ the tests reach (docs/deep.md)
	@QC_SHARED=$(abspath $(QC_SHARED)) sh tests/deep/coverage.sh $(BUILD) $(TEST_SRC) $(TEST_SH)

sanitize: ## run the tests with AddressSanitizer, UBSan and leak detection (docs/deep.md)
	@QC_SHARED=$(abspath $(QC_SHARED)) CC="$(CC)" sh tests/deep/sanitize.sh $(BUILD)/sanitize

analyze: ## look for defects with gcc -fanalyzer, clang-tidy and cppcheck
	@sh tests/deep/analyze.sh $(BUILD)/analyze

fuzz: ## run nine libFuzzer targets, FUZZ_SECONDS=60 each
	@sh tests/deep/fuzz.sh libfuzzer $(BUILD)/deep-fuzz

fuzz-afl: ## run them with AFL++, FUZZ_SECONDS=60 each
	@sh tests/deep/fuzz.sh afl $(BUILD)/deep-fuzz

fuzz-deep: ## try FUZZ_MUTATIONS=10000000 random mutations
	@sh tests/deep/fuzz.sh random $(BUILD)/deep-fuzz

reprotest: ## build twice in two worlds and compare all bytes
	@sh tests/deep/reprotest.sh $(BUILD)/reprotest

$(BUILD)/deep/%: tests/bench/%.c $(BUILD)/libquantrt.a
	@mkdir -p $(@D)
	$(call step,TEST)$(CC) -std=gnu99 -Wall -Wextra $(CFLAGS) -Iruntime -Itests -MMD -MP $< -o $@ $(BUILD)/libquantrt.a -lcmocka -lm

$(BUILD)/deep/%: tests/exhaustive/%.c $(BUILD)/libquantrt.a
	@mkdir -p $(@D)
	$(call step,TEST)$(CC) -std=gnu99 -Wall -Wextra $(CFLAGS) -Iruntime -MMD -MP $< -o $@ $(BUILD)/libquantrt.a

SCALINGS ?= 200
ifmr-quality: $(BUILD)/deep/ifmr_quality ## measure what the IFMR observer gives away when bins fall elsewhere (docs/deep.md)
	@QC_SHARED=$(abspath $(QC_SHARED)) $< $(SCALINGS)

PAIRS ?= 0 1 2 3 4 5 6 7 8 9
exhaustive: $(BUILD)/deep/exhaustive ## requantize and quantize all 2^32 inputs for ten scales (docs/deep.md)
	@printf '%s\n' $(PAIRS) | xargs -n 1 -P "$$(nproc 2>/dev/null || echo 1)" $<

frama-c: ## analyse and prove the roundings with Frama-C (docs/deep.md)
	@sh tests/proof/run.sh $(BUILD)/frama-c

size: ## print bytes and stack per function on Cortex-M4 and M0, and per kind of program
	@mkdir -p $(BUILD)/size
	@sh tests/cross/size.sh build $(BUILD)/size
	@sh tests/cross/size.sh functions $(BUILD)/size
	@echo "linked bytes: core, what for"; sh tests/cross/size.sh sets $(BUILD)/size
	@echo "largest stack frame"; sh tests/cross/size.sh stack $(BUILD)/size

demo: deps ## install what is missing, build, and classify real images in integers
	@$(MAKE) --no-print-directory all
	@sh examples/digits/demo.sh $(BUILD)/quantc "$(CC)" $(BUILD)

formats: $(BUILD)/schemac ## write docs/formats.md from proto/
	$(BUILD)/schemac --docs docs/formats.md $(sort $(PROTO_SRC))

# ---- packages ----

deps: ## install the packages that building needs
	@CC="$(CC)" .ci/deps build
deps-check: ## install what the tests need too
	@CC="$(CC)" .ci/deps check
deps-all: ## install also cross compilers, emulators and outside judges
	@CC="$(CC)" BUILD=$(BUILD) .ci/deps all
deps-deep: ## install what the deep targets need, but for Frama-C
	@CC="$(CC)" .ci/deps deep
deps-look:
	@CC="$(CC)" .ci/deps list

# ---- installing ----

VERSION = $(shell sed -n 's/^\#define QC_VERSION "\(.*\)"/\1/p' gen/qc.h)
INSTALL_DATA = install -m 644
D = $(DESTDIR)$(PREFIX)

install: all ## install under $(DESTDIR)$(PREFIX)
	install -d $(D)/bin $(D)/lib/cmake/quantc $(D)/include/quantc $(D)/share/man/man1 $(D)/share/pkgconfig \
	    $(D)/share/quantc/runtime $(D)/share/bash-completion/completions $(D)/share/zsh/site-functions \
	    $(D)/share/fish/vendor_completions.d
	install -m 755 $(BUILD)/quantc $(D)/bin/quantc
	$(INSTALL_DATA) $(wildcard $(TARGET_BUILD)/libquantrt*.a) $(D)/lib
	$(INSTALL_DATA) $(wildcard runtime/qrt*.h) runtime/qrt_ops.def $(D)/include/quantc
	$(INSTALL_DATA) $(filter-out $(wildcard runtime/*ascend*),$(wildcard runtime/*.[ch])) runtime/qrt_ops.def $(D)/share/quantc/runtime
	$(INSTALL_DATA) gen/integration/quantc.mk $(D)/share/quantc
	$(INSTALL_DATA) gen/integration/quantcConfig.cmake $(D)/lib/cmake/quantc
	sed 's|@VERSION@|$(VERSION)|' gen/integration/quantcConfigVersion.cmake.in >$(D)/lib/cmake/quantc/quantcConfigVersion.cmake
	sed 's|@VERSION@|$(VERSION)|; s|@PREFIX@|$(PREFIX)|' gen/integration/quantc.pc.in >$(D)/share/pkgconfig/quantc.pc
	$(INSTALL_DATA) $(wildcard docs/*.1) $(D)/share/man/man1
	$(INSTALL_DATA) gen/integration/quantc.bash $(D)/share/bash-completion/completions/quantc
	$(INSTALL_DATA) gen/integration/quantc.zsh $(D)/share/zsh/site-functions/_quantc
	$(INSTALL_DATA) gen/integration/quantc.fish $(D)/share/fish/vendor_completions.d/quantc.fish

clean: ## remove everything that was built
	rm -rf $(BUILD)

help: ## print this list
	@sed -n 's/^\([a-z0-9-]*\):.*## \(.*\)/  make \1|\2/p' Makefile | awk -F'|' '{printf "%-22s %s\n", $$1, $$2}'

.PHONY: always all runtime tests check bench coverage sanitize analyze fuzz fuzz-afl fuzz-deep reprotest ifmr-quality exhaustive size frama-c demo formats deps deps-check deps-all deps-deep deps-look install clean help

-include $(wildcard $(BUILD)/obj/*/*.d $(BUILD)/obj/*.d $(BUILD)/tests/*.d $(BUILD)/deep/*.d $(TARGET_BUILD)/obj/*/*.d)
