//! Moving tabs between panes, and the way to disk and back.

use super::{PaneId, PaneLayout, PaneNode, PaneSide, SavedLayout, TabList, TabOpenMode};

fn assert_invariants(layout: &PaneLayout) {
    let mut panes = layout.tree().panes();
    panes.sort();
    let listed: Vec<_> = layout.tabs.keys().copied().collect();
    assert_eq!(panes, listed);
    let mut items = layout.items();
    let count = items.len();
    items.sort();
    items.dedup();
    assert_eq!(items.len(), count, "an item stands twice");
    assert!(panes.contains(&layout.active_pane()));
}

fn shape(layout: &PaneLayout) -> String {
    fn node(layout: &PaneLayout, at: &PaneNode) -> String {
        match at {
            PaneNode::Pane(pane) => {
                let tabs = layout.tabs(*pane).map(TabList::tabs).unwrap_or_default();
                let tabs: Vec<_> = tabs.iter().map(|t| t.item.0.to_string()).collect();
                tabs.join(",")
            }
            PaneNode::Split(split) => {
                let parts: Vec<_> = split.children.iter().map(|n| node(layout, n)).collect();
                format!("[{}]", parts.join(" | "))
            }
        }
    }
    node(layout, layout.tree().root())
}

fn three_tabs() -> (PaneLayout, PaneId) {
    let mut layout = PaneLayout::default();
    let pane = layout.active_pane();
    for _ in 0..3 {
        let item = layout.new_item();
        layout.open(pane, item, TabOpenMode::Lasting);
    }
    (layout, pane)
}

#[test]
fn tabs_move_between_panes_and_to_edges() {
    let (mut layout, pane) = three_tabs();
    let items = layout.items();
    let check = |layout: &PaneLayout, expect: &str| {
        assert_invariants(layout);
        assert_eq!(shape(layout), expect);
    };
    let right = layout.move_to_side(items[1], pane, PaneSide::Right);
    check(&layout, "[1,3 | 2]");
    assert_eq!(Some(layout.active_pane()), right);
    let right = right.expect("split");
    layout.move_to_pane(items[0], right, 0);
    check(&layout, "[3 | 1,2]");
    layout.move_to_pane(items[2], right, 9);
    check(&layout, "1,2,3");
    assert_eq!(layout.active_item(), Some(items[2]));
    let alone = {
        let mut layout = layout.clone();
        layout.close(items[0]);
        layout.close(items[1]);
        layout.move_to_side(items[2], right, PaneSide::Up)
    };
    assert_eq!(
        alone, None,
        "the only tab of a pane cannot leave to its own side"
    );
}

#[test]
fn closing_the_last_tab_removes_all_panes_but_one() {
    let (mut layout, pane) = three_tabs();
    let items = layout.items();
    layout.move_to_side(items[0], pane, PaneSide::Down);
    layout.close(items[0]);
    assert_invariants(&layout);
    assert_eq!(shape(&layout), "2,3");
    layout.close(items[1]);
    layout.close(items[2]);
    assert_invariants(&layout);
    assert_eq!(layout.items(), []);
    assert_eq!(layout.active_item(), None);
}

#[test]
fn an_arrangement_survives_the_disk() {
    let (mut layout, pane) = three_tabs();
    let items = layout.items();
    layout
        .tabs_mut(pane)
        .expect("pane")
        .set_pinned(items[2], true);
    let below = layout
        .move_to_side(items[0], pane, PaneSide::Down)
        .expect("split");
    layout.set_weights(&[], &[0.25, 0.75]);
    layout.split(below, PaneSide::Right).expect("an empty pane");
    layout.set_active_pane(pane);
    layout.activate(items[1]);
    let saved = layout.save(|item| Some(format!("file {}", item.0)));
    let text = serde_json::to_string(&saved).expect("plain data");
    let read: SavedLayout<String> = serde_json::from_str(&text).expect("our own");
    assert_eq!(read, saved);
    let mut names = Vec::new();
    let again = read.restore(|item, name| {
        names.push((item, name));
        true
    });
    assert_invariants(&again);
    assert_eq!(shape(&again), "[1,2 | 3]", "the empty pane is gone");
    let name = |item| {
        names
            .iter()
            .find(|(id, _)| Some(*id) == item)
            .map(|(_, n)| n.as_str())
    };
    assert_eq!(name(again.active_item()), Some("file 2"));
    let PaneNode::Split(split) = again.tree().root() else {
        panic!("a split")
    };
    assert!((split.weights[0] - 0.25).abs() < 1e-3);
    let pinned = again.tabs(again.active_pane()).expect("pane").tabs()[0];
    assert!(pinned.pinned);
    let gone = saved.restore(|_, _| false);
    assert_invariants(&gone);
    assert_eq!(gone.items(), []);
}
