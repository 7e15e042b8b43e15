#!/usr/bin/env bash
# fuzz.sh - fuzz.sh SECONDS TARGET ...: run each fuzz target over the inputs that are kept, then look for new ones.
# An input that breaks something is written to tests/fuzz/corpus/NAME/ and belongs into the next commit.
set -u
seconds=$1
shift
failed=0
for target in "$@"; do
	corpus=tests/fuzz/corpus/${target##*/fuzz_}
	mkdir -p "$corpus"
	found=$(mktemp -d)
	"$target" -max_total_time="$seconds" -rss_limit_mb=2048 -timeout=10 -print_final_stats=1 -artifact_prefix="$corpus/" \
		"$found" "$corpus" || failed=$((failed + 1))
	rm -rf "$found"
done
[ "$failed" -eq 0 ]
