//! Generates cases: texts, and commands from a grammar of those that people use.
//!
//! Every command is complete: it ends in normal mode. Start at `case`.

use rand::Rng;
use rand::rngs::StdRng;
use rand::seq::IndexedRandom as _;

use super::neovim::Case;

const TEXTS: &[&str] = &[
    "one two three\nfour, five; six\n\n  seven eight\nnine",
    "fn main() {\n\tlet x = foo(a, (b + c), \"str (x)\");\n\tif x {\n\t\treturn 1;\n\t}\n}\n\n// end",
    "A sentence here. Another one!  And a third?\nIt goes on. Yes.\n\nNew paragraph (with parens) here.\n\n\nLast one.",
    "äöü ß 日本語 テキスト\n\tタブ and\ttabs\ta\nfoo\u{301}bar e\u{301}\n\u{1f600} smile",
    "a\n\nb\n\n\nc d e\n",
    "   indented\n      more\n   back\n\ntext-with-dashes and_under 12 -3 0x1f 007\n  x = [1, [2, 3], 4]",
    "<div>\n  <p class=\"a\">text <b>bold</b></p>\n</div>\n'single' and \"double \\\" quote\" `tick`",
    "x",
    "",
    "aaa bbb aaa bbb\nbbb aaa\naaa\nccc aaa bbb",
    "word\n\ttab\tmid\n    spaces  \n.\n()\n{}\n[]",
];

const OPTIONS: &[&str] = &[
    "",
    "",
    "",
    "shiftwidth=4 expandtab",
    "shiftwidth=2 tabstop=4",
    "tabstop=4 shiftwidth=4",
    "ignorecase smartcase",
    "startofline",
];

/// Generates a case.
pub(super) fn case(rng: &mut StdRng) -> Case {
    let text = TEXTS.choose(rng).copied().unwrap_or_default();
    let lines: Vec<String> = text.split('\n').map(str::to_owned).collect();
    let row = rng.random_range(0..lines.len());
    let line = &lines[row];
    let cols: Vec<usize> =
        unicode_segmentation::UnicodeSegmentation::grapheme_indices(line.as_str(), true)
            .map(|(ix, _)| ix)
            .collect();
    let col = cols.choose(rng).copied().unwrap_or(0);
    let count = rng.random_range(1..=5);
    let mut commands: Vec<String> = Vec::new();
    for _ in 0..count {
        let command = command(rng);
        // These make an undo step in Vim although nothing changes.
        let is_noop_step = |keys: &String| {
            keys.ends_with('.')
                || ["gq", "gw", "gu", "gU", "g~", "g?", "<lt>", "<C-a>", "<C-x>"]
                    .iter()
                    .any(|it| keys.contains(it))
        };
        let is_undo = command.trim_start_matches(|char: char| char.is_ascii_digit()) == "u";
        if !(is_undo && commands.iter().any(is_noop_step)) {
            commands.push(command);
        }
    }
    let set = OPTIONS.choose(rng).copied().unwrap_or_default().to_owned();
    Case {
        lines,
        row: row as u32,
        col,
        commands,
        set,
    }
}

/// Parts of commands beyond those of a day of work.
const BEYOND: &[&str] = &[
    "g?", "gw", "go", "gE", "gI", "gp", "gP", "[p", "g<C-", "[(", "])", "[{", "]}", "gv", "g*",
    "g#", "<C-k>", "<C-v>x", "<C-v>0", "is", "as", "ri 20", "ce 20", "le<", "ret<",
];

/// Operators, as far as a key may force the shape of their text.
const OPERATORS: &[&str] = &["d", "y", "c", ">", "<lt>", "g~", "gu", "gU", "gq"];

/// Generates a case of commands that a day of work uses.
pub(super) fn essential_case(rng: &mut StdRng) -> Case {
    loop {
        let case = case(rng);
        let is_forced = |command: &String| {
            let forces = |operator: &&str| {
                ["v", "V", "<C-v>"]
                    .iter()
                    .any(|force| command.contains(&format!("{operator}{force}")))
            };
            OPERATORS.iter().any(forces)
        };
        let is_beyond = |command: &String| BEYOND.iter().any(|part| command.contains(part));
        if !case
            .commands
            .iter()
            .any(|command| is_forced(command) || is_beyond(command))
        {
            return case;
        }
    }
}

fn pick<'a>(rng: &mut StdRng, from: &[&'a str]) -> &'a str {
    from.choose(rng).copied().unwrap_or_default()
}

fn count(rng: &mut StdRng) -> String {
    match rng.random_range(0..10) {
        0..=6 => String::new(),
        _ => rng.random_range(1..5).to_string(),
    }
}

fn register(rng: &mut StdRng) -> &'static str {
    match rng.random_range(0..12) {
        0 => "\"a",
        1 => "\"b",
        2 => "\"A",
        3 => "\"_",
        _ => "",
    }
}

fn char(rng: &mut StdRng) -> &'static str {
    pick(
        rng,
        &["a", "b", "e", "o", " ", "(", ".", "x", "t", "日", "\"", ","],
    )
}

fn find(rng: &mut StdRng) -> String {
    let kind = pick(rng, &["f", "F", "t", "T"]);
    format!("{kind}{}", char(rng))
}

/// A motion that operators take, without its count.
fn motion(rng: &mut StdRng) -> String {
    match rng.random_range(0..12) {
        0..=7 => pick(
            rng,
            &[
                "h", "l", "j", "k", "w", "b", "e", "ge", "W", "B", "E", "gE", "0", "^", "$", "g_",
                "|", "gg", "G", "(", ")", "{", "}", "%", "+", "-", "_", "<Space>", "<BS>", "<CR>",
                "go",
            ],
        )
        .to_owned(),
        8 | 9 => find(rng),
        10 => pick(rng, &["[(", "])", "[{", "]}", "`a", "'a"]).to_owned(),
        _ => search(rng),
    }
}

fn search(rng: &mut StdRng) -> String {
    let pattern = pick(
        rng,
        &[
            "a", "aa*", "\\<\\w", "e", "one", "a\\+", "^", "$", "[0-9]", "t.", "A",
        ],
    );
    let sign = pick(rng, &["/", "?"]);
    let offset = match rng.random_range(0..8) {
        0 => pick(rng, &["e", "e+1", "s-1", "b+1", "+1", "-1", "e-1"]),
        _ => "",
    };
    let offset = if offset.is_empty() {
        String::new()
    } else {
        format!("{sign}{offset}")
    };
    format!("{sign}{pattern}{offset}<CR>")
}

fn object(rng: &mut StdRng) -> String {
    let kind = pick(rng, &["i", "a"]);
    let name = pick(
        rng,
        &[
            "w", "W", "s", "p", "(", ")", "b", "{", "}", "B", "[", "]", "<lt>", ">", "t", "\"",
            "'", "`",
        ],
    );
    format!("{kind}{name}")
}

fn inserted(rng: &mut StdRng) -> String {
    let mut text = String::new();
    for _ in 0..rng.random_range(0..4) {
        text += match rng.random_range(0..16) {
            0 => "<CR>",
            1 => "<BS>",
            2 => "<C-w>",
            3 => "<C-u>",
            4 => "<Tab>",

            5 => "x<C-t>",
            6 => "x<C-d>",
            7 => "<Left>",
            8 => "<Del>",
            9 => pick(
                rng,
                &[
                    "<C-e>", "<C-y>", "<C-r>0", "<C-k>a:", "<C-v>x41", "<C-v>009",
                ],
            ),
            _ => pick(rng, &["x", "foo", " ", "bar baz", "é", "(", "日", "1"]),
        };
    }
    text
}

fn operator(rng: &mut StdRng) -> &'static str {
    pick(
        rng,
        &[
            "d", "d", "y", "y", "c", "c", ">", "<lt>", "g~", "gu", "gU", "g?", "gq", "gw",
        ],
    )
}

fn operation(rng: &mut StdRng) -> String {
    let operator = operator(rng);
    let first = count(rng);
    let second = count(rng);
    let register = register(rng);
    let force = match rng.random_range(0..20) {
        0 => "v",
        1 => "V",
        2 => "<C-v>",
        _ => "",
    };
    let target = match rng.random_range(0..10) {
        // The caret after a search for `gw` is that of the match.
        0..=4 if operator == "gw" => format!("{second}{}", pick(rng, &["j", "k", "}", "{", "G"])),
        0..=4 => {
            let motion = motion(rng);
            // A zero would belong to the count.
            let second = if motion == "0" { "" } else { &second };
            format!("{force}{second}{motion}")
        }
        5..=7 => format!("{force}{}", object(rng)),
        _ => match operator {
            "g~" => "~".to_owned(),
            "gu" => "u".to_owned(),
            "gU" => "U".to_owned(),
            "g?" => "?".to_owned(),
            "gq" => "q".to_owned(),
            "gw" => "w".to_owned(),
            operator => operator.to_owned(),
        },
    };
    let command = format!("{register}{first}{operator}{target}");
    if operator == "c" && force == "<C-v>" {
        return format!("{command}{}<Esc>", pick(rng, &["", "x", "foo"]));
    }
    if operator == "c" {
        return format!("{command}{}<Esc>", inserted(rng));
    }
    command
}

/// An operation that `.` repeats.
fn change(rng: &mut StdRng) -> String {
    loop {
        let operation = operation(rng);
        if !operation.contains('y') {
            return operation;
        }
    }
}

fn simple(rng: &mut StdRng) -> String {
    let count = count(rng);
    let register = register(rng);
    match rng.random_range(0..14) {
        0..=4 => {
            let register = if register == "\"_" { "" } else { register };
            let command = pick(
                rng,
                &[
                    "x", "X", "D", "Y", "p", "P", "gp", "gP", "p", "P", "]p", "[p",
                ],
            );
            format!("{register}{count}{command}")
        }
        5 | 6 => {
            let command = pick(rng, &["J", "gJ", "~", "<C-a>", "<C-x>"]);
            format!("{count}{command}")
        }
        7 => format!("{count}r{}", char(rng)),
        8 => {
            let command = pick(rng, &["C", "s", "S"]);
            format!("{register}{count}{command}{}<Esc>", inserted(rng))
        }
        9 => format!(
            "{count}R{}<Esc>",
            pick(
                rng,
                &[
                    "x",
                    "foo",
                    "é",
                    "日x",
                    "xy<BS>",
                    "fo<BS><BS>z",
                    "a<CR>b",
                    "<Tab>"
                ]
            )
        ),
        10 => format!("m{}", pick(rng, &["a", "b"])),
        _ => {
            let command = pick(rng, &["i", "a", "I", "A", "o", "O", "gI"]);
            format!("{count}{command}{}<Esc>", inserted(rng))
        }
    }
}

fn visual(rng: &mut StdRng) -> String {
    let shape = pick(rng, &["v", "V", "<C-v>"]);
    let mut keys = shape.to_owned();
    for _ in 0..rng.random_range(0..3) {
        let count = count(rng);
        keys += &match rng.random_range(0..6) {
            0 => object(rng),
            1 => pick(rng, &["o", "O", "$"]).to_owned(),
            _ => format!("{count}{}", motion(rng)),
        };
    }
    let register = register(rng);
    let count = count(rng);
    keys += &match rng.random_range(0..14) {
        0..=5 => {
            let command = pick(rng, &["d", "x", "y", "D", "X", "Y", "d", "y"]);
            format!("{register}{command}")
        }
        6 => {
            let command = pick(rng, &["c", "s", "C", "R"]);
            format!(
                "{register}{command}{}<Esc>",
                pick(rng, &["", "x", "foo", "é"])
            )
        }
        7 => {
            let command = pick(rng, &["I", "A"]);
            format!("{command}{}<Esc>", pick(rng, &["", "x", "foo"]))
        }
        8 => format!("{count}{}", pick(rng, &[">", "<lt>"])),
        9 => {
            let register = if register == "\"_" { "" } else { register };
            format!("{register}{}", pick(rng, &["p", "P"]))
        }
        10 => pick(rng, &["J", "gJ", "u", "U", "~", "g?", "gq"]).to_owned(),
        11 => format!("r{}", char(rng)),
        12 => format!("{count}{}", pick(rng, &["<C-a>", "<C-x>", "g<C-a>"])),
        _ => "<Esc>".to_owned(),
    };
    keys
}

fn ex(rng: &mut StdRng) -> String {
    let range = pick(rng, &["", "", "%", ".,+1", "1,2", "$", "1", ".,$"]);
    let command = match rng.random_range(0..16) {
        0..=3 => {
            let pattern = pick(
                rng,
                &[
                    "a",
                    "\\(\\w\\+\\) \\(\\w\\+\\)",
                    "^",
                    "$",
                    "e\\|o",
                    "b*",
                    "\\s\\+",
                    "\\n",
                ],
            );
            let new = pick(rng, &["X", "&&", "\\2-\\1", "", "\\r", "\\u&", "~"]);
            let flags = pick(rng, &["", "g", "ge", "i", "n"]);
            format!("s/{pattern}/{new}/{flags}")
        }
        4 => pick(rng, &["d", "d a", "d 2", "y", "y b"]).to_owned(),
        5 => format!(
            "{}{}",
            pick(rng, &["m", "t"]),
            pick(rng, &["0", "$", ".", "1", "+1"])
        ),
        6 => pick(rng, &["j", "j!", ">", "<lt>", ">>"]).to_owned(),
        7 => format!(
            "g/{}/{}",
            pick(rng, &["a", "e", "^$"]),
            pick(rng, &["d", "m0", "norm Ax", "s/a/b/", "j", "t."])
        ),
        8 => format!(
            "v/{}/{}",
            pick(rng, &["a", "e"]),
            pick(rng, &["d", "norm x"])
        ),
        9 => format!("norm {}", pick(rng, &["x", "Ax", "dw", "ix", "daw", "~w~"])),
        10 => pick(rng, &["sort", "sort!", "sort n", "sort u", "sort i"]).to_owned(),
        11 => pick(rng, &["pu", "pu!", "pu a"]).to_owned(),
        12 => pick(rng, &["le", "ri 20", "ce 20", "ret"]).to_owned(),
        13 => pick(rng, &["", "ka", "s", "&&"]).to_owned(),
        _ => format!("s/{}/x/", pick(rng, &["a", "e", "\\w\\+"])),
    };
    format!(":{range}{command}<CR>")
}

fn command(rng: &mut StdRng) -> String {
    match rng.random_range(0..100) {
        0..=19 => {
            let count = count(rng);
            format!("{count}{}", motion(rng))
        }
        20..=49 => operation(rng),
        50..=67 => simple(rng),
        68..=81 => visual(rng),
        82..=85 => format!("{}{}", count(rng), pick(rng, &["u", "<C-r>"])),
        86..=89 => format!("x{}.", count(rng)),
        90..=91 => format!("qq{}q{}@q", simple(rng), count(rng)),
        92 | 93 => ex(rng),
        94 => format!("{}.", change(rng)),
        95 => format!("gc{}", pick(rng, &["c", "c", "_"])),
        96 => format!("/a<CR>{}", pick(rng, &["n", "N", "2n"])),
        97 => format!("{}{}", count(rng), pick(rng, &["*", "#", "g*", "g#"])),
        98 => pick(
            rng,
            &["/a<CR>dgn.", "/e<CR>cgnX<Esc>.", "gv<Esc>", "gi<Esc>"],
        )
        .to_owned(),
        _ => {
            let find = find(rng);
            format!("{find}{}{}", count(rng), pick(rng, &[";", ",", "d;", "d,"]))
        }
    }
}
