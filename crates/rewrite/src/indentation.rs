//! Indentation that a model dropped from its answer.

/// Gives lines the indentation of `former` again if the model dropped it: from all of them, or from the
/// first one alone.
///
/// Limitation: an answer that moves all lines further out, as asked, looks the same if no line is
/// kept.
pub(crate) fn restore_indentation(lines: &mut [String], former: &[String]) {
    let Some(wanted) = common_indent(former) else {
        return;
    };
    let Some(given) = common_indent(lines) else {
        return;
    };
    let Some(missing) = wanted.strip_suffix(given).filter(|it| !it.is_empty()) else {
        return;
    };
    let missing = missing.to_owned();
    let is_kept = |line: &String| !line.trim().is_empty() && former.contains(line);
    let is_blank = |line: &String| line.trim().is_empty();
    let Some(first) = lines.iter().position(|line| !is_blank(line)) else {
        return;
    };
    if lines.iter().any(is_kept) {
        // The other lines are where they were, so only the first one can have lost its indentation.
        let opened = former.iter().find(|line| !is_blank(line));
        let is_first = opened.is_some_and(|it| it.trim_start() == lines[first].trim_start());
        if is_first {
            lines[first].insert_str(0, &missing);
        }
        return;
    }
    for line in lines.iter_mut().filter(|line| !is_blank(line)) {
        line.insert_str(0, &missing);
    }
}

/// Returns the whitespace that all lines begin with. Lines of whitespace count only if there is no
/// other line. Returns `None` without lines.
fn common_indent(lines: &[String]) -> Option<&str> {
    let has_text = lines.iter().any(|line| !line.trim().is_empty());
    let counted = lines
        .iter()
        .filter(|line| !has_text || !line.trim().is_empty());
    let indents = counted.map(|line| &line[..line.len() - line.trim_start().len()]);
    indents.reduce(common_start)
}

fn common_start<'a>(left: &'a str, right: &'a str) -> &'a str {
    let common = left.chars().zip(right.chars());
    let common = common.take_while(|(left, right)| left == right);
    &left[..common.map(|(letter, _)| letter.len_utf8()).sum()]
}
