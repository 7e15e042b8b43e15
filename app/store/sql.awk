# sql.awk - named statements of app/store/*.sql -> an enum and a table.
# "-- name: path_load" begins a statement that runs to the next name or the end of the file; other comment lines are dropped.
# Usage: awk -v out=h|c -f app/store/sql.awk FILES
function fault(message) {
	print message > "/dev/stderr"
	failed = 1
	exit 1
}
function flush_statement(    upper) {
	if (name == "")
		return
	sub(/[ \t\n]+$/, "", text)
	sub(/;$/, "", text)
	if (text == "")
		fault("statement " name " is empty")
	upper = toupper(name)
	if (out == "h")
		printf "\tSQL_%s,\n", upper
	else {
		gsub(/\\/, "\\\\&", text)
		gsub(/"/, "\\\"", text)
		gsub(/\n/, "\\n\"\n\t    \"", text)
		printf "\t[SQL_%s] = { \"%s\",\n\t    \"%s\" },\n", upper, name, text
	}
	name = text = ""
}
BEGIN {
	print "/* Made by app/store/sql.awk. */"
	if (out == "h")
		print "#ifndef GEN_SQL_H\n#define GEN_SQL_H\n\nenum sql {"
	else
		print "#include \"gen/sql.h\"\n\nconst struct sql_text sql_texts[SQL_COUNT] = {"
}
FNR == 1 { flush_statement() }
/^-- name: [a-z0-9_]+$/ {
	flush_statement()
	name = $3
	if (name in seen)
		fault(FILENAME ":" FNR ": " name " is named twice")
	seen[name] = 1
	next
}
/^--[ \t]*name/ { fault(FILENAME ":" FNR ": not of the form \"-- name: lower_case\"") }
/^--/ { next }
name == "" && NF { fault(FILENAME ":" FNR ": SQL without a name") }
name != "" && (text != "" || NF) { text = text == "" ? $0 : text "\n" $0 }
END {
	if (failed)
		exit 1
	flush_statement()
	if (out == "h")
		print "\tSQL_COUNT\n};\n\nstruct sql_text {\n\tconst char\t*name;\n\tconst char\t*text;\n};\nextern const struct sql_text sql_texts[SQL_COUNT];\n\n#endif"
	else
		print "};"
}
