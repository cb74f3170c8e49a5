use super::*;
use flate2::{Compression, write::GzEncoder};
use std::io::Write;

const INSTANTS: ColumnSpec = ColumnSpec {
    column: None,
    unit: None,
    content: Content::Instants,
};
const LENGTHS: ColumnSpec = ColumnSpec {
    content: Content::Lengths,
    ..INSTANTS
};

fn read_bytes(bytes: &[u8], spec: &ColumnSpec, limits: Limits) -> Result<Column, ColumnError> {
    let mut file = tempfile::NamedTempFile::new().expect("a file");
    file.write_all(bytes).expect("written");
    read_within(file.path(), spec, limits)
}

fn read(text: &str, spec: &ColumnSpec) -> Column {
    read_bytes(text.as_bytes(), spec, LIMITS).unwrap_or_else(|error| panic!("{text:?}: {error}"))
}

fn refused(text: &str, spec: &ColumnSpec) -> ColumnError {
    read_bytes(text.as_bytes(), spec, LIMITS).expect_err(text)
}

fn gzip(text: &[u8]) -> Vec<u8> {
    let mut encoder = GzEncoder::new(Vec::new(), Compression::default());
    encoder.write_all(text).expect("compressed");
    encoder.finish().expect("compressed")
}

fn nanos(column: &Column) -> Vec<u64> {
    column.values.iter().map(|value| value.as_nanos()).collect()
}

#[test]
fn a_lone_column_needs_no_header() {
    for text in [
        "0\n1.5\n3\n",
        "anything\n0\n1.5\n3",
        "\u{feff}ts\r\n0\r\n\r\n1.5\r\n3\r\n",
        "# note\n 0 \n\"1.5\"\n3\n",
    ] {
        let column = read(text, &INSTANTS);
        assert_eq!(
            nanos(&column),
            [0, 1_500_000_000, 3_000_000_000],
            "{text:?}"
        );
        assert_eq!((column.rows, column.unsorted), (3, 0));
        assert_eq!(column.assumed, "numbers are seconds");
    }
}

#[test]
fn the_column_is_found_by_name_by_position_or_by_habit() {
    let text = "id,Latency,elapsed_us\n1,0.25,7\n2,0.5,9\n";
    let column = read(text, &LENGTHS);
    assert_eq!(nanos(&column), [250_000_000, 500_000_000]);
    assert_eq!(
        column.assumed,
        "the times are in column `latency`; numbers are seconds"
    );
    for name in ["elapsed_us", "3", "Elapsed_US"] {
        let column = read(
            text,
            &ColumnSpec {
                column: Some(name.into()),
                ..LENGTHS
            },
        );
        assert_eq!(nanos(&column), [7_000, 9_000]);
        assert_eq!(
            column.assumed,
            "numbers are microseconds, by the name of the column"
        );
    }
    let unit = Some(TimeUnit::Millis);
    let column = read(
        "1,5\n2,6\n",
        &ColumnSpec {
            column: Some("2".into()),
            unit,
            ..LENGTHS
        },
    );
    assert_eq!(nanos(&column), [5_000_000, 6_000_000]);
    assert_eq!(column.assumed, "");
}

#[test]
fn a_column_that_is_not_there_is_refused_with_those_that_are() {
    let named = |name: &str, text| {
        refused(
            text,
            &ColumnSpec {
                column: Some(name.into()),
                ..INSTANTS
            },
        )
    };
    assert_eq!(named("tsx", "ts,b\n1,2\n").remedy, "did you mean `ts`?");
    assert_eq!(named("foo", "ts,b\n1,2\n").remedy, "columns: `ts`, `b`");
    assert_eq!(
        named("ts", "1,2\n").remedy,
        "there is no header; use a position from 1 to 2"
    );
    assert_eq!(named("0", "1,2\n").line, Some(1));
    assert!(
        refused("a,b\n1,2\n", &INSTANTS)
            .reason
            .contains("not clear")
    );
    assert!(refused("1,2\n", &INSTANTS).reason.contains("no header"));
}

#[test]
fn epoch_numbers_are_recognised_by_size_and_stay_exact() {
    for (first, second, unit, gap) in [
        (
            "1700000000",
            "1700000001.000000001",
            "seconds",
            1_000_000_001,
        ),
        ("1700000000000", "1700000000001", "milliseconds", 1_000_000),
        (
            "1700000000000000",
            "1700000000000001",
            "microseconds",
            1_000,
        ),
        (
            "1700000000000000001",
            "1700000000000000002",
            "nanoseconds",
            1,
        ),
    ] {
        let column = read(&format!("{first}\n{second}\n"), &INSTANTS);
        assert_eq!(nanos(&column), [0, gap]);
        assert_eq!(
            column.assumed,
            format!("numbers are {unit} since 1970, by their size")
        );
    }
    // A length of that size is no epoch number.
    let error = refused("1700000000\n", &LENGTHS);
    assert!(error.reason.contains("longer than 366d"), "{error}");
}

#[test]
fn text_stamps_become_offsets() {
    let column = read(
        "date,x\n2024-02-29T23:59:59.5Z,1\n2024-03-01T01:00:00+01:00,1\n",
        &INSTANTS,
    );
    assert_eq!(nanos(&column), [0, 500_000_000]);
    assert_eq!(column.assumed, "the times are in column `date`");
    let column = read("2024-01-01 00:00:00\n2024-01-01 00:01:00\n", &INSTANTS);
    assert_eq!(nanos(&column), [0, 60_000_000_000]);
    assert_eq!(column.assumed, "time stamps without a zone are UTC");
}

#[test]
fn unsorted_instants_are_counted_and_sorted_but_lengths_are_not() {
    let column = read("5\n3\n4\n9\n", &INSTANTS);
    assert_eq!(
        nanos(&column),
        [0, 1_000_000_000, 2_000_000_000, 6_000_000_000]
    );
    assert_eq!(column.unsorted, 2);
    let column = read("5\n3\n", &LENGTHS);
    assert_eq!(nanos(&column), [5_000_000_000, 3_000_000_000]);
    assert_eq!(column.unsorted, 0);
}

#[test]
fn counts_are_spread_evenly_over_intervals_of_the_least_gap() {
    let column = read(
        "timestamp,count\n1700000000,2\n1700000010,0\n1700000020,1\n",
        &INSTANTS,
    );
    assert_eq!(
        nanos(&column),
        [2_500_000_000, 7_500_000_000, 25_000_000_000]
    );
    assert_eq!((column.rows, column.unsorted), (3, 0));
    assert!(column.assumed.ends_with(
        "intervals last 10s, the least gap between two rows; their arrivals are spread evenly"
    ));
    // A missing row leaves a hole and no longer interval; disorder and repeated rows do no harm.
    let column = read("bucket,count\n3,1\n0,1\n1,1\n1,1\n", &INSTANTS);
    assert_eq!(
        nanos(&column),
        [500_000_000, 1_500_000_000, 1_500_000_000, 3_500_000_000]
    );
    assert_eq!(column.unsorted, 3);
}

#[test]
fn fractions_of_a_rate_add_up() {
    let rows: String = (0..10).map(|i| format!("{i},0.25\n")).collect();
    let column = read(&format!("time,rps\n{rows}"), &INSTANTS);
    assert_eq!(column.values.len(), 3);
    let column = read("time,rps\n0,100\n60,50\n", &INSTANTS);
    assert_eq!(column.values.len(), 9_000);
    assert!(column.values.is_sorted());
}

#[test]
fn wrong_counts_are_refused() {
    for (text, part, line) in [
        (
            "time,count\n0,1.5\n1,1\n",
            "`1.5` is not a whole number",
            Some(2),
        ),
        ("time,count\n0,1\n1,-1\n", "`-1` is not", Some(3)),
        ("time,count\n0,1\n1\n", "no value in column 2", Some(3)),
        ("time,rps\n0,NaN\n", "`NaN` is not", Some(2)),
        ("time,count\n0,1\n", "one interval alone", None),
        ("time,count\n0,0\n1,0\n", "all counts are zero", None),
        (
            "time,count\n0,1e300\n1,0\n",
            "more than 50000000 values",
            None,
        ),
    ] {
        let error = refused(text, &INSTANTS);
        assert!(error.reason.contains(part), "{error}");
        assert_eq!(error.line, line, "{error}");
    }
}

#[test]
fn gzip_is_recognised_by_its_content() {
    let text = b"ts\n1\n2\n";
    let packed = gzip(text);
    assert_eq!(
        read_bytes(&packed, &INSTANTS, LIMITS),
        Ok(read("ts\n1\n2\n", &INSTANTS))
    );
    // Two members, as `cat a.gz b.gz` makes them.
    let both = [packed.clone(), gzip(b"3\n")].concat();
    assert_eq!(read_bytes(&both, &INSTANTS, LIMITS).expect("read").rows, 3);
    let cut = read_bytes(&packed[..packed.len() - 9], &INSTANTS, LIMITS).expect_err("cut");
    assert!(cut.remedy.contains("cut short"), "{cut}");
}

#[test]
fn bad_values_are_refused_with_their_line() {
    for (text, part, line) in [
        ("ts\n1\nNaN\n", "`NaN` is not a time", Some(3)),
        ("NaN\n", "`NaN` is not a time", Some(1)),
        ("ts\n1\ninf\n", "`inf` is not a time", Some(3)),
        ("ts\n\n-1\n", "-1 is negative", Some(3)),
        ("ts\n1\nsoon\n", "`soon` is not a time", Some(3)),
        ("ts,b\n1,1\n,2\n", "no value in column 1", Some(3)),
        ("b,ts\n1,1\n2\n", "no value in column 2", Some(3)),
        (
            "2024-01-01T00:00:00Z\n5\n",
            "`5` is not a time stamp",
            Some(2),
        ),
        ("ts\n1\n9e30\n", "too large for seconds", Some(3)),
        ("0\n1700000000\n", "more than 366d away", Some(2)),
        ("ts;n\n1;2\n", "`1;2` is not a time", Some(2)),
        ("", "the file is empty", None),
        ("\n , \n", "the file is empty", None),
        ("ts\n", "header but no values", None),
    ] {
        let error = refused(text, &INSTANTS);
        assert!(error.reason.contains(part), "{text:?}: {error}");
        assert_eq!(error.line, line, "{error}");
        assert!(!error.remedy.is_empty());
    }
}

#[test]
fn lines_are_counted_as_an_editor_counts_them() {
    for end in ["\n", "\r\n"] {
        for long in [0, 10_000] {
            let rows = format!("7,\"a{end}b\"{end}").repeat(long);
            let text = format!("# note{end}ts,x{end}{end}{rows}{end}1,1{end}-1,2{end}");
            let error = refused(&text, &INSTANTS);
            assert_eq!(
                error.line,
                Some(6 + 2 * long as u64),
                "{end:?} {long}: {error}"
            );
        }
    }
}

#[test]
fn what_is_no_text_is_refused() {
    let refused = |bytes: &[u8]| read_bytes(bytes, &INSTANTS, LIMITS).expect_err("refused");
    assert_eq!(refused(b"ts\n1\n\xff\xfe\n").line, Some(3));
    assert!(refused(b"ts\n1\n\xff\xfe\n").reason.contains("UTF-8"));
    assert!(refused(b"PK\x03\x04\x00\x00").reason.contains("binary"));
    assert!(refused(&gzip(&[0; 100])).reason.contains("binary"));
    // Half a character in each of two cells makes a whole one only when they are joined.
    assert!(
        refused(b"ts,\xc3,\xa9\nx,1,1\n")
            .reason
            .contains("is not a time")
    );
    let missing = read_times(Path::new("no/such/file.csv"), &INSTANTS).expect_err("missing");
    assert!(
        missing
            .to_string()
            .starts_with("no/such/file.csv: there is no such file")
    );
    let folder = tempfile::tempdir().expect("a folder");
    assert_eq!(
        read_times(folder.path(), &INSTANTS)
            .expect_err("a folder")
            .remedy,
        "name a file"
    );
}

#[test]
fn limits_are_named_when_they_are_exceeded() {
    let limits = Limits {
        bytes: 200_000,
        row_bytes: 70_000,
        values: 1_000,
    };
    let error = |bytes: &[u8]| read_bytes(bytes, &INSTANTS, limits).expect_err("refused");
    let many = error(&b"1\n".repeat(1_001));
    assert_eq!(many.line, Some(1_001));
    assert!(many.reason.contains("more than 1000 values"), "{many}");
    let counts = error(b"time,count\n0,600\n1,600\n");
    assert!(counts.reason.contains("more than 1000 values"), "{counts}");
    let wide = format!("1,{}\n", "x".repeat(500)).repeat(900);
    let bomb = error(&gzip(format!("ts,x\n{wide}").as_bytes()));
    assert!(bomb.reason.contains("more than 200000 bytes"), "{bomb}");
    let quote = error(&[b"1\r\n\"".as_slice(), &b"2\n".repeat(60_000)].concat());
    assert!(
        quote.reason.contains("row is longer than 70000 bytes"),
        "{quote}"
    );
    assert_eq!(quote.line, Some(2));
}
