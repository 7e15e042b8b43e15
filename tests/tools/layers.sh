#!/bin/sh
# layers.sh - fails on an include that the architecture does not allow: arrows between folders point down, and every foreign
# library has one home. Usage: layers.sh [ROOT]
set -eu
cd "${1:-$(dirname "$0")/../..}"

# shellcheck disable=SC2016
find app -name '*.[ch]' -o -name '*.def' -path 'app/*' | sort | xargs awk '
BEGIN {
	# What a folder may include besides itself and the C library.
	may["base"] = ""
	may["core"] = "base"
	may["db"] = "base gen"
	may["render"] = "core base"
	may["store"] = "core base db gen"
	may["actions"] = "store render core db base"
	may["jobs"] = may["http"] = may["cli"] = "actions render core db base"
	may["cli"] = may["cli"] " jobs"		# front door of the same loop

	# Where the header of a foreign library may stand: a folder, or one file. jansson is the value type from core upward.
	home["kore/"] = "http/"
	home["sqlite3.h"] = "db/sqlite.c db/sqlite.h db/log_file.c"
	home["libxml/"] = home["md4c"] = home["gumbo.h"] = "render/"
	home["curl/"] = "jobs/"
	home["openssl/"] = home["argon2.h"] = home["brotli/"] = home["zlib.h"] = "base/"
	home["unicode/"] = "base/ core/idna.c"
	home["jansson.h"] = "core/ store/ render/ actions/ jobs/ http/ cli/"

	# Of db the upper folders see the types and what opens, closes and runs a unit of work.
	upper = "db/db.h db/shared.h db/writer.h db/migrate.h"
}
function refuse(why) {
	printf "%s:%d: %s: %s\n", FILENAME, FNR, $0, why
	bad = 1
}
function has(list, word,    n, parts, i) {
	n = split(list, parts, " ")
	for (i = 1; i <= n; i++)
		if (parts[i] == word)
			return 1
	return 0
}
FNR == 1 { folder = FILENAME; sub(/^app\//, "", folder); file = folder; sub(/\/.*/, "", folder) }
/^[ \t]*#[ \t]*include[ \t]*"/ {
	split($0, quoted, "\"")
	target = quoted[2]
	sub(/\/.*/, "", target)
	seen++
	if (index(quoted[2], "/") == 0)
		refuse("own headers are named with their folder")
	else if (target != folder && !has(may[folder], target))
		refuse(folder " may not include " target)
	else if (target == "db" && has("actions jobs http cli", folder) && !has(upper, quoted[2]))
		refuse(quoted[2] " belongs to db and store")
}
/^[ \t]*#[ \t]*include[ \t]*</ {
	name = $0
	sub(/^[^<]*</, "", name)
	sub(/>.*/, "", name)
	for (prefix in home) {
		if (index(name, prefix) != 1)
			continue
		ok = 0
		n = split(home[prefix], places, " ")
		for (i = 1; i <= n; i++)
			if (index(file, places[i]) == 1)
				ok = 1
		if (!ok)
			refuse("<" name "> has its home in " home[prefix])
	}
}
END {
	if (!seen) {
		print "layers.sh: no includes found"
		bad = 1
	}
	exit bad
}'
