//! The cost of a prompt cache that expires between requests. It can be computed where the transcripts have times.

use midfold_eval::prices::PriceTable;

use crate::replay::line::StrategyLine;
use crate::words::{number, plural};

/// The number of requests that found an expired cache, and the cost of each strategy with a cache that lives for five
/// minutes and for an hour. `None` where no times are known.
pub fn sentence(lines: &[StrategyLine<'_>], prices: &PriceTable) -> Option<String> {
    let most = lines.iter().map(StrategyLine::sum).max_by_key(|sum| sum.timed)?;
    if most.timed == 0 {
        return None;
    }
    let [five, hour] = most.lifetimes;
    let timed = plural(most.timed, "pause");
    let mut text = format!(
        "Of {timed} between requests, {} are longer than 5 minutes and {} longer than an hour: then a cache is cold. {}",
        number(five.cold),
        number(hour.cold),
        match prices.lifetime_seconds {
            Some(seconds) => format!(
                "Here it lives for {seconds} s: {} found it so.",
                plural(most.cold, "request")
            ),
            None => "Here it lives for ever.".to_owned(),
        },
    );
    let costs = lines.iter().filter_map(|line| {
        let [five, hour] = line.sum().lifetimes;
        // Both costs are divided by the same price, that of the raw history with a cache of five minutes, so that they
        // can be compared.
        let of = |price: f64| (five.raw_price > 0.0).then(|| price / five.raw_price);
        Some(format!("{} {:.3}, {:.3}", line.label(), of(five.price)?, of(hour.price)?))
    });
    text += &format!(
        " Cost by the prices of {} with 5 minutes and with an hour, in times the raw history with 5 minutes: {}.",
        prices.name,
        costs.collect::<Vec<_>>().join("; ")
    );
    Some(text)
}
