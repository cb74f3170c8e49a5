//! Labels that fit their room and do not cover each other.

use super::canvas::{Canvas, Look, Place};
use super::{fit_by, font, palette};

/// Width of a text.
pub(super) fn width(text: &str, look: Look) -> f64 {
    font::width(text, look.size, look.bold)
}

/// `text` cut to a width.
pub(super) fn fit(text: &str, look: Look, room: f64) -> String {
    fit_by(text, "…", |text| width(text, look) <= room)
}

/// A text that ends at `at`, on a light ground so that it reads on any colour.
pub(super) fn backed(canvas: &Canvas<'_>, text: &str, at: Place, look: Look) {
    let width = width(text, look);
    let corner = (at.0 - width - 3.0, at.1 - look.size);
    canvas.rectangle(corner, (at.0 + 2.0, at.1 + 3.0), palette::PAPER, 0.85);
    canvas.text(text, at, look);
}

/// Places for labels that want to be at `wanted`, at least `gap` apart and between `low` and `high`, in the order
/// of their wishes and as near to them as least squares can be. Without room for all, the gap shrinks.
///
/// With gaps taken out the places need only be in order: that is isotonic regression, solved by pooling
/// neighbours that violate it (R. E. Barlow et al., "Statistical Inference under Order Restrictions", 1972).
pub(super) fn spread(wanted: &[f64], gap: f64, low: f64, high: f64) -> Vec<f64> {
    let mut order: Vec<usize> = (0..wanted.len()).collect();
    order.sort_by(|&a, &b| wanted[a].total_cmp(&wanted[b]));
    let gaps = wanted.len().saturating_sub(1).max(1) as f64;
    let gap = gap.min((high - low) / gaps);
    // Blocks of (sum, count) with growing means.
    let mut blocks: Vec<(f64, usize)> = Vec::new();
    for (place, &i) in order.iter().enumerate() {
        let mut block = (wanted[i] - place as f64 * gap, 1);
        while let Some(&(sum, count)) = blocks.last() {
            if sum / count as f64 <= block.0 / block.1 as f64 {
                break;
            }
            block = (block.0 + sum, block.1 + count);
            blocks.pop();
        }
        blocks.push(block);
    }
    let top = (high - gap * (wanted.len() as f64 - 1.0)).max(low);
    let mut places = vec![0.0; wanted.len()];
    let levels = blocks
        .into_iter()
        .flat_map(|(sum, count)| std::iter::repeat_n(sum / count as f64, count));
    for (place, (level, i)) in levels.zip(order).enumerate() {
        places[i] = level.clamp(low, top) + place as f64 * gap;
    }
    places
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn labels_with_room_stay_where_they_want_to_be() {
        assert_eq!(
            spread(&[50.0, 10.0, 30.0], 12.0, 0.0, 100.0),
            [50.0, 10.0, 30.0]
        );
        assert!(spread(&[], 12.0, 0.0, 100.0).is_empty());
    }

    #[test]
    fn crowded_labels_move_apart_around_their_middle() {
        assert_eq!(
            spread(&[50.0, 50.0, 50.0], 10.0, 0.0, 100.0),
            [40.0, 50.0, 60.0]
        );
        assert_eq!(spread(&[1.0, 0.0], 10.0, 0.0, 100.0), [10.0, 0.0]);
        assert_eq!(spread(&[99.0, 100.0], 10.0, 0.0, 100.0), [90.0, 100.0]);
    }

    #[test]
    fn too_many_labels_share_the_room() {
        assert_eq!(
            spread(&[5.0; 5], 10.0, 0.0, 20.0),
            [0.0, 5.0, 10.0, 15.0, 20.0]
        );
    }

    #[test]
    fn a_cut_label_is_no_wider_than_its_room() {
        let look = Look::new(12.0).bold();
        for name in ["a".repeat(300), "指数退避".repeat(20)] {
            assert!(width(&fit(&name, look, 90.0), look) <= 90.0);
        }
    }
}
