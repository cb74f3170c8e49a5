//! A breaker that opens after so many failures in a row.

use super::common::BreakerCommon;
use super::half_open::Tally;
use super::state::{Counts, Ended, Form};
use crate::decode::{Check, Reader};
use crate::record;

record! {
    /// Opens at the last of so many failures in a row. A success that ends between two failures breaks the row, also when
    /// it was sent before the first of them.
    pub struct Consecutive {
        /// How many failures in a row open it.
        failures: u32;
        /// Settings that every breaker shares.
        flatten common: BreakerCommon,
    }
}

impl Check for Consecutive {
    fn check(&self, reader: &mut Reader) {
        if self.failures == 0 {
            let remedy = "give at least 1";
            reader.error_at(&["failures"], "the breaker opens without a failure", remedy);
        }
    }
}

impl Form for Consecutive {
    fn common(&self) -> &BreakerCommon {
        &self.common
    }

    fn counts(&self) -> Counts {
        Counts::Row(0)
    }

    #[inline]
    fn count(&self, counts: &mut Counts, ended: Ended) -> bool {
        let Counts::Row(row) = counts else {
            unreachable!("a breaker is called with a state that it made");
        };
        *row = if ended.failed {
            row.saturating_add(1)
        } else {
            0
        };
        ended.failed && *row >= self.failures
    }

    fn reopens(&self, tally: Tally) -> bool {
        tally.failed > 0
    }
}
