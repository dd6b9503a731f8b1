#!/bin/sh
# The same with MPI: process k of N calibrates folder DIR/k. quantc itself knows
# nothing of MPI; mpirun places the processes.
#
#   mpi.sh N CONFIG MODEL DIR RECORD
#
# DIR is seen by all nodes. Give hosts to mpirun with MPIRUN="mpirun -H a,b".
set -eu
n=$1 config=$2 model=$3 dir=$4 record=$5
: "${QUANTC:=quantc}" "${MPIRUN:=mpirun}"
export QUANTC config model dir
rm -f "$dir"/[0-9]*.qobs "$dir"/again.*
again= round=1
while :; do
    export again
    # shellcheck disable=SC2016 # expanded by the inner shell
    $MPIRUN -n "$n" -x QUANTC -x config -x model -x dir -x again sh -c '
        k=$OMPI_COMM_WORLD_RANK
        exec "$QUANTC" calibrate "$config" --model "$model" --data "$dir/$k" \
            --partial "$dir/$k.qobs" ${again:+--resume "$again"}'
    status=0
    "$QUANTC" merge "$dir"/[0-9]*.qobs -o "$record" \
        --again "$dir/again.$round" || status=$?
    [ $status = 5 ] || exit $status
    again=$dir/again.$round
    round=$((round + 1))
done
