//! Finds the price table that a caller names.

use std::path::Path;

use midfold::{DoorHost, Failure, FailureArea, Settings};

use crate::prices::PriceTable;

/// The price table that the settings name, by its name or as a file. The reference table where they name none.
///
/// # Errors
/// There is no such table, or the file holds none.
pub fn named_prices(settings: &Settings, host: &DoorHost) -> Result<PriceTable, Failure> {
    let Some(name) = settings.prices.as_deref() else { return Ok(PriceTable::reference()) };
    if let Some(known) = PriceTable::named(name) {
        return Ok(known);
    }
    let path = Path::new(name);
    if name.ends_with(".toml") || path.is_file() {
        return PriceTable::from_toml(&host.text(path)?)
            .map_err(|error| Failure::usage(FailureArea::Input, format!("{name}: {error}")));
    }
    let all = PriceTable::all();
    let known: Vec<&str> = all.iter().map(|prices| prices.name.as_str()).collect();
    Err(Failure::unknown(FailureArea::Input, "price table", name, &known)
        .hint("or the path of a TOML file with one"))
}
