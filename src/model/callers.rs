//! Who waits for a request, and for how long.

use crate::decode::{Check, Reader};
use crate::record;
use crate::time::SimDuration;

record! {
    /// The caller of a request, who goes away after a time.
    #[derive(Copy)]
    pub struct Callers {
        /// How long a caller waits for a request.
        patience: SimDuration,
        /// Whether going away ends the request, its waiting retries too. If not, it goes on for nobody, and a success that
        /// comes too late has failed.
        cancels: bool = true,
    }
}

impl Check for Callers {
    fn check(&self, reader: &mut Reader) {
        if self.patience == SimDuration::ZERO {
            let remedy = "give a positive time, like \"5s\", or leave it out";
            reader.error_at(
                &["patience"],
                "a caller that does not wait gets no answer",
                remedy,
            );
        }
    }
}
