//! Max-min fair rates by progressive filling.
//!
//! All rates grow together until a channel is full. The flows on that channel keep their rates, and
//! the other rates continue to grow. Source: Bertsekas and Gallager, "Data Networks", 2nd edition,
//! section 6.5.2.

type Share = (usize, f64);

/// Computes the max-min fair rate of each flow from the channels that it uses, in the unit of
/// `capacities`; infinite for a flow without channels.
pub fn max_min_rates(capacities: &[f64], flows: &[Vec<Share>]) -> Vec<f64> {
    let mut rates = vec![f64::INFINITY; flows.len()];
    let mut on_channel: Vec<Vec<usize>> = vec![Vec::new(); capacities.len()];
    let mut weights = vec![0.0; capacities.len()];
    for (flow, shares) in flows.iter().enumerate() {
        for (channel, part) in shares {
            on_channel[*channel].push(flow);
            weights[*channel] += part;
        }
    }
    let mut left: Vec<f64> = capacities.to_vec();
    let mut growing: Vec<usize> = on_channel.iter().map(Vec::len).collect();
    let mut used: Vec<usize> = (0..capacities.len()).filter(|one| growing[*one] > 0).collect();
    while !used.is_empty() {
        // `left` excludes flows with a final rate; all other flows have a common rate.
        let level = |channel: usize| left[channel] / weights[channel];
        let fullest = used.iter().copied().min_by(|a, b| level(*a).total_cmp(&level(*b)));
        let fullest = fullest.expect("it is not empty");
        let rate = level(fullest).max(0.0);
        for flow in std::mem::take(&mut on_channel[fullest]) {
            if rates[flow].is_finite() {
                continue;
            }
            rates[flow] = rate;
            for (channel, part) in &flows[flow] {
                left[*channel] -= rate * part;
                weights[*channel] -= part;
                growing[*channel] -= 1;
            }
        }
        used.retain(|channel| growing[*channel] > 0);
    }
    rates
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn max_min_rates_match_bertsekas_gallager_example() {
        // Bertsekas and Gallager, figure 6.11: capacities 1 and 2.
        let flows = [vec![(0, 1.0), (1, 1.0)], vec![(0, 1.0)], vec![(1, 1.0)], vec![]];
        let rates = max_min_rates(&[1.0, 2.0], &flows);
        assert_eq!(rates, [0.5, 0.5, 1.5, f64::INFINITY]);
    }

    #[test]
    fn max_min_counts_fractional_flows() {
        let rates = max_min_rates(&[1.0, 1.0], &[vec![(0, 1.0), (1, 0.25)], vec![(1, 1.0)]]);
        assert_eq!(rates, [0.8, 0.8]);
    }
}
