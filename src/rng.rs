//! Randomness that belongs to somebody.
//!
//! Strategies are compared in the same world only if one strategy's extra retries never shift another
//! request's draws. So there is no global generator: every number is derived from a [`Key`] that names
//! whose number it is (seed → replication → request → attempt), and a [`Purpose`] that names what for.
//! The derivation is the `SplitMix64` finaliser (Steele, Lea and Flood 2014, "Fast splittable pseudorandom
//! number generators"; constants of variant 13 by Stafford), about one nanosecond a draw.

use rand::TryRng;
use std::convert::Infallible;

const GOLDEN: u64 = 0x9e37_79b9_7f4a_7c15;
/// An odd constant far from multiples of [`GOLDEN`], so that sibling keys and successive draws never meet.
const SIBLING: u64 = 0xd1b5_4a32_d192_ed03;

/// The `SplitMix64` finaliser: a bijection of 64-bit words that looks random.
#[inline(always)]
const fn mix(mut z: u64) -> u64 {
    z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
    z ^ (z >> 31)
}

/// What a random number is for. Each purpose has draws of its own under one key.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(u64)]
pub enum Purpose {
    /// Times between arrivals, and positions of clients in a period.
    Arrival = 1,
    /// Which client a request belongs to.
    Owner,
    /// A client's pause between two requests.
    Think,
    /// How long the service works on an attempt.
    Service,
    /// Whether and how an attempt fails.
    Failure,
    /// Network delay to the service.
    Request,
    /// Network delay back to the client.
    Response,
    /// A drawn attempt timeout.
    Timeout,
    /// A drawn backoff delay.
    Backoff,
    /// Jitter laid on a backoff.
    Jitter,
    /// The same, from a stream that several clients draw alike.
    SharedJitter,
    /// Which waiting attempt is served next, under random order.
    QueueOrder,
    /// The cells of a sampled sweep.
    Sample,
    /// Whether a client holds an attempt back by chance.
    Guard,
    /// What a service that refuses an attempt tells its client.
    RetryAfter,
    /// When an adaptive limit takes its measure anew.
    Limit,
}

/// Names the owner of random numbers.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Default)]
pub struct Key(u64);

impl Key {
    /// The key of nobody.
    pub const NOBODY: Self = Self(0);

    /// The key of one replication of a scenario. Any seed and any replication give unrelated keys.
    pub const fn root(seed: u64, replication: u64) -> Self {
        Self(mix(mix(seed.wrapping_add(GOLDEN))
            .wrapping_add(replication.wrapping_mul(SIBLING))
            .wrapping_add(GOLDEN)))
    }

    /// The key of the `index`-th part of this owner: a client of a world, a request of a client, an attempt.
    #[inline(always)]
    pub const fn child(self, index: u64) -> Self {
        Self(mix(self
            .0
            .wrapping_add(index.wrapping_mul(SIBLING))
            .wrapping_add(GOLDEN)))
    }

    /// The random numbers this owner uses for `purpose`.
    #[inline(always)]
    pub const fn draws(self, purpose: Purpose) -> Draws {
        Draws {
            state: self.0.wrapping_sub((purpose as u64).wrapping_mul(SIBLING)),
        }
    }

    /// The key as a number, for logs.
    pub const fn as_u64(self) -> u64 {
        self.0
    }
}

/// A sequence of random numbers for one owner and one purpose. Eight bytes; costs nothing to make.
#[derive(Clone, Copy, Debug)]
pub struct Draws {
    state: u64,
}

impl Draws {
    /// The next 64 random bits.
    #[inline(always)]
    pub const fn bits(&mut self) -> u64 {
        self.state = self.state.wrapping_add(GOLDEN);
        mix(self.state)
    }

    /// A number in [0, 1), one of 2^53 equally likely ones.
    #[inline(always)]
    pub const fn unit(&mut self) -> f64 {
        (self.bits() >> 11) as f64 * (1.0 / (1u64 << 53) as f64)
    }

    /// A whole number in `0..n`, by multiplication (bias below n / 2^64).
    ///
    /// Zero when `n` is zero.
    #[inline(always)]
    pub const fn below(&mut self, n: u64) -> u64 {
        ((self.bits() as u128 * n as u128) >> 64) as u64
    }
}

impl TryRng for Draws {
    type Error = Infallible;

    #[inline(always)]
    fn try_next_u32(&mut self) -> Result<u32, Infallible> {
        Ok((self.bits() >> 32) as u32)
    }

    #[inline(always)]
    fn try_next_u64(&mut self) -> Result<u64, Infallible> {
        Ok(self.bits())
    }

    fn try_fill_bytes(&mut self, bytes: &mut [u8]) -> Result<(), Infallible> {
        for chunk in bytes.chunks_mut(8) {
            let word = self.bits().to_le_bytes();
            chunk.copy_from_slice(&word[..chunk.len()]);
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::collections::HashSet;

    #[test]
    fn ten_thousand_replications_of_awkward_seeds_have_distinct_keys() {
        let mut seen = HashSet::new();
        for seed in [0, 1, u64::MAX] {
            for replication in 0..10_000 {
                assert!(
                    seen.insert(Key::root(seed, replication)),
                    "seed {seed}, replication {replication}"
                );
            }
        }
    }

    #[test]
    fn purposes_and_siblings_do_not_share_draws() {
        let root = Key::root(42, 0);
        let mut seen = HashSet::new();
        for child in 0..100 {
            let key = root.child(child);
            for purpose in [
                Purpose::Service,
                Purpose::Failure,
                Purpose::Jitter,
                Purpose::Backoff,
            ] {
                let mut draws = key.draws(purpose);
                for _ in 0..100 {
                    assert!(seen.insert(draws.bits()));
                }
            }
        }
    }

    #[test]
    fn units_are_uniform_over_children_and_over_one_sequence() {
        // Mean 1/2 with standard error 1/sqrt(12 n); the fixed seed makes the bound of 4 safe.
        let n = 1_000_000u32;
        let bound = 4.0 / (12.0 * f64::from(n)).sqrt();
        let root = Key::root(7, 3);
        let over_children: f64 = (0..u64::from(n))
            .map(|i| root.child(i).draws(Purpose::Failure).unit())
            .sum();
        assert!((over_children / f64::from(n) - 0.5).abs() < bound);
        let mut draws = root.draws(Purpose::Service);
        let over_sequence: f64 = (0..n).map(|_| draws.unit()).sum();
        assert!((over_sequence / f64::from(n) - 0.5).abs() < bound);
    }

    #[test]
    fn below_covers_its_range_evenly() {
        let mut counts = [0u32; 10];
        let mut draws = Key::root(1, 1).draws(Purpose::Owner);
        for _ in 0..100_000 {
            counts[draws.below(10) as usize] += 1;
        }
        // Chi-square with 9 degrees of freedom exceeds 33.7 once in 10,000.
        let chi: f64 = counts
            .iter()
            .map(|&c| (f64::from(c) - 1e4).powi(2) / 1e4)
            .sum();
        assert!(chi < 33.7, "{chi}");
    }
}
