//! Which k-mers of a sequence are kept: of so many that follow each other the one with the least
//! hash (a minimizer scheme). What two sequences have in common has the same ones in both.

use crate::reads::NONE;
use crate::rolling::{Rolling, Window};

/// The most neighbours of which one is kept.
const MOST: usize = 16;

/// Of so many neighbouring k-mers one is kept.
#[derive(Clone, Copy)]
pub struct Scheme {
    k: usize,
    neighbours: usize,
    rolling: Rolling,
}

impl Scheme {
    /// Of so many neighbours, or of somewhat fewer.
    pub fn new(k: usize, neighbours: usize) -> Scheme {
        Scheme {
            k,
            neighbours: neighbours.min(k).clamp(1, MOST),
            rolling: Rolling::new(k),
        }
    }

    /// Bases of a k-mer.
    pub fn k(&self) -> usize {
        self.k
    }

    /// Neighbours of which one is kept.
    pub fn neighbours(&self) -> usize {
        self.neighbours
    }

    /// Bases of neighbours together.
    pub fn span(&self) -> usize {
        self.neighbours + self.k - 1
    }

    /// The hash and the place of every k-mer that is least among neighbours, wherever these begin.
    /// Those beyond the sequence, which has k bases at least, are unknown: as if they were all
    /// greater.
    #[inline]
    pub fn kept(self, codes: impl AsRef<[u8]>) -> impl Iterator<Item = (u64, usize)> {
        let Scheme {
            k,
            neighbours,
            rolling,
        } = self;
        let kmers = codes.as_ref().len() + 1 - k;
        let mut window = rolling.start(&codes.as_ref()[..k]);
        let mut least = Least::new(0, neighbours);
        let mut last = None;
        (0..kmers + neighbours - 1).filter_map(move |at| {
            let hash = if at < kmers { window.hash() } else { u64::MAX };
            let (hash, place) = least.push(at, hash);
            if at + 1 < kmers {
                let codes = codes.as_ref();
                window = rolling.next(window, codes[at], codes[at + k]);
            }
            (last.replace(place) != Some(place)).then_some((hash, place))
        })
    }

    /// Those of a sequence from a place on whose neighbours are all there, if it is long enough.
    #[inline]
    pub fn minimizers(&self, codes: &[u8], from: usize) -> Option<Minimizers> {
        let first = codes.get(from..from + self.span())?;
        let mut minimizers = Minimizers {
            window: self.rolling.start(&first[..self.k]),
            lowest: Least::new(from, self.neighbours),
            at: from,
            least: (u64::MAX, from),
        };
        minimizers.look();
        for _ in 1..self.neighbours {
            minimizers.roll(self, codes);
        }
        Some(minimizers)
    }

    /// Calls `each` with the hashes, the k-mers and the places of so many minimizers of neighbours
    /// that begin at `from` or behind it, but for those with what is no base; where the next
    /// neighbours begin.
    pub fn for_each_from(
        &self,
        codes: &[u8],
        from: usize,
        count: usize,
        mut each: impl FnMut(u64, &[u8], usize),
    ) -> usize {
        let Some(mut next) = self.minimizers(codes, from) else {
            return codes.len();
        };
        for _ in 0..count {
            let (hash, at) = next.least();
            let window = &codes[at..at + self.k];
            if !window.contains(&NONE) {
                each(hash, window, at);
            }
            if next.go_on(self, codes).is_none() {
                return codes.len();
            }
        }
        next.at + 1 - self.neighbours
    }
}

/// The minimizers of a sequence, one after the other.
pub struct Minimizers {
    window: Window,
    lowest: Least,
    /// Where the window begins.
    at: usize,
    /// The hash and the place of the one that is known.
    least: (u64, usize),
}

impl Minimizers {
    /// The hash and the place of this one.
    #[inline(always)]
    pub fn least(&self) -> (u64, usize) {
        self.least
    }

    /// Goes on to the next minimizer; nothing where there is none.
    #[inline]
    pub fn go_on(&mut self, scheme: &Scheme, codes: &[u8]) -> Option<()> {
        let (_, place) = self.least;
        while self.least.1 == place {
            (self.at + scheme.k < codes.len()).then(|| self.roll(scheme, codes))?;
        }
        Some(())
    }

    /// Goes on to the next window.
    #[inline(always)]
    fn roll(&mut self, scheme: &Scheme, codes: &[u8]) {
        let (old, new) = (codes[self.at], codes[self.at + scheme.k]);
        self.window = scheme.rolling.next(self.window, old, new);
        self.at += 1;
        self.look();
    }

    #[inline(always)]
    fn look(&mut self) {
        self.least = self.lowest.push(self.at, self.window.hash());
    }
}

/// The least of the last hashes.
struct Least {
    neighbours: usize,
    hashes: [u64; MOST],
    place: usize,
}

impl Least {
    /// Of so many, from a place on.
    fn new(place: usize, neighbours: usize) -> Least {
        Least {
            neighbours,
            hashes: [u64::MAX; MOST],
            place,
        }
    }

    /// Adds the hash of the next place; the least, and its place, the first of equal ones.
    #[inline(always)]
    fn push(&mut self, at: usize, hash: u64) -> (u64, usize) {
        self.hashes[at % MOST] = hash;
        if at - self.place >= self.neighbours {
            let last = at + 1 - self.neighbours..=at;
            let least = last.min_by_key(|place| self.hashes[place % MOST]);
            self.place = least.expect("there is a neighbour");
        } else if hash < self.hashes[self.place % MOST] {
            self.place = at;
        }
        (self.hashes[self.place % MOST], self.place)
    }
}
