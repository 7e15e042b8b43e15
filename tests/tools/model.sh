#!/usr/bin/env bash
# model.sh - checks tests/model/idempotency.pml with spin, all states of it, and that its seeded faults are found. Usage: model.sh [deep]
# "deep" takes larger bounds: minutes and gigabytes instead of seconds.
set -u
cd "$(dirname "$0")/../.." || exit 1
model=$PWD/tests/model/idempotency.pml
passed=0 failed=0
t=$(mktemp -d)
trap 'rm -rf "$t"' EXIT

verdict() {
	if [ "$1" -eq 0 ]; then
		passed=$((passed + 1))
		printf 'ok      %s\n' "$2"
	else
		failed=$((failed + 1))
		printf 'FAILED  %s\n' "$2"
	fi
}
# search KIND OPTIONS: every state (KIND safety) or every fair cycle (KIND liveness); its report is in $t/out.
search() {
	local kind=$1 build run
	shift
	case $kind in
	safety) build='-DSAFETY -DNOCLAIM' run='-m200000' ;;
	liveness) build='-DNFAIR=3' run='-a -f -m400000 -N settled' ;;
	esac
	# shellcheck disable=SC2086
	(cd "$t" && rm -f ./*.trail && spin -a "$@" "$model" >spin.log && gcc -w $optimise -DCOLLAPSE $build -o pan pan.c && ./pan $run >out 2>&1) || {
		cat "$t/spin.log" "$t/out" 2>/dev/null
		return 2
	}
}
# A search that ran into a bound of its own has not seen every state.
holds() {
	optimise=-O2
	search "$@" && grep -q 'errors: 0$' "$t/out" && ! grep -qE 'Search not completed|max search depth|out of memory' "$t/out"
	verdict $? "$*: $(sed -nE 's/^ *([0-9]+) states, stored.*/\1/p' "$t/out") states"
}
is_found() {
	optimise=-O0
	search "$@" && grep -qE '^pan:1: (assertion violated|acceptance cycle)' "$t/out"
	verdict $? "$*: $(sed -nE 's/^pan:1: (assertion violated|acceptance cycle).*/\1/p' "$t/out")"
}

# What the model says the program does must be there to be done.
grep -oE 'C: [a-z_]+(, [a-z_]+)*' "$model" | sed 's/^C: //' | tr -s ', ' '\n' | sort -u >"$t/names"
missing=$(while read -r name; do grep -qE "^$name\(" app/*/*.c || echo "$name"; done <"$t/names")
[ -s "$t/names" ] && [ -z "$missing" ]
verdict $? "$(wc -l <"$t/names") functions that the model names are in the sources${missing:+, but for: $missing}"

stalled='-DSTALLS=1 -DFAILURES=1' alive='-DSTALLS=0 -DFAILURES=0'
if [ "${1:-}" = deep ]; then
	holds safety -DCRASHES=2 -DLOSSES=2
	# shellcheck disable=SC2086
	holds safety -DLONG -DCRASHES=1 -DLOSSES=0 $stalled
	exit "$failed"
fi
# shellcheck disable=SC2086
{
	holds safety -DCRASHES=1 -DLOSSES=1
	holds liveness -DCRASHES=1 -DLOSSES=1
	holds safety -DLONG -DCRASHES=1 -DLOSSES=0 -DSTALLS=1 -DFAILURES=0
	holds safety -DLONG -DCRASHES=0 -DLOSSES=0 $stalled
	holds liveness -DLONG -DCRASHES=1 -DLOSSES=0 $alive
	is_found safety -DCLAIM_AFTER_COMMIT
	is_found safety -DLOOK_THEN_INSERT
	is_found safety -DREPLY_FIRST
	is_found safety -DLONG -DNO_GUARD
	is_found liveness -DLONG -DNO_TAKEOVER -DCRASHES=1 -DLOSSES=0 $alive
}
echo "$passed passed, $failed failed, 0 skipped"
[ "$failed" -eq 0 ]
