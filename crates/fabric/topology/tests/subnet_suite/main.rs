//! What a subnet manager decided: read, joined with its fabric, proved, written back.

mod bisection;
mod lanes;
mod messages;
mod monkey;
mod opensm_files;
mod slurm;
mod support;
mod tables;
mod written;
