//! What nodes have in memory: the parts of databases that they used last.

use super::cluster::Cluster;

/// No item.
const NONE: u32 = u32::MAX;

/// Sizes are counted in millionths of a GB, so that sums are exact.
const UNITS: f64 = 1e6;

/// The memory of every node.
pub struct Caches {
    /// Units of a fragment, by database.
    sizes: Vec<u64>,
    fragments: usize,
    /// Processors of a node.
    processors: usize,
    capacity: u64,
    nodes: Vec<Recent>,
    /// Units that the nodes of a partition read.
    read: Vec<u64>,
}

/// What a query made its nodes read.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Missed {
    /// GB of the node that read most.
    pub worst: f64,
    /// GB of the mean node.
    pub mean: f64,
}

impl Caches {
    /// Empty ones.
    pub fn new(cluster: &Cluster) -> Caches {
        let (fragments, databases) = (cluster.fragments, cluster.databases.len());
        let units = |gb: f64| (gb * UNITS).round() as u64;
        let size = |gb: f64| units(gb / fragments as f64);
        Caches {
            sizes: cluster
                .databases
                .iter()
                .map(|database| size(database.scanned_gb))
                .collect(),
            fragments,
            processors: cluster.processors,
            capacity: units(cluster.cache_gb),
            nodes: vec![Recent::new(fragments * databases); cluster.nodes],
            read: Vec::new(),
        }
    }

    /// Nodes search a database: its fragments go to their processors in turn.
    pub fn search(&mut self, database: usize, nodes: &[usize]) -> Missed {
        let processors = nodes.len() * self.processors;
        self.read.clear();
        self.read.resize(nodes.len(), 0);
        for fragment in 0..self.fragments {
            let place = fragment % processors / self.processors;
            let item = (database * self.fragments + fragment) as u32;
            let size = self.sizes[database];
            let node = &mut self.nodes[nodes[place]];
            if !node.touch(item, self.capacity, |item| {
                self.sizes[item as usize / self.fragments]
            }) {
                self.read[place] += size;
            }
        }
        let worst = self.read.iter().max().copied().unwrap_or(0);
        let sum: u64 = self.read.iter().sum();
        Missed {
            worst: worst as f64 / UNITS,
            mean: sum as f64 / nodes.len() as f64 / UNITS,
        }
    }
}

/// The items of one node in the order of their last use: a ring of links from the oldest to the
/// newest, through an item that stands for neither.
#[derive(Clone, Debug)]
struct Recent {
    newer: Vec<u32>,
    older: Vec<u32>,
    /// Units of all items.
    held: u64,
}

impl Recent {
    fn new(items: usize) -> Recent {
        let mut links = vec![NONE; items + 1];
        links[items] = items as u32;
        Recent {
            newer: links.clone(),
            older: links,
            held: 0,
        }
    }

    /// Uses an item; true where it was held. What was not used for longest goes, so that it fits.
    fn touch(&mut self, item: u32, capacity: u64, size: impl Fn(u32) -> u64) -> bool {
        let held = self.newer[item as usize] != NONE;
        if held {
            self.unlink(item);
        } else if size(item) <= capacity {
            self.held += size(item);
            while self.held > capacity {
                let oldest = self.newer[self.end()];
                self.unlink(oldest);
                self.held -= size(oldest);
            }
        } else {
            return false;
        }
        self.link(item);
        held
    }

    fn end(&self) -> usize {
        self.newer.len() - 1
    }

    fn unlink(&mut self, item: u32) {
        let (newer, older) = (self.newer[item as usize], self.older[item as usize]);
        self.older[newer as usize] = older;
        self.newer[older as usize] = newer;
        self.newer[item as usize] = NONE;
    }

    /// Makes an item the newest.
    fn link(&mut self, item: u32) {
        let end = self.end();
        let newest = self.older[end];
        self.newer[newest as usize] = item;
        self.older[item as usize] = newest;
        self.newer[item as usize] = end as u32;
        self.older[end] = item;
    }
}

#[cfg(test)]
mod tests {
    use gyrase_simulate::Random;

    use super::*;

    #[test]
    fn what_was_not_used_for_longest_goes() {
        let mut node = Recent::new(5);
        let mut used = |item| node.touch(item, 3, |_| 1);
        assert_eq!(
            [0, 1, 2, 0, 3].map(&mut used),
            [false, false, false, true, false]
        );
        // 1 went for 3.
        assert_eq!([0, 2, 3, 1].map(&mut used), [true, true, true, false]);
        let mut large = Recent::new(2);
        assert!(!large.touch(0, 3, |_| 4) && !large.touch(0, 3, |_| 4) && large.held == 0);
    }

    #[test]
    fn as_a_list_of_items_by_their_last_use() {
        let mut random = Random::stream(5, 0, 0);
        for capacity in [0, 7, 20, 100] {
            let size = |item: u32| u64::from(item % 5 + 1);
            let (mut node, mut list) = (Recent::new(30), Vec::<u32>::new());
            for _ in 0..2000 {
                let item = random.below(30) as u32;
                let held = list.contains(&item);
                list.retain(|other| *other != item);
                if size(item) <= capacity {
                    list.push(item);
                }
                while list.iter().map(|item| size(*item)).sum::<u64>() > capacity {
                    list.remove(0);
                }
                assert_eq!(node.touch(item, capacity, size), held);
            }
        }
    }

    #[test]
    fn nodes_share_a_database() {
        let cluster = Cluster::orbitty();
        let mut caches = Caches::new(&cluster);
        // nt has 5.2 GB; four nodes hold it, two do not.
        let four = [0, 1, 2, 3];
        assert_eq!(
            caches.search(3, &four),
            Missed {
                worst: 1.3,
                mean: 1.3
            }
        );
        assert_eq!(caches.search(3, &four), Missed::default());
        for _ in 0..2 {
            assert_eq!(
                caches.search(3, &[4, 5]),
                Missed {
                    worst: 2.6,
                    mean: 2.6
                }
            );
        }
        // Half of what a node of eight needs it has, where it was one of four.
        let eight = [0, 1, 2, 3, 6, 7, 8, 9];
        assert_eq!(caches.search(3, &eight).worst, 0.65);
    }
}
