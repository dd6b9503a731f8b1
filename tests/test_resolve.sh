#!/bin/sh
# Configurations against models: tests/resolve/*.case. A case is a text of
#   # comment                 what it shows
#   @ file NAME               a file, until the next line that begins with @
#   @ run ARGUMENTS           quantc is run in a folder that holds the files;
#                             $models is the folder of small ONNX models
#   @ exit N                  how it must end (0 when left out)
#   @ stdout, @ stderr        what it must print, exactly (nothing)
. "$(dirname "$0")/lib.sh"
# shellcheck disable=SC2034
models=$(cd "$(dirname "$0")/models" && pwd)
cases=$(cd "$(dirname "$0")/resolve" && pwd)

split() { # split CASE: into the current folder
    awk '
    /^@ file / { out = $3; printf "" >out; next }
    /^@ run / { n++; sub(/^@ run /, ""); print >("run." n); out = ""; next }
    /^@ exit / { print $3 >("exit." n); out = ""; next }
    /^@ (stdout|stderr)$/ { out = $2 "." n; next }
    out != "" { print >out }' "$1"
}

run() { # run N: in the current folder
    eval "\"\$QUANTC\" $(cat "run.$1")" >got.out 2>got.err
    status=$?
    want=0
    [ -f "exit.$1" ] && want=$(cat "exit.$1")
    for s in out err; do
        # A last line without an end is a line too.
        awk 1 "got.$s" >"seen.$s"
        [ -f "std$s.$1" ] || : >"std$s.$1"
    done
    if [ "$status" != "$want" ]; then
        echo "exit status $status, expected $want"
        cat got.err
        return 1
    fi
    diff "stdout.$1" seen.out && diff "stderr.$1" seen.err
}

for case in "$cases"/*.case; do
    name=$(basename "$case" .case)
    mkdir -p "$work/$name"
    cd "$work/$name" || exit 1
    split "$case"
    n=1
    while [ -f "run.$n" ]; do
        ok "$name: quantc $(cat "run.$n")" run "$n"
        n=$((n + 1))
    done
done
finish
