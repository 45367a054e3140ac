//! A database of counted k-mers.

use std::path::PathBuf;

use gyrase_count::histogram::Histogram;
use gyrase_count::query::look_up_packed;
use gyrase_kmer::{BINS, Key, Kmer, with_words};
use gyrase_table::gyk::Database;
use gyrase_work::{Progress, machine};
use numpy::{IntoPyArray, PyArray1, PyReadonlyArray1};
use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;
use pyo3::types::{PyDict, PyList};

use crate::failure::raised;
use crate::letters::packed;

/// Packed k-mers, their counts, and the bin behind them.
type Batch<'py> = (Bound<'py, PyArray1<u64>>, Bound<'py, PyArray1<u32>>, usize);

/// An opened `.gyk` file.
#[pyclass(frozen, subclass, module = "gyrase._gyrase")]
pub struct Table {
    database: Database,
}

#[pymethods]
impl Table {
    #[new]
    fn new(py: Python<'_>, path: PathBuf) -> PyResult<Table> {
        let opened = py.detach(|| Database::open(&path));
        let database = opened.map_err(|error| raised(py, error))?;
        Ok(Table { database })
    }

    #[getter]
    fn path(&self) -> PathBuf {
        self.database.path().to_path_buf()
    }

    #[getter]
    fn k(&self) -> usize {
        self.database.shape().k()
    }

    #[getter]
    fn stranded(&self) -> bool {
        self.database.shape().stranded()
    }

    /// Words of 64 bits of a packed k-mer.
    #[getter]
    fn words(&self) -> usize {
        self.database.shape().words()
    }

    fn __len__(&self) -> usize {
        self.database.header().distinct as usize
    }

    /// What the file says of itself.
    fn info<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyDict>> {
        let (header, made) = (self.database.header(), self.database.metadata());
        let info = PyDict::new(py);
        info.set_item("k", self.k())?;
        info.set_item("stranded", self.stranded())?;
        info.set_item("distinct", header.distinct)?;
        info.set_item("total", header.total)?;
        info.set_item("unique", header.unique)?;
        info.set_item("largest", header.largest)?;
        info.set_item("saturated", header.saturated)?;
        info.set_item("min_count", header.cutoffs.min)?;
        info.set_item("max_count", header.cutoffs.max)?;
        info.set_item("operation", &made.operation)?;
        info.set_item("inputs", &made.inputs)?;
        info.set_item("reads", made.reads)?;
        info.set_item("bases", made.bases)?;
        Ok(info)
    }

    /// The counts of packed k-mers, one behind the other, read and written in place.
    #[pyo3(name = "_look_up")]
    fn look_up<'py>(
        &self,
        py: Python<'py>,
        words: PyReadonlyArray1<'py, u64>,
        threads: Option<usize>,
    ) -> PyResult<Bound<'py, PyArray1<u32>>> {
        let words = words.as_slice()?;
        if !words.len().is_multiple_of(self.words()) {
            return Err(PyValueError::new_err("the last k-mer has too few words"));
        }
        self.counts(py, words, threads)
    }

    /// The counts of k-mers in letters.
    #[pyo3(name = "_look_up_letters")]
    fn look_up_letters<'py>(
        &self,
        py: Python<'py>,
        kmers: &Bound<'py, PyList>,
        threads: Option<usize>,
    ) -> PyResult<Bound<'py, PyArray1<u32>>> {
        let words = packed(kmers, self.database.shape())?;
        self.counts(py, &words, threads)
    }

    /// (count, k-mers that have it), row by row, ascending by count.
    #[pyo3(name = "_histogram")]
    fn histogram<'py>(
        &self,
        py: Python<'py>,
        threads: Option<usize>,
    ) -> PyResult<Bound<'py, PyArray1<u64>>> {
        let threads = threads.unwrap_or_else(machine::cores);
        let made = py.detach(|| Histogram::of(&self.database, threads, &Progress::default()));
        let made = made.map_err(|error| raised(py, error))?;
        let rows = made
            .rows()
            .flat_map(|(count, kmers)| [u64::from(count), kmers]);
        Ok(rows.collect::<Vec<_>>().into_pyarray(py))
    }

    /// The k-mers of the bins from `bin` on, of so many that there are `least`, if there are.
    #[pyo3(name = "_batch")]
    fn batch<'py>(&self, py: Python<'py>, bin: usize, least: usize) -> PyResult<Batch<'py>> {
        let (mut words, mut counts, mut bin) = (Vec::new(), Vec::new(), bin);
        py.detach(|| {
            while bin < BINS && counts.len() < least.max(1) {
                let view = self.database.sound_bin(bin)?;
                with_words!(self.database.shape(), W => {
                    let rows = view.rows::<W>().iter();
                    words.extend(rows.flat_map(|&row| Kmer::from(Key(row)).0));
                });
                view.append_counts(&mut counts);
                bin += 1;
            }
            Ok(())
        })
        .map_err(|error: gyrase_table::gyk::GykError| raised(py, error))?;
        Ok((words.into_pyarray(py), counts.into_pyarray(py), bin))
    }

    /// Reads all of the file and checks it.
    fn verify(&self, py: Python<'_>) -> PyResult<()> {
        py.detach(|| self.database.verify())
            .map_err(|error| raised(py, error))
    }
}

impl Table {
    fn counts<'py>(
        &self,
        py: Python<'py>,
        words: &[u64],
        threads: Option<usize>,
    ) -> PyResult<Bound<'py, PyArray1<u32>>> {
        let threads = threads.unwrap_or_else(machine::cores);
        let mut counts = vec![0; words.len() / self.words()];
        py.detach(|| look_up_packed(&self.database, words, &mut counts, threads))
            .map_err(|error| raised(py, error))?;
        Ok(counts.into_pyarray(py))
    }
}
