#!/usr/bin/env bash
# unit.sh - run unit test programs; print what failed, and at the end "N passed, N failed, N skipped".
# A program that crashes, hangs or runs no test counts as one failure.
set -u
passed=0 failed=0 skipped=0
for t in "$@"; do
	out=$(CMOCKA_MESSAGE_OUTPUT=TAP ASAN_OPTIONS=abort_on_error=0 UBSAN_OPTIONS=print_stacktrace=1 timeout 300 "$t" 2>&1 </dev/null)
	code=$?
	# cmocka says "not ok N # SKIP name" of a test that was skipped.
	skip=$(grep -ciE '^(not )?ok [0-9]+ # skip' <<<"$out")
	ok=$(grep -iE '^ok [0-9]+' <<<"$out" | grep -civ '# skip')
	bad=$(grep -iE '^not ok [0-9]+' <<<"$out" | grep -civ '# skip')
	if [ "$code" -ne 0 ] && [ "$bad" -eq 0 ] || [ $((ok + bad + skip)) -eq 0 ]; then
		bad=$((bad + 1))
	fi
	if [ "$bad" -gt 0 ]; then
		printf '== %s (exit %d)\n%s\n' "$t" "$code" "$(grep -v '^ok ' <<<"$out" | tail -n 60)"
	fi
	if [ "$skip" -gt 0 ]; then
		printf '== %s: %d skipped\n%s\n' "$t" "$skip" "$(grep -v '^\(not \)\?ok ' <<<"$out" | tail -n 5)"
	fi
	# Where everything is there, nothing is skipped but for the reasons that are listed.
	if [ "$skip" -gt 0 ] && [ "${CI:-}" = true ] && ! grep -qFf <(grep -v '^#' tests/skips.txt) <<<"$out"; then
		printf '== %s: skipped for a reason that tests/skips.txt does not list\n' "$t"
		bad=$((bad + skip))
		skip=0
	fi
	passed=$((passed + ok)) failed=$((failed + bad)) skipped=$((skipped + skip))
done
printf '%d passed, %d failed, %d skipped\n' "$passed" "$failed" "$skipped"
[ "$failed" -eq 0 ]
