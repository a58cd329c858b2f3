//! Reads the profile language, as far as our profiles use it; everything else is an error.
//!
//! Strings have the escapes `\\` and `\"`; a regular expression is written `#"…"` and has none. A
//! semicolon begins a comment. Sources: Apple's profiles in /System/Library/Sandbox/Profiles, and
//! the profiles that the projects named in the safety page generate.

use super::evaluator::{Filter, Rule, SpelledPath};

/// One form: a word, a string, a regular expression or a list.
#[derive(Clone, Debug, PartialEq, Eq)]
enum Form {
    Word(String),
    Text(String),
    Regex(String),
    List(Vec<Form>),
}

/// Every operation that a profile may name.
pub(super) const OPERATIONS: &[&str] = &[
    "default",
    "file-clone",
    "file-ioctl",
    "file-link",
    "file-map-executable",
    "file-mknod",
    "file-mount",
    "file-read*",
    "file-read-data",
    "file-read-metadata",
    "file-read-xattr",
    "file-test-existence",
    "file-write*",
    "file-write-create",
    "file-write-data",
    "file-write-setugid",
    "file-write-unlink",
    "iokit-open",
    "ipc-posix-sem",
    "ipc-posix-shm-read*",
    "ipc-posix-shm-read-data",
    "ipc-posix-shm-write-create",
    "ipc-posix-shm-write-unlink",
    "mach-lookup",
    "network*",
    "network-bind",
    "network-inbound",
    "network-outbound",
    "process-exec",
    "process-fork",
    "process-info*",
    "pseudo-tty",
    "signal",
    "sysctl-read",
    "sysctl-write",
    "system-socket",
    "user-preference-read",
];

/// Reads a profile.
pub(crate) fn read(text: &str) -> Result<Vec<Rule>, String> {
    let mut letters = text.chars().peekable();
    let mut forms = Vec::new();
    while let Some(form) = form(&mut letters)? {
        forms.push(form);
    }
    let mut forms = forms.into_iter();
    let version = Form::List(vec![Form::Word("version".into()), Form::Word("1".into())]);
    if forms.next() != Some(version) {
        return Err("a profile begins with (version 1)".to_owned());
    }
    forms.map(rule).collect()
}

type Letters<'a> = std::iter::Peekable<std::str::Chars<'a>>;

fn form(letters: &mut Letters<'_>) -> Result<Option<Form>, String> {
    loop {
        match letters.peek() {
            None => return Ok(None),
            Some(letter) if letter.is_whitespace() => {
                letters.next();
            }
            Some(';') => while letters.next().is_some_and(|letter| letter != '\n') {},
            Some(_) => break,
        }
    }
    let form = match letters.next() {
        Some('(') => {
            let mut inner = Vec::new();
            loop {
                while letters.next_if(|letter| letter.is_whitespace()).is_some() {}
                if letters.next_if_eq(&')').is_some() {
                    break Form::List(inner);
                }
                inner.push(form(letters)?.ok_or("a list is not closed")?);
            }
        }
        Some('"') => {
            let mut text = String::new();
            loop {
                match letters.next().ok_or("a string is not closed")? {
                    '"' => break Form::Text(text),
                    '\\' => match letters.next() {
                        Some(letter @ ('"' | '\\')) => text.push(letter),
                        other => return Err(format!("unknown escape {other:?}")),
                    },
                    letter if letter.is_control() => return Err("a control character".to_owned()),
                    letter => text.push(letter),
                }
            }
        }
        Some('#') => {
            if letters.next() != Some('"') {
                return Err("# begins a regular expression".to_owned());
            }
            let text: String = letters
                .by_ref()
                .take_while(|letter| *letter != '"')
                .collect();
            Form::Regex(text)
        }
        Some(first) if first.is_ascii_alphanumeric() => {
            let mut word = String::from(first);
            let is_word = |letter: &char| letter.is_ascii_alphanumeric() || "-_*".contains(*letter);
            while let Some(letter) = letters.next_if(is_word) {
                word.push(letter);
            }
            Form::Word(word)
        }
        other => return Err(format!("unexpected {other:?}")),
    };
    Ok(Some(form))
}

fn rule(form: Form) -> Result<Rule, String> {
    let Form::List(parts) = form else {
        return Err(format!("{form:?} is not a rule"));
    };
    let mut parts = parts.into_iter();
    let allows = match parts.next() {
        Some(Form::Word(word)) if word == "allow" => true,
        Some(Form::Word(word)) if word == "deny" => false,
        other => return Err(format!("{other:?} is neither allow nor deny")),
    };
    let mut rule = Rule {
        allows,
        operations: Vec::new(),
        filters: Vec::new(),
    };
    for part in parts {
        match part {
            Form::Word(word) if OPERATIONS.contains(&word.as_str()) => {
                if !rule.filters.is_empty() {
                    return Err(format!("the operation {word} follows a filter"));
                }
                rule.operations.push(word);
            }
            // A modifier of the rule, not a filter.
            Form::List(parts) if parts.first() == Some(&Form::Word("with".into())) => {
                if rule.allows || !matches!(parts[1..], [Form::Word(_), Form::Text(_)]) {
                    return Err(format!("unknown modifier {parts:?}"));
                }
            }
            Form::List(parts) => rule.filters.push(filter(&parts)?),
            other => return Err(format!("{other:?} is neither an operation nor a filter")),
        }
    }
    if rule.operations.is_empty() {
        return Err("a rule without an operation".to_owned());
    }
    Ok(rule)
}

fn filter(parts: &[Form]) -> Result<Filter, String> {
    let word = |form: &Form| match form {
        Form::Word(word) => word.clone(),
        _ => String::new(),
    };
    let name = parts.first().map(word).unwrap_or_default();
    let filter = match (name.as_str(), &parts[1..]) {
        ("literal", [Form::Text(path)]) => Filter::Literal(SpelledPath::new(path)),
        ("subpath", [Form::Text(path)]) => Filter::Subpath(SpelledPath::new(path)),
        ("regex", [Form::Regex(pattern)]) => Filter::Regex(compiled(pattern)?),
        ("extension", [Form::Text(name)]) => Filter::Extension(name.clone()),
        ("global-name", [Form::Text(name)]) => Filter::GlobalName(name.clone()),
        ("local-name", [Form::Text(name)]) => Filter::LocalName(name.clone()),
        ("sysctl-name", [Form::Text(name)]) => Filter::Name(name.clone()),
        ("iokit-registry-entry-class", [Form::Text(name)]) => Filter::Name(name.clone()),
        ("ipc-posix-name-regex", [Form::Regex(pattern)]) => Filter::NameRegex(compiled(pattern)?),
        ("ipc-posix-name-prefix", [Form::Text(name)]) => Filter::NamePrefix(name.clone()),
        ("target", [Form::Word(target)]) if target == "same-sandbox" => Filter::SameSandbox,
        ("socket-domain", [Form::Word(domain)]) => Filter::Domain(domain.clone()),
        ("socket-protocol", [Form::Word(number)]) => Filter::Protocol(number.clone()),
        ("remote", [Form::Word(kind), Form::Text(address)]) if kind == "ip" => {
            let (host, port) = address.split_once(':').ok_or("an address without a port")?;
            if !["localhost", "*"].contains(&host) {
                return Err(format!("the host of {address} is neither localhost nor *"));
            }
            Filter::RemoteAddress(host.to_owned(), port.to_owned())
        }
        ("local" | "remote", [Form::Word(kind), path @ ..]) if kind == "unix-socket" => {
            let inner = Box::new(match path {
                [] => Filter::Subpath(SpelledPath::new("/")),
                [Form::List(path)] => filter(path)?,
                _ => return Err(format!("unknown filter {parts:?}")),
            });
            match name.as_str() {
                "local" => Filter::LocalSocket(inner),
                _ => Filter::RemoteSocket(inner),
            }
        }
        ("require-all", rest) => {
            let all = rest.iter().map(|form| match form {
                Form::List(parts) => filter(parts),
                other => Err(format!("{other:?} is not a filter")),
            });
            Filter::All(all.collect::<Result<_, _>>()?)
        }
        _ => return Err(format!("unknown filter {parts:?}")),
    };
    Ok(filter)
}

fn compiled(pattern: &str) -> Result<regex::Regex, String> {
    if pattern.len() > super::super::spelling::MAX_PATTERN_BYTES {
        return Err(format!("a pattern of {} bytes", pattern.len()));
    }
    let builder = regex::RegexBuilder::new(pattern)
        .size_limit(64 << 20)
        .build();
    builder.map_err(|error| error.to_string())
}

#[test]
fn foreign_words_are_refused() {
    for text in [
        "(allow default)",
        "(version 1)(allow lsopen)",
        "(version 1)(allow file-read* (path \"/\"))",
        "(version 1)(allow file-read* (literal \"/a\\n\"))",
        "(version 1)(allow network-outbound (remote ip \"10.0.0.1:80\"))",
        "(version 1)(deny)",
        "(version 1)(allow file-read* (literal \"/a\")",
        "(version 1)(import \"system.sb\")",
    ] {
        assert!(read(text).is_err(), "{text}");
    }
    let rules = read("(version 1) ; (allow default)\n(deny default)").expect("a profile");
    assert_eq!(rules.len(), 1);
}
