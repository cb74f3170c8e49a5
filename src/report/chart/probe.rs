//! What a reader finds in a chart, for tests.

use super::png;
use resvg::tiny_skia::Rect;
use resvg::usvg::{Group, Node, Tree, roxmltree};

/// All texts of a chart.
pub(in super::super) fn texts(svg: &str) -> Vec<String> {
    let document = roxmltree::Document::parse(svg).unwrap();
    let nodes = document.descendants().filter(|n| n.has_tag_name("text"));
    let text = nodes.map(|n| n.text().unwrap_or_default().trim().to_string());
    text.collect()
}

/// The number of texts of a chart; fails when one of them is not inside the picture.
pub(in super::super) fn count_inside(svg: &str) -> usize {
    let tree = Tree::from_str(svg, &png::options()).unwrap();
    let mut found = Vec::new();
    boxes(tree.root(), &mut found);
    for (text, area) in &found {
        let inside = area.left() >= 0.0
            && area.top() >= 0.0
            && area.right() <= tree.size().width()
            && area.bottom() <= tree.size().height();
        assert!(inside, "`{text}` at {area:?}");
    }
    found.len()
}

/// Fails when two texts of a chart cover each other.
pub(in super::super) fn apart(svg: &str) {
    let tree = Tree::from_str(svg, &png::options()).unwrap();
    let mut found = Vec::new();
    boxes(tree.root(), &mut found);
    found.retain(|(text, _)| !text.trim().is_empty());
    for (i, (text, area)) in found.iter().enumerate() {
        for (other, taken) in &found[..i] {
            // Boxes reach from the highest letter to the deepest one, which few texts have.
            let across = area.right().min(taken.right()) - area.left().max(taken.left());
            let upwards = area.bottom().min(taken.bottom()) - area.top().max(taken.top());
            assert!(
                across <= 1.0 || upwards <= 4.0,
                "`{text}` at {area:?} on `{other}` at {taken:?}"
            );
        }
    }
}

fn boxes(group: &Group, found: &mut Vec<(String, Rect)>) {
    for node in group.children() {
        match node {
            Node::Group(inner) => boxes(inner, found),
            Node::Text(text) => {
                let words = text.chunks().iter().map(|chunk| chunk.text());
                found.push((words.collect(), text.abs_bounding_box()));
            }
            _ => {}
        }
    }
}
