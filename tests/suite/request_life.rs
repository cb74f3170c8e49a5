//! The life of a request, told from the records of its attempts: its rounds of attempts, each a try with the hedges
//! beside it, its lives from one redrive to the next, and how each of them ended.

use retrystorm::metrics::FailureReason;
use retrystorm::model::{AttemptRecord, Next, Redrive, Strategy};
use retrystorm::outcome::AttemptOutcome;
use retrystorm::policy::{DeadlineCheck, HedgeAfter, HedgeDelay, MaxAttempts};
use retrystorm::time::{SimDuration, SimTime};

/// How a life of a request ended.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) enum Fate {
    Succeeded,
    Failed(FailureReason),
    /// The run ended first.
    Open,
    /// It waited for a turn of its client's rate limit last, of which there is no record.
    Unknown,
}

/// A try and its hedges, in the order in which they ended.
pub(crate) type Round = Vec<AttemptRecord>;

/// What a request did from its start, or from a redrive, on.
#[derive(Clone, Debug)]
pub(crate) struct Life {
    pub(crate) rounds: Vec<Round>,
    pub(crate) started_at: SimTime,
    pub(crate) fate: Fate,
    /// When it ended; the last thing known of it when that is unknown.
    pub(crate) ended_at: SimTime,
}

impl Life {
    /// The record that ended the last round; any open one when there is none.
    pub(crate) fn last(&self) -> &AttemptRecord {
        self.rounds.last().unwrap().last().unwrap()
    }

    pub(crate) fn records(&self) -> impl Iterator<Item = &AttemptRecord> {
        self.rounds.iter().flatten()
    }

    /// What is left of its deadline's time when it starts, as far as that is recorded.
    fn deadline(&self, strategy: &Strategy) -> SimTime {
        let first = self.last();
        let from = match first.redrives {
            0 => first.intended_at,
            _ => self.started_at,
        };
        strategy.deadline.map_or(SimTime::MAX, |limit| from + limit)
    }

    /// How it ended, from the last record.
    fn end(&mut self, strategy: &Strategy, end: SimTime) {
        let last = *self.last();
        (self.fate, self.ended_at) = match last.next {
            Next::Succeeded => (Fate::Succeeded, last.ended_at),
            Next::GaveUp(reason) => (Fate::Failed(reason), last.ended_at),
            Next::Unfinished => (Fate::Open, end),
            Next::RetryAfter(delay) if last.ended_at + delay >= end => (Fate::Open, end),
            Next::RetryAfter(delay) => {
                let at = last.ended_at + delay;
                let ends = strategy.rule.deadline_check != DeadlineCheck::BetweenAttempts;
                let late = ends && at >= self.deadline(strategy);
                let fate = match (late, limits_rate(strategy)) {
                    (true, _) => Fate::Failed(FailureReason::Deadline),
                    (false, true) => Fate::Unknown,
                    // Only a budget denies a retry when its wait is over.
                    (false, false) => Fate::Failed(FailureReason::Budget),
                };
                (fate, at)
            }
            Next::Hedged => panic!("a round goes on after {last:?}"),
        };
    }
}

/// Whether attempts may wait for a turn before they are sent.
pub(crate) fn limits_rate(strategy: &Strategy) -> bool {
    strategy.rule.guards.limiter.is_some()
}

/// The lives of a request.
pub(crate) fn lives(records: &[AttemptRecord], strategy: &Strategy, end: SimTime) -> Vec<Life> {
    let mut lives: Vec<Life> = Vec::new();
    let mut goes_on = false;
    for record in records {
        let before = lives.last().map(|life| life.last().redrives);
        if before != Some(record.redrives) {
            assert!(!goes_on, "a round is cut off by {record:?}");
            let next = before.map_or(0, |before| before + 1);
            // A life may end as it waits for its first turn.
            assert!(record.redrives == next || limits_rate(strategy) && record.redrives > next);
            lives.push(Life {
                rounds: Vec::new(),
                started_at: record.sent_at,
                fate: Fate::Open,
                ended_at: end,
            });
        }
        let life = lives.last_mut().unwrap();
        life.started_at = life.started_at.min(record.sent_at);
        if !goes_on {
            life.rounds.push(Vec::new());
        }
        life.rounds.last_mut().unwrap().push(*record);
        goes_on = matches!(record.next, Next::Hedged | Next::Unfinished);
    }
    lives.iter_mut().for_each(|life| life.end(strategy, end));
    lives
}

/// One life: rounds without gaps, each after the wait that was announced, within limits and deadline.
pub(crate) fn check_life(life: &Life, strategy: &Strategy, end: SimTime) {
    let deadline = life.deadline(strategy);
    let between = strategy.rule.deadline_check == DeadlineCheck::BetweenAttempts;
    let latest = if between { SimTime::MAX } else { deadline };
    let mut made = 0;
    let mut due = Some(life.started_at);
    for round in &life.rounds {
        let begun_at = check_round(round, made, strategy);
        let due_at = due.unwrap_or_else(|| panic!("nothing announced {round:?}"));
        assert!(begun_at == due_at || limits_rate(strategy) && begun_at > due_at);
        for attempt in round {
            assert!(attempt.intended_at <= attempt.sent_at && attempt.sent_at <= attempt.ended_at);
            assert!(attempt.sent_at < latest, "{attempt:?}");
            assert!(attempt.ended_at <= latest.min(end).max(attempt.sent_at));
        }
        made += round.len() as u32;
        let last = round.last().unwrap();
        due = None;
        if let Next::RetryAfter(delay) = last.next {
            due = Some(last.ended_at + delay);
            let outcome = last.outcome.unwrap();
            assert!(
                strategy.rule.retry_on.contains(outcome, last.code),
                "{last:?}"
            );
            // An answer at the deadline is in time, and the wait for its end is over at once.
            let no_time = strategy.rule.deadline_check == DeadlineCheck::DuringWait;
            assert!(last.ended_at < deadline || no_time && last.ended_at == deadline);
        }
    }
    if let MaxAttempts::AtMost(most) = strategy.rule.max_attempts {
        assert!(life.rounds.len() <= most as usize, "{life:#?}");
    }
}

/// A try and its hedges, after so many attempts. Returns when it began.
fn check_round(round: &[AttemptRecord], made: u32, strategy: &Strategy) -> SimTime {
    let mut by_number = round.to_vec();
    by_number.sort_by_key(|attempt| attempt.attempt);
    let (first, last) = (by_number[0], *round.last().unwrap());
    let hedge = strategy.rule.guards.hedge;
    let most = hedge.map_or(0, |hedge| hedge.most as usize);
    assert!(round.len() <= 1 + most, "{round:#?}");
    for (i, attempt) in by_number.iter().enumerate() {
        assert_eq!(attempt.attempt, made + 1 + i as u32, "{round:#?}");
        assert_eq!(attempt.client, first.client);
        assert!(attempt.ended_at <= last.ended_at && attempt.sent_at >= first.sent_at);
        let Some(outcome) = attempt.outcome else {
            assert_eq!(attempt.next, Next::Unfinished);
            continue;
        };
        if outcome.is_local() {
            assert!(round.len() == 1 && attempt.sent_at == attempt.ended_at);
            assert_eq!(attempt.started_at, None);
        }
        let hedged = attempt.next == Next::Hedged;
        assert!(hedged || outcome != AttemptOutcome::Superseded);
        let goes_on = strategy.rule.retry_on.contains(outcome, attempt.code);
        assert!(
            !hedged || goes_on || attempt.ended_at == last.ended_at,
            "{round:#?}"
        );
        if let (Some(timeout), false) = (&strategy.attempt_timeout, strategy.timeout_covers_wait)
            && let Some(timeout) = timeout.constant()
        {
            assert!(attempt.ended_at <= first.sent_at + timeout, "{round:#?}");
        }
    }
    if let Some(HedgeAfter::Fixed(HedgeDelay { delay })) = hedge.map(|hedge| hedge.after) {
        check_hedges(&by_number, delay);
    }
    first.sent_at
}

/// Each hedge was sent after the delay, or when another attempt had failed.
fn check_hedges(by_number: &[AttemptRecord], delay: SimDuration) {
    for pair in by_number.windows(2) {
        let sent_at = pair[1].sent_at;
        let failed = by_number
            .iter()
            .any(|other| other.next == Next::Hedged && other.ended_at == sent_at);
        assert!(
            failed || sent_at == pair[0].sent_at + delay,
            "{by_number:#?}"
        );
    }
}

/// Letters come back when they should, and not too often.
pub(crate) fn check_redrives(lives: &[Life], strategy: &Strategy) {
    for pair in lives.windows(2) {
        let rule = strategy.dead_letters.expect("only letters come back");
        let redrives = pair[1].last().redrives;
        assert!(rule.most_redrives.is_none_or(|most| redrives <= most));
        if let Fate::Failed(reason) = pair[0].fate {
            assert!(keeps(strategy, reason), "{pair:#?}");
        } else {
            assert_eq!(pair[0].fate, Fate::Unknown, "{pair:#?}");
        }
        let kept = pair[1].started_at - pair[0].ended_at;
        match rule.redrive {
            Redrive::After(after) if limits_rate(strategy) => assert!(kept >= after.delay),
            Redrive::After(after) => assert_eq!(kept, after.delay),
            Redrive::Rate(at) => assert!(pair[1].started_at >= SimTime::ZERO + at.from),
            Redrive::Never => panic!("a letter came back: {pair:#?}"),
        }
    }
}

/// Whether a request that has failed so becomes a letter.
pub(crate) fn keeps(strategy: &Strategy, reason: FailureReason) -> bool {
    // What was only too late for its caller was done.
    let lost = reason != FailureReason::CallerLeft;
    let kept = |permanent| permanent || reason != FailureReason::PermanentError;
    let rule = strategy.dead_letters;
    lost && rule.is_some_and(|rule| kept(rule.permanent))
}
