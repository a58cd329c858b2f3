//! Finds documented functions in Python: a `def` whose body begins with a triple-quoted string.

use super::{Function, LONGEST_CODE};

/// Returns the functions of a Python text that have a docstring, in order.
pub(super) fn functions(text: &str) -> Vec<Function> {
    let lines: Vec<&str> = text.lines().collect();
    (0..lines.len())
        .filter_map(|at| function(&lines, at))
        .collect()
}

/// Returns the function whose head begins in the line `start`, its code cut near `LONGEST_CODE`
/// bytes. Returns `None` if none begins there, or if it has no docstring or consists only of one.
fn function(lines: &[&str], start: usize) -> Option<Function> {
    let indent = indent(lines[start]);
    let head = lines[start].trim_start();
    let rest = head
        .strip_prefix("async ")
        .unwrap_or(head)
        .strip_prefix("def ")?;
    let name: String = rest
        .chars()
        .take_while(|letter| letter.is_alphanumeric() || *letter == '_')
        .collect();
    let open = start + head_length(&lines[start..])?;
    let first = open
        + lines[open..]
            .iter()
            .position(|line| !line.trim().is_empty())?;
    let (doc, after) = docstring(lines, first)?;
    let end = body_end(lines, after, indent);
    if name.is_empty()
        || !lines[after.min(end)..end]
            .iter()
            .any(|line| is_statement(line))
    {
        return None;
    }
    let mut code = String::new();
    for line in lines[start..open].iter().chain(&lines[after..end]) {
        if code.len() + line.len() > LONGEST_CODE {
            break;
        }
        code.push_str(line.get(indent..).unwrap_or(line.trim_start()));
        code.push('\n');
    }
    let code = code.trim_end().to_owned();
    Some(Function { doc, name, code })
}

/// Returns the length of the white space at the start of a line, in bytes.
fn indent(line: &str) -> usize {
    line.len() - line.trim_start().len()
}

/// Whether a line is neither blank nor a comment.
fn is_statement(line: &str) -> bool {
    let line = line.trim();
    !line.is_empty() && !line.starts_with('#')
}

/// Returns the number of lines of the head, from `def` to the colon.
fn head_length(lines: &[&str]) -> Option<usize> {
    let mut depth = 0_i32;
    for (number, line) in lines.iter().enumerate().take(60) {
        let code = line.split(" #").next().unwrap_or_default();
        let mut quote = None;
        for letter in code.chars() {
            match (quote, letter) {
                (None, '"' | '\'') => quote = Some(letter),
                (Some(open), _) if open == letter => quote = None,
                (Some(_), _) => {}
                (None, '(' | '[' | '{') => depth += 1,
                (None, ')' | ']' | '}') => depth -= 1,
                _ => {}
            }
        }
        if depth <= 0 {
            return code.trim_end().ends_with(':').then_some(number + 1);
        }
    }
    None
}

/// Returns the string that begins in line `first`, and the index of the line after it.
fn docstring(lines: &[&str], first: usize) -> Option<(String, usize)> {
    let line = lines[first].trim_start();
    let opened = line.trim_start_matches(['r', 'R', 'u', 'U']);
    let quotes = [r#"""""#, "'''"]
        .into_iter()
        .find(|quotes| opened.starts_with(quotes))?;
    let opened = &opened[3..];
    if let Some(end) = opened.find(quotes) {
        return Some((opened[..end].to_owned(), first + 1));
    }
    let mut doc = opened.to_owned();
    for (number, line) in lines.iter().enumerate().skip(first + 1) {
        doc.push('\n');
        match line.find(quotes) {
            Some(end) => {
                doc.push_str(&line[..end]);
                return Some((doc, number + 1));
            }
            None => doc.push_str(line),
        }
    }
    None
}

/// Returns the first line from `at` on that is not indented deeper than the head; a string over several
/// lines counts as a whole.
fn body_end(lines: &[&str], at: usize, indent_of_head: usize) -> usize {
    let mut quotes = None;
    for (number, line) in lines.iter().enumerate().skip(at) {
        let is_over = is_statement(line)
            && indent(line) <= indent_of_head
            && !line.trim_start().starts_with([')', ']', '}']);
        if quotes.is_none() && is_over {
            return number;
        }
        for kind in [r#"""""#, "'''"] {
            let is_open = quotes == Some(kind);
            let changes = line.matches(kind).count() % 2 == 1;
            match (is_open, quotes, changes) {
                (true, _, true) => quotes = None,
                (false, None, true) => quotes = Some(kind),
                _ => {}
            }
        }
    }
    lines.len()
}
