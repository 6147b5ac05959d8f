//! A mean and its 95 % interval, by batch means.
//!
//! The window's slices are put into 20 batches of equal length; the batch means are taken as
//! independent and normal, and Student's t for 19 degrees of freedom gives the half-width (Law,
//! "Simulation Modeling and Analysis", 5th ed., section 9.5.3). Slices that do not fill a batch
//! are left out at the front, where the warm-up is nearest.

use super::Slice;

const BATCHES: usize = 20;
/// Student's t, 97.5 % point, 19 degrees of freedom.
const STUDENT_T: f64 = 2.093_024_054_408_263;

/// A measured mean.
#[derive(Clone, Copy, PartialEq, Debug)]
pub struct Estimate {
    /// The mean over all that was measured.
    pub mean: f64,
    /// Half the width of the 95 % interval; `None` where fewer than 20 batches hold data.
    pub half_width: Option<f64>,
}

impl Estimate {
    /// Mean latency in picoseconds of the messages created in these slices, or `None` if there
    /// is none.
    pub fn latency_ps(slices: &[Slice]) -> Option<Self> {
        let mean = |slices: &[Slice]| {
            let count: u64 = slices.iter().map(|slice| slice.latency_count).sum();
            let sum: u128 = slices.iter().map(|slice| slice.latency_sum_ps).sum();
            #[expect(clippy::cast_precision_loss, reason = "a mean needs few digits")]
            (count > 0).then(|| sum as f64 / count as f64)
        };
        Some(Self { mean: mean(slices)?, half_width: half_width(slices, mean) })
    }

    /// Delivered payload in bytes per slice.
    pub fn delivered_bytes(slices: &[Slice]) -> Option<Self> {
        let mean = |slices: &[Slice]| {
            let bytes: u64 = slices.iter().map(|slice| slice.delivered_bytes).sum();
            #[expect(clippy::cast_precision_loss, reason = "a mean needs few digits")]
            (!slices.is_empty()).then(|| bytes as f64 / slices.len() as f64)
        };
        Some(Self { mean: mean(slices)?, half_width: half_width(slices, mean) })
    }
}

/// Half-width of the interval, from the batch means that `mean` yields.
fn half_width(slices: &[Slice], mean: impl Fn(&[Slice]) -> Option<f64>) -> Option<f64> {
    let batch = slices.len() / BATCHES;
    if batch == 0 {
        return None;
    }
    let means: Option<Vec<f64>> = slices.rchunks_exact(batch).take(BATCHES).map(mean).collect();
    let means = means?;
    #[expect(clippy::cast_precision_loss, reason = "twenty")]
    let count = BATCHES as f64;
    let centre = means.iter().sum::<f64>() / count;
    let squares: f64 = means.iter().map(|mean| (mean - centre) * (mean - centre)).sum();
    Some(STUDENT_T * (squares / (count - 1.0) / count).sqrt())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn slice(latency_ps: u128) -> Slice {
        Slice { latency_count: 1, latency_sum_ps: latency_ps, ..Slice::default() }
    }

    #[test]
    fn twenty_batches_give_students_interval() {
        // Ten batches at 90 and ten at 110: variance 20 x 100 / 19, standard error sqrt(100 / 19).
        let slices: Vec<_> =
            (0..20).map(|index| slice(if index % 2 == 0 { 90 } else { 110 })).collect();
        let estimate = Estimate::latency_ps(&slices).unwrap();
        let expected = 2.093_024 * (100.0_f64 / 19.0).sqrt();
        assert!((estimate.mean - 100.0).abs() < 1e-12);
        assert!((estimate.half_width.unwrap() - expected).abs() < 1e-5);
    }

    #[test]
    fn too_little_data_gives_no_interval() {
        assert_eq!(Estimate::latency_ps(&[]), None);
        assert_eq!(
            Estimate::latency_ps(&[slice(7)]),
            Some(Estimate { mean: 7.0, half_width: None })
        );
        let mut gap = vec![slice(1); 20];
        gap[3] = Slice::default();
        assert_eq!(Estimate::latency_ps(&gap).unwrap().half_width, None);
    }
}
