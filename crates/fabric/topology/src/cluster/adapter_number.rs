//! Numbers in adapter names.

/// Prefix of Mellanox adapter names, which are numbered from 1.
const FROM_ONE: &str = "HCA-";

/// Returns the number of an adapter, counted from 0: 4 for `mlx5_4` and `HCA-5`, 1 for `hfi1_1`.
pub(super) fn adapter_number(name: &str) -> Option<u32> {
    let name = name.split_whitespace().next()?;
    let digits = name.rfind(|c: char| !c.is_ascii_digit()).map_or(0, |last| last + 1);
    let number: u32 = name.get(digits..)?.parse().ok()?;
    if name.starts_with(FROM_ONE) { number.checked_sub(1) } else { Some(number) }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn device_names_count_from_0_and_default_descriptions_from_1() {
        assert_eq!(adapter_number("mlx5_9"), Some(9));
        assert_eq!(adapter_number("HCA-3"), Some(2));
        assert_eq!(adapter_number("hfi1_1"), Some(1));
        assert_eq!(adapter_number("mlx5_0 (ib0)"), Some(0));
        assert_eq!(adapter_number("7"), Some(7));
        for without in ["", "ib", "HCA-0", "µ"] {
            assert_eq!(adapter_number(without), None, "{without}");
        }
    }
}
