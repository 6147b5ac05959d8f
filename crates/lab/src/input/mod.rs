//! Scenario text to typed values, with positions.
