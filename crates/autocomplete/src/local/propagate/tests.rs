//! Histories of small edits with the suggestion that follows, and histories without one.

use crate::local::SuggestionOutcome;
use crate::local::story::Story;
use crate::{Suggestion, SuggestionSource};

/// An edit: the text that goes, which of the like, and what comes.
type Change<'a> = (&'a str, usize, &'a str);

fn propagated(story: &mut Story, number: usize) -> Option<Suggestion> {
    let mut all = story.suggestions(number);
    all.retain(|it| matches!(it.source, SuggestionSource::Propagation { .. }));
    all.into_iter().next()
}

/// Makes the changes, accepts every suggestion, and expects `after`.
fn check(language: &str, text: &str, changes: &[Change<'_>], after: &str) {
    for works in [false, true] {
        let mut story = Story::new(language, text);
        for (old, nth, new) in changes {
            story.change(0, old, *nth, new);
        }
        for _ in 0..20 {
            if works {
                story.work();
            }
            let Some(suggestion) = propagated(&mut story, 0) else {
                break;
            };
            story.accept(0, &suggestion);
        }
        assert_eq!(story.text(0), after, "background work: {works}");
    }
}

/// Makes the changes, and expects that nothing is offered.
fn check_nothing(language: &str, text: &str, changes: &[Change<'_>]) {
    for works in [false, true] {
        let mut story = Story::new(language, text);
        for (old, nth, new) in changes {
            story.change(0, old, *nth, new);
            if works {
                story.work();
            }
        }
        assert_eq!(
            propagated(&mut story, 0),
            None,
            "background work: {works}\n{}",
            story.text(0)
        );
    }
}

#[test]
fn a_variable_is_renamed_in_its_function_and_nowhere_else() {
    check(
        "Rust",
        "fn f(count: u8) {\n    g(count);\n    h(count + 1, \"count\"); // count\n    self.count = count;\n}\n\nfn k(count: u8) { g(count); }\n",
        &[("count", 0, "total"), ("count", 0, "total")],
        "fn f(total: u8) {\n    g(total);\n    h(total + 1, \"count\"); // count\n    self.count = total;\n}\n\nfn k(count: u8) { g(count); }\n",
    );
}

#[test]
fn a_definition_that_shadows_the_name_ends_the_search() {
    check(
        "Rust",
        "fn f(a: u8) {\n    g(a);\n    h(a);\n    let a = 2;\n    k(a);\n}\n",
        &[("a: u8", 0, "b: u8"), ("g(a)", 0, "g(b)")],
        "fn f(b: u8) {\n    g(b);\n    h(b);\n    let a = 2;\n    k(a);\n}\n",
    );
    check_nothing(
        "JavaScript",
        "function f(a) {\n  g(a);\n  items.map((a) => k(a));\n}\n",
        &[("f(a)", 0, "f(b)"), ("g(a)", 0, "g(b)")],
    );
}

#[test]
fn a_function_is_renamed_where_it_is_called() {
    check(
        "Python",
        "def load(x):\n    return x\n\na = load(1)\nb = load(2)\nc = 'load'\nload = 3\n",
        &[("load", 0, "read"), ("load", 0, "read")],
        "def read(x):\n    return x\n\na = read(1)\nb = read(2)\nc = 'load'\nload = 3\n",
    );
}

#[test]
fn an_argument_is_added_to_the_other_calls() {
    check(
        "Rust",
        "fn main() {\n    draw(a);\n    draw(b.c);\n    draw(f(1, 2));\n    paint(d);\n    draw(e);\n}\n",
        &[("draw(a)", 0, "draw(a, ctx)"), ("draw(b.c)", 0, "draw(b.c, ctx)")],
        "fn main() {\n    draw(a, ctx);\n    draw(b.c, ctx);\n    draw(f(1, 2));\n    paint(d);\n    draw(e, ctx);\n}\n"
            .replace("draw(f(1, 2))", "draw(f(1, 2), ctx)")
            .as_str(),
    );
}

#[test]
fn a_wrapping_call_propagates() {
    check(
        "TypeScript",
        "a = parse(x);\nb = parse(y.z);\nc = parse(w);\nd = other(x);\n",
        &[
            ("parse(x)", 0, "must(parse(x))"),
            ("parse(y.z)", 0, "must(parse(y.z))"),
        ],
        "a = must(parse(x));\nb = must(parse(y.z));\nc = must(parse(w));\nd = other(x);\n",
    );
}

#[test]
fn a_number_changes_only_in_similar_calls() {
    check(
        "Python",
        "sleep(10)\nwait(10)\nsleep(10)\nsleep(20)\nsleep(10)\nx = 10\n",
        &[("sleep(10)", 0, "sleep(30)"), ("sleep(10)", 0, "sleep(30)")],
        "sleep(30)\nwait(10)\nsleep(30)\nsleep(20)\nsleep(30)\nx = 10\n",
    );
}

#[test]
fn an_import_is_corrected_in_the_other_imports() {
    check(
        "Python",
        "from old_name import a\nfrom old_name import b\nfrom old_name import c\nold_name = 1\n",
        &[("old_name", 0, "new_name"), ("old_name", 0, "new_name")],
        "from new_name import a\nfrom new_name import b\nfrom new_name import c\nold_name = 1\n",
    );
}

#[test]
fn a_field_is_renamed_as_a_field() {
    check(
        "Go",
        "package p\n\nfunc f(a T, b T, width int) {\n\ta.width = 1\n\tb.width = 2\n\tg(a.width, width)\n}\n",
        &[("a.width", 0, "a.breadth"), ("b.width", 0, "b.breadth")],
        "package p\n\nfunc f(a T, b T, width int) {\n\ta.breadth = 1\n\tb.breadth = 2\n\tg(a.breadth, width)\n}\n",
    );
}

#[test]
fn an_added_receiver_propagates() {
    check(
        "Python",
        "def f(self, n):\n    a = limit\n    b = limit\n    c = g(limit)\n    d = self.limit\n",
        &[("limit", 0, "self.limit"), ("limit", 1, "self.limit")],
        "def f(self, n):\n    a = self.limit\n    b = self.limit\n    c = g(self.limit)\n    d = self.limit\n",
    );
}

#[test]
fn unrelated_similar_edits_suggest_nothing() {
    // Numbers, signs and words of the language mean nothing by themselves.
    check_nothing(
        "Rust",
        "fn f() {\n    let a = 1;\n    let b = 1;\n    let c = 1;\n}\n",
        &[("1", 0, "2"), ("1", 0, "2")],
    );
    check_nothing(
        "Rust",
        "const A: usize = 10;\nconst B: usize = 10;\nconst C: usize = 10;\n",
        &[("10", 0, "20"), ("10", 0, "20")],
    );
    check_nothing(
        "Python",
        "if a == b:\n    pass\nif c == d:\n    pass\nif e == f:\n    pass\n",
        &[("==", 0, "!="), ("==", 0, "!=")],
    );
    check_nothing(
        "Python",
        "x = foo(True)\ny = bar(True)\nz = baz(True)\n",
        &[("True", 0, "False"), ("True", 0, "False")],
    );
    // Two variables of two functions; a third function has one of its own.
    check_nothing(
        "Rust",
        "fn f(a: u8) {}\nfn g(a: u8) {}\nfn h(a: u8) { k(a) }\n",
        &[("a: u8", 0, "b: u8"), ("a: u8", 0, "b: u8")],
    );
}

#[test]
fn names_in_strings_and_comments_are_left_alone() {
    check_nothing(
        "Python",
        "old_name(1)\nold_name(2)\nprint('old_name')  # old_name\n",
        &[("old_name", 0, "new_name"), ("old_name", 0, "new_name")],
    );
    check_nothing(
        "Python",
        "print('old_name', 'old_name')\nold_name(2)\n",
        &[("old_name", 0, "new_name"), ("old_name", 0, "new_name")],
    );
    check_nothing(
        "Python",
        "# the way\n# the day\n# the bay\n",
        &[("the", 0, "a"), ("the", 0, "a")],
    );
}

#[test]
fn alternating_patterns_and_rivals_are_separated_by_context() {
    check(
        "Rust",
        "fn f() {\n    a.load(SeqCst);\n    a.store(1, SeqCst);\n    b.load(SeqCst);\n    b.store(2, SeqCst);\n    c.load(SeqCst);\n    c.store(3, SeqCst);\n    d(SeqCst);\n}\n",
        &[
            ("SeqCst", 0, "Acquire"),
            ("SeqCst", 0, "Release"),
            ("SeqCst", 0, "Acquire"),
            ("SeqCst", 0, "Release"),
        ],
        "fn f() {\n    a.load(Acquire);\n    a.store(1, Release);\n    b.load(Acquire);\n    b.store(2, Release);\n    c.load(Acquire);\n    c.store(3, Release);\n    d(SeqCst);\n}\n",
    );
}

#[test]
fn a_name_changed_in_several_roles_is_renamed_everywhere() {
    check(
        "Rust",
        "struct S { started_at: u8 }\nfn f(started_at: u8) {\n    g(started_at);\n    s.started_at = 1;\n}\nfn h(s: S, started_at: u8) {\n    k(s.started_at, started_at, \"started_at\");\n}\n",
        &[
            ("started_at", 0, "ended_at"),
            ("started_at", 0, "ended_at"),
            ("started_at", 0, "ended_at"),
            ("started_at", 0, "ended_at"),
        ],
        "struct S { ended_at: u8 }\nfn f(ended_at: u8) {\n    g(ended_at);\n    s.ended_at = 1;\n}\nfn h(s: S, ended_at: u8) {\n    k(s.ended_at, ended_at, \"started_at\");\n}\n",
    );
}

#[test]
fn a_string_is_changed_only_as_a_whole() {
    check(
        "TypeScript",
        "import { a } from 'vue'\nimport { b } from 'vue'\nimport { c } from 'vue'\nconst vue = 'vue and more'\n",
        &[("'vue'", 0, "'@vue/dom'"), ("'vue'", 0, "'@vue/dom'")],
        "import { a } from '@vue/dom'\nimport { b } from '@vue/dom'\nimport { c } from '@vue/dom'\nconst vue = 'vue and more'\n",
    );
    check(
        "Go",
        "package p\n\nimport (\n\t\"go.mongodb.org/driver/bson\"\n\t\"go.mongodb.org/driver/mongo\"\n\t\"go.mongodb.org/driver/x\"\n\t\"go.mongodb.org/other/x\"\n)\n",
        &[
            ("driver/bson", 0, "driver/v2/bson"),
            ("driver/mongo", 0, "driver/v2/mongo"),
        ],
        "package p\n\nimport (\n\t\"go.mongodb.org/driver/v2/bson\"\n\t\"go.mongodb.org/driver/v2/mongo\"\n\t\"go.mongodb.org/driver/v2/x\"\n\t\"go.mongodb.org/other/x\"\n)\n",
    );
    check_nothing(
        "Python",
        "f('a')\ng('a')\nh('a')\n",
        &[("'a'", 0, "'b'"), ("'a'", 0, "'b'")],
    );
}

#[test]
fn a_field_and_its_parameter_are_renamed_together() {
    check(
        "Python",
        "class C:\n    def __init__(self, session):\n        self.session = session\n\n    def f(self):\n        g(self.session)\n        session = 1\n",
        &[
            ("session", 0, "store"),
            ("session", 0, "store"),
            ("session", 0, "store"),
        ],
        "class C:\n    def __init__(self, store):\n        self.store = store\n\n    def f(self):\n        g(self.store)\n        session = 1\n",
    );
}

#[test]
fn a_single_or_continued_edit_is_not_a_pattern() {
    check_nothing("Rust", "fn f() { g(x); g(y); }", &[("g(x)", 0, "h(x)")]);
    let mut story = Story::new("Python", "alpha(1)\nalpha(2)\nalpha(3)\n");
    story.change(0, "alpha", 0, "beta");
    story.change(0, "alpha", 0, "beta");
    assert!(propagated(&mut story, 0).is_some());
    story.type_at(0, "beta(1)\nbeta".len(), "d");
    assert_eq!(propagated(&mut story, 0), None);
}

#[test]
fn dismissal_two_ignores_or_undo_drop_a_pattern() {
    let start = || {
        let mut story = Story::new("Python", "alpha(1)\nalpha(2)\nalpha(3)\nalpha(4)\n");
        story.change(0, "alpha", 0, "beta");
        story.change(0, "alpha", 0, "beta");
        let suggestion = propagated(&mut story, 0).expect("an suggestion");
        (story, suggestion)
    };
    let (mut story, suggestion) = start();
    assert_eq!(
        suggestion.source,
        SuggestionSource::Propagation { places: 2 }
    );
    story
        .local
        .record_outcome(suggestion.id, SuggestionOutcome::Dismissed);
    assert_eq!(propagated(&mut story, 0), None);

    let (mut story, suggestion) = start();
    story
        .local
        .record_outcome(suggestion.id, SuggestionOutcome::Ignored);
    let suggestion = propagated(&mut story, 0).expect("a second suggestion");
    story
        .local
        .record_outcome(suggestion.id, SuggestionOutcome::Ignored);
    assert_eq!(propagated(&mut story, 0), None);

    let (mut story, _) = start();
    for _ in 0.."beta".len() + 1 {
        story.undo(0);
    }
    assert_eq!(propagated(&mut story, 0), None);
}

#[test]
fn text_typed_after_learning_has_no_sites() {
    let mut story = Story::new("Python", "alpha(1)\nalpha(2)\n");
    story.change(0, "alpha", 0, "beta");
    story.change(0, "alpha", 0, "beta");
    story.type_behind(0, "beta(2)\n", 0, "alpha(3)\n");
    story.work();
    story.change(0, "1", 0, "5");
    assert_eq!(propagated(&mut story, 0), None);
}

#[test]
fn sites_are_suggested_in_turn_from_the_caret() {
    let mut story = Story::new("Python", "alpha(0)\nalpha(1)\nalpha(2)\nalpha(3)\n");
    story.change(0, "alpha", 1, "beta");
    story.change(0, "alpha", 1, "beta");
    story.work();
    let suggestion = propagated(&mut story, 0).expect("an suggestion");
    assert_eq!(
        suggestion.start().0,
        story.text(0).find("alpha(3)").expect("a place")
    );
    assert_eq!(
        suggestion.source,
        SuggestionSource::Propagation { places: 2 }
    );
    story.accept(0, &suggestion);
    let suggestion = propagated(&mut story, 0).expect("an suggestion");
    assert_eq!(suggestion.start().0, 0);
    assert_eq!(
        suggestion.source,
        SuggestionSource::Propagation { places: 1 }
    );
}

#[test]
fn other_open_files_come_last() {
    let mut story = Story::new("Python", "alpha(0)\nalpha(1)\n");
    story.open("Python", "/project/second", "def f(a):\n    alpha(a)\n");
    story.open("Python", "/project/third", "'alpha'\n");
    story.change(0, "alpha", 0, "beta");
    story.change(0, "alpha", 0, "beta");
    story.work();
    let suggestion = propagated(&mut story, 0).expect("an suggestion");
    assert_eq!(
        suggestion.file.as_ref().map(|file| file.name()),
        Some("second".to_owned())
    );
    story.accept(0, &suggestion);
    assert_eq!(story.text(1), "def f(a):\n    beta(a)\n");
    assert_eq!(propagated(&mut story, 0), None);
}

#[test]
fn a_local_variable_does_not_propagate_to_other_files() {
    let mut story = Story::new("Rust", "fn f(a: u8) { g(a) }\n");
    story.open("Rust", "/project/second", "fn k() { g(a) }\n");
    story.change(0, "a: u8", 0, "b: u8");
    story.change(0, "g(a", 0, "g(b");
    story.work();
    assert_eq!(propagated(&mut story, 0), None);
}

#[test]
fn simultaneous_carets_count_as_separate_edits() {
    let far = "// far\n".repeat(40);
    let text = format!(
        "fn a() {{ info(1); }}\n{far}fn b() {{ info(2); }}\n{far}fn c() {{ info(3); }}\nfn d() {{ info(4); }}\n"
    );
    let mut story = Story::new("Rust", &text);
    story.change_at_once(0, "info", 2, "warn");
    let suggestion = propagated(&mut story, 0).expect("the third");
    assert_eq!(suggestion.edits[0].new.as_ref(), "warn");
    story.accept(0, &suggestion);
    let suggestion = propagated(&mut story, 0).expect("the fourth");
    story.accept(0, &suggestion);
    assert_eq!(story.text(0), text.replace("info", "warn"));
}

#[test]
fn single_or_differing_carets_make_no_pattern() {
    let text = "fn a() { info(1); }\nfn b() { info(2); }\nfn c() { info(3); }\n";
    let mut story = Story::new("Rust", text);
    story.change_at_once(0, "info", 1, "warn");
    assert_eq!(propagated(&mut story, 0), None);
    let mut story = Story::new("Rust", text);
    story.differ(0, &[("info", "warn"), ("b()", "k()")]);
    assert_eq!(propagated(&mut story, 0), None);
}

const CLOSED: &str = "fn k() {\n    info(9);\n}\n";

#[test]
fn sites_in_unopened_files_are_found_by_words() {
    let text = "fn a() { info(1); }\nfn b() { info(2); }\n";
    let mut story = Story::new("Rust", text);
    assert!(
        story.local.unopened_search().is_none(),
        "nothing is propagated"
    );
    story.change(0, "info", 0, "warn");
    story.change(0, "info", 0, "warn");
    let elsewhere = story.local.unopened_search().expect("the calls");
    assert_eq!(Vec::from_iter(elsewhere.required_words()), ["info"]);
    story.work_elsewhere("Rust", "/project/closed", CLOSED);
    assert!(
        story.local.unopened_search().is_none(),
        "it is looked for once"
    );
    let suggestion = propagated(&mut story, 0).expect("the place");
    let file = suggestion.file.expect("a file");
    assert_eq!(file, base::AbsPath::new("/project/closed").expect("a path"));
    let found = &suggestion.edits[0];
    assert_eq!((found.old.as_ref(), found.new.as_ref()), ("info", "warn"));
    assert_eq!(found.span.start.0, CLOSED.find("info").expect("it"));
}

#[test]
fn a_changed_file_is_searched_again() {
    let mut story = Story::new("Rust", "fn a() { info(1); }\nfn b() { info(2); }\n");
    story.change(0, "info", 0, "warn");
    story.change(0, "info", 0, "warn");
    story.work_elsewhere("Rust", "/project/closed", CLOSED);
    assert!(propagated(&mut story, 0).is_some());
    story.local.invalidate_changed(&|_| true);
    assert_eq!(propagated(&mut story, 0), None, "what was found is old");
    story.work_elsewhere("Rust", "/project/closed", "fn k() {}\n");
    assert_eq!(propagated(&mut story, 0), None);
}

#[test]
fn results_from_before_a_pattern_grew_are_dropped() {
    let text = "fn a(n: u8) { info(n); }\nfn b() { info(2); }\nstruct S { info: u8 }\n";
    let mut story = Story::new("Rust", text);
    story.change(0, "info", 0, "warn");
    story.change(0, "info", 0, "warn");
    let early = story.local.unopened_search().expect("the calls");
    story.change(0, "info", 0, "warn");
    let late = story
        .local
        .unopened_search()
        .expect("whatever has the name");
    assert_eq!(early.required_words(), late.required_words());
    story.local.finish(early.run(std::iter::empty()));
    assert!(
        story.local.unopened_search().is_some(),
        "the wider one is still to be looked for"
    );
    story.local.finish(late.run(std::iter::empty()));
    assert!(story.local.unopened_search().is_none());
}

#[test]
fn prose_corrections_propagate_to_other_files() {
    let row = "// the bodies (i.e. all of them)\nf();\n";
    let other = "/*\n * for the wrapped, e.g. a date\n */\ng();\n";
    let mut story = Story::new("TypeScript", row);
    story.open("TypeScript", "/project/second", other);
    story.open("TypeScript", "/project/third", &format!("h();\n{row}"));
    story.open("TypeScript", "/project/fourth", "// one. Two\n");
    story.change(0, "i.e. ", 0, "i.e., ");
    story.change(1, "e.g. ", 0, "e.g., ");
    story.work();
    let suggestion = propagated(&mut story, 1).expect("an suggestion");
    story.accept(1, &suggestion);
    assert_eq!(
        story.text(2),
        format!("h();\n{}", row.replace("i.e.", "i.e.,"))
    );
    assert_eq!(propagated(&mut story, 1), None);
}

#[test]
fn the_first_change_counts_without_an_earlier_tree() {
    let mut story = Story::unseen("Python", "def f(self):\n    return old_name(1)\n");
    story.open(
        "Python",
        "/project/second",
        "a = old_name(2)\nb = old_name(3)\n",
    );
    story.change(0, "old_name", 0, "new_name");
    story.change(1, "old_name", 0, "new_name");
    story.work();
    let suggestion = propagated(&mut story, 1).expect("an suggestion");
    story.accept(1, &suggestion);
    assert_eq!(story.text(1), "a = new_name(2)\nb = new_name(3)\n");
}

#[test]
fn skipped_sites_narrow_the_pattern() {
    let call = |name: &str, number: u8| format!("    make(c.{name}(), {number});\n");
    let show = |name: &str| format!("    show(c.{name}());\n");
    let rows = |names: [&str; 4]| -> String {
        let rows = names.iter().zip(1..);
        rows.map(|(name, number)| call(name, number) + &show("name"))
            .collect()
    };
    let text = |names| format!("fn f(c: &C) {{\n{}}}\n", rows(names));
    let mut story = Story::new("Rust", &text(["name"; 4]));
    story.change(0, "name", 0, "title");
    story.change(0, "name", 1, "title");
    story.change(0, "name", 2, "title");
    story.work();
    story.work();
    let suggestion = propagated(&mut story, 0).expect("the next call of the same function");
    story.accept(0, &suggestion);
    assert_eq!(story.text(0), text(["title"; 4]));
    story.work();
    assert_eq!(propagated(&mut story, 0), None, "{}", story.text(0));
}

#[test]
fn additions_to_definitions_propagate_to_other_functions() {
    check(
        "Python",
        "def a(info):\n    use(info)\n\ndef b(x, info):\n    use(info)\n\ndef c(info):\n    if info.deep:\n        use(info)\n\ndef d(info, y):\n    pass\n",
        &[("info", 0, "info: Info"), ("info", 2, "info: Info")],
        "def a(info: Info):\n    use(info)\n\ndef b(x, info: Info):\n    use(info)\n\ndef c(info: Info):\n    if info.deep:\n        use(info)\n\ndef d(info: Info, y):\n    pass\n",
    );
}

#[test]
fn a_rename_in_two_functions_propagates_to_the_next() {
    let function =
        |name: &str, ix: u8| format!("def f{ix}(self):\n    {name} = self.get({ix})\n\n");
    let text = |name: &str| (0..5).map(|ix| function(name, ix)).collect::<String>();
    let mut story = Story::new("Python", &text("raw_value"));
    story.change(0, "raw_value", 0, "found_value");
    story.work();
    assert_eq!(propagated(&mut story, 0), None, "one function says nothing");
    story.change(0, "raw_value", 0, "found_value");
    for _ in 0..3 {
        story.work();
        story.work();
        let suggestion = propagated(&mut story, 0).expect("the next function");
        story.accept(0, &suggestion);
    }
    assert_eq!(story.text(0), text("found_value"));
}

#[test]
fn a_likely_suggestion_precedes_an_unlikely_one() {
    // A function each: the places that were passed over are no nearer than those to come.
    let call = |name: &str| format!("fn f() {{\n    show({name}());\n}}\n\n");
    let names = [
        "name", "name", "name", "name", "name", "name", "label", "label",
    ];
    let calls: String = names.iter().map(|name| call(name)).collect();
    let rest = call("name") + &call("label");
    let mut story = Story::new("Rust", &(calls + &rest));
    // All but the first and the sixth are left.
    story.change(0, "name", 0, "title");
    story.change(0, "name", 4, "title");
    story.change(0, "label", 0, "caption");
    story.change(0, "label", 0, "caption");
    story.work();
    let suggestion = propagated(&mut story, 0).expect("the other label");
    story.accept(0, &suggestion);
    let after = story.text(0);
    let rest = call("name") + &call("caption");
    assert!(after.ends_with(&rest), "{after}");
}

#[test]
fn existing_text_is_not_added_again() {
    let row = |name: &str, more: &str| format!("type {name} = {{ kind: Loose & {more}Last }};\n");
    let text = [
        row("A", ""),
        row("B", ""),
        row("C", "Strict & "),
        row("D", ""),
    ]
    .concat();
    let at = row("A", "").find("Last").expect("the word");
    let changes = [
        ("", at, "Strict & "),
        ("", row("A", "Strict & ").len() + at, "Strict & "),
    ];
    let after = ["A", "B", "C", "D"].map(|name| row(name, "Strict & "));
    check("TypeScript", &text, &changes, &after.concat());
}
