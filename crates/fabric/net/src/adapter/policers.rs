//! Policing at an adapter: a token bucket for each class, and the treatment of excess traffic.

use crate::{ClassId, Excess, TokenBucket};

#[derive(Clone, Copy, Debug)]
pub(super) struct Policer {
    pub(super) bucket: TokenBucket,
    pub(super) excess: Excess,
}

pub(super) fn policer_of(policers: &mut [Option<Policer>], class: ClassId) -> Option<&mut Policer> {
    policers.get_mut(class.index())?.as_mut()
}

pub(super) fn delaying(
    policers: &mut [Option<Policer>],
    class: ClassId,
) -> Option<&mut TokenBucket> {
    let policer = policer_of(policers, class)?;
    (policer.excess == Excess::Delay).then_some(&mut policer.bucket)
}
