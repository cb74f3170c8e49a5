//! Time stamps as text: RFC 3339, and `YYYY-MM-DD HH:MM:SS`, as logs and databases write them.

const NANOS: i64 = 1_000_000_000;

/// Nanoseconds since 1970 of `2024-05-01T12:30:00.25+02:00` and its relatives; a stamp without a zone is taken
/// as UTC. `None` when the text is no such stamp, or lies beyond the years 1678 to 2261.
pub(super) fn parse_stamp(text: &str) -> Option<i64> {
    let (date, rest) = text.split_at_checked(10)?;
    let (time, rest) = rest.strip_prefix(['T', 't', ' '])?.split_at_checked(8)?;
    let (fraction, zone) = match rest.strip_prefix('.') {
        Some(rest) => {
            let end = rest
                .find(|c: char| !c.is_ascii_digit())
                .unwrap_or(rest.len());
            (nanos_of_fraction(&rest[..end])?, &rest[end..])
        }
        None => (0, rest),
    };
    let seconds = days(date)? * 86_400 + seconds_of_day(time)? - zone_seconds(zone)?;
    seconds.checked_mul(NANOS)?.checked_add(fraction)
}

/// A number of exactly `width` digits.
fn number(text: &str, width: usize) -> Option<i64> {
    let digits = text.len() == width && text.bytes().all(|b| b.is_ascii_digit());
    digits.then(|| text.parse().ok()).flatten()
}

/// Parts of fixed width with `separator` between them.
fn parts<const N: usize>(text: &str, separator: char, widths: [usize; N]) -> Option<[i64; N]> {
    let mut pieces = text.split(separator);
    let mut read = [0; N];
    for (value, width) in read.iter_mut().zip(widths) {
        *value = number(pieces.next()?, width)?;
    }
    pieces.next().is_none().then_some(read)
}

/// Days from 1970-01-01 to a date of the Gregorian calendar.
fn days(date: &str) -> Option<i64> {
    let [year, month, day] = parts(date, '-', [4, 2, 2])?;
    let leap = year % 4 == 0 && (year % 100 != 0 || year % 400 == 0);
    let lengths = [
        31,
        28 + i64::from(leap),
        31,
        30,
        31,
        30,
        31,
        31,
        30,
        31,
        30,
        31,
    ];
    let before = usize::try_from(month - 1).ok()?;
    if !(1..=*lengths.get(before)?).contains(&day) {
        return None;
    }
    // Leap days up to the end of a year; year 0 itself is one and cancels out.
    let leap_days = |year: i64| year.div_euclid(4) - year.div_euclid(100) + year.div_euclid(400);
    let years = (year - 1970) * 365 + leap_days(year - 1) - leap_days(1969);
    Some(years + lengths[..before].iter().sum::<i64>() + day - 1)
}

/// A leap second counts as the second after it.
fn seconds_of_day(time: &str) -> Option<i64> {
    let [hour, minute, second] = parts(time, ':', [2, 2, 2])?;
    (hour < 24 && minute < 60 && second <= 60).then_some(hour * 3_600 + minute * 60 + second)
}

/// Nanoseconds of the digits after the point; further digits are cut off.
fn nanos_of_fraction(digits: &str) -> Option<i64> {
    let kept = &digits[..digits.len().min(9)];
    let scale = 10_i64.pow(9 - u32::try_from(kept.len()).ok()?);
    Some(number(kept, kept.len())? * scale)
}

/// Seconds east of Greenwich: nothing, `Z`, `UTC`, `+02:00` or `+0200`.
fn zone_seconds(zone: &str) -> Option<i64> {
    let zone = zone.trim_start();
    if matches!(zone, "" | "Z" | "z" | "UTC") {
        return Some(0);
    }
    let sign = match zone.as_bytes()[0] {
        b'+' => 1,
        b'-' => -1,
        _ => return None,
    };
    let digits = zone[1..].replacen(':', "", 1);
    let clock = number(&digits, 4)?;
    let (hour, minute) = (clock / 100, clock % 100);
    (hour < 24 && minute < 60).then_some(sign * (hour * 3_600 + minute * 60))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn stamps_are_seconds_since_1970() {
        for (text, seconds, nanos) in [
            ("1970-01-01T00:00:00Z", 0, 0),
            ("1970-01-01 00:00:01", 1, 0),
            ("2000-03-01T00:00:00Z", 951_868_800, 0),
            ("2023-11-14T22:13:20Z", 1_700_000_000, 0),
            (
                "2023-11-15T00:13:20.123456789+02:00",
                1_700_000_000,
                123_456_789,
            ),
            ("2023-11-14T16:43:20-0530", 1_700_000_000, 0),
            ("2023-11-14 22:13:20.5 UTC", 1_700_000_000, 500_000_000),
            ("2016-12-31T23:59:60Z", 1_483_228_800, 0),
            ("1969-12-31T23:59:59Z", -1, 0),
            ("2024-02-29T12:00:00Z", 1_709_208_000, 0),
        ] {
            assert_eq!(parse_stamp(text), Some(seconds * NANOS + nanos), "{text}");
        }
    }

    #[test]
    fn days_follow_each_other_for_four_centuries() {
        let mut expected = days("1800-01-01").expect("a date");
        for year in 1800..2200 {
            for month in 1..=12 {
                for day in 1..=31 {
                    if let Some(found) = days(&format!("{year:04}-{month:02}-{day:02}")) {
                        assert_eq!(found, expected, "{year}-{month}-{day}");
                        expected += 1;
                    }
                }
            }
        }
        assert_eq!(Some(expected), days("2200-01-01"));
    }

    #[test]
    fn what_is_no_stamp_is_none() {
        for text in [
            "",
            "2023",
            "2023-11-14",
            "2023-11-14T22:13",
            "2023-13-01T00:00:00Z",
            "2023-02-29T00:00:00Z",
            "2023-11-14T24:00:00Z",
            "2023-11-14T22:13:20.Z",
            "2023-11-14T22:13:20X",
            "2023-11-14T22:13:20+2",
            "9999-01-01T00:00:00Z",
            "2023-11-14T22:13:20+é0:00",
            "２０２３-11-14T22:13:20",
            "-123-11-14T22:13:20",
        ] {
            assert_eq!(parse_stamp(text), None, "{text}");
        }
    }
}
