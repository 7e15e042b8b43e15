#!/usr/bin/env bash
# replay.sh - run each fuzz target over the inputs that are kept; the last line is "N passed, N failed, N skipped".
set -u
passed=0 failed=0
for target in "$@"; do
	mapfile -d '' files < <(find "tests/fuzz/corpus/${target##*/}" -type f -print0 2>/dev/null)
	if [ ${#files[@]} -gt 0 ] && out=$(timeout 300 "$target" "${files[@]}" 2>&1); then
		passed=$((passed + 1))
	else
		failed=$((failed + 1))
		printf '== %s, %d inputs\n%s\n' "$target" ${#files[@]} "$(tail -n 40 <<<"${out:-}")"
	fi
done
printf '%d passed, %d failed, 0 skipped\n' "$passed" "$failed"
[ "$failed" -eq 0 ]
