//! Lines and what they would run.

use super::*;

/// A line's commands: words with spaces between, `?` behind what is not known, `NAME=` before them.
fn shown(line: &str) -> Option<Vec<String>> {
    let read = read(line)?;
    let commands = read.commands.iter().map(|command| {
        let assignments = command.assignments.iter().map(|name| format!("{name}="));
        let words = command.words.iter().map(|word| match word.is_known {
            true => word.text.clone(),
            false => format!("{}?", word.text),
        });
        assignments.chain(words).collect::<Vec<_>>().join(" ")
    });
    Some(commands.collect())
}

#[test]
fn every_simple_command_is_found() {
    let cases: &[(&str, &[&str])] = &[
        ("ls -la", &["ls -la"]),
        (
            "cd a && cargo test || echo no; ls | wc -l &",
            &["cd a", "cargo test", "echo no", "ls", "wc -l"],
        ),
        (
            "echo $(rm -rf x) `id`",
            &["echo $(rm -rf x)? `id`?", "rm -rf x", "id"],
        ),
        ("cat <(curl x) > out", &["cat <(curl x)?", "curl x"]),
        ("A=1 B=2 make all", &["A= B= make all"]),
        (
            "if true; then rm a; else rm b; fi",
            &["true", "rm a", "rm b"],
        ),
        ("for f in *.rs; do wc \"$f\"; done", &["wc \"$f\"?"]),
        ("f() { rm x; }; f", &["rm x", "f"]),
        ("(cd a; ls)", &["cd a", "ls"]),
        (
            "git commit -m 'it''s' \"a b\" c\\ d",
            &["git commit -m its a b c d"],
        ),
        ("'r'm -\"rf\" x", &["rm -rf x"]),
        ("r\\m x", &["rm x"]),
        ("$CMD x", &["$CMD? x"]),
        ("echo \"$(whoami)\"", &["echo \"$(whoami)\"?", "whoami"]),
        ("cat <<EOF\n$(id)\nEOF\n", &["cat", "id"]),
        ("cat <<'EOF'\n$(id)\nEOF\n", &["cat"]),
        ("export A=$(id)", &["declaration", "id"]),
        ("ls # rm x", &["ls"]),
        ("! grep x y", &["grep x y"]),
        ("time ls", &["time ls"]),
        ("echo a{b,c}", &["echo a{b,c}"]),
        ("case x in a) rm y;; esac", &["rm y"]),
        (
            "while read l; do echo $l; done < file",
            &["read l", "echo $l?"],
        ),
    ];
    for (line, expected) in cases {
        let found = shown(line).unwrap_or_else(|| panic!("{line} does not parse"));
        assert_eq!(found, *expected, "{line}");
    }
}

#[test]
fn what_does_not_parse_has_no_answer() {
    let long = "a".repeat(LONGEST + 1);
    let deep = format!("{}ls{}", "(".repeat(400), ")".repeat(400));
    for line in [
        "ls (",
        "if true; then",
        "echo 'open",
        "ls &&",
        long.as_str(),
        "a\0b",
        deep.as_str(),
    ] {
        assert_eq!(read(line), None, "{}", &line[..line.len().min(40)]);
    }
}

#[test]
fn files_that_the_shell_opens_are_told() {
    let of = |line: &str| {
        let redirects = read(line).expect("it parses").redirects.into_iter();
        redirects
            .map(|redirect| {
                format!(
                    "{}{}",
                    if redirect.is_write { ">" } else { "<" },
                    redirect.target.text
                )
            })
            .collect::<Vec<_>>()
    };
    assert_eq!(of("ls > out 2>&1"), [">out"]);
    assert_eq!(
        of("ls 2>/dev/null >> log < in"),
        [">/dev/null", ">log", "<in"]
    );
    assert_eq!(of("ls &> all"), [">all"]);
    assert_eq!(of("ls >&2"), Vec::<String>::new());
    assert_eq!(of("> empty"), [">empty"]);
    assert_eq!(of("ls >| forced"), [">forced"]);
}

#[test]
fn no_text_makes_it_panic() {
    let pieces = [
        "ls", "$(", ")", "'", "\"", "|", "&&", "<<E\n", "E\n", "{", "}", ";", "`", "\\", "ä", " ",
        "if", "then", "fi", ">", "<(", "$", "[[",
    ];
    let mut seed = 1u64;
    for _ in 0..2000 {
        let mut line = String::new();
        for _ in 0..12 {
            seed = seed
                .wrapping_mul(6364136223846793005)
                .wrapping_add(1442695040888963407);
            line.push_str(pieces[(seed >> 33) as usize % pieces.len()]);
        }
        read(&line);
    }
}
