#!/bin/sh
# packages.sh - the one list of Debian packages, and bringing those that are missing.
# Usage: packages.sh list build|test|bench ...    print the names
#        packages.sh install build|test|bench ... install what is missing (root or sudo); asks apt for nothing when nothing is
set -eu

build='build-essential pkgconf libsqlite3-dev libxml2-dev libssl-dev libjansson-dev libmd4c-dev libmd4c-html0-dev'
build="$build libgumbo-dev libicu-dev libcurl4-openssl-dev libargon2-dev libbrotli-dev zlib1g-dev kore"
test='libcmocka-dev python3 python3-pytest python3-hypothesis python3-jsonschema python3-lxml python3-html5lib clang llvm libclang-rt-14-dev'
test="$test openssl nginx haproxy systemd curl procps shellcheck bzip2 spin"
bench="wrk nginx"

usage() {
	echo "usage: packages.sh list|install build|test|bench ..." >&2
	exit 2
}

[ $# -ge 2 ] || usage
what=$1
shift
names=
for set in "$@"; do
	case $set in
	build) names="$names $build" ;;
	test) names="$names $test" ;;
	bench) names="$names $bench" ;;
	*) usage ;;
	esac
done

case $what in
list)
	printf '%s' "$names" | tr -s ' \n' '\n' | sed '/^$/d'
	exit 0
	;;
install) ;;
*) usage ;;
esac

# shellcheck disable=SC2086
missing=$(dpkg-query -W -f '${db:Status-Abbrev}${Package}\n' $names 2>/dev/null | awk -v names="$names" '
	/^.i / { here[$2] = 1 }
	END {
		n = split(names, name, " ")
		for (i = 1; i <= n; i++)
			if (!(name[i] in here))
				print name[i]
	}')
[ -n "$missing" ] || exit 0

as_root=
if [ "$(id -u)" -ne 0 ]; then
	command -v sudo >/dev/null || {
		echo "these Debian packages are missing; install them as root: $(echo "$missing" | tr '\n' ' ')" >&2
		exit 1
	}
	as_root=sudo
fi
# shellcheck disable=SC2086
echo installing: $missing >&2
# A list that is older than the archive names versions that are gone, so it is always fetched before something is installed.
# Stele needs the programs of nginx and haproxy, not their services: none is started.
# shellcheck disable=SC2086,SC2016
$as_root env DEBIAN_FRONTEND=noninteractive sh -c '
	policy=/usr/sbin/policy-rc.d
	if [ ! -e $policy ]; then
		trap "rm -f $policy" EXIT
		printf "#!/bin/sh\nexit 101\n" > $policy
		chmod 755 $policy
	fi
	apt-get update -q && apt-get install -q -y --no-install-recommends "$@"
' sh $missing >&2
