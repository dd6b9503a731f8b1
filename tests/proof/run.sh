#!/bin/sh
# Frama-C over fixed.h and fixed.c: Eva on every allowed argument (eva.c), WP on
# the contracts of wp.c. Fails when there are more alarms, or fewer proofs, than
# docs/deep.md explains.
#   run.sh OUT      from the top folder; the two logs go to OUT
set -eu
out=$1
alarms_known=2
proofs_known=44
mkdir -p "$out"
for tool in frama-c why3 z3; do
    command -v $tool >/dev/null 2>&1 || {
        echo "frama-c: no $tool (Debian: frama-c-base why3 z3)" >&2
        exit 1
    }
done
[ -f "$HOME/.why3.conf" ] || why3 config detect >/dev/null 2>&1
share=$(frama-c -print-share-path)/libc

frama-c -machdep gcc_x86_64 -cpp-extra-args="-I$PWD/runtime -I$share" -eva -eva-precision 6 \
    tests/proof/eva.c runtime/fixed.c >"$out/eva.log" 2>&1
grep -A 2 '^\[eva:alarm\]' "$out/eva.log" || true
grep -q 'statements reached.*100% coverage' "$out/eva.log"
alarms=$(sed -n 's/^ *\([0-9]*\) alarms\{0,1\} generated.*/\1/p' "$out/eva.log")
echo "Eva: ${alarms:-0} alarms, $alarms_known explained in docs/deep.md"

frama-c -machdep gcc_x86_64 -cpp-extra-args="-I$PWD/runtime" -wp -wp-rte -wp-prover z3 -wp-timeout 10 \
    -wp-fct qrt_clamp32,qrt_sat32,qrt_sat16,qrt_sat8,qrt_abs32,qrt_abs64,qrt_signed64,qrt_high32 \
    tests/proof/wp.c >"$out/wp.log" 2>&1
grep -E 'Failed|Timeout|Unknown' "$out/wp.log" || true
proofs=$(sed -n 's/.*Proved goals: *\([0-9]*\) .*/\1/p' "$out/wp.log")
goals=$(sed -n 's|.*Proved goals: *[0-9]* */ *\([0-9]*\).*|\1|p' "$out/wp.log")
echo "WP: $proofs of $goals goals proved"
[ "${alarms:-0}" -le $alarms_known ] && [ "$proofs" -ge $proofs_known ]
