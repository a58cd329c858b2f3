//! Links of a document: what a click does.

use gpui_kit::{Context, SharedString};
use preview::PreviewLink;

use super::MarkdownPreview;
use crate::event::PreviewEvent;

impl MarkdownPreview {
    /// Follows a link: within the document, to a file, or by a request to the window to show an address.
    pub(super) fn open_link(&mut self, target: &str, cx: &mut Context<Self>) {
        let folder = self.path(cx).and_then(|path| path.parent());
        let link = PreviewLink::of(target, folder.as_ref(), self.root.as_ref());
        match link {
            Some(PreviewLink::Web(address)) => cx.emit(PreviewEvent::OpenAddress(address)),
            Some(PreviewLink::Anchor(anchor)) => self.go_to_anchor(&anchor, cx),
            Some(PreviewLink::File { path, fragment }) => {
                let line = fragment.as_deref().and_then(line_of_fragment);
                cx.emit(PreviewEvent::OpenFile { path, line });
            }
            Some(PreviewLink::Refused(scheme)) => {
                let text =
                    format!("Links with the scheme \u{201c}{scheme}:\u{201d} are not opened");
                cx.emit(PreviewEvent::Tell(text.into()));
            }
            None => cx.emit(PreviewEvent::Tell("This link has no target".into())),
        }
    }

    fn go_to_anchor(&mut self, anchor: &str, cx: &mut Context<Self>) {
        let document = self.content.ready();
        let row = document.and_then(|document| {
            let ix = document.block_of_anchor(anchor)?;
            Some(document.blocks()[ix].rows.start)
        });
        match row {
            Some(row) => {
                self.show_row(f64::from(row), cx);
                self.list_scrolled(cx);
            }
            None => {
                let text = format!("There is no heading \u{201c}{anchor}\u{201d}");
                cx.emit(PreviewEvent::Tell(text.into()));
            }
        }
    }
}

/// Returns the line of a fragment such as `L12` or `L12-L20`.
fn line_of_fragment(fragment: &str) -> Option<u32> {
    let line = fragment.strip_prefix(['L', 'l'])?;
    line.split(['-', 'C', ',']).next()?.parse().ok()
}

/// Returns the text of a tooltip over a link.
pub(super) fn tooltip_text(target: &str) -> SharedString {
    const MAX_SHOWN: usize = 400;
    let shown: String = target.chars().take(MAX_SHOWN).collect();
    let more = if shown.len() < target.len() {
        "\u{2026}"
    } else {
        ""
    };
    format!("{shown}{more}").into()
}

#[cfg(test)]
mod tests {
    use super::{line_of_fragment, tooltip_text};

    #[test]
    fn fragments_name_lines() {
        assert_eq!(line_of_fragment("L12-L20"), Some(12));
        assert_eq!(line_of_fragment("L7"), Some(7));
        assert_eq!(line_of_fragment("lists"), None);
        assert_eq!(line_of_fragment("L"), None);
    }

    #[test]
    fn long_targets_are_cut() {
        assert_eq!(tooltip_text("a b").as_ref(), "a b");
        assert!(tooltip_text(&"x".repeat(1_000)).ends_with("x\u{2026}"));
    }
}
