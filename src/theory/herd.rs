//! What happens when clients that failed together come back together.
//!
//! N clients fail at t = 0, every attempt fails until the outage ends at D, and there is no jitter: then all
//! of them arrive at the same instants, again and again. The first of those instants at or after D meets a
//! working server that finishes C attempts per unit of time, one after the other, in order of arrival. Pure
//! counting, no source needed.

/// A herd in lockstep in front of one server.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Herd {
    /// N, the clients; at least one.
    pub clients: u64,
    /// C, attempts finished per unit of time; above zero.
    pub rate: f64,
    /// D, when the outage ends.
    pub outage_end: f64,
}

/// When a herd in lockstep arrives at the working server.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Return {
    /// The first instant of a retry at or after the end of the outage.
    pub at: f64,
    /// Attempts of each client up to and including that one.
    pub attempts: u64,
}

impl Herd {
    /// When the clients meet the working server, if they wait `delays` in turn. `None` when the delays run
    /// out before. An outage that ends at zero fails the attempts at t = 0 all the same.
    pub fn first_return(&self, delays: impl IntoIterator<Item = f64>) -> Option<Return> {
        let mut back = Return {
            at: 0.0,
            attempts: 1,
        };
        delays.into_iter().find_map(|delay| {
            back.at += delay;
            back.attempts += 1;
            (back.at >= self.outage_end).then_some(back)
        })
    }

    /// Time from the end of the outage until `served` ≥ 1 clients are done, when the server takes everybody
    /// in: t₁ − D + served / C.
    pub fn served_after(&self, back: Return, served: u64) -> f64 {
        back.at - self.outage_end + served as f64 / self.rate
    }

    /// Time from the end of the outage until all clients are done: t₁ − D + N / C.
    pub fn drain(&self, back: Return) -> f64 {
        self.served_after(back, self.clients)
    }

    /// The same when a full server, with room for `room` ≥ 1 attempts in service and waiting, refuses at once
    /// and every refused client returns after the fixed `delay`. Each round then serves `room` clients.
    /// `None` when the server is not empty again by the next round (delay < room / C).
    pub fn drain_in_rounds(&self, back: Return, room: u64, delay: f64) -> Option<f64> {
        if delay < room as f64 / self.rate && self.clients > room {
            return None;
        }
        let full_rounds = (self.clients - 1) / room;
        let last = self.clients - full_rounds * room;
        let start = back.at - self.outage_end + full_rounds as f64 * delay;
        Some(start + last as f64 / self.rate)
    }

    /// Attempts refused in those rounds, over all clients: Σ (N − r · room) over the rounds r = 1, 2, …
    pub fn refused_in_rounds(&self, room: u64) -> u64 {
        let full_rounds = (self.clients - 1) / room;
        full_rounds * self.clients - room * (full_rounds * (full_rounds + 1) / 2)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::theory::reference::{close, number, rows};

    #[test]
    fn every_reference_herd_without_jitter_is_reproduced() {
        let mut seen = 0;
        for row in rows("06_thundering_herd.csv") {
            let given = |key| number(&row, key);
            let factor = match row["strategy"].as_str() {
                "fixed" => 1.0,
                "exponential" => given("multiplier").unwrap(),
                _ => continue,
            };
            let herd = Herd {
                clients: row["clients"].parse().unwrap(),
                rate: given("server_rate_C_per_s").unwrap(),
                outage_end: given("outage_end_D_s").unwrap(),
            };
            let (base, cap) = (given("base_s").unwrap(), given("cap_s").unwrap_or(f64::MAX));
            let delays = (0..).map(|i| f64::min(cap, base * factor.powi(i)));
            let back = herd.first_return(delays).unwrap();
            let expect = |key, value: f64| close(value, number(&row, key), 1e-9, &row);
            match given("max_in_system_K").map(|room| room as u64) {
                None => {
                    expect(
                        "t50_after_D_s",
                        herd.served_after(back, herd.clients.div_ceil(2)),
                    );
                    expect("drain_time_after_D_s", herd.drain(back));
                    let all = herd.clients * back.attempts;
                    expect("total_attempts_incl_t0", all as f64);
                }
                Some(_) if factor != 1.0 => continue,
                Some(room) => {
                    let drain = herd.drain_in_rounds(back, room, base).unwrap();
                    expect("drain_time_after_D_s", drain);
                    let refused = herd.refused_in_rounds(room);
                    expect("refused_after_D", refused as f64);
                    let all = herd.clients * back.attempts + refused;
                    expect("total_attempts_incl_t0", all as f64);
                }
            }
            seen += 1;
        }
        assert_eq!(seen, 12);
    }

    #[test]
    fn rounds_are_counted_by_hand() {
        let herd = Herd {
            clients: 5,
            rate: 2.0,
            outage_end: 3.0,
        };
        let back = herd.first_return([1.0, 1.0, 2.0]).unwrap();
        assert_eq!(
            back,
            Return {
                at: 4.0,
                attempts: 4
            }
        );
        // Two at 4 s, two at 6 s, the last one at 8 s and half a second of work.
        assert_eq!(herd.drain_in_rounds(back, 2, 2.0), Some(5.5));
        assert_eq!(herd.refused_in_rounds(2), 4);
        assert_eq!(herd.drain_in_rounds(back, 2, 0.5), None);
        assert_eq!(herd.drain_in_rounds(back, 5, 0.5), Some(herd.drain(back)));
        assert_eq!(herd.first_return([1.0]), None);
    }
}
