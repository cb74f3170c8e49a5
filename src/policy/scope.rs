//! Whose state it is.
//!
//! "Ten retries" means ten for a client, for a process of fifty clients, or for everybody. It is the scope, more
//! than the numbers, that decides what a budget or a breaker does with thousands of small clients: each of them
//! starts with a full budget and learns of a failure by itself.

use crate::decode::{Check, Reader};
use crate::{choice, record};

record! {
    /// Clients that live in one process.
    #[derive(Copy)]
    pub struct Process {
        /// How many clients share it. They are taken in the order of their numbers.
        clients: u32,
    }
}

impl Check for Process {
    fn check(&self, reader: &mut Reader) {
        if self.clients == 0 {
            let remedy = "give at least 1";
            reader.error_at(
                &["clients"],
                "a process without clients does nothing",
                remedy,
            );
        }
    }
}

choice! {
    /// Who shares one state.
    #[derive(Copy)]
    pub enum Scope as "scope" {
        /// Nobody: every request starts with a new one.
        Call = "call", r#""call""#;
        /// The requests of one client.
        Client = "client", r#""client""#;
        /// The clients of one process.
        Process(Process) = "process", r#"{ process = { clients = 50 } }"#;
        /// All clients that use the strategy.
        Shared = "shared", r#""shared""#;
    }
}

impl Scope {
    /// States that `clients` clients have among them; a call has its own, which is not among these.
    pub fn states(self, clients: usize) -> usize {
        match self {
            Self::Call => 0,
            Self::Client => clients,
            Self::Process(process) => clients.div_ceil(process.clients.max(1) as usize),
            Self::Shared => 1,
        }
    }

    /// The state of a client, or of its request at place `slot`.
    #[inline]
    pub fn index(self, client: u32, slot: u32) -> usize {
        match self {
            Self::Call => slot as usize,
            Self::Client => client as usize,
            Self::Process(process) => (client / process.clients.max(1)) as usize,
            Self::Shared => 0,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_client_has_a_state_of_its_scope() {
        let process = Scope::Process(Process { clients: 50 });
        for (scope, clients, states) in [
            (Scope::Client, 101, 101),
            (process, 100, 2),
            (process, 101, 3),
            (Scope::Shared, 101, 1),
        ] {
            assert_eq!(scope.states(clients), states, "{scope:?}");
            assert_eq!(scope.index(clients as u32 - 1, 0), states - 1, "{scope:?}");
            assert_eq!(scope.index(0, 7), 0, "{scope:?}");
        }
        assert_eq!(Scope::Call.index(3, 7), 7);
    }
}
