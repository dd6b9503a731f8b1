#!/bin/sh
# Calibrates on data that stand in numbered folders DIR/0, DIR/1, ...: every
# folder is a shard, as many at once as there are cores.
#
#   shards.sh CONFIG MODEL DIR RECORD
#
# With a job array the line with xargs becomes the array: one job for each
# folder, with the same command. States and rounds are left in DIR.
set -eu
config=$1 model=$2 dir=$3 record=$4
: "${QUANTC:=quantc}"
export QUANTC config model dir
rm -f "$dir"/[0-9]*.qobs "$dir"/again.*
again= round=1
while :; do
    export again
    # shellcheck disable=SC2016 # expanded by the inner shell
    (cd "$dir" && ls -d [0-9]*/) | tr -d / |
        xargs -P "$(nproc)" -I '{}' sh -c '"$QUANTC" calibrate "$config" \
            --model "$model" --data "$dir/{}" --partial "$dir/{}.qobs" \
            ${again:+--resume "$again"}'
    status=0
    "$QUANTC" merge "$dir"/[0-9]*.qobs -o "$record" \
        --again "$dir/again.$round" || status=$?
    [ $status = 5 ] || exit $status
    again=$dir/again.$round
    round=$((round + 1))
done
