//! Side-by-side view of a conflict: the text in the editor and the file on disk.
//!
//! Rows are paired by a diff of the two; rows far from any difference are omitted.

use std::rc::Rc;

use base::Row;
use gpui_kit::{
    App, Context, Entity, Hsla, InteractiveElement as _, IntoElement, ParentElement as _, Render,
    Role, SharedString, StatefulInteractiveElement as _, Styled as _, Subscription, Window, div,
    uniform_list,
};
use text::{RowHunk, Snapshot};
use ui::{ActiveTheme as _, dp, space};

use crate::model::DocumentModel;

/// Rows of context around a difference.
const AROUND: u32 = 3;

/// Maximum row length shown, in characters.
const LONGEST: usize = 400;

/// The view that shows the two sides of a conflict, the text here and the file on disk, side by
/// side.
pub struct Comparison {
    model: Entity<DocumentModel>,
    pairs: Rc<[RowPair]>,
    _subscription: Subscription,
}

/// Two rows side by side.
#[derive(Clone, Debug, PartialEq, Eq)]
enum RowPair {
    /// A row of each text, either of which may be missing, and whether they differ.
    Rows {
        mine: Option<Row>,
        theirs: Option<Row>,
        differ: bool,
    },
    /// Number of equal rows omitted.
    Gap(u32),
}

impl Comparison {
    /// Creates a view that compares a document with the file on disk while the two are in conflict,
    /// and updates it after each change of the document. Without a conflict, the view is empty.
    pub fn new(model: Entity<DocumentModel>, cx: &mut Context<Self>) -> Self {
        let subscription = cx.observe(&model, |comparison, _, cx| {
            comparison.compare(cx);
            cx.notify();
        });
        let mut comparison = Self {
            model,
            pairs: Rc::from([]),
            _subscription: subscription,
        };
        comparison.compare(cx);
        comparison
    }

    fn compare(&mut self, cx: &App) {
        let document = self.model.read(cx).document();
        let mine = document.snapshot();
        let theirs = document
            .conflict()
            .and_then(|conflict| conflict.theirs.clone());
        self.pairs = match theirs {
            Some(theirs) => pair_up(&mine.diff_rows(&theirs), mine.row_count()).into(),
            None => Rc::from([]),
        };
    }
}

/// Pairs the rows of two texts along their diff hunks.
fn pair_up(hunks: &[RowHunk], mine_rows: u32) -> Vec<RowPair> {
    let mut pairs = Vec::new();
    // Next row of each text.
    let (mut mine, mut theirs) = (0, 0);
    let equal = |pairs: &mut Vec<RowPair>,
                 mine: &mut u32,
                 theirs: &mut u32,
                 until: u32,
                 ends: [bool; 2]| {
        let count = until - *mine;
        let [before, after] = ends.map(|shown| if shown { AROUND } else { 0 });
        let hidden = count.saturating_sub(before + after);
        for ix in 0..count {
            let is_hidden = hidden > 1 && ix >= before && ix < before + hidden;
            if is_hidden {
                if ix == before {
                    pairs.push(RowPair::Gap(hidden));
                }
                continue;
            }
            pairs.push(RowPair::Rows {
                mine: Some(Row(*mine + ix)),
                theirs: Some(Row(*theirs + ix)),
                differ: false,
            });
        }
        *mine += count;
        *theirs += count;
    };
    for (ix, hunk) in hunks.iter().enumerate() {
        equal(
            &mut pairs,
            &mut mine,
            &mut theirs,
            hunk.before.start.0,
            [ix > 0, true],
        );
        for line in 0..hunk.before.len().max(hunk.after.len()) {
            let row = |start: Row, len: u32| (line < len).then_some(start + line);
            pairs.push(RowPair::Rows {
                mine: row(hunk.before.start, hunk.before.len()),
                theirs: row(hunk.after.start, hunk.after.len()),
                differ: true,
            });
        }
        (mine, theirs) = (hunk.before.end.0, hunk.after.end.0);
    }
    equal(
        &mut pairs,
        &mut mine,
        &mut theirs,
        mine_rows,
        [!hunks.is_empty(), false],
    );
    pairs
}

impl Render for Comparison {
    fn render(&mut self, _: &mut Window, cx: &mut Context<Self>) -> impl IntoElement {
        let colors = cx.theme().colors;
        let document = self.model.read(cx).document();
        let mine = document.snapshot();
        let theirs = document
            .conflict()
            .and_then(|conflict| conflict.theirs.clone());
        let pairs = self.pairs.clone();
        let head = |text: &'static str| div().flex_1().px(space(2.0)).py(space(1.0)).child(text);
        let list = uniform_list("rows", pairs.len(), move |range, _, cx| {
            range
                .map(|ix| render_pair(ix, &pairs[ix], &mine, theirs.as_ref(), cx))
                .collect::<Vec<_>>()
        });
        div()
            .id("comparison")
            .role(Role::Group)
            .aria_label("This text and the file on disk, side by side")
            .flex()
            .flex_col()
            .size_full()
            .bg(colors.surface)
            .child(
                div()
                    .flex()
                    .w_full()
                    .text_size(dp(12.0))
                    .text_color(colors.muted)
                    .border_b_1()
                    .border_color(colors.border)
                    .child(head("Mine"))
                    .child(head("On disk")),
            )
            .child(list.flex_1().w_full())
    }
}

fn render_pair(
    ix: usize,
    pair: &RowPair,
    mine: &Snapshot,
    theirs: Option<&Snapshot>,
    cx: &App,
) -> impl IntoElement + use<> {
    let theme = cx.theme();
    let colors = theme.colors;
    let row = div()
        .id(ix)
        .flex()
        .w_full()
        .h(theme.code_line_height())
        .font_family(theme.fonts.code_family.clone())
        .text_size(theme.code_size());
    match pair {
        RowPair::Gap(count) => {
            let text = format!("{count} equal lines");
            row.justify_center()
                .text_color(colors.muted)
                .bg(colors.sunken)
                .child(text)
        }
        RowPair::Rows {
            mine: left,
            theirs: right,
            differ,
        } => {
            let ground = |color: Hsla| differ.then_some(color);
            row.child(side(mine, *left, ground(colors.removed_ground), cx))
                .children(
                    theirs.map(|theirs| side(theirs, *right, ground(colors.added_ground), cx)),
                )
        }
    }
}

fn side(
    snapshot: &Snapshot,
    row: Option<Row>,
    ground: Option<Hsla>,
    cx: &App,
) -> impl IntoElement + use<> {
    let colors = cx.theme().colors;
    let text: SharedString = match row {
        Some(row) => {
            let chars = snapshot
                .chars_at(snapshot.row_start(row))
                .take_while(|char| *char != '\n' && *char != '\r');
            chars
                .take(LONGEST)
                .collect::<String>()
                .replace('\t', "    ")
                .into()
        }
        None => SharedString::default(),
    };
    let number = row.map_or_else(String::new, |row| (row.0 + 1).to_string());
    let ground = match row {
        Some(_) => ground.unwrap_or(colors.surface),
        None => colors.sunken,
    };
    div()
        .flex()
        .flex_1()
        .min_w_0()
        .overflow_hidden()
        .whitespace_nowrap()
        .bg(ground)
        .child(
            div()
                .w(dp(48.0))
                .flex_none()
                .px(space(1.0))
                .text_color(colors.line_number)
                .child(number),
        )
        .child(div().flex_1().min_w_0().text_color(colors.text).child(text))
}

#[cfg(test)]
mod tests {
    use base::Row;
    use text::Snapshot;

    use super::{RowPair, pair_up};

    #[test]
    fn equal_rows_far_away_are_left_out() {
        let mine = Snapshot::new(&"same\n".repeat(20));
        let theirs = Snapshot::new(&format!(
            "{}other\n{}",
            "same\n".repeat(10),
            "same\n".repeat(9)
        ));
        let pairs = pair_up(&mine.diff_rows(&theirs), mine.row_count());
        assert_eq!(pairs[0], RowPair::Gap(7), "{pairs:?}");
        let differ: Vec<_> = pairs
            .iter()
            .filter(|pair| matches!(pair, RowPair::Rows { differ: true, .. }))
            .collect();
        assert_eq!(
            differ,
            [&RowPair::Rows {
                mine: Some(Row(10)),
                theirs: Some(Row(10)),
                differ: true
            }]
        );
        assert_eq!(pairs.last(), Some(&RowPair::Gap(7)));
    }
}
