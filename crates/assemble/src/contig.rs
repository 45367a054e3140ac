//! What is told of a contig beside its bases, and its name.

use crate::graph::Way;

/// What names and headers tell of a contig.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Contig {
    /// Its number among those of all, from 1.
    pub number: usize,
    /// Bases of a k-mer.
    pub k: usize,
    /// Bases.
    pub length: usize,
    /// The sum of the counts of its k-mers.
    pub count: u64,
    /// Its end overlaps its beginning, and nothing else overlaps either.
    pub is_circular: bool,
    /// Nothing overlaps it.
    pub is_alone: bool,
}

impl Contig {
    /// A node of a graph of `k`-mers by its number among those of all: bases, the sum of the
    /// counts, and what follows both of its ways.
    pub fn of(number: Way, k: usize, (length, count): (usize, u64), next: [&[Way]; 2]) -> Contig {
        Contig {
            number: number.node() + 1,
            k,
            length,
            count,
            is_circular: next == [&[number][..], &[number.flipped()]],
            is_alone: next.into_iter().all(<[Way]>::is_empty),
        }
    }

    /// How often a k-mer was seen on average, with so many digits behind the point.
    pub fn depth(&self, digits: u32) -> String {
        let scale = 10u128.pow(digits);
        let kmers = (self.length + 1 - self.k) as u128;
        let scaled = (u128::from(self.count) * scale + kmers / 2) / kmers;
        let digits = digits as usize;
        format!("{}.{:0digits$}", scaled / scale, scaled % scale)
    }
}

/// How contigs are named, each by its number from 1, which it has in all files.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum HeaderStyle {
    /// `contig_1 length=4653 depth=37.25 circular=no`.
    #[default]
    Own,
    /// `NODE_1_length_4653_cov_37.250000`, as SPAdes: coverage by k-mers.
    Spades,
    /// `k127_1 flag=1 multi=37.2500 len=4653`, as MEGAHIT; flag 3 is a ring, 1 has no neighbours.
    Megahit,
    /// `1 4653 168597`, as ABySS: number, length, sum of the counts of the k-mers.
    Abyss,
}

impl HeaderStyle {
    /// The name of a contig, by which all files know it.
    pub fn name(self, contig: &Contig) -> String {
        let number = contig.number;
        match self {
            HeaderStyle::Own => format!("contig_{number}"),
            HeaderStyle::Spades => {
                let (length, depth) = (contig.length, contig.depth(6));
                format!("NODE_{number}_length_{length}_cov_{depth}")
            }
            HeaderStyle::Megahit => format!("k{}_{number}", contig.k),
            HeaderStyle::Abyss => number.to_string(),
        }
    }

    /// The name, and what else a line of FASTA says.
    pub fn header(self, contig: &Contig) -> String {
        let (name, length) = (self.name(contig), contig.length);
        match self {
            HeaderStyle::Own => {
                let circular = if contig.is_circular { "yes" } else { "no" };
                let depth = contig.depth(2);
                format!("{name} length={length} depth={depth} circular={circular}")
            }
            HeaderStyle::Spades => name,
            HeaderStyle::Megahit => {
                let flag = match contig.is_circular {
                    true => 3,
                    false => u8::from(contig.is_alone),
                };
                let depth = contig.depth(4);
                format!("{name} flag={flag} multi={depth} len={length}")
            }
            HeaderStyle::Abyss => format!("{name} {length} {}", contig.count),
        }
    }
}
