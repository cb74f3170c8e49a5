//! Scratch: time a scenario.
fn main() {
    let path = std::env::args().nth(1).expect("a scenario");
    let settings: Vec<String> = std::env::args().skip(2).collect();
    let scenario = retrystorm::scenario::load(path.as_ref(), &settings)
        .unwrap_or_else(|e| panic!("{:#?}", e.problems));
    let plan = retrystorm::scenario::Plan::assemble(&scenario).unwrap_or_else(|e| panic!("{e:#?}"));
    let start = std::time::Instant::now();
    let result = retrystorm::experiment::run(&scenario, &plan, 1, &|| ()).expect("runs");
    let secs = start.elapsed().as_secs_f64();
    for s in &result.strategies {
        println!(
            "{} {} rank {} success {:?} amp {:?} p50 {:?} mean {:?} theory {:?}",
            s.summary.strategy,
            s.summary.requests,
            s.summary.rank,
            s.summary.success_rate,
            s.summary.amplification,
            s.summary.latency_p50_ms,
            s.summary.latency_mean_ms,
            s.theory
        );
        println!(
            "   fails {:?} outcomes {:?} events {}",
            s.total.failed, s.total.outcomes, s.total.events
        );
    }
    let attempts: u64 = result.strategies.iter().map(|s| s.total.attempts).sum();
    let events: u64 = result.strategies.iter().map(|s| s.total.events).sum();
    println!(
        "{secs:.3} s, {:.1} ns/attempt, {:.1} ns/event",
        secs * 1e9 / attempts as f64,
        secs * 1e9 / events as f64
    );
    let hwm = std::fs::read_to_string("/proc/self/status").unwrap_or_default();
    println!(
        "{}",
        hwm.lines().find(|l| l.starts_with("VmHWM")).unwrap_or("")
    );
}
