#!/bin/sh
# Group H of the offload conformance suite, and what the linker sees: without
# the facility there is nothing of it, with it only what is named is linked.
. "$(dirname "$0")/lib.sh"
root=$(cd "$(dirname "$0")/.." && pwd)
cd "$root" || exit 1
flags="-std=c99 -Os -ffreestanding -fno-builtin -ffunction-sections -Iruntime"
device=examples/offload

cat >"$work/job.c" <<'END'
#include <stdio.h>
#include "qrt_offload.h"
static const qrt_cpu_fn cpu[QRT_JOB_KINDS] = {QRT_CPU_QUANT};
static struct qrt_offload o = {.cpu = cpu};
static float x[500];
static int8_t q[500];
static const struct qrt_real step = {1274746240, -4};
static const int32_t zero = -7;
static const struct qrt_off_quant quant = {&step, NULL, &zero, 0};
#if QRT_OFFLOAD
static int32_t yes(void *c, const struct qrt_off_host *h, const void *f)
{ (void)c; (void)h; (void)f; return QRT_OFF_OK; }
static void close_(void *c) { (void)c; }
static int32_t no(void *c, const struct qrt_off_job *j, struct qrt_off_reply *r)
{ (void)c; (void)j; (void)r; return QRT_OFF_DECLINED; }
static int32_t submit(void *c, const struct qrt_off_job *j, uint32_t *t)
{ (void)c; (void)j; (void)t; return QRT_OFF_DECLINED; }
static int32_t wait_(void *c, uint32_t t, uint32_t ms)
{ (void)c; (void)t; (void)ms; return QRT_OFF_LOST; }
static int32_t quiesce(void *c) { (void)c; return QRT_OFF_OK; }
static const struct qrt_off_backend declines = {
    QRT_OFF_ABI, sizeof declines, "declines", 0x7ff, 0, 1, 1, 0,
    yes, close_, no, submit, wait_, quiesce, NULL};
#endif
int main(void)
{
    struct qrt_off_job job = {.size = sizeof job, .op = QRT_JOB_QUANT,
        .bits = 8, .outer = 1, .channels = 1, .inner = 500,
        .in = {{x, 500, QRT_T_F32, {0}}}, .out = {{q, 500, QRT_T_I8, {0}}},
        .params = &quant, .params_size = sizeof quant};
    for (int i = 0; i < 500; i++)
        x[i] = (float)(i * 7919 % 2001) * 0.005f - 5.0f;
#if QRT_OFFLOAD
    if (qrt_offload_attach(&o, &declines, NULL, 0, NULL, NULL) != QRT_OFF_OK)
        return 2;
#endif
    for (int rule = 0; rule < QRT_RULE_KINDS + 1; rule++) {
        struct qrt_real recip;
        struct qrt_off_quant p = quant;
        (void)qrt_real_reciprocal(step, &recip);
        p.recip = &recip;
        job.params = &p;
        job.rule = (uint8_t)rule;
        printf("%d:", (int)qrt_run(&o, &job));
        for (int i = 0; i < 500; i++)
            printf(" %d", q[i]);
        puts("");
    }
    job.op = QRT_JOB_ARQ; /* no kernel named */
    printf("%d\n", (int)qrt_run(&o, &job));
    return 0;
}
END

build() { # build N: a library and the program with QRT_OFFLOAD=N
    mkdir -p "$work/$1" && rm -f "$work/$1"/*.o "$work/$1"/*.a
    for f in runtime/*.c; do
        case $f in *_f32.c | *ascend*) continue ;; esac
        # shellcheck disable=SC2086
        $CC $flags -DQRT_OFFLOAD="$1" -c "$f" -o "$work/$1/$(basename "$f" .c).o" || return 1
    done
    ar rcD "$work/$1/lib.a" "$work/$1"/*.o &&
        $CC -std=c99 -Wall -Wextra -O1 -DQRT_OFFLOAD="$1" -Iruntime "$work/job.c" "$work/$1/lib.a" -o "$work/$1/job"
}
same_output() {
    "$work/0/job" >"$work/0.txt" && "$work/1/job" >"$work/1.txt" &&
        cmp "$work/0.txt" "$work/1.txt" && grep -q '^-32$' "$work/1.txt" &&
        grep -q '^0: [-0-9]' "$work/1.txt"
}
no_symbols() { # no_symbols N PATTERN: the program has none like it
    nm "$work/$1/job" | grep -E " [A-Za-z] ($2)" && return 1
    return 0
}
empty() { # empty OBJECT: defines nothing
    [ -z "$(nm "$work/0/$1.o" 2>/dev/null)" ]
}
own_names_only() {
    nm -u "$work/1/offload.o" "$work/1/offload_job.o" "$work/1/offload_verify.o" |
        grep -E '^ +U ' | grep -vE ' U (qrt_|_GLOBAL_OFFSET_TABLE_)' && return 1
    nm "$work"/1/offload*.o | grep -E ' [wWvV] ' && return 1
    return 0
}
compiles() { # compiles FLAGS...
    printf '#include "qrt_offload.h"\nint unit;\n' | $CC -std=c99 -Iruntime "$@" -x c -c - -o "$work/unit.o"
}
read_only() { # the example's table, in a firmware's kind of build
    $CC -std=c99 -O1 -fno-pic -DQRT_OFFLOAD=1 -Iruntime -I$device -c $device/npu_backend.c -o "$work/npu.o" &&
        nm "$work/npu.o" | grep -q ' R npu_backend'
}
example() {
    sh $device/demo.sh "$CC" "$BUILD" >"$work/example.txt" &&
        sed -n 's/^ *\(attach\|10 batches\)/\1/p' $device/README.md >"$work/readme.txt" &&
        cmp "$work/example.txt" "$work/readme.txt"
}
size_of() { # size_of FILE...: bytes on a Cortex-M4
    total=0
    for f in "$@"; do
        arm-none-eabi-gcc -mcpu=cortex-m4 -mthumb $flags -DQRT_OFFLOAD="$want" -c "runtime/$f.c" -o "$work/m4.o" || return 1
        total=$((total + $(arm-none-eabi-size "$work/m4.o" | awk 'NR == 2 {print $1 + $2 + $3}')))
    done
    echo "$total"
}
at_most() { # at_most BYTES SWITCH FILE...
    limit=$1
    want=$2
    shift 2
    bytes=$(size_of "$@") && echo "QRT_OFFLOAD=$want, $*: $bytes bytes on Cortex-M4" >&3 && [ "$bytes" -le "$limit" ]
}
exec 3>&1

ok "QRT_OFFLOAD=1 builds" build 1
ok "QRT_OFFLOAD=0 builds" build 0
ok "both give the same outputs" same_output
ok "nothing of the dispatcher in the program without it" no_symbols 0 'qrt_(offload|run|start|finish|verify|job_check)'
ok "nothing in offload.o without it" empty offload
ok "nothing in offload_verify.o without it" empty offload_verify
ok "kernels that are not named are not linked" no_symbols 1 'qrt_(cpu_(dequant|requant|ulq|ifmr)|requantize|dequantize|antiquantize|ulq|ifmr|verify)'
ok "own names only, none weak" own_names_only
ok "the header with 1" compiles -DQRT_OFFLOAD=1
ok "the header with 0" compiles -DQRT_OFFLOAD=0
for f in -UQRT_OFFLOAD -DQRT_OFFLOAD=2 -DQRT_OFFLOAD=yes -DQRT_OFFLOAD=; do
    fails 1 "the header refuses $f" compiles "$f"
done
ok "a backend's table is read-only data" read_only
ok "the example prints what its README says" example
if has arm-none-eabi-gcc && has arm-none-eabi-size; then
    ok "dispatcher within 1.4 KiB" at_most 1433 1 offload offload_job
    ok "with verify within 2.2 KiB" at_most 2252 1 offload offload_job offload_verify
    ok "no code at all with 0" at_most 0 0 offload offload_verify
else
    skip 3 "sizes: no arm-none-eabi-gcc"
fi
finish
