//! Converts moments to dates, and dates with a time to moments. The present time comes in as a value.

/// Milliseconds since 1970-01-01 UTC.
pub type Millis = u64;

/// The UTC date of a moment: `2026-11-22`. Uses the proleptic Gregorian calendar.
#[must_use]
pub fn date(now: Millis) -> String {
    // Days are counted from March 1 of year 0, so that a leap day is the last day of its year.
    let days = i64::try_from(now / 86_400_000).unwrap_or(0) + 719_468;
    let era = days.div_euclid(146_097);
    let day_of_era = days.rem_euclid(146_097);
    let year_of_era =
        (day_of_era - day_of_era / 1_460 + day_of_era / 36_524 - day_of_era / 146_096) / 365;
    let day_of_year = day_of_era - (365 * year_of_era + year_of_era / 4 - year_of_era / 100);
    let shifted = (5 * day_of_year + 2) / 153;
    let day = day_of_year - (153 * shifted + 2) / 5 + 1;
    let month = if shifted < 10 { shifted + 3 } else { shifted - 9 };
    let year = year_of_era + era * 400 + i64::from(month <= 2);
    format!("{year:04}-{month:02}-{day:02}")
}

/// Reads an ISO 8601 moment such as `2026-11-22T10:00:00.250Z`. An offset (`+02:00`) may follow, the second may have
/// any number of decimals, and a space may replace the `T`. Without an offset the time is UTC. `None` for any other
/// text, and for moments before 1970.
///
/// ```
/// use midfold_core::calendar::moment;
/// assert_eq!(moment("1970-01-02T00:00:01.5Z"), Some(86_401_500));
/// assert_eq!(moment("1970-01-02T02:00:00+02:00"), Some(86_400_000));
/// assert_eq!(moment("yesterday"), None);
/// ```
#[must_use]
pub fn moment(text: &str) -> Option<Millis> {
    let (date, time) = text.split_once(['T', 't', ' '])?;
    let [year, month, day] = numbers(date, '-')?;
    let (clock, offset) = match time.find(['Z', 'z', '+', '-']) {
        Some(at) => (&time[..at], offset(&time[at..])?),
        None => (time, 0),
    };
    let (clock, fraction) = clock.split_once('.').unwrap_or((clock, "0"));
    let [hour, minute, second] = numbers(clock, ':')?;
    // Second 60 is a leap second.
    let in_range = (1..=12).contains(&month) && (1..=31).contains(&day);
    if !in_range || hour > 23 || minute > 59 || second > 60 {
        return None;
    }
    let seconds = days(year, month, day) * 86_400 + hour * 3_600 + minute * 60 + second - offset;
    u64::try_from(seconds).ok()?.checked_mul(1_000)?.checked_add(thousandths(fraction)?)
}

/// Reads exactly three numbers, separated by `between`.
fn numbers(text: &str, between: char) -> Option<[i64; 3]> {
    let mut parts = text.split(between).map(number);
    let three = [parts.next()??, parts.next()??, parts.next()??];
    parts.next().is_none().then_some(three)
}

/// Reads a number of one to four digits, without a sign.
fn number(text: &str) -> Option<i64> {
    let is_one = (1..=4).contains(&text.len()) && text.bytes().all(|byte| byte.is_ascii_digit());
    text.parse().ok().filter(|_| is_one)
}

/// The offset of a clock from UTC in seconds, positive east of it: `Z`, `+02:00`, `-0530`.
fn offset(text: &str) -> Option<i64> {
    let sign = match text.as_bytes().first()? {
        b'+' => 1,
        b'-' => -1,
        _ => return (text.len() == 1).then_some(0),
    };
    let digits = text[1..].replace(':', "");
    let hours = number(digits.get(..2)?)?;
    let minutes = digits.get(2..).filter(|rest| !rest.is_empty()).map_or(Some(0), number)?;
    Some(sign * (hours * 3_600 + minutes * 60))
}

/// The first three decimals of a second, as milliseconds.
fn thousandths(fraction: &str) -> Option<u64> {
    if fraction.is_empty() || !fraction.bytes().all(|byte| byte.is_ascii_digit()) {
        return None;
    }
    let digits = fraction.bytes().chain(*b"000").take(3);
    Some(digits.fold(0, |sum, digit| sum * 10 + u64::from(digit - b'0')))
}

/// Days from 1970-01-01 to a date of the proleptic Gregorian calendar.
fn days(year: i64, month: i64, day: i64) -> i64 {
    let year = year - i64::from(month <= 2);
    let era = year.div_euclid(400);
    let year_of_era = year.rem_euclid(400);
    let shifted = if month > 2 { month - 3 } else { month + 9 };
    let day_of_year = (153 * shifted + 2) / 5 + day - 1;
    let day_of_era = year_of_era * 365 + year_of_era / 4 - year_of_era / 100 + day_of_year;
    era * 146_097 + day_of_era - 719_468
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_day_has_the_moment_that_its_date_is_of() {
        for day in 0..60_000 {
            let at = day * 86_400_000;
            assert_eq!(moment(&format!("{}T00:00:00Z", date(at))), Some(at), "{}", date(at));
        }
    }

    #[test]
    fn a_moment_is_read_in_every_form_that_programs_write() {
        let second = 1_790_000_000_000;
        for (text, millis) in [
            ("2026-09-21T14:13:20Z", 0),
            ("2026-09-21T14:13:20", 0),
            ("2026-09-21 14:13:20.123456", 123),
            ("2026-09-21T14:13:20.5Z", 500),
            ("2026-09-21T16:13:20.25+02:00", 250),
            ("2026-09-21T08:43:20-0530", 0),
            ("2026-09-21T16:13:20+02", 0),
        ] {
            assert_eq!(moment(text), Some(second + millis), "{text}");
        }
    }

    #[test]
    fn what_is_no_moment_is_none() {
        for text in [
            "",
            "T",
            "2026-09-21",
            "2026-13-01T00:00:00Z",
            "2026-09-21T24:00:00Z",
            "2026-09-21T14:13Z",
            "2026-09-21T14:13:20.Z",
            "2026-09-21T14:13:20Zulu",
            "2026-09-21T14:13:20+",
            "2026-09-21T14:13:20+é1",
            "+026-09-21T14:13:20Z",
            "1969-12-31T23:59:59Z",
            "2026-09-21T14:13:20.1é",
            "99999-01-01T00:00:00Z",
        ] {
            assert_eq!(moment(text), None, "{text}");
        }
    }
}
