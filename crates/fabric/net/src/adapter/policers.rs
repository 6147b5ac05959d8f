//! What an adapter polices: a token bucket a class, and what becomes of excess.

use crate::{ClassId, Excess, TokenBucket};

/// The bucket of a class, and what becomes of what finds too few tokens in it.
#[derive(Clone, Copy, Debug)]
pub(super) struct Policer {
    pub(super) bucket: TokenBucket,
    pub(super) excess: Excess,
}

pub(super) fn policer_of(policers: &mut [Option<Policer>], class: ClassId) -> Option<&mut Policer> {
    policers.get_mut(class.index())?.as_mut()
}

/// The bucket for which packets of a class wait, if they do.
pub(super) fn delaying(
    policers: &mut [Option<Policer>],
    class: ClassId,
) -> Option<&mut TokenBucket> {
    let policer = policer_of(policers, class)?;
    (policer.excess == Excess::Delay).then_some(&mut policer.bucket)
}
