//! A database of references.

use std::path::PathBuf;

use gyrase_classify::Index;
use gyrase_kmer::Choice;
use numpy::{IntoPyArray, PyArray1};
use pyo3::prelude::*;
use pyo3::types::PyDict;

use crate::failure::raised;

/// An opened `.gydb` file.
#[pyclass(frozen, subclass, module = "gyrase._gyrase")]
pub struct Database {
    index: Index,
    path: PathBuf,
}

#[pymethods]
impl Database {
    #[new]
    fn new(py: Python<'_>, path: PathBuf) -> PyResult<Database> {
        let opened = py.detach(|| Index::open(&path));
        let index = opened.map_err(|error| raised(py, error))?;
        Ok(Database { index, path })
    }

    #[getter]
    fn path(&self) -> PathBuf {
        self.path.clone()
    }

    /// How the references were sketched.
    #[getter]
    fn parameters<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyDict>> {
        let (parameters, dict) = (self.index.parameters, PyDict::new(py));
        let sketch = parameters.sketch;
        dict.set_item("k", sketch.k())?;
        dict.set_item("window", sketch.window())?;
        dict.set_item("stride", sketch.stride())?;
        match sketch.choice() {
            Choice::Smallest(features) => dict.set_item("features", features)?,
            Choice::OneIn(one_in) => dict.set_item("one_in", one_in)?,
        }
        dict.set_item("locations", parameters.locations)?;
        Ok(dict)
    }

    /// The columns of the reference sequences, in their order.
    #[pyo3(name = "_references")]
    fn references<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyDict>> {
        let (index, columns) = (&self.index, PyDict::new(py));
        let taxid = |taxon: Option<_>| taxon.map_or(0, |taxon| index.taxonomy.taxid(taxon));
        let targets = || index.targets.iter();
        columns.set_item("name", targets().map(|one| &one.name).collect::<Vec<_>>())?;
        columns.set_item("taxid", column(py, targets().map(|one| taxid(one.taxon))))?;
        columns.set_item("letters", column(py, targets().map(|one| one.letters)))?;
        columns.set_item("windows", column(py, targets().map(|one| one.windows)))?;
        columns.set_item("file", column(py, targets().map(|one| one.source)))?;
        Ok(columns)
    }

    /// The columns of the taxa, parents before children.
    #[pyo3(name = "_taxa")]
    fn taxa<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyDict>> {
        let (taxonomy, columns) = (&self.index.taxonomy, PyDict::new(py));
        let taxa = || taxonomy.taxa();
        let parents = taxa().map(|taxon| taxonomy.taxid(taxonomy.parent(taxon)));
        columns.set_item(
            "taxid",
            column(py, taxa().map(|taxon| taxonomy.taxid(taxon))),
        )?;
        columns.set_item("parent", column(py, parents))?;
        columns.set_item(
            "depth",
            column(py, taxa().map(|taxon| taxonomy.depth(taxon))),
        )?;
        let ranks = taxa().map(|taxon| taxonomy.rank_name(taxon));
        columns.set_item("rank", ranks.collect::<Vec<_>>())?;
        let names = taxa().map(|taxon| taxonomy.name(taxon));
        columns.set_item("name", names.collect::<Vec<_>>())?;
        Ok(columns)
    }
}

fn column<T: numpy::Element>(
    py: Python<'_>,
    values: impl Iterator<Item = T>,
) -> Bound<'_, PyArray1<T>> {
    values.collect::<Vec<_>>().into_pyarray(py)
}
