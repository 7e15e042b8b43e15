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
	# The analyzer's core checks look into one file and do not know that fail() never gives OK: they see values that were never read.
	checks='-*,bugprone-*,cert-*,clang-analyzer-*,-bugprone-easily-swappable-parameters,-bugprone-reserved-identifier,-bugprone-assignment-in-if-condition,-bugprone-suspicious-include,-bugprone-narrowing-conversions,-cert-dcl37-c,-cert-dcl51-cpp,-cert-err33-c,-cert-dcl16-c,-clang-analyzer-security.insecureAPI.DeprecatedOrUnsafeBufferHandling,-clang-analyzer-valist.Uninitialized,-clang-analyzer-core.*,-clang-analyzer-optin.performance.Padding,-bugprone-implicit-widening-of-multiplication-result,-cert-err34-c,-bugprone-macro-parentheses'
	flags="-std=gnu11 -Iapp -I$build -D_GNU_SOURCE -DSTELE_VERSION='\"0\"' $(pkg-config --cflags libxml-2.0 jansson icu-uc)"
	flags="$flags $(cat /usr/share/kore/features 2>/dev/null)"
	# The files stand before "--", and xargs puts them last.
	# shellcheck disable=SC2016
	find app -name '*.c' -print0 | CHECKS=$checks FLAGS=$flags xargs -0 -r -n 4 -P "$(nproc)" \
		sh -c 'eval "set -- \"\$@\" -- $FLAGS"; exec clang-tidy --quiet --warnings-as-errors="*" --checks="$CHECKS" "$@" 2>/dev/null' sh ||
		failed=1
fi
[ "$failed" -eq 0 ]
