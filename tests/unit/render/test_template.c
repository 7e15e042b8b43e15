/* test_template.c - Mustache as its specification has it, and what we refuse beyond it. */
#include <stdarg.h>
#include <stddef.h>
#include <setjmp.h>
#include <stdint.h>
#include <cmocka.h>

#include "render/template.h"

static char folder[32];

/* A theme of up to two templates, "main" and "part", in a folder of its own. */
static enum status
load(struct scope *s, struct templates **t, const char *main_source, const char *part_source)
{
	const char *files[2] = { scope_printf(s, "%s/main.mustache", folder), scope_printf(s, "%s/part.mustache", folder) };
	const char *sources[2] = { main_source, part_source };

	for (int i = 0; i < 2; i++) {
		unlink(files[i]);
		if (sources[i] == NULL)
			continue;
		FILE *f = fopen(files[i], "w");
		assert_non_null(f);
		fputs(sources[i], f);
		fclose(f);
	}
	return templates_load(s, t, folder);
}

static void
expect_with(const char *main_source, const char *part_source, const char *view, const char *expected)
{
	struct scope *s = scope_new("test");
	struct templates *t = NULL;
	struct str out = { NULL, 0 };
	json_t *json = json_loads(view, JSON_DECODE_ANY, NULL);

	assert_non_null(json);
	if (load(s, &t, main_source, part_source) != OK) {
		print_error("%s: %s\n", main_source, s->error->detail);
		assert_true(false);
	}
	assert_int_equal(template_render(s, t, "main", json, &out), OK);
	assert_string_equal(out.p != NULL ? out.p : "", expected);
	json_decref(json);
	templates_free(t);
	scope_free(s);
}

static void
expect(const char *source, const char *view, const char *expected)
{
	expect_with(source, NULL, view, expected);
}

static void
expect_mistake(const char *source, const char *detail)
{
	struct scope *s = scope_new("test");
	struct templates *t = NULL;

	assert_int_equal(load(s, &t, source, NULL), ERR_INVALID);
	if (strstr(s->error->detail, detail) == NULL)
		assert_string_equal(s->error->detail, detail);
	scope_free(s);
}

static void
plain_text_is_printed_as_it_stands(void **unused)
{
	expect("", "{}", "");
	expect("No tags { here } at all\n", "{}", "No tags { here } at all\n");
	expect("line\r\nline\r\n", "{}", "line\r\nline\r\n");
}

static void
values_are_escaped(void **unused)
{
	expect("{{a}}", "{\"a\":\"<b> & \\\"c\\\" 'd'\"}", "&lt;b&gt; &amp; &quot;c&quot; &#39;d&#39;");
	expect("{{{a_html}}}|{{&a_html}}|{{& a_html }}", "{\"a_html\":\"<b>&\"}", "<b>&|<b>&|<b>&");
	expect("{{a_html}}", "{\"a_html\":\"<b>\"}", "&lt;b&gt;");
}

static void
every_kind_of_value_has_a_form(void **unused)
{
	expect("{{a}} {{b}} {{c}}", "{\"a\":85,\"b\":-7,\"c\":9007199254740993}", "85 -7 9007199254740993");
	expect("{{a}} {{b}}", "{\"a\":1.21,\"b\":0.1}", "1.21 0.1");
	expect("{{a}},{{b}}", "{\"a\":true,\"b\":false}", "true,false");
	expect("({{a}})({{b}})({{c}})({{d}})", "{\"a\":null,\"b\":{},\"c\":[1]}", "()()()()");
}

static void
blanks_inside_tags_mean_nothing_and_around_them_stay(void **unused)
{
	expect("| {{ a }} |", "{\"a\":\"x\"}", "| x |");
	expect("  {{a}}\n", "{\"a\":\"x\"}", "  x\n");
	expect("{{#  a  }}x{{/  a  }}", "{\"a\":true}", "x");
	expect("{{\n a \n}}", "{\"a\":\"x\"}", "x");
}

static void
dotted_names_go_down(void **unused)
{
	expect("{{a.b.c}}", "{\"a\":{\"b\":{\"c\":\"x\"}}}", "x");
	expect("{{#a.b}}{{c}}{{/a.b}}", "{\"a\":{\"b\":{\"c\":\"x\"}}}", "x");
	expect("({{a.b.c}})", "{\"a\":{}}", "()");
	expect("({{a.b}})", "{\"a\":{\"x\":1},\"b\":\"no\"}", "()");
	/* The first part is found in the inner value; that it has no "c" does not send the search outwards. */
	expect("{{#o}}({{a.c}}){{/o}}", "{\"a\":{\"c\":\"outer\"},\"o\":{\"a\":{}}}", "()");
	expect("{{#a}}{{b.c}}{{/a}}", "{\"a\":{\"b\":{}},\"b\":{\"c\":\"outer\"}}", "");
}

static void
names_are_searched_from_the_inside_out(void **unused)
{
	expect("{{#a}}{{b}}{{c}}{{/a}}", "{\"a\":{\"b\":1},\"b\":2,\"c\":3}", "13");
	expect("{{#a}}({{b}}){{/a}}", "{\"a\":{\"b\":null},\"b\":2}", "()");
	expect("{{#a}}{{#b}}{{#c}}{{x}}{{y}}{{z}}{{/c}}{{/b}}{{/a}}", "{\"a\":{\"x\":1},\"b\":{\"y\":2},\"c\":{\"z\":3}}", "123");
}

static void
sections_follow_the_truth(void **unused)
{
	expect("{{#a}}x{{/a}}", "{\"a\":true}", "x");
	expect("{{#a}}x{{/a}}", "{\"a\":false}", "");
	expect("{{#a}}x{{/a}}", "{\"a\":null}", "");
	expect("{{#a}}x{{/a}}", "{\"a\":\"\"}", "");
	expect("{{#a}}x{{/a}}", "{\"a\":[]}", "");
	expect("{{#a}}x{{/a}}", "{}", "");
	expect("{{#a}}x{{/a}}", "{\"a\":{}}", "x");
	expect("{{#a}}{{.}}{{/a}}", "{\"a\":\"text\"}", "text");
	expect("{{#a}}x{{#a}}y{{/a}}z{{/a}}", "{\"a\":true}", "xyz");
	expect("{{#a}}x{{#b}}y{{/b}}z{{/a}}", "{\"a\":true,\"b\":false}", "xz");
}

static void
inverted_sections_are_the_opposite(void **unused)
{
	expect("{{^a}}x{{/a}}", "{\"a\":true}", "");
	expect("{{^a}}x{{/a}}", "{\"a\":false}", "x");
	expect("{{^a}}x{{/a}}", "{\"a\":[]}", "x");
	expect("{{^a}}x{{/a}}", "{\"a\":[1]}", "");
	expect("{{^a}}x{{/a}}", "{}", "x");
	expect("{{^a.b}}x{{/a.b}}", "{\"a\":{}}", "x");
	expect("{{#a}}1{{/a}}{{^a}}2{{/a}}", "{\"a\":{\"b\":1}}", "1");
	expect("{{^a}}{{^b}}x{{/b}}{{/a}}", "{}", "x");
}

static void
lists_are_gone_through(void **unused)
{
	expect("{{#l}}{{n}},{{/l}}", "{\"l\":[{\"n\":1},{\"n\":2},{\"n\":3}]}", "1,2,3,");
	expect("{{#l}}({{.}}){{/l}}", "{\"l\":[\"a\",2,3.5,true]}", "(a)(2)(3.5)(true)");
	expect("{{#l}}[{{#.}}{{.}}{{/.}}]{{/l}}", "{\"l\":[[1,2],[3]]}", "[12][3]");
	expect("{{#l}}{{#m}}{{n}}{{o}} {{/m}}{{/l}}", "{\"l\":[{\"o\":\"a\",\"m\":[{\"n\":1},{\"n\":2}]},{\"o\":\"b\",\"m\":[{\"n\":3}]}]}", "1a 2a 3b ");
}

static void
tags_on_lines_of_their_own_leave_no_line(void **unused)
{
	expect("a\n{{#x}}\nb\n{{/x}}\nc\n", "{\"x\":true}", "a\nb\nc\n");
	expect("a\n  {{#x}}  \nb\n\t{{/x}}\nc", "{\"x\":true}", "a\nb\nc");
	expect("a\r\n{{#x}}\r\nb\r\n{{/x}}\r\nc", "{\"x\":true}", "a\r\nb\r\nc");
	expect("{{#x}}\na\n{{/x}}", "{\"x\":true}", "a\n");
	expect("a\n  {{^x}}\nb\n  {{/x}}\n", "{}", "a\nb\n");
	expect("a {{#x}}b{{/x}} c\n", "{\"x\":true}", "a b c\n");
	expect(" {{#x}}a{{/x}}\n {{#x}}b{{/x}}\n", "{\"x\":true}", " a\n b\n");
	expect("{{#x}}\n\n{{/x}}\n", "{\"x\":true}", "\n");
	expect("  {{a}}\n", "{\"a\":1}", "  1\n");
}

static void
comments_vanish(void **unused)
{
	expect("a{{! note }}b", "{}", "ab");
	expect("a\n{{! note }}\nb\n", "{}", "a\nb\n");
	expect("a\n  {{!\n two\n lines\n  }}\nb\n", "{}", "a\nb\n");
	expect("a {{! note }}\nb\n", "{}", "a \nb\n");
	expect("{{! {{a}} }}", "{\"a\":1}", " }}");
	expect("a\r\n{{! x }}\r\nb", "{}", "a\r\nb");
}

static void
delimiters_can_be_set(void **unused)
{
	expect("{{=<% %>=}}(<%a%>)", "{\"a\":\"x\"}", "(x)");
	expect("({{=[ ]=}}[a])", "{\"a\":\"x\"}", "(x)");
	expect("{{#s}}{{a}}|a|{{/s}}{{= | | =}}|#s|{{a}}|a||/s|", "{\"s\":true,\"a\":\"x\"}", "x|a|{{a}}x");
	expect("a\n{{=@ @=}}\nb @a@\n", "{\"a\":\"x\"}", "a\nb x\n");
	expect("  {{=   <%    %>   =}}\n<%a%>", "{\"a\":\"x\"}", "x");
	/* A partial begins with the usual delimiters again, and leaves the outer ones alone. */
	expect_with("{{=| |=}}|>part|+|a|", "{{a}}", "{\"a\":\"x\"}", "x+x");
}

static void
partials_see_the_same_values(void **unused)
{
	expect_with("[{{>part}}]", "{{a}}", "{\"a\":\"x\"}", "[x]");
	expect_with("{{#l}}{{> part }}{{/l}}", "{{n}};", "{\"l\":[{\"n\":1},{\"n\":2}]}", "1;2;");
	expect("[{{>absent}}]", "{}", "[]");
	expect_with("{{>part}}", "({{n}}{{#c}}{{>part}}{{/c}})", "{\"n\":\"a\",\"c\":[{\"n\":\"b\",\"c\":[]}]}", "(a(b))");
}

static void
partials_on_lines_of_their_own_are_indented(void **unused)
{
	expect_with("a\n  {{>part}}\nb\n", "1\n2\n", "{}", "a\n  1\n  2\nb\n");
	expect_with("a\n {{>part}}\nb\n", "|\n{{{c_html}}}\n|\n", "{\"c_html\":\"<\\n->\"}", "a\n |\n <\n->\n |\nb\n");
	expect_with("  {{a}}  {{> part}}\n", ">\n>", "{\"a\":\"|\"}", "  |  >\n>\n");
	expect_with("  {{>part}}", ">\n>", "{}", "  >\n  >");
	expect_with("{{>part}}\n", "1\n2\n", "{}", "1\n2\n");
	expect_with("  {{>part}}\n", "{{#l}}\n- {{.}}\n{{/l}}\n", "{\"l\":[1,2]}", "  - 1\n  - 2\n");
	expect_with("  {{>part}}\n", "{{a}}\n\nb\n", "{\"a\":1}", "  1\n\n  b\n");
	expect_with("|\r\n{{>part}}\r\n|", ">", "{}", "|\r\n>|");
}

static void
mistakes_name_file_and_line(void **unused)
{
	expect_mistake("a\nb\n{{#x}}\n", "main.mustache:3: section is never closed 'x'");
	expect_mistake("a\n{{/x}}", "main.mustache:2: section was never opened 'x'");
	expect_mistake("{{#a}}{{#b}}{{/a}}{{/b}}", "main.mustache:1: closes another section than the open one 'a'");
	expect_mistake("\n\n{{a", "main.mustache:3: tag is never closed");
	expect_mistake("{{}}", "without a name");
	expect_mistake("{{#}}{{/}}", "without a name");
	expect_mistake("{{>}}", "without a name");
	expect_mistake("{{a b}}", "not a name 'a b'");
	expect_mistake("{{a..b}}", "not a name");
	expect_mistake("{{a.}}", "not a name");
	expect_mistake("{{=x=}}", "not a pair of delimiters");
	expect_mistake("{{={{ }} ]=}}", "not a pair of delimiters");
}

static void
raw_values_need_a_name_that_says_so(void **unused)
{
	expect_mistake("{{{title}}}", "only names that end in _html");
	expect_mistake("{{&a.title}}", "only names that end in _html");
}

static void
values_stand_only_where_escaping_makes_them_safe(void **unused)
{
	expect_mistake("<script>var x = {{x}};</script>", "no tags inside <script> or <style>");
	expect_mistake("<STYLE>{{#x}}{{/x}}</STYLE>", "no tags inside <script> or <style>");
	expect_mistake("<script src=\"x\">\n{{x}}", "main.mustache:2: no tags inside");
	expect_mistake("<a href={{x}}>", "without quotes");
	expect_mistake("<a href=a{{x}}>", "without quotes");
	expect_mistake("<a href = {{x}}>", "without quotes");
	expect_mistake("<a {{x}}>", "no values as names");
	expect_mistake("<{{x}}>", "no values as names");
	expect_mistake("<p title=\"{{{x_html}}}\">", "markup can only stand between elements");
	expect_mistake("<p {{#x}}class=\"{{/x}}\">", "different parts of the markup");
	expect_mistake("<a href=\"{{> part}}\">", "a partial can only stand between elements");
	expect("<script src=\"/x\"></script><p title=\"{{x}}\" lang='{{x}}'>{{x}}</p>", "{\"x\":\"\\\"'\"}",
	    "<script src=\"/x\"></script><p title=\"&quot;&#39;\" lang='&quot;&#39;'>&quot;&#39;</p>");
	expect("<p{{#x}} class=\"{{x}}\"{{/x}}>a < b {{x}}</p><styles>{{x}}</styles>", "{\"x\":\"y\"}",
	    "<p class=\"y\">a < b y</p><styles>y</styles>");
}

static void
output_steps_and_depth_are_bounded(void **unused)
{
	struct scope *s = scope_new("test");
	struct templates *t;
	struct str out;
	json_t *view = json_object(), *list = json_array();
	struct buf deep;

	for (int i = 0; i < 300; i++)
		json_array_append_new(list, json_integer(i));
	json_object_set_new(view, "l", list);
	assert_int_equal(load(s, &t, "{{>main}}", NULL), OK);
	assert_int_equal(template_render(s, t, "main", view, &out), ERR_INTERNAL);
	templates_free(t);
	assert_int_equal(load(s, &t, "{{#l}}{{#l}}{{#l}}{{/l}}{{/l}}{{/l}}", NULL), OK);
	assert_int_equal(template_render(s, t, "main", view, &out), ERR_INTERNAL);
	templates_free(t);
	assert_int_equal(load(s, &t, "{{#l}}{{#l}}this is a line of text that is printed ninety thousand times, and more of it yet {{/l}}{{/l}}"
	    "{{#l}}{{#l}}this is a line of text that is printed ninety thousand times{{/l}}{{/l}}", NULL), OK);
	assert_int_equal(template_render(s, t, "main", view, &out), ERR_INTERNAL);
	templates_free(t);
	buf_init(&deep, s->arena);
	for (int i = 0; i < 65; i++)
		buf_text(&deep, "{{#l}}");
	expect_mistake(deep.p, "more than 64 sections");
	json_decref(view);
	scope_free(s);
}

static void
hash_follows_every_byte_of_the_theme(void **unused)
{
	struct scope *s = scope_new("test");
	struct templates *a, *b, *c;

	assert_int_equal(load(s, &a, "x", "y"), OK);
	assert_int_equal(load(s, &b, "x", "y"), OK);
	assert_int_equal(load(s, &c, "x", "z"), OK);
	assert_int_equal(strlen(templates_hash(a)), 16);
	assert_string_equal(templates_hash(a), templates_hash(b));
	assert_string_not_equal(templates_hash(a), templates_hash(c));
	templates_free(a);
	templates_free(b);
	templates_free(c);
	scope_free(s);
}

static void
unknown_templates_and_empty_folders_are_errors(void **unused)
{
	struct scope *s = scope_new("test");
	struct templates *t;
	struct str out;
	json_t *view = json_object();

	assert_int_equal(load(s, &t, "x", NULL), OK);
	assert_int_equal(template_render(s, t, "other", view, &out), ERR_INTERNAL);
	templates_free(t);
	assert_int_equal(load(s, &t, NULL, NULL), ERR_INVALID);
	assert_int_equal(load(s, &t, "\xff", NULL), ERR_INVALID);
	templates_free(NULL);
	json_decref(view);
	scope_free(s);
}

static int
make_folder(void **unused)
{
	snprintf(folder, sizeof(folder), "/tmp/stele-theme-XXXXXX");
	return mkdtemp(folder) == NULL;
}

static int
remove_folder(void **unused)
{
	struct scope *s = scope_new("test");

	unlink(scope_printf(s, "%s/main.mustache", folder));
	unlink(scope_printf(s, "%s/part.mustache", folder));
	scope_free(s);
	return rmdir(folder);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(plain_text_is_printed_as_it_stands),
		cmocka_unit_test(values_are_escaped),
		cmocka_unit_test(every_kind_of_value_has_a_form),
		cmocka_unit_test(blanks_inside_tags_mean_nothing_and_around_them_stay),
		cmocka_unit_test(dotted_names_go_down),
		cmocka_unit_test(names_are_searched_from_the_inside_out),
		cmocka_unit_test(sections_follow_the_truth),
		cmocka_unit_test(inverted_sections_are_the_opposite),
		cmocka_unit_test(lists_are_gone_through),
		cmocka_unit_test(tags_on_lines_of_their_own_leave_no_line),
		cmocka_unit_test(comments_vanish),
		cmocka_unit_test(delimiters_can_be_set),
		cmocka_unit_test(partials_see_the_same_values),
		cmocka_unit_test(partials_on_lines_of_their_own_are_indented),
		cmocka_unit_test(mistakes_name_file_and_line),
		cmocka_unit_test(raw_values_need_a_name_that_says_so),
		cmocka_unit_test(values_stand_only_where_escaping_makes_them_safe),
		cmocka_unit_test(output_steps_and_depth_are_bounded),
		cmocka_unit_test(hash_follows_every_byte_of_the_theme),
		cmocka_unit_test(unknown_templates_and_empty_folders_are_errors),
	};

	return cmocka_run_group_tests(tests, make_folder, remove_folder);
}
