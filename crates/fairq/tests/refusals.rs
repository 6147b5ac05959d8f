//! What no scheduler is built from, and what it says then.

use gingham_fairq::{
    DeficitRoundRobin, GeneralisedRoundRobin, Randomised, RoundRobin, SchedulerError,
    StrictPriority, SurplusRoundRobin, VirtualClock,
};

#[test]
fn at_least_one_channel_and_as_many_as_there_is_room_for() {
    let none = Some(SchedulerError::NoChannels);
    assert_eq!(RoundRobin::try_new(0).err(), none);
    assert_eq!(Randomised::new(0, || 0).err(), none);
    assert_eq!(GeneralisedRoundRobin::<2>::new(&[]).err(), none);
    assert_eq!(SurplusRoundRobin::<2>::new(1, &[]).err(), none);
    assert_eq!(DeficitRoundRobin::<2>::new(1, &[]).err(), none);
    assert_eq!(VirtualClock::<2>::new(&[]).err(), none);
    assert_eq!(StrictPriority::<2>::new(&[]).err(), none);

    let many = Some(SchedulerError::TooManyChannels { count: 65, count_max: 64 });
    assert_eq!(RoundRobin::try_new(65).err(), many);
    assert_eq!(Randomised::new(65, || 0).err(), many);
    assert_eq!(SurplusRoundRobin::<64>::new(1, &[1; 65]).err(), many);
    assert!(SurplusRoundRobin::<64>::new(1, &[1; 64]).is_ok());
    let many = Some(SchedulerError::TooManyChannels { count: 3, count_max: 2 });
    assert_eq!(GeneralisedRoundRobin::<2>::new(&[1; 3]).err(), many);
    assert_eq!(DeficitRoundRobin::<2>::new(1, &[1; 3]).err(), many);
    assert_eq!(VirtualClock::<2>::new(&[None; 3]).err(), many);
    assert_eq!(StrictPriority::<2>::new(&[0; 3]).err(), many);
}

#[test]
fn a_quantum_is_at_least_the_longest_packet() {
    let small =
        SchedulerError::QuantumTooSmall { channel: 1, quantum_bytes: 1_499, longest_bytes: 1_500 };
    assert_eq!(SurplusRoundRobin::<2>::new(1_500, &[1_500, 1_499]), Err(small));
    assert_eq!(DeficitRoundRobin::<2>::new(1_500, &[1_500, 1_499]), Err(small));
    let empty = SchedulerError::NoLongestPacket;
    assert_eq!(SurplusRoundRobin::<2>::new(0, &[1_500]), Err(empty));
    assert_eq!(
        small.to_string(),
        "the quantum of channel 1 is 1499 bytes; it must be at least the longest packet, 1500 bytes"
    );
}
