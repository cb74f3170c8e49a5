//! Dropping what has waited too long, by how long waiting has lasted.
//!
//! A burst fills a queue and is gone; an overload fills it and stays. A limit on the length of a queue cannot tell
//! them apart, the time for which calls have had to wait can: CoDel ("controlled delay") lets a short queue
//! be and sheds a lasting one. Three rules go by the name. The classic one, of routers, drops one packet at a time and
//! faster and faster. Those of request queues drop everything that has waited too long, as a late
//! answer is worth nothing.
//!
//! Sources: RFC 8289; `executors/Codel.cpp` of folly; Ben Maurer, "Fail at Scale", ACM Queue 13 (8), 2015.

use crate::decode::{Check, Reader};
use crate::time::{SimDuration, SimTime};
use crate::{choice, record};

record! {
    /// The rule of the folly library: while every wait in an interval was above the target, what has waited for more
    /// than twice the target is dropped in the next.
    #[derive(Copy)]
    pub struct Folly {
        /// The wait that is acceptable in the long run.
        target: SimDuration = SimDuration::from_millis(5),
        /// How long waits are watched before the queue is judged by the shortest of them.
        interval: SimDuration = SimDuration::from_millis(100),
    }
}

impl Check for Folly {
    fn check(&self, reader: &mut Reader) {
        check_target(self.target, self.interval, reader);
    }
}

record! {
    /// The rule described by Facebook: the longest wait is short once the queue has not been empty for long.
    #[derive(Copy)]
    pub struct Facebook {
        /// The longest wait in a queue that lasts.
        short: SimDuration = SimDuration::from_millis(5),
        /// The longest wait otherwise; also how long a queue must have had something in it to be one that lasts.
        long: SimDuration = SimDuration::from_millis(100),
    }
}

impl Check for Facebook {
    fn check(&self, reader: &mut Reader) {
        if self.short >= self.long {
            let reason = "a queue that lasts is not treated more strictly than another";
            reader.warn_at(&["short", "long"], reason, "set `short` below `long`");
        }
    }
}

record! {
    /// The rule of routers: once waits have been at or above the target for an interval, one attempt is dropped, and
    /// then one after interval / √n more, for n = 1, 2, …, until a wait is below the target.
    #[derive(Copy)]
    pub struct Rfc8289 {
        /// The wait that is acceptable in the long run.
        target: SimDuration = SimDuration::from_millis(5),
        /// How long waits may stay at or above the target before the first drop.
        interval: SimDuration = SimDuration::from_millis(100),
    }
}

impl Check for Rfc8289 {
    fn check(&self, reader: &mut Reader) {
        check_target(self.target, self.interval, reader);
    }
}

fn check_target(target: SimDuration, interval: SimDuration, reader: &mut Reader) {
    if target == SimDuration::ZERO {
        let reason = "no wait at all is acceptable";
        reader.error_at(&["target"], reason, "give a time, like \"5ms\"");
    } else if interval <= target {
        let reason = format!("the interval of {interval} is not longer than the target");
        let remedy = format!("raise `interval` above {target}, to 20 times as much or so");
        reader.error_at(&["interval", "target"], reason, remedy);
    }
}

choice! {
    /// What is dropped from a queue for having waited too long.
    #[derive(Copy)]
    pub enum Codel as "form of CoDel" {
        /// While the shortest wait of an interval was above the target: all that has waited twice the target.
        Folly(Folly) = "folly", r#""folly""#;
        /// All that has waited longer than a limit, which is short while a queue lasts.
        Facebook(Facebook) = "facebook", r#""facebook""#;
        /// Once waits stay above the target: single attempts, faster and faster.
        Rfc8289(Rfc8289) = "rfc8289", r#""rfc8289""#;
    }
}

/// What a queue remembers for its rule; made by [`Codel::fresh`].
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct CodelState(Memory);

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Memory {
    Folly(Watch),
    Facebook(Emptiness),
    Rfc8289(Control),
}

/// The shortest wait of an interval.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
struct Watch {
    /// When the present interval ends.
    ends: SimTime,
    /// The shortest wait in it; `None` before the first attempt.
    least: Option<SimDuration>,
    overloaded: bool,
}

/// When the queue was last empty.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
struct Emptiness {
    last: SimTime,
    /// Whether something was taken from the queue since, so that `last` is when the first attempt joined it.
    over: bool,
}

/// The drops of a router, after the pseudo-code of RFC 8289, section 5.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
struct Control {
    /// When waits will have been above the target for an interval; `None` while they are not.
    patience_ends: Option<SimTime>,
    next_drop: SimTime,
    /// Drops of this spell, which set the pace.
    drops: u32,
    /// The value of `drops` with which this spell began.
    began_with: u32,
    dropping: bool,
}

impl Codel {
    /// The state of an empty queue at the start of the run.
    pub fn fresh(&self) -> CodelState {
        CodelState(match self {
            Self::Folly(_) => Memory::Folly(Watch::default()),
            Self::Facebook(_) => Memory::Facebook(Emptiness::default()),
            Self::Rfc8289(_) => Memory::Rfc8289(Control::default()),
        })
    }

    /// Whether an attempt that is taken from the queue now is dropped. It has `waited`, and the queue may be empty
    /// without it. Time never goes back.
    ///
    /// # Panics
    /// When the state was made by another form, as [`Self::emptied`] does.
    #[inline]
    pub fn drops(
        &self,
        state: &mut CodelState,
        now: SimTime,
        waited: SimDuration,
        queue_empty_after: bool,
    ) -> bool {
        match (self, &mut state.0) {
            (Self::Folly(rule), Memory::Folly(watch)) => rule.drops(watch, now, waited),
            (Self::Facebook(rule), Memory::Facebook(emptiness)) => {
                let drops = rule.drops(emptiness, now, waited);
                if queue_empty_after {
                    emptiness.begins(now);
                }
                drops
            }
            (Self::Rfc8289(rule), Memory::Rfc8289(control)) => {
                let bad = rule.lasts(control, now, waited, queue_empty_after);
                rule.drops(control, now, bad)
            }
            _ => unreachable!("a rule is called with a state that it made"),
        }
    }

    /// The queue has become empty in another way than by taking the last attempt from it.
    pub fn emptied(&self, state: &mut CodelState, now: SimTime) {
        match (self, &mut state.0) {
            (Self::Folly(_), Memory::Folly(_)) => {}
            (Self::Facebook(_), Memory::Facebook(emptiness)) => emptiness.begins(now),
            (Self::Rfc8289(_), Memory::Rfc8289(control)) => control.patience_ends = None,
            _ => unreachable!("a rule is called with a state that it made"),
        }
    }
}

impl Folly {
    fn drops(&self, watch: &mut Watch, now: SimTime, waited: SimDuration) -> bool {
        let Some(least) = watch.least.filter(|_| now <= watch.ends) else {
            // The first attempt after an interval judges it, starts the next one, and is never dropped. The very
            // first of all has no interval to judge and leaves the end where it was.
            if let Some(least) = watch.least {
                watch.overloaded = least > self.target;
                watch.ends = now + self.interval;
            }
            watch.least = Some(waited);
            return false;
        };
        watch.least = Some(least.min(waited));
        watch.overloaded && waited > self.target + self.target
    }
}

impl Emptiness {
    fn begins(&mut self, now: SimTime) {
        *self = Self {
            last: now,
            over: false,
        };
    }
}

impl Facebook {
    fn drops(&self, emptiness: &mut Emptiness, now: SimTime, waited: SimDuration) -> bool {
        if !emptiness.over {
            // The queue stayed empty until this attempt joined it.
            let joined = SimTime::ZERO + (now - SimTime::ZERO).saturating_sub(waited);
            *emptiness = Emptiness {
                last: joined.max(emptiness.last),
                over: true,
            };
        }
        let longest = if now - emptiness.last > self.long {
            self.short
        } else {
            self.long
        };
        waited > longest
    }
}

impl Rfc8289 {
    /// Whether waits have been above the target for an interval.
    fn lasts(
        &self,
        control: &mut Control,
        now: SimTime,
        waited: SimDuration,
        queue_empty_after: bool,
    ) -> bool {
        if waited < self.target || queue_empty_after {
            control.patience_ends = None;
            return false;
        }
        let ends = *control.patience_ends.get_or_insert(now + self.interval);
        now >= ends
    }

    fn drops(&self, control: &mut Control, now: SimTime, bad: bool) -> bool {
        if !bad {
            control.dropping = false;
            return false;
        }
        if control.dropping {
            if now < control.next_drop {
                return false;
            }
            control.drops = control.drops.saturating_add(1);
            control.next_drop = self.after(control.next_drop, control.drops);
            return true;
        }
        // A spell that follows closely upon another takes up its pace.
        let last_spell = control.drops - control.began_with;
        let closely = (now - control.next_drop).as_nanos() / 16 < self.interval.as_nanos();
        control.drops = if last_spell > 1 && closely {
            last_spell
        } else {
            1
        };
        control.began_with = control.drops;
        control.next_drop = self.after(now, control.drops);
        control.dropping = true;
        true
    }

    /// The drop after the `drops`-th, which is at `time`.
    fn after(&self, time: SimTime, drops: u32) -> SimTime {
        time + self.interval.scale(1.0 / f64::from(drops.max(1)).sqrt())
    }
}

#[cfg(test)]
mod tests;
