//! What a draw of each distribution costs.

use criterion::{Criterion, Throughput, criterion_group, criterion_main};
use retrystorm::decode::{Choice, Decode, Document, Reader, Value};
use retrystorm::dist::Distribution;
use retrystorm::rng::{Key, Purpose};
use std::hint::black_box;
use std::path::Path;

/// Draws a thousand times from every example that needs no file.
fn draws(criterion: &mut Criterion) {
    const COUNT: u64 = 1_000;
    let mut group = criterion.benchmark_group("dist");
    group.throughput(Throughput::Elements(COUNT));
    for doc in Distribution::VARIANTS
        .iter()
        .filter(|doc| doc.name != "empirical")
    {
        let text = format!("example = {}", doc.example);
        let document = Document::parse("example.toml", &text).expect("an example is valid TOML");
        let Value::Table(table) = &document.root.value else {
            unreachable!("a document is a table");
        };
        let node = table.get("example").expect("it was just written");
        let distribution =
            Distribution::decode(node, &mut Reader::new()).expect("an example reads");
        let sampler = distribution
            .sampler(Path::new("."))
            .expect("no file is needed");
        group.bench_function(doc.name, |bencher| {
            let root = Key::root(1, 1);
            bencher.iter(|| {
                // As in a run: each attempt has draws of its own.
                let sampler = black_box(&sampler);
                (0..COUNT).fold(0_u64, |sum, attempt| {
                    let mut draws = root.child(attempt).draws(Purpose::Service);
                    sum.wrapping_add(sampler.sample(&mut draws).as_nanos())
                })
            });
        });
    }
    group.finish();
}

criterion_group!(benches, draws);
criterion_main!(benches);
