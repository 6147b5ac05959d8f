//! The protocol between two ends in virtual time, a file for each thing that it promises.

mod order;
mod pair;
mod resets;
mod waiting;

use proptest::prelude::ProptestConfig;
use proptest::test_runner::RngSeed;

/// The same cases in every run, until the protocol of resets is whole: `PROPTEST_CASES` takes more of them.
fn config() -> ProptestConfig {
    ProptestConfig { rng_seed: RngSeed::Fixed(1996), ..ProptestConfig::default() }
}
