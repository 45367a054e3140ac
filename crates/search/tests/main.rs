//! What a search finds, through the library: the answers of BLAST, from any way the same bytes.

mod db_masks;
mod divided;
mod families;
mod masks;
mod nucleotide;
mod parts;
mod regenerate;
mod scores;
mod search;
mod sensitivity;
mod share;
mod translated;
mod why;
