#!/bin/sh
# Instructions of the exact IFMR search: tests/bench/budget.sh.
exec sh "$(dirname "$0")/bench/budget.sh" "${CC:-cc}" "${BUILD:-build}"
