//! Graphs and contigs, through the library and in the files of other programs.

mod graph_files;
mod isolate;
mod unitigs;
