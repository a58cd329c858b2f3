//! Programs whose arguments form a small language, or which only read with few arguments.

use syntax::shell::ShellWord;

use super::is_below_and_plain;
use super::options::{Operands, ReadOnlyOptions, is_text};

// tidy: table
/// Returns whether a call of a program with its own rules for arguments, such as `cd` or `printf`,
/// only reads. False for programs that are not among them.
pub(super) fn is_harmless(name: &str, words: &[ShellWord]) -> bool {
    let texts: Vec<&str> = words.iter().map(|word| word.text.as_str()).collect();
    match name {
        "cd" => {
            matches!(words, [folder] if !folder.text.starts_with('-') && is_below_and_plain(folder))
        }
        "echo" => words.iter().all(is_text),
        // `-v` sets a variable, whose subscript is evaluated.
        "printf" => match words {
            [first, rest @ ..] => {
                let is_option =
                    first.text.starts_with('-') && first.text != "--" || first.has_globs;
                !is_option && rest.iter().all(is_text)
            }
            [] => false,
        },
        "command" => match words {
            [flag, rest @ ..] => {
                matches!(flag.text.as_str(), "-v" | "-V") && rest.iter().all(ShellWord::is_certain)
            }
            [] => false,
        },
        "[" => match words.split_last() {
            Some((last, rest)) => last.text == "]" && is_test(rest),
            None => false,
        },
        "[[" => match words.split_last() {
            Some((last, rest)) => last.text == "]]" && is_test(rest),
            None => false,
        },
        "test" => is_test(words),
        "find" => is_finding(words),
        "sed" => is_printing(words),
        "jq" => is_filtering(words),
        "date" => {
            let (formats, rest): (Vec<ShellWord>, Vec<ShellWord>) = words
                .iter()
                .cloned()
                .partition(|it| it.is_certain() && it.text.starts_with('+'));
            formats.len() <= 1 && DATE.allows(&rest)
        }
        "cargo" => is_describing(words),
        "go" => matches!(texts[..], ["version"]),
        "rustc" => matches!(
            texts[..],
            ["--version" | "-V" | "-vV"] | ["--version", "--verbose"]
        ),
        "node" | "npm" | "pnpm" | "yarn" => matches!(texts[..], ["--version" | "-v"]),
        "rustup" | "python" | "python3" | "pip" | "pip3" | "java" | "gcc" | "g++" | "clang"
        | "cc" | "make" | "cmake" | "ruby" | "perl" | "php" | "bash" | "deno" | "bun" | "rg"
        | "docker" | "kubectl" | "gh" | "uv" | "ruff" | "pytest" | "tsc" | "eslint" | "ninja" => {
            matches!(texts[..], ["--version" | "-V"])
        }
        _ => false,
    }
}

const DATE: ReadOnlyOptions = ReadOnlyOptions {
    flags: "uR",
    valued: "d",
    attached: "I",
    long: &["date= iso-8601? rfc-email rfc-3339= utc universal"],
    operands: Operands::None,
    ..ReadOnlyOptions::NONE
};

/// Returns whether a condition only tests files and texts. `-v`, and numeric comparisons in `[[`,
/// evaluate subscripts.
fn is_test(words: &[ShellWord]) -> bool {
    let is_number = |at: Option<usize>| {
        let word = at.and_then(|at| words.get(at));
        let text = word.map(|word| word.text.strip_prefix('-').unwrap_or(&word.text));
        text.is_some_and(|text| !text.is_empty() && text.bytes().all(|byte| byte.is_ascii_digit()))
    };
    words
        .iter()
        .enumerate()
        .all(|(at, word)| match word.text.as_str() {
            "-eq" | "-ne" | "-lt" | "-le" | "-gt" | "-ge" => {
                is_number(at.checked_sub(1)) && is_number(Some(at + 1))
            }
            "-v" | "-R" => false,
            _ => is_below_and_plain(word) || word.text == "=~",
        })
}

/// Parts of a `find` expression without an argument.
const TESTS: &[&str] = &[
    "-print",
    "-print0",
    "-ls",
    "-prune",
    "-o",
    "-a",
    "-and",
    "-or",
    "-not",
    "!",
    "(",
    ")",
    ",",
    "-empty",
    "-readable",
    "-writable",
    "-executable",
    "-depth",
    "-d",
    "-xdev",
    "-mount",
    "-nouser",
    "-nogroup",
    "-true",
    "-false",
    "-daystart",
    "-quit",
    "-follow",
    "-noleaf",
];

/// Parts of a `find` expression with an argument that is not a file.
const TESTS_OF: &[&str] = &[
    "-name",
    "-iname",
    "-path",
    "-ipath",
    "-wholename",
    "-iwholename",
    "-regex",
    "-iregex",
    "-regextype",
    "-type",
    "-xtype",
    "-size",
    "-mtime",
    "-atime",
    "-ctime",
    "-mmin",
    "-amin",
    "-cmin",
    "-maxdepth",
    "-mindepth",
    "-perm",
    "-user",
    "-group",
    "-uid",
    "-gid",
    "-inum",
    "-links",
    "-lname",
    "-ilname",
    "-fstype",
    "-used",
    "-printf",
    "-newermt",
    "-newerat",
    "-newerct",
];

/// Parts of a `find` expression with a file argument.
const TESTS_OF_FILES: &[&str] = &["-newer", "-anewer", "-cnewer", "-samefile"];

/// Returns whether `find` with these arguments only searches: its starting points are non-secret
/// paths below the root, and each part of its expression is listed as a harmless test.
fn is_finding(words: &[ShellWord]) -> bool {
    let mut words = words.iter().peekable();
    let is_link_option = |word: &&ShellWord| matches!(word.text.as_str(), "-H" | "-L" | "-P");
    while words.next_if(|word| is_link_option(word)).is_some() {}
    let begins = |word: &&ShellWord| word.text.starts_with(['-', '(', ')', '!', ',']);
    while let Some(start) = words.next_if(|word| !begins(word)) {
        let may_be_test = start.has_globs && start.text.starts_with(['*', '?', '[']);
        if may_be_test || !is_below_and_plain(start) {
            return false;
        }
    }
    while let Some(word) = words.next() {
        let test = word.text.as_str();
        // A file name that an unquoted glob matches may be another test.
        if !word.is_certain() {
            return false;
        }
        let is_fine = if TESTS.contains(&test) {
            true
        } else if TESTS_OF.contains(&test) {
            words.next().is_some_and(ShellWord::is_certain)
        } else if TESTS_OF_FILES.contains(&test) {
            words
                .next()
                .is_some_and(|file| file.is_certain() && is_below_and_plain(file))
        } else {
            false
        };
        if !is_fine {
            return false;
        }
    }
    true
}

/// Returns whether `sed` only prints lines and replaces text in its output.
fn is_printing(words: &[ShellWord]) -> bool {
    let mut scripts: Vec<&str> = Vec::new();
    let mut files: Vec<&ShellWord> = Vec::new();
    let mut words = words.iter();
    while let Some(word) = words.next() {
        match word.text.as_str() {
            "-n" | "-E" | "-r" | "-z" | "-u" | "-nE" | "-En" | "-nr" | "-rn" | "--quiet"
            | "--silent" | "--regexp-extended" | "--null-data" | "--unbuffered" => {}
            "-e" | "--expression" | "-ne" => match words.next() {
                Some(script) if script.is_certain() => scripts.push(&script.text),
                _ => return false,
            },
            text if text.starts_with('-') => return false,
            _ => files.push(word),
        }
    }
    if scripts.is_empty() {
        if files.is_empty() || !files[0].is_certain() {
            return false;
        }
        scripts.push(&files.remove(0).text);
    }
    let may_be_option = |word: &ShellWord| word.has_globs && word.text.starts_with(['*', '?', '[']);
    scripts.iter().all(|script| is_plain_script(script))
        && files
            .iter()
            .all(|file| is_below_and_plain(file) && !may_be_option(file))
}

/// Returns whether a `sed` script only prints, deletes and replaces, without running programs or
/// writing files.
fn is_plain_script(script: &str) -> bool {
    let mut letters = script.chars().peekable();
    loop {
        while letters
            .next_if(|it| it.is_whitespace() || *it == ';')
            .is_some()
        {}
        if letters.peek().is_none() {
            return true;
        }
        if !skip_address(&mut letters) {
            return false;
        }
        while letters.next_if(|it| *it == ' ' || *it == '!').is_some() {}
        match letters.next() {
            Some('p' | 'd' | 'q' | '=' | 'P' | 'D' | 'n' | 'N' | 'g' | 'G' | 'h' | 'H' | 'x') => {}
            Some('s') => {
                let Some(mark) = letters
                    .next()
                    .filter(|it| it.is_ascii_punctuation() && *it != '\\')
                else {
                    return false;
                };
                if !skip_until(&mut letters, mark) || !skip_until(&mut letters, mark) {
                    return false;
                }
                while letters
                    .next_if(|it| it.is_ascii_digit() || matches!(it, 'g' | 'p' | 'i' | 'I'))
                    .is_some()
                {}
            }
            _ => return false,
        }
        match letters.peek() {
            None | Some(';' | '\n' | ' ') => {}
            Some(_) => return false,
        }
    }
}

type Letters<'a> = std::iter::Peekable<std::str::Chars<'a>>;

/// Skips the `sed` addresses that come next, if any: regular expressions between slashes, and
/// digits with `$`, `~` and `+`. Returns false if an expression does not end or its end is
/// ambiguous.
fn skip_address(letters: &mut Letters<'_>) -> bool {
    loop {
        match letters.peek() {
            Some('/') => {
                letters.next();
                if !skip_until(letters, '/') {
                    return false;
                }
                letters.next_if_eq(&'I');
            }
            Some('0'..='9' | '$' | '~' | '+') => {
                while letters
                    .next_if(|it| it.is_ascii_digit() || "$~+".contains(*it))
                    .is_some()
                {}
            }
            _ => return true,
        }
        if letters.next_if_eq(&',').is_none() {
            return true;
        }
    }
}

/// Skips past the next `mark` that no backslash precedes. Returns false if there is none, or if a
/// bracket expression before it contains the mark.
fn skip_until(letters: &mut Letters<'_>, mark: char) -> bool {
    while let Some(letter) = letters.next() {
        match letter {
            '\\' => drop(letters.next()),
            letter if letter == mark => return true,
            // In a set, some versions take the delimiter literally and others do not.
            '[' => {
                let mut set = letters.clone().take_while(|it| *it != ']');
                if set.any(|it| it == mark) {
                    return false;
                }
            }
            _ => {}
        }
    }
    false
}

const JQ: ReadOnlyOptions = ReadOnlyOptions {
    flags: "nrcesSMCajR",
    long: &[
        "null-input raw-output compact-output exit-status slurp sort-keys monochrome-output color-output \
             ascii-output join-output raw-input tab indent= raw-output0 stream seq",
    ],
    ..ReadOnlyOptions::NONE
};

/// Returns whether the filter of `jq` reads neither the environment nor other files.
fn is_filtering(words: &[ShellWord]) -> bool {
    let Some((operands, _)) = JQ.operands_of(words) else {
        return false;
    };
    let Some((filter, files)) = operands.split_first() else {
        return false;
    };
    let mut names = filter
        .text
        .split(|it: char| !it.is_alphanumeric() && it != '_');
    let is_closed =
        !names.any(|name| matches!(name, "env" | "ENV" | "import" | "include" | "modulemeta"));
    filter.is_certain() && is_closed && JQ.allows_operands(files, &[])
}

const CARGO: ReadOnlyOptions = ReadOnlyOptions {
    flags: "qvdV",
    valued: "Fipe",
    long: &[
        "no-deps format-version= offline locked frozen features= all-features no-default-features filter-platform= \
             quiet verbose color= depth= prefix= invert= duplicates edges= format= workspace package= exclude= \
             target= charset= no-dedupe prune= all-targets message-format= version list",
    ],
    operands: Operands::Texts,
    ..ReadOnlyOptions::NONE
};

/// Returns whether `cargo` only describes a package. It may run the compiler, which a project can
/// choose.
fn is_describing(words: &[ShellWord]) -> bool {
    match words.split_first() {
        Some((first, rest)) => match first.text.as_str() {
            "metadata" | "tree" | "locate-project" | "pkgid" => CARGO.allows(rest),
            "--version" | "-V" | "version" | "--list" => rest.is_empty(),
            _ => false,
        },
        None => false,
    }
}
