//! Tables of a subnet manager: read, joined with their fabric, proved, written back.

mod bisection;
mod lanes;
mod messages;
mod monkey;
mod opensm_files;
mod slurm;
mod support;
mod tables;
mod written;
