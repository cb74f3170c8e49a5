//! When a deadline is looked at.
//!
//! "A total timeout of five seconds" ends a request after five seconds in one library, before a wait that would not fit
//! into them in another, and after the attempt during which they passed in a third: then a request may take five
//! seconds and a whole attempt more.

use crate::choice;

choice! {
    /// When the deadline of a request is looked at.
    #[derive(Copy)]
    pub enum DeadlineCheck as "moment of the deadline check" {
        /// Before each wait: a retry that would start too late is not waited for. The deadline also ends an attempt in flight.
        BeforeWait = "before_wait", r#""before_wait""#;
        /// All the time: the deadline ends a wait or an attempt in flight at its very moment.
        DuringWait = "during_wait", r#""during_wait""#;
        /// Only after an attempt has failed: waits and attempts go on beyond the deadline.
        BetweenAttempts = "between_attempts", r#""between_attempts""#;
    }
}
