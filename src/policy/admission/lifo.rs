//! Newest first while a queue lasts.
//!
//! In a long queue the oldest call is the one whose caller is most likely to have given up, and serving it first
//! makes the next one as old. Serving the newest first answers those who still wait and gives up the rest. In a short
//! queue that would only be unfair, so the order turns when a queue has lasted for some time.
//!
//! Ben Maurer, "Fail at Scale", ACM Queue 13 (8), 2015.

use crate::decode::Check;
use crate::record;
use crate::time::SimDuration;

record! {
    /// First in, first out; newest first while a queue lasts.
    #[derive(Copy)]
    pub struct AdaptiveLifo {
        /// How long the queue must have had something in it before the newest goes first; always when zero.
        after: SimDuration = SimDuration::from_millis(100),
    }
}

impl Check for AdaptiveLifo {}

impl AdaptiveLifo {
    /// Whether the newest goes first, when the queue was last empty `since_empty` ago.
    #[inline]
    pub fn newest_first(&self, since_empty: SimDuration) -> bool {
        since_empty >= self.after
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::policy::admission::testing::{form, ms};

    #[test]
    fn the_order_turns_when_the_queue_has_lasted() {
        let rule: AdaptiveLifo = form("{}");
        assert_eq!(rule.after, ms(100));
        assert!(!rule.newest_first(ms(99)));
        assert!(rule.newest_first(ms(100)));
        let always: AdaptiveLifo = form(r#"{ after = "0s" }"#);
        assert!(always.newest_first(SimDuration::ZERO));
        assert_eq!(size_of::<AdaptiveLifo>(), 8);
    }
}
