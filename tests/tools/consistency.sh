#!/usr/bin/env bash
# consistency.sh - lists that must say the same: routes, writes, errors, metrics, settings, and the pages that explain them.
set -u
cd "$(dirname "$0")/../.." || exit 1
bad=0
# same WHAT FILE_A FILE_B: two sorted lists must be equal.
same() {
	local difference
	difference=$(diff "$2" "$3") || {
		printf '%s:\n%s\n' "$1" "$difference"
		bad=1
	}
	[ -s "$2" ] || {
		printf '%s: the list is empty\n' "$1"
		bad=1
	}
}
# within WHAT LIST FILE...: every word of the list stands in one of the files.
within() {
	local what=$1 list=$2 word
	shift 2
	while read -r word; do
		grep -qwF -- "$word" "$@" || {
			printf '%s: %s is missing in %s\n' "$what" "$word" "$*"
			bad=1
		}
	done <"$list"
}
t=$(mktemp -d)
trap 'rm -rf "$t"' EXIT

# Every route that writes has its rule for repeats, and every rule its route.
sed -nE 's/^ROUTE\((POST|PUT|PATCH|DELETE), "([^"]*)".*/\1 \2/p' app/http/routes.def | sort >"$t/routes"
sed -nE 's/^WRITE\([A-Z0-9_]+, "([A-Z]+)", "([^"]*)".*/\1 \2/p' app/core/writes.def | sort >"$t/writes"
same 'routes.def against writes.def (< only a route, > only a rule)' "$t/routes" "$t/writes"

# Every route of the API is described in the contract, and nothing else is. A file about kinds stands for all of them.
sed -nE 's/^ROUTE\(([A-Z]+), "(\/api\/[^"]*)".*/\1 \2/p' app/http/routes.def | sort >"$t/api"
contract=templates/docs/openapi
{
	for kind in articles pages; do
		sed "s/@kinds@/$kind/g" $contract/texts.json $contract/resources.json
	done
	for kind in tags authors; do
		sed "s/@kinds@/$kind/g" $contract/terms.json $contract/resources.json
	done
	find $contract -name '*.json' ! -name texts.json ! -name terms.json ! -name resources.json -exec cat {} +
} | sed -nE 's/^    "([A-Z]+ \/api\/[^"]*)": \{$/\1/p' | sort >"$t/described"
same 'routes.def against templates/docs/openapi (< only a route, > only described)' "$t/api" "$t/described"

# Every value that a page of the manual takes exists.
grep -ohE '\{\{[^}]*\}\}' templates/docs/*.md | tr -d '{}' | sort -u | while read -r value; do
	grep -qF "{ \"$value\", " app/actions/docs_value.c || { printf 'templates/docs: there is no value {{%s}}\n' "$value"; exit 1; }
done || bad=1

# First segments of routes are reserved, so that no content path can be one.
sed -nE 's/^ROUTE\([A-Z]+, "\/([^"\/{]+).*/\1/p' app/http/routes.def | sed 's/-$//' | sort -u >"$t/segments"
awk -F'[",()]+' -v reserved=app/core/reserved.def '
	BEGIN {
		while ((getline line < reserved) > 0)
			if (split(line, part, /[",() ]+/) > 3 && part[1] == "RESERVED")
				extent[part[2]] = part[3]
	}
	{
		for (name in extent)
			if ($0 == name || (extent[name] == "PREFIX" && index($0, name) == 1))
				next
		print "reserved.def lacks the first segment of a route: " $0
		bad = 1
	}
	END { exit bad }' "$t/segments" || bad=1

# A setting of the file is in the example and in README.md; a setting of the database in README.md.
sed -nE 's/^	\{ "([a-z_]+)", set_[a-z_]+.* \},/\1/p' app/base/config.c | sort >"$t/file_settings"
[ -s "$t/file_settings" ] || { echo 'config.c: no settings found'; bad=1; }
within 'settings of the file' "$t/file_settings" README.md
within 'settings of the file' <(grep -v share_dir "$t/file_settings") conf/stele.conf.example
grep -oE 'strcmp\(key, "[a-z_]+"\)' app/core/site.c | sed -E 's/.*"(.*)"\)/\1/' | sort -u >"$t/site_settings"
[ -s "$t/site_settings" ] || { echo 'site.c: no settings found'; bad=1; }
within 'settings of the database' "$t/site_settings" README.md

# Every command is in README.md; every link to a file in README.md leads somewhere.
sed -nE 's/^	\.name = "(.*)",/stele \1/p' app/cli/*.c | sort >"$t/commands"
[ -s "$t/commands" ] || { echo 'app/cli: no commands found'; bad=1; }
while read -r command; do
	grep -qF -- "$command" README.md || { printf 'commands: %s is missing in README.md\n' "$command"; bad=1; }
done <"$t/commands"
grep -oE '\]\([^)#:]+\)' README.md | sed -E 's/\]\((.*)\)/\1/' | sort -u | while read -r path; do
	[ -e "$path" ] || { printf 'README.md: %s does not exist\n' "$path"; exit 1; }
done || bad=1

# Counters end in _total, gauges do not (OpenMetrics).
awk -F'"' '/^METRIC/ && (($4 == "counter") != ($2 ~ /_total$/)) { print "metrics.def: " $2 " is a " $4; bad = 1 } END { exit bad }' app/db/metrics.def || bad=1

# Migrations are numbered without a gap.
n=0
for f in migrations/sqlite/*.sql; do
	n=$((n + 1))
	case ${f##*/} in "$(printf %04d $n)"_*) ;; *) printf 'migrations: %s should have number %04d\n' "$f" $n; bad=1 ;; esac
done
exit $bad
