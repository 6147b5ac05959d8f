//! Start and end of quota periods, at midnight UTC.
//!
//! Source: Hinnant, "chrono-compatible low-level date algorithms".

use crate::config::{Channel, QuotaPeriod};

const DAY_S: u64 = 86_400;

#[derive(Clone, Copy, Debug)]
pub(super) struct Calendar {
    period: QuotaPeriod,
    day: u8,
}

impl Calendar {
    pub(super) const fn new(period: QuotaPeriod, day: u8) -> Self {
        Self { period, day }
    }

    pub(super) fn of(channel: &Channel) -> Self {
        Self::new(channel.quota_period.unwrap_or_default(), channel.quota_day.unwrap_or(1))
    }

    pub(super) fn begins_day(self, now_s: u64) -> u64 {
        let (today, first) = (now_s / DAY_S, u64::from(self.day));
        match self.period {
            QuotaPeriod::Day => today,
            // 1 January 1970 was a Thursday.
            QuotaPeriod::Week => {
                let since = (today + 3 + 7 - (first - 1)) % 7;
                today.saturating_sub(since)
            }
            QuotaPeriod::Month => {
                let (year, month, day) = civil(today);
                let (year, month) = match (day >= first, month) {
                    (true, _) => (year, month),
                    (false, 1) => (year - 1, 12),
                    (false, _) => (year, month - 1),
                };
                days(year, month, first)
            }
        }
    }

    pub(super) fn ends_s(self, begins_day: u64) -> u64 {
        let ends_day = match self.period {
            QuotaPeriod::Day => begins_day.saturating_add(1),
            QuotaPeriod::Week => begins_day.saturating_add(7),
            QuotaPeriod::Month => {
                let (year, month, day) = civil(begins_day);
                if month == 12 { days(year + 1, 1, day) } else { days(year, month + 1, day) }
            }
        };
        ends_day.saturating_mul(DAY_S)
    }
}

/// Days from 1 March of the year 0 to 1 January 1970.
const DAYS_TO_1970: u64 = 719_468;
const ERA_DAYS: u64 = 146_097;

const fn civil(day: u64) -> (u64, u64, u64) {
    let day = day.saturating_add(DAYS_TO_1970);
    let (era, of_era) = (day / ERA_DAYS, day % ERA_DAYS);
    let year = (of_era - of_era / 1_460 + of_era / 36_524 - of_era / 146_096) / 365;
    let of_year = of_era - (365 * year + year / 4 - year / 100);
    let from_march = (5 * of_year + 2) / 153;
    let day = of_year - (153 * from_march + 2) / 5 + 1;
    let month = if from_march < 10 { from_march + 3 } else { from_march - 9 };
    (year + era * 400 + (month <= 2) as u64, month, day)
}

const fn days(year: u64, month: u64, day: u64) -> u64 {
    let year = year - (month <= 2) as u64;
    let (era, of_era) = (year / 400, year % 400);
    let from_march = if month > 2 { month - 3 } else { month + 9 };
    let of_year = (153 * from_march + 2) / 5 + day - 1;
    let days = era * ERA_DAYS + of_era * 365 + of_era / 4 - of_era / 100 + of_year;
    days.saturating_sub(DAYS_TO_1970)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn days_and_dates_convert_back_and_forth() {
        for (day, date) in [(0, (1970, 1, 1)), (11_016, (2000, 2, 29)), (20_783, (2026, 11, 26))] {
            assert_eq!((civil(day), days(date.0, date.1, date.2)), (date, day));
        }
        assert!((0..200_000).all(|day| {
            let (year, month, one) = civil(day);
            days(year, month, one) == day
        }));
    }

    #[test]
    fn periods_begin_on_their_day() {
        let now_s = 20_783 * DAY_S + 5;
        for (period, day, begins, ends) in [
            (QuotaPeriod::Day, 1, (2026, 11, 26), (2026, 11, 27)),
            (QuotaPeriod::Week, 1, (2026, 11, 23), (2026, 11, 30)),
            (QuotaPeriod::Week, 4, (2026, 11, 26), (2026, 12, 3)),
            (QuotaPeriod::Week, 5, (2026, 11, 20), (2026, 11, 27)),
            (QuotaPeriod::Month, 1, (2026, 11, 1), (2026, 12, 1)),
            (QuotaPeriod::Month, 26, (2026, 11, 26), (2026, 12, 26)),
            (QuotaPeriod::Month, 27, (2026, 10, 27), (2026, 11, 27)),
        ] {
            let calendar = Calendar::new(period, day);
            let begun = calendar.begins_day(now_s);
            assert_eq!(civil(begun), begins, "{period:?} {day}");
            assert_eq!(civil(calendar.ends_s(begun) / DAY_S), ends, "{period:?} {day}");
        }
        let january = Calendar::new(QuotaPeriod::Month, 15);
        let begun = january.begins_day(days(2027, 1, 3) * DAY_S);
        assert_eq!(
            (civil(begun), january.ends_s(begun)),
            ((2026, 12, 15), days(2027, 1, 15) * DAY_S)
        );
    }
}
