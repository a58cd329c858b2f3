//! The search in the guide, and the parts of it that prompts cite.

use std::cmp::Reverse;

use crate::page::GuidePage;
use crate::section::GuideSection;

/// Weights of a word in the title of a section, in the title of its page, and in its text.
const IN_TITLE: u32 = 20;
const IN_PAGE_TITLE: u32 = 6;
const IN_TEXT: u32 = 1;
/// Factor for a word that begins where a word of the text begins.
const AT_START: u32 = 2;
/// Occurrences in a text beyond this number count no more.
const MAX_COUNT: usize = 5;
/// Maximum length of an excerpt, in bytes.
const MAX_EXCERPT: usize = 160;
/// Maximum number of sections that a prompt cites at once.
const MAX_CITED: usize = 4;

/// A section that contains all words of a query.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct GuideHit {
    /// The section.
    pub section: GuideSection,
    /// The first line of the text with a word of the query, without marks of Markdown.
    pub excerpt: String,
    /// Row of this line in the page, counted from 0.
    pub row: u32,
    score: u32,
}

/// Returns the sections that contain every word of the query, in any case, the best first. Without words, returns all
/// sections in their order.
pub fn search(query: &str) -> Vec<GuideHit> {
    let words: Vec<String> = query.split_whitespace().map(str::to_lowercase).collect();
    let sections = GuidePage::all().iter().flat_map(GuidePage::sections);
    let hits = sections.filter_map(|section| hit(section, &words));
    let mut hits: Vec<GuideHit> = hits.collect();
    // Stable, so that equal sections keep their order.
    hits.sort_by_key(|hit| Reverse(hit.score));
    hits
}

fn hit(section: GuideSection, words: &[String]) -> Option<GuideHit> {
    let title = section.title.to_lowercase();
    let page_title = section.page.title().to_lowercase();
    let text = section.text.to_lowercase();
    let mut score = 0;
    for word in words {
        let found = [
            weight(&title, word, IN_TITLE),
            weight(&page_title, word, IN_PAGE_TITLE),
            weight(&text, word, IN_TEXT),
        ];
        let sum: u32 = found.iter().sum();
        if sum == 0 {
            return None;
        }
        score += sum;
    }
    let (offset, line) = excerpt_line(section.text, words);
    Some(GuideHit {
        excerpt: plain(line),
        row: section.row + offset,
        score,
        section,
    })
}

/// Returns the weight of a word in a text: that of its occurrences, with more for those at the start of a word.
fn weight(text: &str, word: &str, each: u32) -> u32 {
    let found = text.match_indices(word).take(MAX_COUNT);
    found
        .map(|(at, _)| {
            let is_inside = text[..at].ends_with(char::is_alphanumeric);
            if is_inside { each } else { each * AT_START }
        })
        .sum()
}

/// Returns the line of a section that an excerpt shows, with its distance from the heading: the first one below the
/// heading with a word, else the first one below the heading.
fn excerpt_line<'t>(text: &'t str, words: &[String]) -> (u32, &'t str) {
    let lines = (0..).zip(text.lines()).skip(1);
    let mut lines = lines.filter(|(_, line)| line.contains(char::is_alphanumeric));
    let first = lines.clone().next().unwrap_or_default();
    let with_word = lines.find(|(_, line)| {
        let line = line.to_lowercase();
        words.iter().any(|word| line.contains(word.as_str()))
    });
    with_word.unwrap_or(first)
}

/// Returns a line of Markdown without marks: `| a | [b](c.md) |` becomes `a · b`.
fn plain(line: &str) -> String {
    let mut plain = String::new();
    let mut rest = line.trim().trim_matches('|').trim();
    while let Some(at) = rest.find("](") {
        plain.push_str(&rest[..at]);
        rest = rest[at..].split_once(')').map_or("", |(_, rest)| rest);
    }
    plain.push_str(rest);
    let plain = plain
        .replace(['`', '*', '[', ']'], "")
        .replace(" | ", " \u{b7} ");
    let plain = plain.trim_start_matches(['-', '>', ' ']);
    let end = plain.floor_char_boundary(MAX_EXCERPT);
    plain[..end].to_owned()
}

/// Returns the part of the guide that a prompt cites: without a name the contents; else the page of this name, the
/// section `page#anchor`, or the best sections for words. `None` if there is no such part.
pub fn cited(name: Option<&str>) -> Option<String> {
    let Some(name) = name else {
        return Some(contents());
    };
    let (page, anchor) = name
        .split_once('#')
        .map_or((name, None), |(page, anchor)| (page, Some(anchor)));
    match (GuidePage::named(page), anchor) {
        (Some(page), None) => Some(page.text.to_owned()),
        (Some(page), Some(anchor)) => {
            let sections = page.sections().into_iter();
            let mut found = sections.filter(|section| section.anchor == anchor);
            found.next().map(|section| section.text.to_owned())
        }
        (None, _) => {
            let hits = search(name).into_iter().take(MAX_CITED);
            let texts: Vec<String> = hits
                .map(|hit| {
                    let section = hit.section;
                    let (page, anchor) = (section.page.name, &section.anchor);
                    format!("[docs/{page}.md#{anchor}]\n{}", section.text)
                })
                .collect();
            (!texts.is_empty()).then(|| texts.join("\n\n"))
        }
    }
}

/// Returns the pages with their sections, as a list.
fn contents() -> String {
    let mut text = String::from("The guide of Burin. A page is cited by its name, such as @docs:");
    text.push_str(GuidePage::all().first().map_or("", |page| page.name));
    text.push_str(".\n");
    for page in GuidePage::all() {
        text.push_str(&format!("- {}: {}\n", page.name, page.title()));
        for section in page.sections().iter().skip(1) {
            text.push_str(&format!("  - {}#{}\n", page.name, section.anchor));
        }
    }
    text
}

#[cfg(test)]
mod tests {
    use super::{cited, plain, search};

    fn best(query: &str) -> String {
        let hits = search(query);
        let hit = hits.first().unwrap_or_else(|| panic!("{query} is found"));
        format!("{}#{}", hit.section.page.name, hit.section.anchor)
    }

    #[test]
    fn the_best_section_has_the_words_in_its_title() {
        assert_eq!(
            best("shells outlive"),
            "terminal#shells-that-outlive-the-window"
        );
        assert_eq!(best("FOLDER trust"), "safety#folder-trust");
        assert_eq!(best("external agents"), "mcp-and-acp#external-agents");
        assert!(search("zzzz-nothing").is_empty());
        assert!(search("agent zzzz-nothing").is_empty(), "every word counts");
        assert!(search(" ").len() > 50, "all sections");
    }

    #[test]
    fn an_excerpt_is_the_line_with_the_word() {
        for query in ["worktree", "keychain", "landing", "debian"] {
            for hit in search(query).iter().take(5) {
                let row = hit.section.page.text.lines().nth(hit.row as usize);
                let row = row.expect("a row").to_lowercase();
                let title = hit.section.title.to_lowercase();
                assert!(
                    row.contains(query) || title.contains(query),
                    "{query}: {row}"
                );
                assert!(hit.row > hit.section.row || hit.excerpt.is_empty());
            }
        }
        assert_eq!(plain("| `@x` | see [b](c.md) now |"), "@x \u{b7} see b now");
        assert_eq!(plain("- **bold** and [cut](x"), "bold and cut");
    }

    #[test]
    fn prompts_cite_contents_pages_sections_and_words() {
        let contents = cited(None).expect("contents");
        assert!(contents.contains("- tab: ") && contents.contains("  - safety#folder-trust\n"));
        let page = cited(Some("tab")).expect("a page");
        assert!(page.starts_with("# "));
        let section = cited(Some("safety#folder-trust")).expect("a section");
        assert!(section.starts_with("## Folder trust\n"), "{section}");
        let found = cited(Some("undo a landing")).expect("sections");
        assert!(found.starts_with("[docs/"), "{found}");
        assert!(found.matches("[docs/").count() <= 4);
        assert_eq!(cited(Some("safety#nothing")), None);
        assert_eq!(cited(Some("zzzz-nothing")), None);
    }
}
