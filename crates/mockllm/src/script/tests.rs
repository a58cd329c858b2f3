//! Valid scripts, and the problems of invalid ones.

use expect_test::{Expect, expect};

use super::{
    Script,
    pattern::{Captures, NamePattern, TextPattern},
    template::Template,
};

fn check_problem(text: &str, expected: Expect) {
    let error = Script::parse("bad.jsonc", text).expect_err("a problem");
    expected.assert_eq(&error.to_string());
}

#[test]
fn the_tour_and_the_demo_can_be_read() {
    let tour = include_str!("../../scripts/tour.jsonc");
    let script = Script::parse("tour.jsonc", tour).unwrap_or_else(|error| panic!("{error}"));
    assert!(script.rules.len() > 10);
    assert_eq!(script.models.len(), 2);
}

#[test]
fn comments_and_trailing_commas_are_no_problem() {
    let text = "// one\n{ /* two\n */ \"rules\": [ { \"reply\": [ { \"text\": \"// not, [one,] /* */\" }, ], }, ], }";
    let script = Script::parse("good", text).unwrap_or_else(|error| panic!("{error}"));
    let super::ReplyStep::Text(said) = &script.rules[0].reply[0] else {
        panic!("a text");
    };
    assert_eq!(said.fill(&Captures::new()), "// not, [one,] /* */");
}

#[test]
fn problems_say_where_they_are() {
    check_problem(
        "{\n  // no rules yet\n  \"rules\": [\n",
        expect!["bad.jsonc:4:0: EOF while parsing a list"],
    );
    check_problem(
        "{\n  \"rules\": [\n    { \"repply\": [] }\n  ]\n}",
        expect![[
            r#"bad.jsonc:3:14: unknown field `repply`, expected one of `name`, `match`, `reply`, `pace`, `faults`"#
        ]],
    );
    check_problem(
        "{ \"rules\": [\n  { \"match\": { \"user\": { \"regex\": \"(\" } }, \"reply\": [{ \"text\": \"x\" }] }\n] }",
        expect![[r#"bad.jsonc:2:39: the regular expression "(" cannot be read: unclosed group"#]],
    );
    check_problem(
        "{ \"rules\": [{ \"reply\": [{ \"say\": \"x\" }] }] }",
        expect![
            "bad.jsonc:1:31: unknown variant `say`, expected one of `text`, `repeat`, `thinking`, `call`, `calls`, `interleaved`, `refusal`, `stop`, `usage`"
        ],
    );
    check_problem("{}", expect!["bad.jsonc:1:2: missing field `rules`"]);
}

#[test]
fn every_rule_that_makes_no_sense_is_named() {
    check_problem(
        r#"{ "rules": [
            { "name": "greet", "match": { "user": { "regex": "I am (?<name>\\w+)" } },
              "reply": [{ "text": "{{name}} {{surname}}" }] },
            // A rule without a reply or faults.
            { "match": { "step": 2 } },
            { "reply": [{ "calls": [] }] },
            { "faults": [{ "first": 1, "fault": { "quota": {} } }] }
        ] }"#,
        expect![[r#"
            bad.jsonc:2: rule "greet": the reply wants {{surname}}, but no (?<surname>…) in "match" captures it
            bad.jsonc:5: rule 2: it has no "reply", and no fault that always applies
            bad.jsonc:6: rule 3: a list of calls is empty
            bad.jsonc:7: rule 4: it has no "reply", and no fault that always applies"#]],
    );
}

#[test]
fn globs_stand_for_whole_names() {
    let cases = [
        ("claude-*", "claude-sonnet", true),
        ("claude-*", "a-claude-sonnet", false),
        ("*sonnet*", "claude-sonnet-5", true),
        ("*-5", "claude-sonnet-5", true),
        ("a*b*c", "a-b-b-c", true),
        ("a*a", "a", false),
        ("exact", "exact", true),
        ("exact", "exactly", false),
    ];
    for (glob, name, expected) in cases {
        let fits = NamePattern::from(glob.to_owned()).matches(name);
        assert_eq!(fits, expected, "{glob} {name}");
    }
}

#[test]
fn templates_leave_other_braces_alone() {
    let captures = Captures::from([("path".to_owned(), "a.rs".to_owned())]);
    let cases = [
        ("read {{path}}", "read a.rs"),
        ("{{path}}{{path}}", "a.rsa.rs"),
        ("format!(\"{{}} {x}\")", "format!(\"{{}} {x}\")"),
        ("{{{path}}}", "{a.rs}"),
        ("{{ path }}", "{{ path }}"),
        ("{{other}}", "{{other}}"),
    ];
    for (template, expected) in cases {
        assert_eq!(Template::from(template).fill(&captures), expected);
    }
}

#[test]
fn patterns_capture_named_groups() {
    let mut captures = Captures::new();
    let pattern: TextPattern =
        serde_json::from_str(r#"{ "regex": "(?i)rename (?<old>\\w+)" }"#).expect("a pattern");
    assert!(pattern.matches("please RENAME find_task", &mut captures));
    assert_eq!(captures["old"], "find_task");
    assert!(!pattern.matches("please", &mut captures));
}
