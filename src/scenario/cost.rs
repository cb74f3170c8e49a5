//! `[cost]`: what attempts, waiting and failures cost.

use crate::decode::{Check, Reader};
use crate::metrics::Prices;
use crate::record;

record! {
    /// `[cost]`: prices in the user's own money, which make load, waiting and failures comparable.
    pub struct CostSpec {
        /// Price of an attempt.
        attempt: f64 = 0.0,
        /// Price of a second in which a caller waits for its answer, from the intended start of a request to its end.
        waiting_second: f64 = 0.0,
        /// Price of a request that fails.
        failed_request: f64 = 0.0,
        /// What prices are in, like "EUR".
        currency: String = String::new(),
    }
}

impl CostSpec {
    /// The prices.
    pub fn prices(&self) -> Prices {
        Prices {
            attempt: self.attempt,
            waiting_second: self.waiting_second,
            failed_request: self.failed_request,
        }
    }
}

/// Higher prices than this are a slip, and sums over a run must stay numbers.
const HIGHEST: f64 = 1e12;
/// A sign is shown beside every amount.
const LONGEST_CURRENCY: usize = 12;

impl Check for CostSpec {
    fn check(&self, reader: &mut Reader) {
        let prices = [
            ("attempt", self.attempt),
            ("waiting_second", self.waiting_second),
            ("failed_request", self.failed_request),
        ];
        for (key, price) in prices {
            if !(0.0..=HIGHEST).contains(&price) {
                let remedy = "give a price from 0 to 1e12, like 0.002";
                reader.error_at(&[key], format!("{price} is no price"), remedy);
            }
        }
        if prices.iter().all(|&(_, price)| price == 0.0) {
            let keys = prices.map(|(key, _)| key);
            let remedy = "give `attempt`, `waiting_second` or `failed_request` a price";
            reader.warn_at(&keys, "nothing costs anything", remedy);
        }
        let printable = self.currency.chars().all(|c| !c.is_control());
        if !printable || self.currency.chars().count() > LONGEST_CURRENCY {
            let remedy = "give a sign or a short word, like \"EUR\"";
            reader.error_at(&["currency"], "a currency is a short word", remedy);
        }
    }
}
