#!/usr/bin/env bash
# fuzz.sh - fuzz.sh SECONDS TARGET ...: run each fuzz target over the inputs that are kept, then for SECONDS look for new ones.
# An input that breaks something is written to tests/fuzz/corpus/NAME/ and belongs into the next commit.
set -u
seconds=$1
shift
targets=("$@")
passed=0 failed=0
for target in "${targets[@]}"; do
	name=${target##*/fuzz_}
	corpus=tests/fuzz/corpus/$name
	mkdir -p "$corpus"
	found=$(mktemp -d)
	if [ "$seconds" -eq 0 ]; then
		set -- -runs=0 "$corpus"
	else
		set -- -max_total_time="$seconds" -artifact_prefix="$corpus/" "$found" "$corpus"
	fi
	if out=$("$target" -rss_limit_mb=2048 -timeout=10 "$@" 2>&1); then
		passed=$((passed + 1))
	else
		failed=$((failed + 1))
		printf '== %s\n%s\n' "$target" "$(tail -n 40 <<<"$out")"
	fi
	rm -rf "$found"
done
printf '%d passed, %d failed, 0 skipped\n' "$passed" "$failed"
[ "$failed" -eq 0 ]
