//! What every verb shares: the machine's share, progress, signals, the report.

use std::cell::{LazyCell, RefCell};
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::{Duration, Instant};

use gyrase_fabric::{Alone, World};
use gyrase_fabric_mpi::{Job, neighbours};
use gyrase_files::OutputFile;
use gyrase_picture::words;
use gyrase_trace::Tracer;
use gyrase_work::Progress;
use gyrase_work::machine;
use serde_json::{Value, json};

use crate::args::Common;
use crate::failure::{Code, Failure, Result};
use crate::logs::Warnings;
use crate::places;
use crate::ranks::{self, Left};
use crate::report::{self, Facts};
use crate::show::Show;
use crate::signals::{self, Asked};
use crate::size::Size;
use crate::trace;

/// The share of memory that a run takes when `--memory` is not given.
const SHARE: f64 = 0.8;

/// One run of the program.
pub struct Session {
    /// Threads that may work, at least 1.
    pub threads: usize,
    /// Bytes of memory that the run may take.
    pub memory: u64,
    /// Where spills go.
    pub tmp: PathBuf,
    /// Bytes that spills may take, if limited.
    pub max_tmp: Option<u64>,
    /// What the libraries report to.
    pub progress: Arc<Progress>,
    /// The options of the verb, as `--name` or `--name=value`, once somebody asks for them.
    pub options: LazyCell<Vec<String>, Box<dyn FnOnce() -> Vec<String>>>,
    job: Option<Arc<Job>>,
    left: Left,
    quiet: bool,
    report: Option<PathBuf>,
    trace: Option<(Tracer, PathBuf)>,
    facts: RefCell<Facts>,
    warnings: Warnings,
    asked: Asked,
    start: Instant,
}

impl Session {
    /// Settles the limits and begins to listen to signals.
    pub fn start(
        common: &Common,
        tracer: Option<Tracer>,
        warnings: Warnings,
        job: Option<Arc<Job>>,
    ) -> Result<Session> {
        let (progress, left) = (Arc::new(Progress::default()), Left::default());
        if let Some(job) = &job {
            ranks::heed(job, &progress, &left);
        }
        let exit = if job.is_some() {
            signal_hook::low_level::exit
        } else {
            std::process::exit
        };
        let asked = signals::listen(Arc::clone(&progress), exit).map_err(|error| {
            Failure::new(Code::Internal, format!("cannot listen to signals: {error}"))
        })?;
        let session = Session {
            left,
            asked,
            ..Session::settle(common, progress, warnings, job)?
        };
        session.say_limits();
        let trace = tracer.zip(common.trace.clone());
        let session = Session { trace, ..session };
        session.try_trace()?;
        Ok(session)
    }

    /// Settles the limits of a run within another program, which shows and cancels `progress`.
    pub fn within(common: &Common, progress: Arc<Progress>, warnings: Warnings) -> Result<Session> {
        let session = Session::settle(common, progress, warnings, None)?;
        Ok(Session {
            quiet: true,
            ..session
        })
    }

    fn settle(
        common: &Common,
        progress: Arc<Progress>,
        warnings: Warnings,
        job: Option<Arc<Job>>,
    ) -> Result<Session> {
        machine::raise_open_files();
        let neighbours = if job.is_some() { neighbours() } else { 1 };
        let first = job.as_ref().is_none_or(|job| job.rank() == 0);
        Ok(Session {
            threads: threads(common.threads, neighbours, first),
            memory: memory(common.memory, neighbours, first),
            tmp: tmp(common.tmp.as_deref())?,
            max_tmp: max_tmp(common.max_tmp)?,
            progress,
            options: LazyCell::new(Box::new(Vec::new)),
            quiet: common.quiet,
            job,
            left: Left::default(),
            report: common.report.clone(),
            trace: None,
            facts: RefCell::default(),
            warnings,
            asked: Asked::default(),
            start: Instant::now(),
        })
    }

    fn say_limits(&self) {
        let (threads, memory) = (
            words::things(self.threads as u64, "thread"),
            words::bytes(self.memory),
        );
        tracing::debug!(
            "{threads}, {memory} of memory, temporary files in {}",
            self.tmp.display()
        );
    }

    /// Finds out at once that a trace could not be written.
    fn try_trace(&self) -> Result<()> {
        if let Some((tracer, path)) = &self.trace {
            tracer.expect_threads(self.threads * self.job.as_ref().map_or(1, |job| job.ranks()));
            if self.is_first() && path.as_os_str() != "-" {
                OutputFile::create(path)?;
            }
            tracer.watch();
        }
        Ok(())
    }

    /// Runs `work` while its progress is shown.
    pub fn shown<T>(&self, work: impl FnOnce(&Progress) -> T) -> T {
        let show =
            (!self.quiet && self.is_first()).then(|| Show::start(Arc::clone(&self.progress)));
        let result = work(&self.progress);
        drop(show);
        result
    }

    /// Refuses a report that is named like Kraken 2's, which another option writes.
    pub fn keep_report_json(&self) -> Result<()> {
        const OTHERS: [&str; 6] = ["kreport", "kreport2", "k2report", "report", "txt", "tsv"];
        let Some(path) = &self.report else {
            return Ok(());
        };
        let ending = path.extension().unwrap_or_default();
        if !OTHERS.iter().any(|other| ending == *other) {
            return Ok(());
        }
        let path = path.display();
        Err(Failure::usage(format!(
            "--report {path} would be what the run did, in JSON, and so is named FILE.json; \
             type --kreport {path} for the report of taxa that Kraken 2 calls --report"
        )))
    }

    /// Refuses an output, report and trace among them, that is one of the inputs, or two outputs of
    /// one name; and a report in a folder that is missing, which the run does not make.
    pub fn keep_apart<'a>(
        &'a self,
        inputs: impl IntoIterator<Item = &'a PathBuf>,
        outputs: impl IntoIterator<Item = &'a PathBuf>,
    ) -> Result<()> {
        let outputs: Vec<&PathBuf> = outputs.into_iter().collect();
        let own = self.written_beside();
        places::keep_apart(inputs, outputs.iter().copied().chain(own))?;
        let absolute = |path: &PathBuf| std::path::absolute(path).unwrap_or_else(|_| path.clone());
        let is_made = |report: &&PathBuf| {
            let report = absolute(report);
            let mut outputs = outputs.iter().map(|output| absolute(output));
            outputs.any(|made| report.starts_with(&made) || report.parent() == made.parent())
        };
        self.keep_in_folders(self.report.as_ref().filter(|report| !is_made(report)))
    }

    /// Refuses a report or a trace of the name of the other, or of what is printed.
    pub fn keep_own_apart(&self, printed: Option<&PathBuf>) -> Result<()> {
        places::keep_apart([], printed.into_iter().chain(self.written_beside()))
    }

    /// What the session writes of any run.
    fn written_beside(&self) -> impl Iterator<Item = &PathBuf> {
        let traces = self.trace.iter().map(|(_, path)| path);
        self.report.iter().chain(traces)
    }

    /// Refuses what the first process writes when all else is done, where its folder is missing.
    pub fn keep_in_folders<'a>(
        &'a self,
        last: impl IntoIterator<Item = &'a PathBuf>,
    ) -> Result<()> {
        let mut last = last.into_iter();
        if self.is_first() {
            last.try_for_each(|output| gyrase_files::keep_in_folder(output))?;
        }
        Ok(())
    }

    /// The folder for temporary files, made where it is missing.
    pub fn tmp_folder(&self) -> Result<&Path> {
        let made = if self.tmp.is_dir() {
            Ok(())
        } else {
            std::fs::create_dir(&self.tmp)
        };
        made.map_err(|error| {
            Failure::new(
                Code::Output,
                format!("cannot make --tmp {}: {error}", self.tmp.display()),
            )
        })?;
        Ok(&self.tmp)
    }

    /// The job whose work this process shares, if it is one of several.
    pub fn job(&self) -> Option<&Job> {
        self.job.as_deref()
    }

    /// The processes of that job, or this one alone.
    pub fn world(&self) -> &dyn World {
        match self.job() {
            Some(job) => job,
            None => &Alone,
        }
    }

    /// Collective. Refuses a job whose processes see different files by these names.
    pub fn same_files(&self, files: impl IntoIterator<Item = PathBuf>) -> Result<()> {
        let Some(job) = self.job() else {
            return Ok(());
        };
        let files: Vec<PathBuf> = files.into_iter().collect();
        Ok(gyrase_tabulate::same_files(job, &files)?)
    }

    /// True in the process that speaks for all: that of rank 0, or the only one.
    pub fn is_first(&self) -> bool {
        self.job.as_ref().is_none_or(|job| job.rank() == 0)
    }

    /// Notes what goes when this process of a job has to end and is caught in something that does
    /// not.
    pub fn leaves(&self, paths: Vec<PathBuf>) {
        self.left.note(paths);
    }

    /// Collective. What every process of the job gives, in the order of ranks, in the first;
    /// nothing elsewhere.
    pub fn gather(&self, fact: &Value) -> Result<Vec<Value>> {
        let Some(job) = &self.job else {
            return Ok(Vec::new());
        };
        let all = job.gather(fact.to_string().into_bytes())?;
        Ok(all
            .iter()
            .map(|fact| serde_json::from_slice(fact).expect("it was written by our own kind"))
            .collect())
    }

    /// Collective. Notes in the report of the first process what each of a job did.
    pub fn note_ranks(&self) -> Result<()> {
        let ranks = self.gather(&self.of_rank())?;
        if !ranks.is_empty() {
            self.note("ranks", ranks);
        }
        Ok(())
    }

    /// What this process of a job did.
    fn of_rank(&self) -> Value {
        let moved = self.job().map(Job::counters);
        json!({
            "rank": self.job().map(World::rank),
            "threads": self.threads,
            "memory_bytes": self.memory,
            "bytes_sent": moved.as_ref().map(|moved| moved.bytes_sent),
            "bytes_received": moved.as_ref().map(|moved| moved.bytes_received),
            "stages": report::stages_by_name(&self.progress),
            "peak_memory_bytes": machine::peak_memory(),
        })
    }

    /// Adds a fact to the report.
    pub fn note(&self, name: &str, fact: impl Into<Value>) {
        self.facts
            .borrow_mut()
            .insert(name.to_string(), fact.into());
    }

    /// Says what the run took, at its end.
    pub fn say_end(&self) {
        let (elapsed, peak) = (self.elapsed(), machine::peak_memory());
        tracing::info!(
            seconds = elapsed.as_secs_f64(),
            peak_memory_bytes = peak,
            "{}, peak memory {}",
            words::time(elapsed),
            words::bytes(peak)
        );
    }

    /// Wall time since the start.
    pub fn elapsed(&self) -> Duration {
        self.start.elapsed()
    }

    /// The end of every run: a failure after a signal is that signal's, a success is reported.
    pub fn finish(&self, done: Result<()>) -> Result<()> {
        if let Err(failure) = done {
            return Err(match self.asked.code() {
                Some(code) => {
                    Failure::new(code, "stopped as asked; nothing unfinished was published")
                }
                None => failure,
            });
        }
        for stage in self.progress.stages() {
            tracing::debug!(
                stage = stage.name,
                seconds = stage.time.as_secs_f64(),
                peak_memory_bytes = stage.peak_memory,
                "{}: {}",
                stage.name,
                words::time(stage.time)
            );
        }
        if let Some((tracer, path)) = &self.trace {
            let ahead = self.job().map_or(0, Job::clock_offset);
            trace::write(tracer, path, self.world(), ahead)?;
        }
        let Some(path) = &self.report else {
            return Ok(());
        };
        self.note("warnings", self.all_warnings()?);
        if self.is_first() {
            report::write(path, &self.facts.borrow(), &self.progress, self.elapsed())
        } else {
            Ok(())
        }
    }

    /// What `--report` would write of a run that is done.
    pub fn report(&self) -> Result<Value> {
        self.note("warnings", self.all_warnings()?);
        let facts = self.facts.borrow();
        Ok(report::whole(&facts, &self.progress, self.elapsed()))
    }

    /// Collective. The warnings of all processes, in the order of ranks, in the first.
    fn all_warnings(&self) -> Result<Value> {
        let own = Value::from(self.warnings.so_far());
        if self.job.is_none() {
            return Ok(own);
        }
        let all = self.gather(&own)?.into_iter().enumerate();
        let of_rank = |(rank, said): (usize, Value)| {
            let said = said.as_array().cloned().unwrap_or_default();
            said.into_iter().map(move |one| match (rank, one.as_str()) {
                (1.., Some(words)) => format!("rank {rank}: {words}").into(),
                _ => one,
            })
        };
        Ok(all.flat_map(of_rank).collect())
    }
}

/// Threads of one of `neighbours` processes on this machine; the `first` warns for all.
fn threads(asked: Option<usize>, neighbours: usize, first: bool) -> usize {
    let cores = machine::cores();
    match asked {
        Some(threads) if threads > cores => {
            if first {
                tracing::warn!(
                    "--threads {threads} is more than the {cores} cores that this process may use; using {cores}"
                );
            }
            cores
        }
        Some(threads) => threads.max(1),
        None => machine::cores_each(neighbours),
    }
}

/// Bytes of memory of one of `neighbours` processes on this machine; a share is one of its part.
fn memory(asked: Option<Size>, neighbours: usize, first: bool) -> u64 {
    let whole = machine::memory();
    let part = if asked.is_none_or(|asked| matches!(asked, Size::Share(_))) {
        neighbours as u64
    } else {
        1
    };
    let memory = asked.unwrap_or(Size::Share(SHARE)).of(whole / part);
    if first && memory > whole {
        tracing::warn!(
            "--memory {} is more than the {} that this process can have now",
            words::bytes(memory),
            words::bytes(whole)
        );
    }
    memory
}

/// The folder for temporary files, which may be made; but a slip in a long path should not make a
/// tree.
fn tmp(asked: Option<&Path>) -> Result<PathBuf> {
    let Some(folder) = asked else {
        return Ok(std::env::temp_dir());
    };
    let above = folder
        .parent()
        .filter(|above| !above.as_os_str().is_empty())
        .unwrap_or(Path::new("."));
    let wrong = match folder.metadata() {
        Ok(there) if there.is_dir() => return Ok(folder.to_path_buf()),
        Ok(_) => "it is no folder".into(),
        Err(_) if above.is_dir() => return Ok(folder.to_path_buf()),
        Err(_) => format!("there is no folder {} to make it in", above.display()),
    };
    Err(Failure::new(
        Code::Output,
        format!("--tmp {} cannot be used: {wrong}", folder.display()),
    ))
}

fn max_tmp(asked: Option<Size>) -> Result<Option<u64>> {
    match asked {
        Some(Size::Share(_)) => Err(Failure::usage(
            "--max-tmp takes a size such as 100G, not a share",
        )),
        Some(Size::Bytes(bytes)) => Ok(Some(bytes)),
        None => Ok(None),
    }
}
