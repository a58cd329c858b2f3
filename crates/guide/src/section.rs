//! Sections of a page: the text from one heading to the next.

use crate::page::GuidePage;

/// A part of a page below a heading, without the parts of further headings.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct GuideSection {
    /// The page of the section.
    pub page: &'static GuidePage,
    /// The heading, without its marks.
    pub title: &'static str,
    /// The name of the heading in links: `#what-a-prompt-can-name` without the sign.
    pub anchor: String,
    /// Row of the heading in the page, counted from 0.
    pub row: u32,
    /// The text with its heading.
    pub text: &'static str,
}

impl GuidePage {
    /// Returns the sections, in order. The first one has the title of the page.
    pub fn sections(&'static self) -> Vec<GuideSection> {
        sections(self)
    }
}

/// Splits a page at its headings. Headings in code blocks are text.
fn sections(page: &'static GuidePage) -> Vec<GuideSection> {
    let mut starts: Vec<(usize, u32, &'static str)> = Vec::new();
    let mut is_code = false;
    let (mut at, mut row) = (0, 0);
    for line in page.text.split_inclusive('\n') {
        if line.trim_start().starts_with("```") {
            is_code = !is_code;
        } else if let Some(title) = heading(line).filter(|_| !is_code) {
            starts.push((at, row, title));
        }
        at += line.len();
        row += 1;
    }
    let ends = starts.iter().skip(1).map(|(at, ..)| *at);
    let ends: Vec<usize> = ends.chain([page.text.len()]).collect();
    let mut anchors: Vec<String> = Vec::new();
    let sections = starts.into_iter().zip(ends);
    sections
        .map(|((start, row, title), end)| {
            let anchor = free_anchor(&anchor(title), &anchors);
            anchors.push(anchor.clone());
            GuideSection {
                page,
                title,
                anchor,
                row,
                text: page.text[start..end].trim_end(),
            }
        })
        .collect()
}

/// Returns the title of a heading.
fn heading(line: &str) -> Option<&str> {
    let title = line.trim_start_matches('#');
    let level = line.len() - title.len();
    let title = title.strip_prefix(' ').filter(|_| (1..=6).contains(&level));
    title.map(str::trim)
}

/// Returns the anchor of a heading as GitHub and mdBook make it.
fn anchor(title: &str) -> String {
    let kept = title.chars().filter_map(|letter| match letter {
        ' ' => Some('-'),
        '-' | '_' => Some(letter),
        _ if letter.is_alphanumeric() => Some(letter),
        _ => None,
    });
    kept.flat_map(char::to_lowercase).collect()
}

/// Returns the anchor, with a number if the page has one like it already.
fn free_anchor(anchor: &str, taken: &[String]) -> String {
    let mut free = anchor.to_owned();
    let mut count = 0;
    while taken.contains(&free) {
        count += 1;
        free = format!("{anchor}-{count}");
    }
    free
}

#[cfg(test)]
mod tests {
    use super::sections;
    use crate::page::GuidePage;

    static PAGE: GuidePage = GuidePage {
        name: "page",
        text: "# The page\n\nIntro.\n\n## What `@x` is, and why\n```sh\n# no heading\n```\n## Twice\na\n## Twice\nb\n#nothing\n",
    };

    #[test]
    fn sections_begin_at_headings_outside_code() {
        let sections = sections(&PAGE);
        let found = sections.iter();
        let found: Vec<(&str, &str, u32)> = found
            .map(|it| (it.title, it.anchor.as_str(), it.row))
            .collect();
        let expected = [
            ("The page", "the-page", 0),
            ("What `@x` is, and why", "what-x-is-and-why", 4),
            ("Twice", "twice", 8),
            ("Twice", "twice-1", 10),
        ];
        assert_eq!(found, expected);
        assert_eq!(sections[0].text, "# The page\n\nIntro.");
        assert_eq!(sections[3].text, "## Twice\nb\n#nothing");
        let rows: Vec<&str> = PAGE.text.lines().collect();
        for section in &sections {
            assert!(rows[section.row as usize].ends_with(section.title));
        }
    }
}
