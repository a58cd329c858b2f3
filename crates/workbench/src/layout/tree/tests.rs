//! Splitting, removing and walking panes, by example and at random.

use super::{Axis, PaneId, PaneNode, PaneSide, PaneTree};

fn assert_normal(node: &PaneNode) {
    let PaneNode::Split(split) = node else { return };
    assert!(split.children.len() >= 2, "{split:?}");
    assert_eq!(split.children.len(), split.weights.len());
    assert!(split.weights.iter().all(|w| *w > 0.0), "{split:?}");
    assert!((split.weights.iter().sum::<f32>() - 1.0).abs() < 1e-3);
    for child in &split.children {
        if let PaneNode::Split(inner) = child {
            assert_ne!(inner.axis, split.axis, "{split:?}");
        }
        assert_normal(child);
    }
}

/// `[1 | 2]` is a row, `[1 / 2]` a column.
fn show(node: &PaneNode) -> String {
    match node {
        PaneNode::Pane(pane) => pane.0.to_string(),
        PaneNode::Split(split) => {
            let parts: Vec<_> = split.children.iter().map(show).collect();
            let bar = match split.axis {
                Axis::Row => " | ",
                Axis::Column => " / ",
            };
            format!("[{}]", parts.join(bar))
        }
    }
}

#[test]
fn splits_and_removals_keep_normal_form() {
    let mut tree = PaneTree::new(PaneId(1));
    let check = |tree: &PaneTree, expect: &str| {
        assert_normal(tree.root());
        assert_eq!(show(tree.root()), expect);
    };
    assert!(tree.split(PaneId(1), PaneSide::Right, PaneId(2)));
    check(&tree, "[1 | 2]");
    assert!(tree.split(PaneId(2), PaneSide::Left, PaneId(3)));
    check(&tree, "[1 | 3 | 2]");
    assert!(tree.split(PaneId(3), PaneSide::Down, PaneId(4)));
    check(&tree, "[1 | [3 / 4] | 2]");
    assert!(!tree.split(PaneId(9), PaneSide::Down, PaneId(5)));
    assert!(
        !tree.split(PaneId(1), PaneSide::Down, PaneId(4)),
        "used twice"
    );
    assert_eq!(tree.remove(PaneId(4)), Some(PaneId(3)));
    check(&tree, "[1 | 3 | 2]");
    assert_eq!(tree.remove(PaneId(1)), Some(PaneId(3)));
    assert_eq!(tree.remove(PaneId(2)), Some(PaneId(3)));
    check(&tree, "3");
    assert_eq!(tree.remove(PaneId(3)), None, "the last pane stays");
}

#[test]
fn neighbours_are_those_one_sees() {
    let mut tree = PaneTree::new(PaneId(1));
    tree.split(PaneId(1), PaneSide::Right, PaneId(2));
    tree.split(PaneId(2), PaneSide::Down, PaneId(3));
    tree.set_weights(&[1], &[0.3, 0.7]);
    let go = |pane, side| tree.neighbour(PaneId(pane), side).map(|p| p.0);
    assert_eq!(
        go(1, PaneSide::Right),
        Some(3),
        "the one that overlaps most"
    );
    assert_eq!(go(2, PaneSide::Down), Some(3));
    assert_eq!(go(3, PaneSide::Up), Some(2));
    assert_eq!(go(2, PaneSide::Left), Some(1));
    assert_eq!(go(1, PaneSide::Left), None);
    assert_eq!(go(3, PaneSide::Down), None);
}

#[test]
fn broken_trees_are_mended_or_refused() {
    use super::Split;
    let split = |axis, children: Vec<PaneNode>, weights: Vec<f32>| {
        PaneNode::Split(Split {
            axis,
            children,
            weights,
        })
    };
    let pane = |id| PaneNode::Pane(PaneId(id));
    let mended = PaneTree::from_node(split(
        Axis::Row,
        vec![
            split(Axis::Row, vec![pane(1), pane(2)], vec![f32::NAN]),
            split(Axis::Column, vec![pane(3)], vec![]),
            split(Axis::Column, vec![], vec![]),
        ],
        vec![1.0, -3.0],
    ))
    .expect("has panes");
    assert_normal(mended.root());
    assert_eq!(show(mended.root()), "[1 | 2 | 3]");
    assert!(PaneTree::from_node(split(Axis::Row, vec![], vec![])).is_none());
    let twice = split(Axis::Row, vec![pane(1), pane(1)], vec![1.0, 1.0]);
    assert!(PaneTree::from_node(twice).is_none());
}

#[test]
fn random_splits_and_removals() {
    let seed = 0x5eed_u64;
    println!("seed {seed:#x}");
    let mut state = seed;
    let mut next = move |below: usize| {
        state = state
            .wrapping_mul(6364136223846793005)
            .wrapping_add(1442695040888963407);
        (state >> 33) as usize % below
    };
    let mut tree = PaneTree::new(PaneId(0));
    let mut model = vec![PaneId(0)];
    for id in 1..2000 {
        let pane = model[next(model.len())];
        if next(5) < 3 || model.len() == 1 {
            let side = [
                PaneSide::Left,
                PaneSide::Right,
                PaneSide::Up,
                PaneSide::Down,
            ][next(4)];
            assert!(tree.split(pane, side, PaneId(id)));
            model.push(PaneId(id));
        } else {
            let next = tree.remove(pane).expect("more than one pane");
            model.retain(|p| *p != pane);
            assert!(model.contains(&next));
        }
        assert_normal(tree.root());
        let mut panes = tree.panes();
        panes.sort();
        model.sort();
        assert_eq!(panes, model);
    }
}
