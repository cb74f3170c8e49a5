//! Settings that every budget shares.

use crate::decode::Check;
use crate::policy::scope::Scope;
use crate::{choice, record};

choice! {
    /// When a retry is charged.
    #[derive(Copy)]
    pub enum Charged as "moment of the charge" {
        /// As soon as the client decides to try again: a retry that waits has paid already.
        Decision = "decision", r#""decision""#;
        /// When the retry is sent, after its wait: any number of retries may be waiting.
        Send = "send", r#""send""#;
    }
}

record! {
    /// Settings that every budget shares.
    #[derive(Copy)]
    pub struct Common {
        /// Who shares the budget.
        scope: Scope = Scope::Client,
        /// When a retry is charged.
        charged: Charged = Charged::Decision,
    }
}

impl Check for Common {}

impl Default for Common {
    fn default() -> Self {
        Self {
            scope: Scope::Client,
            charged: Charged::Decision,
        }
    }
}
