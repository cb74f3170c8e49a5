//! Gauss–Legendre integration, for laws of delays that have no closed form.

use std::f64::consts::PI;

/// Points of the rule.
pub(super) const NODES: usize = 16;

/// The rule on [−1, 1]: exact for polynomials below degree 32.
#[derive(Debug)]
pub(super) struct Rule {
    /// Where to evaluate, ascending.
    pub(super) nodes: [f64; NODES],
    /// How much each value counts.
    pub(super) weights: [f64; NODES],
}

impl Rule {
    /// Nodes are roots of the Legendre polynomial, found by Newton's method from the usual cosine guess
    /// (Davis and Rabinowitz, "Methods of Numerical Integration", §2.7).
    pub(super) fn new() -> Self {
        let n = NODES as f64;
        let mut rule = Self {
            nodes: [0.0; NODES],
            weights: [0.0; NODES],
        };
        for i in 0..NODES {
            let mut x = -(PI * (i as f64 + 0.75) / (n + 0.5)).cos();
            let mut slope = 1.0;
            for _ in 0..8 {
                let (value, before) = legendre(x);
                slope = n * (x * value - before) / (x * x - 1.0);
                x -= value / slope;
            }
            rule.nodes[i] = x;
            rule.weights[i] = 2.0 / ((1.0 - x * x) * slope * slope);
        }
        rule
    }

    /// Row i holds the weights of the integral from node i to 1.
    pub(super) fn tails(&self) -> [[f64; NODES]; NODES] {
        let mut tails = [[0.0; NODES]; NODES];
        for (row, &from) in tails.iter_mut().zip(&self.nodes) {
            let half = 0.5 * (1.0 - from);
            for (node, weight) in self.nodes.iter().zip(&self.weights) {
                let x = from + half * (1.0 + node);
                for (j, tail) in row.iter_mut().enumerate() {
                    *tail += half * weight * self.lagrange(j, x);
                }
            }
        }
        tails
    }

    /// The polynomial that is 1 at node `j` and 0 at the others.
    fn lagrange(&self, j: usize, x: f64) -> f64 {
        (0..NODES)
            .filter(|&m| m != j)
            .map(|m| (x - self.nodes[m]) / (self.nodes[j] - self.nodes[m]))
            .product()
    }
}

/// The Legendre polynomials of degree [`NODES`] and one less at `x`.
fn legendre(x: f64) -> (f64, f64) {
    let (mut value, mut before) = (x, 1.0);
    for degree in 2..=NODES {
        let k = degree as f64;
        (value, before) = (
            ((2.0 * k - 1.0) * x * value - (k - 1.0) * before) / k,
            value,
        );
    }
    (value, before)
}

/// Points and weights of an integral over [0, 1], cut into equal panels.
pub(super) fn unit_points(panels: u32) -> impl Iterator<Item = (f64, f64)> {
    let rule = Rule::new();
    let half = 0.5 / f64::from(panels);
    (0..panels).flat_map(move |panel| {
        let middle = f64::from(2 * panel + 1) * half;
        std::array::from_fn::<_, NODES, _>(|i| {
            (middle + half * rule.nodes[i], half * rule.weights[i])
        })
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn polynomials_of_degree_31_are_integrated_exactly() {
        let rule = Rule::new();
        for degree in 0..32 {
            let sum: f64 = rule
                .nodes
                .iter()
                .zip(&rule.weights)
                .map(|(x, w)| w * x.powi(degree))
                .sum();
            let exact = if degree % 2 == 0 {
                2.0 / f64::from(degree + 1)
            } else {
                0.0
            };
            assert!((sum - exact).abs() < 1e-14, "{degree}: {sum}");
        }
    }

    #[test]
    fn tails_integrate_from_a_node_to_the_end() {
        let rule = Rule::new();
        for (row, from) in rule.tails().iter().zip(rule.nodes) {
            let sum: f64 = row.iter().zip(rule.nodes).map(|(w, x)| w * x.exp()).sum();
            assert!((sum - (1f64.exp() - from.exp())).abs() < 1e-13);
        }
    }

    #[test]
    fn panels_add_up() {
        let sum: f64 = unit_points(7).map(|(x, w)| w * x.exp()).sum();
        assert!((sum - 1f64.exp_m1()).abs() < 1e-14);
    }
}
