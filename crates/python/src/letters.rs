//! k-mers between letters and packed words.

use std::borrow::Cow;

use gyrase_kmer::{Kmer, Shape, with_words};
use numpy::{IntoPyArray, PyArray1, PyReadonlyArray1};
use pyo3::exceptions::{PyTypeError, PyValueError};
use pyo3::prelude::*;
use pyo3::types::{PyBytes, PyList, PyString};

/// Packs k-mers: `shape.words()` words each, one behind the other.
pub fn packed(kmers: &Bound<'_, PyList>, shape: Shape) -> PyResult<Vec<u64>> {
    let mut words = Vec::with_capacity(kmers.len() * shape.words());
    for (number, kmer) in kmers.iter().enumerate() {
        let letters = letters_of(&kmer)?;
        with_words!(shape, W => {
            let kmer = (letters.len() == shape.k()).then(|| Kmer::<W>::from_letters(&letters));
            let kmer = kmer.flatten().ok_or_else(|| no_kmer(number, &letters, shape.k()))?;
            words.extend(kmer.form(shape).0);
        });
    }
    Ok(words)
}

fn no_kmer(number: usize, letters: &[u8], k: usize) -> PyErr {
    let text = String::from_utf8_lossy(letters);
    PyValueError::new_err(format!(
        "number {number} (from 0), \"{text}\", is no k-mer of {k} letters A, C, G, T"
    ))
}

fn letters_of<'a>(kmer: &'a Bound<'_, PyAny>) -> PyResult<Cow<'a, [u8]>> {
    if let Ok(bytes) = kmer.cast::<PyBytes>() {
        return Ok(Cow::Borrowed(bytes.as_bytes()));
    }
    let text = kmer
        .cast::<PyString>()
        .map_err(|_| PyTypeError::new_err("a k-mer is a str or bytes"))?;
    Ok(match text.to_cow()? {
        Cow::Borrowed(text) => Cow::Borrowed(text.as_bytes()),
        Cow::Owned(text) => Cow::Owned(text.into_bytes()),
    })
}

pub fn shape_of(k: usize, stranded: bool) -> PyResult<Shape> {
    Shape::new(k, stranded).map_err(|error| PyValueError::new_err(error.to_string()))
}

/// Packs k-mers of `k` letters, in their canonical form unless `stranded`.
#[pyfunction]
pub fn encode<'py>(
    py: Python<'py>,
    kmers: &Bound<'py, PyList>,
    k: usize,
    stranded: bool,
) -> PyResult<Bound<'py, PyArray1<u64>>> {
    Ok(packed(kmers, shape_of(k, stranded)?)?.into_pyarray(py))
}

/// The letters of packed k-mers.
#[pyfunction]
pub fn decode(words: PyReadonlyArray1<'_, u64>, k: usize) -> PyResult<Vec<String>> {
    let (shape, words) = (shape_of(k, true)?, words.as_slice()?);
    with_words!(shape, W => words
        .as_chunks::<W>()
        .0
        .iter()
        .map(|&row| letters(Kmer(row), k))
        .collect())
}

fn letters<const W: usize>(kmer: Kmer<W>, k: usize) -> PyResult<String> {
    if kmer != kmer.masked(k) {
        let what = format!("a packed k-mer has bits above the {} of k = {k}", 2 * k);
        return Err(PyValueError::new_err(what));
    }
    let letters = kmer.letters(k).into_iter().map(char::from);
    Ok(letters.collect())
}
