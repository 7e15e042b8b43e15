#!/usr/bin/env bash
# lint.sh - lint.sh BUILD: what reads the sources without running them. Tools that are not installed are named and left out.
set -u
build=${1:-build}
failed=0
try() {
	if ! command -v "$1" >/dev/null; then
		echo "lint: $1 is not installed"
	elif ! "$@"; then
		echo "lint: $1 failed"
		failed=1
	fi
}
tests/tools/layers.sh || failed=1
try shellcheck run check .ci/run conf/*.sh tests/tools/*.sh
try cppcheck --quiet --error-exitcode=1 --std=c11 --enable=warning,portability --inline-suppr \
	--suppress=missingIncludeSystem --suppress=varFuncNullUB -Iapp -I"$build" -D_GNU_SOURCE -DSTELE_VERSION='"0"' app
if command -v clang-tidy >/dev/null; then
	# shellcheck disable=SC2046
	find app -name '*.c' -print0 | xargs -0 -r -n 4 -P "$(nproc)" clang-tidy --quiet --warnings-as-errors='*' \
		--checks='-*,bugprone-*,cert-*,clang-analyzer-*,-bugprone-easily-swappable-parameters,-bugprone-reserved-identifier,-bugprone-assignment-in-if-condition,-bugprone-suspicious-include,-bugprone-narrowing-conversions,-cert-dcl37-c,-cert-dcl51-cpp,-cert-err33-c,-cert-dcl16-c,-clang-analyzer-security.insecureAPI.DeprecatedOrUnsafeBufferHandling,-clang-analyzer-valist.Uninitialized' \
		-- -std=gnu11 -Iapp -I"$build" -D_GNU_SOURCE -DSTELE_VERSION='"0"' \
		$(pkg-config --cflags libxml-2.0 jansson icu-uc) $(cat /usr/share/kore/features) 2>/dev/null || failed=1
fi
[ "$failed" -eq 0 ]
