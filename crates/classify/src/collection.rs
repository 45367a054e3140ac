//! Databases that reads are classified with at once.

use std::ops::Range;

use gyrase_fabric::{FabricError, World};
use gyrase_gpu::GpuShare;
use gyrase_table::gydb::{Database, PARTITIONS};

use crate::cap::Cap;
use crate::catalogue::Catalogue;
use crate::index::Index;
use crate::mismatch::Mismatch;
use crate::on_gpu::{GpuRefusal, HOST_BYTES, Needs, OnGpu};
use crate::slice::Slice;
use crate::stored::FULL;

/// One or more databases as one: the answers are those of the database that all their references
/// would make together, in the order of the databases.
#[derive(Debug)]
pub struct Collection {
    /// All their references.
    pub catalogue: Catalogue,
    databases: Vec<Member>,
    gpu: Option<OnGpu>,
}

/// Bytes that classifying takes, about, whatever the databases; for each thread its batches, their
/// answers, what is looked up; for each target, its name apart, and for each thread besides; for
/// each taxon.
const FIXED: u64 = 24 << 20;
const PER_THREAD: u64 = 9 << 20;
const PER_TARGET: u64 = 64;
const PER_TARGET_AND_THREAD: u64 = 16;
const PER_TAXON: u64 = 256;

/// Bytes that a thread takes for each file that it reads stored hits from: a block, unpacked and
/// packed.
const PER_FILE: u64 = 2 * FULL as u64;

/// How databases are asked within some memory.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Plan {
    /// How often the reads are read.
    pub passes: usize,
    /// Bytes of the databases that are asked at a time.
    pub most: u64,
    /// Bytes of a batch of reads.
    pub batch: usize,
    /// Bytes of memory that the run may take.
    pub memory: u64,
}

/// Bytes of a batch of reads where all of the databases fit the memory, and where not.
const BATCHES: [usize; 2] = [1 << 20, 1 << 18];

/// A database and the number of its first window.
#[derive(Debug)]
struct Member {
    features: Database,
    first_window: u32,
}

impl Collection {
    /// All of `indexes`, in their order.
    ///
    /// # Errors
    /// When they do not fit together.
    ///
    /// # Panics
    /// Without any.
    pub fn new(mut indexes: Vec<Index>) -> Result<Collection, Mismatch> {
        if indexes.len() == 1 {
            return Ok(indexes.swap_remove(0).into());
        }
        let parts: Vec<_> = indexes
            .iter()
            .map(|index| (index.features.path(), index.catalogue()))
            .collect();
        let catalogue = Catalogue::unite(&parts)?;
        let mut next = 0;
        let member = |index: Index| {
            let first_window = next;
            next += index.targets.all_windows();
            Member {
                features: index.into_parts().0,
                first_window,
            }
        };
        Ok(Collection {
            catalogue,
            databases: indexes.into_iter().map(member).collect(),
            gpu: None,
        })
    }

    /// How `threads` threads ask the databases within `memory` bytes, and in parts that a GPU
    /// takes, where one was chosen; where these bytes are too few, how many are not. Of a database
    /// that was built in memory all is there already.
    ///
    /// # Errors
    /// The bytes that it takes at least.
    pub fn plan(&self, memory: u64, threads: usize) -> Result<Plan, u64> {
        self.within(memory, threads)
            .ok_or_else(|| self.least_memory(threads))
    }

    /// The least memory in bytes that is enough for `threads` threads, in whole MiB, since people
    /// say so.
    pub fn least_memory(&self, threads: usize) -> u64 {
        let tries = (self.fixed(threads) >> 20..).map(|step| (step + 1) << 20);
        tries
            .into_iter()
            .find(|&memory| self.within(memory, threads).is_some())
            .expect("some memory is enough")
    }

    /// The plan of a process, by that of each process of a job: the databases are asked at once
    /// where they fit the memory of each. Where not, each process asks a part of them, about as
    /// large as those of the others.
    ///
    /// Collective.
    ///
    /// # Errors
    /// Another process failed.
    pub(crate) fn shared(
        &self,
        plan: Plan,
        threads: usize,
        world: &dyn World,
    ) -> Result<Plan, FabricError> {
        // A thread reads what each part gave in step.
        let files = plan.most / (threads as u64 * PER_FILE);
        let least = world.min(&[plan.batch as u64, plan.most, files.max(1)])?;
        let &[batch, most, files] = &least[..] else {
            unreachable!("three numbers were compared")
        };
        let batch = batch as usize;
        if most >= self.bytes() {
            return Ok(Plan { batch, ..plan });
        }
        // So many parts suffice: all but the last are fuller than the largest partition less.
        let parts = files.min(world.ranks() as u64);
        let most = most.min(self.bytes().div_ceil(parts) + self.largest());
        Ok(Plan {
            passes: self.parts(most).len().div_ceil(world.ranks()) + 1,
            most,
            batch,
            ..plan
        })
    }

    fn within(&self, memory: u64, threads: usize) -> Option<Plan> {
        let (fixed, largest, all) = (self.fixed(threads), self.largest(), self.bytes());
        let of_gpu = self.gpu.as_ref().map_or(u64::MAX, OnGpu::most);
        // Every pass but the last leaves a file that is read in step with the others.
        let files = |passes: usize| (passes as u64 - 1) * threads as u64 * PER_FILE;
        let in_memory = !self.is_mapped();
        let left = |passes| match in_memory {
            true => Some(all.min(of_gpu)),
            false => memory
                .checked_sub(fixed + files(passes))
                .filter(|&most| most >= largest)
                .map(|most| most.min(of_gpu)),
        };
        // More passes leave less memory for each, so that fewer than these are never enough.
        let (mut allowed, mut passes, mut most) = (0, 1, 0);
        while passes > allowed {
            allowed = passes;
            most = left(allowed)?;
            passes = self.parts(most).len();
        }
        let batch = BATCHES[usize::from(passes > 1)];
        let held = if in_memory { all } else { most.min(all) };
        Some(Plan {
            passes,
            most,
            batch,
            memory: fixed + files(passes) + held,
        })
    }

    /// True where what is read of all databases can be given back.
    fn is_mapped(&self) -> bool {
        let mut databases = self.databases.iter();
        databases.all(|database| database.features.is_mapped())
    }

    /// Bytes beside those of the databases' features.
    fn fixed(&self, threads: usize) -> u64 {
        let Catalogue {
            targets, taxonomy, ..
        } = &self.catalogue;
        let of_gpu = match self.gpu {
            Some(_) => threads as u64 * HOST_BYTES,
            None => 0,
        };
        let per_target = PER_TARGET + threads as u64 * PER_TARGET_AND_THREAD;
        let names: u64 = targets
            .iter()
            .map(|target| target.name.len() as u64 + per_target)
            .sum();
        self.reserved(threads) + of_gpu + names + taxonomy.len() as u64 * PER_TAXON
    }

    /// Of these, what is kept for batches, answers and the like, whatever there is to read.
    pub(crate) fn reserved(&self, threads: usize) -> u64 {
        FIXED + threads as u64 * PER_THREAD
    }

    /// Bytes of the largest partition.
    fn largest(&self) -> u64 {
        let of = |database: &Member| {
            (0..PARTITIONS)
                .map(|number| database.features.bytes_of(number..number + 1))
                .max()
        };
        self.databases.iter().filter_map(of).max().unwrap_or(0)
    }

    /// Bytes of memory that `threads` threads take to ask all databases at once.
    pub fn memory_at_once(&self, threads: usize) -> u64 {
        self.fixed(threads) + self.bytes()
    }

    /// Bytes of the features of all databases.
    pub fn bytes(&self) -> u64 {
        self.databases
            .iter()
            .map(|database| database.features.bytes_of(0..PARTITIONS))
            .sum()
    }

    /// The checksum of each database: what tells a collection from another.
    pub fn checksums(&self) -> impl Iterator<Item = u64> {
        self.databases
            .iter()
            .map(|database| database.features.checksum())
    }

    /// Chooses a GPU, which looks reads up from then on where it can, and brings the databases
    /// there: all of them, or the first of the parts that it takes. Nothing changes in the answers.
    ///
    /// # Errors
    /// See [`Collection::choose_gpu`]; or the GPU or the database fails. Then the processor goes on
    /// alone.
    pub fn bring_to(
        &mut self,
        gpu: &GpuShare<'_>,
        (memory, threads): (u64, usize),
        most_passes: usize,
    ) -> Result<(), GpuRefusal> {
        let plan = self.choose_gpu(gpu, (memory, threads), most_passes)?;
        let brought = self.bring_first(plan.most);
        if brought.is_err() {
            self.gpu = None;
        }
        brought
    }

    fn bring_first(&self, most: u64) -> Result<(), GpuRefusal> {
        let parts = self.parts(most);
        if let Some(on_gpu) = &self.gpu {
            on_gpu.bring(&parts[0], &self.catalogue)??;
        }
        Ok(())
    }

    /// Chooses a GPU, and brings nothing there yet: how `threads` threads ask the databases by it
    /// within `memory` bytes, in up to so many passes.
    ///
    /// # Errors
    /// See [`GpuRefusal`].
    pub fn choose_gpu(
        &mut self,
        gpu: &GpuShare<'_>,
        (memory, threads): (u64, usize),
        most_passes: usize,
    ) -> Result<Plan, GpuRefusal> {
        let needs = Needs {
            databases: self.databases.len(),
            bytes: self.bytes(),
            largest: self.largest(),
        };
        self.gpu = Some(OnGpu::new(gpu, needs, &self.catalogue, threads)?);
        let planned = match self.plan(memory, threads) {
            Err(least) => Err(GpuRefusal::HostMemory { least, memory }),
            Ok(Plan { passes, .. }) if passes > most_passes => Err(GpuRefusal::Passes { passes }),
            Ok(plan) => Ok(plan),
        };
        if planned.is_err() {
            self.gpu = None;
        }
        planned
    }

    /// The GPU that looks reads up, where one was chosen.
    pub fn on_gpu(&self) -> Option<&OnGpu> {
        self.gpu.as_ref()
    }

    /// What pages say of it: each database by a name, with its checksum.
    pub fn sources(&self, names: impl Iterator<Item = String>) -> Vec<(&'static str, String)> {
        let named = names.zip(self.checksums());
        named
            .map(|(name, sum)| ("Database", format!("{name}, checksum {sum:016x}")))
            .collect()
    }

    /// All of it.
    pub(crate) fn whole(&self) -> Vec<Slice<'_>> {
        self.databases
            .iter()
            .map(|database| database.slice(0..PARTITIONS))
            .collect()
    }

    /// All of it, in parts that take up to `most` bytes each or are one partition.
    pub(crate) fn parts(&self, most: u64) -> Vec<Vec<Slice<'_>>> {
        let mut parts = vec![Vec::new()];
        let mut room = most;
        for database in &self.databases {
            let mut start = 0;
            while start < PARTITIONS {
                let mut end = start;
                while end < PARTITIONS && database.features.bytes_of(end..end + 1) <= room {
                    room -= database.features.bytes_of(end..end + 1);
                    end += 1;
                }
                if end == start && room == most {
                    (end, room) = (end + 1, 0);
                }
                let part = parts.last_mut().expect("there is always a part");
                part.extend((start < end).then(|| database.slice(start..end)));
                if end < PARTITIONS {
                    parts.push(Vec::new());
                    room = most;
                }
                start = end;
            }
        }
        parts
    }

    /// The cap of locations over all databases; none is needed for one, whose features keep to it.
    pub(crate) fn cap(&self) -> Option<Cap<'_>> {
        let Catalogue {
            targets,
            parameters,
            ..
        } = &self.catalogue;
        (self.databases.len() > 1).then(|| Cap::new(targets, parameters.locations))
    }
}

impl From<Index> for Collection {
    fn from(index: Index) -> Collection {
        let (features, catalogue) = index.into_parts();
        Collection {
            catalogue,
            databases: vec![Member {
                features,
                first_window: 0,
            }],
            gpu: None,
        }
    }
}

impl Member {
    fn slice(&self, partitions: Range<usize>) -> Slice<'_> {
        Slice {
            features: &self.features,
            first_window: self.first_window,
            partitions,
        }
    }
}
