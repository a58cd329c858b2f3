//! What a terminal would have left on the screen: no colours, no lines written over.

/// The text without escape sequences; of a line that was written over, the last form.
pub(crate) fn clean(text: &str) -> String {
    let mut clean = String::with_capacity(text.len());
    for line in text.split('\n') {
        let line = line.strip_suffix('\r').unwrap_or(line);
        let line = line.rsplit('\r').find(|part| !part.trim().is_empty());
        push_plain(&mut clean, line.unwrap_or_default());
        clean.push('\n');
    }
    // `split` gives one piece more than there are line ends.
    clean.pop();
    clean
}

fn push_plain(clean: &mut String, line: &str) {
    if !line.contains(['\u{1b}', '\u{8}']) {
        return clean.push_str(line);
    }
    let mut letters = line.chars().peekable();
    while let Some(letter) = letters.next() {
        match letter {
            '\u{8}' => {
                clean.pop();
            }
            '\u{1b}' => match letters.next() {
                // Control sequences end with a letter or a sign from `@` to `~`.
                Some('[') => {
                    while letters
                        .next()
                        .is_some_and(|letter| !('@'..='~').contains(&letter))
                    {}
                }
                // Titles and links end with a bell or with an escape and a backslash.
                Some(']') => {
                    while let Some(letter) = letters.next() {
                        if letter == '\u{7}' {
                            break;
                        }
                        if letter == '\u{1b}' {
                            letters.next();
                            break;
                        }
                    }
                }
                Some('(' | ')') => {
                    letters.next();
                }
                _ => {}
            },
            letter => clean.push(letter),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_a_terminal_draws_is_what_is_left() {
        let check = |text: &str, expected: &str| assert_eq!(clean(text), expected);
        check("a\nb\n", "a\nb\n");
        check("a\r\nb", "a\nb");
        check("10%\r50%\r100%\ndone", "100%\ndone");
        check("50%\r\r\n", "50%\n");
        check("\u{1b}[1;31merror\u{1b}[0m: x", "error: x");
        check("\u{1b}]8;;http://x\u{7}link\u{1b}]8;;\u{1b}\\ y", "link y");
        check("ab\u{8}c", "ac");
        check("\u{1b}(Bx", "x");
        check("", "");
        check("\u{1b}[", "");
    }
}
