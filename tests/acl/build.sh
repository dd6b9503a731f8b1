#!/bin/sh
# Builds the simulator: build.sh CC DIR [CFLAGS]. DIR gets one folder per
# installation that a test may find:
#   old     libascendcl.so, libnnopbase.so, libopapi.so
#   new     the parts of libascendcl.so as files of their own, libopapi_nn.so
#   both    all of them
#   v1.0    old, without what came later and without aclnn
#   v1.2    old, without what came with 8.5
#   poll    old, without a wait that can be timed
#   endless old, without any wait that ends
#   needs   libascendcl.so that wants a library which does not exist
#   shim    libascendcl.so that ends the process
#   core    what they share
set -eu
cc=$1
dir=$2
flags="-std=c99 -Wall -Wextra -gdwarf-4 -O1 -fPIC -ffp-contract=off -pthread ${3:-}"
here=$(cd "$(dirname "$0")" && pwd)
rm -rf "$dir"
mkdir -p "$dir"
cd "$dir"
mkdir core old new both v1.0 v1.2 poll endless needs shim
for f in core math rt op nn api; do
    # shellcheck disable=SC2086
    $cc $flags -c "$here/sim_$f.c" -o $f.o &
done
# shellcheck disable=SC2086
$cc $flags -Werror -D_POSIX_C_SOURCE=200809L -DQRT_OFFLOAD=1 -I"$here/../../runtime" -c "$here/sim_check.c" -o check.o
wait
# shellcheck disable=SC2086
$cc $flags -shared -Wl,-soname,libaclsim_core.so core.o math.o -o core/libaclsim_core.so -lm
lib() { # lib FOLDER NAME OBJECT...
    folder=$1
    name=$2
    shift 2
    # shellcheck disable=SC2086
    $cc $flags -shared -Wl,-soname,"$name" "$@" -Lcore -laclsim_core -o "$folder/$name"
}
lib old libascendcl.so rt.o op.o
lib old libnnopbase.so nn.o
lib old libopapi.so api.o
lib new libacl_rt.so rt.o
lib new libacl_mdl.so op.o
lib new libacl_op_executor.so op.o
cp old/libnnopbase.so new
lib new libopapi_nn.so api.o
cp old/* both
cp new/libacl_* new/libopapi_nn.so both
printf 'void gone(void); void aclInit(void); void aclInit(void) { gone(); }\n' >gone.c
printf 'void gone(void); void gone(void) {}\n' >lib.c
# shellcheck disable=SC2086
$cc $flags -shared -Wl,-soname,libascend_hal.so lib.c -o libascend_hal.so
# shellcheck disable=SC2086
$cc $flags -shared gone.c -L. -lascend_hal -o needs/libascendcl.so
rm libascend_hal.so
printf '#include <unistd.h>\n__attribute__((constructor)) static void start(void) { _exit(255); }\n' >shim.c
# shellcheck disable=SC2086
$cc $flags -shared shim.c -o shim/libascendcl.so
without() { # without FOLDER NAME OBJECTS FUNCTION...: a library lacking some
    folder=$1
    name=$2
    objects=$3
    shift 3
    printf '{ local: ' >hide.map
    printf '%s; ' "$@" >>hide.map
    printf '};\n' >>hide.map
    # shellcheck disable=SC2086
    $cc $flags -shared -Wl,-soname,"$name" -Wl,--version-script=hide.map $objects -Lcore -laclsim_core -o "$folder/$name"
}
without v1.0 libascendcl.so "rt.o op.o" aclFinalizeReference aclrtGetSocName aclrtDestroyStreamForce \
    aclrtSynchronizeStreamWithTimeout aclrtStreamAbort aclGetRecentErrMsg
without v1.2 libascendcl.so "rt.o op.o" aclFinalizeReference aclrtStreamAbort
without v1.2 libnnopbase.so nn.o aclSetAclOpExecutorRepeatable aclDestroyAclOpExecutor
without v1.2 libopapi.so api.o aclnnAscendQuantV3 aclnnAscendQuantV3GetWorkspaceSize
without poll libascendcl.so "rt.o op.o" aclrtSynchronizeStreamWithTimeout aclrtStreamAbort
cp old/libnnopbase.so old/libopapi.so poll
without endless libascendcl.so "rt.o op.o" aclrtSynchronizeStreamWithTimeout aclrtStreamQuery
cp old/libnnopbase.so old/libopapi.so endless
