//! The manual page and the shell completions of a program, from the text that its `--help` prints.
//!
//! `burin` reads its few options itself, so there is no description of them but this text. It has paragraphs: a summary, the
//! usage, lists whose rows begin with two spaces, and prose.

use crate::error::Error;

/// An option of a list: `-h, --help  print this`.
#[derive(Clone, Debug, PartialEq, Eq)]
struct HelpOption {
    short: Option<char>,
    /// The name without hyphens.
    long: String,
    meaning: String,
}

/// A row of a list that names no option.
#[derive(Clone, Debug, PartialEq, Eq)]
struct HelpArgument {
    name: String,
    meaning: String,
}

/// A program's help text, taken apart.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct HelpText {
    program: String,
    summary: String,
    /// The arguments in the usage, without the program.
    synopsis: String,
    arguments: Vec<HelpArgument>,
    options: Vec<HelpOption>,
    prose: Vec<String>,
}

impl HelpText {
    /// Parses the help text of a program.
    pub(crate) fn parse(program: &str, text: &str) -> Result<Self, Error> {
        let mut help = Self {
            program: program.to_owned(),
            ..Self::default()
        };
        let usage = format!("Usage: {program} ");
        for paragraph in text.split("\n\n").filter(|it| !it.trim().is_empty()) {
            if let Some(synopsis) = paragraph.strip_prefix(usage.as_str()) {
                help.synopsis = joined(synopsis);
            } else if paragraph.starts_with("  ") {
                help.add_list(paragraph);
            } else if help.summary.is_empty() {
                help.summary = joined(paragraph);
            } else {
                help.prose.push(joined(paragraph));
            }
        }
        if help.synopsis.is_empty() || help.options.is_empty() {
            return Err(Error::Output {
                program: "burin --help",
                problem: "it has no usage or no options".to_owned(),
            });
        }
        Ok(help)
    }

    fn add_list(&mut self, paragraph: &str) {
        let mut rows: Vec<(String, String)> = Vec::new();
        for row in paragraph.lines() {
            // Deeper rows continue the meaning, unless they name an option without a letter.
            let item = row.trim_start();
            let is_item = !row.starts_with("   ") || item.starts_with("--");
            match rows.last_mut() {
                Some((_, meaning)) if !is_item => *meaning = joined(&format!("{meaning} {item}")),
                _ => {
                    let (name, meaning) = item.split_once("  ").unwrap_or((item, ""));
                    rows.push((name.trim().to_owned(), joined(meaning)));
                }
            }
        }
        for (name, meaning) in rows {
            match name.rsplit_once("--") {
                Some((short, long)) => self.options.push(HelpOption {
                    short: short.chars().find(|letter| letter.is_alphanumeric()),
                    long: long.to_owned(),
                    meaning,
                }),
                None => self.arguments.push(HelpArgument { name, meaning }),
            }
        }
    }

    /// Returns the manual page, in the format of `man`.
    pub(crate) fn manual_page(&self, version: &str) -> String {
        let program = escaped_for_man(&self.program);
        let mut page = format!(
            ".TH {program} 1 \"\" \"{program} {}\" \"Burin\"\n",
            escaped_for_man(version)
        );
        let summary = self.summary.split_once(", ");
        let summary = summary.map_or(self.summary.as_str(), |(_, summary)| summary);
        page.push_str(&format!(
            ".SH NAME\n{program} \\- {}\n",
            escaped_for_man(summary)
        ));
        let synopsis = escaped_for_man(&self.synopsis);
        page.push_str(&format!(".SH SYNOPSIS\n.B {program}\n{synopsis}\n"));
        page.push_str(".SH DESCRIPTION\n");
        for paragraph in &self.prose {
            page.push_str(&format!(".PP\n{}\n", escaped_for_man(paragraph)));
        }
        for HelpArgument { name, meaning } in &self.arguments {
            let (name, meaning) = (escaped_for_man(name), escaped_for_man(meaning));
            page.push_str(&format!(".TP\n\\fI{name}\\fR\n{meaning}\n"));
        }
        page.push_str(".SH OPTIONS\n");
        for option in &self.options {
            let short = option.short.map(|short| format!("\\fB\\-{short}\\fR, "));
            let long = escaped_for_man(&option.long);
            let meaning = escaped_for_man(&option.meaning);
            let short = short.unwrap_or_default();
            page.push_str(&format!(".TP\n{short}\\fB\\-\\-{long}\\fR\n{meaning}\n"));
        }
        page.push_str(".SH SEE ALSO\n.BR burin\\-agent (1)\n");
        page
    }

    /// Returns the completions of `bash`: options after a hyphen, else files.
    pub(crate) fn bash(&self) -> String {
        let short = self.options.iter().filter_map(|option| option.short);
        let short = short.map(|short| format!("-{short}"));
        let long = self
            .options
            .iter()
            .map(|option| format!("--{}", option.long));
        let words: Vec<String> = short.chain(long).collect();
        let (program, words) = (&self.program, words.join(" "));
        format!(
            "_{program}() {{\n    if [[ ${{COMP_WORDS[COMP_CWORD]}} == -* ]]; then\n        \
             mapfile -t COMPREPLY < <(compgen -W '{words}' -- \"${{COMP_WORDS[COMP_CWORD]}}\")\n    fi\n}}\n\
             complete -o bashdefault -o default -F _{program} {program}\n"
        )
    }

    /// Returns the completions of `zsh`.
    pub(crate) fn zsh(&self) -> String {
        let mut text = format!("#compdef {}\n\n_arguments -s \\\n", self.program);
        for option in &self.options {
            let HelpOption { short, long, .. } = option;
            let meaning = option.meaning.replace('\'', "'\\''");
            let meaning = meaning.replace('[', "\\[").replace(']', "\\]");
            match short {
                Some(short) => text.push_str(&format!(
                    "    '(-{short} --{long})'{{-{short},--{long}}}'[{meaning}]' \\\n"
                )),
                None => text.push_str(&format!("    '--{long}[{meaning}]' \\\n")),
            }
        }
        text + "    '*:file:_files'\n"
    }

    /// Returns the completions of `fish`.
    pub(crate) fn fish(&self) -> String {
        let rows = self.options.iter().map(|option| {
            let short = option.short.map(|short| format!(" -s {short}"));
            let meaning = option.meaning.replace('\\', "\\\\").replace('\'', "\\'");
            let (short, long) = (short.unwrap_or_default(), &option.long);
            format!(
                "complete -c {}{short} -l {long} -d '{meaning}'\n",
                self.program
            )
        });
        rows.collect()
    }
}

/// Returns the words of a text, separated by single spaces.
fn joined(text: &str) -> String {
    text.split_whitespace().collect::<Vec<_>>().join(" ")
}

/// Escapes a line of text for `man`. A hyphen is one to copy, not one between syllables.
fn escaped_for_man(text: &str) -> String {
    let text = text.replace('\\', "\\e").replace('-', "\\-");
    if text.starts_with(['.', '\'']) {
        format!("\\&{text}")
    } else {
        text
    }
}

#[cfg(test)]
mod tests {
    use std::io::Write as _;
    use std::process::{Command, Stdio};

    use super::{HelpArgument, HelpOption, HelpText};

    const HELP: &str = "\
Tool, a program for tests

Usage: tool [OPTION]... [PATH]...

  PATH              a file, or a folder
                    that exists
  -n, --new-window  open Burin's window [first]
      --plain       print no colours

.leading dot and back\\slash.
";

    fn help() -> HelpText {
        HelpText::parse("tool", HELP).expect("a help text")
    }

    /// Returns the help text of `burin` from its source.
    fn of_burin() -> String {
        let source = include_str!("../../../app/src/arguments.rs");
        let (_, text) = source
            .split_once("HELP: &str = \"\\\n")
            .expect("the help text");
        text.split_once("\";").expect("its end").0.to_owned()
    }

    #[test]
    fn lists_and_prose_are_told_apart() {
        let help = help();
        assert_eq!(help.synopsis, "[OPTION]... [PATH]...");
        let argument = HelpArgument {
            name: "PATH".to_owned(),
            meaning: "a file, or a folder that exists".to_owned(),
        };
        assert_eq!(help.arguments, [argument]);
        let plain = HelpOption {
            short: None,
            long: "plain".to_owned(),
            meaning: "print no colours".to_owned(),
        };
        assert_eq!(help.options.len(), 2);
        assert_eq!(help.options[1], plain);
        assert_eq!(help.options[0].short, Some('n'));
        assert_eq!(help.prose, [".leading dot and back\\slash."]);
        assert!(HelpText::parse("tool", "No usage.\n").is_err());
    }

    #[test]
    fn every_option_of_burin_is_in_page_and_completions() {
        let text = of_burin();
        let help = HelpText::parse("burin", &text).expect("a help text");
        let page = help.manual_page("1.2.3").replace("\\-", "-");
        assert!(page.contains("\nburin - a code editor\n"), "{page}");
        let words = text.split(|letter: char| letter.is_whitespace() || letter == ',');
        let options: Vec<&str> = words.filter(|word| word.starts_with("--")).collect();
        assert!(options.contains(&"--help") && options.contains(&"--version"));
        for option in options {
            assert!(page.contains(option), "{option}: {page}");
            assert!(
                help.bash().contains(option) && help.zsh().contains(option),
                "{option}"
            );
            let long = format!("-l {}", option.trim_start_matches('-'));
            assert!(help.fish().contains(&long), "{option}");
        }
    }

    #[test]
    fn pages_escape_what_man_would_read() {
        let page = help().manual_page("1.2.3");
        assert!(
            page.contains("\n\\&.leading dot and back\\eslash.\n"),
            "{page}"
        );
        assert!(
            page.contains("\\fB\\-n\\fR, \\fB\\-\\-new\\-window\\fR\n"),
            "{page}"
        );
    }

    #[test]
    fn shells_accept_the_completions() {
        let help = help();
        for (shell, text) in [
            ("bash", help.bash()),
            ("zsh", help.zsh()),
            ("fish", help.fish()),
        ] {
            let child = Command::new(shell)
                .arg("-n")
                .stdin(Stdio::piped())
                .stderr(Stdio::piped())
                .spawn();
            let Ok(mut child) = child else {
                test_support::skip_part(format!("{shell} is not installed"));
                continue;
            };
            let mut input = child.stdin.take().expect("a pipe");
            input.write_all(text.as_bytes()).expect("written");
            drop(input);
            let output = child.wait_with_output().expect("the shell ends");
            let errors = String::from_utf8_lossy(&output.stderr).into_owned();
            assert!(
                output.status.success() && errors.is_empty(),
                "{shell}: {errors}\n{text}"
            );
        }
    }
}
