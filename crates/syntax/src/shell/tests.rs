//! Lines and what they would run.

use super::*;

/// A line's commands: words with spaces between, `?` behind what is not known, `NAME=` before them.
fn shown(line: &str) -> Option<Vec<String>> {
    let read = read(line)?;
    let commands = read.commands.iter().map(|command| {
        let assignments = command.assignments.iter().map(|it| format!("{}=", it.name));
        let words = command.words.iter().map(|word| {
            if word.is_known {
                word.text.clone()
            } else {
                format!("{}?", word.text)
            }
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
            &["rm -rf x", "id", "echo $(rm -rf x)? `id`?"],
        ),
        ("cat <(curl x) > out", &["curl x", "cat <(curl x)?"]),
        ("A=1 B=2 make all", &["A= B= make all"]),
        (
            "if true; then rm a; else rm b; fi",
            &["true", "rm a", "rm b"],
        ),
        ("for f in *.rs; do wc \"$f\"; done", &["wc $f?"]),
        ("f() { rm x; }; f", &["rm x", "f"]),
        ("(cd a; ls)", &["cd a", "ls"]),
        (
            "git commit -m 'it''s' \"a b\" c\\ d",
            &["git commit -m its a b c d"],
        ),
        ("'r'm -\"rf\" x", &["rm -rf x"]),
        ("r\\m x", &["rm x"]),
        ("$CMD x", &["$CMD? x"]),
        ("echo \"$(whoami)\"", &["whoami", "echo $(whoami)?"]),
        ("cat <<EOF\n$(id)\nEOF\n", &["cat", "id"]),
        ("cat <<'EOF'\n$(id)\nEOF\n", &["cat"]),
        ("export A=$(id)", &["id", "export A=$(id)?"]),
        ("ls # rm x", &["ls"]),
        ("! grep x y", &["grep x y"]),
        ("time ls", &["ls"]),
        ("time -p ! A=1 ls | time b", &["A= ls", "time b"]),
        ("ls 2>&- >&2 x", &["ls x"]),
        ("echo a{b,c}", &["echo a{b,c}?"]),
        ("git show HEAD@{1} {}", &["git show HEAD@{1} {}"]),
        ("g'i't $'\\x70ush' $\"x\"", &["git push x"]),
        (
            "cat <<EOF\n`rm x` $(id) \\$(no)\nEOF\nls",
            &["cat", "rm x", "id", "ls"],
        ),
        (
            "cat <<A <<-'B'\n$(id)\nA\n\t$(no)\n\tB\nls",
            &["cat", "id", "ls"],
        ),
        (
            "echo ${x:-$(rm y)} $((1+2))",
            &["rm y", "echo ${x:-$(rm y)}? $((1+2))?"],
        ),
        (
            "[[ -f a && ! b == c* ]] || ls",
            &["[[ -f a && ! b == c* ]]", "ls"],
        ),
        ("function f { rm x; }; g() ( id )", &["rm x", "id"]),
        ("a | (b; c) | { d; }", &["a", "b", "c", "d"]),
        ("case x in (a|b) rm y;; *) ls;& esac", &["rm y", "ls"]),
        (
            "until a; do b; done; select x in y; do c; done",
            &["a", "b", "c"],
        ),
        (
            "if a; then b; elif c; then d; else e; fi > out",
            &["a", "b", "c", "d", "e"],
        ),
        ("ls \\\n  -la", &["ls -la"]),
        ("dd if=a of=b", &["dd if=a of=b"]),
        ("a <<< 'x y' b", &["a b"]),
        ("echo \"a$\" '$x' \\$y", &["echo a$ $x $y"]),
        ("echo a#b # c", &["echo a#b"]),
        ("x=(a $(rm b)); ls", &["rm b", "ls"]),
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
        "(( a[$(rm x)] ))",
        "for ((i=0; i<3; i++)); do ls; done",
        "echo $[1+1]",
        "echo $((ls); (rm x))",
        "gi\\\nt push",
        "\"$\\\n(rm x)\"",
        "a[$(rm x)]=1",
        "exec {fd}>out",
        "echo @(a|b)",
        "coproc rm x",
        "cat <<EOF",
        "echo $'\\c[' x",
        "then rm x",
        "ls \\",
        "a[ ; ]",
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
fn what_the_shell_does_by_itself_is_told() {
    let of = |line: &str| {
        let line = read(line).unwrap_or_else(|| panic!("{line} is not understood"));
        let names = line
            .assignments
            .into_iter()
            .map(|it| format!("{}=", it.name));
        names.chain(line.effects).collect::<Vec<_>>()
    };
    let cases: &[(&str, &[&str])] = &[
        ("ls -la", &[]),
        ("echo $((1 + 2))", &[]),
        ("echo $((x + 1))", &["x + 1"]),
        ("echo ${x[$(id)]}", &["x[$(id)]"]),
        ("echo ${x:a:b} ${y@P} ${!z}", &["x:a:b", "y@P", "!z"]),
        ("echo ${x:-a} ${#x} ${x%b}", &[]),
        ("echo ${PATH:=x}", &["PATH="]),
        ("for PATH in ./evil:/bin; do ls; done", &["PATH="]),
        ("export IFS=x B", &["IFS="]),
        ("A=1 B+=2", &["A=", "B="]),
        ("A=1 ls", &[]),
        ("f() { ls; }", &["f"]),
        ("function g { ls; }", &["g"]),
        ("a=(b c)", &["a="]),
    ];
    for (line, expected) in cases {
        assert_eq!(of(line), *expected, "{line}");
    }
}

#[test]
fn the_input_of_commands_is_told() {
    let of = |line: &str| {
        let line = read(line).unwrap_or_else(|| panic!("{line} is not understood"));
        let inputs = line
            .commands
            .into_iter()
            .map(|command| match command.input {
                ShellInput::Inherited => "-".to_owned(),
                ShellInput::Text(word) if word.is_known => word.text,
                ShellInput::Text(word) => format!("{}?", word.text),
                ShellInput::Other => "other".to_owned(),
            });
        inputs.collect::<Vec<_>>()
    };
    assert_eq!(of("bash <<< 'git push'"), ["git push"]);
    assert_eq!(of("bash <<< $x"), ["$x?"]);
    assert_eq!(of("bash <<E\ngit push\nE\nls"), ["git push\n", "-"]);
    assert_eq!(of("bash <<E\ngit $x\nE"), ["git $x\n?"]);
    assert_eq!(of("echo x | bash; ls"), ["-", "other", "-"]);
    assert_eq!(
        of("echo x | while read l; do bash; done"),
        ["-", "other", "other"]
    );
    assert_eq!(of("{ bash; } <<< x"), ["other"]);
    assert_eq!(of("bash < file"), ["other"]);
    assert_eq!(of("bash 0<&3"), ["other"]);
    assert_eq!(of("tee >(bash) < a"), ["other", "other"]);
    assert_eq!(of("cat <(bash)"), ["-", "-"]);
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
