#!/bin/sh
# The Ascend backend on the simulator of tests/acl: conformance groups in every
# profile, errors injected at every call, deliberately broken backends,
# sanitizers, installations that lack something. What it cannot show is
# anything about a device.
. "$(dirname "$0")/lib.sh"
root=$(cd "$(dirname "$0")/.." && pwd)
cd "$root" || exit 1
acl=tests/acl

if [ "$(uname)" != Linux ] || [ ! -e "$BUILD/libquantrt-ascend.a" ]; then
    skip 1 "the Ascend backend is built on Linux only"
    finish
fi

flags="-std=gnu99 -Wall -Wextra -DQRT_OFFLOAD=1 -O1 -gdwarf-4 -ffp-contract=off -Iruntime -I$acl -pthread"
libs="$BUILD/libquantrt-f32.a $BUILD/libquantrt.a -lm"
sources="runtime/ascend_aclnn.c runtime/ascend_aclop.c runtime/ascend_codes.c runtime/ascend_jobs.c
    runtime/ascend_load.c runtime/ascend_stage.c runtime/offload_ascend.c"

program() { # program NAME EXTRA...: the suite, linked with the archive
    name=$1
    shift
    # shellcheck disable=SC2086
    $CC $flags "$@" $acl/suite.c -o "$work/$name" "$BUILD/libquantrt-ascend.a" $libs
}
sanitized() { # sanitized NAME FLAGS: suite, backend and simulator
    # shellcheck disable=SC2086
    sh $acl/build.sh "$CC" "$work/acl-$1" "$2" &&
        $CC $flags $2 $acl/suite.c $sources -o "$work/suite-$1" $libs
}
run() { # run FOLDER PROGRAM ARGUMENT...: what it prints is shown if it fails
    folder=$1
    p=$2
    shift 2
    LD_LIBRARY_PATH="${sim:-$work/acl}/$folder:${sim:-$work/acl}/core" "$work/$p" "$@"
}
figures() { # figures COMMAND...: and shows its lines in the log
    "$@" >"$work/figures"
    status=$?
    cat "$work/figures"
    [ $status = 0 ] && sed 's/^/    /' "$work/figures" >&3
    return $status
}
exec 3>&1

ok "simulator; its declarations agree with the backend's" sh $acl/build.sh "$CC" "$work/acl"
ok "suite" program suite
for folder in old new both v1.2 poll; do
    ok "conformance, installation $folder" figures run $folder suite conformance $folder
done
ok "named checks" figures run old suite named
ok "every call fails with every code" figures run old suite inject
ok "threads" run old suite threads

ok "broken backends build" sh -c "$CC $flags -Wno-unused-function $acl/mutants.c -o $work/mutants $libs"
ok "broken backends are caught, each by its check" figures run old mutants

# ---- what an installation may lack ----

ok "no library: runs on the CPU and says so once" figures env -u LD_LIBRARY_PATH "$work/suite" absent
ok "a library of the library is missing" run needs suite open -39
ok "loading ends the process: found out in a child" run shim suite open -39 2
fails 255 "and without asking for that it does" run shim suite open -39
ok "version 1.0: the chip must be named" run v1.0 suite open -39
ok "version 1.0: single-operator models" run v1.0 suite open 0 0 Ascend910B1
ok "no wait that ends: refused" run endless suite open -38
ok "no wait that ends: taken when asked to" run endless suite open 0 1

lacking() { # lacking NEED STATUS...: every function of that kind, one at a time
    need=$1
    shift
    sed -n "s/^CALL([A-Z]*, $need, [^,]*, \([A-Za-z0-9]*\),.*/\1/p" runtime/ascend_calls.def >"$work/names"
    [ -s "$work/names" ] || return 1
    mkdir -p "$work/acl/lacks"
    while read -r name; do
        rm -f "$work/acl/lacks/"*
        found=1
        for lib in libascendcl.so libnnopbase.so libopapi.so; do
            cp "$work/acl/old/$lib" "$work/acl/lacks/$lib"
            "$work/suite" hide "$work/acl/old/$lib" "$work/acl/lacks/$lib" "$name" && found=0
        done
        good=1
        for status in "$@"; do
            [ $found = 0 ] && run lacks suite open "$status" 0 "${soc:-}" && good=0 && break
        done
        [ $good = 0 ] || {
            echo "without $name"
            return 1
        }
    done <"$work/names"
}
ok "each function that is needed is missing" lacking NEEDED -39
soc=Ascend910B1
ok "each other function is missing" lacking OPTIONAL 0
soc=

# ---- sanitizers, valgrind ----

if printf 'int main(void){return 0;}\n' | $CC -fsanitize=address,undefined -x c - -o "$work/probe" 2>/dev/null; then
    ok "sanitized build" sanitized asan "-fsanitize=address,undefined -fno-sanitize-recover=all"
    sim=$work/acl-asan
    ok "sanitized: conformance" run old suite-asan conformance
    ok "sanitized: named checks" run old suite-asan named
    ok "sanitized: injection, every 11th code" figures run old suite-asan inject 11
    sim=
else
    skip 4 "no address sanitizer"
fi
if printf 'int main(void){return 0;}\n' | $CC -fsanitize=thread -x c - -o "$work/probe" 2>/dev/null && "$work/probe"; then
    ok "thread-sanitized build" sanitized tsan "-fsanitize=thread"
    sim=$work/acl-tsan
    ok "thread-sanitized: two objects, and one on many threads" run old suite-tsan threads
    sim=
else
    skip 2 "no thread sanitizer"
fi
under_valgrind() {
    LD_LIBRARY_PATH="$work/acl/old:$work/acl/core" valgrind -q --error-exitcode=9 --leak-check=full "$work/suite" "$@"
}
if has valgrind; then
    ok "valgrind: named checks" under_valgrind named
    ok "valgrind: a sample of the injected errors" figures under_valgrind inject 93
else
    skip 2 "no valgrind"
fi

# ---- the archive ----

own_names() {
    nm -u "$BUILD/libquantrt-ascend.a" | awk '$1 == "U" {print $2}' | grep -E '^(acl|aclsim)' && return 1
    nm -g --defined-only "$BUILD/libquantrt-ascend.a" | awk 'NF == 3 {print $3}' | grep -vE '^qrt_' && return 1
    nm "$BUILD/libquantrt-ascend.a" | grep -E ' [wWvV] ' && return 1
    return 0
}
read_only() {
    $CC -std=c99 -O1 -fno-pic -fno-pie -D_POSIX_C_SOURCE=200809L -DQRT_OFFLOAD=1 -Iruntime -c runtime/offload_ascend.c -o "$work/table.o" &&
        nm "$work/table.o" | grep -q ' R qrt_backend_ascend'
}
ok "own names only, nothing of the vendor, none weak" own_names
ok "the table is read-only data" read_only
finish
