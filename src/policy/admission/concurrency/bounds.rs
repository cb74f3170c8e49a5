//! The rule that every moving limit starts between its ends.

use crate::decode::Reader;

/// Reports a start outside `min..=max`. Forms without the setting `min` pass 1.
pub(super) fn check_bounds(initial: u32, min: u32, max: u32, reader: &mut Reader) {
    if min == 0 {
        let reason = "a limit of none admits nothing and never learns";
        reader.error_at(&["min"], reason, "give at least 1");
    } else if max < min {
        let reason = format!("the limit can be {max} at most and {min} at least");
        reader.error_at(&["max", "min"], reason, "raise `max`");
    } else if !(min..=max).contains(&initial) {
        let reason = format!("the limit starts at {initial}, outside {min} to {max}");
        let remedy = "change `initial`, or widen the range";
        reader.error_at(&["initial", "min", "max"], reason, remedy);
    } else if min == max {
        let reason = format!("the limit never moves from {max}");
        let remedy = "raise `max`, or use \"fixed\"";
        reader.warn_at(&["max", "min"], reason, remedy);
    }
}
