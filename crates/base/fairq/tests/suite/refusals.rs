//! Invalid parameters of schedulers, and their errors.

use gingham_fairq::{
    DeficitRoundRobin, GeneralisedRoundRobin, Randomised, RoundRobin, SchedulerError, Slot,
    StrictPriority, SurplusRoundRobin, Table, TwoLevelTables, VirtualClock,
};

#[test]
fn channel_count_must_be_1_to_capacity() {
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
fn quantum_below_the_longest_packet_is_refused() {
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

#[test]
fn invalid_table_slots_are_refused() {
    let slot = |queue, weight| Slot { queue, weight };
    let new = |queues, high: &[Slot], low: &[Slot]| TwoLevelTables::new(queues, high, low, 0).err();
    assert_eq!(new(0, &[slot(0, 1)], &[]), Some(SchedulerError::NoChannels));
    let many = SchedulerError::TooManyChannels { count: 17, count_max: 16 };
    assert_eq!(new(17, &[slot(0, 1)], &[]), Some(many));

    assert_eq!(new(1, &[slot(0, 1); 64], &[slot(0, 1); 64]), None);
    let long = SchedulerError::TooManySlots { table: Table::Low, count: 65, count_max: 64 };
    assert_eq!(new(1, &[slot(0, 1); 64], &[slot(0, 1); 65]), Some(long));
    assert_eq!(long.to_string(), "the low table has 65 slots; at most 64 are possible");

    let beyond = SchedulerError::SlotOutside { table: Table::High, slot: 1, queue: 3, queues: 3 };
    assert_eq!(new(3, &[slot(2, 1), slot(3, 0)], &[]), Some(beyond));
    assert_eq!(beyond.to_string(), "slot 1 of the high table names lane 3: 3 are numbered from 0");
    let beyond = SchedulerError::SlotOutside { table: Table::Low, slot: 0, queue: 16, queues: 16 };
    assert_eq!(new(16, &[], &[slot(16, 1)]), Some(beyond));
    let first = SchedulerError::SlotOfFirst { table: Table::Low, slot: 0 };
    assert_eq!(new(16, &[slot(0, 1)], &[slot(15, 1)]), Some(first));
    assert_eq!(
        first.to_string(),
        "slot 0 of the low table names lane 15, which goes before both tables and has no slot"
    );

    assert_eq!(new(2, &[slot(0, 0)], &[slot(1, 0)]), Some(SchedulerError::NoWeight));
    assert_eq!(new(2, &[], &[]), Some(SchedulerError::NoWeight));
}
