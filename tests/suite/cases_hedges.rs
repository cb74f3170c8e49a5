//! Situations that practitioners meet, ninth part: second attempts beside the first.
//!
//! Each case has the number it has in the project's list of cases.

use crate::support::records;
use retrystorm::time::SimDuration;

/// Reads that take 8 ms, but for those that meet the replica that has died, one of three: they hang. After a time
/// that a quantile of the last second tells, 10 ms at first, the read is repeated. Gives that time at the end of each
/// window, in milliseconds, and attempts per request.
fn waits(of: &str) -> (Vec<f64>, f64) {
    let (tally, records) = records(
        &format!(
            "[run]\nduration = \"21s\"\nreplications = 1\nseed = 44\n\
             [clients]\ncount = 100\narrivals.periodic.rate = \"200/s\"\n\
             [service.replicas]\nworkers = \"unlimited\"\n\
             service_time.bimodal = {{ fast = \"8ms\", slow = \"1h\", slow_share = 0.333333 }}\n\
             [[strategy]]\nname = \"s\"\nmax_attempts = 1\n\
             hedge.after.quantile = {{ q = \"99%\", window = \"1s\", start = \"10ms\", of = \"{of}\" }}\n"
        ),
        0,
    );
    let mut waits = [SimDuration::ZERO; 21];
    for hedge in records.iter().filter(|record| record.attempt == 2) {
        let window = hedge.sent_at.as_secs_f64() as usize;
        if let Some(wait) = waits.get_mut(window) {
            *wait = hedge.sent_at - hedge.intended_at;
        }
    }
    let waits = waits.iter().map(|wait| wait.as_secs_f64() * 1e3);
    (
        waits.collect(),
        tally.attempts as f64 / tally.requests as f64,
    )
}

/// C44. A quantile of whole reads contains the wait before the repetition: a quarter of the reads that succeed take the
/// present threshold and 8 ms, so each window's is that much longer than the one before. A quantile of single attempts
/// knows nothing of the wait and stays where it is.
#[test]
fn a_threshold_taken_from_whole_requests_chases_its_own_tail() {
    let (whole, _) = waits("request");
    let (single, attempts) = waits("attempt");
    println!("C44, whole requests: {whole:.1?}");
    println!("C44, single attempts: {single:.1?}, {attempts:.3} attempts per request");
    assert_eq!((whole[0], single[0]), (10.0, 10.0));
    for pair in whole.windows(2) {
        // Sixteen bins for each doubling, and the upper end of one is told.
        let (least, most) = (pair[0] + 8.0, (pair[0] + 8.0) * 1.07);
        assert!((least..=most).contains(&pair[1]), "{pair:?}");
    }
    assert!(whole[20] > 170.0);
    assert!(single[1..].iter().all(|wait| (8.0..=8.6).contains(wait)));
    // A third of the reads is repeated once, and no read more often.
    assert!((attempts - 4.0 / 3.0).abs() < 0.03, "{attempts}");
}
