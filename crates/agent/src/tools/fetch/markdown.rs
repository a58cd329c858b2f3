//! Converts HTML to Markdown: the visible text, in one pass, for any input.
//!
//! Invariant: no text makes it panic, and it takes time in proportion to the text.

/// Elements whose content is not shown.
const HIDDEN: [&str; 10] = [
    "script", "style", "noscript", "template", "svg", "head", "iframe", "canvas", "object",
    "select",
];

/// Converts a page to Markdown.
pub(super) fn from_html(html: &str) -> String {
    let mut writer = MarkdownWriter::default();
    let mut rest = html;
    while let Some(at) = rest.find('<') {
        let (text, behind) = rest.split_at(at);
        writer.text(text);
        rest = match tag(behind) {
            Some((tag, after)) => writer.tag(&tag, after),
            None => {
                writer.text("<");
                &behind[1..]
            }
        };
    }
    writer.text(rest);
    writer.finish()
}

/// A tag as written in the source.
struct HtmlTag<'a> {
    name: String,
    is_end: bool,
    attributes: &'a str,
}

/// Parses the tag at the beginning of a text, and returns the remaining text; comments and
/// declarations have no name.
fn tag(text: &str) -> Option<(HtmlTag<'_>, &str)> {
    let nothing = |after| {
        let tag = HtmlTag {
            name: String::new(),
            is_end: false,
            attributes: "",
        };
        Some((tag, after))
    };
    if let Some(comment) = text.strip_prefix("<!--") {
        return nothing(comment.find("-->").map_or("", |at| &comment[at + 3..]));
    }
    if text.starts_with("<!") || text.starts_with("<?") {
        return nothing(text.find('>').map_or("", |at| &text[at + 1..]));
    }
    let inner = &text[1..];
    let (is_end, inner) = match inner.strip_prefix('/') {
        Some(inner) => (true, inner),
        None => (false, inner),
    };
    if !inner.starts_with(|sign: char| sign.is_ascii_alphabetic()) {
        return None;
    }
    let length = inner
        .find(|sign: char| sign.is_whitespace() || matches!(sign, '/' | '>'))
        .unwrap_or(inner.len());
    let (name, rest) = inner.split_at(length);
    let end = end_of_tag(rest);
    let tag = HtmlTag {
        name: name.to_ascii_lowercase(),
        is_end,
        attributes: &rest[..end],
    };
    Some((tag, rest.get(end + 1..).unwrap_or_default()))
}

/// Returns the end of a tag: a `>` outside of quotes.
fn end_of_tag(text: &str) -> usize {
    let mut quote = None;
    for (at, byte) in text.bytes().enumerate() {
        match (quote, byte) {
            (None, b'>') => return at,
            (None, b'"' | b'\'') => quote = Some(byte),
            (Some(open), byte) if open == byte => quote = None,
            _ => {}
        }
    }
    text.len()
}

/// Returns the value of an attribute.
fn attribute(attributes: &str, name: &str) -> Option<String> {
    let lower = attributes.to_ascii_lowercase();
    let mut from = 0;
    while let Some(found) = lower[from..].find(name) {
        let start = from + found;
        from = start + name.len();
        let is_alone = start == 0
            || attributes[..start]
                .ends_with(|sign: char| sign.is_whitespace() || matches!(sign, '"' | '\''));
        let Some(value) = attributes[from..]
            .trim_start()
            .strip_prefix('=')
            .filter(|_| is_alone)
        else {
            continue;
        };
        let value = value.trim_start();
        let end = match value.chars().next() {
            Some(quote @ ('"' | '\'')) => return value[1..].split(quote).next().map(decoded),
            _ => value.find(char::is_whitespace).unwrap_or(value.len()),
        };
        return Some(decoded(&value[..end]));
    }
    None
}

#[derive(Default)]
struct MarkdownWriter {
    out: String,
    /// Open lists, with the next number of ordered ones.
    lists: Vec<Option<u32>>,
    /// Number of open `pre` elements.
    raw: usize,
    /// Addresses of open links, and the offsets at which their texts begin.
    links: Vec<(String, usize)>,
    /// Whether a space is due before the next word.
    is_spaced: bool,
    /// Number of cells in the current table row.
    cells: usize,
}

impl MarkdownWriter {
    fn text(&mut self, text: &str) {
        if text.is_empty() {
            return;
        }
        let text = decoded(text);
        if self.raw > 0 {
            self.out.push_str(&text);
            return;
        }
        self.is_spaced |= text.starts_with(char::is_whitespace);
        for word in text.split_whitespace() {
            if self.is_spaced && !self.out.is_empty() && !self.out.ends_with([' ', '\n', '[', '('])
            {
                self.out.push(' ');
            }
            self.out.push_str(word);
            self.is_spaced = true;
        }
        self.is_spaced = text.ends_with(char::is_whitespace);
    }

    /// Writes a tag and returns the remaining text.
    // tidy: table
    fn tag<'t>(&mut self, tag: &HtmlTag<'_>, after: &'t str) -> &'t str {
        let is_start = !tag.is_end;
        match tag.name.as_str() {
            hidden if HIDDEN.contains(&hidden) && is_start => return after_end_tag(after, hidden),
            "h1" | "h2" | "h3" | "h4" | "h5" | "h6" => {
                self.ensure_line_feeds(2);
                if is_start {
                    let level = usize::from(tag.name.as_bytes()[1] - b'0');
                    self.out.push_str(&"#".repeat(level));
                    self.out.push(' ');
                }
            }
            "p" | "section" | "article" | "blockquote" | "table" | "figure" | "dl" | "main"
            | "details" => self.ensure_line_feeds(2),
            "div" | "header" | "footer" | "nav" | "aside" | "form" | "dt" | "summary"
            | "figcaption" => self.ensure_line_feeds(1),
            "br" => self.out.push('\n'),
            "hr" => {
                self.ensure_line_feeds(2);
                self.out.push_str("---");
                self.ensure_line_feeds(2);
            }
            "ul" | "ol" => self.list(tag),
            "li" | "dd" if is_start => self.item(),
            "pre" => self.pre(is_start),
            "code" | "kbd" | "samp" if self.raw == 0 => self.mark("`", is_start),
            "b" | "strong" => self.mark("**", is_start),
            "i" | "em" => self.mark("*", is_start),
            "a" => self.link(tag),
            "img" => {
                if let Some(text) =
                    attribute(tag.attributes, "alt").filter(|text| !text.trim().is_empty())
                {
                    self.text(&format!("[picture: {}]", text.trim()));
                }
            }
            "tr" => {
                self.ensure_line_feeds(1);
                self.cells = 0;
            }
            "td" | "th" if is_start => {
                if self.cells > 0 {
                    self.out.push_str(" | ");
                }
                self.cells += 1;
                self.is_spaced = false;
            }
            _ => {}
        }
        after
    }

    fn list(&mut self, tag: &HtmlTag<'_>) {
        if tag.is_end {
            self.lists.pop();
            self.ensure_line_feeds(if self.lists.is_empty() { 2 } else { 1 });
        } else {
            self.ensure_line_feeds(if self.lists.is_empty() { 2 } else { 1 });
            // A page may nest lists without limit; real lists are not that deep.
            if self.lists.len() < 32 {
                self.lists.push((tag.name == "ol").then_some(1));
            }
        }
    }

    fn item(&mut self) {
        self.ensure_line_feeds(1);
        let depth = self.lists.len().saturating_sub(1);
        self.out.push_str(&"  ".repeat(depth));
        match self.lists.last_mut() {
            Some(Some(number)) => {
                self.out.push_str(&format!("{number}. "));
                *number += 1;
            }
            _ => self.out.push_str("- "),
        }
        self.is_spaced = false;
    }

    fn pre(&mut self, is_start: bool) {
        if is_start {
            self.ensure_line_feeds(2);
            self.out.push_str("```\n");
            self.raw += 1;
        } else if self.raw > 0 {
            self.raw -= 1;
            self.ensure_line_feeds(1);
            self.out.push_str("```");
            self.ensure_line_feeds(2);
        }
    }

    fn mark(&mut self, mark: &str, is_start: bool) {
        if self.raw > 0 {
            return;
        }
        if is_start && self.is_spaced && !self.out.ends_with([' ', '\n']) {
            self.out.push(' ');
            self.is_spaced = false;
        }
        self.out.push_str(mark);
    }

    fn link(&mut self, tag: &HtmlTag<'_>) {
        if self.raw > 0 {
            return;
        }
        if !tag.is_end {
            let address = attribute(tag.attributes, "href").unwrap_or_default();
            let is_shown = !(address.is_empty()
                || address.starts_with('#')
                || address.to_lowercase().starts_with("javascript:"));
            if is_shown {
                self.mark("[", true);
                self.links.push((address, self.out.len()));
            } else {
                self.links.push((String::new(), self.out.len()));
            }
            return;
        }
        let Some((address, start)) = self.links.pop() else {
            return;
        };
        if address.is_empty() {
            return;
        }
        if self
            .out
            .get(start..)
            .is_none_or(|text| text.trim().is_empty())
        {
            // A link without text, around an image that is not shown.
            self.out.truncate(start.saturating_sub(1))
        } else {
            self.out.push_str(&format!("]({address})"))
        }
    }

    /// Ensures that the text ends with at least `count` line feeds.
    fn ensure_line_feeds(&mut self, count: usize) {
        if self.raw > 0 {
            if !self.out.ends_with('\n') {
                self.out.push('\n');
            }
            return;
        }
        let kept = self.out.trim_end_matches(' ').len();
        // The text of an open link is not truncated.
        if self.links.last().is_none_or(|(_, start)| kept >= *start) {
            self.out.truncate(kept);
        }
        let there = self
            .out
            .bytes()
            .rev()
            .take_while(|byte| *byte == b'\n')
            .count();
        if !self.out.is_empty() {
            self.out
                .extend(std::iter::repeat_n('\n', count.saturating_sub(there)));
        }
        self.is_spaced = false;
    }

    fn finish(self) -> String {
        let mut text = String::new();
        let mut blank = 0;
        for line in self.out.lines() {
            let line = line.trim_end();
            blank = if line.is_empty() { blank + 1 } else { 0 };
            if blank <= 1 {
                text.push_str(line);
                text.push('\n');
            }
        }
        text.trim().to_owned() + "\n"
    }
}

/// Returns the text after the element's end tag; empty if there is none.
fn after_end_tag<'t>(text: &'t str, name: &str) -> &'t str {
    let mut from = 0;
    while let Some(at) = text[from..].find("</") {
        let start = from + at + 2;
        let found = text.get(start..start + name.len());
        if found.is_some_and(|found| found.eq_ignore_ascii_case(name)) {
            return text[start..]
                .find('>')
                .map_or("", |end| &text[start + end + 1..]);
        }
        from = start;
    }
    ""
}

/// Resolves the character references of a text.
fn decoded(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    let mut rest = text;
    while let Some(at) = rest.find('&') {
        out.push_str(&rest[..at]);
        rest = &rest[at..];
        let end = rest.bytes().take(12).position(|byte| byte == b';');
        match end.and_then(|end| Some((character(&rest[1..end])?, end))) {
            Some((sign, end)) => {
                out.push(sign);
                rest = &rest[end + 1..];
            }
            None => {
                out.push('&');
                rest = &rest[1..];
            }
        }
    }
    out.push_str(rest);
    out
}

/// Returns the character of a reference, which is given without `&` and `;`. `None` for a name that
/// is not listed, for 0, and for a number that is not a character. A no-break space becomes a
/// space.
fn character(name: &str) -> Option<char> {
    if let Some(number) = name.strip_prefix('#') {
        let number = match number.strip_prefix(['x', 'X']) {
            Some(hex) => u32::from_str_radix(hex, 16).ok()?,
            None => number.parse().ok()?,
        };
        return char::from_u32(number).filter(|sign| *sign != '\0');
    }
    Some(match name {
        "amp" => '&',
        "lt" => '<',
        "gt" => '>',
        "quot" => '"',
        "apos" => '\'',
        "nbsp" => ' ',
        "copy" => '©',
        "reg" => '®',
        "mdash" => '—',
        "ndash" => '–',
        "hellip" => '…',
        "lsquo" => '‘',
        "rsquo" => '’',
        "ldquo" => '“',
        "rdquo" => '”',
        "laquo" => '«',
        "raquo" => '»',
        "larr" => '←',
        "rarr" => '→',
        "times" => '×',
        "middot" => '·',
        "bull" => '•',
        "para" => '¶',
        "sect" => '§',
        "euro" => '€',
        _ => return None,
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn pages_become_markdown() {
        let cases = [
            (
                "<h1>A  title</h1><p>One <b>two</b>\n three.</p><p>Four</p>",
                "# A title\n\nOne **two** three.\n\nFour\n",
            ),
            (
                "<ul><li>a</li><li>b<ol><li>c</li><li>d</li></ol></li></ul>",
                "- a\n- b\n  1. c\n  2. d\n",
            ),
            (
                "see <a href=\"/x?a=1&amp;b=2\">this page</a>.",
                "see [this page](/x?a=1&b=2).\n",
            ),
            (
                "<a href='#top'>up</a> <a href=\"/y\"><img src=z></a>!",
                "up !\n",
            ),
            (
                "<pre><code>fn a() {\n    b &lt; c\n}\n</code></pre>x",
                "```\nfn a() {\n    b < c\n}\n```\n\nx\n",
            ),
            ("a <code>b</code> c", "a `b` c\n"),
            (
                "<script>if (a < b) { x(\"</div>\") }</script>text<style>p{}</style>",
                "text\n",
            ),
            ("<!-- no <b> -->yes<!DOCTYPE html>", "yes\n"),
            (
                "<table><tr><th>a</th><th>b</th></tr><tr><td>1</td><td>2</td></tr></table>",
                "a | b\n1 | 2\n",
            ),
            (
                "1 < 2 &amp; 3 &#x3e; 2 &unknown; &#0;",
                "1 < 2 & 3 > 2 &unknown; &#0;\n",
            ),
            ("<img alt=\"a cat\">", "[picture: a cat]\n"),
            ("<p title=\"a > b\">x</p>", "x\n"),
            ("a<br>b", "a\nb\n"),
            ("<unclosed", "\n"),
            ("", "\n"),
        ];
        for (html, expected) in cases {
            assert_eq!(from_html(html), expected, "{html}");
        }
    }

    #[test]
    fn no_text_makes_it_panic() {
        let pieces = [
            "<",
            ">",
            "</",
            "a",
            " href=",
            "\"",
            "'",
            "ä",
            "<pre>",
            "</pre>",
            "<ul>",
            "<li>",
            "</a>",
            "<a href=x>",
            "&",
            "&#",
            ";",
            "<!--",
            "-->",
            "<script>",
            "</script",
            "\n",
            "<p>",
            " ",
        ];
        let mut seed = 7u64;
        for _ in 0..3000 {
            let mut html = String::new();
            for _ in 0..20 {
                seed = seed
                    .wrapping_mul(6364136223846793005)
                    .wrapping_add(1442695040888963407);
                html.push_str(pieces[(seed >> 33) as usize % pieces.len()]);
            }
            assert!(from_html(&html).ends_with('\n'));
        }
    }
}
